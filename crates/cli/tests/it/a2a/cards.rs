//! Cards, the catalog of them, and the keys that they are signed with.

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use rstest::rstest;
use serde_json::{Value, json};

use super::{Binding, Calls};
use crate::harness::{Agent, Client, Db, Harness, Reply};

fn path(agent: &Agent) -> String {
    format!("/a2a/agents/{}/.well-known/agent-card.json", agent.id)
}

async fn get(client: &Client, path: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = Request::builder().uri(path).header("host", "evil.example.com");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    client.raw(request.body(Full::new(Bytes::new())).unwrap()).await
}

#[rstest]
#[tokio::test]
async fn a_card_is_for_those_who_may_read_it(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let (carol, dave) = (hub.agent("Carol").await, hub.agent("Dave").await);
    let network = ada.post("/networks", json!({ "name": "Crew" })).await.text("id");
    let code = ada.post(&format!("/networks/{network}/invites"), json!({})).await.text("code");
    dave.post("/networks/join", json!({ "code": code })).await.ok(201);
    let readers =
        [Some(&*ada.key), Some(&bob.key), Some(&dave.key), Some(&carol.key), Some("tdm_unknown"), None];
    for (access, may_read) in [("connected", 3), ("public", 6), ("off", 0)] {
        ada.patch("/agents/me", json!({ "a2a": access })).await.ok(200);
        for (number, key) in readers.into_iter().enumerate() {
            let reply = hub.client.send("GET", &path(&ada), key, None).await;
            if number < may_read {
                assert_eq!(reply.ok(200)["name"], "Ada", "{access} {number}");
            } else {
                let hidden = reply.refused(404, "not_found");
                let unknown = path(&Agent { id: "agent_unknown".into(), ..ada.clone() });
                let unknown = hub.client.send("GET", &unknown, key, None).await.refused(404, "not_found");
                assert_eq!(hidden, unknown, "{access} {number}");
            }
        }
    }
    ada.patch("/agents/me", json!({ "a2a": "connected" })).await.ok(200);
    bob.post("/agents/me/block", json!({ "agentId": ada.id })).await.ok(200);
    bob.get(&path(&ada)).await.refused(404, "not_found");
    ada.patch("/agents/me", json!({ "a2a": "public" })).await.ok(200);
    hub.client
        .send(
            "PATCH",
            &format!("/admin/agents/{}", ada.id),
            Some(crate::harness::ADMIN_TOKEN),
            Some(json!({ "suspended": true })),
        )
        .await
        .ok(200);
    carol.get(&path(&ada)).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_card_says_how_to_call_the_agent() {
    let hub = Harness::start_with(Db::Sqlite, |config| {
        config.public_url = Some("https://hub.example.com/".into());
    })
    .await;
    let ada = hub
        .agent_with(json!({ "name": "Ada", "description": " Codes. ", "capabilities": ["rust", "review"] }))
        .await;
    let card = ada.get(&path(&ada)).await.ok(200);
    let url = format!("https://hub.example.com/a2a/agents/{}", ada.id);
    let interface =
        |binding: &str| json!({ "url": url, "protocolBinding": binding, "protocolVersion": "1.0" });
    assert_eq!(card["supportedInterfaces"], json!([interface("JSONRPC"), interface("HTTP+JSON")]));
    assert_eq!((&card["name"], &card["description"]), (&json!("Ada"), &json!("Codes.")));
    let can = &card["capabilities"];
    assert_eq!([&can["streaming"], &can["extendedAgentCard"]], [&json!(true); 2]);
    assert_eq!(can["extensions"][0]["uri"], "urn:tandem:a2a:hub:v1");
    assert_eq!(card["securityRequirements"], json!([{ "schemes": { "bearer": { "list": ["agent"] } } }]));
    let ids: Vec<&Value> = card["skills"].as_array().unwrap().iter().map(|skill| &skill["id"]).collect();
    assert_eq!(ids, [&json!("rust"), &json!("review")]);
    assert_eq!(card["signatures"].as_array().unwrap().len(), 1);
    assert_nothing_is_empty(&card);

    let bare = hub.agent("Bare").await;
    let card = bare.get(&path(&bare)).await.ok(200);
    assert_eq!(card["skills"][0]["id"], "general");
    assert_nothing_is_empty(&card);

    let skills = json!([{ "id": "review", "name": "Review", "description": "Reads code.", "tags": [],
        "examples": ["Review this."] }]);
    bare.patch("/agents/me", json!({ "skills": skills })).await.ok(200);
    let card = bare.get(&path(&bare)).await.ok(200);
    let mut expected = skills;
    expected[0]["tags"] = json!(["review"]);
    assert_eq!(card["skills"], expected);
    assert_nothing_is_empty(&card);
}

/// The SDKs leave out what is empty, each in its own way, and would not find what was signed.
fn assert_nothing_is_empty(card: &Value) {
    match card {
        Value::Null => panic!("null in a card"),
        Value::String(text) => assert!(!text.is_empty()),
        Value::Bool(flag) => assert!(flag),
        Value::Number(_) => {}
        Value::Array(items) => {
            assert!(!items.is_empty());
            items.iter().for_each(assert_nothing_is_empty);
        }
        Value::Object(fields) => {
            assert!(!fields.is_empty());
            fields.values().for_each(assert_nothing_is_empty);
        }
    }
}

#[tokio::test]
async fn a_card_names_the_hub_by_its_own_address() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    ada.patch("/agents/me", json!({ "a2a": "public" })).await.ok(200);
    let card = get(&hub.client, &path(&ada), &[]).await;
    let text = String::from_utf8_lossy(&card.bytes).into_owned();
    assert!(text.contains(&format!("http://{}/a2a/agents/{}", hub.client.address, ada.id)), "{text}");
    assert!(!text.contains("evil.example.com"), "{text}");
    let catalog = get(&hub.client, "/.well-known/ai-catalog.json", &[]).await;
    assert!(!String::from_utf8_lossy(&catalog.bytes).contains("evil.example.com"));
}

#[tokio::test]
async fn a_card_is_sent_again_only_when_it_has_changed() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let authorization = format!("Bearer {}", ada.key);
    let ask = async |name: &str, value: &str| {
        get(&hub.client, &path(&ada), &[("authorization", &authorization), (name, value)]).await
    };
    let card = ask("accept", "*/*").await;
    let (tag, changed_at) = (card.header("etag").unwrap(), card.header("last-modified").unwrap());
    assert_eq!(changed_at, "Fri, 15 Jan 2027 08:00:00 GMT");
    assert_eq!(card.header("cache-control"), Some("private, max-age=300"));
    assert_eq!(
        (card.header("vary"), card.header("access-control-allow-origin")),
        (Some("authorization"), Some("*"))
    );
    for (name, value) in [
        ("if-none-match", tag),
        ("if-none-match", &format!("\"x\", {tag}")),
        ("if-modified-since", changed_at),
    ] {
        let same = ask(name, value).await;
        assert_eq!((same.status, same.bytes.len()), (304, 0), "{name}");
        assert_eq!(same.header("etag"), Some(tag));
    }
    hub.advance_ms(1_000);
    ada.patch("/agents/me", json!({ "description": "Codes." })).await.ok(200);
    for (name, value) in [("if-none-match", tag), ("if-modified-since", changed_at)] {
        let changed = ask(name, value).await;
        assert_ne!(changed.ok(200)["version"], card.json()["version"], "{name}");
        assert_eq!(changed.header("last-modified"), Some("Fri, 15 Jan 2027 08:00:01 GMT"));
    }
    ada.patch("/agents/me", json!({ "a2a": "public" })).await.ok(200);
    assert_eq!(ask("accept", "*/*").await.header("cache-control"), Some("public, max-age=300"));
}

#[tokio::test]
async fn the_catalog_names_public_agents() {
    let hub = Harness::start_with(Db::Sqlite, |config| {
        config.public_url = Some("https://hub.example.com:8443".into());
    })
    .await;
    let (ada, _bob) = hub.pair().await;
    let catalog = async || {
        let reply = get(&hub.client, "/.well-known/ai-catalog.json", &[]).await;
        assert_eq!(reply.header("content-type"), Some("application/ai-catalog+json"));
        reply.ok(200)
    };
    let of_the_hub = json!({ "identifier": "urn:air:hub.example.com:mcp", "displayName": "Tandem hub",
        "type": "application/mcp-server+json", "url": "https://hub.example.com:8443/mcp" });
    let host = json!({ "displayName": "hub.example.com:8443", "identifier": "hub.example.com" });
    assert_eq!(catalog().await, json!({ "specVersion": "1.0", "host": host, "entries": [of_the_hub] }));
    ada.patch("/agents/me", json!({ "a2a": "public" })).await.ok(200);
    let url = format!("https://hub.example.com:8443{}", path(&ada));
    let of_ada = json!({ "identifier": format!("urn:air:hub.example.com:agents:{}", ada.id),
        "type": "application/a2a-agent-card+json", "url": url });
    assert_eq!(catalog().await["entries"], json!([of_the_hub, of_ada]));
}

#[tokio::test]
async fn the_operator_chooses_the_agent_at_the_door() {
    let hub = Harness::start(Db::Sqlite).await;
    let front = "/.well-known/agent-card.json";
    get(&hub.client, front, &[]).await.refused(404, "not_found");
    let ada = hub.agent("Ada").await;
    ada.patch("/agents/me", json!({ "a2a": "public" })).await.ok(200);
    let (place, clock) = (hub.place.clone(), hub.clock.clone());
    drop(hub);
    let mut config = place.config();
    config.a2a_front_agent = Some(ada.id.parse().unwrap());
    let hub = Harness::start_at(place, config, clock).await;
    assert_eq!(get(&hub.client, front, &[]).await.ok(200)["name"], "Ada");
}

#[tokio::test]
async fn the_keys_stay_the_same_and_hold_nothing_private() {
    let hub = Harness::start(Db::Sqlite).await;
    let reply = get(&hub.client, "/.well-known/jwks.json", &[]).await;
    assert_eq!(reply.header("cache-control"), Some("public, max-age=300"));
    let keys = reply.ok(200);
    let all = keys["keys"].as_array().unwrap();
    assert_eq!(all.len(), 2);
    for (key, algorithm) in all.iter().zip(["ES256", "EdDSA"]) {
        assert_eq!((&key["alg"], &key["use"], key.get("d")), (&json!(algorithm), &json!("sig"), None));
        assert_eq!(key["kid"].as_str().unwrap().len(), 43);
    }
    let (place, clock) = (hub.place.clone(), hub.clock.clone());
    drop(hub);
    let config = place.config();
    let hub = Harness::start_at(place, config, clock).await;
    assert_eq!(get(&hub.client, "/.well-known/jwks.json", &[]).await.ok(200), keys);
}

#[rstest]
#[tokio::test]
async fn the_extended_card_says_how_much_is_before_a_new_task(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, Binding::Http);
    let known = async || {
        let card = calls.ok("GetExtendedAgentCard", json!({})).await;
        card["capabilities"]["extensions"][0]["params"]["now"].clone()
    };
    let first = known().await;
    assert_eq!(
        (&first["ahead"], &first["liveTasks"], &first["approval"]),
        (&json!(0), &json!(0), &json!("auto"))
    );
    ada.task_with(&bob, json!({ "priority": "low" })).await;
    let [waiting, working] = [ada.task(&bob).await, ada.task(&bob).await];
    bob.set(&working, "working").await.ok(200);
    // Not the one of low priority, which waits behind.
    assert_eq!((&known().await["ahead"], &known().await["liveTasks"]), (&json!(2), &json!(3)));
    bob.set(&waiting, "rejected").await.ok(200);
    assert_eq!(known().await["ahead"], 1);
}
