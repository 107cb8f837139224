//! Figures for the plots of the dashboard: counts by half hour, how long requests waited at a gate, what became of tasks. All
//! of them are read from an index and up to a limit, however much is stored.

use std::collections::BTreeMap;

use tandem_core::{AgentId, Status, Task, TaskId, Timestamp, Verdict};
use tandem_store::{Tx, agents, decisions, figures as rows, tasks};

pub use tandem_store::tasks::PastMove;

use crate::Error;

/// The length of a step.
pub const STEP_MS: i64 = 1_800_000;
/// Steps that are kept of an agent, and of the hub: two days, and three months.
const AGENT_STEPS: i64 = 96;
const HUB_STEPS: i64 = 48 * 90;
/// Rows that one pass removes.
const SWEPT_MAX: i64 = 500;
/// Decisions that are looked at for a plot.
const DECISIONS_MAX: i64 = 5_000;
/// Ended tasks of each status that are looked at for a plot.
const ENDED_MAX: i64 = 2_000;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Figure {
    /// Events written to logs.
    Events,
    /// Attempts of a webhook that got through.
    Delivered,
    /// Attempts of a webhook that did not.
    Undelivered,
    /// Answers to requests.
    Answers,
    /// Answers that say that the hub failed.
    Failures,
    /// Minutes in which a hub ran: where there are none, nothing is known.
    Minutes,
    /// Free megabytes of the disk with the data. A measure, not a count.
    FreeDisk,
}

impl Figure {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Delivered => "delivered",
            Self::Undelivered => "undelivered",
            Self::Answers => "answers",
            Self::Failures => "failures",
            Self::Minutes => "minutes",
            Self::FreeDisk => "free-disk",
        }
    }
}

/// The step of a moment.
#[must_use]
pub fn step(at: Timestamp) -> Timestamp {
    Timestamp(at.0.div_euclid(STEP_MS) * STEP_MS)
}

/// A figure of an agent, or of the hub.
#[derive(Debug, Clone)]
pub struct Counted {
    /// None for the hub.
    pub of: Option<AgentId>,
    pub figure: Figure,
    pub value: i64,
}

/// Adds what was counted to the step of now.
pub fn add(tx: &mut Tx<'_>, counted: &[Counted], now: Timestamp) -> Result<(), Error> {
    for one in counted {
        let (subject, kind) = (one.of.as_ref().map_or("", AgentId::as_str), one.figure.as_str());
        match one.figure {
            Figure::FreeDisk => rows::set(tx, subject, kind, step(now), one.value)?,
            _ => rows::add(tx, subject, kind, step(now), one.value)?,
        }
    }
    Ok(())
}

/// The counts of one figure since a time, oldest first.
pub fn since(
    tx: &mut Tx<'_>,
    of: Option<&AgentId>,
    figure: Figure,
    since: Timestamp,
) -> Result<BTreeMap<Timestamp, i64>, Error> {
    let subject = of.map_or("", AgentId::as_str);
    Ok(rows::since(tx, subject, figure.as_str(), since, HUB_STEPS)?.into_iter().collect())
}

/// Removes old counts, one pass; true if there may be more.
pub fn sweep(tx: &mut Tx<'_>, now: Timestamp) -> Result<bool, Error> {
    let (of_agents, of_hub) =
        (step(now).plus_ms(-AGENT_STEPS * STEP_MS), step(now).plus_ms(-HUB_STEPS * STEP_MS));
    Ok(rows::sweep(tx, of_agents, of_hub, SWEPT_MAX)? > 0)
}

/// When requests at the caller's gate were decided, and when they came; the newest first.
pub fn waits(
    tx: &mut Tx<'_>,
    by: &AgentId,
    since: Timestamp,
) -> Result<Vec<(Timestamp, Option<Timestamp>, Verdict)>, Error> {
    Ok(decisions::waits(tx, by, since, DECISIONS_MAX)?)
}

/// What became of tasks that the caller sent to one agent.
#[derive(Debug, Clone)]
pub struct Outcomes {
    pub peer: AgentId,
    pub name: String,
    /// How many ended in which status.
    pub ended: BTreeMap<Status, i64>,
}

impl Outcomes {
    #[must_use]
    pub fn total(&self) -> i64 {
        self.ended.values().sum()
    }
}

/// What became of the caller's tasks that were created since a time, by their targets: those with the most tasks first.
pub fn outcomes(
    tx: &mut Tx<'_>,
    by: &AgentId,
    since: Timestamp,
    limit: usize,
) -> Result<Vec<Outcomes>, Error> {
    let mut peers: BTreeMap<AgentId, BTreeMap<Status, i64>> = BTreeMap::new();
    for status in Status::ALL.into_iter().filter(|status| status.is_terminal()) {
        for (peer, count) in tasks::ended_by_target(tx, by, status, since, ENDED_MAX)? {
            *peers.entry(peer).or_default().entry(status).or_default() += count;
        }
    }
    let mut found: Vec<Outcomes> =
        peers.into_iter().map(|(peer, ended)| Outcomes { peer, name: String::new(), ended }).collect();
    found.sort_by_key(|one| std::cmp::Reverse(one.total()));
    found.truncate(limit);
    for one in &mut found {
        one.name =
            agents::find(tx, &one.peer)?.map_or_else(|| "deleted agent".to_owned(), |agent| agent.name);
    }
    Ok(found)
}

/// The oldest live tasks of the caller, without their contents.
pub fn oldest(tx: &mut Tx<'_>, by: &AgentId, limit: i64) -> Result<Vec<Task>, Error> {
    Ok(tasks::oldest_live(tx, by, limit)?)
}

/// What happened to some tasks: the newest moves of each, oldest first, and when each was decided at a gate.
#[derive(Debug, Clone, Default)]
pub struct Past {
    pub moves: Vec<PastMove>,
    pub decided: Vec<Timestamp>,
}

/// The past of those of the tasks that an agent is a party of; of all of them for the operator, who sees no content here.
pub fn pasts(
    tx: &mut Tx<'_>,
    party: Option<&AgentId>,
    ids: &[TaskId],
) -> Result<BTreeMap<TaskId, Past>, Error> {
    let mut pasts: BTreeMap<TaskId, Past> = BTreeMap::new();
    for line in tasks::past_moves(tx, party, ids)? {
        pasts.entry(line.task.clone()).or_default().moves.push(line);
    }
    for (task, at) in decisions::times_of(tx, ids)? {
        if let Some(past) = pasts.get_mut(&task) {
            past.decided.push(at);
        }
    }
    Ok(pasts)
}
