//! `tandem trust`: comparing and accepting the public keys of others.

use serde_json::json;

use super::{Cli, foreign_key, mode};
use crate::harness::{Db, Harness};

#[tokio::test]
async fn a_changed_key_is_shown_and_has_to_be_accepted() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    cli.register("ada").await;
    let text = std::fs::read_to_string(cli.config().join("agents/ada.toml")).unwrap();
    let key = text.lines().find_map(|line| line.strip_prefix("api_key = ")).unwrap().trim_matches('"');
    let old = std::fs::read_to_string(super::TEST_KEY_FILE).unwrap();
    let old = tandem_seal::PublicKey::from_pem(&old).unwrap();
    let bob = hub.agent_with(json!({ "name": "bob", "publicKey": old.to_pem() })).await;
    let code = bob.post_empty("/pair/generate").await.text("code");
    let connect = json!({ "code": code });
    hub.client.send("POST", "/pair/connect", Some(key), Some(connect)).await.ok(201);

    cli.run(&["trust", "eve"]).await.failed(3, "tandem connections");
    let ran = cli.ok(&["trust", "bob"]).await;
    assert!(ran.stdout.contains(&old.fingerprint().words()) && ran.stdout.contains("not yet"), "{ran:?}");
    assert_eq!(cli.json(&["trust", "bob"]).await["state"], "new", "looking pins nothing");
    // Only the key whose words were compared, however they are written.
    cli.run(&["trust", "bob", "--accept"]).await.failed(2, "--accept");
    let words = old.fingerprint().words();
    for wrong in [words.replacen(' ', " x", 1), words.split_once(' ').unwrap().1.to_owned(), String::new()] {
        cli.run(&["trust", "bob", "--accept", &wrong]).await.failed(1, "other words");
    }
    assert_eq!(cli.json(&["trust", "bob"]).await["state"], "new", "nothing was accepted");
    cli.ok(&["trust", "bob", "--accept", &words.to_uppercase().replace(' ', "-")]).await;
    assert_eq!(mode(&cli.config().join("agents/ada.pins")), 0o600);
    assert_eq!(cli.json(&["trust", "bob"]).await["state"], "same");

    let new = tandem_seal::PrivateKey::from_pem(&foreign_key()).unwrap().public().clone();
    let sql = format!("update agents set public_key = '{}' where id = '{}'", new.to_pem(), bob.id);
    hub.place.execute(&sql);
    let ran = cli.run(&["trust", "bob"]).await;
    ran.failed(1, "--accept");
    for key in [&old, &new] {
        assert!(ran.stdout.contains(&key.fingerprint().words()), "{ran:?}");
    }
    // The hub has swapped the key after the owner has looked.
    cli.run(&["trust", "bob", "--accept", &words]).await.failed(1, "other words");
    let view = cli.json(&["trust", "bob", "--accept", &new.fingerprint().words()]).await;
    assert_eq!((&view["state"], &view["accepted"]), (&json!("changed"), &json!(true)));
    assert_eq!(
        (&view["pinned"], &view["presented"]),
        (&json!(old.fingerprint().hex()), &json!(new.fingerprint().hex()))
    );
    assert_eq!(cli.json(&["trust", "bob"]).await["state"], "same");
    // A damaged file is an error, not a clean slate.
    std::fs::write(cli.config().join("agents/ada.pins"), "{").unwrap();
    cli.run(&["trust", "bob"]).await.failed(1, "ada.pins");
}

#[tokio::test]
async fn both_sides_of_a_pairing_pin_the_key_that_was_shown() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    cli.register("ada").await;
    let key =
        tandem_seal::PublicKey::from_pem(&std::fs::read_to_string(super::TEST_KEY_FILE).unwrap()).unwrap();
    let join = async |name: &str| {
        let body = json!({ "name": name, "publicKey": key.to_pem() });
        hub.agent_with(body).await
    };
    let (bob, cy, dee) = (join("bob").await, join("cy").await, join("dee").await);
    // Ada redeems, offers, and connects by the directory.
    let code = bob.post_empty("/pair/generate").await.text("code");
    cli.ok(&["pair", &code]).await;
    let mut pairing = cli.command(&["pair", "--json"]).spawn().unwrap();
    use tokio::io::AsyncBufReadExt as _;
    let mut lines = tokio::io::BufReader::new(pairing.stdout.take().unwrap()).lines();
    let offer: serde_json::Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    cy.post("/pair/connect", json!({ "code": offer["code"] })).await.ok(201);
    let ended = tokio::time::timeout(crate::harness::PATIENCE, pairing.wait()).await.unwrap().unwrap();
    assert_eq!(ended.code(), Some(0));
    dee.patch("/agents/me", json!({ "autoAccept": true, "discoverable": true })).await.ok(200);
    cli.ok(&["connect", &dee.id]).await;
    for (name, agent) in [("bob", &bob), ("cy", &cy), ("dee", &dee)] {
        assert_eq!(cli.json(&["trust", name]).await["state"], "same", "{name}");
        let new = tandem_seal::PrivateKey::from_pem(&foreign_key()).unwrap().public().to_pem();
        hub.place.execute(&format!("update agents set public_key = '{new}' where id = '{}'", agent.id));
        cli.run(&["trust", name]).await.failed(1, "has changed");
    }
}
