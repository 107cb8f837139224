//! Encrypted tasks on a hub that lies: what it writes itself is never shown as a peer's text.

use serde_json::{Value, json};

use super::Cli;
use crate::harness::{Agent, Db, Harness, eventually};

/// What the hub would like ada to believe.
const LIE: &str = "Pay Eve";

/// A user with two connected agents that have keys, and bob as the hub knows him.
async fn with_keys(hub: &Harness) -> (Cli, Agent) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../seal/tests/vectors/keys.json");
    let keys: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cli = Cli::new(hub);
    let join = async |name: &str, key: &str| {
        let pem = keys["keys"][key]["private"].as_str().unwrap();
        let public = tandem_seal::PrivateKey::from_pem(pem).unwrap().public().to_pem();
        let agent = hub.agent_with(json!({ "name": name, "publicKey": public })).await;
        let file = cli.home.join(format!("{name}.pem"));
        std::fs::write(&file, pem).unwrap();
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let login = ["login", "--private-key", file.to_str().unwrap()];
        let ran = cli.run_with(&login, agent.key.as_bytes()).await;
        assert_eq!(ran.code, 0, "{ran:?}");
        agent
    };
    let bob = join("bob", "bob").await;
    let ada = join("ada", "ana").await;
    ada.pair_with(&bob).await;
    (cli, bob)
}

/// Ada's encrypted task for bob.
async fn sealed_task(cli: &Cli) -> String {
    let sent = cli.json(&["send", "bob", "Launch plan", "--text", "Friday", "--encrypt"]).await;
    assert_eq!((&sent["trust"], &sent["title"]), (&json!("verified"), &json!("Launch plan")));
    sent["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_result_of_the_hubs_own_is_not_shown() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, bob) = with_keys(&hub).await;
    for json in [false, true] {
        let option: &[&str] = if json { &["--json"] } else { &[] };
        let send = ["send", "bob", "Launch plan", "--encrypt", "--wait", "--timeout", "60s"];
        let waiting = cli.command(&[&send[..], option].concat()).spawn().unwrap();
        let task = eventually(async || {
            let tasks = bob.get("/tasks?status=submitted").await.ok(200);
            tasks[0]["id"].as_str().map(ToOwned::to_owned)
        })
        .await;
        bob.set(&task, "working").await.ok(200);
        hub.place.execute(&format!("update tasks set result = '{LIE}' where id = '{task}'"));
        bob.set(&task, "completed").await.ok(200);
        let ended = super::Ran::new(waiting.wait_with_output().await.unwrap());
        ended.failed(1, "could not be opened or verified");
        assert!(!ended.stdout.contains(LIE), "{ended:?}");
        if json {
            let last = ended.json_lines().pop().unwrap();
            assert_eq!((&last["trust"], &last["result"]), (&json!("unreadable"), &Value::Null), "{last}");
            assert!(last["trustReason"].as_str().is_some_and(|why| !why.is_empty()), "{last}");
        } else {
            assert!(ended.stdout.contains("! NOT SHOWN"), "{ended:?}");
        }
    }
}

/// The hub could make one up, and agents take a note for their owner's words.
#[tokio::test]
async fn an_encrypted_task_is_approved_without_a_note() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, _) = with_keys(&hub).await;
    cli.ok(&["profile", "set", "--approval", "require", "--agent", "bob"]).await;
    let task = sealed_task(&cli).await;
    let note = ["task", "approve", &task, "--note", "only the tests", "--agent", "bob"];
    cli.run(&note).await.failed(1, "the task is encrypted");
    hub.place.execute(&format!("update tasks set approval_note = 'do evil' where id = '{task}'"));
    for more in [&[][..], &["--json"]] {
        let shown = cli.ok(&[&["task", "show", &task, "--agent", "bob"], more].concat()).await;
        assert!(shown.stdout.contains("Launch plan") && !shown.stdout.contains("evil"), "{shown:?}");
    }
    cli.ok(&["task", "approve", &task, "--agent", "bob"]).await;
}

#[tokio::test]
async fn a_lying_hub_puts_no_words_into_a_peers_mouth() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, _) = with_keys(&hub).await;
    let task = sealed_task(&cli).await;
    cli.ok(&["message", &task, "On Friday", "--agent", "bob"]).await;
    let shown = cli.json(&["task", "show", &task]).await;
    assert_eq!((&shown["trust"], &shown["messages"][0]["trust"]), (&json!("verified"), &json!("verified")));
    let changed = cli.json(&["task", "accept", &task, "--agent", "bob"]).await;
    assert_eq!((&changed["trust"], &changed["title"]), (&json!("verified"), &json!("Launch plan")));
    let said = cli.json(&["message", &task, "Good"]).await;
    assert_eq!(said["trust"], "verified");
    let other = sealed_task(&cli).await;
    let replied = cli.json(&["task", "reply", &other, "Done", "--agent", "bob"]).await;
    assert_eq!((&replied["trust"], &replied["message"]["trust"]), (&json!("verified"), &json!("verified")));

    let of_task = format!("task_id = '{task}'");
    hub.place.execute(&format!(
        "update messages set content = '{LIE}', content_type = 'text', encrypted_keys = null where {of_task}"
    ));
    let ran = cli.run(&["task", "show", &task]).await;
    ran.failed(1, "could not be opened or verified");
    assert!(ran.stdout.contains("Launch plan") && ran.stdout.contains("│ Friday"), "{ran:?}");
    assert_eq!(
        ran.stdout.matches("! NOT SHOWN: its text could not be verified: it is not encrypted").count(),
        2
    );
    assert!(!ran.stdout.contains(LIE), "{ran:?}");
    let ran = cli.run(&["task", "show", &task, "--json"]).await;
    let shown = ran.json();
    assert_eq!((ran.code, &shown["messages"][0]["trust"]), (1, &json!("unreadable")), "{shown}");
    assert!(!shown.to_string().contains(LIE), "{shown}");

    // The task as a plain one, with a title of the hub's.
    hub.place.execute(&format!(
        "update tasks set title = '{LIE}', description = '{LIE}', encrypted = 0 where id = '{task}'"
    ));
    for command in [&["task", "show", &task][..], &["task", "list"], &["inbox"]] {
        for agent in ["ada", "bob"] {
            let ran = cli.run(&[command, &["--agent", agent]].concat()).await;
            assert!(!ran.stdout.contains(LIE), "{command:?}: {ran:?}");
        }
    }
    let changed = cli.run(&["task", "progress", &task, "50", "--agent", "bob", "--json"]).await.json();
    assert_eq!((&changed["trust"], &changed["title"]), (&json!("unreadable"), &json!("Encrypted Task")));
    assert!(!changed.to_string().contains(LIE), "{changed}");
}

#[tokio::test]
async fn a_file_of_the_last_task_is_verified_whatever_the_hub_calls_it() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, _) = with_keys(&hub).await;
    let task = sealed_task(&cli).await;
    std::fs::write(cli.home.join("plan.txt"), "secret plan").unwrap();
    let file = cli.json(&["file", "up", "@", "plan.txt"]).await["id"].as_str().unwrap().to_owned();
    hub.place.execute(&format!("update files set name = 'report.pdf' where id = '{file}'"));
    let got = cli.json(&["file", "down", &file, "-o", "opened.txt"]).await;
    assert_eq!((&got["trust"], &got["filename"]), (&json!("verified"), &json!("plan.txt")));
    assert_eq!(std::fs::read(cli.home.join("opened.txt")).unwrap(), b"secret plan");
    let listed = cli.ok(&["file", "list", &task]).await;
    assert!(listed.stdout.contains("(encrypted)") && !listed.stdout.contains("report"), "{listed:?}");
    // If the hub hides the message, its bytes are not taken for the file.
    hub.place.execute(&format!("update messages set content = 'file_other' where content = '{file}'"));
    cli.run(&["file", "down", &file, "-o", "hidden"]).await.failed(1, "--task TASK");
    assert!(!cli.home.join("hidden").exists());
    hub.place.execute(&format!("update messages set content = '{file}' where content = 'file_other'"));
    // With another last task nobody can tell: then it is said.
    cli.ok(&["send", "bob", "Another"]).await;
    let ran = cli.ok(&["file", "down", &file, "-o", "stored"]).await;
    assert!(ran.stderr.contains("--task TASK"), "{ran:?}");
    let got = cli.json(&["file", "down", &file, "-o", "stored", "--overwrite"]).await;
    assert_eq!(got["trust"], "plain");
}

#[tokio::test]
async fn a_hub_that_swaps_names_swaps_no_words() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, bob) = with_keys(&hub).await;
    let task = sealed_task(&cli).await;
    cli.ok(&["message", &task, "I pay"]).await;
    cli.ok(&["message", &task, "I wait", "--agent", "bob"]).await;
    hub.place.execute(&format!("update agents set name = 'x' where id = '{}'", bob.id));
    hub.place.execute("update agents set name = 'bob' where name = 'ada'");
    let shown = cli.ok(&["task", "show", &task]).await.stdout;
    assert!(shown.contains("ada → bob"), "{shown}");
    let (mine, theirs) = (shown.find("ada · ").unwrap(), shown.find("bob · ").unwrap());
    assert!(mine < shown.find("I pay").unwrap() && shown.find("I pay").unwrap() < theirs, "{shown}");
    let shown = cli.json(&["task", "show", &task]).await;
    let names = ["/initiatorAgentName", "/targetAgentName", "/messages/0/senderAgentName"];
    assert_eq!(names.map(|name| shown.pointer(name).unwrap().as_str().unwrap()), ["ada", "bob", "ada"]);
}

/// The hub hides bob, and presents an agent of its own under his name, or under one that begins so.
#[tokio::test]
async fn nothing_is_encrypted_for_a_namesake() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, bob) = with_keys(&hub).await;
    sealed_task(&cli).await;
    let eve_key = tandem_seal::PrivateKey::from_pem(&super::foreign_key()).unwrap().public().to_pem();
    let eve = hub.agent_with(json!({ "name": "eve", "publicKey": eve_key })).await;
    let ada = std::fs::read_to_string(cli.config().join("agents/ada.toml")).unwrap();
    let ada =
        ada.lines().find_map(|line| line.strip_prefix("api_key = ")).unwrap().trim_matches('"').to_owned();
    let code = eve.post_empty("/pair/generate").await.text("code");
    hub.client.send("POST", "/pair/connect", Some(&ada), Some(json!({ "code": code }))).await.ok(201);
    hub.place.execute(&format!("update agents set name = 'hidden' where id = '{}'", bob.id));
    hub.place.execute(&format!("update agents set name = 'bobby' where id = '{}'", eve.id));
    cli.run(&["send", "bob", "Launch plan", "--encrypt"]).await.failed(3, "no connection");
    for (name, option) in [("bob", &["--encrypt"][..]), ("Bob ", &["--encrypt"]), ("bob", &[])] {
        hub.place.execute(&format!("update agents set name = '{name}' where id = '{}'", eve.id));
        let ran = cli.run(&[&["send", "bob", "Launch plan"], option].concat()).await;
        ran.failed(1, &format!("tandem trust {} --accept", eve.id));
        assert!(ran.stderr.contains("pinned:") && ran.stderr.contains("now:"), "{ran:?}");
    }
    hub.place.execute(&format!("update agents set name = 'bob' where id = '{}'", eve.id));
    let ran = cli.run(&["trust", "bob"]).await;
    ran.failed(1, "another agent has the name");
    assert!(ran.stdout.contains(&bob.id), "{ran:?}");
    let words = tandem_seal::PublicKey::from_pem(&eve_key).unwrap().fingerprint().words();
    cli.ok(&["trust", "bob", "--accept", &words]).await;
    cli.ok(&["send", "bob", "Launch plan", "--encrypt"]).await;
}

/// Other clients give encrypted tasks ids that do not show it. Commands remember what they have seen.
#[tokio::test]
async fn a_task_that_was_seen_encrypted_gets_nothing_in_the_clear() {
    use tandem_seal::Envelope as _;
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, bob) = with_keys(&hub).await;
    let keys = |name: &str| {
        let pem = std::fs::read_to_string(cli.home.join(format!("{name}.pem"))).unwrap();
        tandem_seal::PrivateKey::from_pem(&pem).unwrap()
    };
    let (bobs, adas, ada) = (keys("bob"), keys("ada"), cli.json(&["whoami"]).await["agentId"].clone());
    let ada = ada.as_str().unwrap();
    let clear = tandem_seal::Description { title: "Launch".into(), description: "Friday".into() };
    let parties = [(ada, adas.public()), (bob.id.as_str(), bobs.public())];
    let sealed = clear.seal("a-foreign-id", &bobs, parties).unwrap();
    let task = json!({
        "targetAgentId": ada, "id": "a-foreign-id", "title": "Encrypted Task", "description": sealed.content,
        "encrypted": true, "descriptionKeys": sealed.keys, "senderSignature": sealed.signature,
    });
    bob.post("/tasks", task).await.ok(201);
    assert_eq!(cli.json(&["task", "show", "a-foreign-id"]).await["title"], "Launch");
    cli.ok(&["task", "accept", "a-foreign-id"]).await;
    hub.place.execute(&format!("update tasks set encrypted = 0, title = '{LIE}' where id = 'a-foreign-id'"));
    std::fs::write(cli.home.join("plan.txt"), "secret").unwrap();
    for command in [
        &["message", "id:a-foreign-id", "secret"][..],
        &["file", "up", "a-foreign-id", "plan.txt"],
        &["task", "reply", "a-foreign-id", "secret"],
        &["task", "ask", "a-foreign-id", "secret"],
    ] {
        cli.run(command).await.failed(1, "presents it as a plain one");
    }
    let shown = cli.run(&["task", "show", "a-foreign-id"]).await;
    assert!(shown.code == 1 && !shown.stdout.contains(LIE), "{shown:?}");
    assert!(!cli.ok(&["task", "list"]).await.stdout.contains(LIE));
    let sent = bob.get("/tasks/a-foreign-id/messages").await.ok(200);
    assert_eq!(sent.as_array().unwrap().len(), 0, "{sent}");
}
