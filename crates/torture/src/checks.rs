//! What must be true after every fault.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use futures_util::stream::{self, StreamExt as _};
use serde_json::Value;

use crate::agents::{Agent, lock};
use crate::chains::Chain;
use crate::http::Ask;
use crate::ledger::{Breach, add};
use crate::stories::{Fate, Load, Record};

/// How long a chain may take to reach the end of the log, when nothing is written.
const CATCH_UP_MAX: Duration = Duration::from_secs(40);
/// How late a timer may be: the lease of a node that died, and clocks that differ.
const TIMER_LATE_MAX: Duration = Duration::from_secs(45);
/// How long after the last timer another node would have fired it again.
const SECOND_TIME: Duration = Duration::from_secs(3);
/// How many tasks are read at the same time.
const READS: usize = 8;

/// Checks everything that has been written since the last time. The load has stopped.
pub(crate) async fn check(load: &Load, chains: &[Arc<Chain>], last_time: bool) -> anyhow::Result<()> {
    for agent in &load.agents {
        extend_truth(load, agent).await?;
    }
    // Timers are due at any time, so a log may have grown meanwhile; chains are compared up to what was read.
    for chain in chains {
        compare(load, chain).await;
    }
    let records = std::mem::take(&mut *lock(&load.told));
    // Timers of the last tasks are waited for at the end only.
    let (due, early): (Vec<_>, Vec<_>) =
        records.into_iter().partition(|record| last_time || record.is_due(TIMER_LATE_MAX));
    nothing_unknown(load, due.iter().chain(&early));
    lock(&load.told).extend(early);
    add(&load.ledger.tasks_checked, due.len());
    let checks = due.iter().map(|record| check_task(load, record));
    let done: Vec<anyhow::Result<()>> = stream::iter(checks).buffer_unordered(READS).collect().await;
    done.into_iter().collect()
}

/// Waits until the timers of all tasks have fired, or must have.
pub(crate) async fn wait_for_timers(load: &Load) -> anyhow::Result<()> {
    let until = Instant::now() + TIMER_LATE_MAX;
    while Instant::now() < until && lock(&load.told).iter().any(|record| !has_fired(record)) {
        for agent in &load.agents {
            extend_truth(load, agent).await?;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    // A timer that fires twice gets the time to do so.
    tokio::time::sleep(SECOND_TIME).await;
    Ok(())
}

fn has_fired(record: &Record) -> bool {
    match record.fate {
        Fate::Expires => {
            let told = |agent: &Agent| lock(&agent.truth).count("task.updated expired", &record.id) > 0;
            told(&record.from) && told(&record.to)
        }
        Fate::NotAcknowledged => lock(&record.from.truth).count("message.no_ack", &record.id) > 0,
        Fate::Replied | Fate::Contested => true,
    }
}

async fn extend_truth(load: &Load, agent: &Agent) -> anyhow::Result<()> {
    let new = agent.read_log(&load.cluster).await?;
    for wrong in lock(&agent.truth).extend(new) {
        load.ledger.breach(Breach::Disordered, format!("log of {}: {wrong}", agent.name));
    }
    Ok(())
}

/// Compares what a chain received with the log.
async fn compare(load: &Load, chain: &Chain) {
    let end = lock(&chain.agent.truth).last();
    let until = Instant::now() + CATCH_UP_MAX;
    while chain.last() < end && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let who = format!("{} by {:?}", chain.agent.name, chain.channel);
    if chain.last() < end {
        let seconds = CATCH_UP_MAX.as_secs();
        let what = format!("{who}: has {} of {end} events after {seconds} s", chain.last());
        load.ledger.breach(Breach::Lost, what);
    }
    let arrived = chain.take_until(end);
    let truth = lock(&chain.agent.truth);
    for event in arrived {
        let place = usize::try_from(event.cursor - 1).unwrap_or(usize::MAX);
        if truth.events.get(place) != Some(&event) {
            let logged = truth.events.get(place);
            load.ledger.breach(Breach::Disordered, format!("{who}: got {event:?}, the log has {logged:?}"));
        }
    }
}

/// Every write was repeated until it was answered, so whatever is in a log and was never answered exists twice.
fn nothing_unknown<'a>(load: &Load, records: impl Iterator<Item = &'a Record>) {
    let mut known: HashSet<&str> = HashSet::new();
    for record in records {
        known.insert(&record.id);
        known.extend(record.messages.iter().map(|(_, id, _)| id.as_str()));
    }
    for agent in &load.agents {
        let mut truth = lock(&agent.truth);
        let unknown: Vec<String> = truth.unchecked_tasks(&known);
        for task in unknown {
            let what = format!("{} got a task that nobody was told of: {task}", agent.name);
            load.ledger.breach(Breach::Doubled, what);
        }
    }
}

async fn check_task(load: &Load, record: &Record) -> anyhow::Result<()> {
    let path = format!("/tasks/{}", record.id);
    let key = record.from.key();
    let answer = load.cluster.persist(&Ask::get(&path), &key).await?;
    let Some(task) = answer.success() else {
        load.ledger.breach(Breach::Lost, format!("{} {} is gone: {answer}", record.title, record.id));
        return Ok(());
    };
    if task["title"] != record.title.as_str() {
        load.ledger.breach(Breach::Lost, format!("{} has the title {}", record.id, task["title"]));
    }
    count(load, &record.to, "task.created", &record.id, 1);
    for (sender, id, _) in &record.messages {
        let other = if *sender == record.from.id { &record.to } else { &record.from };
        count(load, other, "message.created", id, 1);
    }
    match record.fate {
        Fate::Replied => check_thread(load, record, task).await?,
        Fate::Contested => {}
        Fate::Expires => {
            count(load, &record.from, "task.updated expired", &record.id, 1);
            count(load, &record.to, "task.updated expired", &record.id, 1);
            expect_status(load, record, task, "expired");
            add(&load.ledger.timers_fired, 1);
        }
        Fate::NotAcknowledged => {
            count(load, &record.from, "message.no_ack", &record.id, 1);
            add(&load.ledger.timers_fired, 1);
        }
    }
    check_history(load, record).await
}

/// An event must be in an agent's log so many times.
fn count(load: &Load, agent: &Agent, kind: &str, about: &str, expected: usize) {
    let found = lock(&agent.truth).count(kind, about);
    if found != expected {
        let breach = if found < expected { Breach::Lost } else { Breach::Doubled };
        load.ledger.breach(breach, format!("{}: {found} times {kind} about {about}", agent.name));
    }
}

fn expect_status(load: &Load, record: &Record, task: &Value, expected: &str) {
    if task["status"] != expected {
        let what = format!("{} is {} and not {expected}", record.id, task["status"]);
        load.ledger.breach(Breach::Lost, what);
    }
}

async fn check_thread(load: &Load, record: &Record, task: &Value) -> anyhow::Result<()> {
    expect_status(load, record, task, "completed");
    if task["result"].as_str() != record.result.as_deref() {
        let what = format!("{} has the result {} and not {:?}", record.id, task["result"], record.result);
        load.ledger.breach(Breach::Lost, what);
    }
    let ask = Ask::get(format!("/tasks/{}/messages", record.id));
    let thread = load.cluster.succeed(&ask, &record.to.key()).await?;
    let thread = thread.as_array().context("messages are no list")?;
    let mut expected: Vec<&str> = record.messages.iter().map(|(_, _, content)| content.as_str()).collect();
    expected.extend(record.result.as_deref());
    let found: Vec<&str> = thread.iter().filter_map(|message| message["content"].as_str()).collect();
    if found != expected {
        let breach = if found.len() < expected.len() { Breach::Lost } else { Breach::Doubled };
        load.ledger.breach(breach, format!("{} has the messages {found:?} and not {expected:?}", record.id));
    }
    Ok(())
}

/// Every move of the history continues where the one before ended, and nothing happens twice.
async fn check_history(load: &Load, record: &Record) -> anyhow::Result<()> {
    let ask = Ask::get(format!("/tasks/{}/events", record.id));
    let history = load.cluster.succeed(&ask, &record.from.key()).await?;
    let mut last: Option<String> = None;
    let mut seen = HashSet::new();
    for row in history.as_array().context("a history is no list")? {
        let (from, to) = (row["fromStatus"].as_str(), row["toStatus"].as_str().unwrap_or_default());
        if from != last.as_deref() || !seen.insert(to.to_owned()) {
            let what = format!("{}: the history does not fit together: {history}", record.id);
            load.ledger.breach(Breach::Race, what);
            return Ok(());
        }
        last = Some(to.to_owned());
    }
    Ok(())
}
