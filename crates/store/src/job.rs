//! A job: a use case with its types erased. Queues, groups and answers are compiled once, not once per use case.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::queue::Size;
use crate::{Error, Tx};

/// A job that takes longer than this is worth a line in the log: it held up everybody else.
pub(crate) const SLOW: Duration = Duration::from_millis(20);

/// Whether a job is still wanted. Its caller waits for a limited time and then gives up; a job that has not started by
/// then never does.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turn(Arc<AtomicU8>);

impl Turn {
    const STARTED: u8 = 1;
    const GIVEN_UP: u8 = 2;

    fn claim(&self, state: u8) -> bool {
        match self.0.compare_exchange(0, state, AcqRel, Acquire) {
            Ok(_) => true,
            Err(now) => now == state,
        }
    }

    /// Starts the job; false when its caller has given up.
    fn start(&self) -> bool {
        self.claim(Self::STARTED)
    }

    /// Gives the job up; false when it has started.
    pub(crate) fn give_up(&self) -> bool {
        self.claim(Self::GIVEN_UP)
    }
}

/// The result of a use case, which its job leaves for the caller. A job that runs again replaces it.
pub(crate) struct Kept<T, E>(Arc<Mutex<Option<Result<T, E>>>>);

impl<T, E: From<Error>> Kept<T, E> {
    /// The result, once the job is answered.
    pub(crate) fn take(self, committed: Result<(), Error>) -> Result<T, E> {
        committed?;
        let result = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        result.unwrap_or_else(|| Err(Error::failed("a job was answered before it ran".into()).into()))
    }
}

/// A use case without its types. It keeps its result, and says whether it succeeded.
pub(crate) struct Erased {
    run: Box<dyn FnMut(&mut Tx<'_>) -> bool + Send>,
    name: &'static str,
}

impl Erased {
    pub(crate) fn new<T, E, F>(use_case: F) -> (Self, Kept<T, E>)
    where
        T: Send + 'static,
        E: Send + 'static,
        F: Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    {
        let kept = Arc::new(Mutex::new(None));
        let place = Arc::clone(&kept);
        let run = move |tx: &mut Tx<'_>| {
            let result = use_case(tx);
            let succeeded = result.is_ok();
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            succeeded
        };
        (Self { run: Box::new(run), name: std::any::type_name::<F>() }, Kept(kept))
    }
}

/// A use case that waits for the database, or runs on it.
pub(crate) struct Job {
    use_case: Erased,
    pub(crate) size: Size,
    panic: Option<String>,
    reply: oneshot::Sender<Result<(), Error>>,
    turn: Turn,
    /// The request that waits for it, so that log lines of the store name it.
    span: tracing::Span,
}

impl Job {
    pub(crate) fn new(
        use_case: Erased,
        size: Size,
        reply: oneshot::Sender<Result<(), Error>>,
        turn: Turn,
    ) -> Self {
        Self { use_case, size, panic: None, reply, turn, span: tracing::Span::current() }
    }

    /// Whether somebody waits for the result. Without one, only a write is worth doing.
    pub(crate) fn is_awaited(&self) -> bool {
        !self.reply.is_closed()
    }

    /// Whether it reads as much as fills a page.
    pub(crate) fn is_page(&self) -> bool {
        self.size == Size::Page
    }

    /// Starts the job; false when nobody waits for it any more.
    pub(crate) fn start(&self) -> bool {
        self.turn.start()
    }

    /// Runs the use case and keeps its result; true when it succeeded.
    pub(crate) fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        let _in_request = self.span.clone().entered();
        let started = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.use_case.run)(tx)));
        let took = started.elapsed();
        if took > SLOW {
            self.warn_slow(took, 1);
        }
        self.panic = outcome.as_ref().err().map(|panic| panic_text(&**panic));
        outcome.unwrap_or(false)
    }

    /// Makes a mistake of the use case show in tests: it was refused after it had written, so a whole group was rolled
    /// back for it, and one agent could have others wait.
    pub(crate) fn refused_late(&mut self) {
        if cfg!(debug_assertions) && self.panic.is_none() {
            let _in_request = self.span.clone().entered();
            let text = format!("{} was refused after it had written", self.use_case.name);
            tracing::error!("{text}");
            self.panic = Some(text);
        }
    }

    /// Logs that it waited long for the database, together with others.
    pub(crate) fn warn_slow(&self, took: Duration, jobs: usize) {
        let _in_request = self.span.clone().entered();
        let job = self.use_case.name.trim_end_matches("::{{closure}}");
        tracing::warn!(job, jobs, took_ms = took.as_millis(), "slow store job");
    }

    pub(crate) fn finish(self, committed: Result<(), Error>) {
        let panicked = self.panic.map_or(Ok(()), |text| Err(Error::Panicked(text)));
        // The caller may have gone away; its work stands all the same.
        let _ = self.reply.send(committed.and(panicked));
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without words".into())
}
