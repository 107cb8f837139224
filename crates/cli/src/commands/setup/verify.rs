//! Asks a tool itself whether it has the entry. Its command always exits with 0, so its text is read.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde::Serialize;

use super::detect::on_path;
use super::tools::{ENTRY, Tool};
use crate::exit::{Failure, Outcome};
use crate::terminal::text;

/// Longer than a tool waits for a server that does not answer.
const PATIENCE: Duration = Duration::from_secs(45);

/// What a tool says about the entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "state", content = "detail")]
pub(super) enum Verdict {
    Connected,
    /// It knows the entry; it connects later.
    Listed,
    /// It waits for a person's approval.
    PendingApproval,
    /// It leaves the entry out in a folder that it does not trust.
    UntrustedFolder,
    /// It cannot connect.
    Failed(String),
    /// It does not know the entry.
    Missing,
    /// It cannot be asked.
    NotChecked(String),
}

impl Verdict {
    pub(super) fn is_problem(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Missing)
    }

    /// What a person reads.
    pub(super) fn sentence(&self, name: &str) -> String {
        match self {
            Self::Connected => format!("{name} says: connected."),
            Self::Listed => format!("{name} lists the entry."),
            Self::PendingApproval => format!("{name} will ask you to approve the entry."),
            Self::UntrustedFolder => {
                format!(
                    "{name} lists the entry, but does not start servers in this folder until you trust it."
                )
            }
            Self::Failed(why) => format!("{name} cannot connect: {why}"),
            Self::Missing => format!("{name} does not list the entry."),
            Self::NotChecked(why) => format!("{name} was not asked: {why}."),
        }
    }
}

pub(super) async fn ask(tool: Tool) -> Verdict {
    let facts = tool.facts();
    if facts.list.is_empty() {
        return Verdict::NotChecked("it has no command for that".to_owned());
    }
    let Some(program) = facts.binaries.iter().find_map(|name| on_path(name)) else {
        return Verdict::NotChecked("its command is not on PATH".to_owned());
    };
    let mut command = tokio::process::Command::new(program);
    command.args(facts.list).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    let output = match tokio::time::timeout(PATIENCE, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Verdict::NotChecked(format!("its command cannot be run ({error})")),
        Err(_) => return Verdict::NotChecked(format!("its command did not end in {} s", PATIENCE.as_secs())),
    };
    // Gemini writes its list to standard error.
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    match verdict(tool, &text) {
        // It lists nothing because something else is wrong with its configuration.
        Verdict::Missing if !output.status.success() => {
            let line =
                text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("its command failed");
            Verdict::Failed(without_escapes(line))
        }
        verdict => verdict,
    }
}

fn verdict(tool: Tool, text: &str) -> Verdict {
    if tool == Tool::Codex {
        let listed = text.find('[').and_then(|start| {
            let list =
                serde_json::Deserializer::from_str(&text[start..]).into_iter::<serde_json::Value>().next();
            let list = list?.ok()?;
            Some(list.as_array()?.iter().any(|server| server["name"] == ENTRY && server["enabled"] != false))
        });
        return if listed == Some(true) { Verdict::Listed } else { Verdict::Missing };
    }
    let plain = without_escapes(text);
    let line = plain.lines().map(str::trim).find_map(|line| {
        let line = line.trim_start_matches(['✓', '✗', '○', '…', '●', '-', '*', ' ']);
        line.strip_prefix(ENTRY).filter(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-'))
    });
    let Some(line) = line else { return Verdict::Missing };
    let says = |words: &[&str]| words.iter().any(|word| line.contains(word));
    if says(&["Pending approval"]) {
        Verdict::PendingApproval
    } else if says(&["Failed", "Disconnected", "Blocked"]) {
        let why = line.rsplit(" - ").next().unwrap_or(line);
        Verdict::Failed(why.trim_start_matches(['✘', '✗', ' ']).to_owned())
    } else if says(&["Disabled"]) {
        Verdict::UntrustedFolder
    } else if says(&["Connected"]) {
        Verdict::Connected
    } else {
        Verdict::Listed
    }
}

/// A text without the sequences that set colours.
fn without_escapes(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        plain + rest.get(1..).unwrap_or_default()
    })
}

/// Runs a command of a tool that must succeed.
pub(super) async fn run(program: &Path, arguments: &[String]) -> Outcome {
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    let name = program.display();
    let output = tokio::time::timeout(PATIENCE, command.output()).await;
    let output = output.map_err(|_| Failure::timed_out(format!("{name} does not end")))??;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::refused(format!("{name} failed: {}", text::line(said.trim()))))
}
