//! Every column of tasks, their histories, messages and deadlines, by its name in the database.

use rstest::rstest;
use tandem_core::a2a::TaskState;
use tandem_core::deadlines::{Deadline, Due, Facts};
use tandem_core::messages::{ContentType, Foreign, Kind, Message};
use tandem_core::tasks::{
    DeliveryMarks, GateState, Lease, OnStall, Priority, Side, Task, TaskAttempt, TaskContent, TaskCounts,
    TaskLinks, Terms, Unseen,
};
use tandem_core::wake::Rung;
use tandem_core::{Approval, Role, Status, Timestamp};

use super::place::{Db, Place};
use super::tables::{agent, id, text};
use crate::tasks::LogLine;
use crate::updates::News;
use crate::{Value, admin, agents, deadlines, inbox, messages, tasks, updates};

/// What is set for a new task has its own value in every field; the rest comes later.
pub(super) fn new_task() -> Task {
    Task {
        id: id("task"),
        initiator: id("ada"),
        initiator_name: "Ada".into(),
        target: id("bob"),
        target_name: "Bob".into(),
        content: TaskContent {
            title: "A Title".into(),
            description: text("description"),
            encrypted: true,
            keys: text("description keys"),
            signature: text("signature"),
        },
        status: Status::Submitted,
        status_reason: None,
        status_at: Timestamp(71),
        gate: GateState { approval: Some(Approval::Pending), note: None },
        requires_review: false,
        priority: Priority::Low,
        terms: Terms {
            ttl_seconds: Some(21),
            check_in_seconds: 22,
            lease_seconds: Some(23),
            on_stall: OnStall::Retry,
            max_attempts: 24,
            max_messages: 25,
        },
        attempt: TaskAttempt { number: 11, ..TaskAttempt::default() },
        delivery: DeliveryMarks {
            queued_at: Some(Timestamp(61)),
            expires_at: Some(Timestamp(65)),
            ..DeliveryMarks::default()
        },
        lease: Lease::default(),
        initiator_side: Side { session_key: text("initiator session"), unread: 31, ..Side::default() },
        target_side: Side { session_key: text("target session"), unread: 41, ..Side::default() },
        counts: TaskCounts { messages: 51, spoken: 0, log: 53, artifact_bytes: 0 },
        asked_after: None,
        usage_micro: 0,
        links: TaskLinks {
            parent: Some(id("parent")),
            parent_shared: false,
            network: Some(id("network")),
            context: text("context"),
        },
        foreign: Foreign { id: text("foreign"), parts: text("[]"), extras: text("{}") },
        version: 54,
        created_at: Timestamp(69),
        updated_at: Timestamp(70),
    }
}

/// The same with another value in every field but its id and parties.
fn changed_task() -> Task {
    let side = |name: &str, first: i64| Side {
        session_key: text(name),
        unread: first,
        unread_since: Some(Timestamp(first + 1)),
        said: first + 2,
        read: first + 3,
        acked: first + 4,
        unseen: Unseen { count: first + 5, first: Some(first + 6), last: Some(first + 7) },
    };
    Task {
        content: TaskContent {
            title: "Another".into(),
            description: text("other description"),
            encrypted: false,
            keys: text("other keys"),
            signature: text("other signature"),
        },
        status: Status::Working,
        status_reason: text("reason"),
        status_at: Timestamp(175),
        gate: GateState { approval: Some(Approval::Approved), note: text("note") },
        requires_review: true,
        priority: Priority::High,
        terms: Terms {
            ttl_seconds: Some(121),
            check_in_seconds: 122,
            lease_seconds: Some(123),
            on_stall: OnStall::Expire,
            max_attempts: 124,
            max_messages: 125,
        },
        attempt: TaskAttempt {
            number: 111,
            started_at: Some(Timestamp(167)),
            progress: Some(171),
            progress_note: text("note"),
            result: text("result"),
            completed_at: Some(Timestamp(168)),
        },
        delivery: DeliveryMarks {
            queued_at: Some(Timestamp(161)),
            expires_at: Some(Timestamp(165)),
            pushed_at: Some(Timestamp(162)),
            fetched_at: Some(Timestamp(163)),
            surfaced_at: Some(Timestamp(167)),
            surfaced_by: Some(Rung::Channel),
            acknowledged_at: Some(Timestamp(164)),
        },
        lease: Lease { until: Some(Timestamp(166)), stalled_at: Some(Timestamp(173)) },
        initiator_side: side("other initiator session", 131),
        target_side: side("other target session", 141),
        counts: TaskCounts { messages: 151, spoken: 152, log: 153, artifact_bytes: 176 },
        asked_after: Some(174),
        usage_micro: 172,
        links: TaskLinks {
            parent: Some(id("parent2")),
            parent_shared: true,
            network: Some(id("network2")),
            context: text("other context"),
        },
        foreign: Foreign { id: text("other"), parts: text("[1]"), extras: text("{1}") },
        version: 154,
        created_at: Timestamp(169),
        updated_at: Timestamp(170),
        ..new_task()
    }
}

fn started(db: Db) -> Place {
    let mut place = Place::new(db);
    place.run(|tx| agents::insert(tx, &agent("ada", "Ada"), b"1"));
    place.run(|tx| agents::insert(tx, &agent("bob", "Bob"), b"2"));
    place.run(|tx| tasks::insert(tx, &new_task(), Some(b"hash")));
    place
}

fn expect_task(place: &mut Place, first: &Task, now: &Task, search_title: &str, lane: i64) {
    let (initiator, target) = (&now.initiator_side, &now.target_side);
    place.expect(
        "tasks",
        [
            ("id", "task".into()),
            ("initiator_id", "ada".into()),
            ("target_id", (&now.target).into()),
            ("title", (&now.content.title).into()),
            ("search_title", search_title.into()),
            ("description", now.content.description.as_ref().into()),
            ("encrypted", first.content.encrypted.into()),
            ("description_keys", now.content.keys.as_ref().into()),
            ("sender_signature", now.content.signature.as_ref().into()),
            ("status", now.status.into()),
            ("status_reason", now.status_reason.as_ref().into()),
            ("approval", now.gate.approval.into()),
            ("approval_note", now.gate.note.as_deref().into()),
            ("requires_review", first.requires_review.into()),
            ("priority", first.priority.into()),
            ("rank", first.priority.rank().into()),
            ("lane", lane.into()),
            ("attempt", now.attempt.number.into()),
            ("ttl_seconds", first.terms.ttl_seconds.into()),
            ("check_in_seconds", first.terms.check_in_seconds.into()),
            ("lease_seconds", first.terms.lease_seconds.into()),
            ("on_stall", first.terms.on_stall.into()),
            ("max_attempts", first.terms.max_attempts.into()),
            ("max_messages", now.terms.max_messages.into()),
            ("initiator_session_key", initiator.session_key.as_ref().into()),
            ("initiator_unread", initiator.unread.into()),
            ("initiator_unread_since", initiator.unread_since.into()),
            ("initiator_said", initiator.said.into()),
            ("initiator_read", initiator.read.into()),
            ("initiator_acked", initiator.acked.into()),
            ("initiator_unseen", initiator.unseen.count.into()),
            ("initiator_unseen_first", initiator.unseen.first.into()),
            ("initiator_unseen_last", initiator.unseen.last.into()),
            ("target_session_key", target.session_key.as_ref().into()),
            ("target_unread", target.unread.into()),
            ("target_unread_since", target.unread_since.into()),
            ("target_said", target.said.into()),
            ("target_read", target.read.into()),
            ("target_acked", target.acked.into()),
            ("target_unseen", target.unseen.count.into()),
            ("target_unseen_first", target.unseen.first.into()),
            ("target_unseen_last", target.unseen.last.into()),
            ("message_count", now.counts.messages.into()),
            ("spoken_count", now.counts.spoken.into()),
            ("log_count", now.counts.log.into()),
            ("version", now.version.into()),
            ("queued_at", now.delivery.queued_at.into()),
            ("pushed_at", now.delivery.pushed_at.into()),
            ("fetched_at", now.delivery.fetched_at.into()),
            ("surfaced_at", now.delivery.surfaced_at.into()),
            ("surfaced_by", now.delivery.surfaced_by.into()),
            ("acknowledged_at", now.delivery.acknowledged_at.into()),
            ("expires_at", now.delivery.expires_at.into()),
            ("lease_until", now.lease.until.into()),
            ("stalled_at", now.lease.stalled_at.into()),
            ("asked_after", now.asked_after.into()),
            ("parent_id", first.links.parent.as_ref().into()),
            ("parent_shared", now.links.parent_shared.into()),
            ("network_id", now.links.network.as_ref().into()),
            ("result", now.attempt.result.as_ref().into()),
            ("progress", now.attempt.progress.into()),
            ("progress_note", now.attempt.progress_note.as_ref().into()),
            ("usage_micro", now.usage_micro.into()),
            ("started_at", now.attempt.started_at.into()),
            ("completed_at", now.attempt.completed_at.into()),
            ("created_at", first.created_at.into()),
            ("updated_at", now.updated_at.into()),
            ("context_id", first.links.context.as_deref().into()),
            ("foreign_id", first.foreign.id.as_deref().into()),
            ("foreign_parts", first.foreign.parts.as_deref().into()),
            ("foreign_extras", first.foreign.extras.as_deref().into()),
            ("foreign_hash", Value::Bytes(b"hash".into())),
            ("status_at", now.status_at.into()),
            ("a2a_state", now.state().map(TaskState::number).into()),
            ("artifact_bytes", now.counts.artifact_bytes.into()),
        ],
    );
}

#[rstest]
fn a_task_has_every_value_in_its_own_column(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = started(db);
    let (first, changed) = (new_task(), changed_task());
    expect_task(&mut place, &first, &first, "a title", 5);
    assert_eq!(place.run(|tx| tasks::find(tx, &first.id)), Some(first.clone()));

    place.run(|tx| tasks::mark_pushed(tx, &first.id, &first.target, Timestamp(162)));
    place.run(|tx| tasks::mark_fetched(tx, &first.id, &first.target, Timestamp(163)));
    place.run(|tx| tasks::mark_surfaced(tx, &first.id, &first.target, Timestamp(167), Rung::Channel));
    place.run(|tx| tasks::update(tx, &changed));
    place.run(|tx| tasks::set_target(tx, &changed));
    expect_task(&mut place, &first, &changed, "another", 0);
    // What no update writes is as it was made.
    let found = Task {
        content: TaskContent { encrypted: first.content.encrypted, ..changed.content },
        requires_review: first.requires_review,
        priority: first.priority,
        terms: Terms { max_messages: changed.terms.max_messages, ..first.terms },
        links: TaskLinks { parent: first.links.parent, context: first.links.context, ..changed.links },
        created_at: first.created_at,
        foreign: first.foreign,
        ..changed
    };
    assert_eq!(place.run(|tx| tasks::find(tx, &found.id)), Some(found));
}

#[rstest]
fn each_flag_of_a_task_has_its_own_column(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    for set in 0..3 {
        let mut place = Place::new(db);
        let mut task = Task { requires_review: set == 1, ..new_task() };
        (task.content.encrypted, task.links.parent_shared) = (set == 0, set == 2);
        place.run(|tx| tasks::insert(tx, &task, None));
        let row = &place.raw("tasks")[0];
        for (number, name) in ["encrypted", "requires_review", "parent_shared"].into_iter().enumerate() {
            assert_eq!(row[name], Value::from(number == set), "{name}");
        }
    }
}

#[rstest]
fn a_change_of_the_thread_writes_nothing_else(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = started(db);
    let (first, changed) = (new_task(), changed_task());
    place.run(|tx| tasks::update_thread(tx, &changed));
    let side = |of: &Side, key: &Side| Side { session_key: key.session_key.clone(), ..of.clone() };
    let expected = Task {
        initiator_side: side(&changed.initiator_side, &first.initiator_side),
        target_side: side(&changed.target_side, &first.target_side),
        counts: TaskCounts { log: first.counts.log, ..changed.counts },
        attempt: TaskAttempt {
            progress: changed.attempt.progress,
            progress_note: changed.attempt.progress_note,
            ..first.attempt
        },
        delivery: DeliveryMarks { acknowledged_at: changed.delivery.acknowledged_at, ..first.delivery },
        lease: changed.lease,
        updated_at: changed.updated_at,
        ..first
    };
    assert_eq!(place.run(|tx| tasks::find(tx, &expected.id)), Some(expected));
}

#[rstest]
fn parts_are_read_without_what_is_written_in_them(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = started(db);
    let mut changed = changed_task();
    place.run(|tx| tasks::update(tx, &changed));
    let parts = place.run(|tx| tasks::children(tx, &id("parent"), 10));
    changed = place.run(|tx| tasks::find(tx, &changed.id)).unwrap();
    assert!(changed.content.description.is_some() && changed.attempt.result.is_some());
    let foreign = Foreign { parts: None, extras: None, ..changed.foreign.clone() };
    (changed.content.description, changed.attempt.result) = (None, None);
    assert_eq!(parts, [Task { foreign, ..changed }]);
}

#[rstest]
fn lists_of_tasks_show_the_right_columns(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = started(db);
    let task = new_task();
    let rows = place.run(|tx| admin::list_tasks(tx, None, 10));
    let row = admin::TaskRow {
        id: id("task"),
        status: Status::Submitted,
        priority: Priority::Low,
        attempt: 11,
        encrypted: true,
        initiator: id("ada"),
        target: id("bob"),
        messages: 51,
        created_at: Timestamp(69),
        updated_at: Timestamp(70),
    };
    assert_eq!(rows, [row]);

    let item = inbox::Item {
        kind: inbox::Kind::Approval,
        rank: 2,
        task: Some(id("task")),
        message: None,
        network: None,
        title: "A Title".into(),
        title_by: id("ada"),
        from: id("ada"),
        from_name: "Ada".into(),
        unread: 41,
        at: Timestamp(69),
        overdue: true,
        unfetched: true,
    };
    let held =
        place.run(|tx| inbox::waiting(tx, &task.target, inbox::Kind::Approval, None, 9, Timestamp(99)));
    assert_eq!(held, std::slice::from_ref(&item));

    place.run(|tx| tasks::update(tx, &changed_task()));
    let thread = inbox::Item {
        kind: inbox::Kind::Messages,
        title: "Another".into(),
        unread: 141,
        at: Timestamp(142),
        overdue: false,
        unfetched: false,
        ..item
    };
    let found = place.run(|tx| inbox::threads(tx, &task.target, Role::Target, None, 9));
    assert_eq!(found, std::slice::from_ref(&thread));
    let other =
        inbox::Item { from: id("bob"), from_name: "Bob".into(), unread: 131, at: Timestamp(132), ..thread };
    assert_eq!(place.run(|tx| inbox::threads(tx, &task.initiator, Role::Initiator, None, 9)), [other]);
}

#[rstest]
fn what_updates_show_of_a_task(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = started(db);
    let task = new_task();
    place.run(|tx| tasks::mark_fetched(tx, &task.id, &task.target, Timestamp(163)));
    place.run(|tx| tasks::mark_surfaced(tx, &task.id, &task.target, Timestamp(167), Rung::Channel));
    let mut changed = Task { status: Status::Submitted, ..changed_task() };
    changed.gate.approval = Some(Approval::Pending);
    changed.delivery.queued_at = task.delivery.queued_at;
    place.run(|tx| tasks::update(tx, &changed));
    let news = News {
        task: id("task"),
        title: "Another".into(),
        status: Status::Submitted,
        held: true,
        initiator: id("ada"),
        initiator_name: "Ada".into(),
        created_at: task.created_at,
        acknowledged_at: Some(Timestamp(164)),
        expires_at: Some(Timestamp(165)),
        fetched_at: Some(Timestamp(163)),
        surfaced_at: Some(Timestamp(167)),
    };
    assert_eq!(place.run(|tx| updates::submitted(tx, &task.target, 9)), [news]);
    let thread = updates::Thread {
        task: id("task"),
        title: "Another".into(),
        initiator: id("ada"),
        count: 146,
        first: 147,
    };
    let found = place.run(|tx| updates::unseen(tx, &task.target, Role::Target, 0, 9));
    assert_eq!(found, std::slice::from_ref(&thread));
    let other = updates::Thread { count: 136, first: 137, ..thread };
    assert_eq!(place.run(|tx| updates::unseen(tx, &task.initiator, Role::Initiator, 0, 9)), [other]);
}

#[rstest]
fn a_line_of_the_history(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = Place::new(db);
    let line = LogLine {
        from: Some(Status::Submitted),
        to: Status::Working,
        actor: "bob".into(),
        actor_name: text("Bob"),
        detail: text("detail"),
        attempt: 3,
        at: Timestamp(4),
        step: Some(6),
    };
    place.run(|tx| tasks::log(tx, &id("task"), 2, &line));
    place.expect(
        "task_log",
        [
            ("task_id", "task".into()),
            ("number", 2.into()),
            ("from_status", "submitted".into()),
            ("to_status", "working".into()),
            ("actor", "bob".into()),
            ("actor_name", "Bob".into()),
            ("detail", "detail".into()),
            ("attempt", 3.into()),
            ("created_at", 4.into()),
            ("step", 6.into()),
        ],
    );
    assert_eq!(place.run(|tx| tasks::log_lines(tx, &id("task"), 0, 10)), [line]);
}

#[rstest]
fn a_message(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = started(db);
    let message = Message {
        id: id("message"),
        task: id("task"),
        in_reply_to: Some(id("other")),
        number: 1,
        sender: Some(id("bob")),
        sender_name: text("Bob"),
        kind: Kind::Reply,
        content: "content".into(),
        content_type: ContentType::Json,
        encrypted_keys: text("keys"),
        sender_signature: text("signature"),
        read_at: Some(Timestamp(2)),
        acknowledged_at: Some(Timestamp(3)),
        created_at: Timestamp(4),
        deleted: false,
        foreign: Foreign { id: text("foreign"), parts: text("[]"), extras: text("{}") },
        step: Some(6),
        artifact: text("artifact"),
        direct: true,
    };
    place.run(|tx| messages::insert(tx, &message, Some(5), Some(b"hash")));
    place.expect(
        "messages",
        [
            ("id", "message".into()),
            ("task_id", "task".into()),
            ("in_reply_to", "other".into()),
            ("number", 1.into()),
            ("sender_id", "bob".into()),
            ("kind", "reply".into()),
            ("content", "content".into()),
            ("content_type", "json".into()),
            ("encrypted_keys", "keys".into()),
            ("sender_signature", "signature".into()),
            ("deleted", 0.into()),
            ("read_at", 2.into()),
            ("acknowledged_at", 3.into()),
            ("created_at", 4.into()),
            ("event_seq", 5.into()),
            ("foreign_id", "foreign".into()),
            ("foreign_parts", "[]".into()),
            ("foreign_extras", "{}".into()),
            ("foreign_hash", Value::Bytes(b"hash".into())),
            ("step", 6.into()),
            ("artifact", "artifact".into()),
            ("direct", 1.into()),
        ],
    );
    assert_eq!(place.run(|tx| messages::find(tx, &message.task, &message.id)), Some(message.clone()));
    assert!(place.run(|tx| messages::bury(tx, &message.id)));
    let buried = place.run(|tx| messages::find(tx, &message.task, &message.id)).unwrap();
    let expected = Message {
        deleted: true,
        content: tandem_core::messages::DELETED.into(),
        content_type: ContentType::Text,
        encrypted_keys: None,
        sender_signature: None,
        foreign: Foreign { id: message.foreign.id.clone(), ..Foreign::default() },
        artifact: None,
        ..message
    };
    assert_eq!(buried, expected);
    assert!(!place.run(|tx| messages::bury(tx, &expected.id)));
}

#[rstest]
fn a_deadline_and_what_it_is_judged_by(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut place = started(db);
    place.run(|tx| tasks::update(tx, &changed_task()));
    let deadline = |task: &str, attempt: i64| Deadline {
        due_at: Timestamp(1),
        task: id(task),
        due: Due::CheckIn,
        number: 2,
        attempt,
        task_made_at: Some(Timestamp(attempt + 1)),
    };
    let columns = |attempt: i64, lease_until: i64| {
        [
            ("due_at", Value::Int(1)),
            ("task_id", "task".into()),
            ("kind", "check-in".into()),
            ("number", 2.into()),
            ("attempt", attempt.into()),
            ("task_made_at", (attempt + 1).into()),
            ("lease_until", lease_until.into()),
        ]
    };
    place.run(|tx| deadlines::insert(tx, &deadline("task", 3)));
    place.expect("deadlines", columns(3, 0));
    place.run(|tx| deadlines::claim(tx, &deadline("task", 3), Timestamp(9)));
    place.expect("deadlines", columns(3, 9));
    // A later attempt's takes its place, and nobody has claimed that one.
    place.run(|tx| deadlines::insert(tx, &deadline("task", 5)));
    place.expect("deadlines", columns(5, 0));

    place.run(|tx| deadlines::insert(tx, &deadline("zone", 7)));
    let facts = Facts {
        status: Status::Working,
        approval: Some(Approval::Approved),
        attempt: 111,
        made_at: Timestamp(69),
        acknowledged_at: Some(Timestamp(164)),
        expires_at: Some(Timestamp(165)),
        lease_until: Some(Timestamp(166)),
        message_waits: false,
    };
    let due = place.run(|tx| deadlines::due(tx, Due::CheckIn, Timestamp(10), 10));
    assert_eq!(due, [(deadline("task", 5), Some(facts)), (deadline("zone", 7), None)]);
    assert_eq!(place.run(|tx| deadlines::due(tx, Due::Expiry, Timestamp(10), 10)), [], "of another kind");
}

/// Whatever is stored, a page reads rows of an index in their order, and rows of tasks for itself only.
#[rstest]
fn lists_of_conversations_are_read_from_indexes(#[values(Db::Sqlite)] db: Db) {
    let mut place = started(db);
    let (ada, bob) = (id("ada"), id("bob"));
    for (context, index) in [(None, "tasks_in_state"), (Some("context"), "tasks_of_context")] {
        let wanted = tasks::InState {
            initiator: &ada,
            target: &bob,
            context,
            states: &TaskState::ALL,
            since: Some(Timestamp(1)),
        };
        let plans = place.run(|tx| tasks::query_plans(tx, &wanted));
        let own = plans.iter().filter(|plan| plan.contains(" tasks ") || plan.contains(" tasks"));
        let lanes: Vec<&String> = own.filter(|plan| !plan.contains("AS t")).collect();
        let read = lanes.iter().filter(|plan| plan.contains(&format!("COVERING INDEX {index} ")));
        assert_eq!(read.count(), 16, "{plans:#?}");
        assert!(!plans.iter().any(|plan| plan.starts_with("SCAN tasks")), "{plans:#?}");
    }
}
