//! What a start leaves on the disk, what it refuses, and what it says.

use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rstest::rstest;
use serde_json::json;

use crate::backup::{Shelf, tandem};
use crate::files::upload;
use crate::harness::{Agent, Db, Harness, Place};
use crate::serve::{Process, command};

/// `tandem serve` that is expected to fail, with exactly these arguments.
fn serve(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
    command.arg("serve").args(arguments).current_dir(folder).output().unwrap()
}

fn error(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// Every file and folder below this one.
fn tree(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(tree(&path));
        }
        found.push(path);
    }
    found
}

async fn task_with_file(hub: &Process) -> (Agent, String) {
    let mut agents = Vec::new();
    for name in ["Ada", "Bob"] {
        let reply = hub.client.send("POST", "/agents", None, Some(json!({ "name": name }))).await;
        agents.push(Agent {
            id: reply.text("id"),
            name: reply.text("name"),
            key: reply.text("apiKey"),
            client: hub.client.clone(),
        });
    }
    agents[0].pair_with(&agents[1]).await;
    let task = agents[0].task(&agents[1]).await;
    let path = format!("/tasks/{task}/files/json");
    let file = agents[0].post(&path, upload("a.txt", "text/plain", b"bytes")).await.text("id");
    (agents.remove(0), file)
}

#[rstest]
#[tokio::test]
async fn everything_in_the_data_folder_is_private(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    // A file of an older version, and a token that is too short to be one.
    std::fs::write(place.folder.join("admin-token"), "short").unwrap();
    if db == Db::Sqlite {
        std::fs::write(place.folder.join("tandem.db"), "").unwrap();
    }
    for file in std::fs::read_dir(&place.folder).unwrap() {
        std::fs::set_permissions(file.unwrap().path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    let hub = Process::start(command(&place));
    task_with_file(&hub).await;
    let found = tree(&place.folder);
    assert!(found.iter().any(|path| path.ends_with("hub.toml")), "{found:?}");
    assert_eq!(db == Db::Sqlite, found.iter().any(|path| path.ends_with("tandem.db-wal")), "{found:?}");
    for path in found {
        assert_eq!(mode(&path), if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
    assert!(std::fs::read_to_string(place.folder.join("admin-token")).unwrap().starts_with("tda_"));
}

#[rstest]
#[tokio::test]
async fn a_folder_is_refused_with_the_database_of_another_hub(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let hub = Process::start(command(&place));
    let (ada, file) = task_with_file(&hub).await;
    hub.signal("TERM");
    hub.end();

    // A database without a hub, and one with another.
    let empty = Place::new(db);
    let foreign = Place::new(db);
    let hub = Process::start(command(&foreign));
    hub.signal("TERM");
    hub.end();
    for other in [&empty, &foreign] {
        let url = other.database.clone();
        let url = url.unwrap_or_else(|| format!("sqlite:{}", other.folder.join("tandem.db").display()));
        let wrong = place.with_database(url);
        let said = error(&command(&wrong).output().unwrap());
        assert!(said.contains("belongs to") && said.contains("--data"), "{said}");
        let said = error(&tandem(&wrong, &["gc"]).await);
        assert!(said.contains("belongs to"), "{said}");
    }
    assert_eq!(tree(&empty.folder).len(), 0);

    let hub = Process::start(command(&place));
    let kept = hub.client.send("GET", &format!("/files/{file}"), Some(&ada.key), None).await;
    assert_eq!((kept.status, &kept.bytes[..]), (200, &b"bytes"[..]));
}

#[rstest]
#[tokio::test]
async fn a_restored_hub_is_not_started_without_its_database(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let shelf = Shelf::new();
    let archive = shelf.file("hub.tar");
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    assert!(tandem(&hub.place, &["backup", archive.to_str().unwrap()]).await.status.success());
    drop(hub);

    let mut target = Place::new(db);
    if db == Db::Sqlite {
        target.database = Some(format!("sqlite:{}", shelf.file("elsewhere.db").display()));
    }
    let restored = tandem(&target, &["restore", archive.to_str().unwrap()]).await;
    assert!(restored.status.success(), "{restored:?}");
    let said = String::from_utf8(restored.stdout).unwrap();
    assert!(said.contains("--database") && said.contains("--data"), "{said}");
    let folder = target.folder.to_str().unwrap().to_owned();
    let said = error(&serve(&target.folder, &["--listen", "0", "--data", &folder]));
    let kind = if db == Db::Sqlite { "sqlite:" } else { "postgres" };
    assert!(said.contains("belongs to") && said.contains(kind) && said.contains("--database"), "{said}");
    assert!(!target.folder.join("tandem.db").exists());

    let hub = Process::start(command(&target));
    hub.client.send("GET", "/agents/me", Some(&ada.key), None).await.ok(200);
    drop(hub);
    // SQLite's database is a file of the shelf, not one of the server.
    if db == Db::Sqlite {
        target.database = None;
    }
}

#[test]
fn a_failed_start_leaves_nothing_behind() {
    let place = Place::new(Db::Sqlite);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for arguments in [
        &["--listen", &address] as &[&str],
        &["--listen", "0", "--database", "postgres://user:secret@127.0.0.1:1/db"],
        &["--listen", "0", "--database", "mysql://user:secret@host/db"],
        &["--listen", "0", "--database", "sqlite:nowhere/at/all.db"],
        &["--listen", "0", "--set", "files_bucket=b", "--set", "files_endpoint=http://127.0.0.1:1"],
    ] {
        let said = error(&serve(&place.folder, &[&["--data", "a/b/data"], arguments].concat()));
        assert!(!said.contains("secret"), "{said}");
        assert_eq!(tree(&place.folder).len(), 0, "{said}");
    }
}

#[test]
fn no_error_is_said_twice() {
    let place = Place::new(Db::Sqlite);
    let wrong = ["--database", "postgres://user@127.0.0.1:1/db"];
    for verb in ["serve", "backup", "gc", "restore"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
        command.arg(verb).args(if ["backup", "restore"].contains(&verb) { &["hub.tar"][..] } else { &[] });
        if verb != "restore" {
            command.args(wrong);
        }
        let said = error(&command.current_dir(&place.folder).output().unwrap());
        let parts: Vec<&str> = said.trim().split(": ").collect();
        for part in &parts {
            assert_eq!(parts.iter().filter(|other| *other == part).count(), 1, "{said}");
        }
    }
}

#[test]
fn a_closed_output_is_no_panic() {
    let place = Place::new(Db::Sqlite);
    let full = || Stdio::from(std::fs::File::options().write(true).open("/dev/full").unwrap());
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
        command.args(arguments).current_dir(&place.folder);
        command
    };
    // A panic would end with 101.
    for arguments in [&["serve", "--set", "nonsense=1"] as &[&str], &["backup", "no.tar"], &["gc"]] {
        let ended = run(arguments).stdout(full()).stderr(full()).status().unwrap();
        assert_eq!(ended.code(), Some(1), "{arguments:?}");
    }
    let ended = run(&["serve", "--example-config"]).stdout(full()).output().unwrap();
    assert!(error(&ended).contains("No space"), "{ended:?}");

    // A hub that nobody listens to runs, and stops when it is told to.
    let listen = ["serve", "--listen", "127.0.0.1:0", "--data", "data"];
    let mut hub = run(&listen).env("TANDEM_NONSENSE", "1").stdout(full()).stderr(full()).spawn().unwrap();
    let deadline = std::time::Instant::now() + crate::harness::PATIENCE;
    while !place.folder.join("data/hub.toml").exists() && std::time::Instant::now() < deadline {
        assert!(hub.try_wait().unwrap().is_none(), "the hub ended");
        std::thread::yield_now();
    }
    assert!(Command::new("kill").arg(hub.id().to_string()).status().unwrap().success());
    let ended = hub.wait().unwrap();
    assert_ne!(ended.code(), Some(101));
}

#[test]
fn variables_that_are_not_text_are_no_panic() {
    let place = Place::new(Db::Sqlite);
    let odd = std::ffi::OsString::from_vec(vec![b'x', 0xff]);
    let hub = Process::start({
        let mut command = command(&place);
        command.env("SOMETHING", &odd).env(&odd, "value");
        command
    });
    drop(hub);
    let said = error(&command(&place).env("TANDEM_PUBLIC_URL", &odd).output().unwrap());
    assert!(said.contains("TANDEM_PUBLIC_URL") && said.contains("UTF-8"), "{said}");
}

#[test]
fn a_misspelt_variable_gets_a_suggestion() {
    let place = Place::new(Db::Sqlite);
    let mut command = command(&place);
    let hub = Process::start({
        command.env("TANDEM_MAX_CONECTIONS", "5");
        command
    });
    hub.signal("TERM");
    let (_, log) = hub.end();
    assert!(log.contains("did you mean TANDEM_MAX_CONNECTIONS?"), "{log}");
}

#[test]
fn a_shifted_clock_is_reported() {
    const OFFSET: &str = "TANDEM_TEST_CLOCK_OFFSET_MS";
    let place = Place::new(Db::Sqlite);
    for wrong in ["soon", "2.5", ""] {
        let said = error(&command(&place).env(OFFSET, wrong).output().unwrap());
        assert!(said.contains(OFFSET) && said.contains(&format!("{wrong:?}")), "{said}");
    }
    for shifted in [false, true] {
        let mut command = command(&place);
        if shifted {
            command.env(OFFSET, "-2500");
        }
        let hub = Process::start(command);
        hub.signal("TERM");
        let (_, log) = hub.end();
        assert_eq!(log.contains(OFFSET) && log.contains("-2500 ms"), shifted, "{log}");
        assert!(!log.contains("not a setting"), "{log}");
    }
}

#[rstest]
#[case::raised("ulimit -Sn 300", 200, None)]
#[case::small("ulimit -Sn 600; ulimit -Hn 600", 20_000, Some("the limit of open files is 600"))]
#[tokio::test]
async fn there_is_room_for_the_connections_that_are_promised(
    #[case] limits: &str,
    #[case] connections: usize,
    #[case] warning: Option<&str>,
) {
    let place = Place::new(Db::Sqlite);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{limits}; exec \"$@\"")).arg("sh").arg(env!("CARGO_BIN_EXE_tandem"));
    shell.args(["serve", "--listen", "0", "--data"]).arg(&place.folder);
    shell.args(["--set", &format!("max_connections={connections}"), "--set", "max_streams=200"]);
    let hub = Process::start({
        shell.stdout(Stdio::piped()).stderr(Stdio::piped());
        shell
    });
    assert_eq!(hub.greeting.contains("Warning"), warning.is_some(), "{}", hub.greeting);
    assert!(hub.greeting.contains(warning.unwrap_or_default()), "{}", hub.greeting);
    let token = std::fs::read_to_string(place.folder.join("admin-token")).unwrap();
    let settings = hub.client.send("GET", "/admin/settings", Some(token.trim()), None).await.ok(200);
    let accepted = settings["max_connections"].as_u64().unwrap();
    assert!(if warning.is_some() { accepted < 600 } else { accepted == 200 }, "{settings}");
}

#[test]
fn far_too_few_files_are_refused() {
    let place = Place::new(Db::Sqlite);
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -Sn 100; ulimit -Hn 100; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_tandem")]);
    let said = error(
        &shell.args(["serve", "--listen", "0", "--data", "d"]).current_dir(&place.folder).output().unwrap(),
    );
    assert!(said.contains("ulimit -n"), "{said}");
}

#[rstest]
#[tokio::test]
async fn a_backup_does_not_write_through_a_link(#[values(Db::Sqlite)] db: Db) {
    let shelf = Shelf::new();
    let hub = Harness::start(db).await;
    let victim = shelf.file("victim");
    std::fs::write(&victim, "precious").unwrap();
    std::fs::set_permissions(&victim, std::fs::Permissions::from_mode(0o644)).unwrap();
    for (planted, target) in [("a.tar.part", "victim"), ("b.tar", "victim"), ("c.tar.part", "nowhere")] {
        std::os::unix::fs::symlink(shelf.file(target), shelf.file(planted)).unwrap();
        let archive = shelf.file(planted.trim_end_matches(".part"));
        let said = error(&tandem(&hub.place, &["backup", archive.to_str().unwrap()]).await);
        assert!(said.contains(planted), "{said}");
        assert_eq!((std::fs::read_to_string(&victim).unwrap().as_str(), mode(&victim)), ("precious", 0o644));
        assert!(!shelf.file("nowhere").exists());
    }
}

#[test]
fn a_folder_of_an_older_version_is_refused_with_another_database() {
    let place = Place::new(Db::Sqlite);
    std::fs::write(place.folder.join("tandem.db"), "").unwrap();
    let file = place.folder.join("files/zz/file_zz");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "bytes").unwrap();
    let other = place.folder.join("other.db");
    let said = error(&command(&place.with_database(format!("sqlite:{}", other.display()))).output().unwrap());
    assert!(said.contains("another hub") && said.contains("tandem.db"), "{said}");
    assert!(file.exists() && !other.exists());
}
