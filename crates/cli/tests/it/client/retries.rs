//! Repetition of calls, against a server that answers as it is told to.

use std::time::{Duration, Instant};

use rstest::rstest;
use serde_json::json;
use tandem_api::error::Code;
use tandem_client::{ApiKey, Error, Followed, Notice, Upload};
use tokio::net::TcpListener;

use super::server::{Answer, Server, json_answer};
use super::{client_at, wire};
use crate::backup::Shelf;
use crate::harness::PATIENCE;

fn refusal(status: &str, headers: &str, code: &str) -> Answer {
    json_answer(status, headers, json!({ "error": "not now", "code": code }))
}

fn healthy() -> Answer {
    json_answer("200 OK", "", json!({ "status": "ok", "version": "1" }))
}

/// The profile of an agent.
fn profile() -> Answer {
    let profile = json!({
        "id": "agent_1", "name": "Ada", "publicKey": null, "description": null, "capabilities": [],
        "metadata": null, "discoverable": false, "autoAccept": false, "defaultApprovalRule": null, "a2a": "connected", "skills": [],
        "webhookUrl": null, "webhookEvents": [], "webhookActive": false, "webhookSecretFormat": null,
        "costsCredits": false, "credits": 0.5, "createdAt": "2030-01-01T00:00:00.000Z", "online": true,
        "lastSeenAt": null, "reach": "never", "reachConfirmedAt": null,
    });
    json_answer("200 OK", "", profile)
}

/// An answer to a pairing code.
fn paired() -> Answer {
    json_answer(
        "200 OK",
        "",
        json!({ "pairingId": "pair_1", "code": "BLUE-TIGER-4231", "expiresAt": "2030-01-01T00:00:00.000Z" }),
    )
}

#[rstest]
#[case::busy(refusal("503 Unavailable", "retry-after: 1\r\n", "unavailable"), 1_000)]
#[case::limited(refusal("429 Too Many", "retry-after: 1\r\n", "rate_limited"), 1_000)]
#[case::lost(Answer::Close, 0)]
#[case::proxy(Answer::Send("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 6\r\n\r\n<html>".into()), 0)]
#[tokio::test]
async fn a_call_is_repeated_with_the_same_key(#[case] failure: Answer, #[case] at_least_ms: u64) {
    let server = Server::start(&[healthy(), failure.clone(), failure, paired()]).await;
    let client = server.client();
    client.health().await.unwrap();
    let started = Instant::now();
    client.create_pairing_code().await.unwrap();
    assert!(started.elapsed() >= Duration::from_millis(2 * at_least_ms), "Retry-After counts");
    let keys = server.keys();
    assert_eq!(keys.len(), 4);
    assert!(keys[1].len() >= 32 && keys[1] == keys[2] && keys[2] == keys[3], "{keys:?}");
    client.create_pairing_code().await.unwrap();
    assert_ne!(server.keys()[4], keys[3], "another call has another key");
}

#[rstest]
#[tokio::test]
async fn a_call_gives_up_in_time() {
    let server = Server::start(&[healthy(), Answer::Close]).await;
    let client = server.client().with_patience(Duration::from_secs(1));
    client.health().await.unwrap();
    let started = Instant::now();
    let error = client.create_pairing_code().await.unwrap_err();
    assert!(matches!(error, Error::Lost { .. }), "{error}");
    assert!(started.elapsed() < PATIENCE && server.count() >= 2);
    // A wait that does not fit is not begun.
    let later = refusal("503 Unavailable", "retry-after: 100\r\n", "unavailable");
    let server = Server::start(&[later]).await;
    let started = Instant::now();
    let error = server.client().health().await.unwrap_err();
    assert_eq!(error.code(), Some(Code::Unavailable));
    let Error::Refused(refused) = error else { panic!() };
    assert_eq!(refused.retry_after, Some(Duration::from_secs(100)));
    assert!(started.elapsed() < PATIENCE && server.count() == 1);
    // Without patience there is one attempt.
    let server = Server::start(&[Answer::Close]).await;
    server.client().with_patience(Duration::ZERO).health().await.unwrap_err();
    assert_eq!(server.count(), 1);
}

/// The hub takes nothing of an upload that it refuses, so a long pause is the caller's business, as with any other call.
#[rstest]
#[tokio::test]
async fn a_transfer_waits_for_the_hub_as_long_as_other_calls(
    #[values("429 Too Many", "503 Unavailable")] status: &str,
) {
    let code = if status.starts_with("429") { "rate_limited" } else { "unavailable" };
    let server = Server::start(&[refusal(status, "retry-after: 60\r\n", code)]).await;
    let shelf = Shelf::new();
    let path = shelf.file("a.txt");
    std::fs::write(&path, "a").unwrap();
    let file = Upload { path, filename: "a.txt".into(), mime_type: "text/plain".into() };
    let started = Instant::now();
    let error = server.client().upload(&"task_1".parse().unwrap(), &file, |_| {}).await.unwrap_err();
    assert_eq!(error.code().map(|code| code.to_string()), Some(code.to_owned()));
    // Only heads of requests have a key; pieces of the body may count as well.
    let count = |server: &Server| server.keys().iter().filter(|key| !key.is_empty()).count();
    assert!(started.elapsed() < PATIENCE && count(&server) == 1);
    // Short ones are waited for, as long as they fit together: three do, and fewer on a machine that is busy.
    let server = Server::start(&[refusal(status, "retry-after: 1\r\n", code)]).await;
    let client = server.client().with_patience(Duration::from_millis(2_900));
    client.upload(&"task_1".parse().unwrap(), &file, |_| {}).await.unwrap_err();
    assert!((2..=3).contains(&count(&server)), "{}", count(&server));
}

/// The lost answer would have held the key, and a second agent would be there.
#[rstest]
#[tokio::test]
async fn a_registration_without_an_answer_is_repeated_with_the_same_key() {
    let taken = refusal("409 Conflict", "", "key_taken");
    let server = Server::start(&[healthy(), Answer::Close, taken, profile()]).await;
    let client = server.client();
    client.health().await.unwrap();
    let key = ApiKey::generate().unwrap();
    // The repetition is told that the key is taken, and the key works: the first one had taken effect.
    let (agent, valid) = client.register(&wire(json!({ "name": "Ada" })), &key).await.unwrap();
    assert_eq!((agent.id.as_str(), &valid, server.count()), ("agent_1", &key, 4));
    let keys = server.keys();
    assert!(!keys[1].is_empty() && keys[1] == keys[2], "{keys:?}");
    // One that was refused has not taken effect.
    let limited = refusal("429 Too Many", "retry-after: 0\r\n", "rate_limited");
    let server = Server::start(&[limited, refusal("400 Bad Request", "", "validation")]).await;
    let error = server.client().register(&wire(json!({ "name": "Ada" })), &key).await.unwrap_err();
    assert_eq!((error.code(), server.count()), (Some(Code::Validation), 2));
}

/// The proxy has passed the call on, so the new key may exist.
#[rstest]
#[tokio::test]
async fn an_answer_of_a_proxy_is_a_lost_one(
    #[values("502 Bad Gateway", "504 Gateway Timeout")] status: &str,
) {
    let page = Answer::Send(format!("HTTP/1.1 {status}\r\ncontent-length: 6\r\n\r\n<html>"));
    let server = Server::start(&[healthy(), page]).await;
    let client = server.client().with_patience(Duration::ZERO);
    client.health().await.unwrap();
    let key = ApiKey::generate().unwrap();
    for error in [
        client.register(&wire(json!({ "name": "Ada" })), &key).await.unwrap_err(),
        client.rotate_key(&key).await.unwrap_err(),
    ] {
        assert!(matches!(error, Error::Lost { .. }) && error.may_have_taken_effect(), "{error}");
        assert!(error.to_string().contains(status), "{error}");
    }
    // Each is followed by a look whether the new key works.
    assert_eq!(server.count(), 5);
    // The hub's own word counts.
    let server = Server::start(&[refusal(status, "", "internal")]).await;
    let error = server.client().rotate_key(&key).await.unwrap_err();
    assert!(error.code() == Some(Code::Internal) && !error.may_have_taken_effect(), "{error}");
}

#[rstest]
#[tokio::test]
async fn refusals_and_strangers_are_not_asked_again() {
    let html = Answer::Send("HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n<html></html>".into());
    let server = Server::start(&[html]).await;
    let error = server.client().health().await.unwrap_err();
    assert!(matches!(error, Error::NotAHub { .. }) && server.count() == 1, "{error}");
    let server = Server::start(&[refusal("409 Conflict", "x-request-id: r1\r\n", "id_taken")]).await;
    let error = server.client().create_pairing_code().await.unwrap_err();
    assert_eq!((error.code(), server.count()), (Some(Code::IdTaken), 1));
    let Error::Refused(refused) = error else { panic!() };
    assert_eq!((refused.status, refused.request_id.as_deref()), (409, Some("r1")));
    // Nobody there, and nobody was there before: no reason to wait.
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let started = Instant::now();
    let error = client_at(gone, "tdm_key").health().await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert!(started.elapsed() < PATIENCE);
}

/// A page for maintenance may name an hour. A stream that waited for so long would be deaf when the hub is back.
#[rstest]
#[case::by_a_proxy(
    Answer::Send("HTTP/1.1 503 Unavailable\r\nretry-after: 3600\r\ncontent-length: 6\r\n\r\n<html>".into()),
    Duration::ZERO..=Duration::from_secs(10)
)]
#[case::by_the_hub(
    refusal("503 Unavailable", "retry-after: 3600\r\n", "unavailable"),
    Duration::from_secs(60)..=Duration::from_secs(60)
)]
#[tokio::test]
async fn a_stream_does_not_wait_for_an_hour(
    #[case] answer: Answer,
    #[case] expected: std::ops::RangeInclusive<Duration>,
) {
    let server = Server::start(&[answer]).await;
    let mut stream = server.client().follow(None);
    match stream.next().await.unwrap() {
        Followed::Notice(Notice::Lost { retry_in, .. }) => {
            assert!(expected.contains(&retry_in), "{retry_in:?}")
        }
        other => panic!("{other:?}"),
    }
}
