//! What is pushed: sockets, streams, long polls, tickets, and what is shown of them.

use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::harness::{Agent, Db, Harness, PATIENCE, Socket, eventually};

#[rstest]
#[tokio::test]
async fn a_socket_gets_events_in_their_exact_shapes(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let mut socket = bob.socket("").await;
    let connection = ada.pair_with(&bob).await;
    let connected = socket.next().await.unwrap();
    let data = json!({
        "type": "agent.connected", "connectionId": connection, "withAgentId": ada.id, "withAgentName": "Ada",
        "pairingId": connected["pairingId"], "fromAgentName": "Ada",
    });
    assert_eq!(connected, whole(&data, &json!({ "taskId": null, "fromAgentId": ada.id, "cursor": 1 })));
    let task = ada.task_with(&bob, json!({ "sessionKey": "s-1" })).await;
    let data = json!({
        "type": "task.created", "taskId": task, "fromAgentId": ada.id, "fromAgentName": "Ada", "attempt": 1,
        "initiatorSessionKey": "s-1",
    });
    assert_eq!(socket.next().await.unwrap(), whole(&data, &json!({ "cursor": 2 })));
    let message = ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "hi" })).await.text("id");
    let data = json!({
        "type": "message.created", "taskId": task, "messageId": message, "fromAgentId": ada.id, "kind": "message",
        "contentType": "text", "fromAgentName": "Ada", "initiatorSessionKey": "s-1",
    });
    assert_eq!(socket.next().await.unwrap(), whole(&data, &json!({ "cursor": 3 })));
    ada.post(&format!("/tasks/{task}/cancel"), json!({ "reason": "enough" })).await.ok(200);
    let data = json!({
        "type": "task.updated", "taskId": task, "status": "cancelled", "reason": "enough", "fromAgentName": "Ada",
        "initiatorSessionKey": "s-1",
    });
    assert_eq!(socket.next().await.unwrap(), whole(&data, &json!({ "fromAgentId": ada.id, "cursor": 4 })));
    ada.delete(&format!("/connections/{connection}")).await.ok(200);
    let data = json!({
        "type": "agent.disconnected", "connectionId": connection, "byAgentId": ada.id, "fromAgentName": "Ada",
    });
    let last = whole(&data, &json!({ "taskId": null, "fromAgentId": ada.id, "cursor": 5 }));
    assert_eq!(socket.next().await.unwrap(), last);
    // A page of the log and a stream have the same.
    assert_eq!(bob.last_event().await, last);
    let mut stream = Lines::open(&bob, "/events/stream?after=4", &[]).await;
    assert_eq!(stream.event().await, (5, last));
}

/// An event, from the fields of its type and what all events have.
fn whole(data: &Value, more: &Value) -> Value {
    let mut event = data.clone();
    for (name, value) in more.as_object().unwrap() {
        event[name] = value.clone();
    }
    event["id"] = event["cursor"].clone();
    event["createdAt"] = json!("2027-01-15T08:00:00.000Z");
    event["data"] = data.clone();
    event
}

#[rstest]
#[tokio::test]
async fn a_socket_resumes_where_it_is_recipient(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    for _ in 0..250 {
        ada.task(&bob).await;
    }
    let mut socket = bob.socket("?after=3").await;
    for cursor in 4..=251 {
        assert_eq!(socket.next().await.unwrap()["cursor"], cursor);
    }
    ada.task(&bob).await;
    assert_eq!(socket.next().await.unwrap()["cursor"], 252);
    // Beyond the end means from the end; without a cursor, only what comes.
    for query in ["?after=1000000", ""] {
        let mut socket =
            Socket::open(&bob.client, &format!("/api/v1/ws{query}"), Some(&bob.key)).await.unwrap();
        let at = bob.get("/updates").await.ok(200)["cursor"].clone();
        assert_eq!(socket.next().await.unwrap()["cursor"], at);
        ada.task(&bob).await;
        assert_eq!(socket.next().await.unwrap()["cursor"].as_i64(), at.as_i64().map(|at| at + 1));
    }
}

#[rstest]
#[tokio::test]
async fn who_may_not_listen_is_told_before_the_handshake(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    let refused = async |path: &str, key: Option<&str>| {
        let (status, body) = Socket::open(&hub.client, path, key).await.err().expect("it is refused");
        (status, body["code"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(refused("/ws", None).await, (401, "unauthorized".into()));
    assert_eq!(refused("/ws", Some("tdm_wrong")).await, (401, "unauthorized".into()));
    assert_eq!(refused("/ws?ticket=nonsense", None).await, (401, "unauthorized".into()));
    assert_eq!(refused("/ws?after=-1", Some(&ada.key)).await, (400, "validation".into()));
    assert_eq!(refused("/ws?after=x", Some(&ada.key)).await, (400, "validation".into()));
    ada.get("/ws").await.refused(426, "upgrade_required");
}

#[rstest]
#[tokio::test]
async fn an_agent_has_sixteen_sockets_and_streams(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut sockets = Vec::new();
    for _ in 0..15 {
        sockets.push(bob.socket("").await);
    }
    let stream = Lines::open(&bob, "/events/stream", &[]).await;
    let (status, body) = Socket::open(&bob.client, "/ws", Some(&bob.key)).await.err().unwrap();
    assert_eq!((status, &body["code"]), (429, &json!("too_many_streams")));
    bob.get("/events/stream").await.refused(429, "too_many_streams");
    // Others are not concerned, and a poll is no stream.
    ada.socket("").await;
    bob.get("/events?wait=1").await.ok(200);
    let task = ada.task(&bob).await;
    for socket in &mut sockets {
        assert_eq!(socket.next().await.unwrap()["taskId"], task.as_str());
    }
    drop(stream);
    sockets.pop();
    eventually(async || Socket::open(&bob.client, "/ws", Some(&bob.key)).await.ok()).await;
}

#[rstest]
#[tokio::test]
async fn the_hub_has_a_bound_on_sockets_in_all(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start_with(db, |config| config.max_streams = 2).await;
    let (ada, bob) = hub.pair().await;
    let _open = (ada.socket("").await, bob.socket("").await);
    let (status, body) = Socket::open(&bob.client, "/ws", Some(&bob.key)).await.err().unwrap();
    assert_eq!((status, &body["code"]), (503, &json!("unavailable")));
}

#[rstest]
#[tokio::test]
async fn a_rotated_key_ends_its_sockets_and_streams(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut theirs = ada.socket("").await;
    let mut socket = bob.socket("").await;
    let mut stream = Lines::open(&bob, "/events/stream", &[]).await;
    let new_key = bob.post_empty("/agents/me/rotate-key").await.text("apiKey");
    assert_eq!(socket.next().await.unwrap_err(), (1008, "the key is no longer valid".into()));
    assert_eq!(stream.rest().await, ": the key is no longer valid");
    let bob = Agent { key: new_key, ..bob };
    let mut again = bob.socket("").await;
    let task = ada.task(&bob).await;
    assert_eq!(again.next().await.unwrap()["taskId"], task.as_str());
    bob.set(&task, "working").await.ok(200);
    assert_eq!(theirs.next().await.unwrap()["status"], "working");
}

#[rstest]
#[tokio::test]
async fn a_stop_of_the_hub_tells_where_to_resume(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut socket = bob.socket("").await;
    let mut stream = Lines::open(&bob, "/events/stream", &[]).await;
    ada.task(&bob).await;
    assert_eq!(socket.next().await.unwrap()["cursor"], 2);
    assert_eq!(stream.event().await.0, 2);
    let poll = {
        let ada = ada.clone();
        tokio::spawn(async move { ada.get("/events?after=1&wait=60").await.ok(200) })
    };
    eventually(async || hub.reach(&ada.id.parse().unwrap()).map(drop)).await;
    let epoch = hub.hub.epoch.clone();
    tokio::task::spawn_blocking(move || drop(hub)).await.unwrap();
    assert_eq!(socket.next().await.unwrap_err(), (1012, "the hub restarts; reconnect with ?after=2".into()));
    assert_eq!(stream.rest().await, ": the hub restarts\nretry: 1000");
    let nothing = json!({ "events": [], "cursor": 1, "hasMore": false, "epoch": epoch });
    assert_eq!(poll.await.unwrap(), nothing);
}

/// An event stream, line by line.
pub struct Lines(BufReader<TcpStream>);

impl Lines {
    pub async fn open(agent: &Agent, path: &str, headers: &[(&str, &str)]) -> Self {
        let mut stream = TcpStream::connect(agent.client.address).await.unwrap();
        let mut request =
            format!("GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n", agent.key);
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{request}\r\n").as_bytes()).await.unwrap();
        let mut lines = Self(BufReader::new(stream));
        assert_eq!(lines.line().await, "HTTP/1.1 200 OK");
        while !lines.line().await.is_empty() {}
        lines
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        tokio::time::timeout(PATIENCE, self.0.read_line(&mut line)).await.expect("a line comes").unwrap();
        line.trim_end().to_owned()
    }

    /// The next frame: its id as it was sent, and its data. The chunks' own lines are passed over.
    pub async fn frame(&mut self) -> (String, Value) {
        let mut id = String::new();
        loop {
            let line = self.line().await;
            if let Some(sent) = line.strip_prefix("id: ") {
                id = sent.to_owned();
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return (id, serde_json::from_str(data).unwrap());
            }
        }
    }

    /// The next event: its id and its data.
    async fn event(&mut self) -> (i64, Value) {
        loop {
            let (id, data) = self.frame().await;
            if data["type"] != "connected" {
                return (id.parse().unwrap_or(-1), data);
            }
        }
    }

    /// What else is said until the stream ends, without the chunks' lengths.
    async fn rest(&mut self) -> String {
        let mut said = Vec::new();
        loop {
            let line = self.line().await;
            if line == "0" {
                return said.join("\n");
            }
            if line.starts_with(':') || line == "retry: 1000" {
                said.push(line);
            }
        }
    }
}

#[rstest]
#[tokio::test]
async fn a_stream_carries_the_same_events_and_resumes(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut socket = bob.socket("?after=0").await;
    let mut stream = Lines::open(&bob, "/events/stream?after=0", &[]).await;
    for _ in 0..3 {
        ada.task(&bob).await;
    }
    for _ in 0..4 {
        let frame = socket.next().await.unwrap();
        assert_eq!(stream.event().await, (frame["cursor"].as_i64().unwrap(), frame));
    }
    let mut resumed = Lines::open(&bob, "/api/v1/events/stream", &[("Last-Event-ID", "2")]).await;
    assert_eq!((resumed.event().await.0, resumed.event().await.0), (3, 4));
    for bad in ["x", "-1", "x:y", ":"] {
        let request = hyper::Request::get("/events/stream")
            .header("authorization", format!("Bearer {}", bob.key))
            .header("last-event-id", bad)
            .body(http_body_util::Full::default())
            .unwrap();
        bob.client.raw(request).await.refused(400, "validation");
    }
    hub.client.send("GET", "/events/stream", None, None).await.refused(401, "unauthorized");
}

#[rstest]
#[tokio::test]
async fn a_long_poll_answers_when_there_is_something_to_tell(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let started = std::time::Instant::now();
    let empty = bob.get("/events?after=1&wait=1").await.ok(200);
    assert_eq!(empty, json!({ "events": [], "cursor": 1, "hasMore": false, "epoch": hub.hub.epoch }));
    assert!(started.elapsed() >= std::time::Duration::from_secs(1));
    // What is there already is given at once, however long one would wait.
    assert_eq!(bob.get("/events?after=0&wait=100000").await.ok(200)["events"][0]["id"], 1);
    let poll = {
        let bob = bob.clone();
        tokio::spawn(async move { bob.get("/events?after=1&wait=60").await.ok(200) })
    };
    eventually(async || hub.reach(&bob.id.parse().unwrap()).map(drop)).await;
    let task = ada.task(&bob).await;
    let told = tokio::time::timeout(PATIENCE, poll).await.expect("the poll is answered").unwrap();
    assert_eq!((&told["events"][0]["taskId"], &told["cursor"]), (&json!(task), &json!(2)));
    for bad in ["wait=-1", "wait=x"] {
        bob.get(&format!("/events?{bad}")).await.refused(400, "validation");
    }
}

#[rstest]
#[tokio::test]
async fn a_ticket_opens_one_socket_within_thirty_seconds(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let bob = hub.agent("Bob").await;
    let bought = bob.post_empty("/ws/ticket").await.ok(200);
    assert_eq!(bought["expiresAt"], "2027-01-15T08:00:30.000Z");
    let path = format!("/ws?ticket={}", bought["ticket"].as_str().unwrap());
    hub.advance_ms(29_999);
    let mut socket = Socket::open(&hub.client, &path, None).await.unwrap();
    assert_eq!(socket.next().await.unwrap()["agentId"], bob.id.as_str());
    assert_eq!(Socket::open(&hub.client, &path, None).await.err().unwrap().0, 401, "used");
    let late = bob.post_empty("/ws/ticket").await.text("ticket");
    hub.advance_ms(30_000);
    assert_eq!(
        Socket::open(&hub.client, &format!("/ws?ticket={late}"), None).await.err().unwrap().0,
        401,
        "late"
    );
    let mut forged = bob.post_empty("/ws/ticket").await.text("ticket");
    forged.replace_range(10..11, if &forged[10..11] == "A" { "B" } else { "A" });
    assert_eq!(
        Socket::open(&hub.client, &format!("/ws?ticket={forged}"), None).await.err().unwrap().0,
        401,
        "forged"
    );
    hub.client.send("POST", "/ws/ticket", None, None).await.refused(401, "unauthorized");

    // It ends with the key that bought it, and with its agent's suspension.
    let open = async |ticket: &str| {
        let opened = Socket::open(&hub.client, &format!("/ws?ticket={ticket}"), None).await;
        opened.err().map(|refused| refused.0)
    };
    let old = bob.post_empty("/ws/ticket").await.text("ticket");
    let key = bob.post_empty("/agents/me/rotate-key").await.text("apiKey");
    assert_eq!(open(&old).await, Some(401));
    let new = hub.client.send("POST", "/ws/ticket", Some(&key), None).await.text("ticket");
    assert_eq!(open(&new).await, None);
    let last = hub.client.send("POST", "/ws/ticket", Some(&key), None).await.text("ticket");
    let suspended = Some(json!({ "suspended": true }));
    let path = format!("/admin/agents/{}", bob.id);
    hub.client.send("PATCH", &path, Some(crate::harness::ADMIN_TOKEN), suspended).await.ok(200);
    assert_eq!(open(&last).await, Some(403));
}

#[rstest]
#[tokio::test]
async fn reach_is_what_the_hub_really_sees(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let made = hub.client.send("POST", "/agents", None, Some(json!({ "name": "New" }))).await.ok(201);
    assert_eq!(
        (&made["reach"], &made["lastSeenAt"], &made["online"]),
        (&json!("never"), &Value::Null, &json!(false))
    );
    let (ada, bob) = hub.pair().await;
    let seen = async || {
        let side = ada.get("/connections").await.ok(200)[0].clone();
        (side["reach"].as_str().unwrap().to_owned(), side["online"].as_bool().unwrap())
    };
    let stream = Lines::open(&bob, "/events/stream", &[]).await;
    hub.advance_ms(600_000);
    eventually(async || (seen().await == ("stream".into(), true)).then_some(())).await;
    let socket = bob.socket("").await;
    hub.advance_ms(600_000);
    eventually(async || (seen().await == ("socket".into(), true)).then_some(())).await;
    drop(socket);
    eventually(async || (seen().await.0 == "stream").then_some(())).await;
    drop(stream);
    hub.advance_ms(60_000);
    eventually(async || (seen().await == ("polling".into(), false)).then_some(())).await;
    let side = ada.get("/connections").await.ok(200)[0].clone();
    assert!(side["lastSeenAt"].as_str().unwrap() > "2027-01-15T08:00:00.000Z");
}

#[rstest]
#[tokio::test]
async fn delivery_tells_the_sender_where_a_task_is(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let first = ada.task(&bob).await;
    let delivery = async |task: &str| ada.view(task).await["delivery"].clone();
    let queued = delivery(&first).await;
    assert_eq!((&queued["pushedAt"], &queued["fetchedAt"]), (&Value::Null, &Value::Null));
    assert!(queued["queuedAt"].is_string());
    hub.advance_ms(1_000);
    // The sender's own looks are no delivery; the target's first one is.
    bob.get("/events").await.ok(200);
    hub.advance_ms(1_000);
    bob.view(&first).await;
    assert_eq!(delivery(&first).await["fetchedAt"], "2027-01-15T08:00:01.000Z");
    let fetched_by = ["/updates", "/tasks"];
    for path in fetched_by {
        let task = ada.task(&bob).await;
        bob.get(path).await.ok(200);
        assert!(delivery(&task).await["fetchedAt"].is_string(), "{path}");
    }
    let (skipped, polled) = (ada.task(&bob).await, ada.task(&bob).await);
    let id = bob.id.parse().unwrap();
    let last =
        hub.hub.db.read(move |tx, _| tandem_app::events::start_cursor(tx, &id, None.into())).await.unwrap();
    let page = bob.get(&format!("/events?after={}", last - 1)).await.ok(200);
    assert_eq!(page["events"].as_array().unwrap().len(), 1);
    assert!(delivery(&polled).await["fetchedAt"].is_string());
    assert_eq!(delivery(&skipped).await["fetchedAt"], Value::Null, "what was not shown was not fetched");
    let mut socket = bob.socket("").await;
    let pushed = ada.task(&bob).await;
    socket.next().await.unwrap();
    let marks =
        eventually(async || Some(delivery(&pushed).await).filter(|marks| marks["pushedAt"].is_string()))
            .await;
    assert_eq!(marks["fetchedAt"], Value::Null);
}

#[rstest]
#[tokio::test]
async fn the_operator_sees_that_something_happened_and_not_what(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    ada.get("/debug/events").await.refused(403, "admin_only");
    let operator = Agent { key: crate::harness::ADMIN_TOKEN.into(), ..ada.clone() };
    let mut stream = Lines::open(&operator, "/debug/events", &[]).await;
    while stream.line().await != ": from now on" {}
    let task = ada.task_with(&bob, json!({ "title": "Very secret" })).await;
    let (_, seen) = stream.event().await;
    assert_eq!(
        seen,
        json!({
            "type": "task.created", "agentId": bob.id, "taskId": task, "cursor": 2,
            "createdAt": "2027-01-15T08:00:00.000Z",
        })
    );
}
