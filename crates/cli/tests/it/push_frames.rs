//! What clients send over a socket costs the hub nothing, and what a stopping hub owes its listeners.

use futures_util::{SinkExt as _, StreamExt as _};
use rstest::rstest;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

use crate::harness::{ADMIN_TOKEN, Db, Harness, PATIENCE, Place, eventually};
use crate::serve::{Process, command};

fn figure(hub: &Harness, name: &str) -> u64 {
    hub.hub.db.store().stats().figures().iter().find(|(of, _)| *of == name).unwrap().1
}

#[rstest]
#[tokio::test]
async fn frames_of_a_client_read_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut socket = bob.socket("").await;
    ada.task(&bob).await;
    socket.next().await.unwrap();
    let before = figure(&hub, "reads");
    for _ in 0..45 {
        socket.0.send(Message::Ping(Vec::new().into())).await.unwrap();
        let answered = tokio::time::timeout(PATIENCE, socket.0.next()).await.unwrap();
        assert!(matches!(answered, Some(Ok(Message::Pong(_)))), "{answered:?}");
    }
    eventually(async || (figure(&hub, "waiting_reads") == 0).then_some(())).await;
    // The timer reads by itself, a few times a second.
    let read = figure(&hub, "reads") - before;
    assert!(read < 30, "{read} reads for 45 frames");
    ada.task(&bob).await;
    assert_eq!(socket.next().await.unwrap()["type"], "task.created");
}

#[rstest]
#[tokio::test]
async fn too_many_frames_end_a_socket(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut socket = bob.socket("").await;
    for _ in 0..200 {
        if socket.0.send(Message::Text("hello".into())).await.is_err() {
            break;
        }
    }
    assert_eq!(socket.next().await, Err((1008, "too many frames; reconnect with ?after=1".to_owned())));
    ada.task(&bob).await;
    let mut again = bob.socket("?after=1").await;
    assert_eq!(again.next().await.unwrap()["cursor"], 2);
}

/// Opens the operator's stream and reads until its first line.
async fn observe(address: std::net::SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request =
        format!("GET /debug/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {ADMIN_TOKEN}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut said = Vec::new();
    while !String::from_utf8_lossy(&said).contains(": from now on") {
        assert_ne!(stream.read_buf(&mut said).await.unwrap(), 0);
    }
    stream
}

#[rstest]
#[tokio::test]
async fn observers_end_when_the_hub_stops(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let mut serve = command(&place);
    serve.args(["--admin-token", ADMIN_TOKEN]);
    let hub = Process::start(serve);
    let mut stream = observe(hub.client.address).await;
    hub.signal("TERM");
    let mut rest = String::new();
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut rest)).await.unwrap().unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "the stream is complete, not cut: {rest:?}");
    let (status, log) = hub.end();
    assert!(status.success(), "{log}");
    assert!(!log.contains("in time"), "{log}");
}
