//! Metrics for Prometheus.

use std::collections::HashSet;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use tandem_store::{Figure, FigureKind};

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

    /// The metrics page, with figures that are kept elsewhere; those of the store have its name before theirs.
    pub(crate) fn page(&self, format: MetricsFormat, store: &[Figure], others: &[Figure]) -> String {
        let mut elsewhere = Registry::with_prefix("tandem");
        elsewhere.sub_registry_with_prefix("store").register_collector(Box::new(Figures(store.to_vec())));
        elsewhere.register_collector(Box::new(Figures(others.to_vec())));
        let mut page = String::new();
        // Writing to a string cannot fail.
        let _ = encode_registry(&mut page, &self.registry)
            .and_then(|()| encode_registry(&mut page, &elsewhere))
            .and_then(|()| encode_eof(&mut page));
        match format {
            MetricsFormat::OpenMetrics => page,
            MetricsFormat::Text => as_text_format(&page),
        }
    }
}

/// How a page of metrics is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsFormat {
    /// Prometheus' own, version 0.0.4, which every collector reads.
    Text,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

/// The same page in the older format, which has no units and no end, and describes a counter by its whole name.
fn as_text_format(page: &str) -> String {
    let counters: HashSet<&str> =
        page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter")).collect();
    let mut text = String::with_capacity(page.len());
    for line in page.lines().filter(|line| !line.starts_with("# UNIT ") && *line != "# EOF") {
        let described = ["# HELP ", "# TYPE "].into_iter().find_map(|start| {
            let (name, rest) = line.strip_prefix(start)?.split_once(' ')?;
            counters.contains(name).then(|| format!("{start}{name}_total {rest}"))
        });
        text.push_str(described.as_deref().unwrap_or(line));
        text.push('\n');
    }
    text
}

/// Figures that are kept elsewhere, as they are now.
#[derive(Debug)]
struct Figures(Vec<Figure>);

impl Collector for Figures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        for figure in &self.0 {
            let seconds = Duration::from_micros(figure.value).as_secs_f64();
            let level = i64::try_from(figure.value).unwrap_or(i64::MAX);
            match figure.kind {
                FigureKind::Count => describe(&mut encoder, figure, &ConstCounter::new(figure.value)),
                FigureKind::Level => describe(&mut encoder, figure, &ConstGauge::new(level)),
                FigureKind::TimeSum => describe(&mut encoder, figure, &ConstCounter::new(seconds)),
                FigureKind::LastTime => describe(&mut encoder, figure, &ConstGauge::new(seconds)),
            }?;
        }
        Ok(())
    }
}

fn describe(
    encoder: &mut DescriptorEncoder<'_>,
    figure: &Figure,
    metric: &dyn EncodeMetric,
) -> Result<(), std::fmt::Error> {
    let name = figure.name.strip_suffix("_us");
    let unit = name.map(|_| &Unit::Seconds);
    metric.encode(encoder.encode_descriptor(
        name.unwrap_or(figure.name),
        figure.help,
        unit,
        metric.metric_type(),
    )?)
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
