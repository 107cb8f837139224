//! Signals that end a process, at moments when it must not end at once: a key is on its way, or something has to be put
//! back first.
//!
//! A thread of its own waits for them from the first need on, because the command may be busy or reading from a
//! terminal. As long as nobody holds them, they end the process as before.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::output;

/// What a shell adds to the number of a signal that ended a process.
const BY_SIGNAL: i32 = 128;

static STATE: Mutex<State> = Mutex::new(State { watched: false, held: 0, arrived: None, at_end: None });

struct State {
    /// Whether the thread runs.
    watched: bool,
    /// How many want the process to go on.
    held: usize,
    /// The exit code of a signal that came in the meantime.
    arrived: Option<i32>,
    /// What has to be put back.
    at_end: Option<Box<dyn FnOnce() + Send>>,
}

/// Keeps signals from ending the process until it is released or dropped.
#[derive(Debug)]
pub(crate) struct Hold(());

/// Holds the signals that end a process.
pub(crate) fn hold() -> io::Result<Hold> {
    watch()?;
    state().held += 1;
    Ok(Hold(()))
}

impl Hold {
    /// Ends the process if a signal arrived in the meantime. A hold that is only dropped does not, so that a failure can
    /// be reported first.
    pub(crate) fn release(self) {
        drop(self);
        let state = state();
        if let (0, Some(code)) = (state.held, state.arrived) {
            std::process::exit(code);
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        state().held -= 1;
    }
}

/// Does something when a signal ends the process, until the result is dropped.
pub(crate) fn at_end(what: impl FnOnce() + Send + 'static) -> io::Result<AtEnd> {
    watch()?;
    state().at_end = Some(Box::new(what));
    Ok(AtEnd(()))
}

/// Made by [`at_end`].
#[derive(Debug)]
pub(crate) struct AtEnd(());

impl Drop for AtEnd {
    fn drop(&mut self) {
        state().at_end = None;
    }
}

/// Does work that removes its traces when it is dropped. A signal drops it and then ends the process.
pub(crate) async fn or_dropped<T>(work: impl Future<Output = T>) -> io::Result<T> {
    let mut signals = Signals::new()?;
    let code = tokio::select! {
        done = work => return Ok(done),
        code = signals.next() => code,
    };
    std::process::exit(code)
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the thread, unless it runs. It has taken over the signals when this returns.
fn watch() -> io::Result<()> {
    let mut state = state();
    if state.watched {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let signals = {
        let _entered = runtime.enter();
        Signals::new()?
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || runtime.block_on(obey(signals)))?;
    state.watched = true;
    Ok(())
}

async fn obey(mut signals: Signals) {
    loop {
        let code = signals.next().await;
        let mut state = state();
        if state.held == 0 {
            if let Some(at_end) = state.at_end.take() {
                at_end();
            }
            std::process::exit(code);
        }
        if state.arrived.replace(code).is_none() {
            output::report!("Waiting for the hub's answer, so that no key gets lost. Then this ends.");
        }
    }
}

/// The signals that end a process: SIGINT, SIGTERM, and SIGHUP, which comes when the terminal is closed.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for one and gives the exit code of a process that it ends.
    pub(crate) async fn next(&mut self) -> i32 {
        let kind = tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.hang_up.recv() => SignalKind::hangup(),
        };
        BY_SIGNAL + kind.as_raw_value()
    }
}
