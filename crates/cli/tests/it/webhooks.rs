//! Webhooks, to a real receiver.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::BodyExt as _;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rstest::rstest;
use serde_json::{Value, json};
use tandem_app::webhooks::Claim;
use tandem_core::webhooks::is_public;
use tandem_hub::webhooks::address::{Resolver, Script};
use tokio::net::TcpListener;

use crate::harness::{ADMIN_TOKEN, Agent, Db, Harness, Place, eventually};

/// What a receiver got.
#[derive(Debug, Clone)]
pub struct Got {
    headers: hyper::HeaderMap,
    pub body: String,
}

impl Got {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}")).to_str().unwrap()
    }
}

/// A receiver that answers as it is told to; once its answers are used up, the last one stays.
#[derive(Debug, Clone)]
pub struct Receiver {
    address: SocketAddr,
    got: Arc<Mutex<Vec<Got>>>,
}

/// How to answer: a status, or never.
#[derive(Debug, Clone, Copy)]
pub enum Reply {
    Status(u16),
    Hang,
}

impl Receiver {
    pub async fn start(replies: &[Reply]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let got = Arc::new(Mutex::new(Vec::new()));
        let (seen, replies) = (Arc::clone(&got), replies.to_vec());
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (seen, replies) = (Arc::clone(&seen), replies.clone());
                let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                    let (seen, replies) = (Arc::clone(&seen), replies.clone());
                    async move { answer(request, &seen, &replies).await }
                });
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection);
            }
        });
        Self { address, got }
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook?x=1", self.address)
    }

    pub fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    pub async fn wait_for(&self, count: usize) -> Vec<Got> {
        eventually(async || Some(self.got()).filter(|got| got.len() >= count)).await
    }
}

async fn answer(
    request: hyper::Request<hyper::body::Incoming>,
    seen: &Mutex<Vec<Got>>,
    replies: &[Reply],
) -> Result<hyper::Response<String>, hyper::Error> {
    assert_eq!((request.method().as_str(), request.uri().to_string().as_str()), ("POST", "/hook?x=1"));
    let headers = request.headers().clone();
    let body = String::from_utf8(request.collect().await?.to_bytes().to_vec()).unwrap();
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(Got { headers, body });
        seen.len() - 1
    };
    match replies.get(number).or(replies.last()).unwrap() {
        Reply::Hang => std::future::pending().await,
        Reply::Status(status) => {
            let mut response = hyper::Response::builder().status(*status);
            if (300..400).contains(status) {
                response = response.header("location", "http://127.0.0.1:1/elsewhere");
            }
            Ok(response.body("x".repeat(10_000)).unwrap())
        }
    }
}

pub async fn start(db: Db) -> Harness {
    Harness::start_with(db, |config| (config.webhook_allow_http, config.webhook_allow_private) = (true, true))
        .await
}

pub async fn deliveries(agent: &Agent) -> Vec<Value> {
    agent.get("/webhooks/deliveries").await.ok(200).as_array().unwrap().clone()
}

pub fn mac(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

#[rstest]
#[tokio::test]
async fn events_are_posted_with_both_signatures(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    let key = b"sixteen bytes or more";
    for secret in ["a plain secret of mine".to_owned(), format!("whsec_{}", STANDARD.encode(key))] {
        let before = receiver.got().len();
        let body = json!({ "webhookUrl": receiver.url(), "webhookSecret": secret });
        let profile = bob.patch("/agents/me", body).await.ok(200);
        assert_eq!(
            (&profile["webhookUrl"], &profile["webhookActive"]),
            (&json!(receiver.url()), &json!(true))
        );
        assert!(!profile.to_string().contains(&secret), "a secret is never shown");
        let task = ada.task(&bob).await;
        let got = receiver.wait_for(before + 1).await.pop().unwrap();
        let pushed = async || ada.view(&task).await["delivery"]["pushedAt"].as_str().map(drop);
        eventually(pushed).await;
        let (id, timestamp) = (got.header("webhook-id"), got.header("webhook-timestamp"));
        assert_eq!(timestamp, "1800000000");
        assert_eq!(got.header("x-pairai-timestamp"), timestamp);
        let hex: String = mac(secret.as_bytes(), &format!("{timestamp}.{}", got.body))
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(got.header("x-pairai-signature"), hex);
        let key = if secret.starts_with("whsec_") { key.to_vec() } else { secret.as_bytes().to_vec() };
        let standard = STANDARD.encode(mac(&key, &format!("{id}.{timestamp}.{}", got.body)));
        assert_eq!(got.header("webhook-signature"), format!("v1,{standard}"));
        let event = bob.last_event().await;
        assert_eq!((&event["type"], &event["taskId"]), (&json!("task.created"), &json!(task)));
        assert_eq!(
            got.json(),
            json!({
                "event": "task.created", "timestamp": "2027-01-15T08:00:00.000Z", "agentId": bob.id, "data": event,
            })
        );
    }
    let log =
        eventually(async || Some(deliveries(&bob).await).filter(|log| log[0]["status"] == "delivered")).await;
    assert_eq!(log.len(), 2, "nothing from before the webhook was set");
    assert_eq!((&log[0]["event"], &log[0]["attempts"]), (&json!("task.created"), &json!(1)));
    assert_eq!(log[0]["responseStatus"], 200);
    assert_eq!(log[0]["response"].as_str().unwrap().len(), 4096, "cut to 4 KiB");
    assert_eq!(bob.get("/agents/me").await.ok(200)["reach"], "webhook");
    ada.get("/webhooks/deliveries").await.ok(200).as_array().unwrap().is_empty().then_some(()).unwrap();
    // Taken away, nothing more is sent.
    let cleared = bob.patch("/agents/me", json!({ "webhookUrl": null })).await.ok(200);
    assert_eq!((&cleared["webhookUrl"], &cleared["webhookActive"]), (&Value::Null, &json!(false)));
    bob.post_empty("/webhooks/ping").await.refused(409, "no_webhook");
}

#[rstest]
#[tokio::test]
async fn a_suspended_agents_webhook_rests(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(500), Reply::Status(200)]).await;
    bob.patch("/agents/me", json!({ "webhookUrl": receiver.url() })).await.ok(200);
    ada.task(&bob).await;
    receiver.wait_for(1).await;
    let suspend = async |suspended: bool| {
        let (path, body) = (format!("/admin/agents/{}", bob.id), json!({ "suspended": suspended }));
        hub.client.send("PATCH", &path, Some(ADMIN_TOKEN), Some(body)).await.ok(200);
    };
    suspend(true).await;
    // The first event is due again, and there is another one.
    hub.advance_ms(60_000);
    ada.task(&bob).await;
    let of: tandem_core::AgentId = bob.id.parse().unwrap();
    eventually(async || {
        let of = of.clone();
        let claim =
            hub.hub.db.write(move |tx, now| tandem_app::webhooks::claim(tx, &of, "test", 4, now)).await;
        matches!(claim.unwrap(), Claim::Off).then_some(())
    })
    .await;
    assert_eq!(receiver.got().len(), 1);
    suspend(false).await;
    let got = receiver.wait_for(3).await;
    assert!(got.iter().all(|got| got.json()["event"] == "task.created"));
}

#[rstest]
#[tokio::test]
async fn only_the_events_one_wants_are_sent(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(204)]).await;
    let body = json!({ "webhookUrl": receiver.url(), "webhookEvents": ["message.created"] });
    bob.patch("/agents/me", body).await.ok(200);
    let task = ada.task(&bob).await;
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "hi" })).await.ok(201);
    let got = receiver.wait_for(1).await;
    assert_eq!(got[0].json()["event"], "message.created");
    assert!(got[0].headers.get("webhook-signature").is_none(), "no secret, no signature");
    let ping = bob.post_empty("/webhooks/ping").await.ok(201);
    let got = receiver.wait_for(2).await;
    assert_eq!(
        (&got[1].json()["event"], got[1].header("webhook-id")),
        (&json!("ping"), ping["id"].as_str().unwrap())
    );
    let refused = bob
        .patch("/agents/me", json!({ "webhookEvents": ["task.exploded"] }))
        .await
        .refused(400, "validation");
    assert!(refused["details"]["webhookEvents"][0].is_string(), "{refused}");
}

#[rstest]
#[tokio::test]
async fn what_is_wanted_is_found_behind_much_that_is_not(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(204)]).await;
    let twice = json!(["task.reassigned", "agent.connected", "task.reassigned"]);
    let body = json!({ "webhookUrl": receiver.url(), "webhookEvents": twice });
    let once = json!(["task.reassigned", "agent.connected"]);
    assert_eq!(bob.patch("/agents/me", body).await.ok(200)["webhookEvents"], once);
    hub.fill(&ada, &bob, 350, None).await;
    hub.agent("Cy").await.pair_with(&bob).await;
    assert_eq!(receiver.wait_for(1).await[0].json()["event"], "agent.connected");
}

#[rstest]
#[tokio::test]
async fn a_failing_receiver_is_tried_again_and_then_switched_off(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(500)]).await;
    bob.patch("/agents/me", json!({ "webhookUrl": receiver.url(), "webhookSecret": "0123456789abcdef" }))
        .await
        .ok(200);
    ada.task(&bob).await;
    let attempts = async |count: i64| {
        eventually(async || {
            let log = deliveries(&bob).await;
            log.last().filter(|first| first["attempts"] == count).cloned()
        })
        .await
    };
    // Each pause with a tenth to spare for the jitter.
    for (number, pause) in [5, 30, 120, 600, 3_600, 21_600].into_iter().enumerate() {
        let tried = attempts(number as i64 + 1).await;
        assert_eq!((&tried["status"], &tried["responseStatus"]), (&json!("pending"), &json!(500)), "{tried}");
        hub.advance_ms(pause * 850);
        hub.advance_ms(pause * 260);
    }
    let over = attempts(7).await;
    assert_eq!((&over["status"], &over["nextAttemptAt"]), (&json!("failed"), &Value::Null));
    let got = receiver.got();
    assert!(
        got.iter().all(|one| one.header("webhook-id") == got[0].header("webhook-id")),
        "the same id over all tries"
    );
    let signatures: std::collections::BTreeSet<&str> =
        got.iter().map(|one| one.header("webhook-signature")).collect();
    assert_eq!(signatures.len(), 7, "a new signature each time");
    assert_eq!(bob.get("/agents/me").await.ok(200)["webhookActive"], true);
    // A day after the first failure, the next one switches it off.
    hub.advance_ms(24 * 3_600_000);
    ada.task(&bob).await;
    eventually(async || (bob.get("/agents/me").await.ok(200)["webhookActive"] == false).then_some(())).await;
    let log = deliveries(&bob).await;
    assert!(log[0]["error"].as_str().is_some_and(|why| why.contains("deactivated")), "{}", log[0]);
    // Setting the address again switches it on, from the next event on.
    let healthy = Receiver::start(&[Reply::Status(200)]).await;
    ada.task(&bob).await;
    let again = bob.patch("/agents/me", json!({ "webhookUrl": healthy.url() })).await.ok(200);
    assert_eq!(again["webhookActive"], true);
    let task = ada.task(&bob).await;
    assert_eq!(healthy.wait_for(1).await[0].json()["data"]["taskId"], task.as_str());
    // What failed can be sent again by hand.
    let failed = over["id"].as_str().unwrap();
    let replayed = bob.post_empty(&format!("/webhooks/deliveries/{failed}/replay")).await.ok(200);
    assert_eq!((&replayed["status"], &replayed["attempts"]), (&json!("pending"), &json!(0)));
    assert_eq!(healthy.wait_for(2).await[1].header("webhook-id"), failed);
    ada.post_empty(&format!("/webhooks/deliveries/{failed}/replay")).await.refused(404, "not_found");
}

#[rstest]
#[tokio::test]
async fn redirects_and_hangs_are_failures_and_delay_nobody(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let ada = hub.agent("Ada").await;
    let mut slow = Vec::new();
    for reply in [Reply::Hang, Reply::Status(302)] {
        let agent = hub.agent("Slow").await;
        ada.pair_with(&agent).await;
        let receiver = Receiver::start(&[reply]).await;
        agent.patch("/agents/me", json!({ "webhookUrl": receiver.url() })).await.ok(200);
        for _ in 0..20 {
            ada.task(&agent).await;
        }
        slow.push(agent);
    }
    let quick = hub.agent("Quick").await;
    ada.pair_with(&quick).await;
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    quick.patch("/agents/me", json!({ "webhookUrl": receiver.url() })).await.ok(200);
    let started = std::time::Instant::now();
    for _ in 0..20 {
        ada.task(&quick).await;
    }
    receiver.wait_for(20).await;
    assert!(started.elapsed() < std::time::Duration::from_secs(8), "the hanging receiver takes ten seconds");
    let redirected = eventually(async || {
        let log = deliveries(&slow[1]).await;
        log.iter().find(|one| one["attempts"] == 1).cloned()
    });
    let redirected = redirected.await;
    assert_eq!((&redirected["responseStatus"], &redirected["status"]), (&json!(302), &json!("pending")));
    let hung =
        eventually(async || deliveries(&slow[0]).await.iter().find(|one| one["attempts"] == 1).cloned())
            .await;
    assert_eq!(hung["error"], "no response within 10 s");
}

#[rstest]
#[tokio::test]
async fn what_was_queued_survives_a_restart(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Arc::new(Place::new(db));
    let mut config = place.config();
    (config.webhook_allow_http, config.webhook_allow_private) = (true, true);
    let clock = Arc::new(AtomicI64::new(1_800_000_000_000));
    let hub = Harness::start_at(Arc::clone(&place), config.clone(), Arc::clone(&clock)).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(503), Reply::Status(200)]).await;
    bob.patch("/agents/me", json!({ "webhookUrl": receiver.url() })).await.ok(200);
    let task = ada.task(&bob).await;
    receiver.wait_for(1).await;
    eventually(async || (deliveries(&bob).await[0]["attempts"] == 1).then_some(())).await;
    tokio::task::spawn_blocking(move || drop(hub)).await.unwrap();

    let hub = Harness::start_at(place, config, clock).await;
    hub.advance_ms(6_000);
    let got = receiver.wait_for(2).await;
    assert_eq!(got[1].json()["data"]["taskId"], task.as_str());
    assert_eq!(got[0].header("webhook-id"), got[1].header("webhook-id"));
    let bob = Agent { client: hub.client.clone(), ..bob };
    let log =
        eventually(async || Some(deliveries(&bob).await).filter(|log| log[0]["status"] == "delivered")).await;
    assert_eq!((log.len(), &log[0]["attempts"]), (1, &json!(2)));
}

#[rstest]
#[tokio::test]
async fn an_address_is_refused_when_it_is_set(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let bob = hub.agent("Bob").await;
    let bad = [
        "http://example.com/",
        "https://example.com:65536/",
        "https://example.com:443000/",
        "https://example.com:0/",
        "https://example.com:/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://10.1.2.3/",
        "https://192.168.1.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://[::ffff:127.0.0.1]/",
        "https://[fd00::1]/",
        "https://[fe80::1]/",
        "https://100.64.0.1/",
        "https://0.0.0.0/",
        "https://224.0.0.1/",
        "https://user:pw@example.com/",
        "ftp://example.com/",
        "nonsense",
        "",
        "https://",
        "https:///path",
        "/hook",
        "https://example.com:0/",
    ];
    for url in bad {
        let refused = bob.patch("/agents/me", json!({ "webhookUrl": url })).await.refused(400, "validation");
        assert!(refused["details"]["webhookUrl"][0].is_string(), "{url}: {refused}");
    }
    let long = format!("https://example.com/{}", "x".repeat(2_048));
    bob.patch("/agents/me", json!({ "webhookUrl": long })).await.refused(400, "validation");
    for secret in ["short", "fifteen-chars--"] {
        bob.patch("/agents/me", json!({ "webhookSecret": secret })).await.refused(400, "validation");
    }
    assert_eq!(bob.get("/agents/me").await.ok(200)["webhookUrl"], Value::Null);
}

/// Names that look harmless when the webhook is set and lead elsewhere when it is used.
#[rstest]
#[tokio::test]
async fn an_address_is_looked_at_again_for_every_try(#[values(Db::Sqlite)] db: Db) {
    let harmless: IpAddr = "93.184.216.34".parse().unwrap();
    let bad: [&[&str]; 5] =
        [&["127.0.0.1"], &["10.0.0.1"], &["::1"], &["::ffff:127.0.0.1"], &["93.184.216.34", "192.168.0.1"]];
    let mut script = Script::new();
    for (number, addresses) in bad.iter().enumerate() {
        let rebound = addresses.iter().map(|address| address.parse().unwrap()).collect();
        script.insert(format!("rebind{number}.example"), VecDeque::from([vec![harmless], rebound]));
    }
    script.insert("private.example".into(), VecDeque::from([vec!["10.0.0.1".parse().unwrap()]]));
    let place = Arc::new(Place::new(db));
    let config = place.config();
    let names = Resolver::Scripted(Arc::new(Mutex::new(script)));
    let clock = Arc::new(AtomicI64::new(1_800_000_000_000));
    let hub = Harness::start_named(place, config, clock, names).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "webhookUrl": "https://private.example/" }))
        .await
        .refused(400, "validation");
    for number in 0..bad.len() {
        let url = format!("https://rebind{number}.example/hook");
        bob.patch("/agents/me", json!({ "webhookUrl": url })).await.ok(200);
        ada.task(&bob).await;
        let tried = eventually(async || {
            deliveries(&bob).await.into_iter().find(|one| one["url"] == url && one["attempts"] == 1)
        });
        let error = tried.await["error"].as_str().unwrap().to_owned();
        assert!(error.starts_with("refused:"), "{error}");
    }
}

#[test]
fn only_the_open_internet_is_public() {
    let public = [
        "1.1.1.1",
        "93.184.216.34",
        "172.15.0.1",
        "172.32.0.1",
        "100.63.0.1",
        "100.128.0.1",
        "2606:4700::1111",
        "2a00::1",
    ];
    let other = [
        "0.0.0.0",
        "10.0.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.1.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:1.1.1.1",
        "::ffff:127.0.0.1",
        "64:ff9b::1.1.1.1",
        "fc00::1",
        "fd12::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "2001::1",
        "2002:7f00:1::",
        "100::1",
    ];
    for address in public {
        assert!(is_public(address.parse().unwrap()), "{address}");
    }
    for address in other {
        assert!(!is_public(address.parse().unwrap()), "{address}");
    }
}
