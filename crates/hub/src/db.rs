//! Access to the database for operations: the store, the clock and a source of ids.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tandem_app::{Error, admin, tasks};
use tandem_core::{IdSource, Now, Timestamp};
use tandem_store::{Owner, Size, Store, Tx};

use crate::clock::Clock;

/// How often a use case is repeated because tasks had expired. Each round expires up to 200 of them.
const EXPIRY_ROUNDS: usize = 50;

/// A use case. It may run more than once: after a serialization failure, or after tasks have expired.
pub trait UseCase<T>: Fn(&mut Tx<'_>, &Now) -> Result<T, Error> + Send + Sync + 'static {}
impl<T, F: Fn(&mut Tx<'_>, &Now) -> Result<T, Error> + Send + Sync + 'static> UseCase<T> for F {}

/// A handle to the database; cheap to clone.
#[derive(Debug, Clone)]
pub struct Db(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    clock: Clock,
    ids: Arc<IdSource>,
}

impl Db {
    pub(crate) fn new(store: Store, clock: Clock, ids: Arc<IdSource>) -> Self {
        Self(Arc::new(Inner { store, clock, ids }))
    }

    #[must_use]
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    #[must_use]
    pub fn time(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// The current time and a source of ids.
    #[must_use]
    pub fn now(&self) -> Now {
        Now::new(self.time(), Arc::clone(&self.0.ids))
    }

    /// Checks, after a write has failed, whether the database can be written again.
    pub(crate) async fn check_writable(&self) -> Result<(), Error> {
        if !self.store().stats().writes_fail() {
            return Ok(());
        }
        let db = self.clone();
        let looked = tokio::task::spawn_blocking(move || db.store().check_room()).await;
        looked.unwrap_or_else(|panic| Err(tandem_store::Error::Panicked(panic.to_string())))?;
        self.write(|tx, _| admin::probe_write(tx)).await
    }

    /// Runs a use case of the hub that writes.
    pub fn write<T: Send + 'static>(&self, use_case: impl UseCase<T>) -> Answer<'_, T> {
        self.write_for(Owner::Hub, use_case)
    }

    /// The same for a client.
    pub fn write_for<T: Send + 'static>(&self, owner: Owner, use_case: impl UseCase<T>) -> Answer<'_, T> {
        let (use_case, kept) = erase(use_case);
        kept.after(self.write_erased(owner, use_case))
    }

    /// Runs a use case of the hub that only reads.
    pub fn read<T: Send + 'static>(&self, use_case: impl UseCase<T>) -> Answer<'_, T> {
        let (use_case, kept) = erase(use_case);
        kept.after(self.read_erased(Owner::Hub, Size::Rows, use_case))
    }

    pub(crate) fn write_erased(&self, owner: Owner, use_case: Erased) -> Running<'_> {
        Box::pin(self.after_expiry(owner, move |now| {
            let use_case = Arc::clone(&use_case);
            self.0.store.write_for(owner, move |tx| use_case(tx, &now))
        }))
    }

    pub(crate) fn read_erased(&self, owner: Owner, size: Size, use_case: Erased) -> Running<'_> {
        Box::pin(self.after_expiry(owner, move |now| {
            let use_case = Arc::clone(&use_case);
            self.0.store.read_for(owner, size, move |tx| use_case(tx, &now))
        }))
    }

    /// Runs a use case. If it finds tasks that expired before the timer handled them, expires them and runs it again.
    async fn after_expiry<R: Future<Output = Result<(), Error>>>(
        &self,
        owner: Owner,
        run: impl Fn(Now) -> R,
    ) -> Result<(), Error> {
        for _ in 0..EXPIRY_ROUNDS {
            let overdue = match run(self.now()).await {
                Err(Error::Overdue(overdue)) => overdue,
                other => return other,
            };
            let now = self.now();
            self.0.store.write_for(owner, move |tx| tasks::expire(tx, &overdue, &now)).await?;
        }
        run(self.now()).await
    }
}

/// A use case without the type of its result, so that what runs and repeats it is compiled once and not per use case.
pub(crate) type Erased = Arc<dyn Fn(&mut Tx<'_>, &Now) -> Result<(), Error> + Send + Sync>;

/// A use case that runs. It is boxed for the same reason.
pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'a>>;

/// The result of an erased use case.
pub(crate) struct Kept<T>(Arc<Mutex<Option<T>>>);

impl<T> Kept<T> {
    /// The result, after the use case has succeeded.
    fn take(&self) -> Result<T, Error> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        kept.ok_or_else(|| tandem_store::Error::Failed("a use case left no result".into()).into())
    }

    /// The result, once the use case has run.
    pub(crate) fn after<E>(self, running: Running<'_>) -> Answer<'_, T, E> {
        Answer { running, kept: self, error: PhantomData }
    }
}

/// A use case that runs, with the type of its result. It is no `async fn`, because every caller would compile that again.
#[must_use = "it does nothing unless awaited"]
pub struct Answer<'a, T, E = Error> {
    running: Running<'a>,
    kept: Kept<T>,
    error: PhantomData<fn() -> E>,
}

impl<T, E> fmt::Debug for Answer<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answer")
    }
}

impl<T, E: From<Error>> Future for Answer<'_, T, E> {
    type Output = Result<T, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, E>> {
        ready!(self.running.as_mut().poll(context))?;
        Poll::Ready(Ok(self.kept.take()?))
    }
}

/// Takes the type of its result from a use case, and says where to find the result.
pub(crate) fn erase<T: Send + 'static>(use_case: impl UseCase<T>) -> (Erased, Kept<T>) {
    let kept = Arc::new(Mutex::new(None));
    let place = Arc::clone(&kept);
    let erased = move |tx: &mut Tx<'_>, now: &Now| {
        let result = use_case(tx, now)?;
        *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        Ok(())
    };
    (Arc::new(erased), Kept(kept))
}
