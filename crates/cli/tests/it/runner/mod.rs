//! `tandem run`: a program for each task. The programs of these tests are shell scripts.

mod chaos;
mod ends;
mod everyday;
mod exactly_once;
mod hostile;
mod keys;
mod service;
mod whose;

use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;
use tokio::process::Child;

use crate::command::Cli;
use crate::harness::{Agent, Client, eventually};

/// A runner of bob's for tasks of ada's.
pub struct Runner {
    child: Child,
    log: PathBuf,
}

impl Runner {
    /// Starts a runner with a shell script as its command. `$HOME` in it is the home of the test.
    pub fn start(cli: &Cli, more: &[&str], script: &str) -> Self {
        Self::with(cli, &[&["--from", "ada"], more, &["--", "sh", "-c", script]].concat())
    }

    pub fn with(cli: &Cli, arguments: &[&str]) -> Self {
        let log = cli.home.join("runner.log");
        let file = File::options().append(true).create(true).open(&log).unwrap();
        let arguments = [&["run", "--agent", "bob"], arguments].concat();
        let child = cli.command(&arguments).stdout(Stdio::null()).stderr(file).spawn().unwrap();
        Self { child, log }
    }

    /// Starts a runner below a shell, which gets the command line as `"$@"`.
    pub fn below_shell(cli: &Cli, shell: &str, arguments: &[&str]) -> Self {
        let log = cli.home.join("runner.log");
        let file = File::options().append(true).create(true).open(&log).unwrap();
        let runner = cli.command(&[&["run", "--agent", "bob"], arguments].concat());
        let mut command = tokio::process::Command::new("sh");
        command.args(["-c", shell, "sh"]).arg(runner.as_std().get_program()).args(runner.as_std().get_args());
        for (name, value) in runner.as_std().get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.current_dir(&cli.home).stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        Self { child: command.kill_on_drop(true).spawn().unwrap(), log }
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    pub fn signal(&self, name: &str) {
        let pid = self.child.id().unwrap().to_string();
        assert!(
            std::process::Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success()
        );
    }

    /// Waits for the end.
    pub async fn code(mut self) -> i32 {
        let ended = tokio::time::timeout(crate::harness::PATIENCE, self.child.wait()).await;
        let code = ended.unwrap_or_else(|_| panic!("it does not end: {}", self.log())).unwrap().code();
        code.unwrap_or(-1)
    }

    /// Kills it, as a machine does that runs out of memory.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}

/// The agent of a profile.
pub fn agent_of(cli: &Cli, client: &Client, name: &str) -> Agent {
    let file = cli.config().join(format!("agents/{name}.toml"));
    let profile: toml::Table = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let of = |field: &str| profile[field].as_str().unwrap().to_owned();
    Agent { id: of("agent_id"), name: name.into(), key: of("api_key"), client: client.clone() }
}

/// The file in which a runner writes down what it does with a task.
pub fn journal(cli: &Cli, task: &str) -> PathBuf {
    cli.home.join(format!("state/tandem/bob.d/run/journal/{task}.json"))
}

/// Waits until a result is written down.
pub async fn until_ready(cli: &Cli, task: &str) {
    let entry = journal(cli, task);
    eventually(async || std::fs::read_to_string(&entry).ok()?.contains("\"ready\"").then_some(())).await;
}

pub async fn view(cli: &Cli, task: &str) -> Value {
    cli.json(&["task", "show", task]).await
}

/// Waits until a task has a status.
pub async fn until(cli: &Cli, task: &str, status: &str) -> Value {
    eventually(async || {
        let view = view(cli, task).await;
        (view["status"] == status).then_some(view)
    })
    .await
}

/// The lines of a file in the home of the test.
pub fn lines(cli: &Cli, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(cli.home.join(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Waits until a file in the home of the test has so many lines.
pub async fn until_lines(cli: &Cli, name: &str, count: usize) -> Vec<String> {
    eventually(async || Some(lines(cli, name)).filter(|lines| lines.len() >= count)).await
}

/// The files of a task: name and content, as ada gets them.
pub async fn files(cli: &Cli, task: &str) -> Vec<String> {
    let mut contents = Vec::new();
    for message in view(cli, task).await["messages"].as_array().unwrap() {
        if message["contentType"] == "file" {
            let file = message["content"].as_str().unwrap();
            let down = cli.ok(&["file", "down", file, "-o", "-", "--task", task]).await;
            contents.push(down.stdout);
        }
    }
    contents
}
