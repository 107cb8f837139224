//! Figures: they come from the database, count what they say, and survive a restart.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use rstest::rstest;
use serde_json::json;

use super::{Person, between, words};
use crate::harness::{Db, Harness, Place};

#[rstest]
#[tokio::test]
async fn each_figure_answers_its_question(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await.at_one_node();
    let (ada, bob) = hub.pair().await;
    ada.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let held = bob.task_with(&ada, json!({ "title": "Held" })).await;
    hub.advance_ms(240_000);
    ada.post(&format!("/approvals/{held}/approve"), json!({})).await.ok(200);
    for outcome in ["completed", "completed", "completed", "failed"] {
        let task = ada.task(&bob).await;
        bob.post(&format!("/tasks/{task}/reply"), json!({ "content": "x", "outcome": outcome }))
            .await
            .ok(200);
    }
    ada.task_with(&bob, json!({ "title": "Old" })).await;
    hub.advance_ms(2 * 86_400_000);
    let person = Person::sign_in(&hub, &ada).await;
    let page = person.page("/figures").await;
    let said = |id: &str| words(between(&page, &format!("id=\"{id}\""), "</section>"));
    assert!(said("ages").contains("0 silent, 2 older than a day."), "{}", said("ages"));
    assert!(
        said("ages").contains("Bob 1 2 days") || said("ages").contains("Old, 2 days"),
        "{}",
        said("ages")
    );
    assert!(said("waiting").contains("Half within 4 min; none expired."), "{}", said("waiting"));
    assert!(said("outcomes").contains("Not on “Bob”.") && said("outcomes").contains("75 % of 4"));
    assert!(said("hook").contains("Nothing was called in 24 hours."), "{}", said("hook"));
    for (days, current) in [("1", "24 h"), ("90", "90 d"), ("nonsense", "14 d")] {
        let page = person.page(&format!("/figures?days={days}")).await;
        assert!(page.contains(&format!("aria-current=\"true\">{current}</a>")), "{days}");
    }
    // Another agent's figures are its own.
    let other = Person::sign_in(&hub, &bob).await;
    let page = words(&other.page("/figures").await);
    assert!(page.contains("Nobody asked in this time.") && !page.contains("Not on"), "{page}");
}

#[rstest]
#[tokio::test]
async fn counts_survive_a_restart(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (place, clock) = (Arc::new(Place::new(db)), Arc::new(AtomicI64::new(1_800_000_000_000)));
    let start = async || {
        Harness::start_at(Arc::clone(&place), place.config(), Arc::clone(&clock)).await.at_one_node()
    };
    let hub = start().await;
    let (ada, bob) = hub.pair().await;
    for _ in 0..3 {
        bob.task(&ada).await;
    }
    let count = async |hub: &Harness| {
        let person = Person::sign_in(hub, &ada).await;
        words(between(&person.page("/figures").await, "id=\"throughput\"", "</section>"))
    };
    let before = count(&hub).await;
    assert!(before.contains("4 events for Ada."), "{before}");
    drop(hub);
    let hub = start().await;
    let after = count(&hub).await;
    assert!(after.contains("4 events for Ada."), "{after}");
}
