//! Pairing by a short code.

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Db, Harness};

#[rstest]
#[tokio::test]
async fn a_code_connects_two_agents_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob, cy) = (hub.agent("Ada").await, hub.agent("Bob").await, hub.agent("Cy").await);
    let made = ada.post_empty("/pair/generate").await.ok(201);
    assert_eq!(made["expiresAt"], "2027-01-15T08:10:00.000Z");
    let code = made["code"].as_str().unwrap();
    let parts: Vec<&str> = code.split('-').collect();
    assert!(
        parts.len() == 3 && parts[2].len() == 4 && parts[2].bytes().all(|b| b.is_ascii_digit()),
        "{code}"
    );
    ada.post("/pair/connect", json!({ "code": code })).await.refused(400, "validation");

    let connected = bob.post("/pair/connect", json!({ "code": code.to_lowercase() })).await.ok(201);
    assert_eq!(
        connected,
        json!({
            "connectionId": connected["connectionId"], "id": connected["connectionId"], "agentId": ada.id,
            "agentName": "Ada", "name": "Ada", "publicKey": null, "description": null, "capabilities": [],
        })
    );
    for (agent, other) in [(&ada, &bob), (&bob, &ada)] {
        let event = agent.last_event().await;
        assert_eq!(event["type"], "agent.connected");
        assert_eq!(event["taskId"], Value::Null);
        assert_eq!(
            event["data"],
            json!({
                "type": "agent.connected", "connectionId": connected["connectionId"], "withAgentId": other.id,
                "withAgentName": other.name, "pairingId": event["data"]["pairingId"], "fromAgentName": other.name,
            })
        );
    }
    cy.post("/pair/connect", json!({ "code": code })).await.refused(404, "not_found");
    let again = ada.post_empty("/pair/generate").await.text("code");
    bob.post("/pair/connect", json!({ "code": again })).await.refused(409, "already_connected");
}

#[rstest]
#[tokio::test]
async fn a_code_runs_out_after_ten_minutes(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let code = ada.post_empty("/pair/generate").await.text("code");
    let other = ada.post_empty("/pair/generate").await.text("code");
    hub.advance_ms(599_999);
    bob.post("/pair/connect", json!({ "code": code })).await.ok(201);
    hub.advance_ms(1);
    bob.post("/pair/connect", json!({ "code": other })).await.refused(404, "not_found");
    for bad in [json!({}), json!({ "code": 7 }), json!({ "code": "" }), json!({ "code": "a\u{0}b" })] {
        bob.post("/pair/connect", bad).await.refused(400, "validation");
    }
}

#[rstest]
#[tokio::test]
async fn wrong_codes_are_throttled_for_a_key_and_for_an_address(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.pair_attempts_max = 2).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let code = ada.post_empty("/pair/generate").await.text("code");
    let guess = json!({ "code": "WRONG-GUESS-0000" });
    for _ in 0..2 {
        bob.post("/pair/connect", guess.clone()).await.refused(404, "not_found");
    }
    // Even the right code waits now: otherwise guessing would go on.
    let refused = bob.post("/pair/connect", json!({ "code": code })).await;
    refused.refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("60"));
    // Three times as many for the address, whoever asks.
    for name in ["Cy", "Di"] {
        let agent = hub.agent(name).await;
        for _ in 0..2 {
            agent.post("/pair/connect", guess.clone()).await.refused(404, "not_found");
        }
    }
    let eve = hub.agent("Eve").await;
    eve.post("/pair/connect", json!({ "code": code })).await.refused(429, "rate_limited");
    hub.advance_ms(60_000);
    bob.post("/pair/connect", json!({ "code": code })).await.ok(201);
}

#[rstest]
#[tokio::test]
async fn many_guesses_at_once_are_no_more_than_one_by_one(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.pair_attempts_max = 3).await;
    let bob = hub.agent("Bob").await;
    let guesses = (0..12).map(|_| bob.post("/pair/connect", json!({ "code": "WRONG-GUESS-0000" })));
    let replies = futures_util::future::join_all(guesses).await;
    let tried = replies.iter().filter(|reply| reply.status == 404).count();
    let refused = replies.iter().filter(|reply| reply.status == 429).count();
    assert_eq!((tried, refused), (3, 9));
    // What is right, or no code at all, does not count.
    hub.advance_ms(60_000);
    for _ in 0..4 {
        bob.post("/pair/connect", json!({})).await.refused(400, "validation");
        let peer = hub.agent("Peer").await;
        let code = peer.post_empty("/pair/generate").await.text("code");
        bob.post("/pair/connect", json!({ "code": code })).await.ok(201);
    }
}

#[rstest]
#[tokio::test]
async fn a_code_is_redeemed_by_one_of_many(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    let mut others = Vec::new();
    for number in 0..6 {
        others.push(hub.agent(&format!("Other {number}")).await);
    }
    let code = ada.post_empty("/pair/generate").await.text("code");
    let redeem = others.iter().map(|agent| agent.post("/pair/connect", json!({ "code": code })));
    let replies = futures_util::future::join_all(redeem).await;
    let won = replies.iter().filter(|reply| reply.status == 201).count();
    let lost = replies.iter().filter(|reply| reply.status == 404).count();
    assert_eq!((won, lost), (1, 5));
    assert_eq!(ada.get("/connections").await.ok(200).as_array().unwrap().len(), 1);
}

#[rstest]
#[tokio::test]
async fn an_agent_has_a_hundred_open_codes_at_most(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    for _ in 0..100 {
        ada.post_empty("/pair/generate").await.ok(201);
    }
    let refused = ada.post_empty("/pair/generate").await;
    refused.refused(429, "too_many_codes");
    assert!(refused.header("retry-after").is_some());
    hub.advance_ms(600_000);
    ada.post_empty("/pair/generate").await.ok(201);
}

/// The owner of a code learns from the event that just this code was redeemed.
#[rstest]
#[tokio::test]
async fn a_connection_names_the_offer_that_made_it(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let offers =
        [ada.post_empty("/pair/generate").await.ok(201), ada.post_empty("/pair/generate").await.ok(201)];
    assert!(offers[0]["pairingId"].is_string() && offers[0]["pairingId"] != offers[1]["pairingId"]);
    bob.post("/pair/connect", json!({ "code": offers[1]["code"] })).await.ok(201);
    for agent in [&ada, &bob] {
        let told = agent.last_event().await;
        assert_eq!(
            (&told["type"], &told["data"]["pairingId"]),
            (&json!("agent.connected"), &offers[1]["pairingId"])
        );
    }
    let eve = hub.agent("Eve").await;
    ada.patch("/agents/me", json!({ "autoAccept": true })).await.ok(200);
    eve.post_empty(&format!("/connect/{}", ada.id)).await.ok(201);
    assert!(ada.last_event().await["data"].get("pairingId").is_none());
}
