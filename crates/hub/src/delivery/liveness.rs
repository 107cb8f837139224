//! Presence: which agents are connected, and when they were last seen. Beside other nodes, what they know counts as well.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tandem_api::agents::Presence;
use tandem_core::agents::{Agent, Reach};
use tandem_core::{AgentId, Timestamp};

use crate::clock::Clock;
use crate::delivery::bus::Bus;

/// How long an agent counts as online after a request.
pub(crate) const ONLINE_MS: i64 = 60_000;
/// How old the request may be that other nodes know of.
const SHARED_AGE_MS: i64 = 20_000;
/// Number of agents in memory before those not seen recently are removed.
const REMEMBERED_MAX: usize = 100_000;

/// The last request of an agent, and whether it is stored in the database.
#[derive(Debug, Clone, Copy)]
struct LastRequest {
    at: Timestamp,
    /// When its last connection ended.
    ended_at: Option<Timestamp>,
    written: bool,
    /// The request that other nodes know of.
    shared_at: Timestamp,
}

/// What other nodes know of an agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elsewhere {
    pub(crate) open: Option<Reach>,
    pub(crate) seen_at: Timestamp,
}

/// Connected agents and their last requests.
#[derive(Debug)]
pub struct Liveness {
    /// Open sockets, streams and long polls.
    pub bus: Arc<Bus>,
    clock: Clock,
    requests: Mutex<HashMap<AgentId, LastRequest>>,
}

impl Liveness {
    pub(crate) fn new(bus: Arc<Bus>, clock: Clock) -> Self {
        Self { bus, clock, requests: Mutex::default() }
    }

    pub fn record_request(&self, agent: &AgentId, now: Timestamp) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = requests.get_mut(agent) {
            (last.at, last.written) = (now, false);
            if now.ms_since(last.shared_at) >= SHARED_AGE_MS
                && let Some(changes) = self.bus.presence_changes()
            {
                last.shared_at = now;
                drop(requests);
                changes.add(agent);
            }
            return;
        }
        if requests.len() >= REMEMBERED_MAX {
            requests.retain(|_, last| now.ms_since(last.at) < ONLINE_MS);
        }
        if requests.len() < REMEMBERED_MAX {
            requests.insert(
                agent.clone(),
                LastRequest { at: now, ended_at: None, written: false, shared_at: now },
            );
            drop(requests);
            if let Some(changes) = self.bus.presence_changes() {
                changes.add(agent);
            }
        }
    }

    /// The presence of an agent, by what this node knows and what others do.
    pub(crate) fn presence(&self, agent: &Agent, elsewhere: Option<&Elsewhere>) -> Presence {
        let now = self.clock.now();
        let there = elsewhere.and_then(|elsewhere| elsewhere.open);
        // The best way comes first.
        let open = self.bus.reach(&agent.id).into_iter().chain(there).min();
        let last_request = self.last_request(&agent.id).max(elsewhere.map(|elsewhere| elsewhere.seen_at));
        let last_seen_at = match open {
            Some(_) => Some(now),
            None => last_request.max(self.last_ended(&agent.id)).max(agent.last_seen_at),
        };
        let reach = agent.reach(open, last_seen_at, now);
        let reach_confirmed_at = reach.rung().and_then(|rung| agent.wake.report(rung).worked_at);
        let online = open.is_some() || last_request.is_some_and(|at| now.ms_since(at) < ONLINE_MS);
        Presence { online, last_seen_at, reach, reach_confirmed_at }
    }

    pub(crate) fn last_request(&self, agent: &AgentId) -> Option<Timestamp> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).get(agent).map(|request| request.at)
    }

    /// When the agent's last connection ended.
    fn last_ended(&self, agent: &AgentId) -> Option<Timestamp> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).get(agent)?.ended_at
    }

    /// Notes that a connection of an agent has ended: until now it was there, however long ago its request was.
    pub(crate) fn record_end(&self, agent: &AgentId) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = requests.get_mut(agent) {
            (last.ended_at, last.written) = (Some(self.clock.now()), false);
        }
    }

    /// Requests that are not stored in the database yet. They count as stored from now on.
    #[must_use]
    pub fn take_unwritten(&self, limit: usize) -> Vec<(AgentId, Timestamp)> {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let unwritten = requests.iter_mut().filter(|(_, request)| !request.written).take(limit);
        unwritten
            .map(|(agent, request)| {
                request.written = true;
                (agent.clone(), request.ended_at.map_or(request.at, |ended| ended.max(request.at)))
            })
            .collect()
    }

    /// Forgets an agent whose account is deleted.
    pub(crate) fn forget(&self, agent: &AgentId) {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).remove(agent);
    }

    /// Number of agents that are online: with something open, or with a request in the last minute.
    #[must_use]
    pub fn online_count(&self) -> usize {
        let now = self.clock.now();
        let mut online = self.bus.connected();
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = requests.iter().filter(|(_, last)| now.ms_since(last.at) < ONLINE_MS);
        online.extend(recent.map(|(agent, _)| agent.clone()));
        online.len()
    }
}
