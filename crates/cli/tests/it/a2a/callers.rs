//! Every operation, over both bindings, by those who may call and by those who may not.

use rstest::rstest;
use serde_json::{Value, json};

use super::{BINDINGS, Calls, at_once, message};
use crate::harness::{Agent, Db, Harness, Reply};
use crate::webhooks::start;

/// Every operation with parameters, for a task.
fn operations(task: &str) -> Vec<(&'static str, Value)> {
    let mut more = at_once(message("More"));
    more["message"]["taskId"] = json!(task);
    vec![
        ("SendMessage", more.clone()),
        ("SendStreamingMessage", more),
        ("GetTask", json!({ "id": task })),
        ("CancelTask", json!({ "id": task })),
        ("SubscribeToTask", json!({ "id": task })),
        (
            "CreateTaskPushNotificationConfig",
            json!({ "taskId": task, "id": "c", "url": "https://example.com/" }),
        ),
        ("GetTaskPushNotificationConfig", json!({ "taskId": task, "id": "c" })),
        ("ListTaskPushNotificationConfigs", json!({ "taskId": task, "id": "" })),
        ("DeleteTaskPushNotificationConfig", json!({ "taskId": task, "id": "c" })),
    ]
}

fn without_times(mut answer: Value) -> Value {
    if let Some(id) = answer.get_mut("id") {
        id.take();
    }
    answer
}

async fn guest_of(host: &Agent, name: &str) -> Agent {
    let made = host.post("/a2a/guests", json!({ "name": name })).await.ok(201);
    Agent {
        client: host.client.clone(),
        id: made["agentId"].as_str().unwrap().to_owned(),
        key: made["apiKey"].as_str().unwrap().to_owned(),
        ..host.clone()
    }
}

/// What a reply tells beside the names that the caller has used itself.
fn text_of(reply: &Reply) -> String {
    format!("{} {:?}", reply.status, String::from_utf8_lossy(&reply.bytes))
}

#[rstest]
#[tokio::test]
async fn others_get_the_same_answer_for_what_is_hidden_as_for_what_is_not_there(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let (carol, mallory) = (hub.agent("Carol").await, hub.agent("Mallory").await);
    carol.pair_with(&bob).await;
    let (guest, other_guest) = (guest_of(&bob, "Guest").await, guest_of(&bob, "Other").await);
    for binding in BINDINGS {
        let own = Calls::new(&ada, &bob, binding);
        let mut first = at_once(message(&format!("Hello {binding:?}")));
        first["message"]["contextId"] = json!(format!("secret-context-{binding:?}"));
        let task = own.ok("SendMessage", first).await["task"]["id"].as_str().unwrap().to_owned();
        let missing = "task_06gyh3a8k4m50skdeqzwyxc3";
        // Agents and guests that may call, but have nothing to do with the task.
        for caller in [&carol, &guest, &other_guest] {
            let calls = Calls::new(caller, &bob, binding);
            for (hidden, none) in operations(&task).into_iter().zip(operations(missing)) {
                let (operation, params) = hidden;
                let hidden = text_of(&calls.reply(operation, params).await);
                let none = text_of(&calls.reply(operation, none.1).await);
                assert_eq!(hidden.replace(&task, missing), none, "{operation}");
                for secret in [&ada.id, "secret-context", "Hello"] {
                    assert!(!hidden.contains(secret), "{operation}: {hidden}");
                }
            }
            let mut in_context = at_once(message(&format!("Mine {binding:?}")));
            in_context["message"]["contextId"] = json!(format!("secret-context-{binding:?}"));
            let mine = calls.ok("SendMessage", in_context).await["task"].clone();
            // A context is scoped to the pair: the same word is another conversation.
            let context = json!({ "contextId": mine["contextId"] });
            assert_eq!(calls.ok("ListTasks", context).await["totalSize"], 1);
        }
        // Those who may not call at all, and those without a key.
        for (calls, status) in [
            (Calls::new(&mallory, &bob, binding), 403),
            (Calls::new(&guest, &ada, binding), 403),
            (own.keyless(), 401),
        ] {
            let listed = [("ListTasks", json!({})), ("GetExtendedAgentCard", json!({}))];
            for (operation, params) in operations(&task).into_iter().chain(listed) {
                let reply = calls.reply(operation, params).await;
                assert_eq!(reply.status, status, "{operation}: {}", text_of(&reply));
                assert!(!text_of(&reply).contains(&task), "{operation}");
            }
        }
        // The right caller is answered by both bindings alike.
        for (operation, params) in operations(&task) {
            if matches!(operation, "CancelTask" | "SubscribeToTask" | "SendStreamingMessage" | "SendMessage")
            {
                continue;
            }
            let [one, other] = BINDINGS.map(|binding| {
                let (calls, params) = (Calls::new(&ada, &bob, binding), params.clone());
                async move { calls.call(operation, params).await.map(without_times) }
            });
            let (one, other) = (one.await, other.await);
            // The first has set or deleted it.
            assert!(one.is_ok() || operation.starts_with("Get"), "{operation}: {one:?}");
            assert_eq!(one, other, "{operation}");
        }
        own.ok("CancelTask", json!({ "id": task })).await;
    }
}

/// Whoever ends a guest ends what it has open.
#[tokio::test]
async fn a_guest_that_ends_in_mid_stream_sees_no_more() {
    let hub = Harness::start(Db::Sqlite).await;
    let (_, bob) = hub.pair().await;
    let guest = guest_of(&bob, "Guest").await;
    let calls = Calls::new(&guest, &bob, BINDINGS[0]);
    let task = calls.send("Hello").await;
    let mut stream = calls.stream("SubscribeToTask", json!({ "id": task["id"] })).await;
    stream.next().await.unwrap();
    bob.delete(&format!("/a2a/guests/{}", guest.id)).await.ok(200);
    assert!(stream.rest().await.iter().all(|(_, event)| event.get("artifactUpdate").is_none()));
    assert_eq!(calls.reply("GetTask", json!({ "id": task["id"] })).await.status, 401);
}
