//! Every column of every other table, by its name in the database: each has a value of its own, so that a field in the
//! wrong column is seen.

use rstest::rstest;
use tandem_core::agents::{A2aAccess, Agent, Connection};
use tandem_core::events::EventKind;
use tandem_core::files::File;
use tandem_core::networks::{Broadcast, InviteCode, Network};
use tandem_core::pairing::PairingCode;
use tandem_core::wake::{Ladder, Rung};
use tandem_core::webhooks::State;
use tandem_core::{Id, Rule, Timestamp};

use super::place::{Db, Place};
use crate::events::{Cursors, Logged, NewEvent};
use crate::idempotency::Kept;
use crate::retention::Reached;
use crate::webhooks::{Delivery, Webhook};
use crate::{
    Value, admin, agents, blocks, connections, events, files, idempotency, inbox, messages, networks,
    pairing, retention, tasks, webhooks,
};

pub(super) fn id<T>(text: &str) -> Id<T> {
    text.parse().unwrap()
}

pub(super) fn text(text: &str) -> Option<String> {
    Some(text.into())
}

fn ladder() -> Ladder {
    let mut ladder = Ladder::default();
    ladder.set_provided(Rung::Runner, true, Timestamp(14));
    ladder.set_worked(Rung::Hook, Timestamp(15));
    ladder
}

pub(super) fn agent(agent: &str, name: &str) -> Agent {
    Agent {
        id: id(agent),
        name: name.into(),
        description: text("Describes"),
        capabilities: vec!["one".into(), "two".into()],
        metadata: text("metadata"),
        public_key: text("public key"),
        discoverable: false,
        auto_accept: false,
        default_approval: Some(Rule::Require),
        costs_credits: false,
        credits_micro: 11,
        suspended: false,
        created_at: Timestamp(12),
        webhook_url: text("url"),
        webhook_events: vec!["three".into()],
        webhook_active: false,
        last_seen_at: Some(Timestamp(13)),
        wake: ladder(),
        a2a: A2aAccess::Public,
        skills: text("skills"),
        profile_at: Some(Timestamp(16)),
        is_remote: name == "Bob",
    }
}

#[rstest]
fn an_event_and_the_cursors(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    let ada = agent("ada", "Ada");
    place.run(|tx| agents::insert(tx, &ada, b"hash"));
    let (task, message, from) = (id("task"), id("message"), id("bob"));
    let event = || NewEvent {
        kind: EventKind::MessageCreated,
        task: Some(&task),
        message: Some(&message),
        from: Some(&from),
        data: "{}".into(),
        at: Timestamp(5),
    };
    assert_eq!(place.run(|tx| events::append(tx, &ada.id, &[event()])).last, 1);
    place.expect(
        "events",
        [
            ("agent_id", "ada".into()),
            ("seq", 1.into()),
            ("type", "message.created".into()),
            ("task_id", "task".into()),
            ("message_id", "message".into()),
            ("from_agent_id", "bob".into()),
            ("data", "{}".into()),
            ("created_at", 5.into()),
        ],
    );
    let logged = Logged {
        seq: 1,
        kind: "message.created".into(),
        task: Some(id("task")),
        from: Some(id("bob")),
        data: r#"{"type":"message.created","taskId":"task","messageId":"message","fromAgentId":"bob"}"#
            .into(),
        at: Timestamp(5),
    };
    assert_eq!(place.run(|tx| events::after(tx, &ada.id, 0, 10)), [logged]);
    let row = admin::EventRow {
        agent: id("ada"),
        seq: 1,
        kind: "message.created".into(),
        task: Some(id("task")),
        from: Some(id("bob")),
        at: Timestamp(5),
    };
    assert_eq!(place.run(|tx| admin::list_events(tx, None, None, 10)), [row]);

    place.run(|tx| events::append(tx, &ada.id, &[event(), event(), event(), event()]));
    assert_eq!(place.run(|tx| events::acknowledge_events(tx, &ada.id, 2)), 2);
    assert_eq!(place.run(|tx| events::acknowledge_updates(tx, &ada.id, 3)), (0, 3));
    place.run(|tx| events::set_fetched(tx, &ada.id, 4));
    place.run(|tx| tasks::count_ended(tx, &ada.id, true, 6));
    place.run(|tx| tasks::count_ended(tx, &ada.id, false, 1));
    place.expect(
        "mailboxes",
        [
            ("agent_id", "ada".into()),
            ("last_seq", 5.into()),
            ("events_acked", 2.into()),
            ("updates_acked", 3.into()),
            ("events_fetched", 4.into()),
            ("tasks_ended", 7.into()),
            ("tasks_completed", 6.into()),
            ("webhook_cursor", Value::Null),
        ],
    );
    let cursors = Cursors { last: 5, events_acked: 2, updates_acked: 3, fetched: 4 };
    assert_eq!(place.run(|tx| events::cursors(tx, &ada.id)), cursors);
    let webhook =
        Webhook { url: None, secret: None, events: Vec::new(), active: true, failing_since: None, cursor: 8 };
    place.run(|tx| webhooks::update(tx, &ada.id, &webhook));
    place.run(|tx| webhooks::set_cursor(tx, &ada.id, webhook.cursor));
    let reached = Reached { events_acked: 2, updates_acked: 3, webhook: Some(8) };
    assert_eq!(place.run(|tx| retention::reached(tx, &ada.id)), Some(reached));
}

#[rstest]
fn a_connection_and_the_pair(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    let (ada, bob) = (agent("ada", "Ada"), Agent { costs_credits: true, ..agent("bob", "Bob") });
    place.run(|tx| agents::insert(tx, &ada, b"1"));
    place.run(|tx| agents::insert(tx, &bob, b"2"));
    let connection = id("connection");
    place.run(|tx| {
        let (sides, approvals) = ((&ada.id, &bob.id), (Some(Rule::Auto), Some(Rule::Require)));
        connections::insert(tx, &connection, sides, approvals, Timestamp(5))
    });
    let mine = Connection {
        id: connection,
        peer: bob.clone(),
        alias: None,
        approval: Some(Rule::Auto),
        created_at: Timestamp(5),
    };
    assert_eq!(place.run(|tx| connections::find(tx, &ada.id, &mine.id)), Some(mine.clone()));
    let mine = Connection { alias: text("alias"), approval: Some(Rule::Require), ..mine };
    place.run(|tx| connections::update(tx, &ada.id, &mine));
    assert_eq!(place.run(|tx| connections::list(tx, &ada.id, None, 10)), [mine]);
    let rows = place.raw("connections");
    let row = |agent: &str, peer: &str, alias: Option<&str>| {
        let columns = [
            ("agent_id", Value::from(agent)),
            ("peer_id", peer.into()),
            ("connection_id", "connection".into()),
            ("alias", alias.into()),
            ("approval", "require".into()),
            ("created_at", 5.into()),
        ];
        columns.map(|(name, value)| (name.to_owned(), value.into_owned())).into()
    };
    assert_eq!(rows, [row("ada", "bob", Some("alias")), row("bob", "ada", None)]);

    place.run(|tx| connections::count_live(tx, &bob.id, &ada.id, 6));
    place.expect("pairs", [("low_id", "ada".into()), ("high_id", "bob".into()), ("live_tasks", 6.into())]);
    let reach = connections::Reach {
        initiator_name: "Ada".into(),
        target_name: "Bob".into(),
        connected: true,
        target_side: Some(Rule::Require),
        target_default: Some(Rule::Require),
        is_remote: true,
        costs_credits: true,
        credits_micro: 11,
        live_tasks: Some(6),
    };
    assert_eq!(place.run(|tx| connections::reach(tx, &ada.id, &bob.id)), Some(reach));
}

#[rstest]
fn a_network_with_what_is_in_it(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    let ada = agent("ada", "Ada");
    place.run(|tx| agents::insert(tx, &ada, b"1"));
    let network = Network {
        id: id("network"),
        name: "Name".into(),
        description: text("description"),
        owner: id("ada"),
        owner_name: "Ada".into(),
        members: 1,
        messages: 2,
        created_at: Timestamp(3),
    };
    place.run(|tx| networks::insert(tx, &network));
    let columns = |members: i64, messages: i64| {
        [
            ("id", Value::from("network")),
            ("name", "Name".into()),
            ("description", "description".into()),
            ("owner_id", "ada".into()),
            ("member_count", members.into()),
            ("message_count", messages.into()),
            ("created_at", 3.into()),
        ]
    };
    place.expect("networks", columns(1, 2));
    place.expect(
        "network_members",
        [("network_id", "network".into()), ("agent_id", "ada".into()), ("joined_at", 3.into())],
    );
    assert_eq!(place.run(|tx| networks::find(tx, &ada.id, &network.id)), Some(network.clone()));
    let member = networks::Member { joined_at: Timestamp(3), agent: ada.clone() };
    assert_eq!(place.run(|tx| networks::members(tx, &network.id, None, 10)), [member]);

    let message = Broadcast {
        id: id("message"),
        network: id("network"),
        number: 4,
        sender: id("ada"),
        sender_name: "Ada".into(),
        content: "content".into(),
        recipients: 5,
        created_at: Timestamp(6),
    };
    place.run(|tx| networks::insert_message(tx, &message));
    place.expect("networks", columns(1, 4));
    place.expect(
        "network_messages",
        [
            ("id", "message".into()),
            ("network_id", "network".into()),
            ("number", 4.into()),
            ("sender_id", "ada".into()),
            ("content", "content".into()),
            ("recipients", 5.into()),
            ("created_at", 6.into()),
        ],
    );
    assert_eq!(place.run(|tx| networks::find_message(tx, &message.id)), Some(message.clone()));
    let event = NewEvent {
        kind: EventKind::BroadcastCreated,
        task: None,
        message: Some(&message.id),
        from: None,
        data: "{}".into(),
        at: Timestamp(9),
    };
    place.run(|tx| events::append(tx, &ada.id, &[event]));
    let item = inbox::Item {
        kind: inbox::Kind::Broadcast,
        rank: 1,
        task: None,
        message: Some(id("message")),
        network: Some(id("network")),
        title: "Name".into(),
        title_by: id("ada"),
        from: id("ada"),
        from_name: "Ada".into(),
        unread: 1,
        at: Timestamp(9),
        overdue: false,
        unfetched: false,
    };
    assert_eq!(place.run(|tx| inbox::broadcasts(tx, &ada.id, 0, 1, None, 10)), [item]);

    let code = InviteCode::from_random(1);
    assert!(place.run(|tx| networks::insert_invite(tx, &code, &network.id, 7, Timestamp(8))));
    assert!(!place.run(|tx| networks::insert_invite(tx, &code, &network.id, 9, Timestamp(9))));
    place.expect(
        "network_invites",
        [
            ("code", code.as_str().into()),
            ("network_id", "network".into()),
            ("uses_left", 7.into()),
            ("expires_at", 8.into()),
        ],
    );
}

#[rstest]
fn a_file(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    place.run(|tx| agents::insert(tx, &agent("ada", "Ada"), b"1"));
    let file = File {
        id: id("file"),
        task: id("task"),
        message: id("message"),
        uploader: id("ada"),
        name: "name".into(),
        mime_type: "text/plain".into(),
        size_bytes: 1,
        created_at: Timestamp(2),
    };
    place.run(|tx| files::insert(tx, &file));
    place.expect(
        "files",
        [
            ("id", "file".into()),
            ("task_id", "task".into()),
            ("message_id", "message".into()),
            ("uploader_id", "ada".into()),
            ("name", "name".into()),
            ("mime_type", "text/plain".into()),
            ("size_bytes", 1.into()),
            ("created_at", 2.into()),
        ],
    );
    assert_eq!(place.raw("agents")[0]["file_bytes"], Value::Int(1));
    assert_eq!(place.run(|tx| files::find(tx, &file.id)), Some(file));
}

#[rstest]
fn a_delivery(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    let delivery = Delivery {
        id: id("delivery"),
        agent: id("ada"),
        event_seq: Some(1),
        event_type: "type".into(),
        url: "url".into(),
        body: "body".into(),
        state: State::Pending,
        attempts: 2,
        next_at: Some(Timestamp(3)),
        answered_at: Some(Timestamp(4)),
        answer_status: Some(5),
        answer: text("answer"),
        error: text("error"),
        took_ms: Some(6),
        created_at: Timestamp(7),
        replays: 0,
        task: Some(id("task")),
    };
    place.run(|tx| webhooks::insert(tx, &delivery));
    let expect = |place: &mut Place, now: &Delivery| {
        place.expect(
            "deliveries",
            [
                ("id", "delivery".into()),
                ("agent_id", "ada".into()),
                ("event_seq", 1.into()),
                ("event_type", "type".into()),
                ("url", (&now.url).into()),
                ("body", "body".into()),
                ("state", now.state.into()),
                ("attempts", now.attempts.into()),
                ("next_at", now.next_at.into()),
                ("answered_at", now.answered_at.into()),
                ("answer_status", now.answer_status.into()),
                ("answer", now.answer.as_ref().into()),
                ("error", now.error.as_ref().into()),
                ("took_ms", now.took_ms.into()),
                ("created_at", 7.into()),
                ("replays", now.replays.into()),
                ("task_id", now.task.as_ref().into()),
            ],
        );
        assert_eq!(place.run(|tx| webhooks::find_delivery(tx, &now.agent, &now.id)).as_ref(), Some(now));
    };
    expect(&mut place, &delivery);
    let tried = Delivery {
        url: "other url".into(),
        state: State::Failed,
        attempts: 12,
        next_at: Some(Timestamp(13)),
        answered_at: Some(Timestamp(14)),
        answer_status: Some(15),
        answer: text("other answer"),
        error: text("other error"),
        took_ms: Some(16),
        ..delivery
    };
    place.run(|tx| webhooks::update_delivery(tx, &tried));
    expect(&mut place, &tried);
    let row = admin::DeliveryRow {
        id: id("delivery"),
        agent: id("ada"),
        event_type: "type".into(),
        state: State::Failed,
        attempts: 12,
        answer_status: Some(15),
        next_at: Some(Timestamp(13)),
        created_at: Timestamp(7),
    };
    assert_eq!(place.run(|tx| admin::list_deliveries(tx, None, 10)), [row]);
}

#[rstest]
fn a_kept_answer_is_replaced_as_a_whole(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    for (number, body) in [(1, "body"), (2, "other body")] {
        let kept = Kept { request_hash: vec![9, 9], status: 200 + number, body: body.into() };
        place.run(|tx| {
            idempotency::keep(tx, &id("ada"), "key", &kept, Timestamp(number - 1), Timestamp(number))
        });
        place.expect(
            "idempotency",
            [
                ("agent_id", "ada".into()),
                ("key", "key".into()),
                ("request_hash", [9_u8, 9].as_slice().into()),
                ("status", (200 + number).into()),
                ("body", body.into()),
                ("created_at", number.into()),
            ],
        );
        assert_eq!(place.run(|tx| idempotency::find(tx, &id("ada"), "key", Timestamp(0))), Some(kept));
    }
}

#[rstest]
fn the_small_tables(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    place.run(|tx| agents::insert(tx, &agent("bob", "Bob"), b"1"));
    for again in [false, true] {
        place.run(|tx| blocks::insert(tx, &id("ada"), &id("bob"), Timestamp(1)));
        let code = PairingCode::from_random(1);
        assert_ne!(place.run(|tx| pairing::insert(tx, &code, &id("offer"), &id("ada"), Timestamp(2))), again);
        assert_ne!(place.run(|tx| pairing::use_challenge(tx, "challenge", Timestamp(3))), again);
        assert_eq!(place.run(|tx| pairing::hub_secret(tx, "name", b"value")), b"value");
        assert_ne!(place.run(|tx| messages::insert_signature(tx, &id("task"), b"signature")), again);
        place.run(|tx| tasks::insert_former_target(tx, &id("ada"), &id("task")));
        place.expect(
            "blocks",
            [("agent_id", "ada".into()), ("blocked_id", "bob".into()), ("created_at", 1.into())],
        );
        place.expect(
            "pairing_codes",
            [
                ("code", code.as_str().into()),
                ("agent_id", "ada".into()),
                ("expires_at", 2.into()),
                ("pairing_id", "offer".into()),
            ],
        );
        place.expect("used_challenges", [("challenge", "challenge".into()), ("expires_at", 3.into())]);
        place.expect("hub_secrets", [("name", "name".into()), ("value", b"value".as_slice().into())]);
        place.expect("signatures", [("task_id", "task".into()), ("hash", b"signature".as_slice().into())]);
        place.expect("former_targets", [("agent_id", "ada".into()), ("task_id", "task".into())]);
    }
    place.run(|tx| tasks::delete(tx, &id("task")));
    place.expect("used_task_ids", [("id", "task".into())]);
    let block = blocks::Block { agent: id("bob"), name: "Bob".into(), created_at: Timestamp(1) };
    assert_eq!(place.run(|tx| blocks::list(tx, &id("ada"), "", 10)), [block]);
}
