//! The far side of the bus: the connection to NATS, and what this node says and hears there.
//!
//! NATS carries wake-ups and gossip only, each at most once. What is lost is found in the database: a node that does not
//! hear of every other node looks there every second.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use async_nats::{Client, ConnectOptions, Event, Message};
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::StreamExt as _;
use tandem_core::{AgentId, NodeId};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::interest::Interest;
use super::link::{Changed, Link, Outgoing};
use super::local::LocalBus;
use super::wire::{Control, Gossip, Seal, Subjects};
use super::{Bus, Inbox};
use crate::cluster::Topology;
use crate::config::{BusCredentials, BusKind};
use crate::hub::Hub;
use crate::upkeep::housekeeping::Pacing;

/// Interval of gossip: request counts, and that this node is heard.
const GOSSIP_EVERY: Duration = Duration::from_millis(250);
/// Interval of NATS's own pings, which find a connection that is silently cut.
const PING_EVERY: Duration = Duration::from_secs(1);
/// Time limit for an exchange with NATS.
const ANSWER_MAX: Duration = Duration::from_secs(1);
/// Longest pause between attempts to connect.
const RECONNECT_MAX: Duration = Duration::from_secs(1);
/// How long a node that is not in the database is remembered.
const FORGET_AFTER: Duration = Duration::from_secs(20);
/// Groups of commits whose wake-ups are sent together.
const BATCH: usize = 512;

/// Connects and passes messages on, in both directions, until the hub stops.
pub(crate) async fn run(hub: Hub, inbox: Inbox, credentials: Option<BusCredentials>, mut pacing: Pacing) {
    let topology = Arc::clone(&hub.cluster.topology);
    let (Bus::Nats(local, link), BusKind::Nats(urls)) = (&*inbox.bus, topology.bus()) else { return };
    let Some(queue) = link.take_queue() else { return };
    let subjects = Subjects::new(hub.cluster.subject_name());
    let seal = Seal::new(hub.cluster.secret());
    let client = match connect(urls, credentials, hub.cluster.id(), link, &topology).await {
        Ok(client) => client,
        Err(error) => {
            tracing::error!(%error, "cannot use NATS; this node looks at the database every second instead");
            return;
        }
    };
    let (local, link) = (Arc::clone(local), Arc::clone(link));
    let sending =
        tokio::spawn(send(client.clone(), queue, Arc::clone(&link), subjects.clone(), seal.clone()).boxed());
    let mut worker = NatsWorker {
        hub,
        inbox,
        topology: Arc::clone(&topology),
        local,
        link,
        interest: Interest::new(subjects.clone()),
        subjects,
        seal,
        client,
        heard: HashMap::new(),
        confirmed: None,
        connection: None,
        confirms: JoinSet::new(),
        was_hearing: true,
    };
    tokio::select! {
        ended = worker.run() => {
            if let Err(error) = ended {
                tracing::error!(%error, "the bus stopped; this node looks at the database every second instead");
            }
        }
        () = pacing.stopped() => worker.leave().await,
    }
    sending.abort();
}

async fn connect(
    urls: &[String],
    credentials: Option<BusCredentials>,
    node: &NodeId,
    link: &Arc<Link>,
    topology: &Arc<Topology>,
) -> Result<Client, async_nats::Error> {
    let servers: Vec<async_nats::ServerAddr> =
        urls.iter().map(|url| url.parse()).collect::<Result<_, _>>()?;
    let (link, topology) = (Arc::clone(link), Arc::clone(topology));
    let on_event = move |event| {
        match event {
            Event::Connected => {
                tracing::info!("connected to NATS");
                link.set_connected(true);
            }
            Event::Disconnected => {
                tracing::warn!("NATS is away: this node looks at the database every second until it is back");
                link.set_connected(false);
                topology.doubt();
            }
            // This node has closed it, because it stops.
            Event::Closed => {
                link.set_connected(false);
                topology.doubt();
            }
            Event::SlowConsumer(_) => topology.doubt(),
            Event::ServerError(error) => tracing::warn!(%error, "NATS reports an error"),
            Event::ClientError(error) => tracing::warn!(%error, "cannot use NATS"),
            Event::LameDuckMode | Event::Draining => {}
        }
        std::future::ready(())
    };
    let options = match credentials {
        Some(credentials) => credentials.options()?,
        None => ConnectOptions::new(),
    };
    let pause = |attempts: usize| {
        let doubled = Duration::from_millis(50) * 2_u32.pow(u32::try_from(attempts.min(5)).unwrap_or(5));
        doubled.min(RECONNECT_MAX)
    };
    let options = options
        .name(format!("tandem {node}"))
        .no_echo()
        .retry_on_initial_connect()
        .reconnect_delay_callback(pause)
        .connection_timeout(Duration::from_secs(2))
        .request_timeout(Some(ANSWER_MAX))
        .ping_interval(PING_EVERY)
        .event_callback(on_event);
    Ok(options.connect(servers).await?)
}

/// Sends what waits in the queue. Several wake-ups of one agent that wait together become one message.
async fn send(
    client: Client,
    mut queue: mpsc::Receiver<Outgoing>,
    link: Arc<Link>,
    subjects: Subjects,
    seal: Seal,
) {
    let mut batch = Vec::with_capacity(BATCH);
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        if !link.is_connected() {
            link.lost(batch.len() as u64);
            batch.clear();
            continue;
        }
        let mut agents = HashSet::new();
        let mut control = Vec::new();
        for outgoing in batch.drain(..) {
            match outgoing {
                Outgoing::Wake(woken) => agents.extend(woken),
                Outgoing::Control(one) => control.push(one),
            }
        }
        if link.take_overflowed() {
            control.push(Control::Lost);
        }
        for one in control {
            publish(&client, &link, subjects.control(), seal.put(&one)).await;
        }
        for agent in agents {
            publish(&client, &link, subjects.agent(&agent), Bytes::new()).await;
        }
    }
}

async fn publish(client: &Client, link: &Link, subject: String, payload: Bytes) {
    match client.publish(subject, payload).await {
        Ok(()) => drop(link.figures().sent.fetch_add(1, Relaxed)),
        Err(_) => link.lost(1),
    }
}

/// A newer version may say more; others at the broker may say anything.
fn misunderstood() {
    tracing::debug!("a message is not understood, or no node of this hub has sent it");
}

/// An exchange with NATS: by which connection, when it began, and whose subscriptions it confirms.
struct Confirm {
    connection: Option<u64>,
    began: Instant,
    subscribed: Vec<AgentId>,
    answered: bool,
}

/// This node at NATS.
struct NatsWorker {
    hub: Hub,
    inbox: Inbox,
    topology: Arc<Topology>,
    local: Arc<LocalBus>,
    link: Arc<Link>,
    subjects: Subjects,
    seal: Seal,
    client: Client,
    /// When each other node was last heard.
    heard: HashMap<NodeId, Instant>,
    /// When the last exchange with NATS began that was answered.
    confirmed: Option<Instant>,
    /// The connection by which all of this was heard.
    connection: Option<u64>,
    confirms: JoinSet<Confirm>,
    interest: Interest,
    was_hearing: bool,
}

impl NatsWorker {
    async fn run(&mut self) -> Result<(), async_nats::SubscribeError> {
        let mut control = self.client.subscribe(self.subjects.control()).await?;
        let mut gossip = self.client.subscribe(self.subjects.rates()).await?;
        let mut echo = self.client.queue_subscribe(self.subjects.echo(), "nodes".into()).await?;
        let (link, mut tick) = (Arc::clone(&self.link), interval(GOSSIP_EVERY));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = tick.tick() => self.tick().await,
                Some(message) = control.next() => self.receive(&message),
                Some(message) = gossip.next() => self.hear(&message),
                Some(Message { reply: Some(reply), .. }) = echo.next() => {
                    // Whoever asks again is answered then.
                    let _ = self.client.publish(reply, Bytes::new()).await;
                }
                () = link.has_changed.notified() => self.follow_interest().await,
                () = link.has_observer.notified() => self.announce_observer().await,
                Some(Ok(confirm)) = self.confirms.join_next(), if !self.confirms.is_empty() => {
                    self.confirmed(confirm);
                }
            }
        }
    }

    /// Says goodbye, so that no node waits to hear of this one.
    async fn leave(&self) {
        if self.link.is_connected() {
            let leaving = self.seal.put(&Control::Leaving(self.hub.cluster.id().clone()));
            publish(&self.client, &self.link, self.subjects.control(), leaving).await;
            // Nothing depends on it.
            let _ = timeout(ANSWER_MAX, self.client.flush()).await;
        }
    }

    async fn tick(&mut self) {
        if self.link.is_connected() {
            let counts = self.hub.rates.take_changed(self.hub.time());
            let gossip = Gossip { node: self.hub.cluster.id().clone(), counts };
            publish(&self.client, &self.link, self.subjects.rates(), self.seal.put(&gossip)).await;
            if self.link.take_overflowed() {
                publish(&self.client, &self.link, self.subjects.control(), self.seal.put(&Control::Lost))
                    .await;
            }
            self.announce_observer().await;
            self.follow_interest().await;
            if self.confirms.is_empty() {
                self.confirm(Vec::new());
            }
        }
        self.assess();
    }

    async fn announce_observer(&self) {
        if self.local.is_observed() && self.link.is_connected() {
            publish(&self.client, &self.link, self.subjects.control(), self.seal.put(&Control::Observing))
                .await;
        }
    }

    fn receive(&mut self, message: &Message) {
        self.link.figures().received.fetch_add(1, Relaxed);
        match self.seal.open(&message.payload) {
            Some(Control::Lost) => self.topology.doubt(),
            Some(Control::Leaving(node)) => {
                self.heard.remove(&node);
                self.hub.cluster.forget(&node);
            }
            Some(control) => self.inbox.receive(control),
            None => misunderstood(),
        }
    }

    fn hear(&mut self, message: &Message) {
        self.link.figures().received.fetch_add(1, Relaxed);
        match self.seal.open::<Gossip>(&message.payload) {
            Some(gossip) => {
                if !self.heard.contains_key(&gossip.node) {
                    // A node that started just now is expected from now on.
                    self.hub.cluster.look_soon();
                }
                self.hub.rates.learn(&gossip.node, &gossip.counts, self.hub.time());
                self.heard.insert(gossip.node, Instant::now());
                self.assess();
            }
            None => misunderstood(),
        }
    }

    /// Judges whether this node hears of everything that other nodes commit.
    fn assess(&mut self) {
        let connection = self.link.connection();
        if connection != self.connection || connection.is_none() {
            // What was heard by an earlier connection says nothing about this one.
            self.connection = connection;
            self.confirmed = None;
            self.heard.clear();
            self.topology.doubt();
        }
        let others = self.hub.cluster.others();
        let times = others.iter().map(|node| self.heard.get(node).copied()).chain([self.confirmed]);
        let oldest: Option<Vec<Instant>> = times.collect();
        if let Some(oldest) = oldest.and_then(|times| times.into_iter().min())
            && self.topology.heard(oldest)
        {
            self.local.wake_all();
        }
        self.heard.retain(|node, at| others.contains(node) || at.elapsed() < FORGET_AFTER);
        let hears = self.topology.hears();
        if hears != self.was_hearing {
            match hears {
                true => tracing::info!("this node hears of every other node"),
                false => tracing::warn!("another node is not heard: looking at the database every second"),
            }
        }
        self.was_hearing = hears;
    }

    /// Asks NATS something, to learn that it has handled everything before, such as these subscriptions.
    fn confirm(&mut self, subscribed: Vec<AgentId>) {
        let (client, echo, connection) = (self.client.clone(), self.subjects.echo(), self.link.connection());
        self.confirms.spawn(async move {
            let began = Instant::now();
            let answered = match client.request(echo, Bytes::new()).await {
                Ok(_) => true,
                Err(error) => error.kind() == async_nats::RequestErrorKind::NoResponders,
            };
            Confirm { connection, began, subscribed, answered }
        });
    }

    fn confirmed(&mut self, confirm: Confirm) {
        if confirm.answered {
            let took = u64::try_from(confirm.began.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.link.figures().round_trip_us.store(took, Relaxed);
            if confirm.connection.is_some() && confirm.connection == self.connection {
                self.confirmed = self.confirmed.max(Some(confirm.began));
            }
            self.assess();
        }
        // An event may have been committed between the listener's look at the log and the subscription.
        self.local.wake(&confirm.subscribed);
    }

    /// Asks NATS for the wake-ups of the agents that somebody listens for here, and of no others.
    async fn follow_interest(&mut self) {
        if !self.link.is_connected() {
            return;
        }
        let changed = match self.link.take_changed() {
            Changed::Some(agents) => agents,
            Changed::Any => self.interest.agents().chain(self.local.listening()).collect(),
        };
        if changed.is_empty() {
            return;
        }
        let subscribed = self.interest.follow(changed, &self.client, &self.local, &self.link).await;
        if !subscribed.is_empty() {
            self.confirm(subscribed);
        }
    }
}
