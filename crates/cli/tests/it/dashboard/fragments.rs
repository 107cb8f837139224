//! What an open page fetches again: the regions that have changed, and nothing that it has.

use serde_json::json;

use super::{Person, between, text};
use crate::harness::{ADMIN_TOKEN, Db, Harness};

fn versions(html: &str) -> String {
    between(html, "<template id=\"versions\">", "</template>").to_owned()
}

#[tokio::test]
async fn an_open_page_gets_only_what_has_changed() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let person = Person::sign_in(&hub, &ada).await;
    for path in ["", "/tasks", "/approvals", "/agents", "/figures", &format!("/tasks/{task}")] {
        let whole = person.page(path).await;
        let known = versions(&whole);
        hub.advance_ms(1_000);
        let same = text(&person.refresh(path, &known).await);
        // The drawing of a task's time and its ages move on; all else stays where it is.
        assert!(same.len() * 4 < whole.len(), "{path}: {} of {}: {same}", same.len(), whole.len());
        assert!(!same.contains("<main") && !same.contains("<nav"), "{path}: {same}");
        // Whoever shows something else gets the whole page.
        for other in ["1", "x.0,y.1", "<script>", &"a.b,".repeat(2_000)] {
            assert!(text(&person.refresh(path, other).await).contains("<main"), "{path} {other}");
        }
    }
    let known = versions(&person.page("").await);
    let asked = ada.task_with(&bob, json!({ "title": "Asks <b>" })).await;
    bob.set(&asked, "working").await.ok(200);
    bob.set(&asked, "input-required").await.ok(200);
    let changed = text(&person.refresh("", &known).await);
    assert!(changed.contains("<section class=\"card flush\" id=\"needs\""), "{changed}");
    assert!(changed.contains("Asks &#60;b&#62;") && changed.contains("<title>(1)"), "{changed}");
    assert!(!changed.contains("\u{1e}") && !changed.contains("\u{1f}"));
    assert!(!changed.contains("id=\"trouble\""), "it did not change");
    // It stays a page for whoever is signed in only.
    let nobody = Person::stranger(&hub);
    let nobody = Person { base: person.base.clone(), ..nobody };
    assert_eq!(nobody.refresh("", &known).await.status, 401);
}

#[tokio::test]
async fn the_operator_sees_names_and_times_and_no_content() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let secret = json!({ "title": "Secret title", "description": "Secret words" });
    let task = ada.task_with(&bob, secret).await;
    hub.advance_ms(2 * 86_400_000);
    let operator = Person::sign_in_with(&hub, ADMIN_TOKEN).await;
    for path in ["", "/agents", "/tasks", "/events", "/deliveries", "/settings", "/storage"] {
        let page = operator.page(path).await;
        assert!(!page.contains("Secret"), "{path}: {page}");
        let again = operator.refresh(path, &versions(&page)).await;
        assert!(again.status == 200 && !text(&again).contains("<main"), "{path}");
    }
    let overview = operator.page("").await;
    let oldest = between(&overview, "id=\"oldest-h\"", "</table>");
    assert!(oldest.contains(&task) && oldest.contains("Held for approval"), "{oldest}");
    assert!(oldest.contains(">Ada</span>") && oldest.contains("class=\"mini-life\""), "{oldest}");
    assert!(oldest.contains("<rect class=\"you\""), "{oldest}");
    let concerns = super::words(between(&overview, "id=\"concerns\"", "</section>"));
    assert!(concerns.contains("a task waits at the gate of “ Bob ”"), "{concerns}");
    for part in ["Throughput", "Errors", "Disk", "Oldest open work"] {
        assert!(overview.contains(part), "{part}");
    }
    let tasks = super::words(&operator.page("/tasks").await);
    assert!(tasks.contains("Ada") && tasks.contains("Bob"), "{tasks}");
}
