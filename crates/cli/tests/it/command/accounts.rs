//! Profiles: registration, login, key rotation, logout, contexts, and no secret where others could see it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rstest::rstest;
use serde_json::{Value, json};

use super::readme::terminal::{Running, plain};
use super::{Cli, Ran, mode};
use crate::harness::{Db, Harness};

/// The API key in a profile's file.
fn api_key(cli: &Cli, name: &str) -> String {
    let text = std::fs::read_to_string(cli.config().join(format!("agents/{name}.toml"))).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("api_key = ")).unwrap();
    line.trim_matches('"').to_owned()
}

#[track_caller]
fn no_secret(ran: &Ran, key: &str) {
    for text in [&ran.stdout, &ran.stderr] {
        assert!(!text.contains(key) && !text.contains("tdm_"), "{ran:?}");
        assert!(!text.contains("PRIVATE KEY"), "{ran:?}");
    }
}

/// The fields and values of a JSON object have no secret, and the fields are the documented ones.
#[track_caller]
fn fields(view: &Value, expected: &[&str]) {
    let found: Vec<&str> = view.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(found, expected);
    assert!(!view.to_string().contains("tdm_"), "{view}");
}

async fn me(hub: &Harness, key: &str) -> crate::harness::Reply {
    hub.client.send("GET", "/agents/me", Some(key), None).await
}

fn loosen(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o640)).unwrap();
}

#[tokio::test]
async fn registering_makes_keys_a_profile_and_the_current_agent() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    let arguments = ["register", "Ada's coder", "--description", "Writes code", "--capability", "rust"];
    let ran = cli.ok(&[&arguments[..], &["--as", "ada"]].concat()).await;
    let key = api_key(&cli, "ada");
    no_secret(&ran, &key);
    let profile = me(&hub, &key).await.ok(200);
    assert_eq!((&profile["name"], &profile["description"]), (&json!("Ada's coder"), &json!("Writes code")));
    assert_eq!(profile["capabilities"], json!(["rust"]));
    let agents = cli.config().join("agents");
    let modes = [cli.config(), agents.clone(), agents.join("ada.toml"), agents.join("ada.pem")];
    assert_eq!(modes.map(|path| mode(&path)), [0o700, 0o700, 0o600, 0o600]);
    let private = tandem_seal::PrivateKey::load(&agents.join("ada.pem")).unwrap();
    assert_eq!(profile["publicKey"].as_str().unwrap(), private.public().to_pem());
    assert!(ran.stdout.contains(&private.public().fingerprint().words()), "{ran:?}");

    let whoami = cli.json(&["whoami"]).await;
    assert_eq!((&whoami["agentId"], &whoami["profile"]), (&profile["id"], &json!("ada")));
    // The same name again is refused before the hub hears of it.
    let again = cli.run(&["register", "ada", "--no-encryption"]).await;
    again.failed(1, "--as PROFILE");
    assert_eq!(api_key(&cli, "ada"), key);
    let agents = hub.admin("GET", "/admin/agents").await.ok(200);
    assert_eq!(agents.as_array().unwrap().len(), 1, "{agents}");
    // A second agent becomes the current one and says how to go back.
    let second = cli.ok(&["register", "bob two", "--no-encryption"]).await;
    assert!(second.stderr.contains("tandem context use ada"), "{second:?}");
    assert_eq!(cli.json(&["whoami"]).await["profile"], "bob-two");
    assert!(!cli.config().join("agents/bob-two.pem").exists());
    // As JSON: the fields, and no secret.
    let view = cli.register("cyd").await;
    fields(&view, &["profile", "agentId", "agentName", "hub", "fingerprint"]);
}

#[tokio::test]
async fn the_hubs_proof_of_work_is_solved() {
    let hub = Harness::start_with(Db::Sqlite, |config| config.pow_difficulty = 12).await;
    let cli = Cli::new(&hub);
    hub.client.send("POST", "/agents", None, Some(json!({ "name": "x" }))).await.refused(400, "validation");
    cli.register("ada").await;
    me(&hub, &api_key(&cli, "ada")).await.ok(200);
}

#[tokio::test]
async fn a_refused_registration_leaves_nothing() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    let long = "x".repeat(65);
    cli.run(&["register", &long, "--as", "ada"]).await.failed(2, "NAME must be at most 64");
    cli.run(&["register", "ada", "--capability", "No Good"]).await.failed(2, "--capability");
    cli.run(&["register", "ada", "--as", "../ada"]).await.failed(2, "name of a profile");
    cli.run(&["register", "ada", "--hub", "ftp://x"]).await.failed(2, "--hub");
    cli.run(&["register", "ada", "--hub", "http://127.0.0.1:1"]).await.failed(4, "cannot reach");
    cli.run(&["whoami"]).await.failed(1, "tandem register NAME");
    // A private key that belongs to nothing may be the only copy.
    let agents = cli.config().join("agents");
    std::fs::write(agents.join("ada.pem"), "precious").unwrap();
    cli.run(&["register", "ada"]).await.failed(1, "private key without a profile");
    assert_eq!(std::fs::read_to_string(agents.join("ada.pem")).unwrap(), "precious");
    std::fs::remove_file(agents.join("ada.pem")).unwrap();
    // A folder that cannot be written, seen before the hub is asked: its place is taken by a file.
    std::fs::remove_dir_all(&agents).unwrap();
    std::fs::write(&agents, "").unwrap();
    cli.run(&["register", "ada", "--no-encryption"]).await.failed(1, "cannot write");
    let known = hub.admin("GET", "/admin/agents").await.ok(200);
    assert_eq!(known, json!([]), "the hub has no agent");
}

#[tokio::test]
async fn a_profile_that_others_could_read_is_refused() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    cli.register("ada").await;
    let file = cli.config().join("agents/ada.toml");
    loosen(&file);
    for command in [&["whoami"][..], &["profile", "show"], &["rotate"]] {
        let ran = cli.run(command).await;
        ran.failed(1, "chmod 600");
        no_secret(&ran, &api_key(&cli, "ada"));
    }
    // It is listed, with its problem, and can be removed.
    let listed = cli.ok(&["context", "list"]).await;
    assert!(listed.stdout.contains("ada") && listed.stdout.contains("mode 640"), "{listed:?}");
    cli.ok(&["context", "remove", "ada", "--yes"]).await;
    assert!(!file.exists());
}

#[tokio::test]
async fn logging_in_reads_the_key_from_a_pipe() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    cli.ok(&["register", "ada"]).await;
    let key = api_key(&cli, "ada");
    let private = cli.config().join("agents/ada.pem");
    let private = private.to_str().unwrap();

    let other = Cli::new(&hub);
    let line = format!("{key}\n");
    let ran = other.run_with(&["login", "--as", "a1"], line.as_bytes()).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    no_secret(&ran, &key);
    assert!(ran.stderr.contains("--private-key"), "it says what is missing: {ran:?}");
    assert_eq!(mode(&other.config().join("agents/a1.toml")), 0o600);
    other.ok(&["profile", "show"]).await;
    // With its private key, from a copy; the profile of the same agent is completed.
    let again = ["login", "--as", "a1", "--json", "--private-key", private];
    let ran = other.run_with(&again, line.as_bytes()).await;
    fields(&ran.json(), &["profile", "agentId", "agentName", "hub", "fingerprint"]);
    assert_eq!(mode(&other.config().join("agents/a1.pem")), 0o600);
    assert!(cli.json(&["whoami"]).await["fingerprint"] == other.json(&["whoami"]).await["fingerprint"]);

    // A wrong key, a missing one, and the private key of another.
    other.run_with(&["login"], b"tdm_wrong\n").await.failed(1, "tandem login");
    other.run_with(&["login"], b" \n").await.failed(2, "no API key");
    cli.register("bob").await;
    let bob = api_key(&cli, "bob");
    let ran = other.run_with(&["login", "--private-key", private], bob.as_bytes()).await;
    ran.failed(1, "without a public key");
    other.run_with(&["login", "--as", "a1"], bob.as_bytes()).await.failed(1, "another agent");
    let stranger = tandem_seal::PrivateKey::from_pem(super::foreign_key().as_str()).unwrap();
    let file = other.home.join("stranger.pem");
    stranger.save(&file).unwrap();
    let file = file.to_str().unwrap();
    let ran = other.run_with(&["login", "--as", "a2", "--private-key", file], key.as_bytes()).await;
    ran.failed(1, &stranger.public().fingerprint().words());
    assert!(!other.config().join("agents/a2.toml").exists());
    loosen(Path::new(file));
    other.run_with(&["login", "--private-key", file], key.as_bytes()).await.failed(1, "chmod 600");
    // An argument is no way in.
    other.run(&["login", &key]).await.failed(2, "unexpected argument");
}

#[tokio::test]
async fn rotating_replaces_the_key_unseen() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    cli.register("ada").await;
    let old = api_key(&cli, "ada");
    let ran = cli.ok(&["rotate"]).await;
    let new = api_key(&cli, "ada");
    assert_ne!(old, new);
    no_secret(&ran, &new);
    me(&hub, &old).await.refused(401, "unauthorized");
    me(&hub, &new).await.ok(200);
    assert_eq!(mode(&cli.config().join("agents/ada.toml")), 0o600);
    fields(&cli.json(&["rotate"]).await, &["profile", "agentId", "rotated"]);
    // A key of the environment has no profile to be saved in.
    let mut cli = cli;
    cli.variables.push(("TANDEM_KEY".into(), api_key(&cli, "ada")));
    cli.run(&["rotate"]).await.failed(1, "TANDEM_KEY");
}

#[tokio::test]
async fn logging_out_forgets_here_and_on_request_there() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    cli.register("ada").await;
    cli.register("bob").await;
    let (ada, bob) = (api_key(&cli, "ada"), api_key(&cli, "bob"));
    cli.run(&["logout"]).await.failed(2, "--yes");
    me(&hub, &bob).await.ok(200);
    cli.ok(&["logout", "--yes"]).await;
    let left = || {
        let entries = std::fs::read_dir(cli.config().join("agents")).unwrap();
        entries.flatten().map(|one| one.file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    assert!(left().iter().all(|name| !name.starts_with("bob")), "{:?}", left());
    me(&hub, &bob).await.ok(200);
    // The only one left is the one that commands use.
    let deleted = cli.json(&["logout", "--delete-agent", "--yes"]).await;
    assert_eq!(deleted["deleted"], true);
    me(&hub, &ada).await.refused(401, "unauthorized");
    assert!(left().is_empty(), "{:?}", left());
    // A hub that refuses keeps the profile: its key is the only way to try again.
    cli.run_with(&["login"], bob.as_bytes()).await;
    hub.client.send("DELETE", "/agents/me", Some(&bob), None).await.ok(200);
    cli.run(&["logout", "--delete-agent", "--yes"]).await.failed(1, "tandem login");
    assert_eq!(api_key(&cli, "bob"), bob);
}

#[tokio::test]
async fn contexts_choose_the_agent() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    assert_eq!(cli.ok(&["context", "list"]).await.stdout, "");
    cli.run(&["context", "show"]).await.failed(1, "tandem register NAME");
    cli.register("ada").await;
    cli.register("bob").await;
    let listed = cli.ok(&["context", "list"]).await.stdout;
    let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!((rows[0][0], rows[0][1], rows[1][0], rows[1][1]), ("", "ada", "*", "bob"), "{listed}");
    cli.ok(&["context", "use", "ada"]).await;
    assert_eq!(cli.json(&["whoami"]).await["profile"], "ada");
    assert_eq!(cli.json(&["context", "show"]).await["profile"], "ada");
    assert_eq!(cli.json(&["whoami", "--agent", "bob"]).await["profile"], "bob");
    let json = cli.ok(&["context", "list", "--json"]).await.stdout;
    let first: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    fields(&first, &["profile", "agentId", "agentName", "hub", "current"]);
    assert_eq!((first["current"].as_bool(), json.lines().count()), (Some(true), 2));
    cli.run(&["context", "use", "eve"]).await.failed(3, "context list");
    cli.run(&["context", "remove", "eve", "--yes"]).await.failed(3, "context list");
    cli.run(&["context", "remove", "bob"]).await.failed(2, "--yes");
    cli.ok(&["context", "remove", "bob", "--yes"]).await;
    cli.run(&["whoami", "--agent", "bob"]).await.failed(3, "context list");
}

#[tokio::test]
async fn the_profile_on_the_hub_can_be_changed() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    cli.register("ada").await;
    cli.run(&["profile", "set"]).await.failed(2, "--name");
    let arguments = ["profile", "set", "--name", "Ada L", "--description", "d", "--capability", "rust"];
    let more = ["--discoverable", "yes", "--auto-accept", "on", "--approval", "require"];
    let changed = cli.json(&[&arguments[..], &more].concat()).await;
    let shown = |name: &str| changed[name].clone();
    assert_eq!((shown("name"), shown("description")), (json!("Ada L"), json!("d")));
    assert_eq!((shown("discoverable"), shown("autoAccept")), (json!(true), json!(true)));
    assert_eq!((shown("capabilities"), shown("defaultApprovalRule")), (json!(["rust"]), json!("require")));
    assert_eq!(cli.json(&["whoami"]).await["agentName"], "Ada L");
    let arguments = ["profile", "set", "--description", "", "--no-capabilities", "--approval", "none"];
    let changed = cli.json(&arguments).await;
    assert_eq!((&changed["description"], &changed["capabilities"]), (&Value::Null, &json!([])));
    assert!(changed["defaultApprovalRule"].is_null() && changed["discoverable"] == true, "{changed}");
    cli.run(&["profile", "set", "--discoverable", "maybe"]).await.failed(2, "yes or no");
    let human = cli.ok(&["profile", "show"]).await;
    no_secret(&human, &api_key(&cli, "ada"));
    assert!(human.stdout.contains("Discoverable yes"), "{human:?}");
}

#[rstest]
#[tokio::test]
async fn a_key_is_printed_only_by_the_command_that_is_for_it(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = Cli::new(&hub);
    cli.register("ada").await;
    cli.register("bob").await;
    let ran = cli.ok(&["context", "key", "ada"]).await;
    // For `$(…)`: the key, and no warning where no terminal shows it.
    assert_eq!((ran.stdout, ran.stderr), (format!("{}\n", api_key(&cli, "ada")), String::new()));
    me(&hub, ran_key(&cli, &["context", "key"]).await.trim()).await.ok(200);
    assert_eq!(ran_key(&cli, &["context", "key"]).await.trim(), api_key(&cli, "bob"));
    assert_eq!(ran_key(&cli, &["context", "key", "--agent", "ada"]).await.trim(), api_key(&cli, "ada"));
    let view = cli.json(&["context", "key", "ada"]).await;
    assert_eq!(view, json!({ "profile": "ada", "apiKey": api_key(&cli, "ada") }));
    cli.run(&["context", "key", "eve"]).await.failed(3, "no profile");
    // On a screen it comes with a warning, which --quiet does not leave out.
    let (_, screen) = Running::start(cli.command(&["context", "key", "ada", "--quiet"]).into_std()).end();
    let lines = plain(&screen);
    assert!(lines[0].starts_with("This is a secret") && lines[1] == api_key(&cli, "ada"), "{lines:?}");
    for other in [&["context", "show"][..], &["context", "list"], &["whoami"], &["profile", "show"]] {
        no_secret(&cli.ok(other).await, &api_key(&cli, "bob"));
    }
}

async fn ran_key(cli: &Cli, arguments: &[&str]) -> String {
    cli.ok(arguments).await.stdout
}
