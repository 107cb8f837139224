//! Rate limits and their headers, and how long somebody is waited for.

use std::time::Duration;

use http_body_util::Full;
use hyper::Request;
use rstest::rstest;
use serde_json::json;
use tandem_hub::{Address, Budget, Holder};
use tandem_server::http::client_io::{ClientIo, HeadMeter};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::harness::{ADMIN_TOKEN, Db, Harness};

#[rstest]
#[tokio::test]
async fn requests_are_counted_by_key_else_by_address(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.rate_limit_max = 5).await.at_one_node();
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    for left in (0..5).rev() {
        let reply = ada.get("/agents/me").await;
        reply.ok(200);
        assert_eq!(reply.header("ratelimit-limit"), Some("5"));
        assert_eq!(reply.header("ratelimit-remaining"), Some(left.to_string().as_str()));
        assert_eq!(reply.header("ratelimit-reset"), Some("60"));
    }
    hub.advance_ms(10_500);
    let refused = ada.get("/agents/me").await;
    refused.refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("50"));
    bob.get("/agents/me").await.ok(200);

    // Two registrations have been counted for the address; three guesses at keys are left.
    for _ in 0..3 {
        hub.client.send("GET", "/agents/me", Some("tdm_guess"), None).await.refused(401, "unauthorized");
    }
    hub.client.send("GET", "/agents/me", Some("tdm_guess"), None).await.refused(429, "rate_limited");
    hub.client.send("GET", "/docs", None, None).await.refused(429, "rate_limited");
    hub.client.send("GET", "/health", None, None).await.ok(200);
    bob.get("/agents/me").await.ok(200);
    hub.advance_ms(60_000);
    ada.get("/agents/me").await.ok(200);
}

#[rstest]
#[tokio::test]
async fn registrations_and_looks_into_the_directory_have_limits_of_their_own(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let hub = Harness::start_with(db, |config| {
        config.rate_limit_register_max = 3;
        config.rate_limit_discover_max = 2;
    })
    .await
    .at_one_node();
    let ada = hub.agent("Ada").await;
    hub.agent("Bob").await;
    hub.agent("Cy").await;
    let refused = hub.client.send("POST", "/agents", None, Some(json!({ "name": "Di" }))).await;
    refused.refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("60"));
    assert_eq!(
        (refused.header("ratelimit-limit"), refused.header("ratelimit-remaining")),
        (Some("3"), Some("0"))
    );
    ada.get("/agents/discover").await.ok(200);
    ada.get("/agents/discover").await.ok(200);
    ada.get("/agents/discover").await.refused(429, "rate_limited");
    hub.advance_ms(60_000);
    hub.agent("Di").await;
    ada.get("/agents/discover").await.ok(200);
}

#[rstest]
#[tokio::test]
async fn a_proxy_is_believed_only_when_told_so(#[values(Db::Sqlite)] db: Db) {
    let from = |address: &str| {
        Request::post("/agents")
            .header("content-type", "application/json")
            .header("x-forwarded-for", format!("203.0.113.9, {address}"))
            .body(Full::from(json!({ "name": "Ada" }).to_string()))
            .unwrap()
    };
    for behind_proxy in [false, true] {
        let hub = Harness::start_with(db, |config| {
            config.rate_limit_register_max = 1;
            config.behind_proxy = behind_proxy;
        })
        .await;
        hub.client.raw(from("198.51.100.1")).await.ok(201);
        let second = hub.client.raw(from("198.51.100.2")).await;
        assert_eq!(second.status, if behind_proxy { 201 } else { 429 });
        hub.client.raw(from("198.51.100.1")).await.refused(429, "rate_limited");
    }
}

/// What the hub takes for the client's address, by what it refuses as too many registrations.
async fn same_client(hub: &Harness, first: &[&str], second: &[&str]) -> bool {
    let from = |lines: &[&str]| {
        let mut request = Request::post("/agents").header("content-type", "application/json");
        for line in lines {
            request = request.header("x-forwarded-for", *line);
        }
        request.body(Full::from(json!({ "name": "Ada" }).to_string())).unwrap()
    };
    hub.advance_ms(60_000);
    hub.client.raw(from(first)).await.ok(201);
    hub.client.raw(from(second)).await.status == 429
}

#[rstest]
#[tokio::test]
async fn the_last_hop_counts_in_whichever_header_line_it_is(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start_with(db, |config| {
        config.rate_limit_register_max = 1;
        config.behind_proxy = true;
    })
    .await;
    let made_up = ["198.51.100.1", "203.0.113.7"];
    assert!(same_client(&hub, &made_up, &["198.51.100.2", "203.0.113.7"]).await);
    assert!(same_client(&hub, &made_up, &["203.0.113.7:4711"]).await);
    assert!(same_client(&hub, &["[2001:db8::1]:80"], &["2001:db8::2"]).await, "a /64 is one client");
    assert!(!same_client(&hub, &made_up, &["203.0.113.7", "198.51.100.1"]).await);
}

#[rstest]
#[tokio::test]
async fn a_chain_of_trusted_proxies_is_walked_from_its_end(#[values(Db::Sqlite)] db: Db) {
    let start = |proxies: &str| {
        let proxies = proxies.to_owned().try_into().unwrap();
        Harness::start_with(db, |config| {
            config.rate_limit_register_max = 1;
            config.trusted_proxies = proxies;
        })
    };
    let hub = start("127.0.0.1, 10.0.0.0/8, 2001:db8:1::/48").await;
    let client = ["203.0.113.7, 10.1.2.3"];
    assert!(same_client(&hub, &client, &["198.51.100.1, 203.0.113.7, 10.9.9.9", "10.1.1.1"]).await);
    assert!(same_client(&hub, &client, &["203.0.113.7, 2001:db8:1::5"]).await);
    assert!(same_client(&hub, &client, &["203.0.113.7, ::ffff:10.0.0.1"]).await);
    assert!(!same_client(&hub, &client, &["203.0.113.7, 11.0.0.1"]).await);
    // Nothing before an unreadable entry is believed.
    assert!(same_client(&hub, &["1.1.1.1, unknown, 10.0.0.1"], &["2.2.2.2, nonsense, 10.0.0.1"]).await);
    // Somebody who is no proxy of ours cannot choose an address.
    let hub = start("10.0.0.0/8").await;
    assert!(same_client(&hub, &["1.1.1.1"], &["2.2.2.2, 10.0.0.1"]).await);
}

#[rstest]
#[tokio::test]
async fn a_valid_key_is_found_whatever_strangers_at_its_address_send(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    let (place, clock) = (hub.place.clone(), hub.clock.clone());
    drop(hub);
    // After a restart no key is in the cache.
    let mut config = place.config();
    config.rate_limit_max = 3;
    let hub = Harness::start_at(place, config, clock).await.at_one_node();
    let guess = async |number: usize| {
        hub.client.send("GET", "/agents/me", Some(&format!("tdm_guess{number}")), None).await
    };
    for number in 0..3 {
        guess(number).await.refused(401, "unauthorized");
    }
    guess(3).await.refused(429, "rate_limited");
    // Many at once, and the valid key among them.
    let guesses = futures_util::future::join_all((4..24).map(&guess));
    let valid = hub.client.send("GET", "/agents/me", Some(&ada.key), None);
    let (guesses, valid) = futures_util::future::join(guesses, valid).await;
    valid.ok(200);
    for reply in guesses {
        reply.refused(429, "rate_limited");
    }
    let known = hub.hub.access.known(&tandem_app::keys::sha256(ada.key.as_bytes())).unwrap();
    assert_eq!((known.agent.as_str(), known.host), (ada.id.as_str(), None));
}

#[rstest]
#[tokio::test]
async fn metrics_are_for_the_operator_and_this_machine(#[values(Db::Sqlite)] db: Db) {
    for behind_proxy in [false, true] {
        let hub = Harness::start_with(db, |config| config.behind_proxy = behind_proxy).await;
        let ada = hub.agent("Ada").await;
        let page = hub.client.send("GET", "/metrics", None, None).await;
        if behind_proxy {
            page.refused(401, "unauthorized");
            ada.get("/metrics").await.refused(403, "admin_only");
        } else {
            assert_eq!(page.status, 200);
        }
        let page = hub.admin("GET", "/metrics").await;
        let text = String::from_utf8_lossy(&page.bytes).into_owned();
        assert!(
            text.contains("tandem_http_requests_total{method=\"POST\",route=\"/agents\",status=\"201\"} 1"),
            "{text}"
        );
        assert!(text.contains("tandem_store_commits_total"), "{text}");
        assert!(!text.contains("# EOF") && !text.contains("agent_"), "{text}");
        described(&text);
        let request = Request::get("/metrics")
            .header("authorization", format!("Bearer {ADMIN_TOKEN}"))
            .header("accept", "application/openmetrics-text; version=1.0.0, text/plain;q=0.5")
            .body(Default::default())
            .unwrap();
        let open = hub.client.raw(request).await;
        assert!(open.headers["content-type"].to_str().unwrap().starts_with("application/openmetrics-text"));
        assert!(open.bytes.ends_with(b"# EOF\n"));
    }
}

/// Every figure of the page has a line that says what it is, under its own name.
fn described(page: &str) {
    let told: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("# HELP ")?.split_once(' ').map(|(name, _)| name))
        .collect();
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|ending| name.strip_suffix(ending));
        assert!(told.contains(&name) || base.is_some_and(|base| told.contains(&base)), "{name}: {page}");
        assert!(!name.contains("_us_") && !name.contains("micro"), "{name}");
    }
}

#[tokio::test]
async fn whoever_reads_is_waited_for_and_whoever_does_not_is_not() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (mut far, _) = listener.accept().await.unwrap();
    let meter =
        HeadMeter::new(&Budget::new(1 << 20), Holder::Connections(None), Address::new([127, 0, 0, 1].into()))
            .unwrap();
    let mut near = ClientIo::new(near, meter, Duration::from_millis(300));
    // More than the buffers of both sockets.
    let much = vec![7; 16 << 20];
    let bytes = much.len();
    let reading = tokio::spawn(async move {
        let mut all = vec![0; bytes];
        far.read_exact(&mut all).await.unwrap();
        far
    });
    near.write_all(&much).await.unwrap();
    let _far = reading.await.unwrap();
    let nobody = near.write_all(&much).await.unwrap_err();
    assert_eq!(nobody.kind(), std::io::ErrorKind::TimedOut);
}
