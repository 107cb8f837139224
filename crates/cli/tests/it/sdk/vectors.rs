//! The vectors that are not about sealing: words, error bodies, event frames, names and pairing codes. They are written if
//! TANDEM_WRITE_VECTORS is set, and compared otherwise.

use std::collections::HashMap;

use serde_json::{Value, json};
use tandem_api::error::{Code, ErrorBody};
use tandem_client::folded_name;
use tandem_core::pairing::PairingCode;
use tandem_core::text::is_invisible;
use tandem_core::{MOVES, Role, Roles, Status};

use super::folder;
use crate::harness::{Db, Harness, Socket};

fn check(name: &str, made: &Value) {
    let path = folder().join("vectors").join(format!("{name}.json"));
    if std::env::var_os("TANDEM_WRITE_VECTORS").is_some() {
        std::fs::write(&path, serde_json::to_string_pretty(made).unwrap() + "\n").unwrap();
    }
    let found: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert!(
        found == *made,
        "sdk/vectors/{name}.json is out of date: run TANDEM_WRITE_VECTORS=1 cargo nextest run vectors"
    );
}

#[test]
fn word_vectors_are_current() {
    let moves: Vec<Value> = MOVES
        .iter()
        .map(|(from, to, open, reviewed)| {
            let letters = [(Role::Initiator, "I"), (Role::Target, "T"), (Role::Hub, "S")];
            let who = |roles: &Roles| -> String {
                letters.iter().filter(|(role, _)| roles.contains(*role)).map(|(_, letter)| *letter).collect()
            };
            json!({ "from": from, "to": to, "open": who(open), "reviewed": who(reviewed) })
        })
        .collect();
    let terminal: Vec<Status> = Status::ALL.into_iter().filter(|status| status.is_terminal()).collect();
    check(
        "words",
        &json!({
            "terminal": terminal,
            "moves": moves,
        }),
    );
}

#[test]
fn error_vectors_are_current() {
    let mut made = Vec::new();
    for code in Code::ALL {
        let body = serde_json::to_string(&ErrorBody::new(*code, code.meaning())).unwrap();
        let kind = "refused";
        let expect = json!({ "kind": kind, "code": code.word() });
        made.push(json!({ "status": code.status(), "headers": {}, "body": body, "expect": expect }));
    }
    let task = ErrorBody {
        status: Some(Status::Working),
        next_statuses: Some(vec![Status::Completed, Status::Failed]),
        ..ErrorBody::new(Code::InvalidTransition, "no")
    };
    let expect = json!({ "kind": "refused", "code": "invalid_transition", "taskStatus": "working",
        "nextStatuses": ["completed", "failed"] });
    let body = serde_json::to_string(&task).unwrap();
    made.push(json!({ "status": 400, "headers": {}, "body": body, "expect": expect }));
    let busy = serde_json::to_string(&ErrorBody::new(Code::RateLimited, "slower")).unwrap();
    for (header, seconds) in [("7", json!(7)), ("999999999", json!(86_400)), ("soon", Value::Null)] {
        let expect = json!({ "kind": "refused", "code": "rate_limited", "retryAfter": seconds });
        made.push(
            json!({ "status": 429, "headers": { "retry-after": header }, "body": busy, "expect": expect }),
        );
    }
    let unknown = r#"{"error":"a newer hub","code":"of_a_newer_hub"}"#;
    let expect = json!({ "kind": "refused", "code": "of_a_newer_hub" });
    made.push(json!({ "status": 418, "headers": {}, "body": unknown, "expect": expect }));
    for (status, kind) in
        [(502, "lost"), (504, "lost"), (503, "unavailable"), (500, "not_a_hub"), (404, "not_a_hub")]
    {
        for body in ["<html>proxy</html>", "", "{\"error\": {\"not\": \"ours\"}}", "[]"] {
            let headers = json!({ "retry-after": "3600" });
            let expect = json!({ "kind": kind, "retryAfter": null });
            made.push(json!({ "status": status, "headers": headers, "body": body, "expect": expect }));
        }
    }
    check("errors", &Value::Array(made));
}

#[test]
fn name_vectors_are_current() {
    let mut invisible: Vec<[u32; 2]> = Vec::new();
    for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32).filter(|c| is_invisible(*c)) {
        match invisible.last_mut() {
            Some([_, last]) if *last + 1 == u32::from(c) => *last += 1,
            _ => invisible.push([u32::from(c); 2]),
        }
    }
    let names = [
        "Bob",
        " bob\u{a0} ",
        "B\u{200b}ob",
        "BOB  the\tBuilder",
        "ＢＯＢ",
        "Straße",
        "STRASSE",
        "İstanbul",
        "ﬁle",
        "Ångström",
        "A\u{30a}ngstro\u{308}m",
        "Σίσυφος",
        "\u{202e}evil",
        "поб",
        "e\u{301}",
        "\u{1f468}\u{200d}\u{1f469}",
        "",
    ];
    let names: Vec<Value> =
        names.iter().map(|name| json!({ "name": name, "folded": folded_name(name) })).collect();
    check("names", &json!({ "invisible": invisible, "names": names }));
}

#[test]
fn pairing_vectors_are_current() {
    let made: Vec<Value> = ["BLUE-TIGER-4231", "blue-tiger-4231", " Blue tiger  4231 ", "blue--TIGER 4231"]
        .iter()
        .map(|typed| json!({ "typed": typed, "code": PairingCode::try_from((*typed).to_owned()).unwrap().as_str() }))
        .chain([0, 1, 64, 64 * 128, u64::MAX].map(|bits| {
            let code = PairingCode::from_random(bits);
            json!({ "typed": code.as_str(), "code": code.as_str() })
        }))
        .collect();
    check("pairing", &Value::Array(made));
}

/// Ids and times of a hub that are not the same the next time become names that are.
fn renamed(text: &str, names: &mut HashMap<String, String>) -> String {
    let is_id = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut made = String::new();
    for word in text.split_inclusive(|c| !is_id(c)) {
        let (word, end) = match word.char_indices().last() {
            Some((at, c)) if !is_id(c) => word.split_at(at),
            _ => (word, ""),
        };
        let kind =
            ["agent_", "task_", "msg_", "conn_", "pair_"].into_iter().find(|kind| word.starts_with(kind));
        match kind.filter(|kind| word.len() > kind.len() + 12) {
            Some(kind) => {
                let number = names.len() + 1;
                made.push_str(names.entry(word.to_owned()).or_insert_with(|| format!("{kind}{number}")));
            }
            None => made.push_str(word),
        }
        made.push_str(end);
    }
    made
}

#[tokio::test]
async fn event_vectors_are_current() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "title": "One", "sessionKey": "a \"key\" ü" })).await;
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "hello" })).await.ok(201);
    ada.set(&task, "cancelled").await.ok(200);
    let mut socket = Socket::open(&bob.client, "/ws?after=0", Some(&bob.key)).await.unwrap();
    let mut names = HashMap::new();
    let mut made = Vec::new();
    for _ in 0..5 {
        let text = socket.next().await.unwrap().to_string().replace(&hub.hub.epoch, "epoch1");
        let text = renamed(&text, &mut names);
        let frame: Value = serde_json::from_str(&text).unwrap();
        let is_greeting = frame["type"] == "connected";
        let mut expect = json!({ "connected": is_greeting, "cursor": frame["cursor"] });
        if is_greeting {
            expect["epoch"] = frame["epoch"].clone();
        } else {
            for field in ["type", "taskId", "fromAgentId", "createdAt", "data"] {
                expect[field] = frame[field].clone();
            }
        }
        made.push(json!({ "frame": text, "expect": expect }));
    }
    check("events", &Value::Array(made));
}
