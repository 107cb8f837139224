//! One run: the cluster, the load on it, and faults with checks in between.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use tokio::task::JoinSet;

use crate::ClusterArguments;
use crate::agents::Agent;
use crate::chains::{Chain, Channel};
use crate::cluster::Cluster;
use crate::dice::Dice;
use crate::faults::{self, Deck, Fault};
use crate::ledger::{Breach, Ledger};
use crate::presence::Watched;
use crate::receiver::Receiver;
use crate::report::Report;
use crate::stories::Load;
use crate::{checks, keys};

/// How many agents exchange tasks; each with the next two.
const AGENTS: usize = 8;
/// How many of them have a webhook.
const WITH_WEBHOOK: usize = 2;
/// How many agents rotate their keys.
const ROTATING: usize = 2;
/// How long a listener stays on one node, in milliseconds.
const STAY_MS: (usize, usize) = (2_000, 15_000);
/// How long the load runs before a fault and after it.
const LOAD_MS: (usize, usize) = (1_000, 3_000);
/// How long deliveries may take in the end: a retry, and the lease of a node that died.
const WEBHOOKS_MAX: Duration = Duration::from_secs(90);

/// The load and its listeners. Everything stops when it is dropped.
struct Scene {
    cluster: Arc<Cluster>,
    ledger: Arc<Ledger>,
    load: Arc<Load>,
    chains: Vec<Arc<Chain>>,
    receiver: Arc<Receiver>,
    running: JoinSet<()>,
}

/// Runs until time is up.
pub(crate) async fn run(arguments: &ClusterArguments) -> anyhow::Result<Report> {
    let seed = arguments.seed.unwrap_or_else(|| u64::from(std::process::id()) * 7_919 % 100_000);
    let mut deck = Deck::new(chosen(arguments)?, seed);
    let tandem = arguments.tandem.path()?;
    eprintln!("seed {seed}: starting PostgreSQL, NATS and {} nodes", arguments.nodes);
    let offsets = faults::clock_offsets(arguments.nodes);
    let cluster = Cluster::start(&tandem, arguments.folder.as_deref(), &offsets, arguments.keep).await?;
    let scene = Scene::start(cluster, arguments.writers, Dice::new(seed ^ 0xfeed)).await?;
    let begun = Instant::now();
    let until = begun + Duration::from_secs_f64(arguments.minutes * 60.0);
    let mut counts: HashMap<Fault, usize> = HashMap::new();
    while Instant::now() < until {
        let (fault, dice) = deck.next();
        *counts.entry(fault).or_default() += 1;
        let at = begun.elapsed().as_secs();
        eprintln!("{at:>5} s  {}", fault.title());
        scene.fault(fault, dice).await;
        scene.check().await;
    }
    scene.finish().await;
    let mut counts: Vec<(Fault, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(fault, _)| fault.title());
    let seconds = begun.elapsed().as_secs_f64();
    let report = Report::new(seed, arguments.nodes, seconds, &scene.ledger, counts);
    scene.stop(report.is_clean()).await;
    Ok(report)
}

/// The kinds of faults that the arguments allow.
fn chosen(arguments: &ClusterArguments) -> anyhow::Result<Vec<Fault>> {
    let all = Fault::all(arguments.nodes);
    if arguments.only.is_empty() {
        return Ok(all);
    }
    let name =
        |fault: &Fault| serde_json::to_value(fault).ok().and_then(|name| Some(name.as_str()?.to_owned()));
    let mut found = Vec::new();
    for wanted in &arguments.only {
        let fault = all.iter().find(|fault| name(fault).as_deref() == Some(wanted));
        let Some(fault) = fault else {
            let names: Vec<String> = all.iter().filter_map(name).collect();
            bail!("--only: {wanted:?} is none of {}", names.join(", "));
        };
        found.push(*fault);
    }
    Ok(found)
}

impl Scene {
    async fn start(cluster: Cluster, writers: usize, mut dice: Dice) -> anyhow::Result<Self> {
        let (cluster, ledger) = (Arc::new(cluster), Arc::new(Ledger::default()));
        let mut agents = Vec::new();
        for number in 0..AGENTS {
            agents.push(Agent::register(&cluster, &format!("agent {number}")).await?);
        }
        for one in 0..AGENTS {
            for step in 1..=2 {
                Agent::pair(&cluster, &agents[one], &agents[(one + step) % AGENTS]).await?;
            }
        }
        let receiver = Receiver::start(&ledger, Dice::new(dice.next())).await?;
        for agent in &agents[..WITH_WEBHOOK] {
            receiver.register(&cluster, agent).await?;
        }
        let watched = Watched::start(&cluster, &ledger).await.context("cannot watch presence")?;
        let mut running = JoinSet::new();
        let mut chains = Vec::new();
        for agent in &agents {
            for channel in [Channel::Socket, Channel::Stream, Channel::Poll] {
                let chain = Chain::new(agent, channel, &ledger);
                chains.push(Arc::clone(&chain));
                running.spawn(chain.listen(Arc::clone(&cluster), Dice::new(dice.next()), STAY_MS));
            }
        }
        for _ in 0..ROTATING {
            let (cluster, ledger, peer) =
                (Arc::clone(&cluster), Arc::clone(&ledger), Arc::clone(&watched.watcher));
            running.spawn(keys::rotate(cluster, ledger, peer, Dice::new(dice.next())));
        }
        running.spawn(watched.listen(&cluster, Dice::new(dice.next())));
        let of = (Arc::clone(&cluster), Arc::clone(&ledger));
        running.spawn(async move { watched.watch(&of.0, &of.1).await });
        let load = Load::new(&cluster, &ledger, agents);
        for _ in 0..writers {
            running.spawn(Arc::clone(&load).write(Dice::new(dice.next())));
        }
        Ok(Self { cluster, ledger, load, chains, receiver, running })
    }

    /// Makes a fault while the load runs.
    async fn fault(&self, fault: Fault, mut dice: Dice) {
        tokio::time::sleep(dice.ms(LOAD_MS.0, LOAD_MS.1)).await;
        if fault.interrupts_webhooks() {
            // A node that dies or sleeps leaves behind only what it had under way.
            self.receiver.begin_fault(matches!(fault, Fault::NodeKilled | Fault::NodeFrozen));
        }
        if let Err(cause) = faults::run(&self.cluster, fault, Dice::new(dice.next())).await {
            self.ledger.breach(Breach::Unavailable, format!("{}: {cause:#}", fault.title()));
        }
        self.receiver.end_fault();
        tokio::time::sleep(dice.ms(LOAD_MS.0, LOAD_MS.1)).await;
    }

    /// Stops the load and checks everything that it has written.
    async fn check(&self) {
        let _stopped = self.load.running.write().await;
        if let Err(cause) = checks::check(&self.load, &self.chains, false).await {
            self.ledger.breach(Breach::Unavailable, format!("cannot check: {cause:#}"));
        }
    }

    /// The checks that need time: the last timers and the last deliveries.
    async fn finish(&self) {
        eprintln!("waiting for the last timers and deliveries");
        let _stopped = self.load.running.write().await;
        let checked = async {
            checks::wait_for_timers(&self.load).await?;
            checks::check(&self.load, &self.chains, true).await
        };
        if let Err(cause) = checked.await {
            self.ledger.breach(Breach::Unavailable, format!("cannot check: {cause:#}"));
        }
        let until = Instant::now() + WEBHOOKS_MAX;
        for agent in &self.load.agents[..WITH_WEBHOOK] {
            let mut missing = self.receiver.missing(agent);
            while !missing.is_empty() && Instant::now() < until {
                tokio::time::sleep(Duration::from_millis(200)).await;
                missing = self.receiver.missing(agent);
            }
            for event in missing.iter().take(10) {
                let what = format!(
                    "{}: {} events never came by webhook, such as {event}",
                    agent.name,
                    missing.len()
                );
                self.ledger.breach(Breach::Lost, what);
            }
        }
    }

    /// Ends everything. The logs are kept if something was broken.
    async fn stop(mut self, clean: bool) {
        if !clean {
            self.cluster.keep_folder();
        }
        self.running.shutdown().await;
    }
}
