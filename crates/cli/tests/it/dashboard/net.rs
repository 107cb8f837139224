//! Agents, pairing, events and networks in the dashboard, as a browser without scripts uses them.

use std::sync::Mutex;

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use serde_json::{Value, json};
use tandem_core::pairing::PairingCode;

pub use super::text;
use crate::harness::{Agent, Client, Db, Harness, Reply};

/// A name that would be a script if anything forgot to escape it.
pub const HOSTILE: &str = "<script>alert('x')</script>\"'&";

/// A browser: it keeps its cookie.
#[derive(Debug)]
pub struct Visitor {
    client: Client,
    cookie: Mutex<Option<String>>,
}

impl Visitor {
    pub fn new(hub: &Harness) -> Self {
        Self { client: hub.client.clone(), cookie: Mutex::new(None) }
    }

    pub async fn signed_in(hub: &Harness, agent: &Agent) -> Self {
        let visitor = Self::new(hub);
        visitor.sign_in(agent).await;
        visitor
    }

    pub async fn sign_in(&self, agent: &Agent) {
        let reply = self.send("/app/sign-in", &[("key", &agent.key)]).await;
        assert_eq!(reply.status, 303, "{reply:?}");
    }

    async fn request(&self, request: hyper::http::request::Builder, body: Bytes) -> Reply {
        let mut request = request.header("host", self.client.address.to_string());
        if let Some(cookie) = &*self.cookie.lock().unwrap() {
            request = request.header("cookie", cookie);
        }
        let reply = self.client.raw(request.body(Full::new(body)).unwrap()).await;
        if let Some(set) = reply.header("set-cookie") {
            *self.cookie.lock().unwrap() = set.split(';').next().map(str::to_owned);
        }
        reply
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.request(Request::get(path), Bytes::new()).await
    }

    /// A page that is there. Nothing hostile on it may be markup.
    pub async fn page(&self, path: &str) -> String {
        let reply = self.get(path).await;
        assert_eq!(reply.status, 200, "{path}: {}", text(&reply));
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
        let page = text(&reply);
        for raw in ["<script>alert", "style=\"", "onclick", "javascript:"] {
            assert!(!page.contains(raw), "{path} has {raw}");
        }
        page
    }

    /// Sends fields as they are.
    pub async fn send(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let mut body = form(fields);
        if body.is_empty() {
            body.push_str("x=");
        }
        let request = Request::post(path).header("content-type", "application/x-www-form-urlencoded");
        self.request(request, Bytes::from(body)).await
    }

    /// Fills in a form of a page.
    pub async fn submit(&self, page: &str, action: &str, fields: &[(&str, &str)]) -> Reply {
        let html = self.page(page).await;
        assert!(html.contains(&format!("action=\"{action}\"")), "{page} has no form {action}: {html}");
        let csrf = hidden(&html, "csrf");
        self.send(action, &[&[("csrf", &*csrf)], fields].concat()).await
    }
}

pub fn hidden(html: &str, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    html.split(&start).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned()
}

fn form(fields: &[(&str, &str)]) -> String {
    let encoded = |text: &str| {
        let byte = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        };
        text.bytes().map(byte).collect::<String>()
    };
    let pairs = fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

#[track_caller]
pub fn leads_to(reply: &Reply, end: &str) -> String {
    assert_eq!(reply.status, 303, "{}", text(reply));
    let to = reply.header("location").unwrap();
    assert!(to.ends_with(end) || to.contains(end), "{to}");
    to.to_owned()
}

/// The code that a page shows.
fn code_on(page: &str) -> String {
    page.split("id=\"pair-code\">").nth(1).unwrap().split('<').next().unwrap().to_owned()
}

#[tokio::test]
async fn two_people_pair_with_a_code() {
    let hub =
        Harness::start_with(Db::Sqlite, |config| config.public_url = Some("https://hub.example".into()))
            .await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent(HOSTILE).await);
    let (anna, boris) = (Visitor::signed_in(&hub, &ada).await, Visitor::signed_in(&hub, &bob).await);
    let (pair, redeem) = (format!("/app/{}/agents/pair", ada.id), format!("/app/{}/agents/pair", bob.id));
    assert!(anna.page(&pair).await.contains("Make a code"));
    leads_to(&anna.submit(&pair, &pair, &[]).await, &pair);
    let page = anna.page(&pair).await;
    let code = code_on(&page);
    for shown in
        [format!("https://hub.example/pair#{code}"), format!("tandem pair {code} --hub https://hub.example")]
    {
        assert!(page.contains(&shown), "{shown}");
    }
    assert!(page.contains("class=\"qr\"") && page.contains("data-left=\"clock\""), "{page}");
    // Wrong codes say what to do, and keep what was typed.
    let action = format!("{redeem}/redeem");
    let wrong = boris.submit(&redeem, &action, &[("code", "bleu tiger 4231")]).await;
    let said = text(&wrong);
    assert_eq!(wrong.status, 404);
    assert!(said.contains("value=\"bleu tiger 4231\"") && said.contains("<b>BLUE-TIGER-4231</b>"), "{said}");
    let own = anna.submit(&pair, &format!("{pair}/redeem"), &[("code", &code)]).await;
    assert!(own.status == 400 && text(&own).contains("is your own"), "{}", text(&own));
    // A form of nobody's session changes nothing.
    let forged = boris.send(&action, &[("csrf", "0123456789abcdef"), ("code", &code)]).await;
    assert_eq!(forged.status, 403);
    assert_eq!(bob.get("/connections").await.ok(200), json!([]));

    let typed = code.to_lowercase().replace('-', " ");
    leads_to(&boris.submit(&redeem, &action, &[("code", &typed)]).await, "done=connected");
    let page = anna.page(&pair).await;
    assert!(page.contains("is connected") && page.contains("&#60;script&#62;"), "{page}");
    assert!(!page.contains("id=\"pair-code\""), "the code is used up");
    leads_to(&anna.submit(&pair, &pair, &[]).await, &pair);
    let again = code_on(&anna.page(&pair).await);
    let again = boris.submit(&redeem, &action, &[("code", &again)]).await;
    assert!(again.status == 409 && text(&again).contains("already connected"), "{}", text(&again));
    // The one that did not fit is disconnected from the same page.
    let connection = ada.get("/connections").await.ok(200)[0]["id"].as_str().unwrap().to_owned();
    let end = format!("/app/{}/agents/{connection}/disconnect", ada.id);
    leads_to(&anna.submit(&pair, &end, &[]).await, "done=disconnected");
    assert_eq!(bob.get("/connections").await.ok(200), json!([]));
}

#[tokio::test]
async fn wrong_codes_are_limited() {
    let hub = Harness::start_with(Db::Sqlite, |config| config.pair_attempts_max = 2).await;
    let ada = hub.agent("Ada").await;
    let anna = Visitor::signed_in(&hub, &ada).await;
    let pair = format!("/app/{}/agents/pair", ada.id);
    let mut answers = Vec::new();
    for _ in 0..3 {
        let reply = anna.submit(&pair, &format!("{pair}/redeem"), &[("code", "RED-FOX-0000")]).await;
        answers.push(reply.status);
    }
    assert_eq!(answers, [404, 404, 429]);
}

#[test]
fn a_slip_of_the_pen_is_corrected() {
    let meant =
        |typed: &str| PairingCode::try_from(typed.to_owned()).ok()?.correction().map(|code| code.to_string());
    for typed in ["bleu tiger 4231", "blu-tiger-4231", "blue-tigger-4231", "BLUF-TIGER-4231"] {
        assert_eq!(meant(typed).as_deref(), Some("BLUE-TIGER-4231"), "{typed}");
    }
    for typed in ["blue-tiger-4231", "blue-horsefly-4231", "xyz-tiger-1", "blue", "b-t-1"] {
        assert_eq!(meant(typed), None, "{typed}");
    }
}

#[tokio::test]
async fn a_link_pairs_only_after_a_press() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob, cy) = (hub.agent("Ada").await, hub.agent("Bob").await, hub.agent("Cy").await);
    let code = ada.post_empty("/pair/generate").await.text("code");
    let boris = Visitor::new(&hub);
    let page = boris.page("/pair").await;
    assert!(page.contains("data-code") && page.contains("name=\"key\""), "{page}");
    // Nobody is signed in: a key is needed, and a wrong one is not repeated.
    let refused = boris.send("/pair", &[("code", &code)]).await;
    assert!(refused.status == 400 && text(&refused).contains(&format!("value=\"{code}\"")));
    let refused = boris.send("/pair", &[("code", &code), ("key", "tdm_wrong")]).await;
    assert!(refused.status == 401 && !text(&refused).contains("tdm_wrong"), "{}", text(&refused));
    // Signing in leads to the choice; the code is kept, and nothing is connected yet.
    let chosen = boris.send("/pair", &[("code", &code), ("key", &bob.key)]).await;
    let page = text(&chosen);
    assert!(chosen.status == 200 && page.contains(&format!("value=\"{code}\"")), "{page}");
    assert!(page.contains(&bob.id) && !page.contains("name=\"key\""), "{page}");
    assert_eq!(bob.get("/connections").await.ok(200), json!([]));
    boris.sign_in(&cy).await;
    let csrf = hidden(&boris.page("/pair").await, "csrf");
    // A forged form, an agent that is not signed in here, and a wrong code change nothing.
    for (csrf, agent, code, status) in [
        ("", &bob.id, &*code, 403),
        (&csrf, &ada.id, &code, 404),
        (&csrf, &bob.id, "RED-FOX-0000", 404),
        (&csrf, &bob.id, "<b>", 400),
    ] {
        let refused = boris.send("/pair", &[("csrf", csrf), ("agent", agent), ("code", code)]).await;
        assert_eq!(refused.status, status, "{}", text(&refused));
        assert!(!text(&refused).contains("<b>\""));
    }
    assert_eq!(ada.get("/connections").await.ok(200), json!([]));
    let paired = boris.send("/pair", &[("csrf", &csrf), ("agent", &cy.id), ("code", &code)]).await;
    leads_to(&paired, &format!("/app/{}/agents/pair", cy.id));
    assert_eq!(ada.get("/connections").await.ok(200)[0]["agentId"], json!(cy.id));
    assert_eq!(bob.get("/connections").await.ok(200), json!([]));
}

#[tokio::test]
async fn a_connection_is_named_ruled_and_blocked() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob, cy) = (hub.agent("Ada").await, hub.agent(HOSTILE).await, hub.agent("Cy").await);
    let connection = ada.pair_with(&bob).await;
    ada.pair_with(&cy).await;
    ada.task(&bob).await;
    let anna = Visitor::signed_in(&hub, &ada).await;
    anna.sign_in(&cy).await;
    let (list, one) = (format!("/app/{}/agents", ada.id), format!("/app/{}/agents/{connection}", ada.id));
    let page = anna.page(&list).await;
    // Both agents of this browser are at the left of the drawing, the foreign one at the right with its task.
    assert_eq!(page.matches("class=\"node-own\"").count(), 2, "{page}");
    assert_eq!(page.matches("class=\"node-foreign\"").count(), 1, "{page}");
    assert!(page.contains("1 live task") && page.contains("no key"), "{page}");
    let change = format!("{one}/change");
    let taken = anna.submit(&one, &change, &[("alias", &"x".repeat(65))]).await;
    assert!(taken.status == 400 && text(&taken).contains(&"x".repeat(65)), "{}", text(&taken));
    leads_to(&anna.submit(&one, &change, &[("alias", "<b>Bo"), ("approval", "require")]).await, "done=saved");
    let seen = |list: Value| list.as_array().unwrap().iter().find(|c| c["agentId"] == *bob.id).cloned();
    let bobs = seen(ada.get("/connections").await.ok(200)).unwrap();
    assert_eq!((&bobs["alias"], &bobs["approval"]), (&json!("<b>Bo"), &json!("require")));
    assert!(anna.page(&one).await.contains("&#60;b&#62;Bo"));
    // Empty fields clear the settings.
    leads_to(&anna.submit(&one, &change, &[("alias", ""), ("approval", "")]).await, "done=saved");
    let bobs = seen(ada.get("/connections").await.ok(200)).unwrap();
    assert_eq!((&bobs["alias"], &bobs["approval"]), (&Value::Null, &Value::Null));
    assert_eq!(anna.get(&format!("/app/{}/agents/{connection}", cy.id)).await.status, 404);
    let forged = anna.send(&format!("{one}/block"), &[("csrf", "f".repeat(32).as_str())]).await;
    assert_eq!(forged.status, 403);

    leads_to(&anna.submit(&one, &format!("{one}/block"), &[]).await, "done=blocked");
    assert!(seen(ada.get("/connections").await.ok(200)).is_none());
    let unblock = format!("{list}/unblock");
    leads_to(&anna.submit(&list, &unblock, &[("agentId", &bob.id)]).await, "done=unblocked");
    assert_eq!(ada.get("/agents/me/blocks").await.ok(200), json!([]));
}

#[tokio::test]
async fn the_directory_connects_where_no_code_is_needed() {
    let hub = Harness::start_with(Db::Sqlite, |config| config.min_discovery_age_hours = 0).await;
    let (ada, bob, cy) = (hub.agent("Ada").await, hub.agent("Bob").await, hub.agent("Cy").await);
    let open = json!({ "discoverable": true, "autoAccept": true, "description": HOSTILE });
    bob.patch("/agents/me", open).await.ok(200);
    cy.patch("/agents/me", json!({ "discoverable": true })).await.ok(200);
    let anna = Visitor::signed_in(&hub, &ada).await;
    let discover = format!("/app/{}/agents/discover", ada.id);
    let page = anna.page(&discover).await;
    assert!(page.contains("needs a code") && page.contains(&bob.id) && !page.contains(&cy.id), "{page}");
    assert!(anna.get(&format!("{discover}?capability=NO!")).await.status == 400);
    let connect = format!("/app/{}/agents/connect", ada.id);
    let refused = anna.submit(&discover, &connect, &[("agentId", &cy.id)]).await;
    assert_eq!(refused.status, 403, "{}", text(&refused));
    leads_to(&anna.submit(&discover, &connect, &[("agentId", &bob.id)]).await, "done=connected");
    assert_eq!(ada.get("/connections").await.ok(200)[0]["agentId"], json!(bob.id));
}
