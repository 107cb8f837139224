//! What a message of a client becomes, and what it sees of its tasks.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rstest::rstest;
use serde_json::json;
use tandem_api::parts::{Extras, Part};
use tandem_core::a2a::TaskState;
use tandem_core::tasks::Priority;
use tandem_hub::Caller;
use tandem_hub::ops::a2a::{self, Incoming, Settings, parts_of, parts_of_task};

use super::{ALL, Visitor, code, message, part, shown, text};
use crate::harness::{Db, Harness, eventually};

#[rstest]
#[tokio::test]
async fn a_message_becomes_a_task(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let sent = visitor.send(message("m-1", text("Look\nat this."))).await.unwrap();
    assert!(!sent.joined);
    let seen = visitor.get(&sent.task).await.unwrap();
    assert!(seen.task.delivery.fetched_at.is_none(), "looking at one's own task is no delivery");
    let view = bob.view(sent.task.as_str()).await;
    assert_eq!(view["title"], "Look");
    assert_eq!(view["description"], "Look\nat this.");
    assert_eq!((&view["messageId"], &view["parts"]), (&json!("m-1"), &json!(null)));
    let context = view["contextId"].as_str().unwrap();
    assert!(context.starts_with("ctx_"), "{context}");
    assert_eq!(view["initiatorSessionKey"], context);
    assert_eq!(bob.last_event().await["data"]["initiatorSessionKey"], context);

    let seen = visitor.get(&sent.task).await.unwrap();
    assert_eq!((seen.state, seen.task.steps(), sent.step), (TaskState::Submitted, 1, 1));
    assert!(seen.has_first && seen.history.is_empty() && seen.ahead == Some(0));
    assert_eq!(shown(&parts_of_task(&seen.task)), json!([{ "text": "Look\nat this." }]));
}

#[rstest]
#[tokio::test]
async fn what_was_sent_is_given_back_as_it_was(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let data = r#"{"z":9007199254740993,"a":42.0,"u":"\u2028"}"#;
    let parts: Vec<Part> = serde_json::from_str(&format!(
        r#"[{{"text":"See","metadata":{{"k":1.50}}}},{{"data":{data}}},{{"url":"https://example.com/x","media_type":"a/b"}},
            {{"raw":"{}","filename":"a.txt","mediaType":"text/plain"}}]"#,
        STANDARD.encode("bytes")
    ))
    .unwrap();
    let extras: Extras = serde_json::from_value(json!({ "metadata": { "z": 1 }, "referenceTaskIds": ["t-9"],
        "acceptedOutputModes": ["text/plain"], "traceparent": "00-1-2-03" }))
    .unwrap();
    let settings = Settings {
        title: Some("My title".to_owned().try_into().unwrap()),
        priority: Some(Priority::High),
        ..Settings::default()
    };
    let context = Some("c".repeat(128).try_into().unwrap());
    let sent = Incoming { extras, settings, context, ..message("m", parts) };
    let sent = visitor.send(sent).await.unwrap();

    let seen = visitor.get(&sent.task).await.unwrap();
    let parts = parts_of_task(&seen.task);
    assert_eq!(parts[1].data.as_ref().unwrap().get(), data);
    assert_eq!(parts[0].metadata.as_ref().unwrap().get(), r#"{"k":1.50}"#);
    assert_eq!(parts[2].media_type.as_deref(), Some("a/b"));
    let file = parts[3].file_id.clone().unwrap();
    assert_eq!((seen.files[&file].name.as_str(), parts[3].raw.as_deref()), ("a.txt", None));
    assert!(seen.history.is_empty() && seen.artifacts.is_empty(), "the file belongs to the first message");
    assert_eq!(a2a::extras_of(&seen.task.foreign).traceparent.as_deref(), Some("00-1-2-03"));

    let view = bob.view(sent.task.as_str()).await;
    assert_eq!((&view["title"], &view["priority"]), (&json!("My title"), &json!("high")));
    assert_eq!(view["parts"][3]["fileId"], file.as_str());
    assert_eq!((&view["metadata"], &view["referenceTaskIds"]), (&json!({ "z": 1 }), &json!(["t-9"])));
    let bytes = bob.get(&format!("/files/{file}")).await;
    assert_eq!((bytes.status, bytes.bytes.as_ref()), (200, b"bytes".as_slice()));
    let kinds = bob.event_kinds().await;
    assert_eq!(kinds[kinds.len() - 2..], ["task.created", "message.created"]);

    let export = ada.get("/agents/me/export").await.ok(200);
    assert_eq!(export["tasks"][0]["contextId"], "c".repeat(128));
    assert_eq!(export["tasks"][0]["parts"], view["parts"]);
    ada.delete("/agents/me").await.ok(200);
    bob.get(&format!("/tasks/{}", sent.task)).await.refused(404, "not_found");
    eventually(async || (stored(&hub) == 0).then_some(())).await;
}

#[rstest]
#[tokio::test]
async fn an_equal_message_joins_its_task_while_it_is_open(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let first = visitor.send(message("m", text("Same"))).await.unwrap();
    let traced = Extras { traceparent: Some("00".into()), ..Extras::default() };
    let again = visitor.send(Incoming { extras: traced, ..message("m", text("Same")) }).await.unwrap();
    assert!(again.joined && again.task == first.task);
    let metadata = serde_json::from_value(json!({ "metadata": { "n": 2 } })).unwrap();
    for other in [
        message("m", text("Other")),
        message("m-2", text("Same")),
        Incoming { extras: metadata, ..message("m", text("Same")) },
    ] {
        let other = visitor.send(other).await.unwrap();
        assert!(!other.joined && other.task != first.task);
    }
    bob.set(first.task.as_str(), "working").await.ok(200);
    assert!(visitor.send(message("m", text("Same"))).await.unwrap().joined);

    let said = visitor.say(&first.task, "More").await.unwrap();
    let twice = visitor.say(&first.task, "More").await.unwrap();
    assert!(!said.joined && twice.joined);
    assert_eq!(visitor.get(&first.task).await.unwrap().history.len(), 1);

    bob.set(first.task.as_str(), "completed").await.ok(200);
    let anew = visitor.send(message("m", text("Same"))).await.unwrap();
    assert!(!anew.joined && anew.task != first.task);
    hub.advance_ms(599_999);
    assert!(visitor.send(message("m", text("Same"))).await.unwrap().joined);
    hub.advance_ms(1);
    assert!(!visitor.send(message("m", text("Same"))).await.unwrap().joined);
}

#[rstest]
#[tokio::test]
async fn an_idempotency_key_means_one_task(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let keyed = |hash: u8| {
        let key = tandem_app::idempotency::Key { key: "k".into(), request_hash: [hash; 32] };
        Visitor { caller: Caller::clone(&visitor.caller).with_idempotency_key(Some(key)), ..visitor.clone() }
    };
    let first = keyed(1).send(message("m", text("One"))).await.unwrap();
    bob.set(first.task.as_str(), "working").await.ok(200);
    bob.set(first.task.as_str(), "completed").await.ok(200);
    let again = keyed(1);
    let sent = again.send(message("m", text("One"))).await.unwrap();
    assert!(again.caller.was_replayed() && sent.task == first.task && sent.step == first.step);
    assert_eq!(code(keyed(2).send(message("m", text("Two"))).await), "idempotency_conflict");
}

#[rstest]
#[tokio::test]
async fn an_answer_continues_the_work(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let task = visitor.start("Work").await;
    let path = format!("/tasks/{task}");
    bob.set(task.as_str(), "working").await.ok(200);
    bob.post(&format!("{path}/messages"), json!({ "content": "Which?" })).await.ok(201);
    bob.set(task.as_str(), "input-required").await.ok(200);
    let seen = visitor.get(&task).await.unwrap();
    assert_eq!(seen.state, TaskState::InputRequired);
    assert_eq!(seen.status_message.as_ref().unwrap().content, "Which?");
    assert!(seen.history.is_empty() && seen.has_first);

    let answer = visitor.say(&task, "That.").await.unwrap();
    let seen = visitor.get(&task).await.unwrap();
    assert_eq!(seen.state, TaskState::Working);
    assert!(seen.status_message.is_none());
    let said: Vec<&str> = seen.history.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(said, ["Which?", "That."]);
    assert_eq!(answer.step, seen.task.steps() - 1, "the change of status is newer than the message");
    assert_eq!(bob.view(task.as_str()).await["status"], "working");

    bob.set(task.as_str(), "auth-required").await.ok(200);
    visitor.say(&task, "Granted.").await.unwrap();
    assert_eq!(visitor.get(&task).await.unwrap().state, TaskState::AuthRequired);

    bob.post(&format!("{path}/reply"), json!({ "content": "Done." })).await.ok(200);
    let seen = visitor.get(&task).await.unwrap();
    assert_eq!(super::artifacts(&seen.artifacts)[0]["parts"], json!([{ "text": "Done." }]));
    assert!(seen.direct.is_none());
    assert_eq!(code(visitor.say(&task, "Too late.").await), "task_terminal");
    assert_eq!(code(visitor.cancel(&task).await), "task_terminal");
}

#[rstest]
#[tokio::test]
async fn a_reply_may_be_the_answer_itself(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let task = visitor.start("Hello").await;
    let reply = format!("/tasks/{task}/reply");
    let failed = json!({ "content": "Hi", "direct": true, "outcome": "failed" });
    bob.post(&reply, failed).await.refused(400, "validation");
    bob.post(&reply, json!({ "content": "Hi", "direct": true })).await.ok(200);
    let seen = visitor.get(&task).await.unwrap();
    assert_eq!((seen.state, seen.direct.unwrap().content.as_str()), (TaskState::Completed, "Hi"));
}

#[rstest]
#[tokio::test]
async fn nothing_else_is_visible(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let eve = hub.agent("Eve").await;
    ada.pair_with(&eve).await;
    eve.pair_with(&bob).await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let context = json!({ "contextId": "c" });
    let mine = visitor.start("Mine").await;
    let native = ada.task(&bob).await;
    let other_way = bob.task_with(&ada, context.clone()).await;
    let elsewhere = ada.task_with(&eve, context.clone()).await;
    let draft = ada.task_with(&bob, json!({ "contextId": "c", "draft": true })).await;
    for hidden in [native, other_way, elsewhere, draft.clone(), "task_none".to_owned()] {
        let hidden = hidden.parse().unwrap();
        assert_eq!(code(visitor.get(&hidden).await), "not_found");
        assert_eq!(code(visitor.cancel(&hidden).await), "not_found");
        assert_eq!(code(visitor.say(&hidden, "x").await), "not_found");
        let steps = a2a::steps(&visitor.hub, &visitor.caller, &visitor.host, &hidden, 0, 10).await;
        assert_eq!(code(steps), "not_found");
    }
    for stranger in [Visitor::new(&hub, &eve, &bob), Visitor::new(&hub, &bob, &bob)] {
        assert_eq!(code(stranger.get(&mine).await), "not_found");
        assert_eq!(stranger.list(Default::default()).await.total, 0);
    }
    ada.set(&draft, "submitted").await.ok(200);
    let draft = draft.parse().unwrap();
    assert_eq!(visitor.get(&draft).await.unwrap().task.id, draft);
    ada.task_with(&bob, json!({ "contextId": "d", "draft": true })).await;
    assert_eq!(visitor.list(Default::default()).await.total, 2);

    let nobody = Visitor { host: "agent_none".parse().unwrap(), ..visitor.clone() };
    assert_eq!(code(nobody.send(message("m", text("Hi"))).await), "not_connected");
    let hub_side = &visitor.hub;
    assert!(a2a::terms(hub_side, &visitor.caller, &nobody.host).await.unwrap().is_none());
    assert_eq!(a2a::terms(hub_side, &visitor.caller, &visitor.host).await.unwrap().unwrap().live_tasks, 4);
    // An alias is a name of the caller's, and no address.
    let connection = ada.get("/connections").await.json()[1]["id"].as_str().unwrap().to_owned();
    ada.patch(&format!("/connections/{connection}"), json!({ "alias": "pal" })).await.ok(200);
    let aliased = Visitor { host: "pal".parse().unwrap(), ..visitor };
    assert_eq!(code(aliased.send(message("m", text("Hi"))).await), "not_connected");
}

#[rstest]
#[tokio::test]
async fn a_conversation_is_named_by_its_tasks(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let task = visitor.start("One").await;
    let context = visitor.get(&task).await.unwrap().task.links.context.unwrap();
    let named = |context: &str| Incoming {
        task: Some(task.clone()),
        context: Some(context.to_owned().try_into().unwrap()),
        ..message("m", text("More"))
    };
    assert_eq!(code(visitor.send(named("other")).await), "validation");
    visitor.send(named(&context)).await.unwrap();

    for body in [
        json!({ "requiresReview": true, "contextId": "c" }),
        json!({ "contextId": "" }),
        json!({ "contextId": "c".repeat(129) }),
    ] {
        let mut body = body;
        body["targetAgentId"] = json!(bob.id);
        body["title"] = json!("T");
        ada.post("/tasks", body).await.refused(400, "validation");
    }
    let own = ada.task_with(&bob, json!({ "contextId": "c".repeat(128), "sessionKey": "s" })).await;
    let view = ada.view(&own).await;
    assert_eq!((view["contextId"].as_str().unwrap().len(), &view["initiatorSessionKey"]), (128, &json!("s")));
    assert_eq!(visitor.get(&own.parse().unwrap()).await.unwrap().task.content.title, "A task");
}

#[rstest]
#[tokio::test]
async fn the_gate_and_the_clock_end_tasks_too(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let raw = part(json!({ "raw": STANDARD.encode("x"), "mediaType": "text/plain" }));
    let held = visitor.send(message("m", vec![Part::text("May I?"), raw])).await.unwrap().task;
    assert_eq!(bob.last_event().await["type"], "task.approval_required", "nothing of it is announced yet");
    assert_eq!(visitor.get(&held).await.unwrap().state, TaskState::Submitted);
    assert_eq!(code(visitor.say(&held, "Well?").await), "approval_pending");
    bob.post(&format!("/approvals/{held}/approve"), json!({})).await.ok(200);
    assert_eq!(bob.last_event().await["type"], "message.created", "the file comes with the approval");
    let refused = visitor.start("And this?").await;
    bob.post(&format!("/approvals/{refused}/reject"), json!({ "reason": "No." })).await.ok(200);
    let seen = visitor.get(&refused).await.unwrap();
    assert_eq!((seen.state, seen.status_message.unwrap().content.as_str()), (TaskState::Rejected, "No."));

    bob.patch("/agents/me", json!({ "defaultApprovalRule": "auto" })).await.ok(200);
    let ttl = Settings { ttl_seconds: Some(60.try_into().unwrap()), ..Settings::default() };
    let late = visitor.send(Incoming { settings: ttl, ..message("m", text("Soon")) }).await.unwrap().task;
    hub.advance_ms(60_000);
    let seen = visitor.get(&late).await.unwrap();
    assert_eq!(seen.state, TaskState::Failed);
    assert!(seen.status_text.unwrap().contains("did not take it"));
    let cancelled = visitor.start("Never mind").await;
    visitor.cancel(&cancelled).await.unwrap();
    assert_eq!(visitor.get(&cancelled).await.unwrap().state, TaskState::Canceled);
}

/// How many files lie below the data folder, those under way not counted.
fn stored(hub: &Harness) -> usize {
    let folders = std::fs::read_dir(hub.hub.config.data.join("files")).into_iter().flatten().flatten();
    let kept = folders.filter(|folder| folder.file_name() != "arriving");
    kept.filter_map(|folder| Some(std::fs::read_dir(folder.path()).ok()?.count())).sum()
}

#[rstest]
#[tokio::test]
async fn bad_parts_change_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let raw = |text: &str| part(json!({ "raw": text, "mediaType": "text/plain" }));
    let good = raw(&STANDARD.encode("good"));
    for (parts, expected) in [
        (vec![], "validation"),
        (vec![part(json!({}))], "validation"),
        (vec![part(json!({ "text": "" }))], "validation"),
        (vec![part(json!({ "text": "a", "url": "b" }))], "validation"),
        (vec![part(json!({ "fileId": "file_1" }))], "validation"),
        (vec![part(json!({ "text": "a", "metadata": [] }))], "validation"),
        (vec![part(json!({ "text": "a", "metadata": { "a": "x".repeat(16 * 1024) } }))], "validation"),
        (vec![part(json!({ "text": "a\0b" }))], "validation"),
        (vec![good.clone(), raw("no base64!")], "validation"),
        (vec![good.clone(), part(json!({ "raw": "eA==" }))], "unsupported_media_type"),
        (vec![Part::text("x".repeat(256 * 1024 + 1))], "too_large"),
        ((0..1_001).map(|_| Part::text("a")).collect(), "validation"),
    ] {
        assert_eq!(code(visitor.send(message("m", parts)).await), expected);
    }
    assert_eq!((visitor.list(Default::default()).await.total, stored(&hub)), (0, 0));

    let task = visitor.send(message("m", (0..1_000).map(|_| Part::text("a")).collect())).await.unwrap().task;
    let unpadded = raw(&URL_SAFE_NO_PAD.encode([255, 254, 253, 252]));
    let later = |parts| Incoming { task: Some(task.clone()), ..message("m-2", parts) };
    visitor.send(later(vec![unpadded.clone()])).await.unwrap();
    assert!(visitor.send(later(vec![unpadded])).await.unwrap().joined);
    assert_eq!(stored(&hub), 1, "the copy is gone");
    let seen = visitor.get(&task).await.unwrap();
    assert_eq!(seen.history.len(), 1);
    assert!(parts_of(&seen.history[0])[0].file_id.is_some());
    let short =
        a2a::get(&visitor.hub, &visitor.caller, &visitor.host, &task, a2a::Wanted { history: 1, ..ALL });
    let short = short.await.unwrap();
    assert!(short.history.len() == 1 && !short.has_first);
}

#[rstest]
#[tokio::test]
async fn files_count_against_the_budget_before_anything_is_written(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let few = Settings { max_messages: Some(2.try_into().unwrap()), ..Settings::default() };
    let task = visitor.send(Incoming { settings: few, ..message("m", text("Go")) }).await.unwrap().task;
    let raw = || part(json!({ "raw": "eA==", "mediaType": "text/plain" }));
    let later = |parts| Incoming { task: Some(task.clone()), ..message("m-2", parts) };
    let refused = visitor.send(later(vec![Part::text("Two more"), raw(), raw()])).await;
    assert_eq!(code(refused), "message_budget");
    assert_eq!(stored(&hub), 0);
    visitor.send(later(vec![Part::text("One more"), raw()])).await.unwrap();
    let seen = visitor.get(&task).await.unwrap();
    assert_eq!((seen.state, seen.task.counts.spoken), (TaskState::InputRequired, 2), "the budget is spent");
}
