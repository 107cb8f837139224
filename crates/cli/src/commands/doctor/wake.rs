//! `tandem doctor --wake`: sends the agent a task and measures when a model is shown it, and by which rung of the wake
//! ladder. A temporary agent sends it, which is removed afterwards with all that it made.

use std::time::Duration;

use tandem_api::agents::ReachView;
use tandem_api::connections::RedeemCode;
use tandem_api::tasks::{CreateTask, Delivery};
use tandem_client::Client;
use tandem_core::wake::Rung;
use tandem_core::{TaskId, Timestamp};
use tokio::time::Instant;

use super::Report;
use crate::commands::{scripted_agent, setup};
use crate::exit::{Failure, Outcome};
use crate::output;
use crate::profiles::Profiles;
use crate::signals::Signals;
use crate::terminal::{text, time};

/// How often the hub is asked how far the probe has come. The times themselves are the hub's.
const ASK_EVERY: Duration = Duration::from_millis(200);
const TITLE: &str = "Wake probe of tandem doctor: nothing to do";
const REMOVE: &str = "`tandem connections` shows the agent Tandem doctor: remove it";

/// What can be done if no model saw the probe.
fn advice(has_hooks: bool) -> &'static str {
    match has_hooks {
        true => {
            "the hooks are set up: is a session of the tool open, and has it been told to use them (`/hooks` in Codex)? \
             A session of Codex with --no-daemon is woken only after its model has used a tool of Tandem once. \
             `tandem setup status` compares the files; `tandem run` starts a worker without a tool"
        }
        false => {
            "`tandem setup --hooks` installs what wakes a coding tool, and `--allow-tools` what lets its model answer; a session \
             of Codex with --no-daemon is woken only after its model has used a tool of Tandem once; `tandem run` starts a \
             worker"
        }
    }
}

/// What the probe has shown so far.
struct Progress {
    delivery: Delivery,
    reach: ReachView,
}

/// Probes the ladder. The task is on its way for at most `patience`.
pub(super) async fn check(
    report: &mut Report,
    client: &Client,
    patience: Duration,
    profiles: &Profiles,
    profile: Option<&str>,
) {
    let others: Vec<String> = profiles.names().unwrap_or_default();
    let others: Vec<&str> = others.iter().map(String::as_str).filter(|name| Some(*name) != profile).collect();
    if !others.is_empty() {
        let detail = format!(
            "only this agent is probed, not {}: `tandem doctor --wake --agent NAME`",
            others.join(", ")
        );
        report.note("agents", detail);
    }
    let has_hooks = profile.is_some_and(|name| setup::has_hooks(profiles, name));
    let before = match client.reach().await {
        Ok(reach) => reach,
        Err(error) => return report.failure("wake", &error.into(), "install the same version on the hub"),
    };
    report.ok("reach", format!("others see: {}", before.reach.as_str()));
    // From here on a signal must not end the process at once: the guest would stay.
    let mut signals = match Signals::new() {
        Ok(signals) => signals,
        Err(error) => return report.failure("wake probe", &error.into(), "try again later"),
    };
    let guest = match guest_of(client).await {
        Ok(guest) => guest,
        Err(failure) => return report.failure("wake probe", &failure, "try again later"),
    };
    let (probed, ended_by) = tokio::select! {
        probed = probe(client, &guest, &before, patience) => (Some(probed), None),
        code = signals.next() => (None, Some(code)),
    };
    // The guest goes with its connection and its task, whatever happened.
    let deleted = tokio::select! {
        deleted = guest.delete_agent() => deleted.map_err(Failure::from),
        _ = signals.next() => Err(Failure::refused("the probe was not cleared away")),
    };
    if let Err(failure) = &deleted {
        report.failure("wake probe", failure, REMOVE);
    }
    if let Some(code) = ended_by {
        if let Err(failure) = deleted {
            output::report!("{}: {REMOVE}", text::line(failure.what()));
        }
        std::process::exit(code);
    }
    let Some(probed) = probed else { return };
    match probed {
        Ok(progress) => describe(report, &before, &progress, patience, has_hooks),
        Err(failure) => report.failure("wake probe", &failure, "try again later"),
    }
}

/// A temporary agent.
async fn guest_of(client: &Client) -> Outcome<Client> {
    let hub = Client::new(client.hub().clone())?.with_patience(Duration::ZERO);
    let (_, key) = scripted_agent::register(&hub, "Tandem doctor", "probes how an agent is woken").await?;
    Ok(hub.with_key(key.as_str()))
}

async fn probe(client: &Client, guest: &Client, before: &ReachView, patience: Duration) -> Outcome<Progress> {
    let code = client.create_pairing_code().await?.code.as_str().to_owned();
    let code = code.try_into().map_err(|unfit| Failure::refused(format!("{unfit}")))?;
    guest.redeem_pairing_code(&RedeemCode { code }).await?;
    let me = client.profile().await?.id.to_string();
    let unfit = |unfit: tandem_core::text::Unfit| Failure::refused(unfit.to_string());
    let target = me.try_into().map_err(unfit)?;
    let task = CreateTask::new(target, TITLE.to_owned().try_into().map_err(unfit)?);
    let task = guest.create_task(&task).await?.id;
    let until = Instant::now() + patience;
    loop {
        let progress = progress(client, guest, &task).await?;
        let expected = |rung: &&tandem_api::agents::RungView| {
            rung.provided_until.is_some() && [Rung::Channel, Rung::Hook].contains(&rung.rung)
        };
        let is_done = before.rungs.iter().filter(expected).count() > 0
            && before.rungs.iter().filter(expected).all(|rung| worked_after(&progress, rung.rung).is_some());
        if is_done || Instant::now() > until {
            return Ok(progress);
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
}

async fn progress(client: &Client, guest: &Client, task: &TaskId) -> Outcome<Progress> {
    // In this order: what a rung has reported, the task shows afterwards.
    let reach = client.reach().await?;
    Ok(Progress { delivery: guest.task(task).await?.delivery, reach })
}

/// How long after the task was sent a rung has worked.
fn worked_after(progress: &Progress, rung: Rung) -> Option<i64> {
    let sent = progress.delivery.queued_at?;
    let worked = progress.reach.rungs.iter().find(|one| one.rung == rung)?.last_worked_at?;
    (worked >= sent).then(|| worked.ms_since(sent))
}

fn describe(
    report: &mut Report,
    before: &ReachView,
    progress: &Progress,
    patience: Duration,
    has_hooks: bool,
) {
    let sent = progress.delivery.queued_at;
    let after = |at: Option<Timestamp>| Some(at?.ms_since(sent?));
    for (check, at) in [("pushed", progress.delivery.pushed_at), ("fetched", progress.delivery.fetched_at)] {
        if let Some(ms) = after(at) {
            report.ok(check, format!("to a program of yours after {ms} ms"));
        }
    }
    for rung in &before.rungs {
        let name = rung.rung.as_str();
        let last = rung.last_worked_at.map(|at| format!("last worked {}", time::relative(at, time::now())));
        let last = last.unwrap_or_else(|| "never seen to work".to_owned());
        match (worked_after(progress, rung.rung), rung.provided_until, rung.rung) {
            (Some(ms), _, _) => report.ok(name, format!("showed the probe to a model after {ms} ms")),
            (None, Some(_), Rung::Runner) => {
                report
                    .ok(name, format!("runs; it takes no tasks of strangers, so it was not probed; {last}"));
            }
            (None, Some(_), Rung::Channel | Rung::Hook) => {
                let detail = format!("did not show the probe within {} s; {last}", patience.as_secs());
                report.warning(name, detail, "is its tool open, and at work?");
            }
            (None, Some(_), Rung::LongPoll | Rung::Pull) => {
                report.ok(name, format!("the model sees news when it asks; {last}"));
            }
            (None, None, _) => report.note(name, format!("no program provides it; {last}")),
        }
    }
    if progress.delivery.surfaced_at.is_none() {
        let detail = format!("no model saw the probe within {} s", patience.as_secs());
        report.warning("wake", detail, advice(has_hooks));
    }
}
