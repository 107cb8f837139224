//! The run: which cells are measured, in which order. The limit is measured right before the hub, so that
//! whatever else the machine does meets both.

use std::time::Duration;

use super::Plan;
use super::crowd::Operation::{self, CreateTask, ListTasks, Nothing, ReadEvents, ReadTask, SendMessage};
use super::fill::{Kind, fill};
use super::load::Figures;
use super::process::{Bystanders, Process, Scratch};
use super::progress::Progress;
use super::report::{Home, Report, Row};
use super::setup;
use super::site::{Site, database, start_hub};
use super::wire::address_of;

/// The number of connections at which the goals are set.
pub(super) const HEADLINE: usize = 64;
/// How often the headline figure is measured, and every figure that is compared with another stage's.
const ROUNDS: usize = 3;
/// How often the start is measured.
const STARTS: usize = 5;
/// How many tasks a list holds.
const LIST_PAGE: u64 = 50;
/// How long a hub is left alone before its memory is read.
const SETTLE: Duration = Duration::from_secs(1);

/// What is measured by the number of connections, and what at the headline number only.
const BY_CONNECTIONS: [Operation; 3] = [CreateTask, SendMessage, ReadTask];
const AT_HEADLINE: [Operation; 3] = [ListTasks, ReadEvents, Nothing];
/// What is measured by the number of stored tasks. New tasks last, because they add to it.
const BY_STORED: [Operation; 4] = [ReadTask, ListTasks, SendMessage, CreateTask];

/// Every cell that is measured on an empty hub, with its number of rounds.
fn cells(connections: &[usize]) -> Vec<(Operation, usize, usize)> {
    let by_connections =
        BY_CONNECTIONS.iter().flat_map(|operation| connections.iter().map(move |count| (*operation, *count)));
    let cells = by_connections.chain(AT_HEADLINE.map(|operation| (operation, HEADLINE)));
    cells.map(|(operation, count)| (operation, count, rounds(operation, count))).collect()
}

fn rounds(operation: Operation, connections: usize) -> usize {
    if operation == CreateTask && connections == HEADLINE { ROUNDS } else { 1 }
}

struct Run<'a> {
    plan: &'a Plan,
    progress: Progress,
    /// A hub elsewhere has a database that we cannot match: it is measured against the echo only.
    elsewhere: bool,
}

/// Measures everything.
pub(super) async fn run(plan: &Plan, url: Option<&str>) -> anyhow::Result<Report> {
    let cells = cells(&plan.connections);
    let stage = 1 + BY_STORED.len() * ROUNDS;
    let ordered = if url.is_none() { ROUNDS } else { 0 };
    let steps = 2 + ordered + cells.iter().map(|cell| cell.2).sum::<usize>() + plan.growth.len() * stage;
    let progress = Progress::new(steps as u64);
    let mut run = Run { plan, progress, elsewhere: url.is_some() };
    let mut report = Report::new(plan, url);
    report.list_pages = (LIST_PAGE, run.growth_page());
    let bystanders = Bystanders::watch();

    run.progress.step(format!("registering {} agents and pairing them", plan.agents));
    let limit = Site::limit(plan, LIST_PAGE).await?;
    let hub = match url {
        Some(url) => {
            let address = address_of(url).await?;
            let agents = setup::agents(address, plan.agents).await?;
            Site::hub(address, agents, None, LIST_PAGE, None).await?
        }
        None => run.own_hub(&mut report).await?,
    };
    for (operation, connections, rounds) in cells {
        report.rows.push(run.compare(&hub, &limit, operation, connections, rounds).await?);
    }
    if let Some(home) = &mut report.home {
        home.loaded_mb = hub.process.as_ref().and_then(Process::memory_mb);
    }
    hub.close().await?;
    limit.close().await?;
    if !run.elsewhere {
        // Both as new as each other; the hub's time is over.
        let (bare, ordered) = (Site::limit(plan, 1).await?, Site::limit_with_lists(plan).await?);
        report.ordered = Some(run.compare(&ordered, &bare, CreateTask, HEADLINE, ROUNDS).await?);
        ordered.close().await?;
        bare.close().await?;
    }
    let mut stored = 0;
    for count in &plan.growth {
        // A database that is not ours to remove keeps what the stage before has stored.
        let already = if plan.database.is_some() { stored } else { 0 };
        report.growth.extend(run.stage(*count, count - already).await?);
        stored = *count;
    }
    // A hub or a database elsewhere would count as somebody else, so there is nothing to tell then.
    let alone = !run.elsewhere && plan.database.is_none();
    report.foreign_cores = bystanders.filter(|_| alone).and_then(|watched| watched.cores());
    run.progress.finish();
    Ok(report)
}

impl Run<'_> {
    /// A hub with agents on a folder of its own, whose start and idle memory are noted.
    async fn own_hub(&mut self, report: &mut Report) -> anyhow::Result<Site> {
        let folder = Scratch::new(self.plan.folder.as_deref(), "hub")?;
        let fresh = start_hub(self.plan, folder.path()).await?;
        let first_start_ms = ms(fresh.first_answer);
        let agents = setup::agents(fresh.address, self.plan.agents).await?;
        fresh.stop().await?;
        self.progress.step("starting the hub on existing data".into());
        let mut starts_ms = Vec::new();
        let mut process = start_hub(self.plan, folder.path()).await?;
        for _ in 1..STARTS {
            starts_ms.push(ms(process.first_answer));
            process.stop().await?;
            process = start_hub(self.plan, folder.path()).await?;
        }
        starts_ms.push(ms(process.first_answer));
        starts_ms.sort_by(f64::total_cmp);
        tokio::time::sleep(SETTLE).await;
        let start_ms = starts_ms[starts_ms.len() / 2];
        report.home = Some(Home { first_start_ms, start_ms, idle_mb: process.memory_mb(), loaded_mb: None });
        Site::hub(process.address, agents, None, LIST_PAGE, Some((process, folder))).await
    }

    /// Measures limit and hub in turn; the medians of all rounds.
    async fn compare(
        &mut self,
        hub: &Site,
        limit: &Site,
        operation: Operation,
        connections: usize,
        rounds: usize,
    ) -> anyhow::Result<Row> {
        let (mut of_hub, mut of_limit) = (Vec::new(), Vec::new());
        for round in 1..=rounds {
            let nth = if rounds > 1 { format!(", round {round} of {rounds}") } else { String::new() };
            let (title, kind) = (operation.title(), hub.kind);
            self.progress.step(format!("{title}{kind}, {connections} connections{nth}"));
            let least = if self.elsewhere { Nothing } else { operation };
            of_limit.push(limit.drive(least, connections, self.plan.span).await?);
            of_hub.push(hub.drive(operation, connections, self.plan.span).await?);
        }
        let mut ratios: Vec<f64> = of_hub
            .iter()
            .zip(&of_limit)
            .map(|(hub, limit)| hub.rate / limit.rate.max(f64::MIN_POSITIVE))
            .collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios[ratios.len() / 2];
        Ok(Row {
            operation,
            connections,
            stored: None,
            hub: median(of_hub),
            limit: median(of_limit),
            ratio,
            home: None,
        })
    }

    /// How long lists are while growth is measured: as long as the smallest database has them, or the
    /// first stage would win by having less to show.
    fn growth_page(&self) -> u64 {
        let smallest = self.plan.growth.first().copied().unwrap_or_default();
        (smallest * 2 / self.plan.agents as u64).clamp(1, LIST_PAGE)
    }

    /// The same operations on a database with so many tasks.
    async fn stage(&mut self, stored: u64, missing: u64) -> anyhow::Result<Vec<Row>> {
        self.progress.step(format!("storing {stored} tasks"));
        let folder = Scratch::new(self.plan.folder.as_deref(), "growth")?;
        let fresh = start_hub(self.plan, folder.path()).await?;
        let agents = setup::agents(fresh.address, self.plan.agents).await?;
        fresh.stop().await?;
        let known =
            fill(database(self.plan, folder.path()), &agents, missing, Kind::Old, &self.progress).await?;
        let page = self.growth_page();
        let limit = Site::limit(self.plan, page).await?;
        let process = start_hub(self.plan, folder.path()).await?;
        let start_ms = ms(process.first_answer);
        tokio::time::sleep(SETTLE).await;
        let home = Home { first_start_ms: start_ms, start_ms, idle_mb: process.memory_mb(), loaded_mb: None };
        let hub = Site::hub(process.address, agents, Some(known), page, Some((process, folder))).await?;
        let mut rows = Vec::new();
        for operation in BY_STORED {
            let row = self.compare(&hub, &limit, operation, HEADLINE, ROUNDS).await?;
            rows.push(Row { stored: Some(stored), home: Some(home.clone()), ..row });
        }
        hub.close().await?;
        limit.close().await?;
        Ok(rows)
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// The round whose rate is the middle one; errors of all rounds are kept.
fn median(mut rounds: Vec<Figures>) -> Figures {
    let errors = rounds.iter().map(|round| round.errors).sum();
    let first_error = rounds.iter().find_map(|round| round.first_error.clone());
    rounds.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let middle = rounds.len() / 2;
    Figures { errors, first_error, ..rounds.swap_remove(middle) }
}
