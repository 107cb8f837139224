//! Files in a bucket of an S3-compatible store that is not ours: in and out, gone with their rows, swept, backed up,
//! and away without taking the hub along.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::Full;
use hyper::Request;
use rstest::rstest;
use serde_json::{Value, json};

use crate::backup::Shelf;
use crate::crash::agent;
use crate::files::{part, upload, upload_form};
use crate::foreign::{installed, script};
use crate::harness::{Agent, Client, Db, Place, Reply, eventually};
use crate::serve::{Process, command};

const KEY: &str = "AKIATANDEMTESTS";
const SECRET: &str = "a-secret-that-nobody-may-see";
/// The object that says whose files these are.
const MARK: &str = "hubs/one/tandem-hub";

/// The store, as a process of its own.
struct Bucket {
    child: Child,
    input: ChildStdin,
    lines: BufReader<ChildStdout>,
    client: Client,
}

impl Bucket {
    fn start() -> Self {
        let mut command = Command::new(installed().join("venv/bin/python"));
        command.arg(script("bucket.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (mut lines, mut port) = (BufReader::new(output), String::new());
        lines.read_line(&mut port).unwrap();
        let address = format!("127.0.0.1:{}", port.trim()).parse().expect("the store tells its port");
        Self { child, input, lines, client: Client { address } }
    }

    /// The settings and the environment of a hub that keeps its files here.
    fn set(&self, command: &mut Command, prefix: &str) {
        command
            .env("TANDEM_FILES_BUCKET", "files")
            .env("TANDEM_FILES_PREFIX", prefix)
            .env("TANDEM_FILES_ENDPOINT", format!("http://{}", self.client.address))
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", KEY)
            .env("AWS_SECRET_ACCESS_KEY", SECRET);
    }

    fn hub(&self, place: &Place) -> Process {
        let mut command = command(place);
        self.set(&mut command, "hubs/one");
        Process::start(command)
    }

    /// Runs a command on a place whose files lie here.
    async fn tandem(&self, place: &Place, prefix: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
        command.args(arguments).arg("--data").arg(&place.folder);
        if let Some(url) = &place.database {
            command.arg("--database").arg(url);
        }
        self.set(&mut command, prefix);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        let said = [&output.stdout[..], &output.stderr].concat();
        assert_no_secret(&String::from_utf8_lossy(&said));
        output
    }

    /// A command that is refused, with these words.
    async fn refused(&self, place: &Place, prefix: &str, arguments: &[&str], words: &[&str]) {
        let output = self.tandem(place, prefix, arguments).await;
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?} {error}");
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error:?}");
        }
    }

    async fn send(&self, method: &str, path: &str) -> Reply {
        let request = Request::builder().method(method).uri(format!("/files{path}")).header("host", "store");
        // It looks whether there is a signature, not whether it is right.
        let request = request
            .header("authorization", "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/s3/aws4_request");
        self.client.try_raw(request.body(Full::from("nobody's")).unwrap()).await.unwrap()
    }

    /// The names of everything in it.
    async fn names(&self) -> BTreeSet<String> {
        let listed = self.send("GET", "?list-type=2").await;
        let text = String::from_utf8(listed.bytes.to_vec()).unwrap();
        text.split("<Key>").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned()).collect()
    }

    /// How many files of hubs are in it.
    async fn stored(&self) -> usize {
        self.names().await.iter().filter(|name| name.contains("/file_")).count()
    }

    fn make_older(&mut self, seconds: u32) {
        writeln!(self.input, "{seconds}").unwrap();
        self.lines.read_line(&mut String::new()).unwrap();
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").arg(format!("-{name}")).arg(pid).status().unwrap().success());
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn assert_no_secret(text: &str) {
    assert!(!text.contains(KEY) && !text.contains(SECRET), "{text}");
}

async fn pair(hub: &Process) -> (Agent, Agent) {
    let (ada, bob) = (agent(&hub.client, "Ada").await, agent(&hub.client, "Bob").await);
    ada.pair_with(&bob).await;
    (ada, bob)
}

fn moved(agent: &Agent, to: &Process) -> Agent {
    Agent { client: to.client.clone(), ..agent.clone() }
}

/// How many files lie below the data folder.
fn on_disk(place: &Place) -> usize {
    let Ok(folders) = std::fs::read_dir(place.folder.join("files")) else { return 0 };
    folders.flatten().filter_map(|folder| Some(std::fs::read_dir(folder.path()).ok()?.count())).sum()
}

/// More than is sent to the store at once, and no two parts alike.
fn large() -> Vec<u8> {
    (0..18_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

async fn sent(agent: &Agent, task: &str, bytes: &[u8]) -> Value {
    agent.post(&format!("/tasks/{task}/files/json"), upload("a.txt", "text/plain", bytes)).await.ok(201)
}

fn url(file: &Value) -> &str {
    file["url"].as_str().unwrap()
}

#[rstest]
#[tokio::test]
async fn a_file_goes_into_the_bucket_and_comes_out(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (bucket, place) = (Bucket::start(), Place::empty(db));
    let hub = bucket.hub(&place);
    let (ada, bob) = pair(&hub).await;
    let task = ada.task(&bob).await;
    let (small, large) = (sent(&ada, &task, b"hello").await, large());
    let form = upload_form(&ada, &task, "b.txt", "text/plain", &large).await.ok(201);
    let empty = sent(&ada, &task, b"").await;
    let id = small["id"].as_str().unwrap();
    let names = bucket.names().await;
    assert!(names.contains(&format!("hubs/one/{}/{id}", &id[id.len() - 2..])), "{names:?}");
    assert_eq!((bucket.stored().await, on_disk(&place)), (3, 0));

    assert_eq!(&bob.get(url(&small)).await.bytes[..], b"hello");
    assert_eq!(bob.get(url(&empty)).await.bytes.len(), 0);
    let got = bob.get(url(&form)).await;
    assert!(got.bytes == large, "byte for byte");
    assert_eq!(got.header("content-length"), Some("18000000"));
    for (range, from, to) in [
        ("bytes=0-9", 0, 10),
        ("bytes=8388600-8388620", 8_388_600, 8_388_621),
        ("bytes=-5", 17_999_995, 18_000_000),
    ] {
        let got = part(&bob, url(&form), range).await;
        assert_eq!((got.status, &got.bytes[..]), (206, &large[from..to]), "{range}");
        assert_eq!(got.header("content-range").unwrap(), format!("bytes {from}-{}/18000000", to - 1));
    }
    part(&bob, url(&form), "bytes=18000000-").await.refused(416, "no_such_range");
    let export = ada.get("/agents/me/export").await.ok(200);
    assert_eq!(export["__exportComplete"], true);
    let content = |file: &Value| {
        let files = export["files"].as_array().unwrap().iter();
        files.clone().find(|found| found["id"] == file["id"]).unwrap()["base64Content"].clone()
    };
    assert_eq!((content(&small), content(&empty)), (json!("aGVsbG8="), json!("")));
    assert!(content(&form) == STANDARD.encode(&large), "an export holds the bytes");

    // Gone with a file, with a message and with a task; and what is refused leaves nothing.
    ada.delete(url(&small)).await.ok(200);
    eventually(async || (bucket.stored().await == 2).then_some(())).await;
    ada.delete(&format!("/tasks/{task}/messages/{}", form["messageId"].as_str().unwrap())).await.ok(200);
    eventually(async || (bucket.stored().await == 1).then_some(())).await;
    bob.get(url(&form)).await.refused(404, "not_found");
    upload_form(&ada, &task, "a", "text/html", b"x").await.refused(415, "unsupported_media_type");
    ada.set(&task, "cancelled").await.ok(200);
    upload_form(&ada, &task, "a", "text/plain", b"x").await.refused(409, "task_terminal");
    assert_eq!(ada.delete(&format!("/tasks/{task}")).await.ok(200)["deletedFiles"], 1);
    let only_the_mark = BTreeSet::from([MARK.to_owned()]);
    eventually(async || (bucket.names().await == only_the_mark).then_some(())).await;
    assert_eq!(on_disk(&place), 0);
    let token = std::fs::read_to_string(place.folder.join("admin-token")).unwrap();
    let settings = hub.client.send("GET", "/admin/settings", Some(token.trim()), None).await.ok(200);
    assert_eq!(settings["files_bucket"], "files");
    assert_no_secret(&settings.to_string());
    hub.signal("TERM");
    let (status, log) = hub.end();
    assert!(status.success(), "{log}");
    assert_no_secret(&log);
}

#[rstest]
#[tokio::test]
async fn a_store_that_is_away_changes_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (bucket, place) = (Bucket::start(), Place::empty(db));
    let hub = bucket.hub(&place);
    let (ada, bob) = pair(&hub).await;
    let task = ada.task(&bob).await;
    let (kept, taken) = (sent(&ada, &task, b"kept").await, sent(&ada, &task, b"taken").await);
    // While it does not answer, nobody waits for it who only wants something gone.
    bucket.signal("STOP");
    ada.delete(url(&taken)).await.ok(200);
    bob.get(url(&taken)).await.refused(404, "not_found");
    bucket.signal("CONT");
    eventually(async || (bucket.stored().await == 1).then_some(())).await;

    let (thread, log) = (bob.get(&format!("/tasks/{task}/messages")).await.ok(200), bob.events().await);
    bucket.signal("KILL");
    let path = format!("/tasks/{task}/files/json");
    let refused = ada.post(&path, upload("a.txt", "text/plain", b"x")).await;
    refused.refused(503, "unavailable");
    assert!(refused.header("retry-after").is_some());
    upload_form(&ada, &task, "b.txt", "text/plain", &large()).await.refused(503, "unavailable");
    bob.get(url(&kept)).await.refused(503, "unavailable");
    part(&bob, url(&kept), "bytes=1-2").await.refused(503, "unavailable");
    assert_eq!(bob.get(&format!("/tasks/{task}/messages")).await.ok(200), thread);
    assert_eq!((bob.events().await, on_disk(&place)), (log, 0));
    // An export without the bytes is not whole.
    let export = Request::get("/agents/me/export").header("authorization", format!("Bearer {}", ada.key));
    let export = ada.client.try_raw(export.body(Full::default()).unwrap()).await.unwrap();
    assert!(!String::from_utf8_lossy(&export.bytes).contains("__exportComplete"));
    ada.set(&task, "cancelled").await.ok(200);
    assert_eq!(ada.delete(&format!("/tasks/{task}")).await.ok(200)["deletedFiles"], 1);
    hub.signal("TERM");
    let (status, log) = hub.end();
    assert!(status.success() && log.contains("cannot store or read a file"), "{log}");
    assert_no_secret(&log);
}

#[rstest]
#[tokio::test]
async fn what_belongs_to_nobody_is_swept(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (mut bucket, place) = (Bucket::start(), Place::empty(db));
    let hub = bucket.hub(&place);
    let (ada, bob) = pair(&hub).await;
    let task = ada.task(&bob).await;
    let file = sent(&ada, &task, b"kept").await;
    hub.signal("KILL");
    drop(hub);
    // Killed between the bytes and their row; in the midst of an upload; and things that are not the hub's.
    let foreign = ["hubs/one/notes.txt", "hubs/one/to/photo-to", "hubs/two/zz/file_otherzz", "zz/file_topzz"];
    for name in ["hubs/one/zz/file_oldzz"].iter().chain(&foreign) {
        assert_eq!(bucket.send("PUT", &format!("/{name}")).await.status, 200);
    }
    let half = place.folder.join("files/arriving/file_06gy46etej1h0xc0aq56f5j7");
    std::fs::write(&half, "half").unwrap();
    #[expect(clippy::disallowed_methods, reason = "the times of files are the machine's")]
    let long_ago = SystemTime::now() - Duration::from_secs(7_200);
    std::fs::File::options().write(true).open(&half).unwrap().set_modified(long_ago).unwrap();
    bucket.make_older(7_200);
    assert_eq!(bucket.send("PUT", "/hubs/one/zz/file_newzz").await.status, 200);

    let hub = bucket.hub(&place);
    let swept = async || {
        let names = bucket.names().await;
        (!names.contains("hubs/one/zz/file_oldzz") && !half.exists()).then_some(names)
    };
    let names = eventually(swept).await;
    assert!(names.contains("hubs/one/zz/file_newzz"), "it may be arriving: {names:?}");
    bucket.make_older(7_200);
    let collected = bucket.tandem(&place, "hubs/one", &["gc"]).await;
    let said = String::from_utf8(collected.stdout).unwrap();
    assert!(said.contains("removed 1 orphaned files"), "{said}");
    let mut left: BTreeSet<String> = foreign.iter().map(ToString::to_string).collect();
    let id = file["id"].as_str().unwrap();
    left.extend([MARK.to_owned(), format!("hubs/one/{}/{id}", &id[id.len() - 2..])]);
    assert_eq!(bucket.names().await, left);
    assert_eq!(&moved(&bob, &hub).get(url(&file)).await.bytes[..], b"kept");
    // Files are never compared with another hub's database.
    let other = Place::empty(db);
    let words = ["s3://files/hubs/one", "another hub", "files_prefix"];
    bucket.refused(&other, "hubs/one", &["serve", "--listen", "127.0.0.1:0"], &words).await;
    let mut command = command(&other);
    bucket.set(&mut command, "hubs/three");
    drop(Process::start(command));
    bucket.refused(&other, "hubs/one", &["gc"], &words).await;
    left.insert("hubs/three/tandem-hub".into());
    assert_eq!(bucket.names().await, left);
}

async fn restored(bucket: &Bucket, place: &Place, prefix: &str, archive: &Path) -> Output {
    bucket.tandem(place, prefix, &["restore", archive.to_str().unwrap()]).await
}

#[rstest]
#[tokio::test]
async fn a_backup_holds_the_bucket_and_fills_another(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (bucket, shelf, place) = (Bucket::start(), Shelf::new(), Place::empty(db));
    let hub = bucket.hub(&place);
    let (ada, bob) = pair(&hub).await;
    let task = ada.task(&bob).await;
    let (small, large) = (sent(&ada, &task, b"hello").await, large());
    let form = upload_form(&ada, &task, "b.txt", "text/plain", &large).await.ok(201);
    let (archive, new) = (shelf.file("hub.tar"), Place::empty(db));
    let made = bucket.tandem(&place, "hubs/one", &["backup", archive.to_str().unwrap()]).await;
    assert!(made.status.success(), "{made:?}");
    // A bucket that is not empty is left alone.
    let before = bucket.names().await;
    let restore = ["restore", archive.to_str().unwrap()];
    bucket.refused(&new, "hubs/one", &restore, &["not empty", "files_prefix", "Nothing was changed"]).await;
    assert_eq!((bucket.names().await, std::fs::read_dir(&new.folder).unwrap().count()), (before, 0));

    assert!(restored(&bucket, &new, "hubs/new", &archive).await.status.success());
    assert_eq!((bucket.stored().await, on_disk(&new)), (4, 0));
    let mut command = command(&new);
    bucket.set(&mut command, "hubs/new");
    let second = Process::start(command);
    let same = moved(&bob, &second);
    assert_eq!(&same.get(url(&small)).await.bytes[..], b"hello");
    assert!(same.get(url(&form)).await.bytes == large, "byte for byte");
    // From a bucket into a folder.
    let plain = Place::empty(db);
    let output = crate::backup::tandem(&plain, &restore).await;
    assert!(output.status.success(), "{output:?}");
    let third = Process::start(crate::serve::command(&plain));
    assert!(moved(&bob, &third).get(url(&form)).await.bytes == large, "byte for byte");
    // Bytes that are missing while their row is there are not left out silently.
    let id = small["id"].as_str().unwrap();
    let deleted = bucket.send("DELETE", &format!("/hubs/one/{}/{id}", &id[id.len() - 2..])).await;
    assert_eq!((deleted.status, bucket.stored().await), (204, 3));
    let again = shelf.file("again.tar");
    let words = ["is not there", "files_bucket"];
    bucket.refused(&place, "hubs/one", &["backup", again.to_str().unwrap()], &words).await;
}

#[rstest]
#[tokio::test]
async fn a_hub_without_its_bucket_does_not_start(#[values(Db::Sqlite)] db: Db) {
    let (bucket, place) = (Bucket::start(), Place::empty(db));
    let serve = ["serve", "--listen", "127.0.0.1:0", "--set"];
    let to_check = ["files_bucket", "files_endpoint", "AWS_REGION", "AWS_ACCESS_KEY_ID"];
    for (setting, words) in [
        ("files_bucket=nowhere", &["s3://nowhere/p", "NoSuchBucket"][..]),
        ("files_endpoint=http://127.0.0.1:1", &["s3://files/p", "error sending request"]),
        (&format!("files_endpoint=https://{}", bucket.client.address), &["s3://files/p"]),
    ] {
        let arguments = [&serve[..], &[setting]].concat();
        bucket.refused(&place, "p", &arguments, &[words, &to_check].concat()).await;
    }
    assert_eq!(bucket.names().await, BTreeSet::new());
}
