//! The load: a number of connections, each of which sends the next request as soon as it has an answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use serde::Serialize;
use tokio::task::JoinSet;

use super::connection::Connection;

/// How long the last requests may take when time is up, before they count as lost.
const PATIENCE: Duration = Duration::from_secs(10);
/// After how many errors a connection gives up.
pub(super) const ERRORS_MAX: u64 = 1_000;

pub(super) type Maker = Arc<dyn Fn(u64) -> Request<Full<Bytes>> + Send + Sync>;

/// How long a measurement takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    /// Not measured.
    pub(super) warm_up: Duration,
    pub(super) measured: Duration,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Figures {
    /// Answers a second.
    pub(super) rate: f64,
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
    /// Requests without a successful answer, including the warm-up.
    pub(super) errors: u64,
    /// The first of them.
    pub(super) first_error: Option<String>,
}

/// What one connection saw.
#[derive(Default)]
pub(super) struct Seen {
    took_us: Vec<u32>,
    pub(super) errors: u64,
    first_error: Option<String>,
}

impl Seen {
    pub(super) fn error(&mut self, what: String) {
        self.errors += 1;
        self.first_error.get_or_insert(what);
    }

    /// Notes how long a successful answer took.
    pub(super) fn took(&mut self, time: Duration) {
        self.took_us.push(u32::try_from(time.as_micros()).unwrap_or(u32::MAX));
    }

    /// Adds what another connection saw.
    pub(super) fn add(&mut self, other: Self) {
        self.took_us.extend(other.took_us);
        self.errors += other.errors;
        self.first_error = self.first_error.take().or(other.first_error);
    }
}

/// Drives `connections` connections. Requests are numbered from `numbers`, which goes on from cell to cell.
pub(super) async fn drive(
    address: SocketAddr,
    connections: usize,
    span: Span,
    numbers: &Arc<AtomicU64>,
    maker: &Maker,
) -> anyhow::Result<Figures> {
    let mut connections_open = Vec::new();
    for _ in 0..connections {
        connections_open.push(Connection::open(address).await?);
    }
    let from = Instant::now() + span.warm_up;
    let until = from + span.measured;
    let mut tasks = JoinSet::new();
    for connection in connections_open {
        let (numbers, maker) = (Arc::clone(numbers), Arc::clone(maker));
        tasks.spawn(async move { ask_until(address, connection, (from, until), &numbers, &maker).await });
    }
    let mut all = Seen::default();
    let deadline = tokio::time::Instant::from_std(until + PATIENCE);
    while !tasks.is_empty() {
        match tokio::time::timeout_at(deadline, tasks.join_next()).await {
            Ok(Some(Ok(seen))) => all.add(seen),
            Ok(Some(Err(failed))) => all.error(failed.to_string()),
            Ok(None) => break,
            Err(_) => {
                for _ in 0..tasks.len() {
                    all.error(format!("no answer within {} s", PATIENCE.as_secs()));
                }
                tasks.shutdown().await;
            }
        }
    }
    Ok(figures(all, span.measured))
}

async fn ask_until(
    address: SocketAddr,
    mut connection: Connection,
    (from, until): (Instant, Instant),
    numbers: &AtomicU64,
    maker: &Maker,
) -> Seen {
    let mut seen = Seen::default();
    while seen.errors < ERRORS_MAX {
        let request = maker(numbers.fetch_add(1, Relaxed));
        let asked = Instant::now();
        if asked >= until {
            break;
        }
        let answer = connection.ask(request).await;
        let answered = Instant::now();
        match answer {
            Ok((200..300, _)) => {
                if asked >= from && answered <= until {
                    seen.took(answered - asked);
                }
            }
            Ok((status, body)) => seen.error(format!("{status} {}", String::from_utf8_lossy(&body))),
            Err(error) => {
                seen.error(error.to_string());
                match Connection::open(address).await {
                    Ok(another) => connection = another,
                    Err(error) => {
                        seen.error(error.to_string());
                        break;
                    }
                }
            }
        }
    }
    seen
}

pub(super) fn figures(mut all: Seen, measured: Duration) -> Figures {
    all.took_us.sort_unstable();
    let at = |share: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place within the list"
        )]
        let place = (all.took_us.len().saturating_sub(1) as f64 * share).round() as usize;
        all.took_us.get(place).map_or(0.0, |us| f64::from(*us) / 1_000.0)
    };
    Figures {
        rate: all.took_us.len() as f64 / measured.as_secs_f64(),
        p50_ms: at(0.5),
        p99_ms: at(0.99),
        errors: all.errors,
        first_error: all.first_error,
    }
}
