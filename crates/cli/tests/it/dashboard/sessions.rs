//! Signing in and out of the dashboard, and what a session is worth.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use rstest::rstest;
use serde_json::json;
use tandem_core::AgentId;
use tandem_hub::bus::{EndReason, Transport};
use tandem_hub::feed::{Feed, FeedItem, Start};

use super::{Person, hidden, text};
use crate::harness::{ADMIN_TOKEN, Agent, Db, Harness, Held, PATIENCE, Place, Reply, eventually};

/// All scripts together.
const SCRIPT_BYTES_MAX: usize = 64_000;

fn location(reply: &crate::harness::Reply) -> String {
    reply.header("location").unwrap_or_default().to_owned()
}

#[tokio::test]
async fn nothing_is_readable_without_signing_in() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let nobody = Person::stranger(&hub);
    for page in
        ["", "/approvals", "/tasks", "/agents", "/networks", "/events", "/webhooks", "/profile", "/live"]
    {
        let reply = nobody.get(&format!("/app/{}{page}", ada.id)).await;
        assert_eq!(reply.status, 303, "{page}: {}", text(&reply));
        assert!(location(&reply).starts_with("/app/sign-in?next=%2Fapp%2F"), "{}", location(&reply));
    }
    for page in ["", "/agents", "/tasks", "/events", "/deliveries", "/settings", "/storage"] {
        assert_eq!(nobody.get(&format!("/app/admin{page}")).await.status, 303, "{page}");
    }
    // An agent's owner sees neither another agent nor the hub as a whole.
    let ada_person = Person::sign_in(&hub, &ada).await;
    assert_eq!(ada_person.get(&ada_person.base).await.status, 200);
    assert_eq!(ada_person.get(&format!("/app/{}", bob.id)).await.status, 303);
    assert_eq!(ada_person.get("/app/admin").await.status, 303);
    // The cookie opens no route of the API.
    for route in ["/agents/me", "/tasks", "/admin/overview", "/events"] {
        assert_eq!(ada_person.get(route).await.status, 401, "{route}");
    }
}

#[tokio::test]
async fn a_wrong_key_says_so_and_is_throttled() {
    let hub = Harness::start(Db::Sqlite).await;
    let nobody = Person::stranger(&hub);
    for _ in 0..20 {
        let reply = nobody.post("/app/sign-in", &[("key", "tdm_wrong"), ("next", "/app/x")]).await;
        assert_eq!(reply.status, 401);
        assert!(text(&reply).contains("neither the key of an agent"), "{}", text(&reply));
        assert!(reply.header("set-cookie").is_none());
        assert!(!text(&reply).contains("tdm_wrong"));
    }
    assert_eq!(nobody.post("/app/sign-in", &[("key", "tdm_wrong")]).await.status, 429);
    hub.advance_ms(61_000);
    let ada = hub.agent("Ada").await;
    Person::sign_in(&hub, &ada).await;
}

#[tokio::test]
async fn the_cookie_is_for_this_hub_alone() {
    let hub =
        Harness::start_with(Db::Sqlite, |config| config.public_url = Some("https://hub.example".into()))
            .await;
    let ada = hub.agent("Ada").await;
    let reply = Person::stranger(&hub).post("/app/sign-in", &[("key", &ada.key)]).await;
    let cookie = reply.header("set-cookie").unwrap().to_owned();
    assert!(cookie.starts_with("__Host-tandem_session=") && !cookie.contains("Domain"), "{cookie}");
    let person = Person { base: format!("/app/{}", ada.id), ..Person::with_cookie_of(&hub, &reply) };
    assert_eq!(person.get(&person.base).await.status, 200);
    // A neighbouring host can put a cookie of the plain name into the browser.
    let planted = Person { cookie: person.cookie.replace("__Host-", ""), ..person };
    assert_eq!(planted.get(&planted.base).await.status, 303);
    for part in ["HttpOnly", "SameSite=Strict", "Secure", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains(&ada.key));
    // Where to go next is never another site.
    for next in
        ["https://evil.example", "//evil.example", "/app//evil.example", "/tasks", "javascript:alert(1)"]
    {
        let reply = Person::stranger(&hub).post("/app/sign-in", &[("key", &ada.key), ("next", next)]).await;
        assert_eq!(location(&reply), format!("/app/{}", ada.id), "{next}");
    }
}

#[rstest]
#[tokio::test]
async fn a_session_ends_with_its_key_its_time_and_its_sign_out(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let person = Person::sign_in(&hub, &ada).await;
    let both = person.also(&hub, &bob).await;
    assert!(both.page("").await.contains(&format!("/app/{}", bob.id)), "the switcher lists both");
    // Whoever signs in gets a new token.
    assert_eq!(person.get(&person.base).await.status, 303, "the old token is worth nothing");

    // A rotated key ends its own sign-in only.
    bob.post("/agents/me/rotate-key", json!({})).await.ok(200);
    assert_eq!(both.get(&format!("/app/{}", bob.id)).await.status, 303);
    assert_eq!(both.get(&both.base).await.status, 200);

    // Time ends it: twelve hours without use, or seven days.
    hub.advance_ms(11 * 3_600_000);
    assert_eq!(both.get(&both.base).await.status, 200);
    hub.advance_ms(11 * 3_600_000);
    assert_eq!(both.get(&both.base).await.status, 200, "it was used eleven hours ago");
    hub.advance_ms(13 * 3_600_000);
    assert_eq!(both.get(&both.base).await.status, 303);

    // Signing out.
    let person = Person::sign_in(&hub, &ada).await;
    let csrf = hidden(&person.page("").await, "csrf");
    let reply = person.post("/app/sign-out", &[("csrf", "wrong"), ("who", &ada.id)]).await;
    assert_eq!(reply.status, 403);
    assert_eq!(person.get(&person.base).await.status, 200);
    let reply = person.post("/app/sign-out", &[("csrf", &csrf)]).await;
    assert!(reply.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(person.get(&person.base).await.status, 303);
}

/// Two windows of one browser. The one that comes second learns that its token was replaced and sends its form again, as
/// browsers do, with the token that the first one has got. The old token alone leads nowhere.
#[rstest]
#[tokio::test]
async fn two_sign_ins_at_once_are_both_in_the_session(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let cy = hub.agent("Cy").await;
    let person = Person::sign_in(&hub, &ada).await;
    let send = async |agent: &Agent| person.post("/app/sign-in", &[("key", &agent.key)]).await;
    let (of_bob, of_cy) = tokio::join!(send(&bob), send(&cy));
    let (first, second, late) =
        if of_bob.status == 303 { (of_bob, of_cy, &cy) } else { (of_cy, of_bob, &bob) };
    assert_eq!((first.status, second.status), (303, 307), "{}", text(&second));
    assert!(second.header("set-cookie").is_none());
    let now = Person { base: person.base.clone(), ..Person::with_cookie_of(&hub, &first) };
    let again = now.post(&location(&second), &[("key", &late.key)]).await;
    assert_eq!(again.status, 303);
    let all = Person { base: person.base.clone(), ..Person::with_cookie_of(&hub, &again) };
    let page = all.page("").await;
    for agent in [&ada, &bob, &cy] {
        assert!(page.contains(&format!("/app/{}", agent.id)), "{page}");
    }
    // A browser whose session has ended asks a few times and gets a new one.
    let mut path = "/app/sign-in".to_owned();
    let reply = loop {
        let reply = person.post(&path, &[("key", &cy.key)]).await;
        if reply.status == 303 {
            break reply;
        }
        path = location(&reply);
    };
    let alone = Person { base: format!("/app/{}", cy.id), ..Person::with_cookie_of(&hub, &reply) };
    assert!(!alone.page("").await.contains(&ada.id));
}

#[tokio::test]
async fn a_cookie_without_requests_left_costs_no_query() {
    let set = |config: &mut tandem_hub::Config| (config.rate_limit_max, config.database_readers) = (5, 1);
    let hub = Harness::start_with(Db::Sqlite, set).await;
    let ada = hub.agent("Ada").await;
    let person = Person::sign_in(&hub, &ada).await;
    // Strangers use up the requests of the address: the session is found all the same.
    let stranger = Person { cookie: format!("tandem_session={}", "0".repeat(64)), ..person.clone() };
    while stranger.get("/app").await.status != 429 {}
    for _ in 0..5 {
        assert_eq!(person.get(&person.base).await.status, 200);
    }
    let held = Held::reader(&hub).await;
    assert_eq!(person.get(&person.base).await.status, 429);
    drop(held);
}

#[tokio::test]
async fn signing_out_everywhere_ends_open_pages() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let (here, there) = (Person::sign_in(&hub, &ada).await, Person::sign_in(&hub, &ada).await);
    let id: AgentId = ada.id.parse().unwrap();
    let open = async |transport| Feed::open(&hub.hub, &id, Start::End, transport).await.unwrap();
    let (mut page, mut socket) = (open(Transport::Page).await, open(Transport::Socket).await);
    let mut stream = there.open(&format!("{}/live", there.base)).await;
    stream.until("event: start").await;
    let csrf = hidden(&here.page("").await, "csrf");
    let fields = [("csrf", &*csrf), ("who", &*ada.id), ("everywhere", "true")];
    assert_eq!(here.post("/app/sign-out", &fields).await.status, 303);
    // At once, and not when the session is looked at the next time.
    let next = tokio::time::timeout(PATIENCE, page.next()).await.expect("it ends");
    assert!(matches!(next, Ok(FeedItem::Ended(EndReason::SignedOut))));
    stream.until("signed-out").await;
    // The agent itself is not a person at a page.
    hub.agent("Bob").await.pair_with(&ada).await;
    assert!(matches!(socket.next().await, Ok(FeedItem::Events(_))));
}

#[tokio::test]
async fn signing_out_everywhere_ends_other_browsers() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let (here, there) = (Person::sign_in(&hub, &ada).await, Person::sign_in(&hub, &ada).await);
    let csrf = hidden(&here.page("").await, "csrf");
    // The value of another session is not taken.
    assert_eq!(there.post("/app/sign-out", &[("csrf", &csrf)]).await.status, 403);
    let fields = [("csrf", &*csrf), ("who", &*ada.id), ("everywhere", "true")];
    assert_eq!(here.post("/app/sign-out", &fields).await.status, 303);
    assert_eq!(here.get(&here.base).await.status, 303);
    assert_eq!(there.get(&there.base).await.status, 303);
}

#[tokio::test]
async fn a_one_time_link_signs_the_operator_in_once() {
    let hub = Harness::start(Db::Sqlite).await;
    let link = hub.client.send("POST", "/admin/setup-link", Some(ADMIN_TOKEN), None).await.ok(200).clone();
    let code = link["code"].as_str().unwrap();
    assert_eq!(link["path"], format!("/setup#{code}"));
    let nobody = Person::stranger(&hub);
    assert_eq!(nobody.get("/setup").await.status, 200);
    assert_eq!(nobody.post("/setup", &[("code", "ABCD-EFGH-JKLM")]).await.status, 401);
    // As somebody types it.
    let typed = code.to_lowercase().replace('-', " ");
    let reply = nobody.post("/setup", &[("code", &typed)]).await;
    assert_eq!((reply.status, location(&reply)), (303, "/app/admin".into()), "{}", text(&reply));
    let operator = Person::with_cookie_of(&hub, &reply);
    assert_eq!(operator.get("/app/admin").await.status, 200);
    let again = nobody.post("/setup", &[("code", code)]).await;
    assert_eq!(again.status, 401);
    assert!(text(&again).contains("tandem setup-link"), "{}", text(&again));
    // And for half an hour only.
    let link = hub.client.send("POST", "/admin/setup-link", Some(ADMIN_TOKEN), None).await.ok(200).clone();
    hub.advance_ms(30 * 60_000);
    assert_eq!(nobody.post("/setup", &[("code", link["code"].as_str().unwrap())]).await.status, 401);
    assert_eq!(hub.client.send("POST", "/admin/setup-link", None, None).await.status, 401);
}

#[rstest]
#[tokio::test]
async fn a_one_time_link_ends_with_the_token(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Arc::new(Place::new(db));
    let start = async |token: &str| {
        let mut config = place.config();
        config.admin_token = Some(token.into());
        Harness::start_at(Arc::clone(&place), config, Arc::new(AtomicI64::new(1_800_000_000_000))).await
    };
    let hub = start("the token that leaked").await;
    let link = hub.client.send("POST", "/admin/setup-link", Some("the token that leaked"), None).await;
    let code = link.ok(200)["code"].as_str().unwrap().to_owned();
    drop(hub);
    let hub = start("the token after that").await;
    assert_eq!(Person::stranger(&hub).post("/setup", &[("code", &code)]).await.status, 401);
    drop(hub);
    let hub = start("the token that leaked").await;
    assert_eq!(Person::stranger(&hub).post("/setup", &[("code", &code)]).await.status, 303);
}

#[rstest]
#[tokio::test]
async fn the_operator_sees_the_hub_and_no_content(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    ada.post("/tasks", json!({ "targetAgentId": bob.id, "title": "The secret plan" })).await.ok(201);
    let operator = Person::sign_in_with(&hub, ADMIN_TOKEN).await;
    for page in ["", "/agents", "/tasks", "/events", "/deliveries", "/settings", "/storage"] {
        let html = operator.page(page).await;
        assert!(!html.contains("secret plan") && !html.contains(ADMIN_TOKEN), "{page}: {html}");
    }
    assert!(operator.page("/agents").await.contains(&bob.id));
    let change = format!("/agents/{}", bob.id);
    let reply = operator.submit("/agents", &change, &[("credits", "lots")]).await;
    assert_eq!(reply.status, 400);
    assert!(text(&reply).contains("US dollars"), "{}", text(&reply));
    let fields = [("credits", "2.50"), ("suspended", "on")];
    assert_eq!(operator.submit("/agents", &change, &fields).await.status, 303);
    assert_eq!(bob.get("/agents/me").await.status, 403);
    let fields = [("credits", "2.50"), ("shownCredits", "2.50"), ("shownSuspended", "on")];
    assert_eq!(operator.submit("/agents", &change, &fields).await.status, 303);
    assert_eq!(bob.get("/agents/me").await.ok(200)["credits"], 2.5);
}

/// A person who looks on is not the agent.
#[tokio::test]
async fn looking_leaves_no_trace_of_the_agent() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.post("/tasks", json!({ "targetAgentId": bob.id, "title": "Look" })).await.ok(201).clone();
    hub.advance_ms(120_000);
    let person = Person::sign_in(&hub, &bob).await;
    person.page("").await;
    let stream = person.open(&format!("{}/live", person.base)).await;
    let seen = eventually(async || {
        let connections = ada.get("/connections").await.ok(200).clone();
        Some(connections[0]["online"].clone())
    });
    assert_eq!(seen.await, false);
    let path = format!("/tasks/{}", task["id"].as_str().unwrap());
    assert_eq!(ada.get(&path).await.ok(200)["delivery"]["fetchedAt"], json!(null));
    drop(stream);
}

#[tokio::test]
async fn an_open_page_is_told_what_happens() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let person = Person::sign_in(&hub, &bob).await;
    let mut stream = person.open(&format!("{}/live", person.base)).await;
    assert!(stream.until("event: start").await.contains("id: "));
    ada.post("/tasks", json!({ "targetAgentId": bob.id, "title": "Now" })).await.ok(201);
    let told = stream.until("task.created").await;
    assert!(told.contains("event: log"), "{told}");
    bob.post("/agents/me/rotate-key", json!({})).await.ok(200);
    assert!(stream.until("event: end").await.contains("event: end"));
}

/// An ended key shows nothing and does nothing, whatever session it was entered in.
#[tokio::test]
async fn a_sign_in_with_an_ended_key_is_worth_nothing() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, mut bob) = hub.pair().await;
    let thief = Person::sign_in(&hub, &bob).await.also(&hub, &ada).await;
    bob.key = bob.post("/agents/me/rotate-key", json!({})).await.text("apiKey");
    bob.patch("/agents/me", json!({ "name": "Robert" })).await.ok(200);
    let owner = Person::sign_in(&hub, &bob).await;
    let at_ada = Person { base: format!("/app/{}", ada.id), ..thief.clone() };
    let page = at_ada.page("").await;
    assert!(!page.contains("Robert") && !page.contains(&bob.id), "{page}");
    let csrf = hidden(&page, "csrf");
    let fields = [("csrf", &*csrf), ("who", &*bob.id), ("everywhere", "true")];
    assert_eq!(thief.post("/app/sign-out", &fields).await.status, 404);
    assert_eq!(owner.get(&owner.base).await.status, 200);
    assert_eq!(location(&thief.get("/app").await), format!("/app/{}", ada.id));
}

/// A sign-in ends the forms of the token before it, which somebody else may have put into the browser; a form that was begun
/// before a sign-out is refused.
#[tokio::test]
async fn forms_follow_the_session() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let person = Person::sign_in(&hub, &ada).await;
    let csrf = hidden(&person.page("/profile").await, "csrf");
    let both = person.also(&hub, &bob).await;
    let path = format!("{}/profile/change", both.base);
    assert_eq!(both.post(&path, &[("csrf", &csrf), ("name", "Forged")]).await.status, 403);
    let csrf = hidden(&both.page("/profile").await, "csrf");
    let slow = both.begin(&path, &[("csrf", &csrf), ("name", "Too late")]).await;
    assert_eq!(both.post("/app/sign-out", &[("csrf", &csrf)]).await.status, 303);
    assert!(slow.finish().await.starts_with("HTTP/1.1 401"));
    assert_eq!(ada.get("/agents/me").await.ok(200)["name"], "Ada");
}

/// A new key that nobody saw is no loss: the session goes on with it.
#[tokio::test]
async fn a_rotation_keeps_this_session_only() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let (here, there) = (Person::sign_in(&hub, &ada).await, Person::sign_in(&hub, &ada).await);
    for _ in 0..2 {
        let reply = here.submit("/profile", "/profile/rotate", &[]).await;
        assert_eq!(reply.status, 200, "{}", text(&reply));
    }
    assert_eq!(there.get(&there.base).await.status, 303);
    assert_eq!(here.get(&here.base).await.status, 200);
    assert_eq!(ada.get("/agents/me").await.status, 401);
}

/// Two operators, or two windows: a form writes only what was changed in it.
#[tokio::test]
async fn an_older_form_of_the_operator_undoes_nothing() {
    let hub = Harness::start(Db::Sqlite).await;
    let bob = hub.agent("Bob").await;
    let operator = Person::sign_in_with(&hub, ADMIN_TOKEN).await;
    let path = format!("/admin/agents/{}", bob.id);
    let terms = json!({ "suspended": true, "credits": 1.239999 });
    hub.client.send("PATCH", &path, Some(ADMIN_TOKEN), Some(terms)).await.ok(200);
    let fields = [("shownCredits", "0.50"), ("credits", "0.50"), ("costsCredits", "on")];
    assert_eq!(operator.submit("/agents", &format!("/agents/{}", bob.id), &fields).await.status, 303);
    let agents = hub.client.send("GET", "/admin/agents", Some(ADMIN_TOKEN), None).await.ok(200).clone();
    let found = (&agents[0]["suspended"], &agents[0]["credits"], &agents[0]["costsCredits"]);
    assert_eq!(found, (&json!(true), &json!(1.239999), &json!(true)));
}

#[rstest]
#[tokio::test]
async fn repeated_words_in_a_filter_are_one(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    let person = Person::sign_in(&hub, &ada).await;
    let types = vec!["*"; 3_000].join(",");
    assert_eq!(person.get(&format!("{}/events?type={types}", person.base)).await.status, 200);
}

#[test]
fn the_scripts_are_small_and_all_are_served() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/static/app");
    let listed =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../server/src/web/app/assets.rs"));
    let listed = listed.unwrap();
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name.ends_with(".js") {
            bytes += entry.metadata().unwrap().len();
            assert!(listed.contains(&format!("\"{name}\": JS")), "{name} is not served");
        }
    }
    assert!(usize::try_from(bytes).unwrap() <= SCRIPT_BYTES_MAX, "{bytes} bytes of scripts");
}

/// A double click: both requests come with the same session and the same proof.
#[rstest]
#[tokio::test]
async fn a_registration_that_is_sent_twice_makes_one_agent(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    let person = Person::sign_in(&hub, &ada).await;
    let csrf = hidden(&person.page("/agents/add").await, "csrf");
    let path = format!("{}/agents/add", person.base);
    let fields = [("csrf", &*csrf), ("name", "Once")];
    let send = || person.post(&path, &fields);
    let (one, other) = tokio::join!(send(), send());
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert!(statuses[0] == 200 && statuses[1] >= 400, "{statuses:?}");
    let agents = hub.client.send("GET", "/admin/agents", Some(ADMIN_TOKEN), None).await.ok(200).clone();
    assert_eq!(agents.as_array().unwrap().iter().filter(|agent| agent["name"] == "Once").count(), 1);
}

#[tokio::test]
async fn refusals_below_the_dashboard_are_pages() {
    let hub = Harness::start_with(Db::Sqlite, |config| config.rate_limit_max = 20).await;
    let ada = hub.agent("Ada").await;
    let person = Person::sign_in(&hub, &ada).await;
    let is_page = |reply: &Reply| {
        assert!(reply.header("content-type").unwrap().starts_with("text/html"), "{}", text(reply));
        assert!(reply.header("content-security-policy").is_some());
    };
    let missing = person.get("/app/nothing/at/all").await;
    assert_eq!(missing.status, 404);
    is_page(&missing);
    let wrong = person.post(&format!("{}/events", person.base), &[]).await;
    assert_eq!(wrong.status, 405);
    assert!(wrong.header("allow").unwrap().contains("GET"));
    is_page(&wrong);
    let full = loop {
        let reply = person.get("/app/nothing").await;
        if reply.status == 429 {
            break reply;
        }
    };
    assert!(full.header("retry-after").is_some() && full.header("ratelimit-limit") == Some("20"));
    is_page(&full);
    // The API answers programs.
    assert_eq!(
        hub.client.send("GET", "/nothing", None, None).await.refused(404, "not_found")["code"],
        "not_found"
    );
}
