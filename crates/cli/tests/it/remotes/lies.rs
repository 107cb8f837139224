//! Agents elsewhere that do not do what they should.

use rstest::rstest;
use serde_json::json;

use super::{Answer, Elsewhere, becomes, send, shown, start, task, telling};
use crate::harness::{Db, eventually};

#[rstest]
#[tokio::test]
async fn a_lie_fails_its_own_task_and_nothing_else() {
    let hub = start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let honest = Elsewhere::start().await;
    let trap = Elsewhere::start().await;
    let far = Elsewhere::start().await;
    let (good, bad) = (honest.add(&ada, json!({})).await, far.add(&ada, json!({})).await);
    let location = format!("location: {}/stolen\r\n", trap.url());
    for (answer, says) in [
        (Answer::Status(307, location), "redirects"),
        (Answer::Large(9 * 1024 * 1024), "larger"),
        (Answer::Status(200, "<html>".into()), "A2A"),
        (Answer::Result(json!({ "task": { "id": "far" } })), "A2A"),
        (Answer::Status(403, String::new()), "403"),
    ] {
        far.set_script(move |_| answer.clone());
        let work = send(&ada, &bad, json!({})).await;
        let failed = becomes(&hub, &ada, &work, "failed").await;
        let reason = failed["statusReason"].as_str().unwrap();
        assert!(reason.contains(says), "{says}: {reason}");
    }
    assert_eq!(trap.calls("SendMessage").len() + trap.calls("GET").len(), 0, "no redirect is followed");
    // An answer about another task is none.
    far.set_script(|seen| match seen.method.as_str() {
        "SendMessage" => Answer::Result(json!({ "task": task("far", "WORKING") })),
        _ => Answer::Result(telling("another", "COMPLETED", "a lie")),
    });
    let lied = send(&ada, &bad, json!({})).await;
    eventually(async || {
        hub.advance_ms(500);
        let error = shown_of(&ada, &bad).await;
        error.filter(|error| error.contains("another task"))
    })
    .await;
    assert_eq!(ada.view(&lied).await["status"], "working");
    // One that never answers keeps nobody waiting.
    far.set_script(|_| Answer::Silence);
    for _ in 0..8 {
        send(&ada, &bad, json!({})).await;
    }
    let work = send(&ada, &good, json!({})).await;
    becomes(&hub, &ada, &work, "completed").await;
}

async fn shown_of(owner: &crate::harness::Agent, remote: &str) -> Option<String> {
    let all = owner.get("/a2a/remotes").await.ok(200);
    let found = all.as_array().unwrap().iter().find(|one| one["agentId"] == remote)?.clone();
    found["lastError"].as_str().map(str::to_owned)
}

#[rstest]
#[tokio::test]
async fn an_endless_stream_is_a_bell_and_no_more() {
    let hub = start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let far = Elsewhere::start_with(|seen| match seen.method.as_str() {
        "SendMessage" => Answer::Result(json!({ "task": task("far", "WORKING") })),
        "SubscribeToTask" => Answer::Endless,
        _ => Answer::Result(task("far", "WORKING")),
    })
    .await;
    far.set_card(|card| card["capabilities"]["streaming"] = json!(true));
    let remote = far.add(&ada, json!({})).await;
    let work = send(&ada, &remote, json!({})).await;
    eventually(async || (!far.calls("SubscribeToTask").is_empty()).then_some(())).await;
    far.set_script(|_| Answer::Result(telling("far", "COMPLETED", "done")));
    let done = becomes(&hub, &ada, &work, "completed").await;
    assert_eq!((&done["result"], &shown(&ada).await["failingSince"]), (&json!("done"), &json!(null)));
}

#[rstest]
#[tokio::test]
async fn a_remote_that_is_silent_for_a_day_has_failed(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let ada = hub.agent("Ada").await;
    let far = Elsewhere::start_with(|seen| match seen.method.as_str() {
        "SendMessage" => Answer::Result(json!({ "task": task("far", "WORKING") })),
        _ => Answer::HangUp,
    })
    .await;
    let remote = far.add(&ada, json!({})).await;
    let work = send(&ada, &remote, json!({})).await;
    eventually(async || {
        hub.advance_ms(500);
        (ada.view(&work).await["status"] == "working").then_some(())
    })
    .await;
    hub.advance_ms(23 * 3_600 * 1_000);
    eventually(async || {
        hub.advance_ms(60_000);
        let view = ada.view(&work).await;
        (view["status"] == "failed").then_some(view)
    })
    .await;
}

#[rstest]
#[tokio::test]
async fn nothing_goes_further_than_eight_hubs_and_nothing_sealed() {
    let hub = start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let far = Elsewhere::start().await;
    let remote = far.add(&bob, json!({})).await;
    let calls = crate::a2a::Calls::new(&ada, &bob, crate::a2a::Binding::Rpc);
    let mut message = crate::a2a::at_once(crate::a2a::message("Go on"));
    let extension = "urn:tandem:a2a:hub:v1";
    message["message"]["extensions"] = json!([extension]);
    for (hops, status) in [(8, "rejected"), (7, "completed")] {
        message["message"]["metadata"] = json!({ extension: { "hops": hops } });
        message["message"]["messageId"] = json!(format!("m{hops}"));
        let above = calls.ok("SendMessage", message.clone()).await["task"]["id"].clone();
        let work = send(&bob, &remote, json!({ "parentTaskId": above })).await;
        becomes(&hub, &bob, &work, status).await;
    }
    let hops = &far.calls("SendMessage")[0].params["message"]["metadata"][extension]["hops"];
    assert_eq!(hops, 8);
}
