//! `tandem doctor`: checks this machine, the hub and the way between them. Without `--wake` it changes nothing and writes
//! to nobody.

mod hub;
mod machine;
mod wake;

use std::path::PathBuf;
use std::time::Duration;

use anstyle::AnsiColor;
use clap::Args;
use serde::Serialize;
use tandem_client::Client;

use super::session::{block_on, hub_of};
use super::{Common, Session};
use crate::exit::{Exit, Failure, Outcome};
use crate::profiles::Profiles;
use crate::terminal::{Terminal, text, time};

/// Arguments of `tandem doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem doctor                      check the current agent and its hub
  tandem doctor --agent bob --json
  tandem doctor --wake               also measure how the agent is woken, with a real task
  tandem doctor --data /srv/tandem   on the machine of the hub: also its disk

It exits with 0 if all is well or there are only warnings, with 1 if there is a problem, and with 4 if the hub cannot be
reached.")]
pub(crate) struct Arguments {
    /// Data folder of a hub here, to check its disk
    #[arg(long, value_name = "FOLDER", env = "TANDEM_DATA", default_value = "./tandem-data")]
    data: PathBuf,
    /// Also send the agent a task, and measure how a model gets it
    #[arg(long)]
    wake: bool,
    /// How long --wake waits
    #[arg(long, value_name = "TIME", value_parser = time::duration, default_value = "30s", requires = "wake")]
    wake_timeout: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Ok,
    /// A fact that is neither good nor bad.
    Note,
    Warning,
    Problem,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }

    fn colour(self) -> AnsiColor {
        match self {
            Self::Ok => AnsiColor::Green,
            Self::Note => AnsiColor::Cyan,
            Self::Warning => AnsiColor::Yellow,
            Self::Problem => AnsiColor::Red,
        }
    }
}

/// The result of one check.
#[derive(Debug, Clone, Serialize)]
struct Finding {
    check: &'static str,
    level: Level,
    detail: String,
    fix: Option<String>,
}

/// What was found.
#[derive(Debug, Default, Serialize)]
struct Report {
    findings: Vec<Finding>,
    /// Whether there is no problem.
    ok: bool,
    #[serde(skip)]
    unreachable: bool,
}

impl Report {
    fn ok(&mut self, check: &'static str, detail: impl Into<String>) {
        self.findings.push(Finding { check, level: Level::Ok, detail: detail.into(), fix: None });
    }

    fn note(&mut self, check: &'static str, detail: impl Into<String>) {
        self.findings.push(Finding { check, level: Level::Note, detail: detail.into(), fix: None });
    }

    fn warning(&mut self, check: &'static str, detail: impl Into<String>, fix: impl Into<String>) {
        let fix = Some(fix.into());
        self.findings.push(Finding { check, level: Level::Warning, detail: detail.into(), fix });
    }

    fn problem(&mut self, check: &'static str, detail: impl Into<String>, fix: impl Into<String>) {
        let fix = Some(fix.into());
        self.findings.push(Finding { check, level: Level::Problem, detail: detail.into(), fix });
    }

    /// A failure as a problem, with its next step as the fix.
    fn failure(&mut self, check: &'static str, failure: &Failure, otherwise: &str) {
        let fix = failure.next_step().unwrap_or(otherwise).to_owned();
        self.problem(check, failure.what().to_owned(), fix);
    }

    fn problems(&self) -> usize {
        self.findings.iter().filter(|finding| finding.level == Level::Problem).count()
    }

    fn print(&self, terminal: &Terminal) -> Outcome {
        for finding in &self.findings {
            let (detail, fix) =
                (text::line(&finding.detail), finding.fix.as_deref().map(text::line).unwrap_or_default());
            if !terminal.interactive {
                let word = finding.level.word();
                terminal.line(&format!("{word}\t{}\t{detail}\t{fix}", finding.check))?;
                continue;
            }
            let word = terminal.colour(&format!("{:<8}", finding.level.word()), finding.level.colour());
            terminal.line(&format!("{word} {:<11} {detail}", finding.check))?;
            if !fix.is_empty() {
                terminal.line(&format!("{:21}Fix: {fix}", ""))?;
            }
        }
        Ok(())
    }
}

/// Runs `tandem doctor`.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let terminal = common.terminal();
    let mut report = Report::default();
    let profiles = Profiles::of_user()?;
    machine::check_profiles(&mut report, &profiles);
    let session = machine::check_profile(&mut report, &profiles, common);
    let hub = match &session {
        Some(session) => session.client.hub().clone(),
        None => hub_of(common)?,
    };
    block_on(async {
        // Without a key: the hub refuses every request of a suspended agent, and of a wrong key.
        let guest = Client::new(hub)?.with_patience(Duration::ZERO);
        if hub::check(&mut report, &guest).await
            && let Some(Session { client, profile, .. }) = session
        {
            let client = client.with_patience(Duration::ZERO);
            hub::check_agent(&mut report, &client, &profiles, profile.as_ref()).await;
            if arguments.wake {
                let profile = profile.as_ref().map(|profile| profile.name.as_str());
                wake::check(&mut report, &client, arguments.wake_timeout, &profiles, profile).await;
            }
        }
        Ok(())
    })?;
    machine::check_disk(&mut report, profiles.folder(), "disk", "the profiles");
    if arguments.data.is_dir() {
        machine::check_disk(&mut report, &arguments.data, "hub disk", "the hub's data");
    }
    report.ok = report.problems() == 0;
    terminal.result(&report, |terminal| report.print(terminal))?;
    match (report.unreachable, report.problems()) {
        (_, 0) => Ok(()),
        (true, _) => Err(Failure::new(Exit::Unreachable, "the hub cannot be reached")),
        (false, 1) => Err(Failure::refused("there is a problem")),
        (false, count) => Err(Failure::refused(format!("there are {count} problems"))),
    }
}
