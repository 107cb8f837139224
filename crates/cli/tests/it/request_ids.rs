//! Every line that is logged on behalf of a request has the request's id, wherever it is logged: in a handler, in the
//! store's threads, in an MCP session, or in an answer that goes on after its head.

use http_body_util::Full;
use hyper::Request;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::{Agent, Client, Db, PATIENCE, Place};
use crate::serve::{Process, command};
use crate::writes::{Era, begin_session, in_era, message};

async fn agent(client: &Client, name: &str) -> Agent {
    let reply = client.send("POST", "/agents", None, Some(json!({ "name": name }))).await;
    reply.ok(201);
    Agent {
        id: reply.text("id"),
        name: reply.text("name"),
        key: reply.text("apiKey"),
        client: client.clone(),
    }
}

/// Sends a request with an id of its own; gives the status.
async fn send(agent: &Agent, id: &str, route: &str, headers: &[(String, String)], body: Vec<u8>) -> u16 {
    let (method, path) = route.split_once(' ').unwrap();
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", agent.client.address.to_string())
        .header("authorization", format!("Bearer {}", agent.key))
        .header("x-request-id", id);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    // An answer that is cut off is none.
    agent.client.try_raw(request.body(Full::from(body)).unwrap()).await.map_or(0, |reply| reply.status)
}

/// Opens something that goes on, and waits until it ends because the log cannot be read.
async fn listen(agent: &Agent, id: &str, path: &str, headers: &str) {
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nx-request-id: {id}\r\n{headers}\r\n",
        agent.client.address, agent.key
    );
    let mut stream = TcpStream::connect(agent.client.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut all, mut piece) = (Vec::new(), [0; 4096]);
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !String::from_utf8_lossy(&all).contains("the hub cannot read its log") {
        let read = tokio::time::timeout_at(deadline, stream.read(&mut piece)).await;
        let count = read.expect("it ends").unwrap();
        assert!(count > 0, "{path}: {}", String::from_utf8_lossy(&all));
        all.extend_from_slice(&piece[..count]);
    }
}

/// Makes every look into an event log fail. Nobody uses the database meanwhile.
async fn break_database(place: &Place) {
    if let Some(url) = &place.database {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        let driver = tokio::spawn(connection);
        client.batch_execute("alter table events rename to elsewhere").await.unwrap();
        drop(client);
        driver.await.unwrap().unwrap();
        return;
    }
    let path = place.folder.join("tandem.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let word = b"agent.connected";
    let of_log = |page: &[u8]| page.windows(word.len()).any(|part| part == word);
    let pages: Vec<&mut [u8]> = bytes.chunks_mut(4_096).filter(|page| of_log(page)).collect();
    assert!(!pages.is_empty(), "the log was not found");
    for page in pages {
        // There is no such kind of page.
        page[0] = 0xa5;
    }
    std::fs::write(&path, bytes).unwrap();
}

/// Starts a hub that logs to a file.
fn start(place: &Place, level: &str) -> Process {
    let mut command = command(place);
    command.env("TANDEM_LOG", level).stderr(std::fs::File::create(place.folder.join("log")).unwrap());
    Process::start(command)
}

/// Ends a hub and gives its log.
fn log_of(hub: Process, place: &Place) -> String {
    hub.stop();
    std::fs::read_to_string(place.folder.join("log")).unwrap()
}

/// The lines of a log, each with the id of its request.
fn lines(log: &str) -> Vec<(Value, Option<String>)> {
    let parsed = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let with_id = parsed.map(|line| {
        let spans = line["spans"].as_array().cloned().unwrap_or_default();
        let id = spans.iter().find(|span| span["name"] == "request").and_then(|span| span["id"].as_str());
        let id = id.map(str::to_owned);
        (line, id)
    });
    with_id.collect()
}

/// What is only logged on behalf of requests.
const OF_REQUESTS: [&str; 5] = [
    "answered",
    "the store failed",
    "the database cannot be reached",
    "an export was cut off",
    "cannot store or read a file",
];

#[rstest]
#[tokio::test]
async fn every_line_of_a_request_has_its_id(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values("debug", "error")] level: &str,
) {
    let place = Place::new(db);
    let hub = Process::start(command(&place));
    let (mut ada, mut bob) = (agent(&hub.client, "Ada").await, agent(&hub.client, "Bob").await);
    ada.pair_with(&bob).await;
    ada.task(&bob).await;
    hub.signal("TERM");
    assert!(hub.end().0.success());
    break_database(&place).await;
    let hub = start(&place, level);
    (ada.client, bob.client) = (hub.client.clone(), hub.client.clone());
    let session = begin_session(&ada).await;
    let json = [("content-type".to_owned(), "application/json".to_owned())];
    assert_eq!(send(&ada, "req-fine", "GET /tasks", &[], Vec::new()).await, 200);
    listen(&bob, "req-stream", "/events/stream", "").await;
    let upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
        sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    listen(&bob, "req-socket", "/ws", upgrade).await;

    let new = json!({ "targetAgentId": bob.id, "title": "One more" });
    assert_eq!(send(&ada, "req-write", "POST /tasks", &json, new.to_string().into_bytes()).await, 500);
    assert_eq!(send(&ada, "req-read", "GET /events?after=0", &[], Vec::new()).await, 500);
    send(&ada, "req-export", "GET /agents/me/export", &[], Vec::new()).await;
    let call = message("tools/call", json!({ "name": "create_task", "arguments": new }));
    for (id, era) in [("req-session", Era::Session), ("req-stateless", Era::Stateless)] {
        let (headers, body) = in_era(&call, era, &session);
        assert_eq!(send(&ada, id, "POST /mcp", &headers, body).await, 200);
    }
    let (headers, body) =
        in_era(&message("resources/read", json!({ "uri": "tandem://inbox" })), Era::Session, &session);
    send(&ada, "req-resource", "POST /mcp", &headers, body).await;
    let log = log_of(hub, &place);
    let lines = lines(&log);
    for (line, id) in &lines {
        let message = line["message"].as_str().unwrap_or_default();
        assert!(id.is_some() || !OF_REQUESTS.contains(&message), "no id: {line}");
    }
    let failed = |wanted: &str| {
        let of_request = lines.iter().filter(|(_, id)| id.as_deref() == Some(wanted));
        of_request.filter(|(line, _)| line["level"] == "ERROR").count()
    };
    let mut broken = vec![
        "req-write",
        "req-read",
        "req-session",
        "req-stateless",
        "req-stream",
        "req-socket",
        "req-export",
    ];
    if db == Db::Postgres {
        // In SQLite, an inbox is found by an index in pages that are whole.
        broken.push("req-resource");
    }
    for id in broken {
        assert!(failed(id) > 0, "no error was logged for {id}: {log}");
    }
    assert_eq!(failed("req-fine"), 0);
    if level == "debug" {
        let cut_off = |(line, id): &&(Value, Option<String>)| {
            line["message"] == "an export was cut off" && id.as_deref() == Some("req-export")
        };
        assert!(lines.iter().any(|line| cut_off(&line)), "{log}");
    }
}

/// A job that keeps others waiting is reported by the store's own thread.
#[tokio::test]
async fn a_slow_job_has_the_id_of_its_request_on_postgres() {
    let place = Place::new(Db::Postgres);
    let hub = start(&place, "warn");
    let (ada, bob) = (agent(&hub.client, "Ada").await, agent(&hub.client, "Bob").await);
    ada.pair_with(&bob).await;
    let url = place.database.clone().unwrap();
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("begin; lock table pairs in access exclusive mode").await.unwrap();
    let sender = ada.clone();
    let sending = tokio::spawn(async move {
        let json = [("content-type".to_owned(), "application/json".to_owned())];
        let new = json!({ "targetAgentId": bob.id, "title": "A slow one" });
        send(&sender, "req-slow", "POST /tasks", &json, new.to_string().into_bytes()).await
    });
    // No worker looks at this table: it is the request that waits, and it is slow when it has waited for a while.
    let waits =
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and clock_timestamp() - state_change > interval '150 milliseconds'";
    crate::harness::eventually(async || {
        let found = client.simple_query(waits).await.unwrap();
        found.iter().any(|one| matches!(one, tokio_postgres::SimpleQueryMessage::Row(_))).then_some(())
    })
    .await;
    client.batch_execute("commit").await.unwrap();
    assert_eq!(sending.await.unwrap(), 201);
    let log = log_of(hub, &place);
    let lines = lines(&log);
    let is_slow = |(line, id): &(Value, Option<String>)| {
        line["message"] == "slow store job" && id.as_deref() == Some("req-slow")
    };
    assert!(lines.iter().any(is_slow), "{log}");
}
