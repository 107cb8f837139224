//! The hub: the state that every operation uses.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use futures_util::future::BoxFuture;
use tandem_app::{agents, idempotency, tasks};
use tandem_core::{TaskId, Timestamp};
use tandem_store::{Figure, Owner, Size};
use tokio_util::task::TaskTracker;

use crate::callers::budget::Budget;
use crate::callers::caller::Caller;
use crate::callers::keys::Access;
use crate::callers::rates::Rates;
use crate::callers::replay::Replay;
use crate::cluster::Cluster;
use crate::config::Config;
use crate::db::{Answer, Db, Erased, Running, UseCase, erase};
use crate::delivery::bus::LinkState;
use crate::delivery::liveness::Liveness;
use crate::delivery::marks::Marks;
use crate::delivery::webhooks::Webhooks;
use crate::files::Files;
use crate::remotes::Remotes;
use crate::signing::SigningKeys;
use crate::upkeep::disk_space::DiskSpace;
use crate::upkeep::metrics::{Metrics, MetricsFormat};
use crate::upkeep::plot_counts::PlotCounts;
use crate::upkeep::totals::Totals;
use crate::{Error, ops};

/// Presence rows per transaction.
const PRESENCES_WRITTEN_MAX: usize = 500;

/// What one transaction of a request has done.
#[derive(Debug)]
pub(crate) enum Step<T, P> {
    /// The rest, with the answer of the request.
    Last(T),
    /// A part; there is more to do.
    Part(P),
}

/// A handle to the hub; cheap to clone.
pub type Hub = Arc<HubParts>;

#[derive(Debug)]
pub struct HubParts {
    pub db: Db,
    pub config: Config,
    /// Keys, tickets and challenges.
    pub access: Access,
    /// This node and the others on the same database.
    pub cluster: Cluster,
    pub rates: Rates,
    /// Memory held for clients.
    pub budget: Budget,
    /// Connected agents and their last requests.
    pub liveness: Liveness,
    /// Delivery marks that are not written yet.
    pub(crate) marks: Arc<Marks>,
    /// The epoch of the event logs. A restored hub has a new one, so that clients forget cursors from after the backup.
    pub epoch: String,
    pub webhooks: Arc<Webhooks>,
    /// Agents elsewhere that this node calls.
    pub remotes: Remotes,
    pub files: Arc<Files>,
    /// The keys by which others know that something comes from this hub.
    pub signing: SigningKeys,
    /// Whether the disks have room.
    pub(crate) disk_space: DiskSpace,
    pub metrics: Arc<Metrics>,
    /// What was counted for plots and is not written yet.
    pub plot_counts: Arc<PlotCounts>,
    /// Cached totals of the overview.
    pub totals: Totals,
    /// Requests that write. They run to completion even if their client disconnects.
    pub writing: TaskTracker,
}

impl HubParts {
    #[must_use]
    pub fn time(&self) -> Timestamp {
        self.db.time()
    }

    /// How many delivery marks are not written yet.
    #[must_use]
    pub fn waiting_marks(&self) -> usize {
        self.marks.waiting()
    }

    /// Runs a use case that only reads, for a caller whose request has memory for the result.
    pub fn read<T: Send + 'static>(
        &self,
        caller: &Caller,
        use_case: impl UseCase<T>,
    ) -> Answer<'_, T, Error> {
        let (use_case, kept) = erase(use_case);
        kept.after(self.read_metered(caller, Size::Rows, use_case))
    }

    /// The same for a list that may be large.
    pub fn read_page<T: Send + 'static>(
        &self,
        caller: &Caller,
        use_case: impl UseCase<T>,
    ) -> Answer<'_, T, Error> {
        let (use_case, kept) = erase(use_case);
        kept.after(self.read_metered(caller, Size::Page, use_case))
    }

    /// The same, with a check that the caller's key is still valid. For long responses.
    pub fn read_as<T: Send + 'static>(
        &self,
        caller: &Caller,
        use_case: impl UseCase<T>,
    ) -> Answer<'_, T, Error> {
        let (use_case, kept) = erase(use_case);
        kept.after(self.read_metered(caller, Size::Rows, self.checked(caller, use_case)))
    }

    /// The same for a list that may be large.
    pub fn read_page_as<T: Send + 'static>(
        &self,
        caller: &Caller,
        use_case: impl UseCase<T>,
    ) -> Answer<'_, T, Error> {
        let (use_case, kept) = erase(use_case);
        kept.after(self.read_metered(caller, Size::Page, self.checked(caller, use_case)))
    }

    /// Runs a use case that only reads for somebody who is no caller.
    pub fn read_for<T: Send + 'static>(
        &self,
        owner: Owner,
        use_case: impl UseCase<T>,
    ) -> Answer<'_, T, Error> {
        let (use_case, kept) = erase(use_case);
        kept.after(self.db.read_erased(owner, Size::Rows, use_case))
    }

    fn read_metered(&self, caller: &Caller, size: Size, use_case: Erased) -> Running<'_> {
        let use_case = match &caller.memory {
            Some(memory) => memory.clone().metered(size, use_case),
            None => use_case,
        };
        self.db.read_erased(caller.into(), size, use_case)
    }

    /// Runs a use case that writes for a caller. The transaction starts with a check that the caller's key is still
    /// valid, because it may have ended since the request was authenticated.
    pub fn write<T: Send + 'static>(
        &self,
        caller: &Caller,
        use_case: impl UseCase<T>,
    ) -> Answer<'_, T, Error> {
        let (use_case, kept) = erase(use_case);
        kept.after(self.db.write_erased(caller.into(), self.checked(caller, use_case)))
    }

    /// A use case that first checks that the caller's key is still valid.
    fn checked(&self, caller: &Caller, use_case: Erased) -> Erased {
        let (keys, by, key_hash) = (self.access.cache(), caller.agent.clone(), caller.key_hash);
        Arc::new(move |tx, now| {
            keys.check(tx, &by, &key_hash)?;
            use_case(tx, now)
        })
    }

    /// The same for a request with an idempotency key: it takes effect once, and a repetition gets the same answer.
    pub async fn write_once<T: Replay>(
        &self,
        caller: &Caller,
        use_case: impl UseCase<T>,
    ) -> Result<T, Error> {
        match self
            .write_step::<T, Infallible>(caller, move |tx, now| use_case(tx, now).map(Step::Last))
            .await?
        {
            Step::Last(answer) => Ok(answer),
            Step::Part(never) => match never {},
        }
    }

    /// One step of a request that may take several transactions. Its effect is complete with the last step, and that is
    /// when its answer is stored.
    pub(crate) async fn write_step<T: Replay, P: Send + 'static>(
        &self,
        caller: &Caller,
        use_case: impl UseCase<Step<T, P>>,
    ) -> Result<Step<T, P>, Error> {
        let Some(once) = &caller.idempotency else { return self.write(caller, use_case).await };
        let (by, key) = (caller.agent.clone(), once.key.clone());
        let (answer, replayed) = self
            .write(caller, move |tx, now| {
                if let Some(kept) = idempotency::find::<T::Kept>(tx, &by, &key, now)? {
                    return Ok((Step::Last(T::replay(tx, &by, kept, now)?), true));
                }
                let step = use_case(tx, now)?;
                if let Step::Last(answer) = &step {
                    idempotency::keep(tx, &by, &key, &answer.kept(), now)?;
                }
                Ok((step, false))
            })
            .await?;
        if replayed {
            once.note_replayed();
        }
        Ok(answer)
    }

    /// The answer of an earlier request with the caller's idempotency key, if there was one.
    pub async fn earlier_answer<T: Replay>(&self, caller: &Caller) -> Result<Option<T>, Error> {
        let Some(once) = &caller.idempotency else { return Ok(None) };
        let (by, key) = (caller.agent.clone(), once.key.clone());
        let answer = self
            .read(caller, move |tx, now| match idempotency::find::<T::Kept>(tx, &by, &key, now)? {
                Some(kept) => T::replay(tx, &by, kept, now).map(Some),
                None => Ok(None),
            })
            .await?;
        if answer.is_some() {
            once.note_replayed();
        }
        Ok(answer)
    }

    /// Records that an agent has fetched tasks.
    pub(crate) fn mark_fetched(&self, caller: &Caller, tasks: impl IntoIterator<Item = TaskId>) {
        if !caller.is_person {
            self.marks.fetched(&caller.agent, tasks, self.time());
        }
    }

    /// Adds the state of a task to an error about it. A task that the caller may not see stays hidden, whatever is
    /// wrong with the request.
    pub async fn on_task<T>(
        &self,
        caller: &Caller,
        id: &TaskId,
        result: Result<T, impl Into<Error>>,
    ) -> Result<T, Error> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => Err(self.error_on_task(caller, id, error.into()).await),
        }
    }

    fn error_on_task(&self, caller: &Caller, id: &TaskId, error: Error) -> BoxFuture<'_, Error> {
        let (by, id, caller) = (caller.agent.clone(), id.clone(), caller.clone());
        Box::pin(async move {
            if error.is_internal() || error.body.status.is_some() {
                return error;
            }
            match self.read(&caller, move |tx, now| tasks::standing(tx, &by, &id, now)).await {
                Ok(standing) => error.on_task(&standing),
                Err(hidden) => hidden,
            }
        })
    }

    /// Writes the time of the agents' last requests to the database.
    pub(crate) async fn write_presence(&self) -> Result<(), tandem_app::Error> {
        loop {
            let unwritten = self.liveness.take_unwritten(PRESENCES_WRITTEN_MAX);
            if unwritten.is_empty() {
                return Ok(());
            }
            self.db.write(move |tx, _| agents::write_last_seen(tx, &unwritten)).await?;
        }
    }

    /// The metrics page for Prometheus.
    #[must_use]
    pub fn metrics_page(&self, format: MetricsFormat) -> String {
        let bus = &self.liveness.bus;
        let (sockets, streams) = bus.open();
        let mut figures = vec![
            Figure::level("open_sockets", "Open WebSockets", sockets as u64),
            Figure::level("open_streams", "Open event streams", streams as u64),
            Figure::level("waiting_calls", "Calls that wait for a task", bus.waits() as u64),
            Figure::level("memory_held_bytes", "Memory held for clients", self.budget.used() as u64),
            Figure::level(
                "memory_limit_bytes",
                "Memory that may be held for clients",
                self.budget.limit() as u64,
            ),
            Figure::level("nodes", "Nodes of the hub that are alive", self.cluster.live_nodes() as u64),
            Figure::level("draining", "1 while the hub stops", self.cluster.is_draining().into()),
        ];
        if let (Some(state), Some(link)) = (bus.link_state(), bus.link_figures()) {
            let (connected, hearing) = (state != LinkState::Away, state == LinkState::Hearing);
            figures.extend([
                Figure::level("bus_connected", "1 while the bus is connected", connected.into()),
                Figure::level("bus_hearing", "1 while every other node is heard", hearing.into()),
                Figure::level(
                    "bus_subscriptions",
                    "Subjects this node listens to",
                    link.subscriptions.load(Relaxed),
                ),
                Figure::last_time(
                    "bus_round_trip_us",
                    "Time to the bus and back",
                    link.round_trip_us.load(Relaxed),
                ),
                Figure::count("bus_sent", "Messages sent to the bus", link.sent.load(Relaxed)),
                Figure::count("bus_received", "Messages from the bus", link.received.load(Relaxed)),
                Figure::count("bus_lost", "Wake-ups that the bus did not take", link.lost.load(Relaxed)),
                Figure::count("bus_connects", "Connections made to the bus", link.connects.load(Relaxed)),
            ]);
        }
        self.metrics.page(format, &self.db.store().stats().described(), &figures)
    }

    pub async fn overview(&self) -> Result<tandem_api::admin::Overview, Error> {
        ops::admin::overview(self).await
    }
}
