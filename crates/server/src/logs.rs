//! Logging: readable on a terminal, JSON otherwise. Log lines never contain secrets, because no value with a secret
//! is passed to them.
//!
//! A thread of its own writes the lines. A program that reads them too slowly, or not at all, delays nothing else: lines
//! that find no room are left out, and their number is logged.

use std::io::{IsTerminal as _, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// What may be logged, whatever `TANDEM_LOG` says. Below `info`, libraries log what passes through them: the database
/// driver its statements with all parameters, others frames and addresses. The MCP library logs whole messages with
/// keys in them, and client errors as warnings; only its errors are logged.
fn bounds() -> Targets {
    Targets::new()
        .with_default(LevelFilter::INFO)
        .with_targets([("tandem", LevelFilter::TRACE), ("rmcp", LevelFilter::ERROR)])
}

/// Lines that wait to be written.
const LINES_MAX: usize = 8_192;
/// A longer line is cut.
const LINE_BYTES_MAX: usize = 16 * 1024;
/// How long the end of the process waits for the last lines.
const FLUSH_MAX: Duration = Duration::from_secs(1);

/// Starts logging to standard error. `TANDEM_LOG` sets the filter: a level, or levels by module. Dropping the result
/// waits until the lines so far are written.
pub fn init() -> LastLines {
    let wanted = std::env::var("TANDEM_LOG").ok().filter(|wanted| wanted.parse::<Targets>().is_ok());
    let wanted = wanted.as_deref().unwrap_or("info");
    // By module alone: a filter that also looks at spans would keep track of the span of every request.
    let wanted: Targets = wanted.parse().unwrap_or_default();
    let registry = tracing_subscriber::registry().with(wanted).with(bounds());
    let queue = LineQueue::start();
    let last = LastLines(queue.clone());
    let make_writer = move || Line { bytes: Vec::new(), queue: queue.clone() };
    // In tests, logging may have started already.
    let _ = if std::io::stderr().is_terminal() {
        registry.with(layer().with_writer(make_writer).with_target(false).compact()).try_init()
    } else {
        registry.with(layer().with_writer(make_writer).json().flatten_event(true)).try_init()
    };
    last
}

enum Queued {
    Line(Vec<u8>),
    /// Answered when all lines before it are written.
    Flush(SyncSender<()>),
}

/// The way to the thread that writes.
#[derive(Debug, Clone)]
struct LineQueue {
    lines: SyncSender<Queued>,
    left_out: Arc<AtomicU64>,
}

impl LineQueue {
    fn start() -> Self {
        let (lines, queued) = sync_channel(LINES_MAX);
        let queue = Self { lines, left_out: Arc::default() };
        let left_out = Arc::clone(&queue.left_out);
        // Without a thread there is no log, and still a hub.
        let _ = std::thread::Builder::new().name("log".into()).spawn(move || write(&queued, &left_out));
        queue
    }
}

fn write(queued: &Receiver<Queued>, left_out: &AtomicU64) {
    let mut stderr = std::io::stderr();
    // Nobody can be told that writing fails.
    for next in queued {
        match next {
            Queued::Line(line) => drop(stderr.write_all(&line)),
            Queued::Flush(written) => drop(written.try_send(())),
        }
        let count = left_out.swap(0, Relaxed);
        if count > 0 {
            let _ =
                writeln!(stderr, "{{\"level\":\"WARN\",\"message\":\"{count} log lines were left out\"}}");
        }
    }
}

/// One line of the log, sent off when it is dropped.
struct Line {
    bytes: Vec<u8>,
    queue: LineQueue,
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let room = LINE_BYTES_MAX.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let mut line = std::mem::take(&mut self.bytes);
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        if self.queue.lines.try_send(Queued::Line(line)).is_err() {
            self.queue.left_out.fetch_add(1, Relaxed);
        }
    }
}

/// Writes the last lines of the log when it is dropped, for a second at most.
#[derive(Debug)]
#[must_use = "dropping it waits for the lines that are logged so far"]
pub struct LastLines(LineQueue);

impl Drop for LastLines {
    fn drop(&mut self) {
        let (written, done) = sync_channel(1);
        if self.0.lines.try_send(Queued::Flush(written)).is_ok() {
            let _ = done.recv_timeout(FLUSH_MAX);
        }
    }
}
