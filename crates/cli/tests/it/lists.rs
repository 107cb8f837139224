//! Lists of tasks: pages, filters, searches, and where a page ends.

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Agent, Db, Harness};

async fn ids(agent: &Agent, path: &str) -> Vec<String> {
    let list = agent.get(path).await.ok(200);
    list.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
}

/// Clients of PairAI read these lists whole.
#[rstest]
#[tokio::test]
async fn tasks_and_approvals_give_five_hundred(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    hub.fill(&ada, &bob, 510, None).await;
    for path in ["/tasks", "/approvals"] {
        for asked in ["", "?limit=1000"] {
            let first = bob.get(&format!("{path}{asked}")).await;
            assert_eq!(first.ok(200).as_array().unwrap().len(), 500, "{path}{asked}");
            let rest = ids(&bob, &first.next_link().unwrap()).await;
            assert_eq!(rest.len(), 10, "{path}{asked}");
        }
    }
}

#[rstest]
#[tokio::test]
async fn lists_are_paged_newest_first_and_filtered(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let cy = hub.agent("Cy").await;
    ada.pair_with(&cy).await;
    let mut all = Vec::new();
    for number in 0..12 {
        let title = if number % 5 == 0 { "Übung 100%" } else { "plain" };
        let (from, to) =
            if number % 3 == 0 { (&bob, &ada) } else { (&ada, if number % 2 == 0 { &bob } else { &cy }) };
        all.insert(0, from.task_with(to, json!({ "title": title })).await);
    }
    ada.set(&all[0], "cancelled").await.ok(200);
    assert_eq!(ids(&ada, "/tasks").await, all);

    let mut paged = Vec::new();
    let mut next = Some("/api/v1/tasks?limit=5".to_owned());
    while let Some(path) = next {
        let reply = ada.get(&path).await;
        let page = reply.ok(200);
        assert!(page.as_array().unwrap().len() <= 5);
        paged.extend(page.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()));
        next = reply.next_link();
        assert!(next.as_ref().is_none_or(|path| path.starts_with("/api/v1/tasks?limit=5&cursor=")));
    }
    assert_eq!(paged, all);

    assert_eq!(ids(&ada, "/tasks?status=cancelled").await, all[..1]);
    assert_eq!(ids(&ada, "/tasks?role=target&status=draft").await.len(), 0);
    assert_eq!(ids(&ada, "/tasks?role=initiator").await.len(), 8);
    assert_eq!(ids(&ada, "/tasks?role=target").await.len(), 4);
    assert_eq!(ids(&ada, &format!("/tasks?with={}", cy.id)).await.len(), 4);
    assert_eq!(ids(&ada, "/tasks?q=%C3%9CBUNG").await.len(), 3);
    assert_eq!(ids(&ada, "/tasks?q=0%25").await.len(), 3);
    assert_eq!(ids(&ada, "/tasks?q=_").await.len(), 0);
    assert_eq!(ids(&ada, "/tasks?limit=100000").await.len(), 12);
    for bad in [
        "limit=0",
        "limit=-1",
        "limit=x",
        "status=odd",
        "role=boss",
        "cursor=x",
        "cursor=1.",
        "with=%00",
        "q=%00",
    ] {
        ada.get(&format!("/tasks?{bad}")).await.refused(400, "validation");
    }
}

#[rstest]
#[tokio::test]
async fn a_search_goes_on_where_a_page_stopped(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let cy = hub.agent("Cy").await;
    cy.pair_with(&bob).await;
    let needle = cy.task_with(&bob, json!({ "title": "a needle" })).await;
    let with = format!("/tasks?with={}&role=target&limit=1", cy.id);
    for (search, others) in [(with.as_str(), 1_999), ("/tasks?q=needle", 2_999)] {
        hub.fill(&ada, &bob, others, None).await;
        assert_eq!(ids(&bob, search).await, [needle.as_str()], "the last one that a page looks at");
        hub.advance_ms(1);
        hub.fill(&ada, &bob, 1, None).await;
        let first = bob.get(search).await;
        assert_eq!(first.ok(200), json!([]), "a page looks at 2,000 tasks by party, at 5,000 by title");
        let second = bob.get(&first.next_link().unwrap()).await;
        assert_eq!(second.ok(200)[0]["id"], needle.as_str());
        assert_eq!(second.next_link(), None);
    }
}

/// A text as long as texts get, and one whose characters are written as six each: both fill a page by what goes over the
/// wire.
fn long_texts() -> [String; 2] {
    ["x".repeat(256 << 10), "\u{1}".repeat(42_000)]
}

#[rstest]
#[tokio::test]
async fn a_page_of_long_texts_is_cut_and_goes_on(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(0, 1)] kind: usize,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let text = &long_texts()[kind];
    let mut all = Vec::new();
    for _ in 0..40 {
        all.insert(0, ada.task_with(&bob, json!({ "description": text })).await);
    }
    let follow = async |mut next: Option<String>| {
        let (mut seen, mut pages) = (Vec::new(), 0);
        while let Some(path) = next {
            let reply = bob.get(&path).await;
            assert!(reply.bytes.len() < (9 << 19), "{}", reply.bytes.len());
            seen.push(reply.ok(200).as_array().unwrap().clone());
            pages += 1;
            next = reply.next_link();
        }
        (seen, pages)
    };
    let (seen, pages) = follow(Some("/tasks".into())).await;
    let ids: Vec<&Value> = seen.iter().flatten().map(|task| &task["id"]).collect();
    assert_eq!((ids, pages), (all.iter().map(|id| json!(id)).collect::<Vec<_>>().iter().collect(), 3));

    let thread = format!("/tasks/{}/messages", all[0]);
    for _ in 0..40 {
        ada.post(&thread, json!({ "content": text })).await.ok(201);
    }
    let (seen, pages) = follow(Some(thread)).await;
    assert_eq!((seen.iter().map(Vec::len).sum::<usize>(), pages), (40, 3));
    let read = format!("/tasks/{}/read", all[0]);
    let first = bob.post_empty(&read).await.ok(200);
    let given = first["messages"].as_array().unwrap().len();
    assert_eq!((given < 20, &first["unreadCount"]), (true, &json!(40 - given)));
    bob.post_empty(&read).await.ok(200);
    assert_eq!(bob.post_empty(&read).await.ok(200)["unreadCount"], 0);
    assert_eq!(bob.view(&all[0]).await["unreadCount"], 0);
}

#[rstest]
#[tokio::test]
async fn many_that_expire_at_once_are_no_excuse(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    hub.fill(&ada, &bob, 1_500, Some(60)).await;
    hub.advance_ms(60_001);
    assert_eq!(bob.get("/tasks?status=submitted&limit=1").await.ok(200), json!([]));
}

/// The same for tasks at the gate and for broadcasts: what has no room on a page is on the next one.
#[rstest]
#[tokio::test]
async fn long_approvals_and_broadcasts_go_on(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(0, 1)] kind: usize,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let text = &long_texts()[kind];
    let network =
        ada.post("/networks", json!({ "name": "All" })).await.ok(201)["id"].as_str().unwrap().to_owned();
    for _ in 0..20 {
        ada.task_with(&bob, json!({ "description": text })).await;
        ada.post(&format!("/networks/{network}/broadcast"), json!({ "content": text })).await.ok(201);
    }
    for (reader, path) in [(&bob, "/approvals".to_owned()), (&ada, format!("/networks/{network}/messages"))] {
        let (mut next, mut seen, mut pages) = (Some(path), 0, 0);
        while let Some(path) = next {
            let reply = reader.get(&path).await;
            assert!(reply.bytes.len() < (9 << 19), "{}", reply.bytes.len());
            seen += reply.ok(200).as_array().unwrap().len();
            pages += 1;
            next = reply.next_link();
        }
        assert_eq!((seen, pages), (20, 2));
    }
}
