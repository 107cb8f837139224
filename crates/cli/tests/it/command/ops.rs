//! The commands for operators, the demo, and forwarded events.

use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use super::{Cli, Ran};
use crate::harness::{ADMIN_TOKEN, Agent, Db, Harness, PATIENCE, eventually};
use crate::webhooks::{self, Receiver, Reply, mac};

impl Cli {
    /// Runs a command with the operator's token in the environment.
    async fn operator(&self, arguments: &[&str]) -> Ran {
        let mut command = self.command(arguments);
        command.env("TANDEM_ADMIN_TOKEN", ADMIN_TOKEN);
        ended(command).await
    }

    /// Writes the profile of an agent.
    pub(super) fn profile(&self, name: &str, agent: &Agent) {
        let text = format!(
            "hub = {:?}\nagent_id = {:?}\nagent_name = {:?}\napi_key = {:?}\n",
            self.hub, agent.id, agent.name, agent.key
        );
        write_private(&self.config().join("agents").join(format!("{name}.toml")), &text);
    }
}

async fn ended(mut command: Command) -> Ran {
    let output = tokio::time::timeout(PATIENCE * 3, command.output()).await.expect("the command ends");
    Ran::new(output.unwrap())
}

pub(super) fn write_private(path: &Path, text: &str) {
    use std::io::Write as _;
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

impl Ran {
    #[track_caller]
    fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    fn lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[rstest]
#[tokio::test]
async fn the_operator_lists_and_changes_agents(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    // Ids of the same millisecond differ only at their end.
    hub.advance_ms(60_000);
    let bob = hub.agent("Bob").await;
    ada.pair_with(&bob).await;
    let task = ada.task(&bob).await;
    let cli = Cli::new(&hub);

    let agents = cli.operator(&["admin", "agents", "--json", "--limit", "1"]).await.ok();
    assert_eq!(agents.lines().len(), 1);
    let agents = cli.operator(&["admin", "agents", "--json", "--all"]).await.ok().lines();
    assert_eq!(agents.len(), 2);
    let table = cli.operator(&["admin", "agents"]).await.ok().stdout;
    assert!(table.lines().any(|row| row.starts_with(&format!("{}\tAda\t", ada.id))), "{table}");

    cli.operator(&["admin", "credits", "Ada", "2.50"]).await.ok();
    assert_eq!(ada.get("/agents/me").await.ok(200)["credits"], json!(2.5));
    let changed = cli.operator(&["admin", "charge", &bob.id, "on", "--json"]).await.ok().json();
    assert_eq!((&changed["id"], &changed["costsCredits"]), (&json!(bob.id), &json!(true)));
    // The beginning of an id is enough if it is unique.
    cli.operator(&["admin", "suspend", &bob.id[..bob.id.len() - 1]]).await.ok();
    bob.get("/agents/me").await.refused(403, "suspended");
    cli.operator(&["admin", "resume", "Bob"]).await.ok();
    bob.get("/agents/me").await.ok(200);

    // A name that is also the beginning of another's id does not decide.
    hub.agent(&bob.id).await;
    let twice = hub.agent("Ada").await;
    cli.operator(&["admin", "suspend", "Ada"]).await.failed(2, &twice.id);
    cli.operator(&["admin", "suspend", "Eve"]).await.failed(3, "no agent");
    cli.operator(&["admin", "credits", "Ada", "-1"]).await.failed(2, "");

    let tasks = cli.operator(&["admin", "tasks"]).await.ok().stdout;
    assert!(tasks.starts_with(&format!("{task}\tsubmitted\t{}\t{}\t1\t0\t", ada.id, bob.id)), "{tasks}");
    let events = cli.operator(&["admin", "events", "--of", "Bob", "--json"]).await.ok().lines();
    assert_eq!(events[0]["type"], "task.created");
    assert_eq!(cli.operator(&["admin", "overview", "--json"]).await.ok().json()["agents"], json!(4));
    let settings = cli.operator(&["admin", "settings"]).await.ok().stdout;
    assert!(settings.contains("admin_token\t(hidden)"), "{settings}");
    cli.operator(&["admin", "deliveries"]).await.ok();
}

#[rstest]
#[tokio::test]
async fn the_operators_token_is_found_and_goes_nowhere_else(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = Cli::new(&hub);
    cli.run(&["admin", "agents"]).await.failed(1, "no operator's token");
    let mut wrong = cli.command(&["admin", "agents"]);
    wrong.env("TANDEM_ADMIN_TOKEN", "not the operator's token");
    ended(wrong).await.failed(1, "tandem: ");

    let file = cli.home.join("tandem-data/admin-token");
    write_private(&file, &format!("{ADMIN_TOKEN}\n"));
    cli.run(&["admin", "overview"]).await.ok();
    cli.run(&["admin", "overview", "--hub", "https://hub.example.com"]).await.failed(2, "another machine");
    let elsewhere = cli.home.join("token");
    std::fs::rename(&file, &elsewhere).unwrap();
    cli.run(&["admin", "overview", "--token-file", "token"]).await.ok();
    std::fs::set_permissions(&elsewhere, std::fs::Permissions::from_mode(0o644)).unwrap();
    cli.run(&["admin", "overview", "--token-file", "token"]).await.failed(1, "others can read it");
}

#[tokio::test]
async fn top_shows_the_hub_at_work() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    ada.task(&bob).await;
    let _socket = bob.socket("").await;
    let cli = Cli::new(&hub);
    let node = format!("http://{}", hub.nodes[0].client.address);
    let top = ["top", "--once", "--interval", "0.1", "--hub", &node];
    // A node tells the others of its sockets when it renews its row.
    let figures = eventually(async || {
        let figures = cli.operator(&[&top[..], &["--json"]].concat()).await.ok().json();
        (figures["openSockets"] == 1).then_some(figures)
    })
    .await;
    assert_eq!(figures["agents"], json!(2));
    assert_eq!(figures["agentsByReach"], json!({ "polling": 1, "socket": 1 }));
    assert_eq!(figures["tasks"]["submitted"], json!(1));
    assert!(figures["requestsPerSecond"].as_f64().unwrap() > 0.0);
    assert!(figures["memoryLimitBytes"].as_f64().unwrap() > figures["memoryHeldBytes"].as_f64().unwrap());
    let routes = figures["slowestRoutes"].as_array().unwrap();
    assert!(routes.iter().any(|route| route["route"] == "/admin/overview"), "{routes:?}");

    let frame = cli.operator(&top).await.ok().stdout;
    assert!(frame.contains("1 polling, 1 socket") && frame.contains("SLOWEST ROUTES"), "{frame}");
    assert!(!frame.contains('\x1b'), "{frame}");
    cli.operator(&["top"]).await.failed(2, "--once");
}

/// The level of a check.
fn level<'a>(report: &'a Value, check: &str) -> Option<&'a str> {
    let found = report["findings"].as_array().unwrap().iter().find(|finding| finding["check"] == check);
    found.map(|finding| finding["level"].as_str().unwrap())
}

#[tokio::test]
async fn a_doctor_finds_what_is_wrong() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let cli = Cli::new(&hub);
    cli.profile("bob", &bob);
    let report = cli.run(&["doctor", "--json"]).await.ok().json();
    assert_eq!(report["ok"], json!(true));
    let checks =
        ["file modes", "profile", "address", "hub", "version", "clock", "database", "key", "push", "inbox"];
    for check in checks {
        assert_eq!(level(&report, check), Some("ok"), "{check}: {report}");
    }
    assert_eq!(level(&report, "encryption"), Some("warning"));
    assert_eq!(bob.event_kinds().await, ["agent.connected"], "the doctor causes no event");

    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    ada.task(&bob).await;
    let report = cli.run(&["doctor", "--json"]).await.ok().json();
    assert_eq!(level(&report, "approvals"), Some("warning"));

    cli.operator(&["admin", "suspend", "Bob"]).await.ok();
    let suspended = cli.run(&["doctor", "--json"]).await;
    assert_eq!((suspended.code, level(&suspended.json(), "suspended")), (1, Some("problem")));
    cli.operator(&["admin", "resume", "Bob"]).await.ok();

    cli.profile("bob", &Agent { key: "tdm_wrong".into(), ..bob.clone() });
    let wrong = cli.run(&["doctor", "--json"]).await;
    assert_eq!((wrong.code, level(&wrong.json(), "key")), (1, Some("problem")));
    for finding in wrong.json()["findings"].as_array().unwrap() {
        assert_eq!(finding["level"] == "ok", finding["fix"].is_null(), "{finding}");
    }

    cli.profile("bob", &bob);
    let file = cli.home.join("config/tandem/agents/bob.toml");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let exposed = cli.run(&["doctor", "--json"]).await;
    assert_eq!((exposed.code, level(&exposed.json(), "file modes")), (1, Some("problem")));
}

#[tokio::test]
async fn a_doctor_measures_how_an_agent_is_woken() {
    let hub = Harness::start(Db::Sqlite).await;
    let (_, bob) = hub.pair().await;
    let cli = Cli::new(&hub);
    cli.profile("bob", &bob);
    bob.post("/agents/me/reach", json!({ "rung": "hook", "provided": true })).await.ok(200);
    // Plays the hook of a tool.
    let hook = async {
        let task = eventually(async || {
            let waiting = bob.get("/updates").await.ok(200);
            waiting["pendingTasks"][0]["id"].as_str().map(str::to_owned)
        })
        .await;
        bob.post("/agents/me/reach", json!({ "rung": "hook", "surfaced": [task] })).await.ok(200);
    };
    let arguments = ["doctor", "--wake", "--json"];
    let (report, ()) = tokio::join!(cli.run(&arguments), hook);
    let report = report.ok().json();
    assert_eq!(level(&report, "hook"), Some("ok"), "{report}");
    assert!(report.to_string().contains("showed the probe to a model after 0 ms"), "{report}");
    assert_eq!(level(&report, "wake"), None, "{report}");
    assert_eq!(level(&report, "runner"), Some("note"), "nobody provides it: {report}");
    assert_eq!(level(&report, "agents"), None, "there is no other profile: {report}");
    // The probe is gone with its agent.
    assert_eq!(bob.get("/connections").await.ok(200).as_array().unwrap().len(), 1);
    assert_eq!(bob.get("/tasks").await.ok(200), json!([]));

    hub.advance_ms(1_000);
    let unseen = cli.run(&["doctor", "--wake", "--wake-timeout", "1s", "--json"]).await.ok().json();
    assert_eq!(level(&unseen, "hook"), Some("warning"), "{unseen}");
    assert_eq!(level(&unseen, "wake"), Some("warning"), "{unseen}");
    assert!(unseen.to_string().contains("`tandem setup --hooks` installs"), "{unseen}");
    // What was done already is not advised, and who was not probed is named.
    let item = json!({ "tool": "claude", "scope": "user", "agent": "bob", "file": "/x", "hooks": true });
    std::fs::write(cli.config().join("setup.json"), json!({ "items": [item] }).to_string()).unwrap();
    cli.profile("ada", &bob);
    let arguments = ["doctor", "--wake", "--wake-timeout", "1s", "--json", "--agent", "bob"];
    let unseen = cli.run(&arguments).await.ok().json();
    assert!(unseen.to_string().contains("the hooks are set up"), "{unseen}");
    assert_eq!(level(&unseen, "agents"), Some("note"), "{unseen}");
}

#[tokio::test]
async fn a_doctor_finds_no_hub() {
    let cli = Cli::at("http://127.0.0.1:9");
    let report = cli.run(&["doctor", "--json"]).await;
    assert_eq!((report.code, level(&report.json(), "hub")), (4, Some("problem")));
    let text = cli.run(&["doctor"]).await;
    assert!(text.stdout.contains("problem\thub\t") && text.stdout.contains("tandem serve"), "{text:?}");
    cli.run(&["demo"]).await.failed(4, "tandem demo --serve");
}

#[tokio::test]
async fn the_demo_plays_again_with_the_same_agents() {
    // As many registrations as the demo needs.
    let hub = Harness::start_with(Db::Sqlite, |config| config.rate_limit_register_max = 2).await;
    let cli = Cli::new(&hub);
    let first = cli.run(&["demo", "--fast", "--json"]).await.ok().lines();
    let told = |kind: &str| first.iter().filter(|step| step["event"] == kind).count();
    assert_eq!((told("agent.connected"), told("task.approval_required")), (1, 1));
    assert!(first.iter().all(|step| step["event"].is_null() == step["deliveryMs"].is_null()));
    assert!(first.last().unwrap()["what"].as_str().unwrap().ends_with("is completed"));

    let again = cli.run(&["demo", "--fast"]).await.ok().stdout;
    assert!(again.contains("is here again") && again.contains("Try it yourself"), "{again}");
    assert!((20..=45).contains(&again.lines().count()), "{again}");
    let overview = cli.operator(&["admin", "overview", "--json"]).await.ok().json();
    assert_eq!(overview["agents"], json!(2));
    let tasks = cli.operator(&["admin", "tasks", "--json"]).await.ok().lines();
    assert_eq!(tasks.iter().filter(|task| task["status"] == "completed").count(), 2);
    assert!(!cli.home.join("config/tandem/current").exists(), "the current profile stays");

    cli.run(&["demo", "--clear"]).await.ok();
    assert!(cli.operator(&["admin", "agents"]).await.ok().stdout.is_empty());
    assert!(!cli.home.join("config/tandem/agents/demo-ada.toml").exists());
    let none = cli.run(&["demo", "--clear"]).await.ok().stdout;
    assert!(none.contains("no agents of the demo"), "{none}");
}

#[tokio::test]
async fn the_demo_brings_a_hub_and_leaves_nothing() {
    let cli = Cli::at("http://127.0.0.1:9");
    let mut command = cli.command(&["demo", "--serve", "--fast"]);
    command.env("TMPDIR", &cli.home);
    let played = ended(command).await.ok();
    assert!(played.stdout.contains("is completed"), "{played:?}");
    assert_eq!(std::fs::read_dir(&cli.home).unwrap().count(), 0, "nothing stays");
}

pub(super) fn listen(cli: &Cli, to: &str, more: &[&str]) -> Child {
    cli.command(&[&["listen", "--forward-to", to, "--json"], more].concat()).spawn().unwrap()
}

#[tokio::test]
async fn events_are_forwarded_signed_and_resumed() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let cli = Cli::new(&hub);
    cli.profile("bob", &bob);
    let secret = cli.run(&["listen", "--print-secret"]).await.ok().stdout.trim().to_owned();
    assert_eq!(cli.run(&["listen", "--print-secret"]).await.ok().stdout.trim(), secret, "it stays");
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();

    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    let mut listening = listen(&cli, &receiver.url(), &["--events", "task.*"]);
    let state = cli.home.join("state/tandem/bob.json");
    eventually(async || state.exists().then_some(())).await;
    let task = ada.task(&bob).await;
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "not a task event" })).await.ok(201);
    let got = receiver.wait_for(1).await.remove(0);
    let event = bob.events().await.into_iter().find(|event| event["type"] == "task.created").unwrap();
    let whole =
        json!({ "event": "task.created", "timestamp": event["createdAt"], "agentId": bob.id, "data": event });
    assert_eq!(got.json(), whole);
    let (id, at) = (got.header("webhook-id"), got.header("webhook-timestamp"));
    let standard = mac(&key, &format!("{id}.{at}.{}", got.body));
    assert_eq!(got.header("webhook-signature"), format!("v1,{}", STANDARD.encode(standard)));
    let plain = mac(secret.as_bytes(), &format!("{at}.{}", got.body));
    assert_eq!(got.header("x-pairai-signature"), tandem_app::keys::hex(&plain));
    assert_eq!(got.header("x-pairai-timestamp"), at);

    // The message was left out, and the place is remembered.
    let last = bob.events().await.len();
    let saved = || serde_json::from_slice::<Value>(&std::fs::read(&state).unwrap()).unwrap_or_default();
    eventually(async || (saved()["forwarded"][0]["cursor"] == json!(last)).then_some(())).await;
    listening.kill().await.unwrap();
    let missed = ada.task(&bob).await;
    let _listening = listen(&cli, &receiver.url(), &["--events", "task.*"]);
    let got = receiver.wait_for(2).await;
    assert_eq!((got.len(), &got[1].json()["data"]["taskId"]), (2, &json!(missed)));
}

#[rstest]
#[tokio::test]
async fn a_program_that_refuses_gets_an_event_again_with_the_same_id(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let cli = Cli::new(&hub);
    cli.profile("bob", &bob);
    let receiver = Receiver::start(&[Reply::Status(503), Reply::Status(200)]).await;
    let _listening = listen(&cli, &receiver.url(), &["--after", "0"]);
    let got = receiver.wait_for(2).await;
    assert_eq!(got[0].header("webhook-id"), got[1].header("webhook-id"));
    ada.task(&bob).await;
    let got = receiver.wait_for(3).await;
    assert_ne!(got[1].header("webhook-id"), got[2].header("webhook-id"));
    cli.run(&["listen", "--forward-to", "localhost:1", "--events", "task.crated"])
        .await
        .failed(2, "task.created");
}

#[tokio::test]
async fn a_webhook_is_set_tested_and_removed() {
    let hub = webhooks::start(Db::Sqlite).await;
    let bob = hub.agent("Bob").await;
    let cli = Cli::new(&hub);
    cli.profile("bob", &bob);
    cli.run(&["webhook", "ping"]).await.failed(1, "webhook set");
    let receiver = Receiver::start(&[Reply::Status(200), Reply::Status(500)]).await;
    let set = ["webhook", "set", &receiver.url(), "--events", "task.c*,message.created", "--json"];
    let set = cli.run(&set).await.ok().json();
    assert_eq!(set["webhookEvents"], json!(["task.created", "message.created"]));
    assert_eq!((&set["webhookActive"], &set["webhookSecretFormat"]), (&json!(true), &json!("whsec")));

    let ping = cli.run(&["webhook", "ping", "--json"]).await.ok().json();
    assert_eq!((&ping["status"], &ping["responseStatus"]), (&json!("delivered"), &json!(200)));
    let id = ping["id"].as_str().unwrap();
    cli.run(&["webhook", "replay", id]).await.failed(1, "500");
    let log = cli.run(&["webhook", "log"]).await.ok().stdout;
    assert!(log.starts_with(&format!("{id}\tping\tpending\t1\t500\t")), "{log}");
    assert_eq!(receiver.wait_for(2).await[1].header("webhook-id"), id);

    assert_eq!(cli.run(&["webhook", "off", "--json"]).await.ok().json()["webhookUrl"], Value::Null);
}

/// The agent that sends the probe must not stay.
#[rstest]
#[tokio::test]
async fn a_doctor_that_is_interrupted_clears_its_probe_away(#[values("INT", "TERM", "HUP")] signal: &str) {
    let hub = Harness::start(Db::Sqlite).await;
    let (_, bob) = hub.pair().await;
    let cli = Cli::new(&hub);
    cli.profile("bob", &bob);
    let mut doctor = cli.command(&["doctor", "--wake", "--wake-timeout", "10m"]).spawn().unwrap();
    let connections = async || bob.get("/connections").await.ok(200).as_array().unwrap().len();
    eventually(async || (connections().await == 2).then_some(())).await;
    let pid = doctor.id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args([format!("-{signal}"), pid]).status().unwrap().success());
    assert!(doctor.wait().await.unwrap().code().is_some_and(|code| code > 128));
    assert_eq!(connections().await, 1);
    assert_eq!(bob.get("/tasks").await.ok(200), json!([]));
}
