//! Pages for people, and the document for programs.

use rstest::rstest;
use tandem_core::events::EventKind;

use crate::dashboard::text;
use crate::harness::{Db, Harness};

#[rstest]
#[tokio::test]
async fn pages_need_nothing_from_elsewhere(#[values(Db::Sqlite)] db: Db) {
    let hub =
        Harness::start_with(db, |config| config.public_url = Some("https://hub.example.com/".into())).await;
    for path in ["/", "/docs"] {
        let page = hub.client.send("GET", path, None, None).await;
        assert_eq!(page.status, 200);
        let html = text(&page);
        assert!(page.header("content-security-policy").unwrap().contains("default-src 'none'"));
        for foreign in ["src=\"http", "href=\"http", "<script", "@import", "style=\""] {
            assert!(!html.contains(foreign), "{foreign} in {path}");
        }
    }
    let first = hub.client.send("GET", "/", None, None).await;
    assert!(String::from_utf8_lossy(&first.bytes).contains("https://hub.example.com/pair/generate"));
    assert_eq!(hub.client.send("GET", "/static/style.css", None, None).await.status, 200);
}

#[rstest]
#[tokio::test]
async fn the_reference_shows_every_operation(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let document = hub.client.send("GET", "/openapi.json", None, None).await.ok(200);
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document == tandem_server::rest::document(), "docs/openapi.json is out of date");
    let reference = hub.client.send("GET", "/docs", None, None).await;
    let html = text(&reference);
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            assert!(html.contains(&format!("<code>{path}</code>")), "{path}");
            assert!(
                operation["summary"].as_str().is_some_and(|summary| !summary.is_empty()),
                "{method} {path}"
            );
            assert!(operation["responses"]["default"].is_object(), "{method} {path}");
        }
    }
    for (from, to, ..) in tandem_core::MOVES {
        assert!(html.contains(&format!("<tr><td>{from}</td><td>{to}</td>")), "{from} to {to}");
    }
    for kind in EventKind::ALL {
        let row = format!("<tr><td><code>{}</code></td><td>{}</td><td>", kind.as_str(), kind.recipient());
        assert!(html.contains(&row), "{row}");
    }
}

/// A topic without a place in the order would have its tag as its heading.
#[tokio::test]
async fn every_topic_of_the_reference_has_a_heading() {
    let hub = Harness::start(Db::Sqlite).await;
    let html = text(&hub.client.send("GET", "/docs", None, None).await);
    let list = html.split("<nav class=\"toc\"").nth(1).unwrap().split("</nav>").next().unwrap();
    let headings: Vec<&str> =
        list.split("<h3>").skip(1).map(|group| group.split(['>', '<']).nth(2).unwrap()).collect();
    assert!(!headings.is_empty());
    assert!(headings.iter().all(|heading| heading.starts_with(char::is_uppercase)), "{headings:?}");
}

/// Every code is documented in both places.
#[tokio::test]
async fn every_error_code_is_documented() {
    use tandem_api::error::Code;
    let hub = Harness::start(Db::Sqlite).await;
    let html = text(&hub.client.send("GET", "/docs", None, None).await);
    let document = tandem_server::rest::document()["info"]["description"].as_str().unwrap().to_owned();
    for code in Code::ALL {
        let (status, meaning) = (code.status(), code.meaning());
        let row = format!("<tr><td><code>{code}</code></td><td>{status}</td><td>");
        assert!(html.contains(&row), "{code}");
        assert!(document.contains(&format!("| `{code}` | {status} | {meaning} |")), "{code}");
    }
}

#[test]
fn operation_ids_are_unique_and_responses_described() {
    let document = tandem_server::rest::document();
    let mut ids = std::collections::BTreeSet::new();
    for methods in document["paths"].as_object().unwrap().values() {
        for operation in methods.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id.to_owned()), "{id} is there twice");
            for response in operation["responses"].as_object().unwrap().values() {
                let is_said = |text: &str| !text.is_empty();
                let is_shared = response["$ref"].is_string();
                assert!(is_shared || response["description"].as_str().is_some_and(is_said), "{id}");
            }
        }
    }
}
