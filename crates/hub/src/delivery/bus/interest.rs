//! Which agents' wake-ups this node asks NATS for: those that somebody listens for here, each by itself while they are few.
//! A subscription takes some kilobytes, so a node with many listeners takes the wake-ups of all agents instead.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use async_nats::{Client, Subscriber};
use futures_util::FutureExt as _;
use futures_util::StreamExt as _;
use tandem_core::AgentId;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::link::Link;
use super::local::LocalBus;
use super::wire::Subjects;

/// Listeners above which a node takes the wake-ups of all agents, and below which it asks for each again.
const EACH_MAX: usize = 2_000;
const ALL_MIN: usize = EACH_MAX / 2;
/// Time limit for a subscription.
const SUBSCRIBE_MAX: Duration = Duration::from_secs(1);

/// The subscriptions of this node.
#[derive(Debug)]
pub(super) struct Interest {
    subjects: Subjects,
    each: HashMap<AgentId, AbortHandle>,
    all: Option<AbortHandle>,
}

impl Interest {
    pub(super) fn new(subjects: Subjects) -> Self {
        Self { subjects, each: HashMap::new(), all: None }
    }

    /// The agents whose wake-ups this node asks for, each by itself.
    pub(super) fn agents(&self) -> impl Iterator<Item = AgentId> {
        self.each.keys().cloned()
    }

    /// Follows a change of listeners. Returns the agents whose subscriptions are new.
    pub(super) async fn follow(
        &mut self,
        changed: HashSet<AgentId>,
        client: &Client,
        local: &Arc<LocalBus>,
        link: &Arc<Link>,
    ) -> Vec<AgentId> {
        let mut subscribed = Vec::new();
        let listening = local.listening_count();
        if self.all.is_some() && listening < ALL_MIN {
            // NATS handles the new subscriptions before the end of the old one, so nothing is missed.
            subscribed = self.take_each(local.listening(), client, local, link).await;
            self.all.take().inspect(AbortHandle::abort);
        } else if self.all.is_none() && listening > EACH_MAX {
            if let Some(wakeups) = subscribe(client, self.subjects.every_agent()).await {
                self.all = Some(forward(wakeups, local, link));
                self.end_each();
                subscribed = local.listening();
            } else {
                changed.iter().for_each(|agent| link.interest_changed(agent));
            }
        } else if self.all.is_none() {
            subscribed = self.take_each(changed, client, local, link).await;
        }
        link.figures().subscriptions.store(self.each.len() as u64 + u64::from(self.all.is_some()), Relaxed);
        subscribed
    }

    /// Takes the wake-ups of those of these agents that somebody listens for, and no longer those of the others.
    async fn take_each(
        &mut self,
        agents: impl IntoIterator<Item = AgentId>,
        client: &Client,
        local: &Arc<LocalBus>,
        link: &Arc<Link>,
    ) -> Vec<AgentId> {
        let mut subscribed = Vec::new();
        for agent in agents {
            match (local.is_listening(&agent), self.each.contains_key(&agent)) {
                (true, false) => match subscribe(client, self.subjects.agent(&agent)).await {
                    Some(wakeups) => {
                        self.each.insert(agent.clone(), forward(wakeups, local, link));
                        subscribed.push(agent);
                    }
                    None => link.interest_changed(&agent),
                },
                (false, true) => drop(self.each.remove(&agent).inspect(AbortHandle::abort)),
                (true, true) | (false, false) => {}
            }
        }
        subscribed
    }

    fn end_each(&mut self) {
        self.each.drain().for_each(|(_, forwarding)| forwarding.abort());
    }
}

impl Drop for Interest {
    fn drop(&mut self) {
        self.end_each();
        self.all.take().inspect(AbortHandle::abort);
    }
}

async fn subscribe(client: &Client, subject: String) -> Option<Subscriber> {
    timeout(SUBSCRIBE_MAX, client.subscribe(subject)).await.ok()?.ok()
}

/// Wakes the listeners of the agents in the subjects of messages.
fn forward(mut wakeups: Subscriber, local: &Arc<LocalBus>, link: &Arc<Link>) -> AbortHandle {
    let (local, link) = (Arc::clone(local), Arc::clone(link));
    let forwarding = tokio::spawn(
        async move {
            while let Some(message) = wakeups.next().await {
                link.figures().received.fetch_add(1, Relaxed);
                if let Some(agent) = Subjects::agent_of(&message.subject) {
                    local.wake([&agent]);
                }
            }
        }
        .boxed(),
    );
    forwarding.abort_handle()
}
