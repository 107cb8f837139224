//! Keys at the moment they could get lost: the answer does not arrive, or the disk refuses. The hub here is a script, so
//! that it can fail at the right moment.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tandem_client::ApiKey;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::Cli;
use crate::client::relay::Relay;
use crate::harness::{Db, Harness, PATIENCE};

/// Answers `METHOD PATH` with a status and a body; none ends the connection without an answer.
type Script = Arc<dyn Fn(&str) -> Option<(u16, Value)> + Send + Sync>;

/// A hub that follows a script. Gives its address, and the requests that it got.
pub async fn scripted(
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

/// The hub carries out the rotation, and its answer does not arrive.
#[tokio::test]
async fn a_lost_answer_to_rotate_costs_nothing() {
    let hub = Harness::start(Db::Sqlite).await;
    let relay = Relay::start(hub.client.address).await;
    let cli = Cli::at(&format!("http://{}", relay.address));
    cli.register("ada").await;
    let before = std::fs::read_to_string(cli.config().join("agents/ada.toml")).unwrap();
    relay.lose_answer_to("rotate-key");
    cli.ok(&["rotate"]).await;
    let after = std::fs::read_to_string(cli.config().join("agents/ada.toml")).unwrap();
    assert!(relay.has_lost_answer() && before != after && !after.contains("next_api_key"), "{after}");
    cli.ok(&["whoami"]).await;
}

/// Whatever stands between command and hub may answer in its place, and no answer proves that nothing has happened.
#[tokio::test]
async fn no_answer_makes_a_rotation_forget_a_key() {
    for status in [200, 403, 429, 500, 524] {
        let agent = registered().await;
        let (hub, _) = scripted(move |request| match request {
            "GET /agents/challenge" => no_challenge(),
            "POST /agents" => Some((201, agent.clone())),
            _ => Some((status, json!("a page"))),
        })
        .await;
        let cli = Cli::at(&hub);
        cli.register("ada").await;
        let ran = cli.run(&["rotate"]).await;
        let saved = std::fs::read_to_string(cli.config().join("agents/ada.toml")).unwrap();
        assert!(ran.code != 0 && saved.contains("next_api_key"), "{status}: {ran:?}\n{saved}");
    }
}

/// A command that was killed in a rotation has left both keys. The hub knows one of them, and commands find out which.
#[tokio::test]
async fn a_rotation_that_was_cut_off_is_finished_later() {
    for has_arrived in [true, false] {
        let hub = Harness::start(Db::Sqlite).await;
        let cli = Cli::at(&format!("http://{}", hub.client.address));
        cli.register("ada").await;
        let file = cli.config().join("agents/ada.toml");
        let profile = std::fs::read_to_string(&file).unwrap();
        let line = profile.lines().find(|line| line.starts_with("api_key")).unwrap();
        let (old, new) = (line.split('"').nth(1).unwrap(), ApiKey::generate().unwrap());
        std::fs::write(&file, format!("{profile}next_api_key = {:?}\n", new.as_str())).unwrap();
        if has_arrived {
            let body = json!({ "apiKeyHash": new.hash() });
            hub.client.send("POST", "/agents/me/rotate-key", Some(old), Some(body)).await.ok(200);
        }
        cli.ok(&["whoami"]).await;
        cli.ok(&["rotate"]).await;
        let settled = std::fs::read_to_string(&file).unwrap();
        assert!(settled.contains(new.as_str()) && !settled.contains("next_api_key"), "{settled}");
        cli.ok(&["whoami"]).await;
    }
}

#[tokio::test]
async fn a_registration_that_a_proxy_lost_says_what_may_exist() {
    // Both at once: each repeats the request for half a minute.
    let lost = async |status: u16| {
        let (hub, _) = scripted(move |request| match request {
            "GET /agents/challenge" => no_challenge(),
            _ => Some((status, json!("Gateway"))),
        })
        .await;
        let cli = Cli::at(&hub);
        let ran = cli.run(&["register", "ada", "--no-encryption"]).await;
        ran.failed(4, "The agent may exist now");
        let agents = cli.config().join("agents");
        assert!(!agents.join("ada.toml").exists() && super::mode(&agents.join("ada.pending")) == 0o600);
    };
    tokio::join!(lost(502), lost(504));
}

/// A page of a proxy came in place of the hub's answer. The agent exists, and the next command gets it.
#[tokio::test]
async fn a_registration_without_an_answer_is_finished_by_the_next_one() {
    let hub = Harness::start(Db::Sqlite).await;
    let relay = Relay::start(hub.client.address).await;
    let cli = Cli::at(&format!("http://{}", relay.address));
    let register = ["register", "ada", "--no-encryption", "--description", "Reviews"];
    relay.answer_in_place_of(&["post /agents http", "get /agents/me http"]);
    let ran = cli.run(&register).await;
    ran.failed(4, "`tandem register 'ada' --as ada --hub http://");
    cli.run(&register).await.failed(4, "");
    relay.answer_in_place_of(&[]);
    cli.run(&["whoami", "--agent", "ada"]).await.failed(1, "was not finished");
    cli.run(&["register", "bob", "--as", "ada"]).await.failed(1, "Finish it");
    let made = cli.json(&["register", "ada"]).await;
    assert_eq!(hub.admin("GET", "/admin/overview").await.ok(200)["agents"], 1);
    assert!(made["agentId"].is_string(), "{made}");
    assert_eq!(cli.json(&["profile", "show"]).await["description"], "Reviews");
    assert!(!cli.config().join("agents/ada.pending").exists());
    cli.run(&register).await.failed(1, "already a profile");
}

/// A command that was killed before the hub heard of it. Its keys are used, and it can be given up.
#[tokio::test]
async fn a_registration_that_was_cut_off_is_finished_with_its_keys() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    let key = ApiKey::generate().unwrap();
    let write = |name: &str| {
        let agents = cli.config().join("agents");
        std::fs::create_dir_all(&agents).unwrap();
        let pending = json!({
            "hub": format!("http://{}", hub.client.address), "apiKey": key.as_str(), "idempotencyKey": "k",
            "encrypted": true, "request": { "name": name },
        });
        for (ending, text) in [("pending", pending.to_string()), ("pem", super::foreign_key())] {
            let file = agents.join(format!("{name}.{ending}"));
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        }
    };
    write("bob");
    cli.ok(&["logout", "--agent", "bob", "--yes"]).await;
    assert!(!cli.config().join("agents/bob.pem").exists());
    write("ada");
    let made = cli.json(&["register", "ada"]).await;
    let public = tandem_seal::PrivateKey::from_pem(&super::foreign_key()).unwrap().public().clone();
    assert_eq!(made["fingerprint"], public.fingerprint().hex());
    let me = hub.client.send("GET", "/agents/me", Some(key.as_str()), None).await.ok(200);
    assert_eq!(me["publicKey"], public.to_pem());
    assert_eq!(cli.ok(&["context", "key", "ada"]).await.stdout.trim(), key.as_str());
}

/// A hub with one agent, whose name and key can be changed. Runs `on_change` when the name is.
async fn changeable(on_change: impl Fn() + Send + Sync + 'static) -> (Cli, Arc<Mutex<Vec<String>>>) {
    let agent = registered().await;
    let mut renamed = agent.clone();
    renamed["name"] = json!("Ada Lovelace");
    let (hub, seen) = scripted(move |request| match request {
        "GET /agents/challenge" => no_challenge(),
        "POST /agents" => Some((201, agent.clone())),
        "PATCH /agents/me" => {
            on_change();
            Some((200, renamed.clone()))
        }
        "POST /agents/me/rotate-key" => Some((200, json!({ "apiKey": "tdm_of-this-rotation" }))),
        _ => None,
    })
    .await;
    let cli = Cli::at(&hub);
    cli.register("ada").await;
    (cli, seen)
}

/// The text of a profile with another key.
fn with_key(profile: &str, key: &str) -> String {
    let line = |line: &str| match line.starts_with("api_key") {
        true => format!("api_key = {key:?}\n"),
        false => format!("{line}\n"),
    };
    profile.lines().map(line).collect()
}

#[tokio::test]
async fn a_new_name_does_not_bring_an_old_key_back() {
    let file: Arc<Mutex<Option<std::path::PathBuf>>> = Arc::default();
    let profile = Arc::clone(&file);
    let (cli, seen) = changeable(move || {
        // Another command has replaced the key since this one read the profile.
        let profile = profile.lock().unwrap().clone().unwrap();
        let text = with_key(&std::fs::read_to_string(&profile).unwrap(), "tdm_of-another");
        std::fs::write(&profile, text).unwrap();
    })
    .await;
    let path = cli.config().join("agents/ada.toml");
    *file.lock().unwrap() = Some(path.clone());
    cli.ok(&["profile", "set", "--name", "Ada Lovelace"]).await;
    let saved = std::fs::read_to_string(&path).unwrap();
    assert!(saved.contains("tdm_of-another") && saved.contains("Ada Lovelace"), "{saved}");

    // While another command changes the profile, nothing is begun.
    let lock = std::fs::File::create(cli.config().join("agents/ada.lock")).unwrap();
    lock.lock().unwrap();
    let before = seen.lock().unwrap().len();
    cli.run(&["profile", "set", "--name", "Countess"]).await.failed(1, "another command");
    assert_eq!(seen.lock().unwrap().len(), before);
}

/// Of rotations that run at once, each replaces the key that it has read, or none.
#[tokio::test]
async fn a_rotation_does_not_overwrite_another() {
    let (cli, seen) = changeable(|| {}).await;
    let running: Vec<_> = (0..8).map(|_| cli.command(&["rotate"]).spawn().unwrap()).collect();
    let mut rotated = 0;
    for child in running {
        let ended = tokio::time::timeout(PATIENCE, child.wait_with_output()).await.unwrap().unwrap();
        if ended.status.success() {
            rotated += 1;
        } else {
            super::Ran::new(ended).failed(1, "another command");
        }
    }
    let asked = seen.lock().unwrap().iter().filter(|call| *call == "POST /agents/me/rotate-key").count();
    assert!(rotated >= 1 && asked == rotated, "{rotated} of {asked}");
    let saved = std::fs::read_to_string(cli.config().join("agents/ada.toml")).unwrap();
    assert!(saved.contains("tdm_of-this-rotation"), "{saved}");
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

/// Ends a command while the hub carries out this request, and answers only then.
async fn ended_during(request: &'static str, answer: (u16, Value), arguments: &[&str]) -> (Cli, super::Ran) {
    let agent = registered().await;
    let running: Arc<Mutex<Option<(u32, PathBuf)>>> = Arc::default();
    let process = Arc::clone(&running);
    let (hub, _) = scripted(move |got| {
        let process = process.lock().unwrap().clone();
        if let (true, Some((process, said))) = (got == request, process) {
            let kill = std::process::Command::new("kill").arg("-TERM").arg(process.to_string()).status();
            assert!(kill.unwrap().success());
            // The answer comes when the process has noticed the signal, and has said so.
            let deadline = std::time::Instant::now() + PATIENCE;
            while std::fs::metadata(&said).unwrap().len() == 0 && std::time::Instant::now() < deadline {
                std::thread::yield_now();
            }
            return Some(answer.clone());
        }
        match got {
            "GET /agents/challenge" => no_challenge(),
            "POST /agents" => Some((201, agent.clone())),
            "GET /agents/me" => Some((401, json!({ "error": "unknown key", "code": "unauthorized" }))),
            _ => None,
        }
    })
    .await;
    let cli = Cli::at(&hub);
    cli.register("ada").await;
    let said = cli.config().join("stderr");
    let child = cli.command(arguments).stderr(std::fs::File::create(&said).unwrap()).spawn().unwrap();
    *running.lock().unwrap() = child.id().map(|id| (id, said.clone()));
    let mut ended = tokio::time::timeout(PATIENCE, child.wait_with_output()).await.unwrap().unwrap();
    *running.lock().unwrap() = None;
    ended.stderr = std::fs::read(&said).unwrap();
    (cli, super::Ran::new(ended))
}

#[tokio::test]
async fn a_signal_does_not_lose_a_new_key() {
    let answer = (200, json!({ "apiKey": "tdm_of-this-rotation" }));
    let (cli, ran) = ended_during("POST /agents/me/rotate-key", answer, &["rotate"]).await;
    assert_eq!(ran.code, 128 + 15, "it ends, but later: {ran:?}");
    assert!(ran.stderr.contains("Waiting for the hub's answer"), "{ran:?}");
    let saved = std::fs::read_to_string(cli.config().join("agents/ada.toml")).unwrap();
    assert!(saved.contains("tdm_of-this-rotation"), "{saved}");
}

#[tokio::test]
async fn a_signal_leaves_no_half_of_a_registration() {
    let register = ["register", "bob", "--no-encryption"];
    let (cli, ran) = ended_during("POST /agents", (201, registered().await), &register).await;
    assert_eq!(ran.code, 128 + 15, "{ran:?}");
    assert!(cli.config().join("agents/bob.toml").exists());
    let refused = (403, json!({ "error": "closed", "code": "forbidden" }));
    let (cli, ran) = ended_during("POST /agents", refused, &["register", "bob"]).await;
    ran.failed(1, "closed");
    assert!(!cli.config().join("agents/bob.pem").exists());
    cli.register("bob").await;
}
