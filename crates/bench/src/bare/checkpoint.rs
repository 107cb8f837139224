//! Copies SQLite's write-ahead log back on a thread of its own, as the hub does: left to itself, SQLite does it within
//! a commit while everybody waits, and the bare loop would be slower than it could be.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{SyncSender, sync_channel};

use rusqlite::{Connection, OpenFlags};

/// How many pages the log may have: 64 MB, as in the hub.
const LOG_PAGES: usize = 16_000;

/// The writer's side.
pub(super) struct Checkpoints {
    /// How many pages the log had after the last commit.
    pages: Arc<AtomicUsize>,
    /// At how many it is copied next.
    due: usize,
    /// Whether the thread was asked to copy.
    asked: bool,
    done: Arc<AtomicBool>,
    ask: SyncSender<()>,
}

impl Checkpoints {
    /// Takes over from the writer's own checkpoints.
    pub(super) fn start(writer: &mut Connection, path: &Path) -> anyhow::Result<Self> {
        let pages = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&pages);
        writer.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, in_log: i32| {
            seen.store(usize::try_from(in_log).unwrap_or_default(), Relaxed);
            Ok(())
        }))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(path, flags)?;
        conn.execute_batch("pragma busy_timeout = 5000; pragma synchronous = full")?;
        let done = Arc::new(AtomicBool::new(false));
        let (ask, asked) = sync_channel(1);
        let say_done = Arc::clone(&done);
        std::thread::Builder::new().name("bare-checkpoint".into()).spawn(move || {
            while asked.recv().is_ok() {
                copy(&conn);
                say_done.store(true, Relaxed);
            }
        })?;
        Ok(Self { pages, due: LOG_PAGES, asked: false, done, ask })
    }

    pub(super) fn after_commit(&mut self, writer: &Connection) {
        let pages = self.pages.load(Relaxed);
        if !self.asked {
            if pages >= self.due {
                self.asked = self.ask.try_send(()).is_ok();
            }
        } else if self.done.swap(false, Relaxed) {
            self.asked = false;
            // A reader that began earlier keeps the log from starting again; then it grows by as much once more.
            self.due = if copy(writer) { LOG_PAGES } else { pages + LOG_PAGES };
        }
    }
}

/// Copies what can be copied without waiting; true if that was everything.
fn copy(conn: &Connection) -> bool {
    let numbers = conn.query_row("pragma wal_checkpoint(passive)", [], |row| {
        Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
    });
    numbers.is_ok_and(|(in_log, copied)| in_log == copied)
}
