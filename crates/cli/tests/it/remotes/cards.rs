//! Which cards are taken, and what a change of one does to a remote.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rstest::rstest;
use serde_json::{Value, json};

use super::{Answer, Elsewhere, becomes, send, shown, start};
use crate::harness::{Agent, Db, Harness, eventually};

const DAY_MS: i64 = 24 * 3_600 * 1_000;

/// A key that signs cards.
struct Signer(EcdsaKeyPair);

impl Signer {
    fn new() -> Self {
        let document =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref()).unwrap())
    }

    fn jwk(&self) -> Value {
        let (x, y) = self.0.public_key().as_ref()[1..].split_at(32);
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        json!({ "kty": "EC", "crv": "P-256", "x": encode(x), "y": encode(y), "kid": "k" })
    }

    /// Signs a card whose fields are in the order of their names already, as JSON of tests is.
    fn sign(&self, card: &mut Value, key_set: &str) {
        card.as_object_mut().unwrap().remove("signatures");
        let header = json!({ "alg": "ES256", "typ": "JOSE", "kid": "k", "jku": key_set });
        let protected = URL_SAFE_NO_PAD.encode(header.to_string());
        let signed = format!("{protected}.{}", URL_SAFE_NO_PAD.encode(sorted(card).to_string()));
        let signature = self.0.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
        let signature = URL_SAFE_NO_PAD.encode(signature.as_ref());
        card["signatures"] = json!([{ "protected": protected, "signature": signature }]);
    }
}

/// JSON with its names in order: plain names, so that this is the canonical form.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|field| field.0);
            Value::Object(fields.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        plain => plain.clone(),
    }
}

async fn refused(owner: &Agent, far: &Elsewhere, field: &str) -> String {
    let reply = owner.post("/a2a/remotes", json!({ "cardUrl": far.card_url() })).await;
    let details = reply.refused(400, "validation")["details"].clone();
    details[field][0].as_str().unwrap_or_else(|| panic!("{details}")).to_owned()
}

#[rstest]
#[tokio::test]
async fn a_card_that_cannot_be_used_is_refused_with_the_reason() {
    let hub = start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let url = format!("http://{}", hub.client.address);
    let bad: [(&str, &str, Value); 8] = [
        ("cardUrl", "interface", json!({ "supportedInterfaces": [] })),
        (
            "cardUrl",
            "interface",
            json!({ "supportedInterfaces":
            [{ "url": "x", "protocolBinding": "GRPC", "protocolVersion": "1.0" }] }),
        ),
        (
            "cardUrl",
            "interface",
            json!({ "supportedInterfaces":
            [{ "url": "x", "protocolBinding": "JSONRPC", "protocolVersion": "0.3" }] }),
        ),
        (
            "allowOrigins",
            "https://other.example",
            json!({ "supportedInterfaces":
            [{ "url": "https://other.example/a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }] }),
        ),
        (
            "cardUrl",
            "urn:needed",
            json!({ "capabilities":
            { "extensions": [{ "uri": "urn:needed", "required": true }] } }),
        ),
        (
            "cardUrl",
            "credentials",
            json!({ "securitySchemes": { "k": { "mtlsSecurityScheme": {} } },
            "securityRequirements": [{ "schemes": { "k": {} } }] }),
        ),
        (
            "cardUrl",
            "of this hub",
            json!({ "supportedInterfaces":
            [{ "url": "http://127.0.0.1:1/a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }] }),
        ),
        ("cardUrl", "name", json!({ "name": "" })),
    ];
    for (field, says, change) in bad {
        let far = Elsewhere::start().await;
        far.set_card(|card| card.as_object_mut().unwrap().extend(change.as_object().unwrap().clone()));
        let why = refused(&ada, &far, field).await;
        assert!(why.contains(says), "{says}: {why}");
    }
    let far = Elsewhere::start().await;
    far.set_card(|card| *card = Value::Null);
    for (answer, says) in [
        (Answer::Status(302, format!("location: {url}/\r\n")), "redirects"),
        (Answer::Status(404, String::new()), "404"),
        (Answer::Status(200, "no card".into()), "JSON"),
        (Answer::Large(300 * 1024), "larger"),
        (Answer::HangUp, "connection"),
    ] {
        far.set_script(move |_| answer.clone());
        let why = refused(&ada, &far, "cardUrl").await;
        assert!(why.contains(says), "{says}: {why}");
    }
    // Of a public address only, unless the operator allows others.
    let strict = Harness::start(Db::Sqlite).await;
    let eve = strict.agent("Eve").await;
    let far = Elsewhere::start().await;
    refused(&eve, &far, "cardUrl").await;
    assert_eq!(far.calls("GET").len(), 0);
}

#[rstest]
#[tokio::test]
async fn a_signature_is_verified_and_its_key_is_pinned(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let ada = hub.agent("Ada").await;
    let (signer, other) = (Signer::new(), Signer::new());
    let far = Elsewhere::start().await;
    let keys = |signer: &Signer| {
        let set = json!({ "keys": [signer.jwk()] }).to_string();
        move |seen: &super::Seen| match (seen.path.as_str(), seen.method.as_str()) {
            ("/keys", _) => Answer::Status(200, set.clone()),
            (_, "SendMessage") => {
                let said = json!({ "messageId": "m", "role": "ROLE_AGENT", "parts": [{ "text": "done" }] });
                Answer::Result(json!({ "message": said }))
            }
            _ => Answer::Error(-32001, "no"),
        }
    };
    let key_set = format!("{}/keys", far.url());
    // A key set of another origin counts for nothing, whatever it holds.
    let liar = Elsewhere::start_with(keys(&signer)).await;
    far.set_script(keys(&other));
    far.set_card(|card| signer.sign(card, &format!("{}/keys", liar.url())));
    assert!(refused(&ada, &far, "cardUrl").await.contains("verified"));
    assert_eq!(liar.calls("GET").len(), 0, "it is not even asked");
    far.set_card(|card| signer.sign(card, &key_set));
    assert!(refused(&ada, &far, "cardUrl").await.contains("verified"));

    far.set_script(keys(&signer));
    let remote = far.add(&ada, json!({})).await;
    assert_eq!(shown(&ada).await["signature"], "verified");
    far.set_script(keys(&other));
    far.set_card(|card| other.sign(card, &key_set));
    hub.advance_ms(DAY_MS);
    let paused =
        eventually(async || Some(shown(&ada).await).filter(|remote| !remote["paused"].is_null())).await;
    assert_eq!(paused["paused"]["reason"], "key");
    let work = send(&ada, &remote, json!({})).await;
    hub.advance_ms(5_000);
    let waiting =
        eventually(async || Some(shown(&ada).await).filter(|remote| remote["waitingTasks"] == 1)).await;
    assert_eq!((waiting["paused"]["reason"].as_str(), far.calls("SendMessage").len()), (Some("key"), 0));
    // Its owner trusts the new key.
    let path = format!("/a2a/remotes/{remote}");
    ada.patch(&path, json!({ "paused": false })).await.refused(400, "validation");
    ada.patch(&path, json!({ "keys": null })).await.ok(200);
    becomes(&hub, &ada, &work, "completed").await;
    // From now on only keys that the owner names.
    ada.patch(&path, json!({ "keys": [signer.jwk()] })).await.refused(400, "validation");
    ada.patch(&path, json!({ "keys": [other.jwk()] })).await.ok(200);
}

#[rstest]
#[tokio::test]
async fn a_card_that_leads_elsewhere_pauses_the_remote(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let ada = hub.agent("Ada").await;
    let (far, thief) = (Elsewhere::start().await, Elsewhere::start().await);
    let auth = json!({ "type": "bearer", "value": "secret" });
    let remote = far.add(&ada, json!({ "auth": auth })).await;
    let stolen = thief.url();
    far.set_card(|card| card["supportedInterfaces"][0]["url"] = json!(stolen));
    hub.advance_ms(DAY_MS);
    let paused =
        eventually(async || Some(shown(&ada).await).filter(|remote| !remote["paused"].is_null())).await;
    assert_eq!(
        (&paused["paused"]["reason"], &paused["paused"]["detail"]),
        (&json!("origin"), &json!(stolen))
    );
    let work = send(&ada, &remote, json!({})).await;
    hub.advance_ms(5_000);
    eventually(async || Some(shown(&ada).await).filter(|remote| remote["waitingTasks"] == 1)).await;
    assert_eq!((thief.calls("SendMessage").len(), far.calls("SendMessage").len()), (0, 0));
    let allow = json!({ "allowOrigins": [stolen] });
    ada.patch(&format!("/a2a/remotes/{remote}"), allow).await.ok(200);
    becomes(&hub, &ada, &work, "completed").await;
    assert_eq!(thief.calls("SendMessage")[0].header("authorization").as_deref(), Some("Bearer secret"));
}
