//! One node on PostgreSQL, in turns with bare servers and with an older version of the hub.

use std::path::PathBuf;

use super::Arguments;
use super::report::{Cell, Measured, Name};
use crate::load::{Figures, Span};
use crate::process::{Process, Scratch};
use crate::progress::Progress;
use crate::schema::Schema;
use crate::services::Postgres;
use crate::site::{Bare, Home, Site, hub_arguments};
use crate::workload::Operation;
use crate::{Plan, prepare};

/// How many events a page has, and so how many each agent must have before pages are read.
const PAGE: u64 = 100;
/// How many tasks a list has. With so many events an agent has more of them.
const LIST_PAGE: u64 = 50;

/// A server that takes its turn in every round.
struct Turn {
    name: Name,
    site: Site,
}

pub(super) async fn measure(
    arguments: &Arguments,
    plan: &Plan,
    postgres: &Postgres,
    cells: &[(Operation, usize)],
) -> anyhow::Result<Vec<Cell>> {
    let mut progress = Progress::new((1 + cells.len() * arguments.rounds) as u64);
    progress.step(format!("one node: registering {} agents on each server", plan.agents));
    let turns = servers(arguments, plan).await?;
    let mut found = Vec::new();
    for &(operation, connections) in cells {
        if matches!(operation, Operation::ReadEvents | Operation::ListTasks) {
            fill_pages(&turns, plan, connections).await?;
        }
        let mut measured: Vec<(Name, Vec<Round>)> =
            turns.iter().map(|turn| (turn.name, Vec::new())).collect();
        for round in 0..arguments.rounds {
            let nth = format!("round {} of {}", round + 1, arguments.rounds);
            progress.step(format!("{}, {connections} connections, {nth}", operation.title()));
            // A different one begins each time.
            for step in 0..turns.len() {
                let place = (round + step) % turns.len();
                if takes_part(turns[place].name, operation) {
                    measured[place].1.push(
                        one_round(&turns[place].site, postgres, (operation, connections), plan.span).await?,
                    );
                }
            }
        }
        found.push(Cell::new(operation, connections, measured.into_iter().filter_map(of_rounds).collect()));
    }
    progress.finish();
    for turn in turns {
        turn.site.close().await?;
    }
    Ok(found)
}

/// Rows without orders differ from rows in order in new tasks only.
fn takes_part(name: Name, operation: Operation) -> bool {
    name != Name::BareRows || operation == Operation::CreateTask
}

async fn servers(arguments: &Arguments, plan: &Plan) -> anyhow::Result<Vec<Turn>> {
    let mut turns = vec![
        Turn { name: Name::RowsInOrder, site: Site::bare(plan, Bare::RowsInOrder, LIST_PAGE).await? },
        Turn { name: Name::BareRows, site: Site::bare(plan, Bare::Rows, LIST_PAGE).await? },
    ];
    if let Some(binary) = &arguments.baseline {
        let binary = std::path::absolute(binary)?;
        // An older version may not know a setting that is tried out.
        let plan = Plan { set: Vec::new(), ..plan.clone() };
        turns.push(Turn { name: Name::Baseline, site: hub(&plan, binary).await? });
    }
    turns.push(Turn { name: Name::Hub, site: hub(plan, plan.tandem.path()?).await? });
    Ok(turns)
}

/// A hub of some version in a schema of its own, with agents.
async fn hub(plan: &Plan, binary: PathBuf) -> anyhow::Result<Site> {
    let database = plan.database.as_deref().unwrap_or_default();
    let schema = Schema::new(database).await?;
    let folder = Scratch::new(plan.folder.as_deref(), "hub")?;
    let plan = Plan { database: Some(schema.url()), ..plan.clone() };
    let process = Process::start(&binary, &hub_arguments(&plan, folder.path()), folder.path()).await?;
    let address = process.address;
    let agents = prepare::agents(address, plan.agents).await?;
    let home = Home { process, folder, schema: Some(schema) };
    Site::hub(address, agents, None, LIST_PAGE, Some(home)).await
}

/// Creates tasks until every agent of every hub has a full page of events.
async fn fill_pages(turns: &[Turn], plan: &Plan, connections: usize) -> anyhow::Result<()> {
    for turn in turns.iter().filter(|turn| matches!(turn.name, Name::Hub | Name::Baseline)) {
        while turn.site.created() < (PAGE + 10) * plan.agents as u64 {
            turn.site.drive(Operation::CreateTask, connections, plan.span).await?;
        }
    }
    Ok(())
}

struct Round {
    figures: Figures,
    /// Processor time for each answer, of the server and of PostgreSQL.
    cpu_us: Option<(f64, f64)>,
}

async fn one_round(
    site: &Site,
    postgres: &Postgres,
    (operation, connections): (Operation, usize),
    span: Span,
) -> anyhow::Result<Round> {
    let used = || {
        let process = site.home.as_ref().and_then(|home| home.process.cpu_seconds());
        process.zip(postgres.cpu_seconds())
    };
    let before = used();
    let figures = site.drive(operation, connections, span).await?;
    let answers = (figures.rate * (span.warm_up + span.measured).as_secs_f64()).max(1.0);
    let cpu_us = before.zip(used()).map(|(before, after)| {
        let each = |before: f64, after: f64| (after - before) * 1_000_000.0 / answers;
        (each(before.0, after.0), each(before.1, after.1))
    });
    Ok(Round { figures, cpu_us })
}

/// All rounds of one server; none if it did not take part.
fn of_rounds((name, rounds): (Name, Vec<Round>)) -> Option<Measured> {
    if rounds.is_empty() {
        return None;
    }
    let costs: Vec<(f64, f64)> = rounds.iter().filter_map(|round| round.cpu_us).collect();
    let middle = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    Some(Measured {
        name,
        own_cpu_us: middle(costs.iter().map(|cost| cost.0).collect()),
        database_cpu_us: middle(costs.iter().map(|cost| cost.1).collect()),
        rounds: rounds.into_iter().map(|round| round.figures).collect(),
    })
}
