//! A hub as one file and back: while it is under load, into either database, and never into anything that is not
//! empty or from anything that is not whole.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rstest::rstest;
use serde_json::{Value, json};
use tandem_hub::Clock;
use tandem_hub::backup::Progress;
use tandem_store::{Database, Options, Store, dump};

use crate::harness::{Agent, Db, Harness, Place, eventually};

const NOW: i64 = 1_800_000_000_000;

pub fn database(place: &Place) -> Database {
    match &place.database {
        Some(url) => Database::Postgres(url.clone()),
        None => Database::Sqlite(place.folder.join("tandem.db")),
    }
}

/// Runs a command on a place, on a thread because tests are async.
pub async fn tandem(place: &Place, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
    command.args(arguments).arg("--data").arg(&place.folder);
    if let Some(url) = &place.database {
        command.arg("--database").arg(url);
    }
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

async fn backup(place: &Place, to: &Path) {
    let made = tandem(place, &["backup", to.to_str().unwrap()]).await;
    assert!(made.status.success(), "{made:?}");
}

/// A command that is refused, with these words.
async fn refused(place: &Place, arguments: &[&str], words: &[&str]) {
    let output = tandem(place, arguments).await;
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?} {error}");
    for word in words {
        assert!(error.contains(word), "{word:?} is not in {error:?}");
    }
}

/// A folder for archives that goes with the test.
pub struct Shelf(PathBuf);

impl Shelf {
    pub fn new() -> Self {
        let folder =
            std::env::temp_dir().join(format!("tandem_shelf_{}", tandem_app::keys::random_hex::<8>()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn start(place: &Arc<Place>, now: i64) -> Harness {
    let mut config = place.config();
    (config.webhook_allow_http, config.webhook_allow_private) = (true, true);
    Harness::start_at(Arc::clone(place), config, Arc::new(AtomicI64::new(now))).await
}

/// The same agent on another hub.
fn moved(agent: &Agent, to: &Harness) -> Agent {
    Agent { client: to.client.clone(), ..agent.clone() }
}

async fn upload(agent: &Agent, task: &str, bytes: &[u8]) -> String {
    let body =
        json!({ "filename": "a.png", "mimeType": "image/png", "base64Content": STANDARD.encode(bytes) });
    agent.post(&format!("/tasks/{task}/files/json"), body).await.ok(201)["url"].as_str().unwrap().to_owned()
}

fn bytes() -> Vec<u8> {
    (0..700_001_u32).map(|n| (n.wrapping_mul(31) % 256) as u8).collect()
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_under_load_goes_into_a_file_and_into_either_database(
    #[values(Db::Sqlite, Db::Postgres)] from: Db,
    #[values(Db::Sqlite, Db::Postgres)] to: Db,
) {
    let (shelf, old) = (Shelf::new(), Arc::new(Place::empty(from)));
    let hub = start(&old, NOW).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "title": "Zürich \u{1F600} \"\\", "priority": "high" })).await;
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "one\ttwo" })).await.ok(201);
    let (file, empty) = (upload(&ada, &task, &bytes()).await, upload(&bob, &task, b"x").await);
    bob.post("/events/ack", json!({ "cursor": 2 })).await.ok(200);
    let network = ada.post("/networks", json!({ "name": "Crew" })).await.text("id");
    let invite = ada.post_empty(&format!("/networks/{network}/invites")).await.text("code");
    bob.post("/networks/join", json!({ "code": invite })).await.ok(201);
    let webhook = json!({ "webhookUrl": "http://127.0.0.1:1/hook", "webhookSecret": "a secret of sixteen" });
    let profile = bob.patch("/agents/me", webhook).await.ok(200);
    let code = ada.post_empty("/pair/generate").await.text("code");
    let deleted = ada.task_with(&bob, json!({ "draft": true })).await;
    ada.delete(&format!("/tasks/{deleted}")).await.ok(200);

    let (stop, made) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicI64::new(0)));
    let senders: Vec<_> = (0..4)
        .map(|_| {
            let (ada, bob, stop, made) = (ada.clone(), bob.clone(), Arc::clone(&stop), Arc::clone(&made));
            tokio::spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    let task = ada.task(&bob).await;
                    let url = upload(&ada, &task, task.as_bytes()).await;
                    if made.fetch_add(1, Ordering::SeqCst) % 2 == 0 {
                        ada.delete(&url).await;
                    }
                }
            })
        })
        .collect();
    eventually(async || (made.load(Ordering::SeqCst) > 20).then_some(())).await;
    let known = bob.events().await;
    let archive = shelf.file("hub.tar");
    backup(&old, &archive).await;
    stop.store(true, Ordering::SeqCst);
    for sender in senders {
        sender.await.unwrap();
    }
    let (all, all_of_ada) = (bob.events().await, ada.events().await);
    assert!(all.len() > known.len(), "there was no load");
    drop(hub);

    let new = Arc::new(Place::empty(to));
    let restored = tandem(&new, &["restore", archive.to_str().unwrap()]).await;
    assert!(restored.status.success(), "{restored:?}");
    let hub = start(&new, NOW + 1_000).await;
    let (ada, bob) = (moved(&ada, &hub), moved(&bob, &hub));
    let (events, events_of_ada) = (bob.events().await, ada.events().await);
    assert!(events.len() >= known.len(), "what was there before the backup is in it");
    assert_eq!(events, all[..events.len()], "one moment of the log, with the same numbers");
    assert_eq!(events_of_ada, all_of_ada[..events_of_ada.len()]);
    check_same_moment(&bob, &events).await;

    let view = bob.view(&task).await;
    assert_eq!((&view["title"], &view["priority"]), (&json!("Zürich \u{1F600} \"\\"), &json!("high")));
    let thread = bob.get(&format!("/tasks/{task}/messages")).await.ok(200);
    assert_eq!((&thread[0]["content"], thread.as_array().unwrap().len()), (&json!("one\ttwo"), 3));
    assert_eq!(&bob.get(&file).await.bytes[..], &bytes()[..]);
    assert_eq!(&ada.get(&empty).await.bytes[..], b"x");
    assert_eq!(bob.get("/events").await.ok(200)["events"][0]["id"], 3, "the cursor came along");
    assert_eq!(bob.get(&format!("/networks/{network}")).await.ok(200)["memberCount"], 2);
    let again = bob.get("/agents/me").await.ok(200);
    assert_eq!((&again["webhookUrl"], &again["id"]), (&profile["webhookUrl"], &profile["id"]));
    let taken = json!({ "targetAgentId": bob.id, "title": "Another", "id": deleted });
    ada.post("/tasks", taken).await.refused(409, "id_taken");
    // An open code still opens, and numbers go on without a gap.
    let eve = hub.agent("Eve").await;
    eve.post("/pair/connect", json!({ "code": code })).await.ok(201);
    let before = bob.last_event().await["id"].as_i64().unwrap();
    ada.task(&bob).await;
    assert_eq!(bob.last_event().await["id"], before + 1);
}

/// Whatever the log tells of is there, and whatever file a message names is there byte for byte or was deleted.
async fn check_same_moment(bob: &Agent, events: &[Value]) {
    let mut files = 0;
    let deleted: BTreeSet<&str> = events
        .iter()
        .filter(|event| event["type"] == "file.deleted")
        .map(|event| event["data"]["fileId"].as_str().unwrap())
        .collect();
    for event in events.iter().filter(|event| event["type"] == "task.created").rev().take(30) {
        let task = event["taskId"].as_str().unwrap();
        assert_eq!(bob.view(task).await["status"], "submitted");
        let thread = bob.get(&format!("/tasks/{task}/messages")).await.ok(200);
        for message in thread.as_array().unwrap().iter().filter(|message| message["contentType"] == "file") {
            let id = message["content"].as_str().unwrap();
            let got = bob.get(&format!("/files/{id}")).await;
            if got.status == 200 && got.bytes.len() < 1_000 && got.bytes.len() > 1 {
                assert_eq!(&got.bytes[..], task.as_bytes());
                assert!(!deleted.contains(id));
                files += 1;
            }
        }
    }
    assert!(files > 0);
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_during_a_backup_is_not_half_in_it(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (shelf, place) = (Shelf::new(), Arc::new(Place::empty(db)));
    let hub = start(&place, NOW).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let (lost, kept) = (upload(&ada, &task, &bytes()).await, upload(&ada, &task, b"kept").await);
    let before = bob.events().await;
    let (archive, config, clock) =
        (shelf.file("hub.tar"), place.config(), Clock::Manual(Arc::clone(&hub.clock)));
    let (to, deleting, from, other) = (archive.clone(), ada.clone(), lost.clone(), bob.clone());
    let id = lost.rsplit('/').next().unwrap();
    let stored = place.folder.join("files").join(&id[id.len() - 2..]).join(id);
    assert!(stored.exists());
    let made = tokio::task::spawn_blocking(move || {
        let mut first = true;
        // The picture has been taken when the first table is told of.
        let mut on_progress = |_: Progress<'_>| {
            if std::mem::take(&mut first) {
                tokio::runtime::Handle::current().block_on(async {
                    assert_eq!(deleting.delete(&from).await.status, 200);
                    // The bytes go after the answer.
                    eventually(async || (!stored.exists()).then_some(())).await;
                    deleting.task(&other).await;
                });
            }
        };
        tandem_hub::backup::backup(&config, &clock, &to, &mut on_progress).unwrap()
    });
    let made = made.await.unwrap();
    assert_eq!((made.files, made.deleted_files), (1, 1));
    assert_eq!(bob.events().await.len(), before.len() + 2);
    drop(hub);
    let new = Arc::new(Place::empty(db));
    assert!(tandem(&new, &["restore", archive.to_str().unwrap()]).await.status.success());
    let hub = start(&new, NOW).await;
    let (ada, bob) = (moved(&ada, &hub), moved(&bob, &hub));
    assert_eq!(bob.events().await, before);
    bob.get(&lost).await.refused(404, "not_found");
    assert_eq!(&bob.get(&kept).await.bytes[..], b"kept");
    let id: tandem_core::AgentId = ada.id.parse().unwrap();
    let counted = hub.hub.db.read(move |tx, _| Ok(tandem_store::files::bytes_of(tx, &id)?)).await.unwrap();
    assert_eq!(counted, 4, "its bytes are not counted either");
}

/// A hub that has something of everything, stopped again, and its archive.
async fn archived(db: Db, shelf: &Shelf) -> (Arc<Place>, PathBuf) {
    let place = Arc::new(Place::empty(db));
    let hub = start(&place, NOW).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    upload(&ada, &task, &bytes()).await;
    drop(hub);
    let archive = shelf.file("hub.tar");
    backup(&place, &archive).await;
    (place, archive)
}

/// Members with where their bytes lie.
fn members(archive: &Path) -> Vec<(String, u64, u64)> {
    let mut tar = tar::Archive::new(std::fs::File::open(archive).unwrap());
    let entries = tar.entries().unwrap().map(Result::unwrap);
    let found = entries.map(|entry| {
        (entry.path().unwrap().to_str().unwrap().to_owned(), entry.raw_file_position(), entry.size())
    });
    found.collect()
}

#[rstest]
#[tokio::test]
async fn an_archive_is_private_whole_and_never_written_over(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    use std::os::unix::fs::PermissionsExt as _;
    let shelf = Shelf::new();
    let (place, archive) = archived(db, &shelf).await;
    assert_eq!(archive.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let before = std::fs::read(&archive).unwrap();
    let path = archive.to_str().unwrap();
    refused(&place, &["backup", path], &["is there already"]).await;
    assert_eq!(std::fs::read(&archive).unwrap(), before);
    assert_eq!(std::fs::read_dir(&shelf.0).unwrap().count(), 1, "nothing is left beside it");
    // What a killed backup left is no obstacle.
    std::fs::write(shelf.file("next.tar.part"), "rubbish".repeat(100_000)).unwrap();
    backup(&place, &shelf.file("next.tar")).await;
    let names: Vec<String> = members(&shelf.file("next.tar")).into_iter().map(|member| member.0).collect();
    assert_eq!(names[names.len() - 2..], ["manifest.json", "manifest.sha256"]);
    assert!(names.contains(&"tables/events.jsonl".to_owned()));
    let empty = Place::empty(db);
    refused(&empty, &["backup", shelf.file("no.tar").to_str().unwrap()], &["database"]).await;
    assert!(!shelf.file("no.tar").exists() && !shelf.file("no.tar.part").exists());
    // Bytes that are missing while their row is there are not left out silently.
    std::fs::remove_dir_all(place.folder.join("files")).unwrap();
    refused(&place, &["backup", shelf.file("no.tar").to_str().unwrap()], &["is not there", "--data"]).await;
}

/// Everything about a place that a refused restore must leave alone.
fn picture(place: &Place) -> (BTreeSet<PathBuf>, Vec<String>, Option<String>) {
    let mut found = BTreeSet::new();
    let mut folders = vec![place.folder.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path);
        }
    }
    let (tables, occupied) = (dump::tables_in(&database(place)), dump::occupied(&database(place)));
    (found, tables.unwrap(), occupied.unwrap())
}

async fn picture_of(place: &Arc<Place>) -> (BTreeSet<PathBuf>, Vec<String>, Option<String>) {
    let place = Arc::clone(place);
    tokio::task::spawn_blocking(move || picture(&place)).await.unwrap()
}

#[rstest]
#[tokio::test]
async fn what_is_damaged_cut_off_or_foreign_is_refused(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let shelf = Shelf::new();
    let (_place, archive) = archived(db, &shelf).await;
    let whole = std::fs::read(&archive).unwrap();
    let target = Arc::new(Place::empty(db));
    let before = picture_of(&target).await;
    let bad = shelf.file("bad.tar");
    let path = bad.to_str().unwrap();
    let members = members(&archive);
    for kind in ["tables/agents.jsonl", "tables/files.jsonl", "files/", "manifest.json", "manifest.sha256"] {
        let (_, place, size) = members.iter().find(|member| member.0.starts_with(kind)).unwrap();
        let mut bytes = whole.clone();
        bytes[usize::try_from(place + size / 2).unwrap()] ^= 1;
        std::fs::write(&bad, &bytes).unwrap();
        refused(&target, &["restore", path], &["damaged or cut off", "nothing was restored"]).await;
        // And the block that tells about it.
        bytes.clone_from(&whole);
        bytes[usize::try_from(place - 512 + 126).unwrap()] ^= 1;
        std::fs::write(&bad, &bytes).unwrap();
        refused(&target, &["restore", path], &["damaged or cut off"]).await;
    }
    let last = usize::try_from(members.last().unwrap().1).unwrap();
    for length in [0, 100, 512, whole.len() / 2, last - 512, last, last + 10] {
        std::fs::write(&bad, &whole[..length]).unwrap();
        refused(&target, &["restore", path], &["damaged or cut off"]).await;
    }
    refused(&target, &["restore", shelf.file("none.tar").to_str().unwrap()], &["none.tar"]).await;
    for (from, to, words) in [
        ("\"formatVersion\": 1", "\"formatVersion\": 2", &["version 2", "restore it with tandem"][..]),
        ("\"schemaVersion\": ", "\"schemaVersion\": 9", &["schema is version 9", "restore it with tandem"]),
    ] {
        rewrite_manifest(&archive, &bad, from, to);
        refused(&target, &["restore", path], words).await;
    }
    assert_eq!(picture_of(&target).await, before, "nothing was changed");
}

/// The same archive with another manifest, whose hash is right.
fn rewrite_manifest(from: &Path, to: &Path, old: &str, new: &str) {
    let mut archive = tar::Archive::new(std::fs::File::open(from).unwrap());
    let mut out = tar::Builder::new(std::fs::File::create(to).unwrap());
    let mut hash = String::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_str().unwrap().to_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        if name == "manifest.json" {
            let text = String::from_utf8(bytes).unwrap();
            assert!(text.contains(old), "{text}");
            bytes = text.replace(old, new).into_bytes();
            hash = tandem_app::keys::sha256(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        } else if name == "manifest.sha256" {
            bytes = format!("{hash}  manifest.json\n").into_bytes();
        }
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        out.append_data(&mut header, name, &bytes[..]).unwrap();
    }
    out.finish().unwrap();
}

#[rstest]
#[tokio::test]
async fn only_an_empty_place_is_restored_into(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let shelf = Shelf::new();
    let (place, archive) = archived(db, &shelf).await;
    let path = archive.to_str().unwrap();
    let before = picture_of(&place).await;
    refused(&place, &["restore", path], &["not empty", "Nothing was changed"]).await;
    assert_eq!(picture_of(&place).await, before);
    let hub = start(&place, NOW).await;
    refused(&place, &["restore", path], &["not empty"]).await;
    drop(hub);
    // A folder with a file of somebody's, beside an empty database.
    let other = Arc::new(Place::empty(db));
    std::fs::write(other.folder.join("notes.txt"), "mine").unwrap();
    let before = picture_of(&other).await;
    refused(&other, &["restore", path], &["the data folder is not empty", "notes.txt"]).await;
    assert_eq!(picture_of(&other).await, before);
    std::fs::remove_file(other.folder.join("notes.txt")).unwrap();
    let restored = tandem(&other, &["restore", path]).await;
    assert!(restored.status.success(), "{restored:?}");
    // What was restored can be backed up and has the same rows.
    backup(&other, &shelf.file("again.tar")).await;
    let tables = |archive: &Path| {
        let mut found = Vec::new();
        for entry in tar::Archive::new(std::fs::File::open(archive).unwrap()).entries().unwrap() {
            let mut entry = entry.unwrap();
            let (name, mut text) = (entry.path().unwrap().to_str().unwrap().to_owned(), Vec::new());
            entry.read_to_end(&mut text).unwrap();
            // The log of a restored hub has another epoch, by which clients notice it.
            let mut rows: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
            rows.retain(|row| !row.windows(7).any(|part| part == b"\"epoch\""));
            if !name.starts_with("manifest") {
                found.push((name, rows.concat()));
            }
        }
        found
    };
    assert!(tables(&archive) == tables(&shelf.file("again.tar")), "row for row and byte for byte");
}

#[rstest]
#[tokio::test]
async fn half_a_restore_is_no_hub(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let shelf = Shelf::new();
    let (_place, archive) = archived(db, &shelf).await;
    let target = Place::empty(db);
    let begun = database(&target);
    tokio::task::spawn_blocking(move || drop(dump::Load::begin(&begun, 1).unwrap())).await.unwrap();
    let words = ["a restore into this database did not finish", "empty"];
    refused(&target, &["serve", "--listen", "127.0.0.1:0"], &words).await;
    refused(&target, &["backup", shelf.file("half.tar").to_str().unwrap()], &words).await;
    refused(&target, &["gc"], &words).await;
    refused(&target, &["restore", archive.to_str().unwrap()], &words).await;
}

#[rstest]
#[tokio::test]
async fn every_table_is_in_the_list(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::empty(db);
    let database = database(&place);
    let found = tokio::task::spawn_blocking(move || {
        drop(Store::open(&database, &Options::default(), 0).unwrap());
        dump::tables_in(&database).unwrap()
    });
    let found: BTreeSet<String> = found.await.unwrap().into_iter().collect();
    let mut listed: BTreeSet<String> = dump::TABLES.iter().map(|table| table.name.to_owned()).collect();
    listed.insert("schema_migrations".to_owned());
    listed.extend(dump::LEFT_OUT.iter().map(|&name| name.to_owned()));
    assert_eq!(found, listed);
}

#[test]
fn help_teaches() {
    for (command, words) in [
        ("backup", &["Examples:", "secrets", "0600", "tar -tf"][..]),
        ("restore", &["Examples:", "empty", "postgres://"]),
        ("gc", &["Examples:", "event_retention_days"]),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_tandem")).args([command, "--help"]).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        for word in words {
            assert!(help.contains(word), "{word:?} is not in {help}");
        }
    }
}
