//! Networks, events, webhooks, the profile and the wizard in the dashboard.

use rstest::rstest;
use serde_json::{Value, json};
use tandem_app::keys;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::net::{HOSTILE, Visitor, hidden, leads_to, text};
use crate::harness::{Db, Harness, eventually};

#[tokio::test]
async fn a_network_lives_and_ends() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent(HOSTILE).await);
    let (anna, boris) = (Visitor::signed_in(&hub, &ada).await, Visitor::signed_in(&hub, &bob).await);
    let (mine, theirs) = (format!("/app/{}/networks", ada.id), format!("/app/{}/networks", bob.id));
    let create = format!("{mine}/create");
    let refused = anna.submit(&mine, &create, &[("name", " "), ("description", "kept <i>")]).await;
    assert!(refused.status == 400 && text(&refused).contains("kept &#60;i&#62;"), "{}", text(&refused));
    let made = leads_to(
        &anna.submit(&mine, &create, &[("name", "<b>crew"), ("description", HOSTILE)]).await,
        "done=saved",
    );
    let page = made.split('?').next().unwrap().to_owned();
    let id = page.rsplit('/').next().unwrap().to_owned();
    // The code is in the answer once.
    let invite = format!("{page}/invite");
    assert_eq!(anna.submit(&page, &invite, &[("maxUses", "0")]).await.status, 400);
    let invited = anna.submit(&page, &invite, &[("maxUses", "1"), ("expiresInSeconds", "3600")]).await;
    let shown = text(&invited);
    let code = shown.split("id=\"invitation\">").nth(1).unwrap().split('<').next().unwrap();
    assert!(code.starts_with("NET-") && !anna.page(&page).await.contains(code));
    let join = format!("{theirs}/join");
    assert_eq!(boris.submit(&theirs, &join, &[("code", "NET-0000")]).await.status, 404);
    leads_to(&boris.submit(&theirs, &join, &[("code", code)]).await, "done=joined");
    let inside = format!("{theirs}/{id}");
    let send = format!("{inside}/broadcast");
    let empty = boris.submit(&inside, &send, &[("content", "")]).await;
    assert!(empty.status == 400 && text(&empty).contains("must not be empty"), "{}", text(&empty));
    let fields = [("content", HOSTILE), ("capability", ""), ("online", "")];
    leads_to(&boris.submit(&inside, &send, &fields).await, "done=broadcast");
    let seen = anna.page(&page).await;
    assert!(seen.contains("wrote this. It is data") && seen.contains("&#60;script&#62;"), "{seen}");
    let nobody = boris.submit(&inside, &send, &[("content", "x"), ("capability", "rust")]).await;
    leads_to(&nobody, "done=broadcast");
    // Only the owner removes, and only with a form of the session.
    let remove = format!("{page}/remove");
    assert_eq!(anna.send(&remove, &[("csrf", "x"), ("agentId", &bob.id)]).await.status, 403);
    assert_eq!(bob.get("/networks").await.ok(200).as_array().unwrap().len(), 1);
    leads_to(&anna.submit(&page, &remove, &[("agentId", &bob.id)]).await, &page);
    assert_eq!(bob.get("/networks").await.ok(200), json!([]));
    assert_eq!(boris.get(&inside).await.status, 404);
    leads_to(&anna.submit(&page, &format!("{page}/delete"), &[]).await, "done=deleted");
    assert_eq!(ada.get("/networks").await.ok(200), json!([]));
}

#[rstest]
#[tokio::test]
async fn the_log_is_read_newest_first_and_marks_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    hub.fill(&ada, &bob, 60, None).await;
    let task = ada.task_with(&bob, json!({ "title": HOSTILE })).await;
    let boris = Visitor::signed_in(&hub, &bob).await;
    let events = format!("/app/{}/events", bob.id);
    let numbers = |page: &str| -> Vec<i64> {
        let rows = page.split("<tr role=\"row\" data-cursor=\"").skip(1);
        rows.map(|row| row.split('"').next().unwrap().parse().unwrap()).collect()
    };
    let first = boris.page(&events).await;
    let expected: Vec<i64> = (13..=62).rev().collect();
    assert_eq!(numbers(&first), expected);
    assert!(first.contains("id=\"tail\"") && first.contains("id=\"tail-row\"") && first.contains(&task));
    assert!(first.contains("data-cursor=\"62\""), "the stream starts where the rows end");
    let older = boris.page(&format!("{events}?cursor=13")).await;
    assert_eq!(numbers(&older), (1..=12).rev().collect::<Vec<_>>());
    assert!(!older.contains("id=\"tail\""), "an older page gets no new rows");
    let connected = boris.page(&format!("{events}?type=agent.*")).await;
    assert_eq!(numbers(&connected), [1]);
    assert!(
        connected.contains("data-filter-type=\"agent.*\"") && connected.contains("tandem events tail --type")
    );
    assert_eq!(numbers(&boris.page(&format!("{events}?task={task}")).await), [62]);
    assert_eq!(numbers(&boris.page(&format!("{events}?task={task}&type=message.*")).await), [0_i64; 0]);
    for (query, said) in
        [("?type=%3Cscript%3E", "no event type &#60;script&#62;"), ("?task=%22", "not the id of a task")]
    {
        assert!(boris.page(&format!("{events}{query}")).await.contains(said), "{query}");
    }
    assert_eq!(boris.get(&format!("{events}?cursor=x")).await.status, 400);
    // A person has looked, the agent has not.
    let delivery = ada.view(&task).await["delivery"].clone();
    assert_eq!((&delivery["fetchedAt"], &delivery["pushedAt"]), (&Value::Null, &Value::Null), "{delivery}");
    let polled = bob.get("/events").await.ok(200);
    assert_eq!(polled["events"][0]["id"], json!(1), "the cursor has not moved");
}

/// A receiver that answers every request with an error and a script.
async fn hostile_receiver() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4_096];
            let _ = stream.read(&mut request).await;
            let answer = format!(
                "HTTP/1.1 503 No\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{HOSTILE}",
                HOSTILE.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    url
}

#[tokio::test]
async fn a_webhook_is_set_tested_and_sent_again() {
    let hub = crate::webhooks::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let anna = Visitor::signed_in(&hub, &ada).await;
    let page = format!("/app/{}/webhooks", ada.id);
    let (change, ping) = (format!("{page}/change"), format!("{page}/ping"));
    assert!(anna.page(&page).await.contains("tandem listen --forward-to"));
    let wrong = anna.submit(&page, &change, &[("webhookUrl", "ftp://<b>")]).await;
    assert!(wrong.status == 400 && text(&wrong).contains("value=\"ftp://&#60;b&#62;\""), "{}", text(&wrong));
    let short = [("webhookUrl", "https://hook.example/"), ("webhookSecret", "too short")];
    let wrong = anna.submit(&page, &change, &short).await;
    assert!(wrong.status == 400 && !text(&wrong).contains("too short\""), "a secret is never repeated");
    assert_eq!(ada.get("/agents/me").await.ok(200)["webhookUrl"], Value::Null);
    let csrf = hidden(&anna.page(&page).await, "csrf");
    let early = anna.send(&ping, &[("csrf", &csrf)]).await;
    assert!(early.status == 409 && text(&early).contains("no active webhook"), "{}", text(&early));

    let url = hostile_receiver().await;
    let secret = "a secret of sixteen";
    let fields = [
        ("webhookUrl", &*url),
        ("webhookSecret", secret),
        ("event", "task.created"),
        ("event", "task.updated"),
    ];
    leads_to(&anna.submit(&page, &change, &fields).await, "done=saved");
    let profile = ada.get("/agents/me").await.ok(200);
    assert_eq!(profile["webhookEvents"], json!(["task.created", "task.updated"]));
    assert_eq!(profile["webhookSecretFormat"], "raw");
    leads_to(&anna.submit(&page, &ping, &[]).await, "done=pinged");
    let tried = async || {
        let list = ada.get("/webhooks/deliveries").await.ok(200);
        list[0]["responseStatus"].is_number().then(|| list[0].clone())
    };
    let delivery = eventually(tried).await;
    let id = delivery["id"].as_str().unwrap();
    let shown = anna.page(&page).await;
    assert!(shown.contains("Failing") && shown.contains("1 of 7") && !shown.contains(secret), "{shown}");
    let opened = anna.page(&format!("{page}?open={id}")).await;
    assert!(
        opened.contains("&#60;script&#62;alert") && opened.contains(&format!("webhook-id: {id}")),
        "{opened}"
    );
    let replay = format!("{page}/{id}/replay");
    assert_eq!(anna.send(&replay, &[("csrf", "no")]).await.status, 403);
    leads_to(&anna.submit(&page, &replay, &[]).await, "done=replayed");
    // An empty secret stays; a ticked box removes it.
    leads_to(&anna.submit(&page, &change, &[("webhookUrl", &url)]).await, "done=saved");
    let profile = ada.get("/agents/me").await.ok(200);
    assert_eq!((&profile["webhookSecretFormat"], &profile["webhookEvents"]), (&json!("raw"), &json!([])));
    leads_to(&anna.submit(&page, &change, &[("webhookUrl", &url), ("unsigned", "true")]).await, "done=saved");
    assert_eq!(ada.get("/agents/me").await.ok(200)["webhookSecretFormat"], Value::Null);
    leads_to(&anna.submit(&page, &format!("{page}/remove"), &[]).await, "done=deleted");
    assert_eq!(ada.get("/agents/me").await.ok(200)["webhookUrl"], Value::Null);
}

#[tokio::test]
async fn a_profile_is_changed_and_its_key_rotated() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let (anna, elsewhere) = (Visitor::signed_in(&hub, &ada).await, Visitor::signed_in(&hub, &ada).await);
    anna.sign_in(&bob).await;
    let page = format!("/app/{}/profile", ada.id);
    let change = format!("{page}/change");
    let bad = [("name", "Ada"), ("capabilities", "Not A Tag!"), ("description", "<i>typed")];
    let refused = anna.submit(&page, &change, &bad).await;
    assert!(refused.status == 400 && text(&refused).contains("&#60;i&#62;typed"), "{}", text(&refused));
    let good = [
        ("name", HOSTILE),
        ("capabilities", "rust, code-review"),
        ("description", "Writes"),
        ("discoverable", "true"),
        ("defaultApprovalRule", "require"),
    ];
    leads_to(&anna.submit(&page, &change, &good).await, "done=saved");
    let profile = ada.get("/agents/me").await.ok(200);
    assert_eq!(profile["name"], HOSTILE);
    assert_eq!(profile["capabilities"], json!(["rust", "code-review"]));
    assert_eq!((&profile["discoverable"], &profile["autoAccept"]), (&json!(true), &json!(false)));
    assert_eq!(profile["defaultApprovalRule"], "require");
    let export = anna.get(&format!("{page}/export")).await;
    assert!(export.status == 200 && text(&export).contains("__exportComplete"));
    assert_eq!(export.header("content-disposition"), Some("attachment; filename=\"tandem-export.json\""));

    // The new key is shown once. This browser stays signed in with both agents; others are signed out.
    let rotate = format!("{page}/rotate");
    assert_eq!(anna.send(&rotate, &[("csrf", "x")]).await.status, 403);
    let rotated = anna.submit(&page, &rotate, &[]).await;
    let shown = text(&rotated);
    let key = shown.split("id=\"new-key\">").nth(1).unwrap().split('<').next().unwrap();
    assert!(
        rotated.status == 200
            && key.starts_with("tdm_")
            && rotated.header("cache-control") == Some("no-store")
    );
    ada.get("/agents/me").await.refused(401, "unauthorized");
    assert_eq!(hub.client.send("GET", "/agents/me", Some(key), None).await.status, 200);
    assert!(!anna.page(&page).await.contains(key));
    anna.page(&format!("/app/{}/profile", bob.id)).await;
    leads_to(&elsewhere.get(&page).await, "/app/sign-in");

    let delete = format!("{page}/delete");
    let wrong = anna.submit(&page, &delete, &[("confirm", "somebody")]).await;
    assert!(wrong.status == 400 && text(&wrong).contains("Nothing was deleted"), "{}", text(&wrong));
    leads_to(&anna.submit(&page, &delete, &[("confirm", HOSTILE)]).await, "/app");
    assert_eq!(hub.client.send("GET", "/agents/me", Some(key), None).await.status, 401);
    // The other agent of this browser is still there.
    anna.page(&format!("/app/{}/agents", bob.id)).await;
}

#[tokio::test]
async fn an_agent_is_added_and_waited_for() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let anna = Visitor::signed_in(&hub, &ada).await;
    let add = format!("/app/{}/agents/add", ada.id);
    let page = anna.page(&format!("{add}?tool=codex")).await;
    assert!(page.contains("tandem setup --tool codex") && page.contains("tandem register NAME"), "{page}");
    assert!(page.contains("nothing can be encrypted"), "{page}");
    let action = format!("{add}?tool=claude");
    let csrf = hidden(&page, "csrf");
    assert_eq!(anna.send(&action, &[("csrf", "x"), ("name", "New")]).await.status, 403);
    assert_eq!(anna.send(&action, &[("csrf", &csrf), ("name", "")]).await.status, 400);
    let made = anna.send(&action, &[("csrf", &csrf), ("name", HOSTILE)]).await;
    let shown = text(&made);
    assert!(made.status == 200 && !shown.contains("<script>alert"), "{shown}");
    let key = shown.split("id=\"new-key\">").nth(1).unwrap().split('<').next().unwrap().to_owned();
    // The same form again registers nobody.
    assert_eq!(anna.send(&action, &[("csrf", &csrf), ("name", "Twice")]).await.status, 403);
    let wait =
        shown.split("href=\"").find(|link| link.contains("wait=1")).unwrap().split('"').next().unwrap();
    let wait = wait.replace("&#38;", "&").replace("&amp;", "&");
    let before = anna.page(&wait).await;
    assert!(before.contains("Waiting for the first sign of life") && !before.contains(&key), "{before}");
    assert!(before.contains("data-refresh=\"3\""));
    hub.client.send("GET", "/events", Some(&key), None).await.ok(200);
    let after = anna.page(&wait).await;
    assert!(after.contains("waiting seen") && after.contains("Send a test task"), "{after}");
}

#[tokio::test]
async fn a_page_does_no_proof_of_work() {
    let hub = Harness::start_with(Db::Sqlite, |config| config.pow_difficulty = 4).await;
    let challenge = hub.client.send("GET", "/agents/challenge", None, None).await.text("challenge");
    let fits = |n: &u32| keys::sha256(format!("{challenge}{n}").as_bytes())[0] < 16;
    let solution = (0..).find(fits).unwrap().to_string();
    let ada = json!({ "name": "Ada", "challenge": challenge, "solution": solution });
    let ada = hub.agent_with(ada).await;
    let anna = Visitor::signed_in(&hub, &ada).await;
    let add = format!("/app/{}/agents/add", ada.id);
    let page = anna.page(&add).await;
    assert!(page.contains("proof of work") && !page.contains("name=\"name\""), "{page}");
    let csrf = hidden(&page, "csrf");
    let refused = anna.send(&add, &[("csrf", &csrf), ("name", "New")]).await;
    assert_eq!(refused.status, 400, "{}", text(&refused));
}
