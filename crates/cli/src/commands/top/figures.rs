//! The figures of a hub at one moment, and their change since the moment before.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use tandem_api::admin::Overview;
use tandem_client::{Client, Error, each_page};
use tandem_core::Timestamp;

use super::screen::Line;
use crate::commands::metrics::Metrics;
use crate::terminal::{text, time};

/// Routes that are shown.
const ROUTES_MAX: usize = 8;
/// Requests that wait for an event are slow because nothing happens.
const WAITING_ROUTES: [&str; 2] = ["/events", "/mcp"];
/// How often the agents are read, and how many of them.
const AGENTS_EVERY: Duration = Duration::from_secs(10);
const AGENTS_MAX: usize = 2_000;

/// What `tandem top` shows, and prints with `--json`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Figures {
    hub: String,
    version: String,
    database: String,
    uptime_seconds: i64,
    agents: i64,
    agents_online: usize,
    /// Of the first 2,000 agents.
    agents_by_reach: BTreeMap<String, usize>,
    tasks: BTreeMap<String, i64>,
    /// Of the hub's last two counts, which are ten seconds apart; null before the second one.
    events_per_second: Option<f64>,
    pushed_per_second: f64,
    requests_per_second: f64,
    commits_per_second: f64,
    open_connections: f64,
    open_sockets: usize,
    open_streams: usize,
    waiting_writes: f64,
    waiting_reads: f64,
    memory_held_bytes: f64,
    memory_limit_bytes: f64,
    /// Commit to push, since the hub's start.
    push_delay_ms: Option<f64>,
    slowest_routes: Vec<Route>,
}

/// The requests of a route since the last reading.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Route {
    route: String,
    per_second: f64,
    mean_ms: f64,
    /// At most; the hub counts in steps.
    p95_ms: f64,
}

/// Reads figures and remembers the last ones.
#[derive(Debug)]
pub(super) struct Observer {
    metrics: Metrics,
    read_at: Instant,
    counted: (i64, Timestamp),
    events_per_second: Option<f64>,
    by_reach: BTreeMap<String, usize>,
    reach_read_at: Option<Instant>,
}

impl Observer {
    /// Takes the first reading, to which the next one is compared.
    pub(super) async fn start(client: &Client) -> Result<Self, Error> {
        let overview = client.admin_overview().await?;
        let metrics = Metrics::parse(&client.metrics().await?);
        Ok(Self {
            metrics,
            read_at: Instant::now(),
            counted: (overview.events, overview.counted_at),
            events_per_second: None,
            by_reach: BTreeMap::new(),
            reach_read_at: None,
        })
    }

    pub(super) async fn read(&mut self, client: &Client) -> Result<Figures, Error> {
        if self.reach_read_at.is_none_or(|at| at.elapsed() >= AGENTS_EVERY) {
            self.by_reach = by_reach(client).await?;
            self.reach_read_at = Some(Instant::now());
        }
        let overview = client.admin_overview().await?;
        let metrics = Metrics::parse(&client.metrics().await?);
        let seconds = self.read_at.elapsed().as_secs_f64().max(0.001);
        self.count_events(&overview);
        let figures = self.compare(client, overview, &metrics, seconds);
        self.metrics = metrics;
        self.read_at = Instant::now();
        Ok(figures)
    }

    fn count_events(&mut self, overview: &Overview) {
        let (events, at) = self.counted;
        let passed_ms = overview.counted_at.ms_since(at);
        if passed_ms > 0 {
            #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
            let rate = (overview.events - events) as f64 * 1_000.0 / passed_ms as f64;
            self.events_per_second = Some(rate.max(0.0));
            self.counted = (overview.events, overview.counted_at);
        }
    }

    fn compare(&self, client: &Client, overview: Overview, metrics: &Metrics, seconds: f64) -> Figures {
        let rate = |name: &str| ((metrics.sum(name) - self.metrics.sum(name)) / seconds).max(0.0);
        let delays = metrics.histograms("tandem_push_delay_seconds", "");
        Figures {
            hub: client.hub().to_string(),
            version: String::from(overview.version.as_str()),
            database: overview.database.to_string(),
            uptime_seconds: overview.uptime_seconds,
            agents: overview.agents,
            agents_online: overview.agents_online,
            agents_by_reach: self.by_reach.clone(),
            events_per_second: self.events_per_second,
            pushed_per_second: rate("tandem_events_pushed_total"),
            requests_per_second: rate("tandem_http_requests_total"),
            commits_per_second: rate("tandem_store_commits_total"),
            open_connections: metrics.sum("tandem_http_connections"),
            open_sockets: overview.open_sockets,
            open_streams: overview.open_streams,
            waiting_writes: metrics.sum("tandem_store_waiting_writes"),
            waiting_reads: metrics.sum("tandem_store_waiting_reads"),
            memory_held_bytes: metrics.sum("tandem_memory_held_bytes"),
            memory_limit_bytes: metrics.sum("tandem_memory_limit_bytes"),
            push_delay_ms: delays.get("").and_then(|delay| delay.quantile(0.95)).map(|bound| bound * 1_000.0),
            slowest_routes: self.slowest(metrics, seconds),
            tasks: overview.tasks,
        }
    }

    /// The routes with requests since the last reading, the slowest first.
    fn slowest(&self, metrics: &Metrics, seconds: f64) -> Vec<Route> {
        const NAME: &str = "tandem_http_request_duration_seconds";
        let before = self.metrics.histograms(NAME, "route");
        let mut routes = Vec::new();
        for (route, now) in metrics.histograms(NAME, "route") {
            let new = before.get(&route).map_or_else(|| now.clone(), |before| now.since(before));
            let (Some(mean), Some(p95)) = (new.mean(), new.quantile(0.95)) else { continue };
            if WAITING_ROUTES.contains(&route.as_str()) {
                continue;
            }
            let per_second = new.count / seconds;
            routes.push(Route { route, per_second, mean_ms: mean * 1_000.0, p95_ms: p95 * 1_000.0 });
        }
        routes.sort_by(|one, other| other.mean_ms.total_cmp(&one.mean_ms));
        routes.truncate(ROUTES_MAX);
        routes
    }
}

async fn by_reach(client: &Client) -> Result<BTreeMap<String, usize>, Error> {
    let (mut counts, mut seen) = (BTreeMap::new(), 0);
    let read = async |query| client.admin_agents(&query).await;
    each_page(500, read, |page| {
        seen += page.items.len();
        for agent in page {
            *counts.entry(agent.reach.as_str().to_owned()).or_default() += 1;
        }
        seen < AGENTS_MAX
    })
    .await?;
    Ok(counts)
}

impl Figures {
    pub(super) fn lines(&self) -> Vec<Line> {
        let plain = |text: String| Line { text, bold: false };
        let events = self.events_per_second.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1}"));
        let delay = self.push_delay_ms.map_or_else(|| "-".to_owned(), |delay| format!("{delay:.1} ms"));
        let uptime = time::short(self.uptime_seconds);
        let mut lines = vec![
            heading(format!(
                "tandem {} · {} · {} · up {uptime}",
                text::line(&self.version),
                self.hub,
                self.database
            )),
            plain(String::new()),
            plain(format!("Agents      {} ({} online){}", self.agents, self.agents_online, self.reach())),
            plain(format!("Tasks       {}", counts(&self.tasks))),
            plain(format!(
                "Events      {events}/s written, {:.1}/s pushed, 95% within {delay} of the commit",
                self.pushed_per_second
            )),
            plain(format!(
                "Open        {} sockets, {} streams, {} connections",
                self.open_sockets, self.open_streams, self.open_connections
            )),
            plain(format!(
                "Database    {} writes and {} reads waiting, {:.1} commits/s",
                self.waiting_writes, self.waiting_reads, self.commits_per_second
            )),
            plain(format!("Memory      {}", self.memory())),
            plain(format!("Requests    {:.1}/s", self.requests_per_second)),
            plain(String::new()),
            heading(format!("{:<40} {:>9} {:>10} {:>10}", "SLOWEST ROUTES", "per s", "mean ms", "95% ms <=")),
        ];
        lines.extend(self.slowest_routes.iter().map(|route| {
            let name = text::cut(&text::line(&route.route), 40);
            plain(format!(
                "{name:<40} {:>9.1} {:>10.2} {:>10.2}",
                route.per_second, route.mean_ms, route.p95_ms
            ))
        }));
        lines
    }

    fn reach(&self) -> String {
        let parts: Vec<String> =
            self.agents_by_reach.iter().map(|(reach, count)| format!("{count} {reach}")).collect();
        if parts.is_empty() { String::new() } else { format!(" · {}", parts.join(", ")) }
    }

    fn memory(&self) -> String {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes of a gauge")]
        let shown = |bytes: f64| time::bytes(bytes as u64);
        if self.memory_limit_bytes <= 0.0 {
            return "not told by this hub".to_owned();
        }
        let share = self.memory_held_bytes / self.memory_limit_bytes * 100.0;
        let (held, limit) = (shown(self.memory_held_bytes), shown(self.memory_limit_bytes));
        format!("{held} of {limit} held for clients ({share:.0}%)")
    }
}

fn counts(by_name: &BTreeMap<String, i64>) -> String {
    let parts: Vec<String> =
        by_name.iter().map(|(name, count)| format!("{count} {}", text::line(name))).collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

fn heading(text: String) -> Line {
    Line { text, bold: true }
}

/// What is shown while the hub does not answer.
pub(super) fn problem_lines(client: &Client, problem: &str) -> Vec<Line> {
    let plain = |text: String| Line { text, bold: false };
    vec![heading(format!("tandem · {}", client.hub())), plain(String::new()), plain(text::line(problem))]
}
