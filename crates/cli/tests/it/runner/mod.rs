//! `tandem run`: a program for each task. The programs of these tests are shell scripts.

mod chaos;
mod ends;
mod everyday;
mod exactly_once;
mod service;

use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;
use tokio::process::Child;

use crate::command::Cli;
use crate::harness::eventually;

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
