//! The harness notices what it is there for, and its proxy does what it says.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::agents::{Agent, lock};
use crate::chains::{Chain, Channel};
use crate::dice::Dice;
use crate::faults::{Deck, Fault};
use crate::ledger::{Breach, Ledger};
use crate::log::{Logged, Truth};
use crate::proxy::{Proxy, Way};
use crate::receiver::Receiver;

fn event(cursor: i64, task: &str) -> Logged {
    Logged::of_frame(&json!({ "cursor": cursor, "type": "task.created", "taskId": task }))
}

fn kinds(ledger: &Ledger) -> Vec<Breach> {
    ledger.breaches().into_iter().map(|(breach, _)| breach).collect()
}

#[test]
fn a_log_with_a_gap_or_a_repetition_is_noticed() {
    let mut truth = Truth::default();
    assert!(truth.extend(vec![event(1, "a"), event(2, "b")]).is_empty());
    assert_eq!(truth.extend(vec![event(4, "c")]).len(), 1, "3 is missing");
    assert_eq!(truth.extend(vec![event(4, "c")]).len(), 1, "4 came twice");
    assert_eq!((truth.count("task.created", "a"), truth.count("task.created", "c")), (1, 2));
}

#[test]
fn a_task_that_nobody_was_told_of_is_noticed_once() {
    let mut truth = Truth::default();
    truth.extend(vec![event(1, "known"), event(2, "unknown")]);
    assert_eq!(truth.unchecked_tasks(&HashSet::from(["known"])), ["unknown"]);
    assert!(truth.unchecked_tasks(&HashSet::new()).is_empty());
}

#[test]
fn a_chain_notices_repetitions_and_gaps() {
    let ledger = Arc::new(Ledger::default());
    let chain = Chain::new(&Agent::unknown("ada"), Channel::Socket, &ledger);
    chain.receive(event(1, "a"));
    chain.receive(event(2, "b"));
    assert_eq!(kinds(&ledger), []);
    chain.receive(event(2, "b"));
    chain.receive(event(4, "d"));
    assert_eq!(kinds(&ledger), [Breach::Doubled, Breach::Disordered]);
    assert_eq!(chain.take_until(2).len(), 2);
}

#[tokio::test]
async fn a_delivery_that_is_sent_twice_is_noticed() {
    let ledger = Arc::new(Ledger::default());
    let receiver = Receiver::start(&ledger, Dice::new(1)).await.unwrap();
    let agent = Agent::unknown("ada");
    lock(&agent.truth).extend(vec![event(1, "a")]);
    assert_eq!(receiver.missing(&agent).len(), 1);
    let body = json!({ "agentId": "ada", "data": { "type": "task.created", "taskId": "a" } });
    receiver.begin("one");
    receiver.begin("one");
    assert_eq!(kinds(&ledger), [Breach::Doubled], "twice at the same time");
    receiver.end("one", &body, true);
    assert!(receiver.missing(&agent).is_empty());
    receiver.begin("two");
    receiver.end("two", &Value::Null, true);
    receiver.begin("two");
    assert_eq!(kinds(&ledger).len(), 2, "again after it was accepted");
    // A node that dies now may not have recorded what was accepted a moment ago.
    receiver.begin("three");
    receiver.end("three", &Value::Null, true);
    receiver.begin_fault(true);
    receiver.begin("three");
    assert_eq!(kinds(&ledger).len(), 2);
}

#[test]
fn a_seed_repeats_the_faults_and_every_kind_comes() {
    let draw = |seed| {
        let mut deck = Deck::new(Fault::all(3), seed);
        (0..Fault::all(3).len()).map(|_| deck.next().0).collect::<Vec<Fault>>()
    };
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
    assert_eq!(draw(7).into_iter().collect::<HashSet<_>>().len(), Fault::all(3).len());
}

#[tokio::test]
async fn a_proxy_forwards_holds_back_and_cuts() {
    let echo = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = Proxy::start(echo.local_addr().unwrap().port()).await.unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = echo.accept().await {
            tokio::spawn(async move {
                let (mut from, mut to) = stream.split();
                let _ = tokio::io::copy(&mut from, &mut to).await;
            });
        }
    });
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port)).await.unwrap();
    let mut byte = [0];
    stream.write_all(b"1").await.unwrap();
    assert_eq!(stream.read(&mut byte).await.unwrap(), 1);
    proxy.set(Way::Stalled);
    stream.write_all(b"2").await.unwrap();
    let held = std::time::Duration::from_millis(100);
    assert!(tokio::time::timeout(held, stream.read(&mut byte)).await.is_err(), "it is held back");
    proxy.set(Way::Open);
    assert_eq!(stream.read(&mut byte).await.unwrap(), 1, "it arrives late");
    proxy.set(Way::Cut);
    assert_eq!(stream.read(&mut byte).await.unwrap_or(0), 0, "the connection has ended");
}
