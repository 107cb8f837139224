//! The real tools from npm, in an empty home and without a network but the loopback: what setup writes is what they read.
//! `./check tools` installs and runs them; the ordinary run leaves this module out.

mod waking;
mod workers;

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tokio::process::{Child, Command};

use super::{read, write};
use crate::command::{Cli, Ran};
use crate::harness::{PATIENCE, eventually};

/// Where `scripts/ai-tools` puts them.
fn installed() -> PathBuf {
    let tools = PathBuf::from(env!("CARGO_BIN_EXE_tandem")).ancestors().nth(2).unwrap().join("ai-tools");
    assert!(tools.join("versions").exists(), "run scripts/ai-tools first; ./check tools does");
    tools
}

/// A home with a hub, both in a network that has only itself.
struct Offline {
    cli: Cli,
    hub: Child,
}

impl Offline {
    async fn start() -> Self {
        let mut cli = Cli::at("http://127.0.0.1:3000");
        std::fs::create_dir(cli.home.join("work")).unwrap();
        let tools = installed().join("node_modules/.bin");
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
        cli.variables = [
            ("PATH", path.as_str()),
            ("XDG_CONFIG_HOME", ""),
            ("XDG_STATE_HOME", ""),
            ("USER", "ada"),
            // As if the person had told Gemini to trust the folder.
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
        let serve = "ip link set lo up && exec \"$0\" serve --listen 127.0.0.1:3000 --data hub";
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--net", "--", "sh", "-c", serve, env!("CARGO_BIN_EXE_tandem")]);
        let hub = command
            .current_dir(&cli.home)
            .env("HOME", &cli.home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("`unshare` makes a network of its own");
        let offline = Self { cli, hub };
        eventually(async || {
            let doctor = offline.run(Path::new(env!("CARGO_BIN_EXE_tandem")), &["doctor"]).await;
            doctor.status.success().then_some(())
        })
        .await;
        offline
    }

    /// A program in the hub's network, in a folder of the home.
    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let hub = self.hub.id().expect("the hub runs").to_string();
        // The variables of this user come from a command of the same user.
        let like = self.cli.command(&[]);
        let mut command = Command::new("nsenter");
        command.args(["--target", &hub, "--user", "--preserve-credentials", "--net", "--"]).arg(program);
        command.args(arguments).current_dir(self.cli.home.join("work"));
        for (name, value) in like.as_std().get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    async fn run(&self, program: &Path, arguments: &[&str]) -> Output {
        let running = self.command(program, arguments).output();
        tokio::time::timeout(PATIENCE * 4, running).await.expect("it ends").unwrap()
    }

    async fn tandem(&self, arguments: &[&str]) -> Ran {
        let output = self.run(Path::new(env!("CARGO_BIN_EXE_tandem")), arguments).await;
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// What a tool's own command says, on both of its streams.
    async fn tool(&self, tool: &str, arguments: &[&str]) -> String {
        let program = installed().join("node_modules/.bin").join(tool);
        let output = self.run(&program, arguments).await;
        assert!(output.status.success(), "{tool}: {output:?}");
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    }
}

#[tokio::test]
async fn each_tool_shows_the_entry_and_has_its_files_back_afterwards() {
    let offline = Offline::start().await;
    let home = &offline.cli.home;
    let files = [
        ".claude.json",
        ".claude/settings.json",
        ".codex/config.toml",
        ".codex/hooks.json",
        ".gemini/settings.json",
    ]
    .map(|file| home.join(file));
    write(&files[1], "{\n  \"model\": \"opus\"\n}\n");
    write(&files[2], "# mine\nmodel = \"o9\" # the best\n\n[mcp_servers.other]\ncommand = \"true\"\n");
    write(&files[3], "{\n  \"hooks\": {}\n}\n");
    write(&files[4], "{\n  // mine\n  \"ui\": { \"hideTips\": true }\n}\n");
    // Claude Code writes its file whenever it starts, until it has everything that it wants there.
    for _ in 0..2 {
        offline.tool("claude", &["mcp", "list"]).await;
    }
    let before = files.clone().map(|file| read(&file));

    let setup = ["setup", "--tool", "claude,codex,gemini", "--hooks", "--yes", "--json"];
    let ran = offline.tandem(&setup).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    let states: Vec<String> = ran.json()["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["check"]["state"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(states, ["connected", "listed", "connected"], "{ran:?}");
    for (file, before) in files.iter().zip(&before) {
        assert_ne!(read(file), *before, "{}", file.display());
    }

    let tandem = env!("CARGO_BIN_EXE_tandem");
    let claude = offline.tool("claude", &["mcp", "list"]).await;
    assert!(claude.contains(&format!("tandem: {tandem} mcp --agent ada-claude - ✔ Connected")), "{claude}");
    // Its warnings are on the other stream.
    let codex = offline.run(&installed().join("node_modules/.bin/codex"), &["mcp", "list", "--json"]).await;
    let codex: serde_json::Value = serde_json::from_slice(&codex.stdout).unwrap();
    let entry = codex.as_array().unwrap().iter().find(|server| server["name"] == "tandem").unwrap();
    assert_eq!(
        (&entry["enabled"], &entry["transport"]["command"]),
        (&true.into(), &tandem.into()),
        "{entry}"
    );
    let gemini = offline.tool("gemini", &["mcp", "list"]).await;
    let shown = format!("tandem: {tandem} mcp --agent ada-gemini (stdio) - Connected");
    assert!(gemini.contains(&shown), "{gemini}");
    let status = offline.tandem(&["setup", "status"]).await;
    assert_eq!(status.code, 0, "{status:?}");

    let removed = offline.tandem(&["setup", "--remove", "--yes"]).await;
    assert_eq!(removed.code, 0, "{removed:?}");
    for (file, before) in files.iter().zip(&before) {
        assert_eq!(read(file), *before, "{}", file.display());
    }
    for tool in ["claude", "codex", "gemini"] {
        let list = offline.tool(tool, &["mcp", "list"]).await;
        assert!(!list.contains("--agent"), "{tool}: {list}");
    }
}

#[tokio::test]
async fn an_entry_of_a_project_waits_for_the_persons_approval() {
    let offline = Offline::start().await;
    let file = offline.cli.home.join("work/.mcp.json");
    let setup = ["setup", "--tool", "claude", "--scope", "project", "--yes", "--json"];
    let ran = offline.tandem(&setup).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["tools"][0]["check"]["state"], "pendingApproval", "{ran:?}");
    offline.tandem(&["setup", "status"]).await.failed(1, "there is a problem");
    assert_eq!(offline.tandem(&["setup", "--remove", "--yes"]).await.code, 0);
    assert!(!file.exists());
}
