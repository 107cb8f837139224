//! The counts of a run.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::Serialize;

use crate::faults::Fault;
use crate::ledger::{Breach, Ledger};

/// Everything that was counted.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    seed: u64,
    nodes: usize,
    seconds: f64,
    writes_answered: u64,
    writes_repeated: u64,
    races: u64,
    tasks_checked: u64,
    events_delivered: u64,
    reconnects: u64,
    webhooks_received: u64,
    timers_fired: u64,
    keys_rotated: u64,
    refusals_of_ended_keys: u64,
    ended_keys_taken_in_time: u64,
    presence_checks: u64,
    faults: Vec<(Fault, usize)>,
    kills: usize,
    partitions: usize,
    lost: usize,
    doubled: usize,
    breaches_count: u64,
    breaches: Vec<(Breach, String)>,
}

impl Report {
    pub(crate) fn new(
        seed: u64,
        nodes: usize,
        seconds: f64,
        ledger: &Ledger,
        faults: Vec<(Fault, usize)>,
    ) -> Self {
        let counter = |counter: &AtomicU64| counter.load(Relaxed);
        let breaches = ledger.breaches();
        let of = |kind: Breach| breaches.iter().filter(|(breach, _)| *breach == kind).count();
        let sum = |of: fn(Fault) -> bool| faults.iter().filter(|(fault, _)| of(*fault)).map(|(_, n)| n).sum();
        Self {
            seed,
            nodes,
            seconds,
            writes_answered: counter(&ledger.writes_answered),
            writes_repeated: counter(&ledger.writes_repeated),
            races: counter(&ledger.races),
            tasks_checked: counter(&ledger.tasks_checked),
            events_delivered: counter(&ledger.events_delivered),
            reconnects: counter(&ledger.reconnects),
            webhooks_received: counter(&ledger.webhooks_received),
            timers_fired: counter(&ledger.timers_fired),
            keys_rotated: counter(&ledger.keys_rotated),
            refusals_of_ended_keys: counter(&ledger.refusals_of_ended_keys),
            ended_keys_taken_in_time: counter(&ledger.ended_keys_taken_in_time),
            presence_checks: counter(&ledger.presence_checks),
            kills: sum(|fault| {
                matches!(fault, Fault::NodeKilled | Fault::NatsKilled | Fault::PostgresCrashed)
            }),
            partitions: sum(Fault::is_partition),
            lost: of(Breach::Lost),
            doubled: of(Breach::Doubled),
            breaches_count: ledger.breaches_count(),
            faults,
            breaches,
        }
    }

    /// Whether everything held.
    pub(crate) fn is_clean(&self) -> bool {
        self.breaches_count == 0
    }

    pub(crate) fn table(&self) -> String {
        let mut text = format!("{} nodes, {:.0} s, seed {}\n\n", self.nodes, self.seconds, self.seed);
        let rows = [
            ("writes answered", self.writes_answered),
            ("of these repeated with their idempotency key", self.writes_repeated),
            ("races for a task", self.races),
            ("tasks checked", self.tasks_checked),
            ("events delivered to resume chains", self.events_delivered),
            ("connections resumed", self.reconnects),
            ("webhook requests received", self.webhooks_received),
            ("timers fired", self.timers_fired),
            ("keys rotated", self.keys_rotated),
            ("refusals of ended keys", self.refusals_of_ended_keys),
            ("writes with ended keys on other nodes within the allowed 2 s", self.ended_keys_taken_in_time),
            ("presence checks", self.presence_checks),
        ];
        for (what, count) in rows {
            let _ = writeln!(text, "{count:>10}  {what}");
        }
        text.push('\n');
        for (fault, count) in &self.faults {
            let _ = writeln!(text, "{count:>10}  {}", fault.title());
        }
        let _ = writeln!(
            text,
            "\nkills {}, partitions {}, lost {}, doubled {}, breaches {}",
            self.kills, self.partitions, self.lost, self.doubled, self.breaches_count
        );
        for (breach, what) in &self.breaches {
            let _ = writeln!(text, "  {breach:?}: {what}");
        }
        text
    }
}
