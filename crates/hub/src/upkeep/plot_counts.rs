//! What is counted for the plots of the dashboard, until it is written to the database: once a minute, and when the hub stops.
//! A hub that is killed loses a minute of its figures.
//!
//! Memory is bounded: at most [`AGENTS_MAX`] agents are counted between two writes; further ones are left out.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tandem_app::figures::{self, Counted, Figure};
use tandem_core::AgentId;
use tandem_store::EventNotice;

use crate::hub::HubParts;

/// Agents that are counted at the same time.
pub const AGENTS_MAX: usize = 10_000;
/// Rows that one transaction writes.
const ROWS_MAX: usize = 200;
const MEGABYTE: u64 = 1_000_000;
/// How long the disk is waited for.
const DISK_WITHIN: Duration = Duration::from_secs(2);

/// What was counted since the last write.
#[derive(Debug, Default)]
pub struct PlotCounts {
    of_agents: Mutex<HashMap<AgentId, HashMap<Figure, i64>>>,
    events: AtomicI64,
    answers: AtomicI64,
    failures: AtomicI64,
}

impl PlotCounts {
    fn lock(&self) -> MutexGuard<'_, HashMap<AgentId, HashMap<Figure, i64>>> {
        self.of_agents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts events that were written to agents' logs.
    pub fn count_events(&self, notices: &[EventNotice]) {
        self.events.fetch_add(i64::try_from(notices.len()).unwrap_or(0), Relaxed);
        let mut of_agents = self.lock();
        for notice in notices {
            add(&mut of_agents, &notice.agent, Figure::Events);
        }
    }

    /// Counts an attempt of a webhook.
    pub fn count_attempt(&self, agent: &AgentId, delivered: bool) {
        add(&mut self.lock(), agent, if delivered { Figure::Delivered } else { Figure::Undelivered });
    }

    /// Counts an answer.
    pub fn count_answer(&self, is_failure: bool) {
        self.answers.fetch_add(1, Relaxed);
        self.failures.fetch_add(i64::from(is_failure), Relaxed);
    }

    fn of_hub(&self) -> [(Figure, &AtomicI64); 3] {
        [(Figure::Events, &self.events), (Figure::Answers, &self.answers), (Figure::Failures, &self.failures)]
    }

    /// What was counted and is not written yet.
    pub(crate) fn unwritten(&self, of: Option<&AgentId>, figure: Figure) -> i64 {
        match of {
            None => self.of_hub().iter().find(|one| one.0 == figure).map_or(0, |one| one.1.load(Relaxed)),
            Some(agent) => {
                self.lock().get(agent).and_then(|counts| counts.get(&figure)).copied().unwrap_or(0)
            }
        }
    }

    /// Everything, so that the next write begins at nothing.
    fn take(&self) -> Vec<Counted> {
        let of_agents = std::mem::take(&mut *self.lock());
        let of_agents = of_agents.into_iter().flat_map(|(agent, counts)| {
            counts.into_iter().map(move |(figure, value)| Counted { of: Some(agent.clone()), figure, value })
        });
        let of_hub = self.of_hub().map(|(figure, count)| (figure, count.swap(0, Relaxed)));
        let of_hub = of_hub.into_iter().filter(|one| one.1 > 0);
        of_hub.map(|(figure, value)| Counted { of: None, figure, value }).chain(of_agents).collect()
    }
}

fn add(of_agents: &mut HashMap<AgentId, HashMap<Figure, i64>>, agent: &AgentId, figure: Figure) {
    if let Some(counts) = of_agents.get_mut(agent) {
        *counts.entry(figure).or_default() += 1;
    } else if of_agents.len() < AGENTS_MAX {
        of_agents.insert(agent.clone(), HashMap::from([(figure, 1)]));
    }
}

/// Free and all megabytes of the disk with a folder, if the system tells. A disk of the network may not answer, so nothing
/// but this waits for it.
pub(crate) async fn disk(folder: &Path) -> Option<(i64, i64)> {
    let folder = folder.to_owned();
    let looking = tokio::task::spawn_blocking(move || rustix::fs::statvfs(&folder).ok());
    let found = tokio::time::timeout(DISK_WITHIN, looking).await.ok()?.ok()??;
    let megabytes = |blocks: u64| i64::try_from(blocks.saturating_mul(found.f_frsize) / MEGABYTE).ok();
    Some((megabytes(found.f_bavail)?, megabytes(found.f_blocks)?))
}

impl HubParts {
    /// Writes what was counted, and removes what is old. `minutes` says how many minutes the hub has run since the last write.
    pub(crate) async fn write_plot_counts(&self, minutes: i64) -> Result<(), tandem_app::Error> {
        let mut rows = self.plot_counts.take();
        let of_hub = |figure, value| Counted { of: None, figure, value };
        if minutes > 0 {
            rows.push(of_hub(Figure::Minutes, minutes));
        }
        if let Some((free, _)) = disk(&self.config.data).await {
            rows.push(of_hub(Figure::FreeDisk, free));
        }
        for part in rows.chunks(ROWS_MAX) {
            let part = part.to_vec();
            self.db.write(move |tx, now| figures::add(tx, &part, now.at)).await?;
        }
        while self.db.write(|tx, now| figures::sweep(tx, now.at)).await? {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_does_not_grow_with_the_number_of_agents() {
        let figures = PlotCounts::default();
        for number in 0..2 * AGENTS_MAX {
            figures.count_attempt(&format!("agent_{number}").parse().unwrap(), true);
        }
        assert_eq!(figures.unwritten(Some(&"agent_0".parse().unwrap()), Figure::Delivered), 1);
        assert_eq!(figures.take().len(), AGENTS_MAX);
        assert_eq!(figures.take().len(), 0);
    }

    #[test]
    fn failures_are_answers_too() {
        let figures = PlotCounts::default();
        figures.count_answer(false);
        figures.count_answer(true);
        let counted = |figure| figures.unwritten(None, figure);
        assert_eq!((counted(Figure::Answers), counted(Figure::Failures)), (2, 1));
    }
}
