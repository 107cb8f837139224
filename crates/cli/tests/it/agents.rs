//! Registration, profile, key and directory.

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Db, Harness};

/// A 2048-bit RSA key made for these tests.
const PUBLIC_KEY: &str = include_str!("keys/rsa2048.pub.pem");
const SMALL_KEY: &str = include_str!("keys/rsa1024.pub.pem");
const EC_KEY: &str = include_str!("keys/p256.pub.pem");

#[tokio::test]
async fn a_name_hides_nothing() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    for name in ["\u{200b}", "Ada\u{2060}", "\u{202e}adA"] {
        for refused in [
            hub.client.send("POST", "/agents", None, Some(json!({ "name": name }))).await,
            ada.patch("/agents/me", json!({ "name": name })).await,
            ada.post("/networks", json!({ "name": name })).await,
        ] {
            let why = refused.refused(400, "validation")["details"]["name"][0].clone();
            assert_eq!(why, "must not contain invisible characters");
        }
    }
}

#[rstest]
#[tokio::test]
async fn registration_gives_a_key_that_works_at_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let body = json!({
        "name": "Ada's coder", "description": "Writes Rust", "capabilities": ["rust", "code-review", "rust"],
        "metadata": { "owner": "ada", "nested": [1, null, "\u{0}"] }, "publicKey": PUBLIC_KEY,
    });
    let reply = hub.client.send("POST", "/agents", None, Some(body)).await;
    let made = reply.ok(201);
    let key = made["apiKey"].as_str().unwrap();
    assert!(key.starts_with("tdm_") && key.len() == 52);
    assert!(made["id"].as_str().unwrap().starts_with("agent_"));
    let profile = hub.client.send("GET", "/agents/me", Some(key), None).await.ok(200);
    assert_eq!(
        profile,
        json!({
            "id": made["id"], "name": "Ada's coder", "publicKey": PUBLIC_KEY, "description": "Writes Rust",
            "capabilities": ["rust", "code-review"], "metadata": { "owner": "ada", "nested": [1, null, "\u{0}"] },
            "discoverable": false, "autoAccept": false, "defaultApprovalRule": null, "a2a": "connected", "skills": [],
            "webhookUrl": null,
            "webhookEvents": [], "webhookActive": false, "webhookSecretFormat": null,
            "costsCredits": false, "credits": 0.5,
            "createdAt": "2027-01-15T08:00:00.000Z", "online": true,
            "lastSeenAt": "2027-01-15T08:00:00.000Z", "reach": "polling", "reachConfirmedAt": null,
        })
    );
}

#[rstest]
#[tokio::test]
async fn registration_refuses_what_does_not_fit(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let tags: Vec<String> = (0..21).map(|n| format!("tag-{n}")).collect();
    let private = PUBLIC_KEY.replace("PUBLIC", "PRIVATE");
    let cases = [
        ("name", json!({})),
        ("name", json!({ "name": "" })),
        ("name", json!({ "name": " \t" })),
        ("name", json!({ "name": "x".repeat(65) })),
        ("name", json!({ "name": 7 })),
        ("name", json!({ "name": null })),
        ("description", json!({ "name": "x", "description": "d".repeat(501) })),
        ("capabilities", json!({ "name": "x", "capabilities": "rust" })),
        ("capabilities", json!({ "name": "x", "capabilities": ["Rust"] })),
        ("capabilities", json!({ "name": "x", "capabilities": [""] })),
        ("capabilities", json!({ "name": "x", "capabilities": tags })),
        ("metadata", json!({ "name": "x", "metadata": [] })),
        ("metadata", json!({ "name": "x", "metadata": { "k": "v".repeat(4096) } })),
        ("publicKey", json!({ "name": "x", "publicKey": "nonsense" })),
        ("publicKey", json!({ "name": "x", "publicKey": private })),
        ("publicKey", json!({ "name": "x", "publicKey": SMALL_KEY })),
        ("publicKey", json!({ "name": "x", "publicKey": EC_KEY })),
        ("publicKey", json!({ "name": "x", "publicKey": 7 })),
    ];
    for (field, body) in cases {
        let refused = hub.client.send("POST", "/agents", None, Some(body)).await.refused(400, "validation");
        let why = refused["details"][field][0].as_str().unwrap_or_else(|| panic!("{field}: {refused}"));
        assert_eq!(refused["error"], format!("Validation failed: {field} {why}"));
    }
    let fits = json!({
        "name": "n".repeat(64), "description": "d".repeat(500), "capabilities": &tags[..20],
        "metadata": { "k": "v".repeat(4096 - 8) },
    });
    hub.client.send("POST", "/agents", None, Some(fits)).await.ok(201);
    assert_eq!(hub.admin("GET", "/admin/overview").await.ok(200)["agents"], 1);
}

#[rstest]
#[tokio::test]
async fn a_profile_is_changed_field_by_field(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent_with(json!({ "name": "Ada", "description": "d", "metadata": { "a": 1 } })).await;
    let changed = ada
        .patch("/agents/me", json!({ "name": "Ada 2", "capabilities": ["x"], "discoverable": true }))
        .await;
    let changed = changed.ok(200);
    assert_eq!((&changed["name"], &changed["description"]), (&json!("Ada 2"), &json!("d")));
    assert_eq!((&changed["capabilities"], &changed["discoverable"]), (&json!(["x"]), &json!(true)));
    let cleared = ada.patch("/agents/me", json!({ "description": null, "metadata": null })).await.ok(200);
    assert_eq!((&cleared["description"], &cleared["metadata"]), (&Value::Null, &Value::Null));
    for (field, bad) in [
        ("name", json!("")),
        ("discoverable", json!("yes")),
        ("defaultApprovalRule", json!("maybe")),
        ("a2a", json!("on")),
        ("skills", json!([{ "id": "a", "name": "A", "description": "" }])),
    ] {
        let refused = ada.patch("/agents/me", json!({ field: bad })).await.refused(400, "validation");
        assert!(refused["details"][field][0].is_string(), "{refused}");
    }
    assert_eq!(
        ada.patch("/agents/me", json!({ "defaultApprovalRule": "auto" })).await.ok(200)["defaultApprovalRule"],
        "auto"
    );
    let skills =
        json!([{ "id": "a", "name": "A", "description": "An A.", "tags": ["a"], "examples": ["Do A."] }]);
    let shown = ada.patch("/agents/me", json!({ "a2a": "off", "skills": skills })).await.ok(200);
    assert_eq!((&shown["a2a"], &shown["skills"]), (&json!("off"), &skills));
    let kept = ada.patch("/agents/me", json!({ "description": "e" })).await.ok(200);
    assert_eq!((&kept["a2a"], &kept["skills"]), (&json!("off"), &skills));
    assert_eq!(ada.get("/agents/me/export").await.ok(200)["agent"]["skills"], skills);
    assert_eq!(ada.patch("/agents/me", json!({ "skills": [] })).await.ok(200)["skills"], json!([]));
    assert_eq!(ada.get("/agents/me").await.ok(200)["name"], "Ada 2");
}

#[rstest]
#[tokio::test]
async fn without_a_known_key_nothing_is_told(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    for key in [None, Some(""), Some("tdm_unknown"), Some("operator-token-of-the-test")] {
        for path in ["/agents/me", "/tasks", "/tasks/x", "/events", "/admin/overview"] {
            let refused = hub.client.send("GET", path, key, None).await;
            refused.refused(401, "unauthorized");
            assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
        }
    }
    let ada = hub.agent("Ada").await;
    ada.get("/admin/overview").await.refused(403, "admin_only");
    // A key in the query string is no key.
    hub.client
        .send("GET", &format!("/agents/me?key={}", ada.key), None, None)
        .await
        .refused(401, "unauthorized");
}

#[rstest]
#[tokio::test]
async fn a_rotated_key_ends_at_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    ada.get("/agents/me").await.ok(200);
    let new_key = ada.post_empty("/agents/me/rotate-key").await.text("apiKey");
    ada.get("/agents/me").await.refused(401, "unauthorized");
    let me = hub.client.send("GET", "/agents/me", Some(&new_key), None).await.ok(200);
    assert_eq!(me["id"], ada.id.as_str());
}

#[rstest]
#[tokio::test]
async fn of_two_keys_made_at_once_one_is_good(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let mut ada = hub.agent("Ada").await;
    for _ in 0..20 {
        let both = [ada.post_empty("/agents/me/rotate-key"), ada.post_empty("/agents/me/rotate-key")];
        let replies = futures_util::future::join_all(both).await;
        let mut good = Vec::new();
        for reply in replies.iter().filter(|reply| reply.status == 200) {
            let key = reply.text("apiKey");
            if hub.client.send("GET", "/agents/me", Some(&key), None).await.status == 200 {
                good.push(key);
            }
        }
        assert_eq!(good.len(), 1);
        ada.key = good.remove(0);
    }
}

#[rstest]
#[tokio::test]
async fn a_known_key_costs_no_look_up(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    for _ in &hub.nodes {
        ada.get("/agents/me").await.ok(200);
    }
    let misses = || hub.nodes.iter().map(|node| node.hub.access.cache_misses()).sum::<u64>();
    let before = misses();
    for _ in 0..10 {
        ada.post("/updates/ack", json!({ "cursor": 0 })).await.ok(200);
    }
    assert_eq!(misses(), before);
    hub.client.send("GET", "/agents/me", Some("tdm_unknown"), None).await.refused(401, "unauthorized");
    assert_eq!(misses(), before + 1, "one that is not known does cost one");
}

#[rstest]
#[tokio::test]
async fn the_directory_shows_who_wants_to_be_found(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.min_discovery_age_hours = 24).await;
    let ada = hub.agent("Ada").await;
    let bob = hub
        .agent_with(
            json!({ "name": "Bob Übersetzer", "capabilities": ["translation"], "publicKey": PUBLIC_KEY }),
        )
        .await;
    let cy = hub
        .agent_with(json!({ "name": "Cy", "description": "100% rust_lang", "capabilities": ["rust"] }))
        .await;
    let hidden = hub.agent("Hidden").await;
    bob.patch("/agents/me", json!({ "discoverable": true, "autoAccept": true })).await.ok(200);
    cy.patch("/agents/me", json!({ "discoverable": true })).await.ok(200);
    ada.patch("/agents/me", json!({ "discoverable": true })).await.ok(200);
    let found = async |query: &str| {
        let page = ada.get(&format!("/agents/discover?{query}")).await.ok(200);
        let names: Vec<String> = page["agents"]
            .as_array()
            .unwrap()
            .iter()
            .map(|agent| agent["name"].as_str().unwrap().to_owned())
            .collect();
        (page["total"].as_i64().unwrap(), names)
    };
    assert_eq!(found("").await, (0, vec![]), "too young to be shown");
    hub.advance_ms(24 * 3_600_000);
    assert_eq!(found("").await, (2, vec!["Bob Übersetzer".to_owned(), "Cy".to_owned()]));
    assert_eq!(found("capability=rust").await.1, ["Cy"]);
    assert_eq!(found("q=%C3%BCBERSETZER").await.1, ["Bob Übersetzer"]);
    assert_eq!(found("query=RUST_LANG").await.1, ["Cy"]);
    assert_eq!(found("q=0%25").await.1, ["Cy"]);
    assert_eq!(found("q=_ust").await.1, Vec::<String>::new());
    assert_eq!(found("limit=1&offset=1").await, (2, vec!["Cy".to_owned()]));

    let entry = ada.get("/agents/discover?capability=translation").await.ok(200)["agents"][0].clone();
    assert_eq!(
        entry,
        json!({
            "id": bob.id, "name": "Bob Übersetzer", "description": null, "capabilities": ["translation"],
            "connectionCount": 0, "taskCompletionRate": null, "memberSince": "2027-01-15T08:00:00.000Z",
            "publicKey": true, "autoAccept": true, "online": false,
            "lastSeenAt": "2027-01-15T08:00:00.000Z", "reach": "away",
        })
    );
    bob.post("/agents/me/block", json!({ "agentId": ada.id })).await.ok(200);
    ada.post("/agents/me/block", json!({ "agentId": cy.id })).await.ok(200);
    assert_eq!(found("").await.0, 0, "blocked either way");
    assert_eq!(hidden.get("/agents/discover").await.ok(200)["total"], 3);
    for bad in ["limit=0", "offset=-1", "offset=10001", "capability=Rust", "q=%00"] {
        ada.get(&format!("/agents/discover?{bad}")).await.refused(400, "validation");
    }
}

#[rstest]
#[tokio::test]
async fn the_directory_tells_what_speaks_for_an_agent(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let bob = hub.agent("Bob").await;
    bob.patch("/agents/me", json!({ "discoverable": true })).await.ok(200);
    let mut ada = None;
    for number in 0..11 {
        let peer = hub.agent(&format!("Peer {number}")).await;
        peer.pair_with(&bob).await;
        ada = Some(peer);
    }
    let ada = ada.unwrap();
    let indicators = async || {
        let entry = ada.get("/agents/discover").await.ok(200)["agents"][0].clone();
        (entry["connectionCount"].clone(), entry["taskCompletionRate"].clone())
    };
    assert_eq!(indicators().await, (json!(10), Value::Null));
    let mut last = String::new();
    for number in 0..5 {
        last = ada.task(&bob).await;
        bob.set(&last, "working").await.ok(200);
        bob.set(&last, if number < 4 { "completed" } else { "failed" }).await.ok(200);
    }
    // Tasks that Bob sends, and drafts, say nothing about Bob's work.
    let sent = bob.task(&ada).await;
    bob.set(&sent, "cancelled").await.ok(200);
    let draft = ada.task_with(&bob, json!({ "draft": true })).await;
    ada.set(&draft, "cancelled").await.ok(200);
    assert_eq!(indicators().await, (json!(10), json!(0.8)));
    assert_eq!(ada.view(&last).await["status"], "failed");
}

#[rstest]
#[tokio::test]
async fn registration_can_ask_for_work(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.pow_difficulty = 8).await;
    let challenge = hub.client.send("GET", "/agents/challenge", None, None).await.ok(200);
    assert_eq!((&challenge["difficulty"], &challenge["algorithm"]), (&json!(8), &json!("SHA-256")));
    let challenge = challenge["challenge"].as_str().unwrap();
    let zero_bits = |solution: &str| {
        let hash = tandem_app::keys::sha256(format!("{challenge}{solution}").as_bytes());
        tandem_app::challenge::leading_zero_bits(&hash)
    };
    let solutions = || (0..).map(|n: u32| n.to_string());
    let good = solutions().find(|solution| zero_bits(solution) >= 8).unwrap();
    let bad = solutions().find(|solution| zero_bits(solution) < 8).unwrap();
    let register = async |challenge: Option<&str>, solution: Option<&str>| {
        let body = json!({ "name": "Ada", "challenge": challenge, "solution": solution });
        hub.client.send("POST", "/agents", None, Some(body)).await
    };
    register(None, None).await.refused(400, "validation");
    register(Some(challenge), None).await.refused(400, "validation");
    register(Some(challenge), Some(&bad)).await.refused(400, "validation");
    register(Some("bm90IG91cnM"), Some(&good)).await.refused(400, "validation");
    register(Some(challenge), Some(&good)).await.ok(201);
    register(Some(challenge), Some(&good)).await.refused(400, "validation");

    let late = hub.client.send("GET", "/agents/challenge", None, None).await.text("challenge");
    hub.advance_ms(600_000);
    let refused = register(Some(&late), Some("x")).await.refused(400, "validation");
    assert_eq!(refused["details"]["challenge"][0], "has expired: get a new one");
}

#[rstest]
#[tokio::test]
async fn the_operator_sees_counts_and_agents_but_no_content(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "title": "Very secret", "description": "Hidden" })).await;
    bob.set(&task, "rejected").await.ok(200);
    ada.task_with(&bob, json!({ "title": "Very secret" })).await;
    let overview = hub.admin("GET", "/admin/overview").await.ok(200);
    assert_eq!((&overview["agents"], &overview["connections"]), (&json!(2), &json!(1)));
    assert_eq!(overview["tasks"], json!({ "rejected": 1, "submitted": 1 }));
    assert_eq!(overview["database"], if db == Db::Sqlite { "sqlite" } else { "postgres" });
    assert_eq!(overview["agentsOnline"], 2);
    let first = hub.admin("GET", "/admin/agents?limit=1").await;
    assert_eq!(first.ok(200)[0]["name"], "Bob");
    let second = hub.admin("GET", &first.next_link().unwrap()).await;
    assert_eq!(second.ok(200)[0]["name"], "Ada");
    assert!(second.next_link().is_none());
    for reply in [hub.admin("GET", "/admin/overview").await, first] {
        let text = String::from_utf8_lossy(&reply.bytes).into_owned();
        assert!(!text.contains("secret") && !text.contains("tdm_"), "{text}");
    }
}

#[rstest]
#[tokio::test]
async fn online_means_heard_of_within_a_minute(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let online = async || ada.get("/connections").await.ok(200)[0]["online"].clone();
    assert_eq!(online().await, true);
    hub.advance_ms(59_999);
    assert_eq!(online().await, true);
    hub.advance_ms(1);
    assert_eq!(online().await, false);
    bob.get("/agents/me").await.ok(200);
    assert_eq!(online().await, true);
    let reach = async || ada.get("/connections").await.ok(200)[0]["reach"].clone();
    hub.advance_ms(600_000);
    assert_eq!(reach().await, "polling");
    hub.advance_ms(1);
    assert_eq!(reach().await, "away");
}

/// Rotations that come at once share a transaction; each but the first has an ended key.
#[rstest]
#[tokio::test]
async fn of_many_rotations_at_once_one_succeeds(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    ada.get("/agents/me").await.ok(200);
    let rotating: Vec<_> = (0..8)
        .map(|_| {
            let ada = ada.clone();
            tokio::spawn(async move { ada.post_empty("/agents/me/rotate-key").await })
        })
        .collect();
    let mut keys = Vec::new();
    for rotation in rotating {
        let reply = rotation.await.unwrap();
        if reply.status == 200 {
            keys.push(reply.text("apiKey"));
        } else {
            reply.refused(401, "unauthorized");
        }
    }
    assert_eq!(keys.len(), 1, "one of them");
    hub.client.send("GET", "/agents/me", Some(&keys[0]), None).await.ok(200);
}
