//! Nodes that share a schema of PostgreSQL and a NATS server.

use std::net::SocketAddr;

use anyhow::Context as _;

use crate::Plan;
use crate::process::{Process, Scratch};
use crate::schema::Schema;
use crate::services::{Nats, ReservedPort};
use crate::site::hub_arguments_at;

/// The same on all nodes.
const ADMIN_TOKEN: &str = "bench-operator-token-0123456789";

/// Running nodes, which end with their owner. Fields are dropped in their order.
pub(super) struct Nodes {
    pub(super) processes: Vec<Process>,
    _nats: Option<Nats>,
    _ports: Vec<ReservedPort>,
    _folder: Scratch,
    _schema: Schema,
}

impl Nodes {
    /// Starts nodes on a new schema; one node needs no NATS.
    pub(super) async fn start(plan: &Plan, count: usize) -> anyhow::Result<Self> {
        let schema = Schema::new(plan.database.as_deref().unwrap_or_default()).await?;
        let folder = Scratch::new(plan.folder.as_deref(), "nodes")?;
        let nats = if count > 1 { Some(Nats::start(folder.path()).await?) } else { None };
        let plan = Plan { database: Some(schema.url()), ..plan.clone() };
        let files = folder.path().join("files");
        std::fs::create_dir_all(&files)?;
        let (mut processes, mut ports) = (Vec::new(), Vec::new());
        for number in 0..count {
            let data = folder.path().join(format!("node-{number}"));
            std::fs::create_dir_all(&data)?;
            // Other nodes reach it there, so its port is chosen before it starts.
            let port = ReservedPort::new()?;
            let address = port.address().to_string();
            let mut arguments = hub_arguments_at(&plan, &data, &address);
            arguments.extend(["--admin-token".into(), ADMIN_TOKEN.into()]);
            if let Some(nats) = &nats {
                arguments.extend(["--advertise".into(), address, "--bus".into(), nats.url()]);
                arguments.extend(["--shared-files".into(), files.display().to_string()]);
            }
            let started = Process::start(&plan.tandem.path()?, &arguments, &data).await;
            ports.push(port);
            processes.push(started.with_context(|| format!("node {number} did not start"))?);
        }
        Ok(Self { processes, _ports: ports, _nats: nats, _folder: folder, _schema: schema })
    }

    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        self.processes.iter().map(|process| process.address).collect()
    }

    /// Ends all nodes, and removes their data.
    pub(super) async fn stop(self) -> anyhow::Result<()> {
        for process in self.processes {
            process.stop().await?;
        }
        Ok(())
    }
}
