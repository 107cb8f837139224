//! `tandem-bench content`: what files and encrypted messages cost, also for other agents.

mod files;
mod lists;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args;
use hyper::Method;
use serde::Serialize;
use serde_json::{Value, json};
use tandem_seal::{ContentType, Envelope as _, Message, PrivateKey, Sealed, verify};
use tokio::task::JoinSet;

use super::connection::Connection;
use super::load::{Figures, Maker, Span, drive};
use super::place::Place;
use super::process::{Process, Scratch};
use super::progress::Progress;
use super::site::start_hub;
use super::until_stopped;
use super::workload::{request, text};

use files::Files;
use lists::Sized;

/// How many connections read meanwhile.
const OTHERS: usize = 4;
/// How many encrypted messages are sent.
const MESSAGES: usize = 800;
/// Over how many connections.
const SENDERS: usize = 8;
/// How often reads are measured in each case.
const ROUNDS: u64 = 5;
/// How often a signature is checked to time it.
const CHECKS: u32 = 2_000;

/// What `tandem-bench content` takes.
#[derive(Debug, Args)]
#[command(long_about = ABOUT)]
pub(crate) struct Arguments {
    /// How many files are transferred at once
    #[arg(long, value_name = "NUMBER", default_value_t = 8)]
    files: usize,
    /// How large each is, in megabytes
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    megabytes: usize,
    /// How fast all of them together, in megabytes a second: one gigabit a second by default; 0 for as fast as
    /// possible, which then measures the load's own share of the processors
    #[arg(long, value_name = "NUMBER", default_value_t = 120)]
    pace: u32,
    /// With how many tasks of one agent lists are measured at most, from 1,000 on
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000)]
    tasks: u64,
    /// Measure lists only
    #[arg(long)]
    only_lists: bool,
    #[command(flatten)]
    place: Place,
}

const ABOUT: &str = "\
Measure what files and encrypted messages cost, also for other agents

Several large files are uploaded as forms at once, then downloaded at once, while other agents read tasks:
measured are the memory that the hub needs in addition, and how long the reads take compared with a quiet hub.
Then encrypted messages are sent and plain ones of the same size, and the check of one signature is timed.
Last, every list of an agent is read while that agent has more and more tasks.";

/// Everything that was measured.
#[derive(Debug, Serialize)]
struct Report {
    files: usize,
    megabytes: usize,
    quiet: Figures,
    beside_uploads: Figures,
    beside_downloads: Figures,
    upload_mb_per_second: f64,
    download_mb_per_second: f64,
    memory_before_mb: Option<f64>,
    memory_most_mb: Option<f64>,
    plain_per_second: f64,
    encrypted_per_second: f64,
    check_us: f64,
    lists: Vec<Sized>,
}

impl Report {
    fn table(&self) -> String {
        let mut out = format!("\n{} files of {} MB at once\n", self.files, self.megabytes);
        let rows = [
            ("nothing else", &self.quiet),
            ("beside uploads", &self.beside_uploads),
            ("beside downloads", &self.beside_downloads),
        ];
        for (name, figures) in rows {
            let ratio = figures.p99_ms / self.quiet.p99_ms.max(0.001);
            let _ = writeln!(
                out,
                "  reads, {name:<17} p50 {:>7.2} ms   p99 {:>7.2} ms   {ratio:>5.2} of quiet   errors {}",
                figures.p50_ms, figures.p99_ms, figures.errors
            );
        }
        let _ = writeln!(
            out,
            "  uploads {:.0} MB/s, downloads {:.0} MB/s",
            self.upload_mb_per_second, self.download_mb_per_second
        );
        if let (Some(before), Some(most)) = (self.memory_before_mb, self.memory_most_mb) {
            let _ = writeln!(
                out,
                "  memory {before:.0} MB before, {most:.0} MB at most: {:.0} more",
                most - before
            );
        }
        let _ = writeln!(
            out,
            "\nMessages, {SENDERS} at once: plain {:.0}/s, encrypted {:.0}/s ({:.2})\n\
             Checking one signature (RSA-4096): {:.0} µs",
            self.plain_per_second,
            self.encrypted_per_second,
            self.encrypted_per_second / self.plain_per_second.max(1.0),
            self.check_us
        );
        out + &lists::table(&self.lists)
    }
}

/// Measures and reports.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if !(1..=64).contains(&arguments.files) || !(1..=50).contains(&arguments.megabytes) {
        bail!("--files must be from 1 to 64, and --megabytes from 1 to 50");
    }
    if arguments.only_lists {
        let sizes = until_stopped(measure_lists(arguments))?;
        return arguments.place.report(&lists::table(&sizes), &sizes);
    }
    let report = until_stopped(measure(arguments))?;
    arguments.place.report(&report.table(), &report)
}

/// An agent with a key of its own.
struct Party {
    id: String,
    api_key: String,
    key: PrivateKey,
}

async fn ask(
    connection: &mut Connection,
    key: Option<&str>,
    path: &str,
    body: Value,
) -> anyhow::Result<Value> {
    let (status, answer) = connection.ask(request(Method::POST, path, key, body.to_string())).await?;
    if !(200..300).contains(&status) {
        bail!("{path} was answered with {status}: {}", String::from_utf8_lossy(&answer));
    }
    Ok(serde_json::from_slice(&answer)?)
}

fn field(answer: &Value, name: &str) -> anyhow::Result<String> {
    Ok(answer[name].as_str().with_context(|| format!("no {name} in {answer}"))?.to_owned())
}

async fn party(connection: &mut Connection, name: &str) -> anyhow::Result<Party> {
    let key = tokio::task::spawn_blocking(PrivateKey::generate).await??;
    let body = json!({ "name": name, "publicKey": key.public().to_pem() });
    let made = ask(connection, None, "/agents", body).await?;
    Ok(Party { id: field(&made, "id")?, api_key: field(&made, "apiKey")?, key })
}

/// Lists need no other preparation, and nothing else disturbs them.
async fn measure_lists(arguments: &Arguments) -> anyhow::Result<Vec<Sized>> {
    let span = Span { warm_up: Duration::ZERO, measured: Duration::ZERO };
    let plan = arguments.place.plan(span, 2, Vec::new())?;
    let mut progress = Progress::new(lists::sizes_to(arguments.tasks).count() as u64);
    let folder = Scratch::new(plan.folder.as_deref(), "lists")?;
    let hub = start_hub(&plan, folder.path()).await?;
    let sizes = lists::measure(&hub, arguments.tasks, &mut progress).await?;
    progress.finish();
    hub.stop().await?;
    Ok(sizes)
}

async fn measure(arguments: &Arguments) -> anyhow::Result<Report> {
    let span = Span { warm_up: Duration::from_millis(300), measured: Duration::from_secs(3) };
    let plan = arguments.place.plan(span, 2, vec!["file_quota_mb=0".into()])?;
    let mut progress = Progress::new(3 + ROUNDS + lists::sizes_to(arguments.tasks).count() as u64);
    let folder = Scratch::new(plan.folder.as_deref(), "content")?;
    progress.step("a hub, and two agents with keys".into());
    let hub = start_hub(&plan, folder.path()).await?;
    let mut connection = Connection::open(hub.address).await?;
    let (ana, bob) = (party(&mut connection, "Ana").await?, party(&mut connection, "Bob").await?);
    let code = ask(&mut connection, Some(&ana.api_key), "/pair/generate", json!({})).await?;
    ask(&mut connection, Some(&bob.api_key), "/pair/connect", json!({ "code": field(&code, "code")? }))
        .await?;
    let new = json!({ "targetAgentId": bob.id, "title": "Files" });
    let task = field(&ask(&mut connection, Some(&ana.api_key), "/tasks", new).await?, "id")?;

    let size = arguments.megabytes * 1_000_000;
    let count = arguments.files;
    let pace = f64::from(arguments.pace) * 1_000_000.0 / count as f64;
    let reads = Reads::of(&ana, &task);
    let files = Files { address: hub.address, key: ana.api_key.clone(), task, count, size, pace };
    let url = files.upload().await?;
    let memory_before_mb = hub.memory_mb();
    // In turns, because other programs may disturb the machine for a while.
    let (mut quiet, mut up, mut down) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        progress
            .step(format!("round {round}: nothing else, {count} uploads at once, {count} downloads at once"));
        quiet.push(reads.drive(&hub, plan.span).await?);
        up.push(files.beside(&hub, &reads, plan.span, None).await?);
        down.push(files.beside(&hub, &reads, plan.span, Some(url.clone())).await?);
    }
    let memory_most_mb =
        up.iter().chain(&down).map(|beside| beside.memory_most_mb).reduce(files::most).flatten();
    let quiet = middle(quiet, |figures| figures.p99_ms);
    let (up, down) = (middle(up, |beside| beside.reads.p99_ms), middle(down, |beside| beside.reads.p99_ms));

    progress.step("encrypted messages beside plain ones".into());
    let (plain_per_second, encrypted_per_second) = messages(&hub, &ana, &bob).await?;
    progress.step("one signature".into());
    let check_us = tokio::task::spawn_blocking(move || time_check(&ana, &bob)).await??;
    let lists = lists::measure(&hub, arguments.tasks, &mut progress).await?;
    progress.finish();
    hub.stop().await?;
    Ok(Report {
        files: arguments.files,
        megabytes: arguments.megabytes,
        quiet,
        beside_uploads: up.reads,
        beside_downloads: down.reads,
        upload_mb_per_second: up.megabytes_per_second,
        download_mb_per_second: down.megabytes_per_second,
        memory_before_mb,
        memory_most_mb,
        plain_per_second,
        encrypted_per_second,
        check_us,
        lists,
    })
}

/// The median of several rounds.
fn middle<T>(mut rounds: Vec<T>, by: impl Fn(&T) -> f64) -> T {
    rounds.sort_by(|one, other| by(one).total_cmp(&by(other)));
    rounds.swap_remove(rounds.len() / 2)
}

/// The reads of other agents.
struct Reads {
    maker: Maker,
    numbers: Arc<AtomicU64>,
}

impl Reads {
    fn of(agent: &Party, task: &str) -> Self {
        let (key, path) = (agent.api_key.clone(), format!("/tasks/{task}"));
        let maker: Maker = Arc::new(move |_| request(Method::GET, &path, Some(&key), String::new()));
        Self { maker, numbers: Arc::default() }
    }

    async fn drive(&self, hub: &Process, span: Span) -> anyhow::Result<Figures> {
        drive(hub.address, OTHERS, span, &self.numbers, &self.maker).await
    }
}

fn sealed(task: &str, ana: &Party, bob: &Party) -> anyhow::Result<Sealed> {
    let message = Message { content_type: ContentType::Text, body: text().to_owned() };
    let recipients = [(ana.id.as_str(), ana.key.public()), (bob.id.as_str(), bob.key.public())];
    Ok(message.seal(task, &ana.key, recipients)?)
}

/// How many plain and how many encrypted messages of the same size the hub takes in a second.
async fn messages(hub: &Process, ana: &Party, bob: &Party) -> anyhow::Result<(f64, f64)> {
    let mut connection = Connection::open(hub.address).await?;
    let id = "bench-sealed";
    let first = sealed(id, ana, bob)?;
    let body = json!({
        "targetAgentId": bob.id, "title": "Encrypted Task", "id": id, "encrypted": true,
        "description": first.content, "descriptionKeys": first.keys, "senderSignature": first.signature,
    });
    ask(&mut connection, Some(&ana.api_key), "/tasks", body).await?;
    let plain = json!({ "targetAgentId": bob.id, "title": "Plain", "id": "bench-plain" });
    ask(&mut connection, Some(&ana.api_key), "/tasks", plain).await?;
    let mut bodies = (Vec::new(), Vec::new());
    for _ in 0..MESSAGES {
        let sealed = sealed(id, ana, bob)?;
        // As many plain bytes as the encrypted message has.
        let weight = sealed.content.len() + 3 * sealed.signature.len();
        bodies.0.push(json!({ "content": "x".repeat(weight) }).to_string());
        let body = json!({
            "content": sealed.content, "contentType": "encrypted", "encryptedKeys": sealed.keys,
            "senderSignature": sealed.signature,
        });
        bodies.1.push(body.to_string());
        tokio::task::yield_now().await;
    }
    let plain = send_all(hub, "/tasks/bench-plain/messages", &ana.api_key, bodies.0).await?;
    let encrypted = send_all(hub, "/tasks/bench-sealed/messages", &ana.api_key, bodies.1).await?;
    Ok((plain, encrypted))
}

/// Sends all of these over a few connections; returns how many a second.
async fn send_all(hub: &Process, path: &'static str, key: &str, bodies: Vec<String>) -> anyhow::Result<f64> {
    let count = bodies.len();
    let bodies = Arc::new(bodies);
    let next = Arc::new(AtomicU64::new(0));
    let mut senders = JoinSet::new();
    let begun = Instant::now();
    for _ in 0..SENDERS {
        let (bodies, next, key) = (Arc::clone(&bodies), Arc::clone(&next), key.to_owned());
        let mut connection = Connection::open(hub.address).await?;
        senders.spawn(async move {
            while let Some(body) = bodies.get(usize::try_from(next.fetch_add(1, Relaxed))?) {
                let (status, answer) =
                    connection.ask(request(Method::POST, path, Some(&key), body.clone())).await?;
                if status != 201 {
                    bail!("a message was answered with {status}: {}", String::from_utf8_lossy(&answer));
                }
            }
            anyhow::Ok(())
        });
    }
    while let Some(sent) = senders.join_next().await {
        sent??;
    }
    Ok(count as f64 / begun.elapsed().as_secs_f64())
}

fn time_check(ana: &Party, bob: &Party) -> anyhow::Result<f64> {
    let sealed = sealed("bench", ana, bob)?;
    let begun = Instant::now();
    for _ in 0..CHECKS {
        if !verify(ana.key.public(), "bench", &sealed.content, &sealed.signature) {
            bail!("a good signature was refused");
        }
    }
    Ok(begun.elapsed().as_secs_f64() * 1_000_000.0 / f64::from(CHECKS))
}
