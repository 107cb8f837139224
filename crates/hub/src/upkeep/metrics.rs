//! Metrics for Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

/// Label of a webhook attempt.
#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: String,
}

#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<RouteLabels, Histogram>,
    events_pushed: Counter,
    push_seconds: Histogram,
    webhook_seconds: Family<OutcomeLabels, Histogram>,
    deadline_seconds: Histogram,
    /// How often the timer has looked for due deadlines.
    pub timer_checks: Counter,
    /// Sockets closed because the client read too slowly.
    pub slow_readers: Counter,
    pub connections: Gauge,
    /// Connections refused because there was no slot or memory for them.
    pub refused_connections: Counter,
    /// Requests refused by a rate limit.
    pub rate_limited: Counter<u64, AtomicU64>,
}

fn latency() -> Histogram {
    Histogram::new(exponential_buckets(0.000_25, 2.0, 16))
}

impl Metrics {
    /// Creates the metrics, all zero.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("tandem");
        let requests = Family::<RequestLabels, Counter>::default();
        let seconds = Family::<RouteLabels, Histogram>::new_with_constructor(latency);
        let connections = Gauge::default();
        let rate_limited = Counter::default();
        registry.register("http_requests", "Requests by method, route and status", requests.clone());
        registry.register_with_unit(
            "http_request_duration",
            "Time from a request's arrival to its answer",
            Unit::Seconds,
            seconds.clone(),
        );
        registry.register("http_connections", "Open connections", connections.clone());
        let refused_connections = Counter::default();
        registry.register(
            "http_refused_connections",
            "Connections refused for lack of a slot or memory",
            refused_connections.clone(),
        );
        let events_pushed = Counter::default();
        let push_seconds = latency();
        let webhook_seconds = Family::<OutcomeLabels, Histogram>::new_with_constructor(latency);
        registry.register_with_unit(
            "webhook_duration",
            "Time a webhook's receiver took, by outcome",
            Unit::Seconds,
            webhook_seconds.clone(),
        );
        let deadline_seconds = latency();
        registry.register_with_unit(
            "deadline_delay",
            "Time from a deadline to its being handled",
            Unit::Seconds,
            deadline_seconds.clone(),
        );
        let timer_checks = Counter::default();
        registry.register("timer_checks", "Checks for due deadlines", timer_checks.clone());
        let slow_readers = Counter::default();
        registry.register(
            "slow_readers",
            "Sockets closed because they read too slowly",
            slow_readers.clone(),
        );
        registry.register("events_pushed", "Events written to sockets and streams", events_pushed.clone());
        registry.register_with_unit(
            "push_delay",
            "Time from an event's commit to its being written to a socket or stream",
            Unit::Seconds,
            push_seconds.clone(),
        );
        registry.register("rate_limited", "Requests turned away by a rate limit", rate_limited.clone());
        Self {
            registry,
            requests,
            seconds,
            events_pushed,
            push_seconds,
            webhook_seconds,
            deadline_seconds,
            timer_checks,
            slow_readers,
            connections,
            refused_connections,
            rate_limited,
        }
    }

    /// Counts a request. `route` is the pattern, not the path, because paths contain ids.
    pub fn request(&self, method: &str, route: &str, status: u16, took_seconds: f64) {
        let labels = RequestLabels { method: known_method(method), route: route.into(), status };
        self.requests.get_or_create(&labels).inc();
        self.seconds.get_or_create(&RouteLabels { route: route.into() }).observe(took_seconds);
    }

    /// Counts events sent to a socket or stream, and their latency since the commit.
    pub fn pushed(&self, events: usize, took_seconds: f64) {
        self.events_pushed.inc_by(events as u64);
        self.push_seconds.observe(took_seconds);
    }

    /// Counts a handled deadline and how late it was.
    #[expect(clippy::cast_precision_loss, reason = "a delay is no precise figure")]
    pub fn deadline_handled(&self, late_ms: i64) {
        self.deadline_seconds.observe(late_ms as f64 / 1_000.0);
    }

    /// Counts a webhook attempt.
    pub fn webhook(&self, delivered: bool, took_seconds: f64) {
        let outcome = if delivered { "delivered" } else { "failed" };
        self.webhook_seconds.get_or_create(&OutcomeLabels { outcome: outcome.into() }).observe(took_seconds);
    }

    /// The metrics page for Prometheus, with the metrics of the store, other counters, and gauges.
    pub(crate) fn page(
        &self,
        store: &[(&'static str, u64)],
        counters: &[(&'static str, u64)],
        gauges: &[(&'static str, u64)],
    ) -> String {
        let mut page = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut page, &self.registry);
        let end = page.trim_end_matches("# EOF\n").len();
        page.truncate(end);
        for (name, value) in store {
            let kind = if name.starts_with("waiting") { ("gauge", "") } else { ("counter", "_total") };
            let _ = write!(
                page,
                "# TYPE tandem_store_{name} {}\ntandem_store_{name}{} {value}\n",
                kind.0, kind.1
            );
        }
        for (name, value) in counters {
            let _ = write!(page, "# TYPE tandem_{name} counter\ntandem_{name}_total {value}\n");
        }
        for (name, value) in gauges {
            let _ = write!(page, "# TYPE tandem_{name} gauge\ntandem_{name} {value}\n");
        }
        page.push_str("# EOF\n");
        page
    }
}

/// The method as a label. Clients may invent methods, and each label is kept for ever.
fn known_method(method: &str) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS"];
    KNOWN.into_iter().find(|known| *known == method).unwrap_or("other")
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}
