//! Keys at the moment they could get lost: the answer does not arrive, or the disk refuses. The hub here is a script, so
//! that it can fail at the right moment.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::Cli;
use crate::harness::{Db, Harness};

/// Answers `METHOD PATH` with a status and a body; none ends the connection without an answer.
type Script = Arc<dyn Fn(&str) -> Option<(u16, Value)> + Send + Sync>;

/// A hub that follows a script. Gives its address, and the requests that it got.
async fn scripted(
    script: impl Fn(&str) -> Option<(u16, Value)> + Send + Sync + 'static,
) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hub = format!("http://{}", listener.local_addr().unwrap());
    let (script, seen): (Script, _) = (Arc::new(script), Arc::new(Mutex::new(Vec::new())));
    let log = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, Arc::clone(&script), Arc::clone(&log)));
        }
    });
    (hub, seen)
}

/// One request per connection.
async fn answer(mut stream: TcpStream, script: Script, seen: Arc<Mutex<Vec<String>>>) {
    let mut bytes = Vec::new();
    let text = loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                break text;
            }
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    };
    let line = text.lines().next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
    seen.lock().unwrap().push(line.clone());
    if let Some((status, body)) = script(&line) {
        let body = body.to_string();
        let head =
            format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
        let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
    }
}

/// What a real hub answers to a registration.
async fn registered() -> Value {
    let hub = Harness::start(Db::Sqlite).await;
    hub.client.send("POST", "/agents", None, Some(json!({ "name": "ada" }))).await.ok(201)
}

fn no_challenge() -> Option<(u16, Value)> {
    Some((200, json!({ "challenge": "x", "difficulty": 0, "algorithm": "SHA-256" })))
}

#[tokio::test]
async fn a_lost_answer_to_rotate_says_which_key_is_valid() {
    let agent = registered().await;
    let profile = agent.clone();
    for (status, says) in
        [(200, "the old one still works"), (401, "nobody has the new one"), (500, "not known")]
    {
        let (agent, profile) = (agent.clone(), profile.clone());
        let rotated = Arc::new(Mutex::new(false));
        let (hub, _) = scripted(move |request| match request {
            "GET /agents/challenge" => no_challenge(),
            "POST /agents" => Some((201, agent.clone())),
            "POST /agents/me/rotate-key" => {
                *rotated.lock().unwrap() = true;
                None
            }
            "GET /agents/me" if *rotated.lock().unwrap() => match status {
                200 => Some((200, profile.clone())),
                401 => Some((401, json!({ "error": "Unknown key", "code": "unauthorized" }))),
                status => Some((status, json!({ "error": "broken", "code": "internal" }))),
            },
            _ => None,
        })
        .await;
        let cli = Cli::at(&hub);
        cli.register("ada").await;
        let ran = cli.run(&["rotate"]).await;
        let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(ran.code == 4 && said.contains(says), "{status}: {ran:?}");
    }
}

#[tokio::test]
async fn a_registration_that_cannot_be_saved_is_undone() {
    let agent = registered().await;
    let key = agent["apiKey"].as_str().unwrap().to_owned();
    let folder: Arc<Mutex<Option<std::path::PathBuf>>> = Arc::default();
    let agents = Arc::clone(&folder);
    let deleted = json!({ "deleted": true, "connections": 0, "tasks": 0, "messages": 0, "files": 0 });
    let (hub, seen) = scripted(move |request| match request {
        "GET /agents/challenge" => no_challenge(),
        "POST /agents" => {
            // The disk was fine when the command looked, and is not when the answer arrives.
            let agents = agents.lock().unwrap().clone().unwrap();
            std::fs::remove_dir_all(&agents).unwrap();
            std::fs::write(&agents, "").unwrap();
            Some((201, agent.clone()))
        }
        "DELETE /agents/me" => Some((200, deleted.clone())),
        _ => None,
    })
    .await;
    let cli = Cli::at(&hub);
    *folder.lock().unwrap() = Some(cli.config().join("agents"));
    let ran = cli.run(&["register", "ada", "--no-encryption"]).await;
    ran.failed(1, "The registration was undone");
    assert!(!format!("{ran:?}").contains(&key), "{ran:?}");
    assert_eq!(seen.lock().unwrap().last().unwrap(), "DELETE /agents/me");
}

#[tokio::test]
async fn a_new_key_that_cannot_be_saved_is_rescued_unseen() {
    let agent = registered().await;
    let folder: Arc<Mutex<Option<std::path::PathBuf>>> = Arc::default();
    let agents = Arc::clone(&folder);
    let (hub, _) = scripted(move |request| match request {
        "GET /agents/challenge" => no_challenge(),
        "POST /agents" => Some((201, agent.clone())),
        "POST /agents/me/rotate-key" => {
            let agents = agents.lock().unwrap().clone().unwrap();
            std::fs::remove_dir_all(&agents).unwrap();
            std::fs::write(&agents, "").unwrap();
            Some((200, json!({ "apiKey": "tdm_the-new-key" })))
        }
        _ => None,
    })
    .await;
    let cli = Cli::at(&hub);
    cli.register("ada").await;
    *folder.lock().unwrap() = Some(cli.config().join("agents"));
    let ran = cli.run(&["rotate"]).await;
    ran.failed(1, "tandem login --as ada <");
    assert!(!format!("{ran:?}").contains("tdm_"), "{ran:?}");
    let file = cli.home.join("state/tandem/ada.key");
    assert!(ran.stderr.contains(file.to_str().unwrap()), "{ran:?}");
    assert_eq!(
        (std::fs::read_to_string(&file).unwrap().as_str(), super::mode(&file)),
        ("tdm_the-new-key", 0o600)
    );
}
