//! The vectors in sdk/vectors that the packages of other languages are checked with. This code writes them if
//! TANDEM_WRITE_VECTORS is set; otherwise it says whether they are what it would write. What is random in them, the sealed
//! content, is opened instead of compared.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tandem_seal::webhooks::headers;
use tandem_seal::{ContentType, Description, Envelope as _, Error, File, Message, Sealed, WORDS, open};

use crate::cast::{Cast, TASK, key, vectors};

const NOW: i64 = 1_800_000_000;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sdk/vectors").join(format!("{name}.json"))
}

fn is_to_write() -> bool {
    std::env::var_os("TANDEM_WRITE_VECTORS").is_some()
}

fn write(name: &str, made: &Value) {
    fs::write(path(name), serde_json::to_string_pretty(made).unwrap() + "\n").unwrap();
}

fn read(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path(name)).unwrap()).unwrap()
}

/// Compares a file with what it should be, or writes it.
fn check(name: &str, made: &Value) {
    if is_to_write() {
        write(name, made);
    }
    assert!(
        read(name) == *made,
        "sdk/vectors/{name}.json is out of date: run TANDEM_WRITE_VECTORS=1 cargo nextest run vectors"
    );
}

#[test]
fn keys_and_fingerprints_of_the_vectors_are_current() {
    let keys = vectors("keys")["keys"].clone();
    let mut shown = serde_json::Map::new();
    for name in ["ana", "bob", "cyd"] {
        let (private, public) = (&keys[name]["private"], &keys[name]["public"]);
        let print = key(name).public().fingerprint();
        let entry = json!({ "private": private, "public": public, "fingerprint": print.hex(), "words": print.words() });
        shown.insert(name.into(), entry);
    }
    let examples: Vec<Value> = shown
        .values()
        .map(|one| json!({ "public": one["public"], "hex": one["fingerprint"], "words": one["words"] }))
        .collect();
    check("keys", &Value::Object(shown));
    check("fingerprints", &json!({ "words": WORDS.to_vec(), "examples": examples }));
}

/// What is sealed in the vectors: kind, sender and plaintext.
fn plaintexts() -> Vec<(&'static str, &'static str, String)> {
    let text = |value: Value| value.to_string();
    vec![
        (
            "description",
            "ana",
            text(json!({ "title": "Übersetzen ✓", "description": "Zwei Seiten\nbis \"morgen\"" })),
        ),
        ("description", "bob", text(json!({ "title": "Nothing else", "description": "" }))),
        ("message", "bob", text(json!({ "contentType": "text", "body": "für dich\u{1F511}" }))),
        ("message", "ana", text(json!({ "contentType": "json", "body": "{\"a\":[1,2]}" }))),
        (
            "file",
            "ana",
            text(json!({ "filename": "../büro.bin", "mimeType": "image/png", "data": "AAECAwT/" })),
        ),
        ("file", "bob", text(json!({ "filename": "empty", "mimeType": "text/plain", "data": "" }))),
    ]
}

fn sealed_by(kind: &str, sender: &str, plaintext: &str, cast: &Cast) -> Sealed {
    let key = if sender == "ana" { &cast.ana } else { &cast.bob };
    match kind {
        "description" => {
            serde_json::from_str::<Description>(plaintext).unwrap().seal(TASK, key, cast.pair()).unwrap()
        }
        "message" => {
            serde_json::from_str::<Message>(plaintext).unwrap().seal(TASK, key, cast.pair()).unwrap()
        }
        _ => serde_json::from_str::<File>(plaintext).unwrap().seal(TASK, key, cast.pair()).unwrap(),
    }
}

/// Content that must be refused, with the reason: what another implementation has made, and keys that were taken away.
fn refused(cast: &Cast) -> Vec<Value> {
    let mut refused = Vec::new();
    for one in vectors("sealed")["refused"].as_array().unwrap() {
        for reader in ["ana", "bob"] {
            refused.push(json!({
                "why": one["why"], "sender": "ana", "reader": reader, "sealed": one["sealed"], "error": one["error"],
            }));
        }
    }
    let said = Message { content_type: ContentType::Text, body: "x".into() };
    let sealed = said.seal(TASK, &cast.ana, cast.pair()).unwrap();
    let with = |why: &str, reader: &str, error: &str, change: &dyn Fn(&mut Sealed)| {
        let mut sealed = sealed.clone();
        change(&mut sealed);
        json!({ "why": why, "sender": "ana", "reader": reader, "sealed": sealed, "error": error })
    };
    refused.push(with("one wrapped key", "ana", "keys", &|sealed| drop(sealed.keys.remove("agent_bob"))));
    refused.push(with("no wrapped key for the reader", "bob", "not_for_you", &|sealed| {
        let wrapped = sealed.keys.remove("agent_bob").unwrap();
        sealed.keys.insert("agent_cyd".into(), wrapped);
    }));
    refused.push(with("a wrapped key that is no base64", "ana", "keys", &|sealed| {
        sealed.keys.insert("agent_ana".into(), "*".into());
    }));
    refused.push(with("the other agent's wrapped key", "ana", "closed", &|sealed| {
        let wrapped = sealed.keys["agent_bob"].clone();
        sealed.keys.insert("agent_ana".into(), wrapped);
    }));
    refused.push(with("the signature of another agent", "ana", "signature", &|sealed| {
        let other = said.seal(TASK, &cast.bob, cast.pair()).unwrap();
        sealed.signature = other.signature;
    }));
    refused
}

fn word_of(error: &Error) -> &'static str {
    match error {
        Error::Signature(_) => "signature",
        Error::Content(_) => "content",
        Error::Keys(_) => "keys",
        Error::NotForYou => "not_for_you",
        Error::Closed => "closed",
        _ => "another",
    }
}

#[test]
fn sealed_vectors_are_current() {
    let cast = Cast::new();
    if is_to_write() {
        let seal = |(kind, sender, plaintext): &(&str, &str, String)| {
            json!({
                "kind": kind, "sender": sender, "plaintext": plaintext,
                "sealed": sealed_by(kind, sender, plaintext, &cast),
            })
        };
        let opened: Vec<Value> = plaintexts().iter().map(seal).collect();
        let agents = json!({ "ana": "agent_ana", "bob": "agent_bob" });
        write(
            "sealed",
            &json!({ "taskId": TASK, "agents": agents, "opened": opened, "refused": refused(&cast) }),
        );
    }
    let made = read("sealed");
    assert_eq!(made["taskId"], TASK);
    let readers =
        |reader: &str| if reader == "ana" { ("agent_ana", &cast.ana) } else { ("agent_bob", &cast.bob) };
    let opened = made["opened"].as_array().unwrap();
    assert_eq!(opened.len(), plaintexts().len());
    for (one, (kind, sender, plaintext)) in opened.iter().zip(plaintexts()) {
        assert_eq!(
            (&one["kind"], &one["sender"], &one["plaintext"]),
            (&json!(kind), &json!(sender), &json!(plaintext))
        );
        let sealed: Sealed = serde_json::from_value(one["sealed"].clone()).unwrap();
        for reader in ["ana", "bob"] {
            let found = open(TASK, &sealed, readers(reader), readers(sender).1.public()).unwrap();
            assert_eq!(found, plaintext.as_bytes(), "{kind} by {sender}");
        }
    }
    let wanted = refused(&cast);
    let refused = made["refused"].as_array().unwrap();
    assert_eq!(refused.len(), wanted.len());
    for (one, wanted) in refused.iter().zip(wanted) {
        for field in ["why", "sender", "reader", "error"] {
            assert_eq!(one[field], wanted[field]);
        }
        let sealed: Sealed = serde_json::from_value(one["sealed"].clone()).unwrap();
        let reader = readers(one["reader"].as_str().unwrap());
        let error = open(TASK, &sealed, reader, cast.ana.public()).unwrap_err();
        assert_eq!(one["error"], word_of(&error), "{}", one["why"]);
    }
}

#[test]
fn webhook_vectors_are_current() {
    let body = r#"{"event":"task.created","timestamp":"2027-01-15T08:00:00.000Z","agentId":"agent_1","data":{"ü":"✓"}}"#;
    let signed = |secret: &str| {
        let all = headers(Some(secret), "msg_1", NOW, body);
        Value::Object(all.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect())
    };
    let without = |from: &Value, prefix: &str| {
        let kept = from.as_object().unwrap().iter().filter(|(name, _)| !name.starts_with(prefix));
        Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
    };
    let standard = "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH";
    let all = signed(standard);
    let mut several = all.clone();
    several["webhook-signature"] =
        json!(format!("v1,AAAA v2,x {}", all["webhook-signature"].as_str().unwrap()));
    let entry = |why: &str, secret: &str, headers: &Value, body: &str, now: i64, valid: bool| json!({ "why": why, "secret": secret, "headers": headers, "body": body, "now": now, "valid": valid });
    let mut made: Vec<Value> =
        [standard, "a plain secret of mine", "schlüssel für Webhooks", "whsec_this is not base64"]
            .iter()
            .map(|secret| entry("as the hub sends it", secret, &signed(secret), body, NOW, true))
            .collect();
    made.extend([
        entry("several signatures", standard, &several, body, NOW, true),
        entry("only the headers of Standard Webhooks", standard, &without(&all, "x-pairai"), body, NOW, true),
        entry("only the older headers", standard, &without(&all, "webhook"), body, NOW, true),
        entry("at the end of the tolerance", standard, &all, body, NOW + 300, true),
        entry("too old", standard, &all, body, NOW + 301, false),
        entry("from the future", standard, &all, body, NOW - 301, false),
        entry("another body", standard, &all, &body.replace("created", "updated"), NOW, false),
        entry("another secret", "whsec_CAgICAgICAgICAgICAgICAgICAgICAgI", &all, body, NOW, false),
        entry("no signature", standard, &headers_without_secret(), body, NOW, false),
        entry("no headers", standard, &json!({}), body, NOW, false),
    ]);
    check("webhooks", &Value::Array(made));
}

fn headers_without_secret() -> Value {
    let all = headers(None, "msg_1", NOW, "{}");
    Value::Object(all.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect())
}
