//! Home, the list of tasks, the board and the form for a new task.

use rstest::rstest;
use serde_json::json;

use super::{Person, between, encoded, text, words};
use crate::harness::{Agent, Db, Harness, eventually};

/// Markup, an attribute's end, text from right to left, and 10 kB without a space.
const HOSTILE: &str = "<img src=x onerror=alert(1)>\"'><script>alert(2)</script>\u{202e}gnp.exe &amp;";

async fn start(db: Db) -> (Harness, Agent, Agent, Person) {
    // The figures of a page are those of the node that shows it.
    let hub = Harness::start(db).await.at_one_node();
    let (ada, bob) = hub.pair().await;
    let person = Person::sign_in(&hub, &ada).await;
    (hub, ada, bob, person)
}

/// The titles of a list, in its order.
fn titles(html: &str) -> Vec<String> {
    let cell = |part: &str| part.split_once("</a>").unwrap().0.split_once('>').unwrap().1.to_owned();
    html.split("<a class=\"title row-link\"").skip(1).map(cell).collect()
}

/// The ids of the tasks that a page links to.
fn linked(html: &str) -> Vec<String> {
    let id = |part: &str| part.split_once("/tasks/").unwrap().1.split_once('"').unwrap().0.to_owned();
    html.split("<a class=\"title row-link\"").skip(1).map(id).collect()
}

#[tokio::test]
async fn pages_need_a_sign_in_of_that_agent() {
    let (hub, _, bob, person) = start(Db::Sqlite).await;
    for path in ["", "/tasks", "/tasks?view=board", "/new-task", "/figures"] {
        let guest = hub.client.send("GET", &format!("{}{path}", person.base), None, None).await;
        assert_eq!(guest.status, 303);
        assert!(guest.header("location").unwrap().starts_with("/app/sign-in?next="), "{path}");
        // Another agent's page, whether it exists or not.
        for other in [&*bob.id, "agent_nobody", "%3Cscript%3E"] {
            let refused = person.get(&format!("/app/{other}{path}")).await;
            assert_eq!(refused.status, 303, "{other}{path}");
            assert!(refused.header("location").unwrap().starts_with("/app/sign-in"));
        }
        person.page(path).await;
    }
    // An API key is no session, and a session is no API key.
    let by_key = hub.client.send("GET", &person.base, Some(&bob.key), None).await;
    assert_eq!(by_key.status, 303);
    let refused = person.post(&format!("/app/{}/new-task", bob.id), &[("title", "x")]).await;
    assert_eq!(refused.status, 401);
}

#[tokio::test]
async fn an_agent_without_connections_gets_the_first_steps() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let person = Person::sign_in(&hub, &ada).await;
    let home = person.page("").await;
    for step in ["Connect an AI tool", "tandem setup --hub http", "tandem pair", "tandem send", "tandem demo"]
    {
        assert!(home.contains(step), "{step}");
    }
    assert!(home.contains(&format!("href=\"{}/agents/pair\"", person.base)));
    assert!(home.contains("Waiting for the first sign of life"));
    assert!(!home.contains("class=\"okbars\""));
    // A person who looks on is no sign of life; a request of the agent is.
    ada.get("/agents/me").await.ok(200);
    let seen = eventually(async || {
        let home = person.page("").await;
        home.contains("Ada has been seen").then_some(home)
    });
    seen.await;
    let tasks = words(&person.page("/tasks").await);
    assert!(tasks.contains("No tasks yet") && tasks.contains("Pair with an agent"), "{tasks}");
    let form = words(&person.page("/new-task").await);
    assert!(form.contains("Ada is not connected with anybody."), "{form}");
}

#[rstest]
#[tokio::test]
async fn home_says_what_needs_the_owner(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (hub, ada, bob, person) = start(db).await;
    assert!(words(&person.page("").await).contains("Nothing needs you."));
    ada.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    bob.task_with(&ada, json!({ "title": "Held one", "ttlSeconds": 600 })).await;
    bob.task_with(&ada, json!({ "title": "Held for ever" })).await;
    let asked = ada.task_with(&bob, json!({ "title": "Question" })).await;
    bob.set(&asked, "working").await.ok(200);
    bob.patch(
        &format!("/tasks/{asked}"),
        json!({ "status": "input-required", "reason": "staging or prod?" }),
    )
    .await
    .ok(200);
    let reviewed = ada.task_with(&bob, json!({ "title": "Reviewed", "requiresReview": true })).await;
    bob.post(&format!("/tasks/{reviewed}/reply"), json!({ "content": "done" })).await.ok(200);
    let keyed = ada.task_with(&bob, json!({ "title": "Locked" })).await;
    bob.set(&keyed, "working").await.ok(200);
    bob.set(&keyed, "auth-required").await.ok(200);
    let failed = ada.task_with(&bob, json!({ "title": "Broken" })).await;
    bob.post(&format!("/tasks/{failed}/reply"), json!({ "content": "no", "outcome": "failed" }))
        .await
        .ok(200);
    let home = person.page("").await;
    let needs = between(&home, "id=\"needs\"", "</section>");
    let said = words(needs);
    let order = [
        "Approve or reject: Held one",
        "Approve or reject: Held for ever",
        "Answer: Question",
        "Authorise: Locked",
        "Accept the result: Reviewed",
        "Retry or leave: Broken",
    ];
    let places: Vec<usize> =
        order.iter().map(|row| said.find(row).unwrap_or_else(|| panic!("{row}: {said}"))).collect();
    assert!(places.is_sorted(), "{said}");
    assert!(said.contains("“staging or prod?”") && said.contains("10 min left"), "{said}");
    assert!(home.contains("6 things need you."));
    assert!(needs.contains(&format!("href=\"{}/tasks/{reviewed}\"", person.base)));
    // The target is not asked about what waits for the initiator.
    let other = Person::sign_in(&hub, &bob).await;
    assert!(words(&other.page("").await).contains("Nothing needs you."));
    // After a day, a failure is no news.
    hub.advance_ms(86_500_000);
    let home = words(&Person::sign_in(&hub, &ada).await.page("").await);
    assert!(!home.contains("Retry or leave: Broken"), "{home}");
    assert!(home.contains("Approve or reject: Held for ever") && !home.contains("Held one"), "{home}");
}

#[tokio::test]
async fn a_webhook_that_fails_needs_the_owner() {
    let hub = Harness::start_with(Db::Sqlite, |config| {
        config.webhook_allow_http = true;
        config.webhook_allow_private = true;
    })
    .await;
    let (ada, bob) = hub.pair().await;
    // Nobody listens there.
    ada.patch("/agents/me", json!({ "webhookUrl": "http://127.0.0.1:9/hook" })).await.ok(200);
    let person = Person::sign_in(&hub, &ada).await;
    assert!(words(&person.page("/webhooks").await).contains("Active"));
    bob.task(&ada).await;
    let home = eventually(async || {
        let home = words(&person.page("").await);
        home.contains("Repair the webhook").then_some(home)
    })
    .await;
    assert!(home.contains("it does not answer, 1 try so far"), "{home}");
}

#[tokio::test]
async fn home_shows_the_own_agents_and_what_waits_for_others() {
    let (hub, ada, bob, person) = start(Db::Sqlite).await;
    ada.task_with(&bob, json!({ "title": "With bob" })).await;
    for path in ["/tasks", "/tasks?view=board", "/agents", "/search?q=bob"] {
        assert!(person.page(path).await.contains("avatar foreign"), "{path}");
    }
    let both = person.also(&hub, &bob).await;
    let home = both.page("").await;
    let yours = words(between(&home, "id=\"yours\"", "</section>"));
    assert!(yours.contains("Ada") && yours.contains("Bob") && yours.contains("1 open"), "{yours}");
    assert!(words(between(&home, "id=\"others\"", "</section>")).contains("With bob Submitted"), "{home}");
    // One connection and one task: for Ada's own log, one event.
    let events = words(between(&home, "id=\"throughput\"", "</section>"));
    assert!(events.contains("Events 1 in 24 hours"), "{events}");
    // What the same person owns is nowhere another owner's.
    for path in ["", "/tasks", "/tasks?view=board", "/agents", "/search?q=bob", "/figures"] {
        let page = both.page(path).await;
        assert_eq!(page.matches("avatar foreign").count(), 0, "{path}: {page}");
    }
}

#[rstest]
#[tokio::test]
async fn the_list_filters_by_its_url(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (hub, ada, bob, person) = start(db).await;
    let cyd = hub.agent("Cyd").await;
    ada.pair_with(&cyd).await;
    let done = ada.task_with(&bob, json!({ "title": "Report for spring" })).await;
    bob.set(&done, "working").await.ok(200);
    bob.set(&done, "completed").await.ok(200);
    ada.task_with(&cyd, json!({ "title": "Report for autumn", "priority": "high" })).await;
    bob.task_with(&ada, json!({ "title": "Review 100%" })).await;
    ada.task_with(&bob, json!({ "title": "A draft", "draft": true })).await;
    let failed = ada.task_with(&bob, json!({ "title": "Broken" })).await;
    bob.post(&format!("/tasks/{failed}/reply"), json!({ "content": "no", "outcome": "failed" }))
        .await
        .ok(200);
    let list = async |query: &str| titles(&person.page(&format!("/tasks{query}")).await);
    assert_eq!(list("").await.len(), 5);
    let with_cyd = format!("?with={}", cyd.id);
    for (query, found) in [
        ("?status=completed", &["Report for spring"][..]),
        // What waits for others comes before what is in work.
        ("?status=open", &["Report for autumn", "Review 100%"]),
        ("?status=bad", &["Broken"]),
        ("?status=draft", &["A draft"]),
        ("?status=waiting", &[]),
        ("?role=target", &["Review 100%"]),
        ("?role=initiator&status=submitted", &["Report for autumn"]),
        (&with_cyd, &["Report for autumn"]),
        ("?q=report", &["Report for autumn", "Report for spring"]),
        ("?q=100%25&status=&role=&with=", &["Review 100%"]),
        ("?q=nothing+like+it", &[]),
    ] {
        assert_eq!(list(query).await, found, "{query}");
    }
    let page = person.page("/tasks?status=open&role=initiator&q=report").await;
    assert!(page.contains("high priority"));
    // The filters stay while another one is changed, and lead out.
    assert!(
        page.contains("/tasks?status=working&amp;role=initiator&amp;q=report")
            || page.contains("/tasks?status=working&#38;role=initiator&#38;q=report"),
        "{page}"
    );
    assert!(page.contains("name=\"status\" value=\"open\""));
    let chips = words(&person.page("/tasks").await);
    for chip in ["Open 2", "Submitted 2", "Draft 1", "Completed 1", "Ended badly 1"] {
        assert!(chips.contains(chip), "{chip}: {chips}");
    }
    let none = person.page("/tasks?q=nothing+like+it").await;
    assert!(
        words(&none).contains("No task matches") && none.contains(&format!("href=\"{}/tasks\"", person.base))
    );
    for wrong in ["?status=bogus", "?role=hub", "?cursor=x", "?with=%20%21", "?view=pie"] {
        let reply = person.get(&format!("{}/tasks{wrong}", person.base)).await;
        assert_eq!(reply.status, 400, "{wrong}");
    }
    // The same list elsewhere.
    let page = person.page("/tasks?status=completed&role=initiator&q=it's").await;
    assert!(words(&page).contains("tandem task list --sent --search"), "{page}");
    assert!(page.contains("/api/v1/tasks?status=completed"));
    assert!(
        words(&person.page("/tasks?status=bad").await)
            .contains("for status in failed rejected expired; do tandem task list --status $status; done")
    );
}

#[tokio::test]
async fn a_hundred_tasks_are_shown_page_by_page() {
    let (hub, ada, bob, person) = start(Db::Sqlite).await;
    hub.fill(&ada, &bob, 110, None).await;
    let mut path = "/tasks".to_owned();
    let mut seen = Vec::new();
    loop {
        let page = person.page(&path).await;
        let found = linked(&page);
        assert!(found.len() <= 50);
        seen.extend(found);
        let Some(next) = page.split("\" rel=\"next\">Older").next().filter(|_| page.contains("rel=\"next\""))
        else {
            break;
        };
        path = next.rsplit_once("href=\"").unwrap().1.replace(&person.base, "");
    }
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((count, seen.len()), (110, 110), "each once");
    assert!(words(&person.page(&path).await).contains("Newest"));
    let board = person.page("/tasks?view=board").await;
    assert_eq!(linked(&board).len(), 20);
    assert!(words(&board).contains("Waits for others 20+"), "{}", words(&board));
    assert!(board.contains(&format!("href=\"{}/tasks?status=open\"", person.base)));
    // A page takes as many reads of the database, whatever is stored.
    let reads = || hub.hub.db.store().stats().figures().iter().find(|(name, _)| *name == "reads").unwrap().1;
    let mut costs = Vec::new();
    for query in ["?status=submitted", "?status=completed"] {
        let before = reads();
        person.page(&format!("/tasks{query}")).await;
        costs.push(reads() - before);
    }
    assert!(costs[0].abs_diff(costs[1]) <= 3, "{costs:?}");
}

#[tokio::test]
async fn the_board_sorts_tasks_into_columns() {
    let (hub, ada, bob, person) = start(Db::Sqlite).await;
    ada.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    bob.task_with(&ada, json!({ "title": "At the gate" })).await;
    for (title, statuses) in [
        ("Waits", &[][..]),
        ("Runs", &["working"]),
        ("Asks", &["working", "input-required"]),
        ("Locked", &["working", "auth-required"]),
        ("Good", &["working", "completed"]),
        ("Bad", &["working", "failed"]),
        ("No", &["rejected"]),
    ] {
        let task = ada.task_with(&bob, json!({ "title": title })).await;
        for status in statuses {
            bob.set(&task, status).await.ok(200);
        }
    }
    let board = person.page("/tasks?view=board").await;
    let columns: Vec<Vec<String>> =
        board.split("<section class=\"board-column\"").skip(1).map(titles).collect();
    assert_eq!(
        columns,
        [
            vec!["Locked".to_owned(), "Asks".into(), "At the gate".into()],
            vec!["Waits".into()],
            vec!["Runs".into()],
            vec!["Good".into()],
            vec!["No".into(), "Bad".into()],
        ]
    );
    assert!(words(&board).contains("Held for approval"));
    let own = person.page("/tasks?view=board&role=target").await;
    assert_eq!(titles(&own), ["At the gate"]);
    let sent = titles(&person.page("/tasks?view=board&role=initiator").await);
    assert!(sent.len() == 7 && !sent.contains(&"At the gate".to_owned()), "{sent:?}");
    // The list draws where the time went.
    hub.advance_ms(60_000);
    let list = person.page("/tasks").await;
    assert_eq!(list.matches("class=\"mini-life\"").count(), 8);
    assert!(list.contains("aria-label=\"Held at your gate"), "{list}");
}

#[tokio::test]
async fn hostile_titles_and_names_are_text() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let eve = hub.agent_with(json!({ "name": "<b onclick=x>Eve\"'></b>" })).await;
    let person = Person::sign_in(&hub, &ada).await;
    ada.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    ada.pair_with(&eve).await;
    let long = "x".repeat(128);
    eve.task_with(&ada, json!({ "title": HOSTILE })).await;
    eve.task_with(&ada, json!({ "title": long, "description": "y".repeat(10_000) })).await;
    let back = ada.task_with(&eve, json!({ "title": HOSTILE })).await;
    eve.patch(
        &format!("/tasks/{back}"),
        json!({ "status": "rejected", "reason": "</td><script>alert(3)</script>" }),
    )
    .await
    .ok(200);
    let asked = ada.task_with(&eve, json!({ "title": "Ask" })).await;
    eve.set(&asked, "working").await.ok(200);
    let reason = format!("<script>alert(4)</script>{}", "z".repeat(400));
    eve.patch(&format!("/tasks/{asked}"), json!({ "status": "input-required", "reason": reason }))
        .await
        .ok(200);
    let network =
        ada.post("/networks", json!({ "name": "<i>Net\"" })).await.ok(201)["id"].as_str().unwrap().to_owned();
    let invite = ada.post(&format!("/networks/{network}/invites"), json!({})).await.ok(201)["code"].clone();
    eve.post("/networks/join", json!({ "code": invite })).await.ok(201);
    let encoded = encoded(HOSTILE);
    let huge: String = "q".repeat(200);
    for path in [
        String::new(),
        "/tasks".into(),
        "/tasks?view=board".into(),
        "/figures".into(),
        format!("/tasks?q={encoded}"),
        format!("/tasks?q={huge}"),
        format!("/tasks?with={}", eve.id),
        "/new-task".into(),
        format!(
            "/new-task?title={encoded}&other={encoded}&description={encoded}&ttlSeconds={encoded}&to={encoded}"
        ),
    ] {
        let page = person.page(&path).await;
        for bad in ["<img", "<script>", "<b onclick", "<i>Net", "onerror=alert(1)>", "\"'>", "</td><script"] {
            assert!(!page.contains(bad), "{bad} in {path}: {page}");
        }
        assert!(!page.contains(" style=") && !page.contains("javascript:"), "{path}");
    }
    let list = person.page("/tasks").await;
    assert!(list.contains("&#60;img src=x") || list.contains("&lt;img src=x"), "{list}");
    assert!(!list.contains(&"y".repeat(100)), "descriptions are not read for a list");
    let home = person.page("").await;
    assert!(!home.contains(&"z".repeat(200)), "a long reason is cut");
}

#[tokio::test]
async fn a_task_is_sent_once_or_the_form_says_what_is_wrong() {
    let (hub, ada, bob, person) = start(Db::Sqlite).await;
    let fields = [
        ("to", &*bob.id),
        ("title", "From a page"),
        ("description", "All of it"),
        ("priority", "high"),
        ("ttlSeconds", "10m"),
        ("leaseSeconds", "30s"),
        ("onStall", "retry"),
        ("maxAttempts", "2"),
        ("checkInSeconds", "0"),
        ("maxMessages", "7"),
        ("requiresReview", "true"),
    ];
    let sent = person.submit("/new-task", "/new-task", &fields).await;
    assert_eq!(sent.status, 303, "{}", text(&sent));
    let place = sent.header("location").unwrap();
    let id = between(place, "/tasks/", "?done=created").to_owned();
    let task = ada.view(&id).await;
    for (field, value) in [
        ("title", json!("From a page")),
        ("description", json!("All of it")),
        ("priority", json!("high")),
        ("ttlSeconds", json!(600)),
        ("leaseSeconds", json!(30)),
        ("onStall", json!("retry")),
        ("maxAttempts", json!(2)),
        ("checkInSeconds", json!(0)),
        ("maxMessages", json!(7)),
        ("requiresReview", json!(true)),
        ("status", json!("submitted")),
    ] {
        assert_eq!(task[field], value, "{field}");
    }
    // The same form twice, as after a double click, makes one task.
    let page = person.page("/new-task").await;
    let (csrf, once) = (super::hidden(&page, "csrf"), super::hidden(&page, "once"));
    let form = [("csrf", &*csrf), ("once", &*once), ("to", &*bob.id), ("title", "Once"), ("draft", "true")];
    let path = format!("{}/new-task", person.base);
    let (first, second) = (person.post(&path, &form).await, person.post(&path, &form).await);
    assert_eq!((first.status, second.status), (303, 303));
    assert_eq!(first.header("location"), second.header("location"));
    assert!(first.header("location").unwrap().ends_with("?done=draft"));
    assert_eq!(titles(&person.page("/tasks?status=draft").await), ["Once"]);
    // What is wrong is said beside the field, and what was typed is kept.
    let cyd = hub.agent("Cyd").await;
    for (fields, field, why) in [
        (&[("to", ""), ("title", "kept")][..], "to-error", "Choose who gets the task."),
        (&[("to", &*bob.id), ("description", "kept")], "title-error", "Say what is to be done"),
        (&[("to", &*bob.id), ("title", "kept"), ("ttlSeconds", "soon")], "ttl-error", "such as 90s"),
        (&[("to", &*bob.id), ("title", "kept"), ("leaseSeconds", "1s")], "lease-error", "must be from 10"),
        (
            &[("to", &*bob.id), ("title", "kept"), ("maxMessages", "many")],
            "budget-error",
            "must be a whole number",
        ),
        (&[("other", &*cyd.id), ("title", "kept")], "to-error", "pair with it first"),
        (&[("other", "nobody here"), ("title", "kept")], "to-error", ""),
    ] {
        let reply = person.submit("/new-task", "/new-task", fields).await;
        let html = text(&reply);
        assert!((400..500).contains(&reply.status), "{fields:?}: {} {html}", reply.status);
        let said = words(between(&html, &format!("id=\"{field}\">"), "</p>"));
        assert!(said.to_lowercase().contains(&why.to_lowercase()), "{field}: {said}");
        assert!(html.contains("kept") && html.contains("aria-invalid=\"true\""), "{field}");
    }
    // A form that is not ours, or not whole, changes nothing.
    let foreign = person.post(&path, &[("to", &*bob.id), ("title", "Stolen")]).await;
    assert_eq!(foreign.status, 403);
    assert_eq!(titles(&person.page("/tasks").await).len(), 2);
}

#[tokio::test]
async fn a_task_goes_to_a_member_of_a_network() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, dan) = (hub.agent("Ada").await, hub.agent("Dan").await);
    let network =
        ada.post("/networks", json!({ "name": "Crew" })).await.ok(201)["id"].as_str().unwrap().to_owned();
    let invite = ada.post(&format!("/networks/{network}/invites"), json!({})).await.ok(201)["code"].clone();
    dan.post("/networks/join", json!({ "code": invite })).await.ok(201);
    let person = Person::sign_in(&hub, &ada).await;
    let form = person.page("/new-task").await;
    assert!(
        form.contains("label=\"Network Crew\"") && form.contains(&format!("value=\"{network}:{}\"", dan.id))
    );
    assert!(!form.contains(&format!("{network}:{}", ada.id)));
    let to = format!("{network}:{}", dan.id);
    let sent = person.submit("/new-task", "/new-task", &[("to", &to), ("title", "For a member")]).await;
    assert_eq!(sent.status, 303, "{}", text(&sent));
    assert_eq!(titles(&person.page("/tasks").await), ["For a member"]);
}
