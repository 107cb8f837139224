//! The counters of each node, in its row, for the operator.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

use serde::{Deserialize, Serialize};

use super::Node;
use crate::delivery::bus::{Bus, LinkState};
use crate::hub::HubParts;

/// The counters of one node, or of all together.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Figures {
    pub(crate) sockets: usize,
    pub(crate) streams: usize,
    pub(crate) bus: String,
    pub(crate) bus_ms: Option<f64>,
    pub(crate) draining: bool,
    pub(crate) store: BTreeMap<String, u64>,
}

impl Figures {
    /// What a node has written. A node of another version may write less or more.
    pub(crate) fn of(node: &Node) -> Self {
        serde_json::from_str(&node.figures).unwrap_or_default()
    }

    fn add(&mut self, other: Self) {
        self.sockets += other.sockets;
        self.streams += other.streams;
        for (name, value) in other.store {
            *self.store.entry(name).or_default() += value;
        }
    }
}

impl HubParts {
    /// The counters of this node.
    #[expect(clippy::cast_precision_loss, reason = "a round trip is no precise figure")]
    pub(crate) fn figures(&self) -> Figures {
        let bus = &self.liveness.bus;
        let (sockets, streams) = bus.open();
        let word = match (&**bus, bus.link_state()) {
            (_, Some(LinkState::Hearing)) => "hearing",
            (_, Some(LinkState::NotAllHeard)) => "deaf",
            (_, Some(LinkState::Away)) => "away",
            (Bus::Polling(_), None) => "polling",
            (_, None) => "alone",
        };
        let round_trip = bus.link_figures().map(|figures| figures.round_trip_us.load(Relaxed));
        Figures {
            sockets,
            streams,
            bus: word.into(),
            bus_ms: round_trip.filter(|us| *us > 0).map(|us| us as f64 / 1_000.0),
            draining: self.cluster.is_draining(),
            store: self.db.store().stats().figures().map(|(name, value)| (name.to_owned(), value)).into(),
        }
    }

    /// How many nodes run, and the sums of their counters. Those of other nodes are a few seconds old.
    pub(crate) async fn all_figures(&self) -> Result<(usize, Figures), crate::Error> {
        let mut all = self.figures();
        let nodes = self.cluster.nodes().await?;
        for node in nodes.iter().filter(|node| node.id != *self.cluster.id()) {
            all.add(Figures::of(node));
        }
        Ok((nodes.len().max(1), all))
    }
}
