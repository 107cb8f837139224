//! `tandem hook`: tells an AI tool what is new for its agent, by the tool's own hooks.
//!
//! A hook must never disturb the tool: whatever goes wrong, it prints nothing and ends with success.

mod input;
mod news;
mod reader;
mod shown;
mod wait;

use std::cell::RefCell;
use std::io::Write as _;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::json;
use tandem_api::agents::ReportReach;
use tandem_api::inbox::InboxItem;
use tandem_core::wake::Rung;
use tandem_core::{AgentId, TaskId};
use tokio::time::Instant;

use super::session::block_on_and_leave;
use super::{Common, Session};
use crate::exit::Outcome;
use crate::profiles::WakeLimit;
use crate::terminal::time;
use input::Input;
use news::{News, Wording};
use reader::Reader;
use shown::Shown;

/// Time limit for the hub's answer. The tool waits that long.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// Until when titles are waited for: there must be time left to say the rest without them.
const TITLES_MAX: Duration = Duration::from_millis(1_500);

/// Arguments of `tandem hook`.
#[derive(Debug, Args)]
#[command(after_help = "\
`tandem setup --hooks` writes this into the settings of the tool. It prints one line of JSON if there is something new
for the agent, once per session of the tool, and nothing otherwise or if the hub cannot be reached.

Examples:
  tandem hook --agent bob --tool claude           for SessionStart, UserPromptSubmit, PostToolUse and Stop
  tandem hook --agent bob --tool gemini           for SessionStart, BeforeAgent, AfterTool and AfterAgent
  tandem hook --agent bob --tool claude --wait    for a hook with \"asyncRewake\": true")]
pub(crate) struct Arguments {
    /// The tool whose hook this is
    #[arg(long, value_enum)]
    tool: Tool,
    /// Wait for something new, then end with exit code 2, which wakes Claude Code
    #[arg(long)]
    wait: bool,
    /// End the wait after this time; the tool's own limit usually comes first
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = time::duration)]
    max_wait: Duration,
}

/// A tool with hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Tool {
    Claude,
    Codex,
    Gemini,
}

/// A hook at work.
struct Hook {
    session: Session,
    me: AgentId,
    input: Input,
    shown: Shown,
    limit: RefCell<WakeLimit>,
    reader: Reader,
}

/// Runs `tandem hook`. No failure is reported: the tool would show it to its user at every step.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    // Before anything takes time: the tool may end meanwhile.
    let reader = Reader::find();
    let input = Input::read();
    // A worker of the runner sees its own task only, also if the tool that it runs has hooks.
    if std::env::var_os("TANDEM_RUNNER").is_some() {
        return Ok(());
    }
    // The event after an answer to `Stop`: another answer would never let the model stop.
    if input.is_stop() && input.stop_hook_active == Some(true) && !arguments.wait {
        return Ok(());
    }
    let Ok(mut session) = Session::open(common) else { return Ok(()) };
    // Without a profile nothing can be remembered, and everything would be told at every step.
    let Some(profile) = &session.profile else { return Ok(()) };
    let name = profile.name.clone();
    let folder = session.profiles.state_folder(&name);
    let me = profile.agent_id.clone();
    let shown = Shown::at(&folder, input.session_id.as_deref().unwrap_or_default());
    let limit = RefCell::new(session.profiles.wake_limit(&name));
    session.client = session.client.with_patience(Duration::ZERO);
    let hook = Hook { session, me, input, shown, limit, reader };
    if arguments.wait {
        return wait::run(&hook, &name, arguments.max_wait);
    }
    let _ = block_on_and_leave(async {
        let _ = tokio::time::timeout(ANSWER_MAX, hook.tell()).await;
        Ok(())
    });
    Ok(())
}

impl Hook {
    /// Prints what is new, and reports it to the hub.
    async fn tell(&self) -> Outcome {
        let (is_stop, titles_until) = (self.input.is_stop(), Instant::now() + TITLES_MAX);
        let inbox = news::inbox(&self.session.client).await?;
        let mut candidates = self.shown.unseen(&inbox);
        if is_stop {
            // It makes the model go on, so only what may wake it counts.
            candidates = self.waking(candidates).await?.0;
        }
        // In an answer to `Stop` the text stands where the user's own words stand: nothing of a peer belongs there.
        let wording = match is_stop {
            true => Wording::Fixed,
            false => Wording::WithTitles(news::titles(&self.session.client, &candidates, titles_until).await),
        };
        let taken = self.shown.take(candidates, &inbox).await;
        let (news, before) = if is_stop { taken.waking() } else { (taken.news, taken.before) };
        if news.is_empty() {
            return self.report(Vec::new()).await;
        }
        let line = news.line(self.name(), &wording);
        let answer = match is_stop {
            true => json!({ "decision": "block", "reason": line }),
            false => json!({
                "hookSpecificOutput": { "hookEventName": self.input.event(), "additionalContext": line }
            }),
        };
        let mut out = std::io::stdout();
        let written = writeln!(out, "{answer}").and_then(|()| out.flush());
        if written.is_err() || !self.reader.is_there(&out) {
            self.shown.restore(&news, &before).await;
            return Ok(());
        }
        if is_stop {
            self.note_wake(&news);
        }
        self.report(news.tasks()).await
    }

    /// Only what may wake the model: no replies, and nothing of an agent that has woken it too often, which is shown at the
    /// next step of the model. Also returns whether there is something of such an agent.
    async fn waking(&self, candidates: Vec<InboxItem>) -> Outcome<(Vec<InboxItem>, bool)> {
        let (candidates, held) = self.within_limit(candidates);
        Ok((news::waking(&self.session.client, &self.me, candidates).await?, !held.is_empty()))
    }

    /// What is from agents that may wake the model now, and the rest.
    fn within_limit(&self, candidates: Vec<InboxItem>) -> (Vec<InboxItem>, Vec<InboxItem>) {
        let now = time::now();
        let mut limit = self.limit.borrow_mut();
        limit.refresh(now);
        candidates.into_iter().partition(|item| limit.wait_of(&item.from_agent_id, now).is_none())
    }

    /// Counts a wake for the agents that have caused it.
    fn note_wake(&self, news: &News) {
        self.limit.borrow_mut().note(news.0.iter().map(|item| &item.from_agent_id), time::now());
    }

    /// The name of the profile, for commands in the line.
    fn name(&self) -> &str {
        self.session.profile.as_ref().map_or("", |profile| &profile.name)
    }

    /// Reports the rung, now and again, and the tasks that a session which was alive has just been told.
    async fn report(&self, surfaced: Vec<TaskId>) -> Outcome {
        let provided = self.shown.is_report_due().then_some(true);
        if provided.is_none() && surfaced.is_empty() {
            return Ok(());
        }
        let surfaced = (!surfaced.is_empty()).then_some(surfaced);
        self.session.client.report_reach(&ReportReach { rung: Rung::Hook, provided, surfaced }).await?;
        if provided.is_some() {
            self.shown.reported();
        }
        Ok(())
    }

    /// Reports that the rung is gone, until the next hook of another session reports it again.
    async fn withdraw(&self) -> Outcome {
        self.shown.forget_report();
        self.session.client.report_reach(&ReportReach::provided(Rung::Hook, false)).await?;
        Ok(())
    }
}
