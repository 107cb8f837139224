//! A server that is measured: the hub, started here or elsewhere, or a bare server; with the agents that call it.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tandem_store::Database;

use super::load::{Figures, Maker, Span, drive};
use super::process::{Process, Scratch};
use super::schema::Schema;
use super::workload::{Agent, Known, Operation, Server, Workload};
use super::{Plan, bare, prepare};

/// What a bare server keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bare {
    /// As many rows as the hub, with primary keys only.
    Rows,
    /// The same rows, and tasks in the two orders that lists need.
    RowsInOrder,
}

/// What a local server needs while it runs.
pub(super) struct Home {
    pub(super) process: Process,
    /// Removed after the process has ended: fields are dropped in their order.
    pub(super) folder: Scratch,
    pub(super) schema: Option<Schema>,
}

pub(super) struct Site {
    server: Server,
    pub(super) address: SocketAddr,
    workload: Arc<Workload>,
    numbers: Arc<AtomicU64>,
    /// How many new tasks were asked for.
    created: AtomicU64,
    pub(super) home: Option<Home>,
}

impl Site {
    /// A new bare server with an empty database of the same kind as the hub's.
    pub(super) async fn bare(plan: &Plan, bare: Bare, page: u64) -> anyhow::Result<Self> {
        let folder = Scratch::new(plan.folder.as_deref(), "bare")?;
        let schema = match &plan.database {
            Some(url) if is_postgres(url) => Some(Schema::new(url).await?),
            _ => None,
        };
        let data = folder.path().display().to_string();
        let mut arguments =
            vec!["bare".into(), "--data".into(), data, "--agents".into(), plan.agents.to_string()];
        if let Some(schema) = &schema {
            arguments.extend(["--postgres".into(), schema.url()]);
        }
        if bare == Bare::RowsInOrder {
            arguments.push("--in-order".into());
        }
        let process = Process::start_bare(&arguments, folder.path()).await?;
        let address = process.address;
        let agents = bare::agents(plan.agents);
        let open = prepare::open_tasks(address, Server::Bare, &agents).await?;
        let workload = Workload { agents, stored: open.clone(), open, page };
        let home = Home { process, folder, schema };
        Ok(Self::new(Server::Bare, address, workload, Some(home)))
    }

    /// A hub at an address, with agents that are registered there. Without a sample of stored tasks, the open ones are
    /// read.
    pub(super) async fn hub(
        address: SocketAddr,
        agents: Vec<Agent>,
        stored: Option<Vec<Known>>,
        page: u64,
        home: Option<Home>,
    ) -> anyhow::Result<Self> {
        let open = prepare::open_tasks(address, Server::Hub, &agents).await?;
        let workload = Workload { agents, stored: stored.unwrap_or_else(|| open.clone()), open, page };
        Ok(Self::new(Server::Hub, address, workload, home))
    }

    fn new(server: Server, address: SocketAddr, workload: Workload, home: Option<Home>) -> Self {
        let (numbers, created) = Default::default();
        Self { server, address, workload: Arc::new(workload), numbers, created, home }
    }

    /// Measures one operation.
    pub(super) async fn drive(
        &self,
        operation: Operation,
        connections: usize,
        span: Span,
    ) -> anyhow::Result<Figures> {
        let mut figures = self.drive_nodes(&[self.address], operation, connections, span).await?;
        Ok(figures.pop().unwrap_or_default())
    }

    /// Measures one operation on several nodes at once, which share the connections; the figures of each node.
    pub(super) async fn drive_nodes(
        &self,
        nodes: &[SocketAddr],
        operation: Operation,
        connections: usize,
        span: Span,
    ) -> anyhow::Result<Vec<Figures>> {
        let (workload, server) = (Arc::clone(&self.workload), self.server);
        let maker: Maker = Arc::new(move |number| workload.request(server, operation, number));
        let before = self.numbers.load(Relaxed);
        let share = |place: usize| connections / nodes.len() + usize::from(place < connections % nodes.len());
        let each = nodes.iter().enumerate();
        let each = each.map(|(place, node)| drive(*node, share(place), span, &self.numbers, &maker));
        let figures = futures_util::future::try_join_all(each).await?;
        if operation == Operation::CreateTask {
            self.created.fetch_add(self.numbers.load(Relaxed) - before, Relaxed);
        }
        Ok(figures)
    }

    /// How many new tasks were asked for, beside the open ones.
    pub(super) fn created(&self) -> u64 {
        self.created.load(Relaxed)
    }

    /// Ends its process, and removes its data.
    pub(super) async fn close(self) -> anyhow::Result<()> {
        match self.home {
            Some(Home { process, folder, schema }) => {
                process.stop().await?;
                drop((folder, schema));
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// Whether a URL names a PostgreSQL database.
pub(super) fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres")
}

/// Starts a hub on a data folder, without any limit on how often it is asked.
pub(super) async fn start_hub(plan: &Plan, data: &Path) -> anyhow::Result<Process> {
    Process::start(&plan.tandem.path()?, &hub_arguments(plan, data), data).await
}

pub(super) fn hub_arguments(plan: &Plan, data: &Path) -> Vec<String> {
    hub_arguments_at(plan, data, "127.0.0.1:0")
}

/// The same for a hub that listens at a known address.
pub(super) fn hub_arguments_at(plan: &Plan, data: &Path, address: &str) -> Vec<String> {
    let mut arguments: Vec<String> = ["serve", "--listen", address, "--data"].map(Into::into).into();
    arguments.push(data.display().to_string());
    if let Some(database) = &plan.database {
        arguments.extend(["--database".into(), database.clone()]);
    }
    let unlimited = [
        "rate_limit_max=0",
        "rate_limit_register_max=0",
        "max_messages_per_minute=0",
        "max_messages_per_task=100000",
        "pair_attempts_max=0",
    ];
    for setting in unlimited.into_iter().chain(plan.set.iter().map(String::as_str)) {
        arguments.extend(["--set".into(), setting.to_owned()]);
    }
    arguments
}

/// The database of a hub that was started on a data folder.
pub(super) fn database(plan: &Plan, data: &Path) -> Database {
    match plan.database.as_deref() {
        None => Database::Sqlite(data.join("tandem.db")),
        Some(url) => match url.strip_prefix("sqlite:") {
            Some(path) => Database::Sqlite(path.trim_start_matches("//").into()),
            None => Database::Postgres(url.into()),
        },
    }
}
