//! Copying SQLite's log back into its database, beside the writer.
//!
//! Left to itself, SQLite does this within a commit whenever the log is long enough, and everybody waits. Here a
//! thread of its own copies while the writer goes on; the writer then only copies what it added meanwhile, and has the
//! database file flushed, so that the log can begin anew. Nothing about durability changes: what is committed is on
//! the disk in the log.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::{Connection, OpenFlags};

use crate::Error;
use crate::sqlite::failure;

/// The writer's side.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    /// How many pages the log had after the last commit.
    pages: Arc<AtomicUsize>,
    /// How many it may have.
    log_pages: usize,
    /// At how many it is copied next.
    due: usize,
    /// Whether the thread was asked to copy.
    asked: bool,
    done: Arc<AtomicBool>,
    ask: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Takes over from the writer's own checkpoints.
    pub(crate) fn beside(writer: &mut Connection, path: &Path, log_pages: usize) -> Result<Self, Error> {
        let pages = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&pages);
        writer
            .wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, in_log: i32| {
                seen.store(usize::try_from(in_log).unwrap_or_default(), Relaxed);
                Ok(())
            }))
            .map_err(failure)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(path, flags).map_err(failure)?;
        conn.execute_batch("pragma busy_timeout = 5000; pragma synchronous = full").map_err(failure)?;
        let done = Arc::new(AtomicBool::new(false));
        let (ask, asked) = sync_channel(1);
        let say_done = Arc::clone(&done);
        let thread = std::thread::Builder::new()
            .name("store-checkpoint".into())
            .spawn(move || copy_when_asked(&conn, &asked, &say_done))
            .map_err(|error| Error::failed(format!("no thread for checkpoints: {error}")))?;
        let (ask, thread) = (Some(ask), Some(thread));
        Ok(Self { pages, log_pages, due: log_pages, asked: false, done, ask, thread })
    }

    /// Does what is due.
    pub(crate) fn after_commit(&mut self, writer: &Connection) {
        let pages = self.pages.load(Relaxed);
        if !self.asked {
            if pages >= self.due {
                self.asked = self.ask.as_ref().is_some_and(|ask| ask.try_send(()).is_ok());
            }
            return;
        }
        if !self.done.swap(false, Relaxed) {
            return;
        }
        self.asked = false;
        // A reader that began before all this keeps the log from beginning anew; then it grows as much again.
        self.due = if copy(writer) { self.log_pages } else { pages + self.log_pages };
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.ask.take();
        if let Some(thread) = self.thread.take() {
            // It does not panic, and if it did there would be nothing to do about it here.
            let _ = thread.join();
        }
    }
}

fn copy_when_asked(conn: &Connection, asked: &Receiver<()>, done: &AtomicBool) {
    while asked.recv().is_ok() {
        copy(conn);
        done.store(true, Relaxed);
    }
}

/// Copies what can be without waiting for anybody; true if that was all. Beside another one that copies there is
/// nothing to do, and what is told then looks like all: the next commits find out.
fn copy(conn: &Connection) -> bool {
    let numbers = conn.query_row("pragma wal_checkpoint(passive)", [], |row| {
        Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
    });
    match numbers {
        Ok((in_log, copied)) => in_log == copied,
        Err(error) => {
            tracing::warn!(%error, "the database's log could not be copied back; it grows until it can");
            false
        }
    }
}
