//! Listeners that resume from where they were, on another node each time. Every event must arrive exactly once, in the
//! order of the log and without a gap.

mod poll;
mod socket;
mod stream;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agents::{Agent, lock};
use crate::cluster::Cluster;
use crate::dice::Dice;
use crate::ledger::{Breach, Ledger, add};
use crate::log::Logged;

/// How long a listener waits before it connects again.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    Socket,
    Stream,
    Poll,
}

/// One resume chain of an agent.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) agent: Arc<Agent>,
    pub(crate) channel: Channel,
    ledger: Arc<Ledger>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: i64,
    /// What arrived and was not compared with the log yet.
    arrived: Vec<Logged>,
    /// Since when it is connected, and to which node.
    connected: Option<(Instant, usize)>,
}

impl Chain {
    pub(crate) fn new(agent: &Arc<Agent>, channel: Channel, ledger: &Arc<Ledger>) -> Arc<Self> {
        let (agent, ledger) = (Arc::clone(agent), Arc::clone(ledger));
        Arc::new(Self { agent, channel, ledger, state: Mutex::default() })
    }

    /// The number of the last event that arrived.
    pub(crate) fn last(&self) -> i64 {
        lock(&self.state).last
    }

    /// Takes what has arrived up to an event.
    pub(crate) fn take_until(&self, cursor: i64) -> Vec<Logged> {
        let mut state = lock(&self.state);
        let count = state.arrived.iter().take_while(|event| event.cursor <= cursor).count();
        state.arrived.drain(..count).collect()
    }

    /// To which node it has been connected for so long, if to any.
    pub(crate) fn connected_for(&self, time: Duration) -> Option<usize> {
        let connected = lock(&self.state).connected;
        connected.filter(|(since, _)| since.elapsed() >= time).map(|(_, node)| node)
    }

    fn set_connected(&self, node: Option<usize>) {
        lock(&self.state).connected = node.map(|node| (Instant::now(), node));
    }

    /// Takes an event in, and notes what is wrong with its number.
    pub(crate) fn receive(&self, event: Logged) {
        let mut state = lock(&self.state);
        let who = format!("{} by {:?}", self.agent.name, self.channel);
        if event.cursor <= state.last {
            self.ledger.breach(Breach::Doubled, format!("{who}: after {} came {event:?} again", state.last));
            return;
        }
        if event.cursor != state.last + 1 {
            self.ledger.breach(Breach::Disordered, format!("{who}: after {} came {event:?}", state.last));
        }
        state.last = event.cursor;
        state.arrived.push(event);
        add(&self.ledger.events_delivered, 1);
    }

    /// Takes a frame of a socket or a stream in.
    fn receive_frame(&self, text: &str) {
        let frame: Value = serde_json::from_str(text).unwrap_or_default();
        // The greeting is no event.
        if frame["type"] != "connected" {
            self.receive(Logged::of_frame(&frame));
        }
    }

    /// Listens for ever. `stay` is how long it stays on one node, in milliseconds; it leaves without a word.
    pub(crate) async fn listen(self: Arc<Self>, cluster: Arc<Cluster>, mut dice: Dice, stay: (usize, usize)) {
        loop {
            let node = &cluster.nodes[dice.below(cluster.nodes.len())];
            let time = dice.ms(stay.0, stay.1);
            let connection = async {
                match self.channel {
                    Channel::Socket => socket::follow(&self, node).await,
                    Channel::Stream => stream::follow(&self, node).await,
                    Channel::Poll => poll::follow(&self, node).await,
                }
            };
            // How it ended does not matter: the next connection resumes.
            let _ = tokio::time::timeout(time, connection).await;
            self.set_connected(None);
            add(&self.ledger.reconnects, 1);
            tokio::time::sleep(PAUSE).await;
        }
    }
}
