//! A place to measure: the hub, started here or elsewhere, or the limit; with who asks there.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tandem_store::Database;

use super::crowd::{Agent, Asked, Crowd, Known, Operation};
use super::load::{Figures, Maker, Span, drive};
use super::process::{Process, Scratch};
use super::{Plan, limit, setup};

/// A place to measure.
pub(super) struct Site {
    asked: Asked,
    /// What distinguishes it from others that are asked in the same way, in words.
    pub(super) kind: &'static str,
    pub(super) address: SocketAddr,
    crowd: Arc<Crowd>,
    numbers: Arc<AtomicU64>,
    /// Ended before its folder is removed: fields are dropped in their order.
    pub(super) process: Option<Process>,
    _folder: Option<Scratch>,
}

impl Site {
    /// A new limit with an empty database.
    pub(super) async fn limit(plan: &Plan, page: u64) -> anyhow::Result<Self> {
        Self::limit_with(plan, page, &[]).await
    }

    /// A limit that also keeps tasks in the two orders that lists need.
    pub(super) async fn limit_with_lists(plan: &Plan) -> anyhow::Result<Self> {
        let limit = Self::limit_with(plan, 1, &["--lists"]).await?;
        Ok(Self { kind: ", a limit with order", ..limit })
    }

    async fn limit_with(plan: &Plan, page: u64, flags: &[&str]) -> anyhow::Result<Self> {
        let folder = Scratch::new(plan.folder.as_deref(), "limit")?;
        let data = folder.path().display().to_string();
        let mut arguments =
            vec!["bench-limit".into(), "--data".into(), data, "--agents".into(), plan.agents.to_string()];
        arguments.extend(flags.iter().map(ToString::to_string));
        let process = Process::start(&arguments, folder.path()).await?;
        let agents = limit::agents(plan.agents);
        let open = setup::open_tasks(process.address, Asked::Limit, &agents).await?;
        let crowd = Crowd { agents, stored: open.clone(), open, page };
        Ok(Self::new(Asked::Limit, process.address, crowd, Some(process), Some(folder)))
    }

    /// A hub at an address, with agents that are known there. Without a sample of stored tasks, reads
    /// look at the live ones.
    pub(super) async fn hub(
        address: SocketAddr,
        agents: Vec<Agent>,
        stored: Option<Vec<Known>>,
        page: u64,
        home: Option<(Process, Scratch)>,
    ) -> anyhow::Result<Self> {
        let open = setup::open_tasks(address, Asked::Hub, &agents).await?;
        let crowd = Crowd { agents, stored: stored.unwrap_or_else(|| open.clone()), open, page };
        let (process, folder) = home.unzip();
        Ok(Self::new(Asked::Hub, address, crowd, process, folder))
    }

    fn new(
        asked: Asked,
        address: SocketAddr,
        crowd: Crowd,
        process: Option<Process>,
        folder: Option<Scratch>,
    ) -> Self {
        let (kind, crowd) = ("", Arc::new(crowd));
        Self { asked, kind, address, crowd, numbers: Arc::default(), process, _folder: folder }
    }

    /// Measures one operation.
    pub(super) async fn drive(
        &self,
        operation: Operation,
        connections: usize,
        span: Span,
    ) -> anyhow::Result<Figures> {
        let (crowd, asked) = (Arc::clone(&self.crowd), self.asked);
        let maker: Maker = Arc::new(move |number| crowd.request(asked, operation, number));
        drive(self.address, connections, span, &self.numbers, &maker).await
    }

    /// Ends its process, and removes its folder.
    pub(super) async fn close(self) -> anyhow::Result<()> {
        match self.process {
            Some(process) => process.stop().await,
            None => Ok(()),
        }
    }
}

/// Starts a hub on a data folder, without any limit on how often it is asked.
pub(super) async fn start_hub(plan: &Plan, data: &Path) -> anyhow::Result<Process> {
    let mut arguments: Vec<String> = ["serve", "--listen", "127.0.0.1:0", "--data"].map(Into::into).into();
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
    Process::start(&arguments, data).await
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
