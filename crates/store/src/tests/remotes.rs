//! Every column of the tables of remotes, as in `tables`.

use rstest::rstest;
use tandem_core::Timestamp;
use tandem_core::remotes::{
    Auth, AuthType, Binding, CardFacts, Interface, OnUnclear, Pause, PauseReason, Remote, RemoteTask,
    Signature, Terms,
};

use super::place::{Db, Place};
use super::tables::{agent, id, text};
use crate::{Value, agents, remotes};

fn remote() -> Remote {
    Remote {
        agent: id("far"),
        owner: id("ada"),
        terms: Terms {
            card_url: "card".into(),
            auth: Some(Auth { kind: AuthType::ApiKey, value: "secret".into(), header: text("header") }),
            origins: vec!["one".into(), "two".into()],
            keys: text("keys"),
            on_unclear: OnUnclear::Fail,
        },
        card: CardFacts {
            interface: Interface {
                url: "url".into(),
                binding: Binding::Http,
                tenant: text("tenant"),
                streams: true,
                pushes: false,
            },
            signature: Signature::Verified,
            pinned: text("pinned"),
            version: "version".into(),
            read_at: Timestamp(1),
        },
        pause: Some(Pause { reason: PauseReason::Key, detail: text("detail"), since: Timestamp(2) }),
        failing_since: Some(Timestamp(3)),
        last_error: text("error"),
        card_next_at: Timestamp(4),
        version: 5,
        created_at: Timestamp(6),
    }
}

fn remote_row(next_at: i64, holder: &str, lease_until: i64) -> [(&'static str, Value<'static>); 29] {
    [
        ("agent_id", "far".into()),
        ("owner_id", "ada".into()),
        ("card_url", "card".into()),
        ("auth_type", "apiKey".into()),
        ("auth_value", "secret".into()),
        ("auth_header", "header".into()),
        ("origins", "one,two".into()),
        ("keys", "keys".into()),
        ("on_unclear", "fail".into()),
        ("url", "url".into()),
        ("binding", "HTTP+JSON".into()),
        ("tenant", "tenant".into()),
        ("streams", 1.into()),
        ("pushes", 0.into()),
        ("signature", "verified".into()),
        ("pinned", "pinned".into()),
        ("card_version", "version".into()),
        ("card_read_at", 1.into()),
        ("card_next_at", 4.into()),
        ("paused", "key".into()),
        ("paused_detail", "detail".into()),
        ("paused_at", 2.into()),
        ("failing_since", 3.into()),
        ("last_error", "error".into()),
        ("version", 5.into()),
        ("lease_holder", Value::from(holder).into_owned()),
        ("lease_until", lease_until.into()),
        ("next_at", next_at.into()),
        ("created_at", 6.into()),
    ]
}

#[rstest]
fn a_remote_and_its_lease(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    let far = remote();
    place.run(|tx| agents::insert(tx, &agent("far", "Far"), b"1"));
    place.run(|tx| remotes::insert(tx, &far));
    place.expect("remotes", remote_row(4, "", 0));
    assert_eq!(place.run(|tx| remotes::find(tx, &far.agent)), Some(far.clone()));
    assert_eq!(place.run(|tx| remotes::list(tx, &far.owner, 9)), std::slice::from_ref(&far));
    assert_eq!(place.run(|tx| remotes::due(tx, None, Timestamp(4), 9)), [(Timestamp(4), id("far"))]);
    let lease = |tx: &mut crate::Tx<'_>, holder: &str, now: i64| {
        remotes::lease(tx, &id("far"), holder, Timestamp(now), Timestamp(now + 60))
    };
    assert!(place.run(|tx| lease(tx, "node", 10)));
    place.expect("remotes", remote_row(70, "node", 70));
    assert!(!place.run(|tx| lease(tx, "other", 69)));
    assert_eq!(place.run(|tx| remotes::due(tx, None, Timestamp(99), 9)), [(Timestamp(70), id("far"))]);
    assert!(place.run(|tx| remotes::is_held(tx, &far.agent, "node")));
    assert!(place.run(|tx| lease(tx, "other", 70)), "its time is over");
    place.run(|tx| remotes::release(tx, &far.agent, "node", Some(Timestamp(1))));
    assert!(place.run(|tx| remotes::is_held(tx, &far.agent, "other")), "nobody gives back what is another's");
    place.run(|tx| remotes::release(tx, &far.agent, "other", Some(Timestamp(80))));
    place.run(|tx| remotes::wake(tx, &far.agent, Timestamp(90)));
    place.expect("remotes", remote_row(80, "other", 0));
    let plain = Remote { pause: None, version: 7, ..far };
    place.run(|tx| remotes::update(tx, &plain));
    assert_eq!(place.run(|tx| remotes::find(tx, &plain.agent)), Some(plain.clone()));
    assert!(place.run(|tx| remotes::may_work(tx, &plain)));
    place.run(|tx| remotes::remove(tx, &plain.agent));
    assert_eq!(place.run(|tx| remotes::find(tx, &plain.agent)), None);
}

#[rstest]
fn a_task_of_a_remote(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    let task = RemoteTask {
        attempt: 1,
        foreign_id: text("foreign"),
        foreign_context: text("context"),
        sent_to: Some(2),
        is_sending: true,
        failures: 3,
        next_at: Some(Timestamp(4)),
        is_ended: true,
        heard_at: Timestamp(5),
        pause_ms: 6,
        stream_until: Some(Timestamp(7)),
        stream_after: Some(Timestamp(8)),
        push_path: text("path"),
        push_token: text("token"),
        seen: text("seen"),
        artifacts: vec!["a".into(), "b".into()],
        turn: 9,
        ..RemoteTask::new(id("task"), id("far"), 0, Timestamp(0))
    };
    let new = RemoteTask::new(id("task"), id("far"), 0, Timestamp(0));
    place.run(|tx| remotes::tasks::insert(tx, &new));
    assert_eq!(place.run(|tx| remotes::tasks::find(tx, &new.task)), Some(new));
    place.run(|tx| remotes::tasks::update(tx, &task));
    place.expect(
        "remote_tasks",
        [
            ("task_id", Value::from("task")),
            ("agent_id", "far".into()),
            ("attempt", 1.into()),
            ("foreign_id", "foreign".into()),
            ("foreign_context", "context".into()),
            ("sent_to", 2.into()),
            ("is_sending", 1.into()),
            ("failures", 3.into()),
            ("next_at", 4.into()),
            ("is_ended", 1.into()),
            ("heard_at", 5.into()),
            ("pause_ms", 6.into()),
            ("stream_until", 7.into()),
            ("stream_after", 8.into()),
            ("push_path", "path".into()),
            ("push_token", "token".into()),
            ("seen", "seen".into()),
            ("artifacts", "a,b".into()),
            ("turn", 9.into()),
        ],
    );
    assert_eq!(place.run(|tx| remotes::tasks::by_push_path(tx, "path")), Some(task.clone()));
    assert_eq!(place.run(|tx| remotes::tasks::due(tx, &task.agent, Timestamp(3), 9)), []);
    assert_eq!(
        place.run(|tx| remotes::tasks::due(tx, &task.agent, Timestamp(4), 9)),
        std::slice::from_ref(&task)
    );
    assert_eq!(place.run(|tx| remotes::tasks::next_at(tx, &task.agent)), Some(Timestamp(4)));
    assert_eq!(place.run(|tx| remotes::tasks::streams(tx, &task.agent, Timestamp(6))), 1);
    assert_eq!(place.run(|tx| remotes::tasks::streams(tx, &task.agent, Timestamp(7))), 0);
    // What was put off until the end of a lease is due when that is taken over.
    place.run(|tx| remotes::tasks::take_over(tx, &task.agent, Timestamp(4), Timestamp(1)));
    assert_eq!(place.run(|tx| remotes::tasks::next_at(tx, &task.agent)), Some(Timestamp(1)));
    place.run(|tx| remotes::tasks::forget(tx, &task.task));
    assert!(place.run(|tx| remotes::tasks::find(tx, &task.task)).is_some(), "something is to be done for it");
    place.run(|tx| remotes::tasks::update(tx, &RemoteTask { next_at: None, ..task.clone() }));
    place.run(|tx| remotes::tasks::forget(tx, &task.task));
    assert_eq!(place.run(|tx| remotes::tasks::find(tx, &task.task)), None);
}
