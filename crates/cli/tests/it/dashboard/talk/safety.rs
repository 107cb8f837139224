//! What a page must never do: act for a stranger, run what a peer wrote, or pass for the agent.

use http_body_util::Full;
use hyper::Request;
use rstest::rstest;
use serde_json::json;

use super::person::Person;
use crate::harness::{Agent, Db, Harness};

async fn table(db: Db) -> (Harness, Agent, Agent, Person, Person) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let (at_ada, at_bob) = (Person::sign_in(&hub, &ada).await, Person::sign_in(&hub, &bob).await);
    (hub, ada, bob, at_ada, at_bob)
}

pub(super) fn multipart(csrf: Option<&str>, name: &str, mime: &str, bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    if let Some(csrf) = csrf {
        body.extend(
            format!("--XX\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{csrf}\r\n").bytes(),
        );
    }
    body.extend(
        format!("--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: {mime}\r\n\r\n")
            .bytes(),
    );
    body.extend_from_slice(bytes);
    body.extend(b"\r\n--XX--\r\n");
    body
}

pub(super) const MULTIPART: &str = "multipart/form-data; boundary=XX";

#[tokio::test]
async fn a_form_that_is_not_ours_changes_nothing() {
    let (hub, ada, bob, at_ada, at_bob) = table(Db::Sqlite).await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let held = ada.task(&bob).await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "auto" })).await.ok(200);
    let task = ada.task(&bob).await;
    let before = (ada.view(&task).await, ada.view(&held).await);
    let foreign = at_bob.get("/approvals").await.csrf();
    let actions: [(String, &[(&str, &str)]); 9] = [
        (format!("/tasks/{task}/message"), &[("content", "x")]),
        (format!("/tasks/{task}/cancel"), &[]),
        (format!("/tasks/{task}/status"), &[("status", "working")]),
        (format!("/tasks/{task}/budget"), &[("maxMessages", "9")]),
        (format!("/tasks/{task}/reassign"), &[("targetAgentId", &bob.id)]),
        (format!("/tasks/{task}/delete"), &[]),
        (format!("/tasks/{held}/cancel"), &[]),
        (format!("/approvals/{held}/approve"), &[]),
        (format!("/approvals/{held}/reject"), &[]),
    ];
    // Else a browser would send `Origin: null` with every form of the page.
    assert_eq!(at_ada.get("/approvals").await.reply.header("referrer-policy"), Some("same-origin"));
    for (path, fields) in actions {
        // No proof, a wrong one, and that of another session.
        for csrf in [None, Some("0000"), Some(foreign.as_str())] {
            let mut all: Vec<(&str, &str)> = csrf.map(|csrf| ("csrf", csrf)).into_iter().collect();
            all.extend_from_slice(fields);
            let refused = at_ada.post_raw(&path, &all).await;
            assert_eq!(refused.status, 403, "{path}");
        }
        let nobody = Person { cookie: "x=y".into(), ..at_ada.clone() };
        assert_eq!(nobody.post_raw(&path, fields).await.status, 401, "{path}");
    }
    for csrf in [None, Some("0000"), Some(foreign.as_str())] {
        let body = multipart(csrf, "a.txt", "text/plain", b"hello");
        assert_eq!(at_ada.send(&format!("/tasks/{task}/file"), MULTIPART, body).await.status, 403);
    }
    // The proof must come before the file.
    let own = at_ada.get("/approvals").await.csrf();
    let mut late = multipart(None, "a.txt", "text/plain", b"hello");
    late.truncate(late.len() - b"--XX--\r\n".len());
    late.extend(
        format!("--XX\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{own}\r\n--XX--\r\n").bytes(),
    );
    assert_eq!(at_ada.send(&format!("/tasks/{task}/file"), MULTIPART, late).await.status, 403);
    // From a page of another site.
    let request =
        Request::post(at_ada.path(&format!("/tasks/{task}/cancel"))).header("cookie", &at_ada.cookie);
    let request = request
        .header("origin", "https://evil.example")
        .header("content-type", "application/x-www-form-urlencoded");
    let refused = hub.client.raw(request.body(Full::from(format!("csrf={own}"))).unwrap()).await;
    assert_eq!(refused.status, 403);
    assert_eq!((ada.view(&task).await, ada.view(&held).await), before);
}

#[tokio::test]
async fn reading_is_not_fetching() {
    let (hub, ada, bob, _, at_bob) = table(Db::Sqlite).await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let held = ada.task(&bob).await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "auto" })).await.ok(200);
    let task = ada.task_with(&bob, json!({ "description": "read me" })).await;
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "and me" })).await.ok(201);
    hub.advance_ms(300_000);
    assert_eq!(ada.get("/connections").await.ok(200)[0]["online"], false);
    for _ in 0..2 {
        at_bob.get(&format!("/tasks/{task}")).await.has("read me").has("and me");
        at_bob.get("/approvals").await.has(&held);
        at_bob.get(&format!("/tasks/{held}")).await;
    }
    for task in [&task, &held] {
        let delivery = ada.view(task).await["delivery"].clone();
        assert_eq!(
            (&delivery["fetchedAt"], &delivery["surfacedAt"]),
            (&json!(null), &json!(null)),
            "{delivery}"
        );
    }
    let message = ada.get(&format!("/tasks/{task}/messages")).await.ok(200)[0].clone();
    assert_eq!((&message["readAt"], &message["acknowledgedAt"]), (&json!(null), &json!(null)));
    assert_eq!(ada.get("/connections").await.ok(200)[0]["online"], false);
    // What a person does in the agent's name is the agent's doing.
    at_bob.done(&at_bob.post(&format!("/tasks/{task}/ack"), &[]).await, "acknowledged");
    assert!(ada.view(&task).await["acknowledgedAt"].is_string());
}

const EVIL: &str = "\"><img src=x onerror=alert(1)><script>alert(2)</script></template>{{7*7}}";

#[tokio::test]
async fn hostile_text_is_text_everywhere() {
    let hub = Harness::start(Db::Sqlite).await;
    let name = "<script>alert(0)</script>";
    let ada = hub.agent(name).await;
    let bob = hub.agent("Bob").await;
    ada.pair_with(&bob).await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let more = json!({ "title": "<img src=x onerror=alert(9)>", "description": EVIL, "sessionKey": EVIL, "leaseSeconds": 60 });
    let (held, task) = (ada.task_with(&bob, more.clone()).await, ada.task_with(&bob, more).await);
    bob.post_empty(&format!("/approvals/{task}/approve")).await.ok(200);
    bob.set(&task, "working").await.ok(200);
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": EVIL })).await.ok(201);
    let json = json!({ "content": json!({ "a": EVIL }).to_string(), "contentType": "json" });
    ada.post(&format!("/tasks/{task}/messages"), json).await.ok(201);
    let file = crate::files::upload("<b>\"onclick=x.txt", "text/plain", b"x");
    ada.post(&format!("/tasks/{task}/files/json"), file).await.ok(201);
    bob.post(&format!("/tasks/{task}/heartbeat"), json!({ "note": EVIL })).await.ok(200);
    let ended = ada.task(&bob).await;
    bob.post(&format!("/approvals/{ended}/reject"), json!({ "reason": EVIL })).await.ok(200);
    for (who, pages) in [
        (
            &bob,
            vec![
                "/approvals".to_owned(),
                format!("/tasks/{task}"),
                format!("/tasks/{held}"),
                format!("/tasks/{ended}"),
            ],
        ),
        (&ada, vec![format!("/tasks/{task}"), format!("/tasks/{held}"), format!("/tasks/{ended}")]),
    ] {
        let person = Person::sign_in(&hub, who).await;
        for path in pages {
            let page = person.get(&path).await;
            assert_eq!(page.status, 200, "{path}");
            page.lacks("<script>alert").lacks("<img").lacks("onerror=alert(1)>").lacks("\"onclick");
            page.has("alert(0)&#60;/script&#62;");
            assert!(
                page.reply
                    .header("content-security-policy")
                    .unwrap()
                    .starts_with("default-src 'none'; script-src 'self'")
            );
            let scripts = page.html.matches("<script").count();
            assert_eq!(
                scripts,
                page.html.matches("<script type=\"module\" src=\"/static/").count()
                    + page.html.matches("<script src=\"/static/").count()
            );
        }
    }
    // What was typed comes back as text too.
    let person = Person::sign_in(&hub, &bob).await;
    let again = person.post(&format!("/tasks/{ended}/message"), &[("content", EVIL)]).await;
    assert_eq!(again.status, 409);
    again.lacks("<img").lacks("<script>alert");
}

#[rstest]
#[tokio::test]
async fn files_go_in_and_out(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (_hub, ada, bob, at_ada, at_bob) = table(db).await;
    let task = ada.task(&bob).await;
    let csrf = at_ada.get("/approvals").await.csrf();
    let path = format!("/tasks/{task}/file");
    let body = multipart(Some(&csrf), "re\u{e4}port.txt", "text/plain", b"the content");
    at_ada.done(&at_ada.send(&path, MULTIPART, body).await, "attached");
    let page = at_bob.get(&format!("/tasks/{task}")).await;
    page.has("re\u{e4}port.txt").has("11 B");
    let href =
        page.html.split("class=\"file\" href=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let file = at_bob.get(href.strip_prefix(&at_bob.path("")).unwrap()).await;
    assert_eq!((file.status, file.html.as_str()), (200, "the content"));
    assert!(file.reply.header("content-disposition").unwrap().starts_with("attachment;"));
    assert_eq!(file.reply.header("x-content-type-options"), Some("nosniff"));
    assert!(file.reply.header("content-security-policy").unwrap().contains("sandbox"));
    // Refused, with the page again.
    let program = multipart(Some(&csrf), "a.exe", "application/x-msdownload", b"MZ");
    let refused = at_ada.send(&path, MULTIPART, program).await;
    assert_eq!(refused.status, 415);
    refused.has("are not accepted").has("Nothing was changed");
    let large = multipart(Some(&csrf), "a.txt", "text/plain", &vec![b'x'; 50 * 1024 * 1024 + 1]);
    assert_eq!(at_ada.send(&path, MULTIPART, large).await.status, 413);
    let id = href.rsplit('/').next().unwrap();
    // Another agent's owner gets nothing, and deleting takes it from the page.
    assert_eq!(bob.get(&format!("/files/{id}")).await.status, 200);
    let message =
        ada.get(&format!("/tasks/{task}/messages")).await.ok(200)[0]["id"].as_str().unwrap().to_owned();
    let foreign = at_bob.post(&format!("/tasks/{task}/delete-message"), &[("messageId", &message)]).await;
    assert_eq!(foreign.status, 403);
    at_ada.done(
        &at_ada.post(&format!("/tasks/{task}/delete-message"), &[("messageId", &message)]).await,
        "message-deleted",
    );
    at_bob.get(&format!("/tasks/{task}")).await.has("This message was deleted.").lacks("report.txt");
    assert_eq!(at_bob.get(&format!("/files/{id}")).await.status, 404);
}

#[tokio::test]
async fn a_key_that_was_rotated_ends_open_forms() {
    let (_hub, ada, bob, at_ada, _) = table(Db::Sqlite).await;
    let task = ada.task(&bob).await;
    let csrf = at_ada.get(&format!("/tasks/{task}")).await.csrf();
    let rotated = ada.post_empty("/agents/me/rotate-key").await;
    let key = rotated.text("apiKey");
    for (path, fields) in [("cancel", vec![]), ("message", vec![("content", "late")])] {
        let mut all = vec![("csrf", csrf.as_str())];
        all.extend(fields);
        assert_eq!(at_ada.post_raw(&format!("/tasks/{task}/{path}"), &all).await.status, 401, "{path}");
    }
    let body = multipart(Some(&csrf), "a.txt", "text/plain", b"late");
    assert_eq!(at_ada.send(&format!("/tasks/{task}/file"), MULTIPART, body).await.status, 401);
    assert_eq!(at_ada.get(&format!("/tasks/{task}")).await.status, 303);
    let ada = Agent { key, ..ada };
    assert_eq!(ada.view(&task).await["status"], "submitted");
    assert_eq!(ada.get(&format!("/tasks/{task}/messages")).await.ok(200), json!([]));
}

/// Too many messages in a minute: the page says so, and keeps the text.
#[rstest]
#[tokio::test]
async fn limits_hold_for_people_too(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start_with(db, |config| config.max_messages_per_minute = 1).await;
    let (ada, bob) = hub.pair().await;
    let at_ada = Person::sign_in(&hub, &ada).await;
    let task = ada.task_with(&bob, json!({ "maxMessages": 2 })).await;
    let path = format!("/tasks/{task}/message");
    at_ada.done(&at_ada.post(&path, &[("content", "one")]).await, "sent");
    let limited = at_ada.post(&path, &[("content", "two & kept")]).await;
    assert_eq!(limited.status, 429);
    limited.has("Too many requests").has("two &#38; kept</textarea>");
    hub.advance_ms(61_000);
    at_ada.done(&at_ada.post(&path, &[("content", "two")]).await, "sent");
    hub.advance_ms(61_000);
    let spent = at_ada.post(&path, &[("content", "three")]).await;
    assert_eq!(spent.status, 409);
    spent.has("All 2 messages of its budget are used.").has("three</textarea>");
}
