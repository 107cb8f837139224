//! The load: tasks with messages, racing takers, acknowledgements and replies, and tasks that nobody takes. Every write
//! is repeated with its idempotency key until it is answered, so in the end everything that exists is known.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::sync::RwLock;

use crate::agents::{Agent, lock, text};
use crate::cluster::Cluster;
use crate::dice::Dice;
use crate::http::{Answer, Ask};
use crate::ledger::{Breach, Ledger, add};

/// How many sessions of the target try to take a task at the same time.
const TAKERS: usize = 3;
/// Seconds until a task that nobody takes expires, and until its sender is told that nobody answers.
const TTL_SECONDS: u64 = 2;
/// The pause of a writer between two tasks.
const PAUSE_MS: (usize, usize) = (5, 40);

/// What must have happened to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Completed by a reply.
    Replied,
    /// Taken or cancelled, whichever came first; or neither, if nobody was answered.
    Contested,
    /// Expires by a timer.
    Expires,
    /// Stays open, and its sender is told once that nobody has acknowledged it.
    NotAcknowledged,
}

/// A task as the load knows it.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) from: Arc<Agent>,
    pub(crate) to: Arc<Agent>,
    /// Sender, id and content of each answered message.
    pub(crate) messages: Vec<(String, String, String)>,
    pub(crate) result: Option<String>,
    pub(crate) fate: Fate,
    pub(crate) created: Instant,
}

pub(crate) struct Load {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) agents: Vec<Arc<Agent>>,
    /// Tasks whose story is told and that were not checked yet.
    pub(crate) told: Mutex<Vec<Record>>,
    /// Held for reading while a story is told, and for writing while everything is checked.
    pub(crate) running: RwLock<()>,
    numbers: AtomicU64,
}

impl Load {
    pub(crate) fn new(cluster: &Arc<Cluster>, ledger: &Arc<Ledger>, agents: Vec<Arc<Agent>>) -> Arc<Self> {
        Arc::new(Self {
            cluster: Arc::clone(cluster),
            ledger: Arc::clone(ledger),
            agents,
            told: Mutex::default(),
            running: RwLock::default(),
            numbers: AtomicU64::new(0),
        })
    }

    /// Tells stories for ever.
    pub(crate) async fn write(self: Arc<Self>, mut dice: Dice) {
        loop {
            {
                let _running = self.running.read().await;
                if let Err(cause) = self.story(&mut dice).await {
                    self.ledger.breach(Breach::Unavailable, format!("{cause:#}"));
                }
            }
            tokio::time::sleep(dice.ms(PAUSE_MS.0, PAUSE_MS.1)).await;
        }
    }

    async fn story(&self, dice: &mut Dice) -> anyhow::Result<()> {
        let one = dice.below(self.agents.len());
        // Each agent is paired with the next two.
        let other = (one + 1 + dice.below(2)) % self.agents.len();
        let fate = match dice.below(100) {
            0..10 => Fate::Expires,
            10..20 => Fate::NotAcknowledged,
            20..35 => Fate::Contested,
            _ => Fate::Replied,
        };
        let mut record = self.create(&self.agents[one], &self.agents[other], fate).await?;
        match fate {
            Fate::Expires | Fate::NotAcknowledged => {}
            Fate::Contested => self.contest(&record).await,
            Fate::Replied => self.work(&mut record, dice).await?,
        }
        lock(&self.told).push(record);
        Ok(())
    }

    /// Sends a write until it is answered with success.
    async fn persist(&self, ask: &Ask, by: &Agent) -> anyhow::Result<Value> {
        let answer = self.cluster.succeed(ask, &by.key()).await?;
        add(&self.ledger.writes_answered, 1);
        Ok(answer)
    }

    async fn create(&self, from: &Arc<Agent>, to: &Arc<Agent>, fate: Fate) -> anyhow::Result<Record> {
        let title = format!("task {}", self.numbers.fetch_add(1, Relaxed));
        let mut body = json!({ "targetAgentId": to.id, "title": title, "description": "x".repeat(200) });
        match fate {
            Fate::Expires => body["ttlSeconds"] = TTL_SECONDS.into(),
            Fate::NotAcknowledged => body["checkInSeconds"] = TTL_SECONDS.into(),
            Fate::Replied | Fate::Contested => {}
        }
        let ask = Ask::post("/tasks", body);
        let made = self.persist(&ask, from).await?;
        let id = text(&made, "id")?;
        // A client that did not see the answer asks again, later and elsewhere.
        let again = self.cluster.succeed(&ask, &from.key()).await?;
        add(&self.ledger.writes_repeated, 1);
        if again["id"] != made["id"] {
            self.ledger
                .breach(Breach::Doubled, format!("{title} was created as {id} and as {}", again["id"]));
        }
        let (from, to) = (Arc::clone(from), Arc::clone(to));
        let (messages, result, created) = (Vec::new(), None, Instant::now());
        Ok(Record { id, title, from, to, messages, result, fate, created })
    }

    async fn work(&self, record: &mut Record, dice: &mut Dice) -> anyhow::Result<()> {
        let path = format!("/tasks/{}", record.id);
        for number in 0..dice.below(3) {
            let by = if dice.percent(50) { &record.from } else { &record.to };
            let content = format!("{} message {number}", record.title);
            let ask = Ask::post(format!("{path}/messages"), json!({ "content": content }));
            let sent = self.persist(&ask, by).await?;
            record.messages.push((by.id.clone(), text(&sent, "id")?, content));
        }
        self.take(record).await;
        self.persist(&Ask::post(format!("{path}/ack"), json!({})), &record.to).await?;
        let result = format!("{} result", record.title);
        let reply = Ask::post(format!("{path}/reply"), json!({ "content": result }));
        self.persist(&reply, &record.to).await?;
        record.result = Some(result);
        Ok(())
    }

    /// Several sessions of the target take the task at the same time, on different nodes.
    async fn take(&self, record: &Record) {
        let take = Ask::patch(
            format!("/tasks/{}", record.id),
            json!({ "status": "working", "expectedStatus": "submitted" }),
        );
        let key = record.to.key();
        let takers = (0..TAKERS).map(|_| take.send(self.cluster.next_node().address, Some(&key)));
        self.judge(record, &join_all(takers).await);
    }

    /// The target takes the task while its initiator cancels it.
    async fn contest(&self, record: &Record) {
        let path = format!("/tasks/{}", record.id);
        let body = |status: &str| json!({ "status": status, "expectedStatus": "submitted" });
        let (take, cancel) = (Ask::patch(&path, body("working")), Ask::patch(&path, body("cancelled")));
        let (taker, canceller) = (record.to.key(), record.from.key());
        let (one, other) = tokio::join!(
            take.send(self.cluster.next_node().address, Some(&taker)),
            cancel.send(self.cluster.next_node().address, Some(&canceller)),
        );
        self.judge(record, &[one, other]);
    }

    /// Of those who race, exactly one gets a 200; none only if an answer is missing.
    fn judge(&self, record: &Record, answers: &[Answer]) {
        add(&self.ledger.races, 1);
        let won = answers.iter().filter(|answer| answer.is(200)).count();
        add(&self.ledger.writes_answered, won);
        let told = || answers.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        if won > 1 {
            self.ledger
                .breach(Breach::Race, format!("{won} of {} took {}: {}", answers.len(), record.id, told()));
        }
        if won == 0 && answers.iter().all(Answer::is_decided) {
            self.ledger.breach(Breach::Race, format!("nobody took {}: {}", record.id, told()));
        }
    }
}

impl Record {
    /// Whether its timer must have fired by now.
    pub(crate) fn is_due(&self, allowance: Duration) -> bool {
        let timed = matches!(self.fate, Fate::Expires | Fate::NotAcknowledged);
        !timed || self.created.elapsed() > Duration::from_secs(TTL_SECONDS) + allowance
    }
}
