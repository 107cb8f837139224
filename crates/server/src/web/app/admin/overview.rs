//! The operator's overview: what needs a look, and how the hub is. It never shows the content of tasks.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use tandem_api::admin::Overview;
use tandem_core::{Approval, Role, Status, TaskId, Timestamp, Waits};
use tandem_hub::Hub;
use tandem_hub::ops::admin::{self, Attention, BrokenWebhook, OldTask};
use tandem_hub::ops::figures::{self, Figure, Past, Series};

use super::super::drawing::Bars;
use super::super::people::Party;
use super::super::thread::mini_life::MiniLife;
use super::super::words::{self, StatusMark, When, thousands};
use super::super::{Operator, Page, Shell, filters, html};
use super::{Fact, task_mark};

/// A request that waits longer at a gate is worth a word with its owner.
const LONG_MS: i64 = 86_400_000;
/// Less of the disk than this part is little.
const LITTLE_DISK_PERCENT: i64 = 10;

/// Something that the operator should look at.
struct Concern {
    icon: &'static str,
    tone: &'static str,
    verb: &'static str,
    agent: Option<String>,
    detail: String,
    since: Option<When>,
    href: &'static str,
}

/// An old task, by whose it is and where it stands.
struct Old {
    id: TaskId,
    mark: StatusMark,
    edge: &'static str,
    from: Party,
    to: Party,
    life: Option<MiniLife>,
    age: String,
}

#[derive(Template)]
#[template(path = "app/admin.html")]
struct OverviewPage {
    shell: Shell,
    concerns: Vec<Concern>,
    events: Bars,
    failures: Bars,
    disk: Option<(i64, i64)>,
    oldest: Vec<Old>,
    health: Vec<Fact>,
    limits: Vec<Fact>,
    counted: When,
}

impl OverviewPage {
    /// How many of ten thousand answers failed, as a share.
    fn error_share(&self) -> String {
        let all = self.failures.good + self.failures.bad;
        let share = self.failures.bad * 10_000 / all.max(1);
        format!("{}.{:02} %", share / 100, share % 100)
    }

    fn peak(&self) -> String {
        thousands(self.events.max)
    }

    fn errors(&self) -> String {
        match self.failures.bad {
            0 => "None of them says that the hub failed.".to_owned(),
            1 => "One says that the hub failed.".to_owned(),
            many => format!("{} say that the hub failed.", thousands(many)),
        }
    }

    fn disk_note(&self) -> String {
        match self.disk {
            None => "The system does not tell.".to_owned(),
            Some((free, all)) => format!("of {}, {} % free", gigabytes(all), free * 100 / all.max(1)),
        }
    }

    fn free(&self) -> String {
        self.disk.map_or_else(|| "–".to_owned(), |disk| gigabytes(disk.0))
    }
}

fn gigabytes(megabytes: i64) -> String {
    match megabytes {
        ..10_000 => format!("{}.{} GB", megabytes / 1_000, megabytes % 1_000 / 100),
        _ => format!("{} GB", thousands(megabytes / 1_000)),
    }
}

pub(super) async fn page(State(hub): State<Hub>, operator: Operator) -> Page {
    let shell = Shell::of_operator(&hub, &operator, "").await?;
    let found = admin::overview(&hub).await?;
    let attention = admin::attention(&hub).await?;
    let trouble = admin::check_ready(&hub).await.err().map(|error| error.to_string());
    let ids = attention.oldest.iter().map(|task| task.id.clone()).collect();
    let pasts = figures::pasts_for_operator(&hub, ids).await?;
    let wanted = [Figure::Events, Figure::Answers, Figure::Failures];
    let [events, answers, failures] = figures::of_hub(&hub, wanted).await?;
    let page = OverviewPage {
        concerns: concerns(trouble, &attention, &shell),
        events: Bars::of(&events, &Series::default(), shell.now),
        failures: Bars::of(&without(&answers, &failures), &failures, shell.now),
        disk: attention.disk_mb,
        oldest: attention.oldest.iter().map(|task| old(task, &pasts, &shell)).collect(),
        health: health(&found, &shell),
        limits: limits(&hub),
        counted: shell.when(&found.counted_at),
        shell,
    };
    html(StatusCode::OK, &page)
}

/// Answers that are no failures.
fn without(answers: &Series, failures: &Series) -> Series {
    let pairs = answers.values.iter().zip(&failures.values);
    let values = pairs.map(|(all, bad)| all.map(|all| (all - bad.unwrap_or(0)).max(0)));
    Series { from: answers.from, values: values.collect() }
}

fn concerns(trouble: Option<String>, attention: &Attention, shell: &Shell) -> Vec<Concern> {
    let mut found = Vec::new();
    if let Some(detail) = trouble {
        let (verb, href) = ("Repair the hub: it is not ready", "/app/admin/storage");
        found.push(Concern { icon: "warn", tone: "bad", verb, agent: None, detail, since: None, href });
    }
    if let Some((free, all)) = attention.disk_mb
        && free * 100 < all * LITTLE_DISK_PERCENT
    {
        let detail = format!("{} of {} are free.", gigabytes(free), gigabytes(all));
        let (verb, href) = ("Make room on the disk", "/app/admin/storage");
        found.push(Concern { icon: "disk", tone: "wait", verb, agent: None, detail, since: None, href });
    }
    found.extend(attention.broken_webhooks.iter().map(|hook| broken(hook, shell)));
    let is_long = |task: &&OldTask| {
        task.approval == Some(Approval::Pending)
            && task.status == Status::Submitted
            && shell.now.ms_since(task.created_at) > LONG_MS
    };
    found.extend(attention.oldest.iter().filter(is_long).map(|task| Concern {
        icon: "gate",
        tone: "wait",
        verb: "Remind the owner: a task waits at the gate of",
        agent: Some(task.target_name.clone()),
        detail: format!("for {}", words::length(shell.now.ms_since(task.created_at))),
        since: Some(shell.when(&task.created_at)),
        href: "/app/admin/tasks",
    }));
    found
}

fn broken(hook: &BrokenWebhook, shell: &Shell) -> Concern {
    let (verb, detail) = if hook.active {
        ("Tell the owner: the webhook fails of", "It is tried again; after a day it is switched off.")
    } else {
        ("Tell the owner: the webhook is off of", "It failed for a day. Events wait in the log.")
    };
    Concern {
        icon: "hook",
        tone: "bad",
        verb,
        agent: Some(hook.name.clone()),
        detail: detail.to_owned(),
        since: hook.failing_since.map(|at| shell.when(&at)),
        href: "/app/admin/deliveries",
    }
}

fn old(task: &OldTask, pasts: &BTreeMap<TaskId, Past>, shell: &Shell) -> Old {
    let is_silent = task.stalled_at.is_some();
    let is_held = task.approval == Some(Approval::Pending);
    Old {
        id: task.id.clone(),
        mark: task_mark(task.status, task.approval, is_silent),
        edge: if is_silent || is_held { "amber" } else { "" },
        from: Party::new(&task.initiator, &task.initiator_name, shell),
        to: Party::new(&task.target, &task.target_name, shell),
        life: pasts.get(&task.id).map(|past| life(task, past, shell.now)),
        age: words::length(shell.now.ms_since(task.created_at)),
    }
}

fn life(task: &OldTask, past: &Past, now: Timestamp) -> MiniLife {
    let waits = match task.approval {
        Some(Approval::Pending) if task.status == Status::Submitted => Waits::Approval,
        _ => Waits::Work,
    };
    MiniLife::drawn(past, (waits, task.stalled_at, None), Role::Target, now)
}

fn health(found: &Overview, shell: &Shell) -> Vec<Fact> {
    let figure = |name: &str| {
        thousands(i64::try_from(found.store.get(name).copied().unwrap_or(0)).unwrap_or(i64::MAX))
    };
    let open = Status::ALL.into_iter().filter(|status| status.is_live());
    let open: i64 = open.filter_map(|status| found.tasks.get(status.as_str())).sum();
    let online = thousands(i64::try_from(found.agents_online).unwrap_or(i64::MAX));
    vec![
        Fact::new("Version", found.version.as_str()),
        Fact::new("Database", found.database.as_str()),
        Fact::new("Started", shell.when(&found.started_at).relative),
        Fact::new("Agents", format!("{}, {online} online", thousands(found.agents))),
        Fact::new("Open tasks", thousands(open)),
        Fact::new("Messages", thousands(found.messages)),
        Fact::new("Events in all logs", thousands(found.events)),
        Fact::new("Connections of agents", thousands(found.connections)),
        Fact::new("Open sockets and streams", format!("{} and {}", found.open_sockets, found.open_streams)),
        Fact::new("Writes and reads", format!("{} and {}", figure("writes"), figure("reads"))),
    ]
}

fn limits(hub: &Hub) -> Vec<Fact> {
    let config = &hub.config;
    let per_minute = |limit: u32| if limit == 0 { "off".to_owned() } else { format!("{limit} per minute") };
    vec![
        Fact::new("Requests of an agent", per_minute(config.rate_limit_max)),
        Fact::new("Registrations of an address", per_minute(config.rate_limit_register_max)),
        Fact::new("Directory searches", per_minute(config.rate_limit_discover_max)),
        Fact::new("Messages on a task", per_minute(config.max_messages_per_minute)),
        Fact::new("Memory for clients", format!("{} MB", config.memory_budget_mb)),
    ]
}
