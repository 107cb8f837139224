//! The run: which cells are measured, in which order. Bare servers are measured right before the hub, so that whatever
//! else the machine does affects both.

use std::time::Duration;

use super::connection::address_of;
use super::fill::{Kind, fill};
use super::load::Figures;
use super::process::{OtherPrograms, Scratch};
use super::progress::Progress;
use super::report::{Costs, Limit, Report, Row};
use super::schema::Schema;
use super::site::{Bare, Home, Site, database, start_hub};
use super::workload::Operation::{self, CreateTask, ListTasks, Nothing, ReadEvents, ReadTask, SendMessage};
use super::{Plan, prepare};

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

/// The servers that are measured in turn.
struct Servers {
    hub: Site,
    in_order: Site,
    /// For new tasks only: everything else does not depend on the order of tasks.
    bare: Option<Site>,
}

impl Servers {
    async fn close(self) -> anyhow::Result<()> {
        self.hub.close().await?;
        self.in_order.close().await?;
        match self.bare {
            Some(bare) => bare.close().await,
            None => Ok(()),
        }
    }
}

struct Run<'a> {
    plan: &'a Plan,
    progress: Progress,
    /// A hub elsewhere has a database that a bare server here cannot match: it is compared with an echo only.
    elsewhere: bool,
}

fn steps(cells: &[(Operation, usize, usize)]) -> usize {
    cells.iter().map(|cell| cell.2).sum()
}

pub(super) async fn run(plan: &Plan, url: Option<&str>) -> anyhow::Result<Report> {
    let (all, on_postgres) = (cells(&plan.connections), postgres_cells(plan));
    let stage = 1 + BY_STORED.len() * ROUNDS;
    let postgres_steps = if on_postgres.is_empty() { 0 } else { 1 + steps(&on_postgres) };
    let progress = Progress::new((2 + steps(&all) + postgres_steps + plan.growth.len() * stage) as u64);
    let mut run = Run { plan, progress, elsewhere: url.is_some() };
    let mut report = Report::new(plan, url);
    report.list_pages = (LIST_PAGE, run.growth_page());
    let others = OtherPrograms::watch();

    run.progress.step(format!("registering {} agents and pairing them", plan.agents));
    let in_order = Site::bare(plan, Bare::RowsInOrder, LIST_PAGE).await?;
    let servers = match url {
        Some(url) => {
            let address = address_of(url).await?;
            let agents = prepare::agents(address, plan.agents).await?;
            let hub = Site::hub(address, agents, None, LIST_PAGE, None).await?;
            Servers { hub, in_order, bare: None }
        }
        None => {
            let bare = Site::bare(plan, Bare::Rows, 1).await?;
            Servers { hub: run.own_hub(&mut report).await?, in_order, bare: Some(bare) }
        }
    };
    for cell in all {
        report.rows.push(run.compare(&servers, cell, "").await?);
    }
    if let Some(costs) = &mut report.costs {
        costs.loaded_mb = servers.hub.home.as_ref().and_then(|home| home.process.memory_mb());
    }
    servers.close().await?;
    if let Some(database) = &plan.postgres {
        report.postgres = run.postgres(database, on_postgres).await?;
    }
    let mut stored = 0;
    for count in &plan.growth {
        // A database that is not ours to remove keeps what the stage before has stored.
        let already = if plan.database.is_some() { stored } else { 0 };
        report.growth.extend(run.stage(*count, count - already).await?);
        stored = *count;
    }
    // A hub or a database elsewhere would count as another program, so nothing is reported then.
    let alone = !run.elsewhere && plan.database.is_none() && plan.postgres.is_none();
    report.foreign_cores = others.filter(|_| alone).and_then(|watched| watched.cores());
    run.progress.finish();
    Ok(report)
}

/// What is measured on a second database: writes, which is where databases differ.
fn postgres_cells(plan: &Plan) -> Vec<(Operation, usize, usize)> {
    if plan.postgres.is_none() {
        return Vec::new();
    }
    let create = plan.connections.iter().map(|count| (CreateTask, *count, rounds(CreateTask, *count)));
    create.chain([(SendMessage, HEADLINE, 1)]).collect()
}

impl Run<'_> {
    /// A hub with agents on a folder of its own, whose start and idle memory are noted.
    async fn own_hub(&mut self, report: &mut Report) -> anyhow::Result<Site> {
        let folder = Scratch::new(self.plan.folder.as_deref(), "hub")?;
        let fresh = start_hub(self.plan, folder.path()).await?;
        let first_start_ms = ms(fresh.first_answer);
        let agents = prepare::agents(fresh.address, self.plan.agents).await?;
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
        report.costs =
            Some(Costs { first_start_ms, start_ms, idle_mb: process.memory_mb(), loaded_mb: None });
        let address = process.address;
        let home = Home { process, folder, schema: None };
        Site::hub(address, agents, None, LIST_PAGE, Some(home)).await
    }

    /// Measures hub and bare servers in turn; the medians of all rounds. Bare rows are measured with new tasks only.
    async fn compare(
        &mut self,
        servers: &Servers,
        (operation, connections, rounds): (Operation, usize, usize),
        place: &str,
    ) -> anyhow::Result<Row> {
        let (mut hub, mut in_order, mut bare) = (Vec::new(), Vec::new(), Vec::new());
        let bare_rows = servers.bare.as_ref().filter(|_| operation == CreateTask);
        let span = self.plan.span;
        for round in 1..=rounds {
            let nth = if rounds > 1 { format!(", round {round} of {rounds}") } else { String::new() };
            self.progress.step(format!("{}{place}, {connections} connections{nth}", operation.title()));
            let least = if self.elsewhere { Nothing } else { operation };
            if let Some(site) = bare_rows {
                bare.push(site.drive(operation, connections, span).await?);
            }
            in_order.push(servers.in_order.drive(least, connections, span).await?);
            hub.push(servers.hub.drive(operation, connections, span).await?);
        }
        let rows_in_order = limit(&hub, in_order);
        let bare_rows = (!bare.is_empty()).then(|| limit(&hub, bare));
        let hub = median(hub);
        Ok(Row { operation, connections, stored: None, hub, rows_in_order, bare_rows, costs: None })
    }

    /// Writes on a PostgreSQL, hub and bare servers in schemas of their own.
    async fn postgres(
        &mut self,
        database: &str,
        cells: Vec<(Operation, usize, usize)>,
    ) -> anyhow::Result<Vec<Row>> {
        self.progress.step("registering agents on PostgreSQL".into());
        let schema = Schema::new(database).await?;
        let mut plan = Plan { database: Some(schema.url()), ..self.plan.clone() };
        let folder = Scratch::new(plan.folder.as_deref(), "postgres")?;
        let process = start_hub(&plan, folder.path()).await?;
        let address = process.address;
        let agents = prepare::agents(address, plan.agents).await?;
        let home = Home { process, folder, schema: Some(schema) };
        let hub = Site::hub(address, agents, None, 1, Some(home)).await?;
        plan.database = Some(database.to_owned());
        let in_order = Site::bare(&plan, Bare::RowsInOrder, 1).await?;
        let bare = Some(Site::bare(&plan, Bare::Rows, 1).await?);
        let servers = Servers { hub, in_order, bare };
        let mut rows = Vec::new();
        for cell in cells {
            rows.push(self.compare(&servers, cell, " on PostgreSQL").await?);
        }
        servers.close().await?;
        Ok(rows)
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
        let agents = prepare::agents(fresh.address, self.plan.agents).await?;
        fresh.stop().await?;
        let known =
            fill(database(self.plan, folder.path()), &agents, missing, Kind::Old, &self.progress).await?;
        let page = self.growth_page();
        let in_order = Site::bare(self.plan, Bare::RowsInOrder, page).await?;
        let process = start_hub(self.plan, folder.path()).await?;
        let (address, start_ms) = (process.address, ms(process.first_answer));
        tokio::time::sleep(SETTLE).await;
        let costs =
            Costs { first_start_ms: start_ms, start_ms, idle_mb: process.memory_mb(), loaded_mb: None };
        let home = Home { process, folder, schema: None };
        let hub = Site::hub(address, agents, Some(known), page, Some(home)).await?;
        let servers = Servers { hub, in_order, bare: None };
        let mut rows = Vec::new();
        for operation in BY_STORED {
            let row = self.compare(&servers, (operation, HEADLINE, ROUNDS), "").await?;
            rows.push(Row { stored: Some(stored), costs: Some(costs.clone()), ..row });
        }
        servers.close().await?;
        Ok(rows)
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// What a bare server did in the same rounds as the hub, and the median of the hub's rates to its.
fn limit(hub: &[Figures], of: Vec<Figures>) -> Limit {
    let mut ratios: Vec<f64> =
        hub.iter().zip(&of).map(|(hub, of)| hub.rate / of.rate.max(f64::MIN_POSITIVE)).collect();
    ratios.sort_by(f64::total_cmp);
    Limit { ratio: ratios[ratios.len() / 2], figures: median(of) }
}

/// The round whose rate is the middle one, with the errors of all rounds.
fn median(mut rounds: Vec<Figures>) -> Figures {
    let errors = rounds.iter().map(|round| round.errors).sum();
    let first_error = rounds.iter().find_map(|round| round.first_error.clone());
    rounds.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let middle = rounds.len() / 2;
    Figures { errors, first_error, ..rounds.swap_remove(middle) }
}
