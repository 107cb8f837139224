//! The operations: what each does to a task.

use rstest::rstest;
use serde_json::{Value, json};

use super::{BINDINGS, Binding, Calls, at_once, message, message_on, state};
use crate::harness::{ADMIN_TOKEN, Db, Harness};

#[rstest]
#[tokio::test]
async fn a_task_is_sent_asked_back_answered_and_listed(
    #[values(Binding::Rpc, Binding::Http)] binding: Binding,
) {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, binding);
    let task = calls.send("Translate this").await;
    let id = task["id"].as_str().unwrap();
    assert_eq!(state(&task), "SUBMITTED");
    assert_eq!(task["history"][0]["messageId"], "m-Translate this");
    let native = bob.view(id).await;
    assert_eq!(
        (&native["title"], &native["description"]),
        (&json!("Translate this"), &json!("Translate this"))
    );
    assert_eq!((&native["contextId"], &native["initiatorAgentId"]), (&task["contextId"], &json!(ada.id)));

    bob.set(id, "working").await.ok(200);
    bob.post(&format!("/tasks/{id}/messages"), json!({ "content": "Into which language?" })).await.ok(201);
    bob.set(id, "input-required").await.ok(200);
    let asked = calls.ok("GetTask", json!({ "id": id })).await;
    assert_eq!(state(&asked), "INPUT_REQUIRED");
    assert_eq!(asked["status"]["message"]["parts"], json!([{ "text": "Into which language?" }]));
    assert_eq!(asked["status"]["message"]["role"], "ROLE_AGENT");

    let answered = calls.ok("SendMessage", at_once(message_on(&task, "French"))).await;
    assert_eq!(state(&answered), "WORKING");
    assert_eq!(answered["task"]["history"].as_array().unwrap().len(), 3);

    bob.post(&format!("/tasks/{id}/reply"), json!({ "content": "Bonjour" })).await.ok(200);
    let done = calls.ok("GetTask", json!({ "id": id, "historyLength": 0 })).await;
    assert_eq!((state(&done), done.get("history")), ("COMPLETED", None));
    assert_eq!(done["artifacts"][0]["parts"], json!([{ "text": "Bonjour" }]));

    let listed = calls.ok("ListTasks", json!({})).await;
    assert_eq!((&listed["totalSize"], &listed["pageSize"]), (&json!(1), &json!(50)));
    assert_eq!((&listed["nextPageToken"], &listed["tasks"][0]["id"]), (&json!(""), &json!(id)));
    assert_eq!(listed["tasks"][0].get("artifacts"), None);
}

#[rstest]
#[tokio::test]
async fn a_task_is_cancelled_once(#[values(Binding::Rpc, Binding::Http)] binding: Binding) {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, binding);
    let task = calls.send("Something").await;
    let cancelled = calls.ok("CancelTask", json!({ "id": task["id"], "metadata": { "why": "late" } })).await;
    assert_eq!(state(&cancelled), "CANCELED");
    assert_eq!(bob.view(task["id"].as_str().unwrap()).await["status"], "cancelled");
    assert_eq!(calls.refused("CancelTask", json!({ "id": task["id"] })).await, "TASK_NOT_CANCELABLE");
    assert_eq!(
        calls.refused("SendMessage", at_once(message_on(&task, "More"))).await,
        "UNSUPPORTED_OPERATION"
    );
}

#[rstest]
#[tokio::test]
async fn all_pages_of_a_list_have_each_task_once(#[values(Binding::Rpc, Binding::Http)] binding: Binding) {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, binding);
    let mut sent = Vec::new();
    for number in 0..7 {
        sent.insert(0, calls.send(&number.to_string()).await["id"].clone());
        // The statuses of most of them changed in the same millisecond.
        if number == 4 {
            hub.advance_ms(1);
        }
    }
    let (mut found, mut token) = (Vec::new(), String::new());
    for _ in 0..3 {
        let page = calls.ok("ListTasks", json!({ "pageSize": 3, "pageToken": token })).await;
        assert_eq!((&page["totalSize"], &page["pageSize"]), (&json!(7), &json!(3)));
        found.extend(page["tasks"].as_array().unwrap().iter().map(|task| task["id"].clone()));
        token = page["nextPageToken"].as_str().unwrap().to_owned();
    }
    assert_eq!((found, token.as_str()), (sent, ""));
    let page = calls.ok("ListTasks", json!({ "pageSize": 3 })).await;
    let other =
        json!({ "pageSize": 3, "pageToken": page["nextPageToken"], "status": "TASK_STATE_SUBMITTED" });
    for wrong in [other, json!({ "pageToken": "x" }), json!({ "pageSize": 0 }), json!({ "pageSize": 101 })] {
        assert_eq!(calls.refused("ListTasks", wrong).await, "INVALID_PARAMS");
    }
}

/// What there is to know of a task, for those who are not its client: nothing, in the same words.
#[tokio::test]
async fn others_learn_nothing() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let (carol, dave) = (hub.agent("Carol").await, hub.agent("Dave").await);
    carol.pair_with(&bob).await;
    for binding in BINDINGS {
        let task = Calls::new(&ada, &bob, binding).send("Secret").await;
        let native = ada.task(&bob).await;
        let calls = [
            ("GetTask", json!({ "id": task["id"] })),
            ("CancelTask", json!({ "id": task["id"] })),
            ("SubscribeToTask", json!({ "id": task["id"] })),
            ("SendMessage", at_once(message_on(&task, "Mine"))),
        ];
        for (operation, params) in calls {
            let unknown = |params: &Value| {
                let text = params.to_string().replace(task["id"].as_str().unwrap(), "task_unknown");
                serde_json::from_str::<Value>(&text).unwrap()
            };
            let of_others = Calls::new(&carol, &bob, binding);
            let refused = of_others.call(operation, params.clone()).await;
            assert_eq!(refused.as_ref().unwrap_err().0, "TASK_NOT_FOUND", "{operation}");
            assert_eq!(refused, of_others.call(operation, unknown(&params)).await, "{operation}");

            let stranger = Calls::new(&dave, &bob, binding);
            let refused = stranger.call(operation, params.clone()).await;
            assert_eq!(refused.as_ref().unwrap_err().0, "PERMISSION_DENIED", "{operation}");
            let nobody = crate::harness::Agent { id: "agent_unknown".into(), ..bob.clone() };
            let unknown_host = Calls::new(&dave, &nobody, binding);
            assert_eq!(refused, unknown_host.call(operation, params.clone()).await, "{operation}");

            let keyless = Calls::new(&ada, &bob, binding).keyless();
            assert_eq!(keyless.refused(operation, params).await, "UNAUTHENTICATED", "{operation}");
        }
        // A task that was not made by A2A is none of A2A's.
        assert_eq!(
            Calls::new(&ada, &bob, binding).refused("GetTask", json!({ "id": native })).await,
            "TASK_NOT_FOUND"
        );
        assert_eq!(Calls::new(&carol, &bob, binding).ok("ListTasks", json!({})).await["totalSize"], 0);
    }
}

#[tokio::test]
async fn an_agent_that_takes_no_calls_is_as_good_as_none() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    let task = calls.send("Hello").await;
    bob.patch("/agents/me", json!({ "a2a": "off" })).await.ok(200);
    for (operation, params) in [
        ("GetTask", json!({ "id": task["id"] })),
        ("ListTasks", json!({})),
        ("GetExtendedAgentCard", json!({})),
        ("SendMessage", at_once(message("Hello again"))),
    ] {
        assert_eq!(calls.refused(operation, params).await, "PERMISSION_DENIED", "{operation}");
    }
    bob.patch("/agents/me", json!({ "a2a": "connected" })).await.ok(200);
    let terms = json!({ "suspended": true });
    hub.client
        .send("PATCH", &format!("/admin/agents/{}", bob.id), Some(ADMIN_TOKEN), Some(terms))
        .await
        .ok(200);
    assert_eq!(calls.refused("GetTask", json!({ "id": task["id"] })).await, "PERMISSION_DENIED");
}

#[rstest]
#[tokio::test]
async fn a_message_that_is_sent_twice_takes_effect_once(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(Binding::Rpc, Binding::Http)] binding: Binding,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, binding);
    let once = calls.with("idempotency-key", "key-1");
    let first = once.reply("SendMessage", at_once(message("Hello"))).await;
    let again = once.reply("SendMessage", at_once(message("Hello"))).await;
    assert_eq!(
        (first.header("idempotent-replayed"), again.header("idempotent-replayed")),
        (None, Some("true"))
    );
    assert_eq!(first.json(), again.json());
    assert_eq!(once.refused("SendMessage", at_once(message("Other"))).await, "INVALID_PARAMS");
    // Without a key, the same message joins its task while that is live.
    let task = calls.send("Bonjour").await;
    assert_eq!(calls.send("Bonjour").await["id"], task["id"]);
    calls.ok("CancelTask", json!({ "id": task["id"] })).await;
    assert_ne!(calls.send("Bonjour").await["id"], task["id"]);
}

#[tokio::test]
async fn the_extension_says_more_and_sets_more() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let uri = "urn:tandem:a2a:hub:v1";
    let plain = Calls::new(&ada, &bob, Binding::Rpc);
    let calls = plain.with("a2a-extensions", format!("urn:other, {uri}"));
    let mut params = at_once(message("Hello"));
    params["message"]["metadata"] =
        json!({ uri: { "title": "Greet", "priority": "high", "ttlSeconds": 60 } });
    let reply = calls.reply("SendMessage", params.clone()).await;
    assert_eq!(reply.header("a2a-extensions"), Some(uri));
    let task = reply.json()["result"]["task"].clone();
    let native = bob.view(task["id"].as_str().unwrap()).await;
    let set = (&native["title"], &native["priority"], &native["ttlSeconds"]);
    assert_eq!(set, (&json!("Greet"), &json!("high"), &json!(60)));
    let shown = &task["metadata"][uri];
    assert_eq!((&shown["status"], &shown["attempt"]), (&json!("submitted"), &json!(1)));
    assert!(shown["online"].is_boolean() && shown["nextStatuses"].is_array(), "{shown}");
    // Others pass through, and do nothing.
    let plain_task = plain.ok("GetTask", json!({ "id": task["id"] })).await;
    assert_eq!(plain_task.get("metadata"), None);
    params["message"]["messageId"] = json!("m-2");
    let ignored = plain.ok("SendMessage", params.clone()).await["task"].clone();
    assert_eq!(bob.view(ignored["id"].as_str().unwrap()).await["title"], "Hello");
    params["message"]["metadata"][uri]["priority"] = json!("urgent");
    assert_eq!(calls.refused("SendMessage", params).await, "INVALID_PARAMS");
}
