//! Where API keys and the operator's token go: to the hub that they belong to, and to no other.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::Cli;
use crate::harness::{Db, Harness};

/// A server of somebody else: it answers nothing of use and keeps what it got.
async fn foreign() -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let got = Arc::new(Mutex::new(String::new()));
    let log = Arc::clone(&got);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 4096];
            let read = stream.read(&mut head).await.unwrap_or(0);
            log.lock().unwrap().push_str(&String::from_utf8_lossy(&head[..read]));
            let answer = "HTTP/1.1 404 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (address, got)
}

#[tokio::test]
async fn the_key_of_a_profile_goes_to_its_own_hub_only() {
    let hub = Harness::start(Db::Sqlite).await;
    let own = format!("http://{}", hub.client.address);
    let mut cli = Cli::pair(&hub).await;
    let (elsewhere, got) = foreign().await;
    let port = elsewhere.rsplit(':').next().unwrap();
    for command in [&["inbox"][..], &["rotate"], &["pair", "DEEP-COBRA-1939"], &["logout", "--delete-agent"]]
    {
        let ran = cli.run(&[command, &["--hub", &elsewhere]].concat()).await;
        ran.failed(2, &own);
        assert!(ran.stderr.contains(&elsewhere), "{ran:?}");
        assert!(ran.stderr.contains(&format!("tandem login --hub {elsewhere}")), "{ran:?}");
    }
    cli.variables.push(("TANDEM_HUB".to_owned(), elsewhere.clone()));
    cli.run(&["inbox"]).await.failed(2, &elsewhere);
    let mut completion = cli.command(&["--", "tandem", "task", "show", ""]);
    completion.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "3");
    completion.output().await.unwrap();
    assert_eq!(*got.lock().unwrap(), "", "nothing was sent");
    // The same address in another spelling is the same hub.
    cli.ok(&["inbox", "--hub", &own.replace("http", "HTTP")]).await;
    cli.ok(&["inbox", "--hub", &format!("{}/", own.trim_start_matches("http://"))]).await;
    // A profile of that hub is named.
    let file = cli.config().join("agents/bob.toml");
    let profile = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, profile.replace(&own, &format!("127.0.0.1:{port}"))).unwrap();
    cli.run(&["inbox"]).await.failed(2, "tandem context use bob");
    cli.run(&["inbox", "--agent", "bob"]).await.failed(4, "does not answer like a Tandem hub");
    assert!(got.lock().unwrap().contains("tdm_"), "its own key goes there");
    // A key and a hub that are both given.
    cli.variables.push(("TANDEM_KEY".to_owned(), "tdm_given".to_owned()));
    cli.run(&["inbox"]).await.failed(4, "does not answer like a Tandem hub");
    assert!(got.lock().unwrap().contains("tdm_given"));
}

#[tokio::test]
async fn the_operators_token_does_not_go_to_the_hub_of_a_profile() {
    let (elsewhere, got) = foreign().await;
    let cli = Cli::at(&elsewhere);
    let folder = cli.config().join("agents");
    std::fs::create_dir_all(&folder).unwrap();
    let profile =
        format!("hub = {elsewhere:?}\nagent_id = \"agent_1\"\nagent_name = \"ada\"\napi_key = \"tdm_x\"\n");
    let file = folder.join("ada.toml");
    std::fs::write(&file, profile).unwrap();
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    for agent in [&[][..], &["--agent", "ada"]] {
        for command in [&["admin", "overview"][..], &["top", "--once"]] {
            let mut command = cli.command(&[command, agent].concat());
            command.env_remove("TANDEM_HUB").env("TANDEM_ADMIN_TOKEN", "operators-token");
            assert!(!command.output().await.unwrap().status.success());
        }
    }
    assert_eq!(*got.lock().unwrap(), "", "the usual hub of this machine was meant");
    let mut command = cli.command(&["admin", "overview", "--hub", &elsewhere]);
    command.env_remove("TANDEM_HUB").env("TANDEM_ADMIN_TOKEN", "operators-token");
    command.output().await.unwrap();
    assert!(got.lock().unwrap().contains("operators-token"), "the operator has named it");
}

#[tokio::test]
async fn an_address_that_is_none_gets_no_key() {
    let mut cli = Cli::at("http://127.0.0.1:1");
    cli.variables.push(("TANDEM_KEY".to_owned(), "tdm_given".to_owned()));
    for port in ["65616", "99999999999", "0", "", "+80"] {
        let hub = format!("http://127.0.0.1:{port}");
        cli.run(&["inbox", "--hub", &hub]).await.failed(2, "is not the address of a hub");
    }
    let ran = cli.run(&["inbox", "--hub", "http://ada:hunter2@127.0.0.1:1"]).await;
    ran.failed(2, "is not the address of a hub");
    assert!(!ran.stderr.contains("hunter2"), "{ran:?}");
    // The same in a profile, which other commands show.
    cli.variables.clear();
    let profile = "hub = \"http://ada:hunter2@127.0.0.1:1\"\nagent_id = \"agent_1\"\nagent_name = \"ada\"\n\
        api_key = \"tdm_x\"\n";
    std::fs::create_dir_all(cli.config().join("agents")).unwrap();
    super::ops::write_private(&cli.config().join("agents/ada.toml"), profile);
    for command in [&["context", "show"][..], &["context", "list"], &["inbox", "--hub", "127.0.0.1:1"]] {
        let ran = cli.run(command).await;
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("is not the address of a hub") && !said.contains("hunter2"), "{ran:?}");
    }
}

#[tokio::test]
async fn logging_in_again_goes_to_the_hub_of_the_profile() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    cli.register("ada").await;
    let own = format!("http://{}", hub.client.address);
    let file = cli.config().join("agents/ada.toml");
    let profile = std::fs::read_to_string(&file).unwrap();
    let key = profile.lines().find_map(|line| line.strip_prefix("api_key = ")).unwrap().trim_matches('"');
    super::ops::write_private(&file, &profile.replace(key, "tdm_old"));
    let login = format!("tandem login --hub {own} --as ada");
    cli.run(&["inbox"]).await.failed(1, &login);
    let mut command = cli.command(&["login", "--as", "ada"]);
    command.env_remove("TANDEM_HUB").stdin(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(key.as_bytes()).await.unwrap();
    let ended = child.wait_with_output().await.unwrap();
    assert!(ended.status.success(), "{ended:?}");
    cli.ok(&["inbox"]).await;
}
