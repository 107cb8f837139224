//! Fields and parameters that the hub does not know: an answer names them, and a client may ask to be refused.

use http_body_util::Full;
use hyper::Request;
use rstest::rstest;
use serde_json::json;

use crate::harness::{Agent, Db, Harness, Reply};

async fn strictly(agent: &Agent, path: &str, body: &serde_json::Value) -> Reply {
    let request = Request::post(path).header("host", agent.client.address.to_string());
    let request =
        request.header("authorization", format!("Bearer {}", agent.key)).header("tandem-strict", "1");
    agent.client.raw(request.body(Full::new(body.to_string().into())).unwrap()).await
}

#[rstest]
#[tokio::test]
async fn a_misspelt_field_is_named_or_refused(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let body = json!({ "targetAgentId": bob.id, "title": "T", "prio": "high" });
    let made = ada.post("/tasks", body.clone()).await;
    assert_eq!(made.header("tandem-warning"), Some("unknown;name=\"prio\";nearest=\"priority\""));
    let made = made.ok(201);
    assert_eq!(made["priority"], "normal");

    for refused in [ada.post("/tasks?strict=1", body.clone()).await, strictly(&ada, "/tasks", &body).await] {
        assert_eq!(refused.header("tandem-warning"), None);
        let refused = refused.refused(400, "validation");
        assert_eq!(refused["details"], json!({ "prio": ["is not known; did you mean priority?"] }));
    }
    // The error of a task's route still says where the task stands.
    let path = format!("/tasks/{}/cancel", made["id"].as_str().unwrap());
    let refused = strictly(&ada, &path, &json!({ "raeson": "no" })).await.refused(400, "validation");
    assert_eq!(refused["status"], "submitted");
    assert_eq!(ada.view(made["id"].as_str().unwrap()).await["status"], "submitted");
    assert_eq!(ada.get("/tasks").await.ok(200).as_array().unwrap().len(), 1, "nothing was changed");

    let right = json!({ "targetAgentId": bob.id, "title": "T", "priority": "high" });
    let right = strictly(&ada, "/tasks", &right).await;
    assert_eq!((right.status, right.header("tandem-warning")), (201, None));
}

#[tokio::test]
async fn parameters_and_registrations_are_looked_at_too() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let listed = ada.get(&format!("/tasks?wiht={}", bob.id)).await;
    assert_eq!(listed.header("tandem-warning"), Some("unknown;name=\"wiht\";nearest=\"with\""));
    assert_eq!(ada.get("/tasks?strict=1&status=working").await.header("tandem-warning"), None);
    ada.get("/tasks?strict=1&limits=1").await.refused(400, "validation");
    let body = json!({ "name": "Eve", "capabilites": ["rust"] });
    let made = hub.client.send("POST", "/agents", None, Some(body)).await;
    assert_eq!(made.header("tandem-warning"), Some("unknown;name=\"capabilites\";nearest=\"capabilities\""));
    // What a client writes there stays within its quotes.
    let odd = json!({ "targetAgentId": bob.id, "title": "T", "a\",b;c\r\nd: e": 1, "é".repeat(5000): 1 });
    let made = ada.post("/tasks", odd).await;
    let expected = format!("unknown;name=\"a??b?c??d??e\", unknown;name=\"{}\"", "?".repeat(40));
    let named: Vec<&str> = made.header("tandem-warning").unwrap().split(", ").collect();
    assert_eq!(named.len(), 2, "{named:?}");
    assert!(named.iter().all(|one| expected.contains(one)), "{named:?}");
}

#[tokio::test]
async fn a_tool_tells_which_argument_it_ignored() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let body = json!({ "targetAgentId": bob.id, "title": "T", "prio": "high" });
    let made = ada.tool("create_task", body).await;
    let warning = "prio is not known and was ignored; did you mean priority?";
    assert_eq!(made["structuredContent"]["warnings"], json!([warning]));
    assert_eq!(made["content"].as_array().unwrap().last().unwrap()["text"], format!("Warning: {warning}"));
    let right = json!({ "targetAgentId": bob.id, "title": "T", "priority": "high" });
    assert!(ada.tool("create_task", right).await["structuredContent"].get("warnings").is_none());
}
