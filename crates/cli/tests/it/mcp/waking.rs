//! How a client learns that something waits.

use rstest::rstest;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::{NEW, Session, Stream, messages};
use crate::harness::{Agent, Db, Harness, eventually};

#[rstest]
#[tokio::test]
async fn a_call_can_wait_for_something_new(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await.at_one_node();
    let (ada, bob) = hub.pair().await;
    let waiting = {
        let bob = bob.clone();
        tokio::spawn(async move { bob.told("wait_for_updates", json!({ "acknowledge": true })).await })
    };
    eventually(async || (hub.reach(&bob.id.parse().unwrap()).is_some()).then_some(())).await;
    let task = ada.task(&bob).await;
    let (words, updates) = waiting.await.unwrap();
    assert!(words.contains(&task), "{words}");
    assert_eq!(updates["pendingTasks"][0]["id"], task.as_str());
    // It waits until somebody takes it, whatever has been acknowledged.
    assert!(bob.told("check_updates", json!({})).await.0.contains(&task));
    bob.set(&task, "working").await.ok(200);
    assert_eq!(bob.told("check_updates", json!({})).await.0, "No updates. You're all caught up.");

    let second = ada.task(&bob).await;
    let (words, _) = bob.told("wait_for_updates", json!({})).await;
    assert!(words.contains(&second), "what is there already is told at once: {words}");
    // But only once: who waits again waits for something newer.
    let again = tokio::time::Instant::now();
    let (words, nothing) = bob.told("wait_for_updates", json!({ "seconds": 1 })).await;
    assert!(again.elapsed().as_millis() >= 1_000 && words.starts_with("Nothing new."), "{words}");
    assert_eq!((&nothing["hasUpdates"], &nothing["pendingTasks"]), (&json!(false), &json!([])));
    // What happens between two calls is told by the next, whatever it is; a receipt is not.
    bob.post(&format!("/tasks/{second}/messages"), json!({ "content": "hello" })).await.ok(201);
    ada.post_empty(&format!("/tasks/{second}/ack")).await.ok(200);
    let carol = hub.agent("Carol").await;
    bob.pair_with(&carol).await;
    let (words, _) = bob.told("wait_for_updates", json!({})).await;
    assert!(words.contains(&format!("agent.connected by {}", super::fenced("Carol"))), "{words}");
    ada.post_empty(&format!("/tasks/{second}/read")).await.ok(200);
    let again = tokio::time::Instant::now();
    bob.told("wait_for_updates", json!({ "seconds": 1 })).await;
    assert!(again.elapsed().as_millis() >= 1_000, "a receipt wakes nobody");
    let cursor = &updates["cursor"];
    let (_, newer) = bob.told("wait_for_updates", json!({ "after": cursor })).await;
    assert!(newer["cursor"].as_i64() > cursor.as_i64());
    let after = json!({ "after": newer["cursor"], "seconds": 1 });
    let (words, _) = bob.told("wait_for_updates", after).await;
    assert!(words.starts_with("Nothing new."), "old news are not repeated when the time is over: {words}");
    // A call without news has nothing to acknowledge.
    ada.post(&format!("/tasks/{second}/messages"), json!({ "content": "hello" })).await.ok(201);
    bob.told("wait_for_updates", json!({})).await;
    let (words, _) = bob.told("wait_for_updates", json!({ "seconds": 1, "acknowledge": true })).await;
    assert!(words.starts_with("Nothing new."), "{words}");
    assert_eq!(bob.told("check_updates", json!({})).await.1["unreadMessages"][0]["count"], 1);
    bob.told("check_updates", json!({ "acknowledge": true })).await;
    bob.set(&second, "working").await.ok(200);
    let (words, _) = bob.told("wait_for_updates", json!({ "seconds": 1 })).await;
    assert_eq!(words, "No updates. You're all caught up.");
}

#[rstest]
#[tokio::test]
async fn a_session_is_told_that_its_inbox_has_changed(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let session = Session::begin(&bob, json!({})).await;
    let mut stream = session.stream().await;
    let subscribed = session.ask("resources/subscribe", json!({ "uri": "tandem://inbox" })).await;
    assert_eq!(subscribed["result"], json!({}));
    let other = session.ask("resources/subscribe", json!({ "uri": "tandem://other" })).await;
    assert_eq!(other["error"]["code"], -32002);
    // One may read a task and not subscribe to it. The refusal says so, and the same of any other task.
    let own = bob.task(&ada).await;
    let refused = async |task: &str| {
        let uri = format!("tandem://tasks/{task}");
        let error = session.ask("resources/subscribe", json!({ "uri": uri })).await["error"].clone();
        (error["code"].clone(), error["message"].as_str().unwrap().to_owned())
    };
    let (code, why) = refused(&own).await;
    assert!(code == -32602 && why.contains("only tandem://inbox"), "{why}");
    assert_eq!(refused("task_unknown").await, (code, why));
    assert_eq!(ada.get("/connections").await.ok(200)[0]["reach"], "stream");

    let task = ada.task(&bob).await;
    let updated = json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "uri": "tandem://inbox" } });
    assert_eq!(stream.next().await.unwrap(), updated);
    // A sign that it was read wakes nobody; the next message does.
    bob.post(&format!("/tasks/{task}/messages"), json!({ "content": "hello" })).await.ok(201);
    ada.post_empty(&format!("/tasks/{task}/ack")).await.ok(200);
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "hello" })).await.ok(201);
    assert_eq!(stream.next().await.unwrap(), updated);

    session.ask("resources/unsubscribe", json!({ "uri": "tandem://inbox" })).await;
    let other = Session::begin(&bob, json!({})).await;
    let mut of_other = other.stream().await;
    other.ask("resources/subscribe", json!({ "uri": "tandem://inbox" })).await;
    ada.task(&bob).await;
    assert_eq!(of_other.next().await.unwrap(), updated);
    session.plain("DELETE").await;
    assert_eq!(stream.next().await, None, "neither the acknowledgement nor the second task was told");
}

async fn listen(agent: &Agent, uri: &str) -> Stream {
    let body = json!({ "jsonrpc": "2.0", "id": "listen", "method": "subscriptions/listen", "params": {
        "notifications": { "resourceSubscriptions": [uri], "toolsListChanged": true },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }})
    .to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: {NEW}\r\n\
         mcp-method: subscriptions/listen\r\ncontent-length: {}\r\n\r\n",
        agent.client.address,
        agent.key,
        body.len(),
    );
    Stream::open(agent, &head, &body).await
}

#[rstest]
#[tokio::test]
async fn a_subscription_of_the_new_era_is_recipiento(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut stream = listen(&bob, "tandem://inbox").await;
    let accepted = stream.next().await.unwrap();
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(accepted["params"]["notifications"], json!({ "resourceSubscriptions": ["tandem://inbox"] }));
    eventually(async || (hub.reach(&bob.id.parse().unwrap()).is_some()).then_some(())).await;
    ada.task(&bob).await;
    let updated = stream.next().await.unwrap();
    assert_eq!(updated["method"], "notifications/resources/updated");
    assert_eq!(updated["params"]["uri"], "tandem://inbox");
    assert_eq!(updated["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "listen");
    bob.post_empty("/agents/me/rotate-key").await.ok(200);
    let ended = stream.next().await.unwrap();
    assert_eq!(ended["id"], "listen", "it ends with the key: {ended}");
}

/// Who handed a task over learns what became of it, and who waits to be paired that it happened.
#[rstest]
#[tokio::test]
async fn what_becomes_of_a_task_is_told(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    assert_eq!(ada.told("check_updates", json!({})).await.0, "No updates. You're all caught up.");
    let task = ada.task(&bob).await;
    let waiting = {
        let ada = ada.clone();
        tokio::spawn(async move { ada.told("wait_for_updates", json!({})).await })
    };
    eventually(async || hub.reach(&ada.id.parse().unwrap()).map(drop)).await;
    // A receipt is not worth waking up for.
    bob.post_empty(&format!("/tasks/{task}/ack")).await.ok(200);
    bob.patch(&format!("/tasks/{task}"), json!({ "status": "rejected", "reason": "no time" })).await.ok(200);
    let (words, told) = waiting.await.unwrap();
    assert!(words.contains(&task) && words.contains("now rejected") && words.contains("no time"), "{words}");
    assert_eq!((&told["hasUpdates"], &told["events"][0]["type"]), (&json!(true), &json!("task.updated")));
    ada.told("check_updates", json!({ "acknowledge": true })).await;
    assert_eq!(ada.told("check_updates", json!({})).await.0, "No updates. You're all caught up.");

    let waiting = {
        let ada = ada.clone();
        tokio::spawn(async move { ada.told("wait_for_updates", json!({})).await })
    };
    eventually(async || hub.reach(&ada.id.parse().unwrap()).map(drop)).await;
    ada.pair_with(&hub.agent("Carol").await).await;
    let (words, _) = waiting.await.unwrap();
    assert!(
        words.contains(&format!("agent.connected by {}, agent ID: agent_", super::fenced("Carol"))),
        "{words}"
    );
}

/// However much came before it, what became of a task is told.
#[tokio::test]
async fn a_change_behind_many_events_is_told() {
    let hub = Harness::start_with(Db::Sqlite, |config| config.max_messages_per_minute = 0).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    for _ in 0..105 {
        bob.post(&format!("/tasks/{task}/messages"), json!({ "content": "hello" })).await.ok(201);
    }
    bob.set(&task, "working").await.ok(200);
    let (words, _) = ada.told("wait_for_updates", json!({ "acknowledge": true })).await;
    assert!(words.contains("now working"), "{words}");
}

/// A call that was cancelled has seen nothing.
#[tokio::test]
async fn a_cancelled_call_acknowledges_nothing() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let session = Session::begin(&bob, json!({})).await;
    let waiting = {
        let session = Session { agent: bob.clone(), id: session.id.clone() };
        let call = json!({ "name": "wait_for_updates", "arguments": { "acknowledge": true } });
        let message = json!({ "jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": call });
        tokio::spawn(async move { session.send(&message).await })
    };
    let agent = bob.id.parse().unwrap();
    eventually(async || hub.reach(&agent).map(drop)).await;
    let params = json!({ "requestId": "w" });
    session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;
    eventually(async || hub.reach(&agent).is_none().then_some(())).await;
    let task = ada.task(&bob).await;
    let (words, _) = bob.told("check_updates", json!({})).await;
    assert!(words.contains(&task), "{words}");
    waiting.abort();
}

/// Nor has one whose connection broke: in a session, too.
#[tokio::test]
async fn a_call_whose_connection_breaks_acknowledges_nothing() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let session = Session::begin(&bob, json!({})).await;
    let call = json!({ "name": "wait_for_updates", "arguments": { "acknowledge": true } });
    let body = json!({ "jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": call }).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nmcp-session-id: {}\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n",
        bob.client.address,
        bob.key,
        session.id,
        body.len(),
    );
    let mut connection = TcpStream::connect(bob.client.address).await.unwrap();
    connection.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let agent = bob.id.parse().unwrap();
    eventually(async || hub.reach(&agent).map(drop)).await;
    drop(connection);
    eventually(async || (hub.hub.metrics.connections.get() == 0).then_some(())).await;
    let task = ada.task(&bob).await;
    eventually(async || hub.reach(&agent).is_none().then_some(())).await;
    let told = session.ask("tools/call", json!({ "name": "wait_for_updates", "arguments": {} })).await;
    assert_eq!(told["result"]["structuredContent"]["pendingTasks"][0]["id"], task.as_str(), "{told}");
}

/// The answer is kept for when its reader comes back, also if it came meanwhile.
#[tokio::test]
async fn an_answer_that_nobody_read_can_be_asked_for_again() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let session = Session::begin(&bob, json!({})).await;
    let call = json!({ "name": "wait_for_updates", "arguments": {} });
    let body = json!({ "jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": call }).to_string();
    let head = |line: &str, more: &str| {
        format!(
            "{line} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nmcp-session-id: {}\r\n\
             mcp-protocol-version: 2025-11-25\r\naccept: application/json, text/event-stream\r\n{more}\r\n",
            bob.client.address, bob.key, session.id,
        )
    };
    let more = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    let mut lines = Stream::open(&bob, &head("POST /mcp", &more), &body).await.0;
    let id = loop {
        let line = lines.next_line().await.unwrap().unwrap();
        if let Some(id) = line.strip_prefix("id: ") {
            break id.to_owned();
        }
    };
    drop(lines);
    let nobody_reads = async || (hub.hub.metrics.connections.get() == 0).then_some(());
    eventually(nobody_reads).await;
    // The call goes on, so its id is taken.
    let ping = json!({ "jsonrpc": "2.0", "id": "w", "method": "ping" });
    let ping = async || messages(&session.send(&ping).await).pop().unwrap();
    assert_eq!(ping().await["error"]["code"], -32600);
    eventually(nobody_reads).await;
    // It comes back, and hangs up again.
    let again = head("GET /mcp", &format!("last-event-id: {id}\r\n"));
    drop(Stream::open(&bob, &again, "").await);
    eventually(nobody_reads).await;
    assert_eq!(ping().await["error"]["code"], -32600);
    eventually(nobody_reads).await;
    let task = ada.task(&bob).await;
    eventually(async || hub.reach(&bob.id.parse().unwrap()).is_none().then_some(())).await;
    let answer = eventually(async || Stream::open(&bob, &again, "").await.next().await).await;
    assert_eq!(answer["id"], "w");
    assert_eq!(answer["result"]["structuredContent"]["pendingTasks"][0]["id"], task.as_str(), "{answer}");
    assert_eq!(ping().await["result"], json!({}), "its id is free again");
}

/// What one session was told is new to the next.
#[tokio::test]
async fn every_session_is_told() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let wait = json!({ "name": "wait_for_updates", "arguments": {} });
    for _ in 0..2 {
        let session = Session::begin(&bob, json!({})).await;
        let told = session.ask("tools/call", wait.clone()).await;
        assert_eq!(told["result"]["structuredContent"]["pendingTasks"][0]["id"], task.as_str(), "{told}");
    }
}

/// However much is unseen, who waits again waits for something newer, and is told that.
#[tokio::test]
async fn waiting_waits_behind_a_thousand_unseen_lines() {
    let hub = Harness::start_with(Db::Sqlite, |config| {
        config.max_messages_per_minute = 0;
        config.rate_limit_max = 0;
    })
    .await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    ada.patch(&format!("/tasks/{task}"), json!({ "maxMessages": 2_000 })).await.ok(200);
    for _ in 0..1_001 {
        ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "hello" })).await.ok(201);
    }
    bob.told("wait_for_updates", json!({})).await;
    let waiting = {
        let bob = bob.clone();
        tokio::spawn(async move { bob.told("wait_for_updates", json!({})).await })
    };
    eventually(async || hub.reach(&bob.id.parse().unwrap()).map(drop)).await;
    assert!(!waiting.is_finished());
    let second = ada.task(&bob).await;
    let (words, told) = waiting.await.unwrap();
    assert!(words.contains(&second), "{words}");
    assert_eq!(told["unreadMessages"], json!([]), "old things are not repeated");
}

/// Who acknowledges is shown all that it marks, also what it was told before.
#[tokio::test]
async fn nothing_is_acknowledged_that_was_not_shown() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let first = ada.task(&bob).await;
    let (words, told) = bob.told("wait_for_updates", json!({})).await;
    assert!(words.contains(&first), "{words}");
    let second = ada.task(&bob).await;
    ada.post(&format!("/tasks/{second}/messages"), json!({ "content": "hello" })).await.ok(201);
    // A place that the log has not got to yet is its end.
    let beyond = told["cursor"].as_i64().unwrap() + 1_000;
    let reach = || hub.reach(&bob.id.parse().unwrap());
    eventually(async || reach().is_none().then_some(())).await;
    let waiting = {
        let (bob, call) = (bob.clone(), json!({ "after": beyond }));
        tokio::spawn(async move { bob.told("wait_for_updates", call).await })
    };
    eventually(async || reach().map(drop)).await;
    let third = ada.task(&bob).await;
    let (words, told) = waiting.await.unwrap();
    assert!(words.contains(&third) && !words.contains(&second), "{words}");
    assert_eq!(told["unreadMessages"], json!([]));
    assert!(told["cursor"].as_i64().unwrap() < beyond);
    let fourth = ada.task(&bob).await;
    let (words, told) = bob.told("wait_for_updates", json!({ "acknowledge": true })).await;
    assert!([&first, &second, &third, &fourth].iter().all(|task| words.contains(*task)), "{words}");
    assert_eq!(told["unreadMessages"][0]["taskId"], second.as_str());
    let (_, left) = bob.told("check_updates", json!({})).await;
    assert_eq!((&left["unreadMessages"], &left["events"]), (&json!([]), &json!([])));
    assert_eq!(left["pendingTasks"].as_array().unwrap().len(), 4, "they still wait to be taken");
}

/// A message that was taken back is nothing to wake up for.
#[tokio::test]
async fn what_was_taken_back_wakes_nobody() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let said = ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "hello" })).await.text("id");
    bob.told("wait_for_updates", json!({ "acknowledge": true })).await;
    let waiting = {
        let bob = bob.clone();
        tokio::spawn(async move { bob.told("wait_for_updates", json!({})).await })
    };
    eventually(async || hub.reach(&bob.id.parse().unwrap()).map(drop)).await;
    ada.delete(&format!("/tasks/{task}/messages/{said}")).await;
    let second = ada.task(&bob).await;
    let (words, _) = waiting.await.unwrap();
    assert!(words.contains(&second), "{words}");
}

/// Whoever opens a second stream in a session has lost the first.
#[tokio::test]
async fn the_newest_stream_of_a_session_is_told() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let session = Session::begin(&bob, json!({ "sampling": {} })).await;
    session.ask("resources/subscribe", json!({ "uri": "tandem://inbox" })).await;
    let mut lost = session.stream().await;
    for _ in 0..3 {
        let mut newest = session.stream().await;
        // What was on its way to it may still come; then it ends.
        while lost.next().await.is_some() {}
        let task = ada.task(&bob).await;
        let (mut noted, mut asked) = (false, false);
        while !(noted && asked) {
            let next = newest.next().await.unwrap();
            noted |= next["method"] == "notifications/resources/updated";
            if next["method"] == "sampling/createMessage" && next.to_string().contains(&task) {
                asked = true;
                let error = json!({ "code": -1, "message": "no" });
                session.send(&json!({ "jsonrpc": "2.0", "id": next["id"], "error": error })).await;
            }
        }
        bob.set(&task, "rejected").await.ok(200);
        eventually(async || (!hub.sessions.is_sampling(&bob.id.parse().unwrap())).then_some(())).await;
        lost = newest;
    }
}

#[rstest]
#[tokio::test]
async fn a_broadcast_can_be_read(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let network = ada.post("/networks", json!({ "name": "Crew" })).await.text("id");
    let invite = ada.post_empty(&format!("/networks/{network}/invites")).await.text("code");
    bob.told("join_network", json!({ "code": invite })).await;
    ada.told("broadcast", json!({ "networkId": network, "content": "All hands!" })).await;
    let (words, _) = bob.told("check_updates", json!({})).await;
    let told = format!("broadcast.created by {}: {}", super::fenced("Ada"), super::fenced("All hands!"));
    assert!(words.contains(&told), "{words}");
    let (_, inbox) = bob.told("get_inbox", json!({})).await;
    assert!(inbox["items"][0]["content"].as_str().unwrap().contains("All hands!"), "{inbox}");
}

/// What came while nobody listened is told when somebody does again.
#[tokio::test]
async fn what_waits_already_is_told_at_once() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let session = Session::begin(&bob, json!({})).await;
    session.ask("resources/subscribe", json!({ "uri": "tandem://inbox" })).await;
    ada.task(&bob).await;
    assert_eq!(session.stream().await.next().await.unwrap()["method"], "notifications/resources/updated");
    let mut listening = listen(&bob, "tandem://inbox").await;
    assert_eq!(listening.next().await.unwrap()["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(listening.next().await.unwrap()["method"], "notifications/resources/updated");
}

#[tokio::test]
async fn a_subscription_to_something_else_is_accepted_for_nothing() {
    let hub = Harness::start(Db::Sqlite).await;
    let bob = hub.agent("Bob").await;
    let accepted = listen(&bob, "tandem://other").await.next().await.unwrap();
    assert_eq!(accepted["params"]["notifications"], json!({}));
}

#[tokio::test]
async fn an_agent_has_sixteen_streams_and_no_more() {
    let hub = Harness::start(Db::Sqlite).await;
    let bob = hub.agent("Bob").await;
    let mut streams = Vec::new();
    let mut last = Session::begin(&bob, json!({})).await;
    streams.push(last.stream().await);
    for _ in 1..16 {
        last = Session::begin(&bob, json!({})).await;
        streams.push(last.stream().await);
    }
    let session = Session::begin(&bob, json!({})).await;
    session.plain("GET").await.refused(429, "too_many_streams");
    // Nor by the other era.
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": { "notifications": {},
        "_meta": { "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientCapabilities": {} } } });
    let headers = [("mcp-protocol-version", NEW), ("mcp-method", "subscriptions/listen")];
    super::post(&bob, "/mcp", &headers, &body).await.refused(429, "too_many_streams");
    // One session has one, however often it is opened anew, also when there is no room for another.
    let mut newest = last.stream().await;
    for _ in 0..20 {
        let mut older = std::mem::replace(&mut newest, last.stream().await);
        assert_eq!(older.next().await, None);
    }
    assert!(streams.pop().unwrap().next().await.is_none(), "it was the first of them");
    drop(newest);
    eventually(async || session.try_stream().await).await;
}
