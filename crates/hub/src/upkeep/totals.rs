//! Totals for the overview. Counting takes long on a large hub, so it is done in small parts in the background, and a
//! request gets the last totals if new ones do not come at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tandem_api::system::Database;
use tandem_app::admin::{BrokenWebhook, OldTask};
use tandem_app::{Error, admin};
use tandem_core::Timestamp;
use tandem_store::admin::Counted;
use tokio::sync::watch;

use crate::db::Db;

/// How long totals count as new.
const NEW_MS: i64 = 10_000;
/// How long a request waits for new totals if it can have the last ones.
const WAIT: Duration = Duration::from_millis(200);

/// How long it waits for the first ones.
const FIRST_WAIT: Duration = Duration::from_secs(10);

/// The totals of one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    pub(crate) agents: i64,
    pub(crate) connections: i64,
    pub(crate) messages: i64,
    pub(crate) events: i64,
    pub(crate) tasks: BTreeMap<String, i64>,
    /// The oldest live tasks.
    pub(crate) oldest: Vec<OldTask>,
    /// Agents whose webhook does not get through.
    pub(crate) broken_webhooks: Vec<BrokenWebhook>,
    pub(crate) counted_at: Timestamp,
}

/// The last totals.
#[derive(Debug)]
pub struct Totals {
    pub database: Database,
    pub started_at: Timestamp,
    state: Arc<watch::Sender<State>>,
}

#[derive(Debug, Clone, Default)]
struct State {
    last: Option<Counts>,
    is_counting: bool,
    /// How often a count ended, with totals or without.
    ended: u64,
}

impl Totals {
    pub(crate) fn new(database: Database, started_at: Timestamp) -> Self {
        Self { database, started_at, state: Arc::default() }
    }

    /// The totals, at most ten seconds old on a hub of ordinary size.
    pub(crate) async fn get(&self, db: &Db) -> Result<Counts, Error> {
        let mut state = self.state.subscribe();
        let (last, ended) = {
            let state = state.borrow_and_update();
            (state.last.clone(), state.ended)
        };
        if let Some(last) = &last
            && (0..NEW_MS).contains(&db.time().ms_since(last.counted_at))
        {
            return Ok(last.clone());
        }
        self.start_counting(db);
        let counted = state.wait_for(|state| state.ended > ended);
        match last {
            None => drop(tokio::time::timeout(FIRST_WAIT, counted).await),
            // Late totals are for the next one who asks.
            Some(_) => drop(tokio::time::timeout(WAIT, counted).await),
        }
        // Only a hub that never could count has none.
        self.state.borrow().last.clone().ok_or(Error::Store(tandem_store::Error::Busy))
    }

    /// Counts in the background, unless somebody does.
    fn start_counting(&self, db: &Db) {
        let starts = self.state.send_if_modified(|state| !std::mem::replace(&mut state.is_counting, true));
        if !starts {
            return;
        }
        let (db, state) = (db.clone(), Arc::clone(&self.state));
        tokio::spawn(
            async move {
                let counted = count(&db).await;
                if let Err(error) = &counted {
                    tracing::warn!(%error, "could not count for the overview");
                }
                state.send_modify(|state| {
                    state.last = counted.ok().or(state.last.take());
                    state.is_counting = false;
                    state.ended += 1;
                });
            }
            .boxed(),
        );
    }
}

async fn count(db: &Db) -> Result<Counts, Error> {
    let mut counts = Counts { counted_at: db.time(), ..Counts::default() };
    counts.tasks = count_by_status(db, Counted::Tasks, &mut counts).await?;
    counts.agents = count_all(db, Counted::Agents, &mut counts).await?;
    counts.connections = count_all(db, Counted::ConnectionSides, &mut counts).await? / 2;
    counts.messages = count_all(db, Counted::Messages, &mut counts).await?;
    counts.events = count_all(db, Counted::Events, &mut counts).await?;
    Ok(counts)
}

async fn count_all(db: &Db, what: Counted, told: &mut Counts) -> Result<i64, Error> {
    Ok(count_by_status(db, what, told).await?.values().sum())
}

/// Counts all rows of a table, and notes what an operator should know of them.
async fn count_by_status(db: &Db, what: Counted, told: &mut Counts) -> Result<BTreeMap<String, i64>, Error> {
    let (mut by_status, mut after) = (BTreeMap::new(), String::new());
    loop {
        let from = after.clone();
        let part = db.read(move |tx, _| admin::count_some(tx, what, &from)).await?;
        for (status, count) in part.counts.by_status {
            *by_status.entry(status).or_default() += count;
        }
        told.oldest.extend(part.oldest);
        told.broken_webhooks.extend(part.broken_webhooks);
        admin::most_urgent(&mut told.oldest, &mut told.broken_webhooks);
        match part.counts.next {
            Some(next) => after = next,
            None => return Ok(by_status),
        }
    }
}
