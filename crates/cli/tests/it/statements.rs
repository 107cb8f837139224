//! What requests cost on PostgreSQL: statements and round trips. A query in a loop, or one more read in a use case, is
//! seen here before it is seen in a benchmark.

use serde_json::json;

use crate::harness::{Db, Harness, Held, cluster};

/// How often each request is measured. The hub's own timers only ever add to a figure, so the least one counts.
const TRIES: usize = 5;
/// How often at most a group is measured, until no timer has come in between.
const GROUP_TRIES: usize = 50;

/// Statements and round trips so far.
fn asked(hub: &Harness) -> (u64, u64) {
    let figures = hub.hub.db.store().stats().figures();
    let figure = |name: &str| figures.iter().find(|(of, _)| *of == name).unwrap().1;
    (figure("statements"), figure("round_trips"))
}

/// Beside other nodes, a write reads the caller's key again.
fn key_reads() -> u64 {
    cluster::is_wanted().into()
}

/// The least of what was the least so far and what was asked between two moments.
fn less(least: (u64, u64), before: (u64, u64), after: (u64, u64)) -> (u64, u64) {
    (least.0.min(after.0 - before.0), least.1.min(after.1 - before.1))
}

/// The least that a request costs.
async fn least(hub: &Harness, mut request: impl AsyncFnMut(usize)) -> (u64, u64) {
    let mut least = (u64::MAX, u64::MAX);
    for number in 0..TRIES {
        // What earlier requests leave to be written later is not counted as part of this one.
        hub.marks_are_written().await;
        let before = asked(hub);
        request(number).await;
        let after = asked(hub);
        least = less(least, before, after);
    }
    least
}

#[tokio::test]
async fn a_lone_request_costs_few_statements_on_postgres() {
    let hub = Harness::start(Db::Postgres).await.at_one_node();
    let (ada, bob) = hub.pair().await;
    let mut tasks = Vec::new();
    for _ in 0..TRIES {
        tasks.push(ada.task(&bob).await);
    }
    let task = |number: usize| format!("/tasks/{}", tasks[number]);
    let work = json!({ "status": "working" });
    let done = json!({ "status": "completed", "result": "Done." });
    let message = json!({ "content": "Hello" });
    let messages = |number: usize| format!("{}/messages", task(number));

    let create = least(&hub, async |_| drop(ada.task(&bob).await)).await;
    let read = least(&hub, async |n| drop(bob.get(&task(n)).await.ok(200))).await;
    let take = least(&hub, async |n| drop(bob.patch(&task(n), work.clone()).await.ok(200))).await;
    let send = least(&hub, async |n| drop(ada.post(&messages(n), message.clone()).await.ok(201))).await;
    let complete = least(&hub, async |n| drop(bob.patch(&task(n), done.clone()).await.ok(200))).await;
    let events = least(&hub, async |_| drop(bob.get("/events?limit=5").await.ok(200))).await;

    let all = [
        ("create", create, (8, 2)),
        ("read", read, (1, 1)),
        ("take", take, (6, 3)),
        ("send", send, (6, 3)),
        ("complete", complete, (10, 3)),
        ("events", events, (2, 2)),
    ];
    // What does not run in a group is not counted: nothing would be too little.
    for (what, (statements, round_trips), most) in all {
        assert!(
            (1..=most.0 + key_reads()).contains(&statements) && (1..=most.1).contains(&round_trips),
            "{what}: {statements} statements and {round_trips} round trips, at most {most:?}"
        );
    }
}

/// The cost is that of the group, not of its jobs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_writes_together_cost_little_more_than_one_on_postgres() {
    const JOBS: usize = 32;
    let hub = Harness::start(Db::Postgres).await.at_one_node();
    let (ada, bob) = hub.pair().await;
    let mut least = (u64::MAX, u64::MAX);
    for _ in 0..GROUP_TRIES {
        if least == (8 + key_reads(), 2) {
            break;
        }
        let held = Held::writer(&hub).await;
        let create = || {
            let (ada, bob) = (ada.clone(), bob.clone());
            tokio::spawn(async move { ada.task(&bob).await })
        };
        let tasks: Vec<_> = (0..JOBS).map(|_| create()).collect();
        held.wait_for(JOBS).await;
        let before = asked(&hub);
        drop(held);
        for task in tasks {
            task.await.unwrap();
        }
        least = less(least, before, asked(&hub));
    }
    let (statements, round_trips) = least;
    assert!(
        statements == 8 + key_reads() && round_trips == 2,
        "{JOBS} new tasks: {statements} statements, {round_trips} round trips"
    );
}
