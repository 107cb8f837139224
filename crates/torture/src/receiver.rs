//! A receiver of webhooks. No delivery may be under way twice at the same time, and none may come again after it was
//! accepted, unless a fault came between the answer and its record.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::agents::{Agent, lock};
use crate::cluster::Cluster;
use crate::dice::Dice;
use crate::http::Ask;
use crate::ledger::{Breach, Ledger, add};
use crate::log::Logged;

/// How long before a fault a delivery may have been accepted without being recorded, and how long after its end.
const UNRECORDED: Duration = Duration::from_secs(5);
const AFTERMATH: Duration = Duration::from_secs(2);
/// How long the receiver takes to answer, in milliseconds.
const ANSWER_MS: (usize, usize) = (0, 60);
/// How many of a hundred deliveries it refuses at first.
const REFUSED_PERCENT: usize = 5;

#[derive(Debug, Default)]
struct Delivery {
    under_way: usize,
    refused: bool,
    accepted: Option<Instant>,
}

#[derive(Debug)]
pub(crate) struct Receiver {
    port: u16,
    seen: Mutex<Seen>,
    ledger: Arc<Ledger>,
}

#[derive(Debug)]
struct Seen {
    deliveries: HashMap<String, Delivery>,
    /// The event of each accepted delivery, by agent.
    accepted: HashMap<String, HashSet<String>>,
    /// When faults that excuse repetitions began and ended.
    faults: Vec<(Instant, Option<Instant>)>,
    dice: Dice,
}

impl Receiver {
    /// Listens on a port of the loopback for ever.
    pub(crate) async fn start(ledger: &Arc<Ledger>, dice: Dice) -> anyhow::Result<Arc<Self>> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let seen = Seen { deliveries: HashMap::new(), accepted: HashMap::new(), faults: Vec::new(), dice };
        let port = listener.local_addr()?.port();
        let receiver = Arc::new(Self { port, seen: Mutex::new(seen), ledger: Arc::clone(ledger) });
        let router = Router::new().route("/hook", post(receive)).with_state(Arc::clone(&receiver));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(receiver)
    }

    /// Makes an agent's events come here.
    pub(crate) async fn register(&self, cluster: &Cluster, agent: &Agent) -> anyhow::Result<()> {
        let url = format!("http://127.0.0.1:{}/hook", self.port);
        let body = json!({ "webhookUrl": url, "webhookSecret": "a secret of the torture" });
        cluster.succeed(&Ask::patch("/agents/me", body), &agent.key()).await.context("no webhook")?;
        Ok(())
    }

    /// A fault begins that may keep a node from recording an answer. One that is over at once concerns only what was
    /// under way: what other nodes send later, they can record.
    pub(crate) fn begin_fault(&self, at_once: bool) {
        let now = Instant::now();
        lock(&self.seen).faults.push((now, at_once.then_some(now)));
    }

    pub(crate) fn end_fault(&self) {
        if let Some((_, end)) = lock(&self.seen).faults.last_mut() {
            end.get_or_insert_with(Instant::now);
        }
    }

    /// What is in an agent's log and was not accepted here.
    pub(crate) fn missing(&self, agent: &Agent) -> Vec<String> {
        let seen = lock(&self.seen);
        let accepted = seen.accepted.get(&agent.id);
        let truth = lock(&agent.truth);
        // Events from before the webhook was set are not sent.
        let events = truth.events.iter().filter(|event| event.kind != "agent.connected").map(described);
        events.filter(|event| accepted.is_none_or(|accepted| !accepted.contains(event))).collect()
    }

    /// A request arrives. True if it is to be accepted.
    pub(crate) fn begin(&self, id: &str) -> (bool, Duration) {
        let mut seen = lock(&self.seen);
        let seen = &mut *seen;
        add(&self.ledger.webhooks_received, 1);
        let delivery = seen.deliveries.entry(id.to_owned()).or_default();
        if delivery.under_way > 0 {
            self.ledger.breach(Breach::Doubled, format!("delivery {id} is sent twice at the same time"));
        }
        if let Some(accepted) = delivery.accepted {
            let excused = seen.faults.iter().any(|(begin, end)| {
                *begin < accepted + UNRECORDED && end.is_none_or(|end| end + AFTERMATH > accepted)
            });
            if !excused {
                let ago = accepted.elapsed().as_millis();
                self.ledger.breach(
                    Breach::Doubled,
                    format!("delivery {id} came again {ago} ms after it was accepted"),
                );
            }
        }
        delivery.under_way += 1;
        let refuse = !delivery.refused && seen.dice.percent(REFUSED_PERCENT);
        delivery.refused |= refuse;
        (!refuse, seen.dice.ms(ANSWER_MS.0, ANSWER_MS.1))
    }

    pub(crate) fn end(&self, id: &str, body: &Value, accept: bool) {
        let mut seen = lock(&self.seen);
        if let Some(delivery) = seen.deliveries.get_mut(id) {
            delivery.under_way = delivery.under_way.saturating_sub(1);
            if accept {
                delivery.accepted.get_or_insert_with(Instant::now);
            }
        }
        if accept {
            let agent = body["agentId"].as_str().unwrap_or_default().to_owned();
            seen.accepted.entry(agent).or_default().insert(described(&Logged::of_frame(&body["data"])));
        }
    }
}

/// What an event is about, without its number.
fn described(event: &Logged) -> String {
    format!("{} {} {} {}", event.kind, event.task, event.message, event.status)
}

/// Ends a request also if its sender is gone.
struct UnderWay<'a> {
    receiver: &'a Receiver,
    id: &'a str,
    body: &'a Value,
    accept: bool,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.receiver.end(self.id, self.body, self.accept);
    }
}

async fn receive(State(receiver): State<Arc<Receiver>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let id = headers.get("webhook-id").and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (accept, time) = receiver.begin(&id);
    let mut under_way = UnderWay { receiver: &receiver, id: &id, body: &body, accept: false };
    tokio::time::sleep(time).await;
    under_way.accept = accept;
    if accept { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}
