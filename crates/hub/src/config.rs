//! The settings: one struct, read once from flags, environment and file, in this order of precedence.

mod addresses;
mod check;
mod nodes;
mod redact;
mod sources;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tandem_app::tasks::Defaults;
use tandem_core::AgentId;
use tandem_core::credits::Usd;
use tandem_core::tasks::MESSAGES_DEFAULT;
use toml::Table;

pub use addresses::{AddressRanges, Origins};
pub use check::WAIT_SECONDS_MAX;
pub(crate) use nodes::BusCredentials;
pub use nodes::{BusKind, redact_bus};
pub use redact::redact_database;
use sources::{defaults, parse_error, read_file, set, suggestion};

/// The commented example file, which is also the documentation. A test compares it with the defaults.
pub const EXAMPLE: &str = include_str!("../../../tandem.example.toml");

/// The part of the memory budget for a JSON upload, of which one at a time is in memory.
const UPLOAD_MB: usize = 80;
/// The smallest memory budget.
const MEMORY_BUDGET_MB_MIN: usize = 2 * UPLOAD_MB;

/// What follows `TANDEM_` in the names of variables that are not settings. So are those of tests, with `test_`.
const NOT_SETTINGS: [&str; 5] = ["log", "config", "hub", "key", "agent"];

/// Settings that have no value by default.
const OPTIONAL: [&str; 9] = [
    "database",
    "bus",
    "bus_credentials",
    "advertise",
    "shared_files",
    "public_url",
    "admin_token",
    "check_in_seconds",
    "a2a_front_agent",
];

/// Settings with a flag of their own.
const FLAGS: [&str; 8] =
    ["listen", "data", "database", "bus", "advertise", "shared-files", "public-url", "admin-token"];

/// All settings. `tandem.example.toml` describes each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address to listen on. A port alone means this machine.
    #[serde(deserialize_with = "addresses::listen")]
    pub listen: SocketAddr,
    pub data: PathBuf,
    /// `sqlite:PATH` or `postgres://…`; SQLite in the data folder by default.
    pub database: Option<String>,
    /// `nats://…` for several nodes on one PostgreSQL database, or `none` for several nodes that look at the database
    /// every second; a node without it is alone.
    pub bus: Option<String>,
    /// A file with the credentials or the nkey seed for NATS.
    pub bus_credentials: Option<PathBuf>,
    /// Host and port where other nodes reach this one; by default the address it listens on.
    pub advertise: Option<String>,
    /// A folder for files that all nodes mount.
    pub shared_files: Option<PathBuf>,
    pub public_url: Option<String>,
    /// The agent whose A2A card stands at `/.well-known/agent-card.json`.
    pub a2a_front_agent: Option<AgentId>,
    /// How long `SendMessage` of A2A waits for the agent.
    pub a2a_wait_seconds: u32,
    /// The operator's token; by default it is generated and stored in the data folder.
    pub admin_token: Option<String>,
    /// Whether every client is a proxy whose `X-Forwarded-For` is believed.
    pub behind_proxy: bool,
    /// The proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: AddressRanges,
    /// Origins of web pages that may call the hub from a browser.
    pub allowed_origins: Origins,
    /// Maximum number of connections.
    pub max_connections: usize,
    /// Maximum number of connections from one address; 0 means half of all.
    pub max_connections_per_address: usize,
    /// Memory for everything that is held for clients, in megabytes.
    pub memory_budget_mb: usize,
    /// Maximum number of sockets and streams.
    pub max_streams: usize,
    /// How long a node that stops still serves while `/ready` says no.
    pub drain_seconds: u32,
    /// Additional host names for MCP clients, separated by commas.
    pub mcp_hosts: String,
    /// Idle time after which an MCP session ends.
    pub mcp_session_idle_seconds: u32,
    /// Whether webhooks may use plain HTTP.
    pub webhook_allow_http: bool,
    /// Whether webhooks may go to private addresses and to this machine.
    pub webhook_allow_private: bool,
    /// Threads that write to PostgreSQL.
    pub database_writers: usize,
    pub database_readers: usize,
    /// Requests per minute.
    pub rate_limit_max: u32,
    /// Registrations per minute and address.
    pub rate_limit_register_max: u32,
    /// Directory searches per minute.
    pub rate_limit_discover_max: u32,
    /// Messages per minute, agent and task.
    pub max_messages_per_minute: u32,
    /// Default message budget of a task.
    pub max_messages_per_task: i64,
    /// Default time until an untaken task expires; 0 means never.
    pub default_ttl_seconds: i64,
    /// Default acknowledgement window; 0 turns it off. Unset: 30 seconds on reviewed tasks, none on open tasks.
    pub check_in_seconds: Option<i64>,
    /// Wrong pairing codes per minute and agent.
    pub pair_attempts_max: u32,
    /// Minimum age of an agent in the directory.
    pub min_discovery_age_hours: u32,
    /// Zero bits required by the proof of work at registration; 0 turns it off.
    pub pow_difficulty: u32,
    /// Initial balance of an agent, in US dollars.
    pub initial_agent_credits: f64,
    /// Maximum cost of a task in US dollars, after which it pauses; 0 means no limit.
    pub max_task_usage: f64,
    /// Minimum time between two exports of an agent; 0 means no limit.
    pub export_interval_seconds: u32,
    /// Storage per agent, in megabytes; 0 means no limit.
    pub file_quota_mb: u32,
    /// The S3 bucket for files; empty stores them in the data folder.
    pub files_bucket: String,
    /// Prefix of the object names in the bucket.
    pub files_prefix: String,
    /// Endpoint of the S3 service, if it is not Amazon's.
    pub files_endpoint: String,
    /// Days until acknowledged events are removed; 0 keeps them.
    pub event_retention_days: u32,
    /// Days until finished webhook deliveries are removed; 0 keeps them.
    pub delivery_retention_days: u32,
    /// Days until decisions at approval gates are removed; 0 keeps them.
    pub decision_retention_days: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 3000)),
            data: PathBuf::from("./tandem-data"),
            database: None,
            bus: None,
            bus_credentials: None,
            advertise: None,
            shared_files: None,
            public_url: None,
            a2a_front_agent: None,
            a2a_wait_seconds: 55,
            admin_token: None,
            behind_proxy: false,
            trusted_proxies: AddressRanges::default(),
            allowed_origins: Origins::default(),
            max_connections: 20_000,
            max_connections_per_address: 0,
            memory_budget_mb: 256,
            max_streams: 20_000,
            drain_seconds: 0,
            mcp_hosts: String::new(),
            mcp_session_idle_seconds: 1_800,
            webhook_allow_http: false,
            webhook_allow_private: false,
            database_writers: 2,
            database_readers: 2,
            rate_limit_max: 600,
            rate_limit_register_max: 5,
            rate_limit_discover_max: 30,
            max_messages_per_minute: 10,
            max_messages_per_task: MESSAGES_DEFAULT,
            default_ttl_seconds: 0,
            check_in_seconds: None,
            pair_attempts_max: 20,
            min_discovery_age_hours: 24,
            pow_difficulty: 0,
            initial_agent_credits: 0.5,
            max_task_usage: 5.0,
            export_interval_seconds: 600,
            file_quota_mb: 1_000,
            files_bucket: String::new(),
            files_prefix: String::new(),
            files_endpoint: String::new(),
            event_retention_days: 0,
            delivery_retention_days: 30,
            decision_retention_days: 730,
        }
    }
}

/// Why the settings are invalid.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read {path}: {cause}")]
    Unreadable { path: PathBuf, cause: std::io::Error },
    /// The file is not valid TOML, or contains an unknown setting.
    #[error("{path}: {cause}")]
    File { path: PathBuf, cause: String },
    #[error("{origin}: {cause}")]
    Value {
        /// The source of the value.
        origin: String,
        cause: String,
    },
}

impl Config {
    /// Loads the settings. Flags override the environment, which overrides the file. `flags` are pairs of name and
    /// value.
    pub fn load(
        flags: &[(String, String)],
        env: impl Fn(&str) -> Option<String>,
        file: Option<&Path>,
    ) -> Result<Self, Error> {
        let mut table = match file {
            Some(path) => read_file(path)?,
            None => Table::new(),
        };
        for name in Self::names() {
            let variable = format!("TANDEM_{}", name.to_uppercase());
            let mut found = env(&variable).map(|text| (variable, text));
            if found.is_none() && name == "max_messages_per_minute" {
                let seed = "MAX_MESSAGES_PER_MINUTE";
                found = env(seed).map(|text| (seed.to_owned(), text));
            }
            if let Some((origin, text)) = found {
                set(&mut table, &name, &text, &origin)?;
            }
        }
        for (name, text) in flags {
            let flag = name.replace('_', "-");
            let origin = if FLAGS.contains(&&*flag) { format!("--{flag}") } else { format!("--set {name}") };
            set(&mut table, name, text, &origin)?;
        }
        let config: Self = table.try_into().map_err(|error: toml::de::Error| Error::Value {
            origin: "settings".into(),
            cause: parse_error(&error, ""),
        })?;
        config.check()?;
        Ok(config)
    }

    #[must_use]
    pub fn names() -> Vec<String> {
        let mut names: Vec<String> = defaults().keys().cloned().collect();
        names.extend(OPTIONAL.map(Into::into));
        names
    }

    /// The public URL without a trailing slash, if it is set.
    #[must_use]
    pub fn public_address(&self) -> Option<&str> {
        self.public_url.as_deref().map(|url| url.trim_end_matches('/'))
    }

    /// The hub's address, without a slash at its end, for a client that has connected to `local`. Never what the client
    /// says in `Host`: cards with it are signed.
    #[must_use]
    pub fn address_for(&self, local: Option<SocketAddr>) -> String {
        let here = || format!("http://{}", local.unwrap_or(self.listen));
        self.public_address().map_or_else(here, ToOwned::to_owned)
    }

    /// Environment variables that look like settings but are not, with the setting that was probably meant.
    #[must_use]
    pub fn unknown_variables(names: impl Iterator<Item = String>) -> Vec<(String, Option<String>)> {
        let known = Self::names();
        let unknown = |name: String| {
            let rest = name.strip_prefix("TANDEM_")?.to_lowercase();
            if known.contains(&rest) || NOT_SETTINGS.contains(&rest.as_str()) || rest.starts_with("test_") {
                return None;
            }
            let meant = suggestion(&rest).map(|meant| format!("TANDEM_{}", meant.to_uppercase()));
            Some((name, meant))
        };
        names.filter_map(unknown).collect()
    }

    /// Whether requests come through a proxy.
    #[must_use]
    pub fn is_behind_proxy(&self) -> bool {
        self.behind_proxy || !self.trusted_proxies.is_empty()
    }

    /// Maximum number of connections from one address.
    #[must_use]
    pub fn connections_per_address(&self) -> usize {
        match self.max_connections_per_address {
            0 => self.max_connections.div_ceil(2),
            limit => limit,
        }
    }

    /// The memory budget without the part for an upload.
    #[must_use]
    pub fn budget_bytes(&self) -> usize {
        (self.memory_budget_mb - UPLOAD_MB) * 1_000_000
    }

    #[must_use]
    pub fn task_defaults(&self) -> Defaults {
        Defaults {
            ttl_seconds: (self.default_ttl_seconds > 0).then_some(self.default_ttl_seconds),
            check_in_seconds: self.check_in_seconds,
            max_messages: self.max_messages_per_task,
        }
    }

    /// Storage per agent, in bytes; 0 means no limit.
    #[must_use]
    pub fn file_quota_bytes(&self) -> i64 {
        i64::from(self.file_quota_mb) * 1_000_000
    }

    /// Maximum cost of a task.
    #[must_use]
    pub fn task_usage_max(&self) -> Usd {
        Usd::try_from(self.max_task_usage).unwrap_or_default()
    }

    /// Initial balance of an agent, in millionths of a US dollar.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "checked to be at most a million dollars")]
    pub fn initial_credits_micro(&self) -> i64 {
        (self.initial_agent_credits * 1_000_000.0).round() as i64
    }
}
