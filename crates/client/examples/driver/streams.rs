//! Streams that are followed, and what they have given so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};
use tandem_client::{Error, EventStream, Followed as Item, Notice, StreamEvent, Transport};
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinHandle;

use crate::Driver;
use crate::commands::text;

/// A stream that a task reads.
pub(crate) struct Followed {
    got: Arc<Mutex<Got>>,
    arrived: Arc<Notify>,
    read: AtomicUsize,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Got {
    events: Vec<StreamEvent>,
    notices: Vec<&'static str>,
    error: Option<Error>,
    cursor: Option<i64>,
    epoch: Option<String>,
}

async fn collect(mut stream: EventStream, got: Arc<Mutex<Got>>, arrived: Arc<Notify>) {
    loop {
        let item = stream.next().await;
        let mut got = got.lock().await;
        (got.cursor, got.epoch) = (stream.cursor(), stream.epoch().map(ToOwned::to_owned));
        match item {
            Ok(Item::Event(event)) => got.events.push(event),
            Ok(Item::Notice(Notice::Connected { .. })) => got.notices.push("connected"),
            Ok(Item::Notice(Notice::Rewound { .. })) => got.notices.push("rewound"),
            Ok(Item::Notice(_)) => got.notices.push("lost"),
            Err(error) => got.error = Some(error),
        }
        arrived.notify_waiters();
        if got.error.is_some() {
            return;
        }
    }
}

impl Followed {
    /// Waits until there are so many events, or for a while.
    async fn until(&self, count: usize, request: &Value) -> anyhow::Result<()> {
        let enough = async {
            loop {
                let arrived = self.arrived.notified();
                let mut got = self.got.lock().await;
                if let Some(error) = got.error.take() {
                    return Err(error.into());
                }
                if got.events.len() >= count {
                    return Ok(());
                }
                drop(got);
                arrived.await;
            }
        };
        let seconds = Duration::from_secs_f64(request["timeout"].as_f64().unwrap_or(30.0));
        tokio::time::timeout(seconds, enough).await.unwrap_or(Ok(()))
    }
}

async fn named(driver: &Driver, request: &Value) -> anyhow::Result<Arc<Followed>> {
    let streams = driver.streams.lock().await;
    streams.get(text(request, "stream")?).cloned().context("there is no such stream")
}

fn count(request: &Value) -> usize {
    request["count"].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(0)
}

pub(crate) async fn follow(driver: &Driver, request: &Value) -> anyhow::Result<Value> {
    let epoch = request["epoch"].as_str().map(ToOwned::to_owned);
    let mut stream = driver.client()?.follow(request["after"].as_i64()).in_epoch(epoch);
    stream = match request["transport"].as_str() {
        Some("ws") => stream.only(Transport::WebSocket),
        Some("sse") => stream.only(Transport::ServerSentEvents),
        Some("poll") => stream.only(Transport::LongPoll),
        _ => stream,
    };
    let (got, arrived) = (Arc::default(), Arc::default());
    let task = tokio::spawn(collect(stream, Arc::clone(&got), Arc::clone(&arrived)));
    let followed = Followed { got, arrived, read: AtomicUsize::new(0), task };
    driver.streams.lock().await.insert(text(request, "stream")?.to_owned(), Arc::new(followed));
    Ok(json!({}))
}

pub(crate) async fn read(driver: &Driver, request: &Value) -> anyhow::Result<Value> {
    let (followed, count) = (named(driver, request).await?, count(request));
    let from = followed.read.load(Ordering::SeqCst);
    followed.until(from + count, request).await?;
    let got = followed.got.lock().await;
    let events: Vec<Value> = got.events[from..]
        .iter()
        .take(count)
        .map(|event| json!({ "cursor": event.cursor, "type": event.kind.as_str(), "taskId": event.task_id }))
        .collect();
    followed.read.fetch_add(events.len(), Ordering::SeqCst);
    Ok(json!({ "events": events, "notices": got.notices }))
}

pub(crate) async fn summary(driver: &Driver, request: &Value) -> anyhow::Result<Value> {
    let followed = named(driver, request).await?;
    followed.until(count(request), request).await?;
    let got = followed.got.lock().await;
    let cursors: Vec<i64> = got.events.iter().map(|event| event.cursor).collect();
    let steps = || cursors.windows(2).map(|pair| pair[1] - pair[0]);
    Ok(json!({
        "count": cursors.len(),
        "first": cursors.first(),
        "last": cursors.last(),
        "gaps": steps().filter(|step| *step > 1).count(),
        "doubles": steps().filter(|step| *step < 1).count(),
    }))
}

pub(crate) async fn unfollow(driver: &Driver, request: &Value) -> anyhow::Result<Value> {
    let followed = driver.streams.lock().await.remove(text(request, "stream")?);
    let followed = followed.context("there is no such stream")?;
    followed.task.abort();
    let got = followed.got.lock().await;
    Ok(json!({ "cursor": got.cursor, "epoch": got.epoch }))
}
