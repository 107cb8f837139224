//! Web pages of other sites in a browser that can reach the hub.

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use rstest::rstest;
use serde_json::json;

use crate::harness::{Db, Harness, Reply};

async fn register(hub: &Harness, headers: &[(&str, &str)]) -> Reply {
    let mut request = Request::post("/agents");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = Bytes::from(json!({ "name": "Ada" }).to_string());
    hub.client.raw(request.body(Full::new(body)).unwrap()).await
}

#[rstest]
#[tokio::test]
async fn a_page_of_another_site_changes_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let own = hub.client.address.to_string();
    let (own_origin, local) = (format!("http://{own}"), format!("localhost:{}", hub.client.address.port()));
    let local_origin = format!("http://{local}");
    for (host, headers) in [
        (&*own, &[("origin", "https://evil.example")][..]),
        (&own, &[("origin", "null")]),
        (&own, &[("origin", "http://127.0.0.1:1")]),
        (&own, &[("origin", &own_origin), ("origin", "https://evil.example")]),
        (&own, &[("sec-fetch-site", "cross-site")]),
        (&own, &[("sec-fetch-site", "same-site")]),
        (&own, &[("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")]),
        // The page's own name points to this machine.
        ("evil.example", &[("origin", "http://evil.example"), ("sec-fetch-site", "same-origin")]),
    ] {
        let refused = register(&hub, &[&[("host", host)], headers].concat()).await;
        let said = refused.refused(403, "foreign_origin")["error"].to_string();
        assert!(said.contains("allowed_origins"), "{said}");
    }
    for (host, headers) in [
        (&*own, &[][..]),
        (&own, &[("sec-fetch-site", "none")]),
        (&own, &[("origin", &own_origin), ("sec-fetch-site", "same-origin")]),
        (&local, &[("origin", &local_origin), ("sec-fetch-site", "same-origin")]),
        // A program that sends no Origin may use any name.
        ("hub.example", &[]),
    ] {
        register(&hub, &[&[("host", host)], headers].concat()).await.ok(201);
    }
    // Reading is harmless, because the page does not get the answer.
    let read = Request::get("/health").header("origin", "https://evil.example").body(Full::default());
    hub.client.raw(read.unwrap()).await.ok(200);
}

#[rstest]
#[tokio::test]
async fn every_writing_method_is_checked(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    for (method, path) in [
        ("PATCH", "/agents/me"),
        ("POST", "/api/v1/agents/me/rotate-key"),
        ("DELETE", "/agents/me"),
        ("PUT", "/agents/me"),
        ("POST", "/pair/generate"),
    ] {
        let request = Request::builder().method(method).uri(path).header("host", "localhost");
        let request = request.header("authorization", format!("Bearer {}", ada.key));
        let request = request.header("origin", "https://evil.example").body(Full::default()).unwrap();
        hub.client.raw(request).await.refused(403, "foreign_origin");
    }
    ada.get("/agents/me").await.ok(200);
}

#[rstest]
#[tokio::test]
async fn the_operator_allows_pages(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start_with(db, |config| {
        config.allowed_origins = "https://app.example/, http://localhost:5173".to_owned().try_into().unwrap();
        config.public_url = Some("https://hub.example/".into());
    })
    .await;
    for (origin, status) in [
        ("https://app.example", 201),
        ("https://hub.example", 201),
        ("http://localhost:5173", 201),
        ("http://app.example", 403),
        ("https://app.example.evil.example", 403),
        ("http://hub.example", 403),
    ] {
        let reply = register(&hub, &[("host", "hub.example"), ("origin", origin)]).await;
        assert_eq!(reply.status, status, "{origin}");
    }
    // The browser asks first, and lets only the allowed page read the answer.
    for (origin, is_allowed) in [("https://app.example", true), ("https://evil.example", false)] {
        let ask = Request::options("/tasks").header("origin", origin);
        let ask = ask.header("access-control-request-method", "POST").body(Full::default()).unwrap();
        let asked = hub.client.raw(ask).await;
        assert_eq!(asked.status, if is_allowed { 204 } else { 405 });
        let read = Request::get("/agents/me").header("origin", origin).body(Full::default()).unwrap();
        let read = hub.client.raw(read).await;
        read.refused(401, "unauthorized");
        for reply in [&asked, &read] {
            let shared = reply.header("access-control-allow-origin");
            assert_eq!(shared, is_allowed.then_some(origin));
        }
        let headers = asked.header("access-control-allow-headers").unwrap_or_default();
        assert_eq!(headers.contains("authorization"), is_allowed);
    }
    let hub =
        Harness::start_with(db, |config| config.allowed_origins = "*".to_owned().try_into().unwrap()).await;
    register(&hub, &[("origin", "https://anything.example")]).await.ok(201);
}

#[rstest]
#[tokio::test]
async fn metrics_are_not_for_a_page_whose_name_points_here(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let get = |host: &str| Request::get("/metrics").header("host", host).body(Full::default()).unwrap();
    for host in
        ["evil.example", "evil.example:3000", "localhost.evil.example", "192.0.2.1", "[2001:db8::1]:80"]
    {
        hub.client.raw(get(host)).await.refused(401, "unauthorized");
    }
    for host in
        ["localhost", "LOCALHOST:9", "127.0.0.1:3000", "127.9.9.9", "[::1]:3000", "[::ffff:127.0.0.1]"]
    {
        assert_eq!(hub.client.raw(get(host)).await.status, 200, "{host}");
    }
}
