//! `tandem serve` as a process: starting, refusing, stopping.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use rstest::rstest;
use serde_json::json;

use crate::harness::{Client, Db, Place};

/// The hub as a child process.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Reads the log all the time: a hub whose log nobody reads stops when the pipe is full.
    log: Option<JoinHandle<String>>,
    pub client: Client,
    pub greeting: String,
}

pub fn command(place: &Place) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
    command.arg("serve").arg("--listen").arg("127.0.0.1:0").arg("--data").arg(&place.folder);
    for limit in ["rate_limit_max", "rate_limit_register_max", "max_messages_per_minute"] {
        command.arg("--set").arg(format!("{limit}=0"));
    }
    if let Some(url) = &place.database {
        command.arg("--database").arg(url);
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Process {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let log = child.stderr.take().map(|mut stderr| {
            std::thread::spawn(move || {
                let mut log = Vec::new();
                stderr.read_to_end(&mut log).unwrap();
                String::from_utf8_lossy(&log).into_owned()
            })
        });
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut greeting = String::new();
        let mut address = None;
        for line in &mut lines {
            let line = line.unwrap();
            if let Some(url) = line.strip_prefix("Listening ") {
                address = Some(url.trim().trim_start_matches("http://").parse().unwrap());
            }
            greeting.push_str(&line);
            greeting.push('\n');
            if line.starts_with("Ctrl-C") {
                break;
            }
        }
        let Some(address) = address else {
            panic!("the hub did not start: {:?}", log.map(JoinHandle::join));
        };
        Self { child, log, client: Client { address }, greeting }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        let sent =
            Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status().unwrap();
        assert!(sent.success());
    }

    /// Stops it and waits for its end: its log is complete then.
    pub fn stop(mut self) {
        self.signal("TERM");
        self.child.wait().unwrap();
    }

    /// Waits for the end; gives how it ended and what stood in the log.
    pub fn end(mut self) -> (ExitStatus, String) {
        let log = self.log.take().unwrap().join().unwrap();
        (self.child.wait().unwrap(), log)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking()
            && let Some(Ok(log)) = self.log.take().map(JoinHandle::join)
        {
            eprintln!("the log of the hub at {}:\n{log}", self.client.address);
        }
    }
}

async fn register(client: &Client) -> String {
    let reply = client.send("POST", "/agents", None, Some(json!({ "name": "Ada" }))).await;
    reply.ok(201);
    reply.text("apiKey")
}

#[rstest]
#[tokio::test]
async fn it_starts_stops_and_finds_its_data_again(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::empty(db);
    let hub = Process::start(command(&place));
    for word in ["Dashboard", "Sign in", "setup-link", "Register", "Operator", "admin-token"] {
        assert!(hub.greeting.contains(word), "{}", hub.greeting);
    }
    let key = register(&hub.client).await;
    hub.signal("TERM");
    let (status, log) = hub.end();
    assert!(status.success(), "{log}");
    assert!(!log.contains("tdm_") && !log.contains("panic"), "{log}");

    let hub = Process::start(command(&place));
    assert_eq!(hub.client.send("GET", "/agents/me", Some(&key), None).await.ok(200)["name"], "Ada");
    let token = std::fs::read_to_string(place.folder.join("admin-token")).unwrap();
    hub.client.send("GET", "/admin/overview", Some(token.trim()), None).await.ok(200);
    assert_private(&place.folder.join("admin-token"));
    hub.signal("INT");
    assert!(hub.end().0.success());
}

#[rstest]
#[tokio::test]
async fn a_log_that_nobody_reads_stops_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::empty(db);
    let mut serve = command(&place);
    // A pipe that is full after a few hundred lines.
    let (unread, log) = std::io::pipe().unwrap();
    serve.env("TANDEM_LOG", "debug").stderr(log);
    let hub = Process::start(serve);
    let key = register(&hub.client).await;
    for _ in 0..2_000 {
        hub.client.send("GET", "/agents/me", Some(&key), None).await.ok(200);
    }
    drop(unread);
}

fn assert_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[rstest]
#[tokio::test]
async fn a_second_hub_on_the_same_folder_says_so(#[values(Db::Sqlite)] db: Db) {
    let place = Place::empty(db);
    let hub = Process::start(command(&place));
    let second = command(&place).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let error = String::from_utf8(second.stderr).unwrap();
    assert!(error.contains("another tandem (process") && error.contains("--data"), "{error}");
    register(&hub.client).await;
    // Nor on the same database from another folder.
    let other = Place::empty(db);
    let mut command = command(&other);
    command.arg("--database").arg(format!("sqlite:{}", other.folder.join("own.db").display()));
    let _first = Process::start(command);
    let third = Place::empty(db);
    let mut second = crate::serve::command(&third);
    second.arg("--database").arg(format!("sqlite:{}", other.folder.join("own.db").display()));
    assert_eq!(second.output().unwrap().status.code(), Some(1));
}

#[rstest]
#[tokio::test]
async fn what_cannot_work_is_said_before_anything_starts(#[values(Db::Sqlite)] db: Db) {
    let place = Place::empty(db);
    let fails = |arguments: &[&str], words: &[&str]| {
        let output = command(&place).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error:?}");
        }
    };
    fails(&["--set", "nonsense=1"], &["no such setting"]);
    fails(&["--database", "mysql://host/db"], &["sqlite:PATH or postgres://"]);
    fails(&["--database", "postgres://user:secret@127.0.0.1:1/db"], &["cannot use the database"]);
    fails(&["--config", "/nowhere/tandem.toml"], &["/nowhere/tandem.toml"]);
    fails(&["--admin-token", "short"], &["16"]);
    fails(&["--public-url", "nonsense"], &["http://"]);
    let output =
        command(&place).args(["--database", "postgres://user:secret@127.0.0.1:1/db"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("secret"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut busy = Command::new(env!("CARGO_BIN_EXE_tandem"));
    busy.args(["serve", "--listen", &address, "--data"]).arg(&place.folder);
    let output = busy.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("another program has it"), "{output:?}");
}

#[test]
fn help_teaches() {
    let help = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_tandem")).args(arguments).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(help(&["--help"]).contains("Examples:"));
    let serve = help(&["serve", "--help"]);
    for word in [
        "--listen",
        "--data",
        "--database",
        "--public-url",
        "--admin-token",
        "--set",
        "TANDEM_LOG",
        "SIGTERM",
    ] {
        assert!(serve.contains(word), "{word}");
    }
    assert_eq!(help(&["serve", "--example-config"]), tandem_hub::config::EXAMPLE);
}

#[test]
fn a_key_is_made_once_and_shown_again() {
    let place = Place::empty(Db::Sqlite);
    let key = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
        command.arg("key").args(arguments).current_dir(&place.folder);
        let output = command.output().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), text)
    };
    let (made, shown) = key(&["new", "agent.pem"]);
    assert!(made, "{shown}");
    let words = shown.lines().find(|line| line.starts_with("In words:")).unwrap();
    for file in ["agent.pem", "agent.pub.pem"] {
        let (read, again) = key(&["show", file]);
        assert!(read && again.contains(words) && again.contains("BEGIN PUBLIC KEY"), "{again}");
        assert!(!again.contains("PRIVATE"), "{again}");
    }
    let before = std::fs::read(place.folder.join("agent.pem")).unwrap();
    assert!(!key(&["new", "agent.pem"]).0, "nothing is overwritten");
    assert_eq!(std::fs::read(place.folder.join("agent.pem")).unwrap(), before);
    assert!(!key(&["show", "none.pem"]).0);
}

/// Libraries log what passes through them: the database driver every parameter, the MCP library every message.
#[rstest]
#[tokio::test]
async fn no_log_level_shows_secrets_or_messages(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values("trace", "info,tokio_postgres=trace,tandem_store=trace,log=trace,rmcp=trace")] level: &str,
) {
    let place = Place::empty(db);
    let mut serve = command(&place);
    serve.env("TANDEM_LOG", level);
    let process = Process::start(serve);
    let client = process.client.clone();
    let key = register(&client).await;
    let body =
        json!({ "webhookUrl": "https://example.com/SECRET-PATH", "webhookSecret": "SECRET-OF-THE-WEBHOOK" });
    client.send("PATCH", "/agents/me", Some(&key), Some(body)).await.ok(200);
    let network = json!({ "name": "SECRET-NETWORK", "description": "SECRET-DESCRIPTION" });
    client.send("POST", "/networks", Some(&key), Some(network)).await.ok(201);
    process.signal("TERM");
    let (status, log) = process.end();
    assert!(status.success(), "{log}");
    for secret in ["SECRET-", key.as_str()] {
        assert!(!log.contains(secret), "{:?}", log.lines().find(|line| line.contains(secret)));
    }
}
