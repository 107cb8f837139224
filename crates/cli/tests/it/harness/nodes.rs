//! Single nodes of one hub, in this process, without NATS: a test sends each request to the node that it means.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use tandem_hub::webhooks::address::Resolver;
use tandem_hub::{Clock, Config};

use super::{Agent, Db, Harness, Node, Place, START_MS};

/// The nodes of a hub on one PostgreSQL database.
pub struct Nodes {
    pub place: Arc<Place>,
    clock: Arc<AtomicI64>,
}

impl Nodes {
    pub fn new() -> Self {
        let place = Arc::new(Place::new(Db::Postgres));
        std::fs::create_dir_all(place.folder.join("shared")).unwrap();
        Self { place, clock: Arc::new(AtomicI64::new(START_MS)) }
    }

    /// With a clock that shows the present.
    pub fn in_the_present() -> Self {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis();
        Self { clock: Arc::new(AtomicI64::new(i64::try_from(now).unwrap())), ..Self::new() }
    }

    /// Starts a node, or starts it again.
    pub async fn start(&self, name: &str, set: impl FnOnce(&mut Config)) -> Harness {
        let mut config = self.place.config();
        config.data = self.place.folder.join(name);
        config.bus = Some("none".into());
        config.shared_files = Some(self.place.folder.join("shared"));
        set(&mut config);
        drop(tandem_server::logs::init());
        let clock = Clock::Manual(Arc::clone(&self.clock));
        let node = Node::start(config, clock, Resolver::system(), None).await;
        Harness::of_nodes(vec![node], Arc::clone(&self.place), Arc::clone(&self.clock)).await
    }
}

impl Agent {
    /// The same agent, as a client of another node.
    pub fn at(&self, node: &Harness) -> Self {
        Self { client: node.client.clone(), ..self.clone() }
    }
}
