//! The settings: one struct, read once from flags, environment and file, in this order of precedence.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use http::uri::Authority;
use serde::{Deserialize, Serialize};
use tandem_app::tasks::Defaults;
use tandem_core::credits::Usd;
use tandem_core::tasks::MESSAGES_DEFAULT;
use toml::{Table, Value};

use crate::webhooks::address::port_of;

/// The commented example file, which is also the documentation. A test compares it with the defaults.
pub const EXAMPLE: &str = include_str!("../../../tandem.example.toml");

/// The part of the memory budget for a JSON upload, of which one at a time is in memory.
const UPLOAD_MB: usize = 80;
/// The smallest memory budget.
const MEMORY_BUDGET_MB_MIN: usize = 2 * UPLOAD_MB;

/// Settings that have no value by default.
const OPTIONAL: [&str; 4] = ["database", "public_url", "admin_token", "check_in_seconds"];

/// All settings. `tandem.example.toml` describes each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address to listen on.
    pub listen: SocketAddr,
    /// The data folder.
    pub data: PathBuf,
    /// `sqlite:PATH` or `postgres://…`; SQLite in the data folder by default.
    pub database: Option<String>,
    /// The public URL of this hub.
    pub public_url: Option<String>,
    /// The operator's token; by default it is generated and stored in the data folder.
    pub admin_token: Option<String>,
    /// Whether to trust `X-Forwarded-For`.
    pub behind_proxy: bool,
    /// Maximum number of connections.
    pub max_connections: usize,
    /// Maximum number of connections from one address; 0 means half of all.
    pub max_connections_per_address: usize,
    /// Memory for everything that is held for clients, in megabytes.
    pub memory_budget_mb: usize,
    /// Maximum number of sockets and streams.
    pub max_streams: usize,
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
    /// Threads that read from the database.
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
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 3000)),
            data: PathBuf::from("./tandem-data"),
            database: None,
            public_url: None,
            admin_token: None,
            behind_proxy: false,
            max_connections: 20_000,
            max_connections_per_address: 0,
            memory_budget_mb: 256,
            max_streams: 20_000,
            mcp_hosts: String::new(),
            mcp_session_idle_seconds: 1_800,
            webhook_allow_http: false,
            webhook_allow_private: false,
            database_writers: 1,
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
        }
    }
}

/// Why the settings are invalid.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read {path}: {cause}")]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        cause: std::io::Error,
    },
    /// The file is not valid TOML, or contains an unknown setting.
    #[error("{path}: {cause}")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
    /// A value is invalid.
    #[error("{origin}: {cause}")]
    Value {
        /// The source of the value.
        origin: String,
        /// What is wrong with it.
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
            set(&mut table, name, text, &format!("--{}", name.replace('_', "-")))?;
        }
        let config: Self = table.try_into().map_err(|error: toml::de::Error| Error::Value {
            origin: "settings".into(),
            cause: error.to_string(),
        })?;
        config.check()?;
        Ok(config)
    }

    /// The names of all settings.
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

    /// Environment variables that look like settings but are not; probably misspelt.
    #[must_use]
    pub fn unknown_variables(names: impl Iterator<Item = String>) -> Vec<String> {
        let known = Self::names();
        let unknown = |name: &String| {
            name.strip_prefix("TANDEM_").is_some_and(|rest| {
                !known.contains(&rest.to_lowercase()) && !["LOG", "CONFIG", "TEST_POSTGRES"].contains(&rest)
            })
        };
        names.filter(unknown).collect()
    }

    fn check(&self) -> Result<(), Error> {
        let refuse = |origin: &str, cause: &str| {
            Err(Error::Value { origin: origin.to_owned(), cause: cause.to_owned() })
        };
        if self.admin_token.as_ref().is_some_and(|token| token.len() < 16) {
            return refuse("admin_token", "must be at least 16 characters long");
        }
        if let Some(url) = &self.public_url
            && !is_web_address(url)
        {
            return refuse(
                "public_url",
                "must start with http:// or https://, and name a host and a valid port",
            );
        }
        let mut mcp_hosts = self.mcp_hosts.split(',').map(str::trim).filter(|host| !host.is_empty());
        if !mcp_hosts.all(is_host) {
            return refuse("mcp_hosts", "must be host names, with or without a port, separated by commas");
        }
        if !(0.0..=1_000_000.0).contains(&self.initial_agent_credits) {
            return refuse("initial_agent_credits", "must be from 0 to 1000000");
        }
        if Usd::try_from(self.max_task_usage).is_err() {
            return refuse(
                "max_task_usage",
                "must be from 0 (any amount) to 1000000, with at most six decimals",
            );
        }
        if self.pow_difficulty > 40 {
            return refuse("pow_difficulty", "must be at most 40: more could not be solved");
        }
        if !(1..=100_000).contains(&self.max_messages_per_task) {
            return refuse("max_messages_per_task", "must be from 1 to 100000");
        }
        if !(0..=86_400).contains(&self.default_ttl_seconds) {
            return refuse("default_ttl_seconds", "must be from 0 (none) to 86400");
        }
        if self.check_in_seconds.is_some_and(|seconds| !(0..=86_400).contains(&seconds)) {
            return refuse("check_in_seconds", "must be from 0 (never) to 86400");
        }
        if self.max_connections == 0 || self.database_writers == 0 || self.database_readers == 0 {
            return refuse("max_connections, database_writers and database_readers", "must not be 0");
        }
        if !(MEMORY_BUDGET_MB_MIN..=1_000_000).contains(&self.memory_budget_mb) {
            let why = format!("must be from {MEMORY_BUDGET_MB_MIN} to 1000000");
            return refuse("memory_budget_mb", &why);
        }
        self.check_files()
    }

    fn check_files(&self) -> Result<(), Error> {
        let refuse = |origin: &str, cause: &str| {
            Err(Error::Value { origin: origin.to_owned(), cause: cause.to_owned() })
        };
        let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        if !is_plain(&self.files_bucket) {
            return refuse("files_bucket", "must be the bare name of a bucket");
        }
        let mut parts = self.files_prefix.split('/');
        if !self.files_prefix.is_empty()
            && !parts.all(|part| !["", ".", ".."].contains(&part) && is_plain(part))
        {
            return refuse(
                "files_prefix",
                "must be letters, digits, dots, dashes, and slashes only between them",
            );
        }
        let endpoint = &self.files_endpoint;
        if self.files_bucket.is_empty() && !(self.files_prefix.is_empty() && endpoint.is_empty()) {
            return refuse("files_prefix and files_endpoint", "mean nothing without files_bucket");
        }
        if !endpoint.is_empty() && (!is_web_address(endpoint) || endpoint.contains('@')) {
            return refuse(
                "files_endpoint",
                "must start with http:// or https://, name a host and a valid port, and contain no credentials",
            );
        }
        Ok(())
    }

    /// The settings for the operator, without the token and the database password.
    #[must_use]
    pub fn redacted(&self) -> serde_json::Value {
        let mut shown = self.clone();
        shown.admin_token = shown.admin_token.map(|_| "(hidden)".into());
        shown.database = shown.database.map(|url| match (url.split_once("://"), url.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, place))) => {
                let place = place.split('?').next().unwrap_or_default();
                format!("{scheme}://(hidden)@{place}")
            }
            _ => url,
        });
        serde_json::to_value(&shown).unwrap_or_default()
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

    /// Defaults for new tasks.
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

fn is_web_address(url: &str) -> bool {
    let rest = ["http://", "https://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    rest.and_then(|rest| rest.split(['/', '?', '#']).next()).is_some_and(is_host)
}

/// Whether this is a host with or without a port.
fn is_host(text: &str) -> bool {
    text.parse::<Authority>().is_ok_and(|host| !host.host().is_empty() && port_of(&host, 80).is_some())
}

fn defaults() -> Table {
    Table::try_from(Config::default()).unwrap_or_default()
}

fn read_file(path: &Path) -> Result<Table, Error> {
    let text =
        std::fs::read_to_string(path).map_err(|cause| Error::Unreadable { path: path.to_owned(), cause })?;
    let wrong = |cause: String| Error::File { path: path.to_owned(), cause };
    // Parse the file as a whole first, so that an error shows its line.
    toml::from_str::<Config>(&text).map_err(|error| wrong(error.to_string()))?;
    text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))
}

/// Sets a value given as text. It is converted to the type of the default: number, boolean or text.
fn set(table: &mut Table, name: &str, text: &str, origin: &str) -> Result<(), Error> {
    let wrong = |cause: &str| Error::Value { origin: origin.to_owned(), cause: cause.to_owned() };
    let value = match defaults().get(name) {
        Some(Value::Boolean(_)) => match text {
            "1" | "true" => Value::Boolean(true),
            "0" | "false" => Value::Boolean(false),
            _ => return Err(wrong("must be 1, true, 0 or false")),
        },
        Some(Value::Integer(_)) => Value::Integer(text.parse().map_err(|_| wrong("must be a whole number"))?),
        Some(Value::Float(_)) => Value::Float(text.parse().map_err(|_| wrong("must be a number"))?),
        None if name == "check_in_seconds" => {
            Value::Integer(text.parse().map_err(|_| wrong("must be a whole number"))?)
        }
        None if !OPTIONAL.contains(&name) => return Err(wrong("there is no such setting")),
        _ => Value::String(text.to_owned()),
    };
    let alone = Table::from_iter([(name.to_owned(), value.clone())]);
    alone.try_into::<Config>().map_err(|error: toml::de::Error| wrong(error.message()))?;
    table.insert(name.to_owned(), value);
    Ok(())
}
