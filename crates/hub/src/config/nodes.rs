//! Settings of a node that shares its database with others: the bus, its address, the shared folder.

use async_nats::ConnectOptions;
use http::uri::Authority;

use super::{Config, Error};
use crate::delivery::webhooks::address::port_of;

/// The port of a NATS server, unless the setting names another.
const NATS_PORT: u16 = 4222;

/// How a node hears of what other nodes have committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BusKind {
    /// There are no other nodes.
    Alone,
    /// It looks at the database every second.
    Polling,
    /// By NATS, at one of these servers.
    Nats(Vec<String>),
}

impl BusKind {
    /// The word in the node's row.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Alone => "",
            Self::Polling => "none",
            Self::Nats(_) => "nats",
        }
    }
}

/// The content of the file that the setting `bus_credentials` names.
#[derive(Clone)]
pub(crate) enum BusCredentials {
    /// A token and a seed, as NATS's own tools write them.
    File(String),
    /// The seed of an nkey.
    Seed(String),
}

impl std::fmt::Debug for BusCredentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BusCredentials")
    }
}

impl BusCredentials {
    /// Reads and checks the file, if there is one.
    pub(crate) fn read(config: &Config) -> Result<Option<Self>, Error> {
        let Some(path) = &config.bus_credentials else { return Ok(None) };
        let unreadable = |cause| Error::Unreadable { path: path.clone(), cause };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let seed = text.trim();
        if seed.starts_with("SU") && !seed.contains(char::is_whitespace) {
            return Ok(Some(Self::Seed(seed.to_owned())));
        }
        let credentials = Self::File(text);
        let wrong = |_| Error::File {
            path: path.clone(),
            cause: "must be a NATS credentials file (.creds), or the seed of a user's nkey (SU…)".into(),
        };
        credentials.options().map_err(wrong)?;
        Ok(Some(credentials))
    }

    pub(crate) fn options(&self) -> std::io::Result<ConnectOptions> {
        match self {
            Self::File(text) => ConnectOptions::with_credentials(text),
            Self::Seed(seed) => Ok(ConnectOptions::with_nkey(seed.clone())),
        }
    }
}

impl Config {
    /// The bus of the settings.
    #[must_use]
    pub fn bus_kind(&self) -> BusKind {
        match self.bus.as_deref() {
            None => BusKind::Alone,
            Some("none") => BusKind::Polling,
            Some(urls) => BusKind::Nats(urls.split(',').map(|url| url.trim().to_owned()).collect()),
        }
    }

    /// Where this node stores files, for the comparison with other nodes.
    #[must_use]
    pub fn files_place(&self) -> String {
        if !self.files_bucket.is_empty() {
            return format!("bucket:{}/{} {}", self.files_bucket, self.files_prefix, self.files_endpoint)
                .trim_end_matches([' ', '/'])
                .to_owned();
        }
        // Each node may mount it under another name.
        if self.shared_files.is_some() { "shared".into() } else { "own".into() }
    }

    /// Whether the database is a server that several nodes can use.
    fn has_shared_database(&self) -> bool {
        self.database.as_deref().is_some_and(|url| url.starts_with("postgres"))
    }

    pub(super) fn check_nodes(&self) -> Result<(), Error> {
        let refuse = |origin: &str, cause: &str| {
            Err(Error::Value { origin: origin.to_owned(), cause: cause.to_owned() })
        };
        if let BusKind::Nats(urls) = self.bus_kind()
            && !urls.iter().all(|url| server_of(url).is_some())
        {
            // It is not shown, because it may contain a password.
            return refuse(
                "bus",
                "must be nats://HOST or tls://HOST, with or without user:password@ and a port, several of them \
                 separated by commas; or none",
            );
        }
        if self.bus.is_some() && !self.has_shared_database() {
            return refuse(
                "bus",
                "is for several nodes, which share a PostgreSQL database; name it with --database \
                 postgres://user:password@host/name, or leave --bus out",
            );
        }
        if let Some(address) = &self.advertise
            && !is_host_and_port(address)
        {
            return refuse("advertise", "must be a host and a port, such as 10.0.0.5:3000");
        }
        if self.bus.is_some() && self.advertise.is_none() && self.listen.ip().is_unspecified() {
            return refuse(
                "advertise",
                "is needed with --bus, because the hub listens on all addresses: name the one where other nodes \
                 reach this one, such as --advertise 10.0.0.5:3000",
            );
        }
        if self.drain_seconds > 300 {
            return refuse("drain_seconds", "must be at most 300");
        }
        if self.bus_credentials.is_some() && !matches!(self.bus_kind(), BusKind::Nats(_)) {
            return refuse("bus_credentials", "means nothing without --bus nats://HOST");
        }
        if self.shared_files.is_some() && !self.files_bucket.is_empty() {
            return refuse("shared_files", "means nothing with files_bucket: the files are in the bucket");
        }
        Ok(())
    }
}

fn is_host_and_port(text: &str) -> bool {
    let parsed = text.parse::<Authority>();
    parsed.is_ok_and(|at| {
        !at.host().is_empty() && !text.contains('@') && at.port_u16().is_some_and(|port| port > 0)
    })
}

/// The scheme, host and port of a NATS server's URL.
fn server_of(url: &str) -> Option<(&str, String)> {
    let (scheme, rest) = url.split_once("://").filter(|(scheme, _)| ["nats", "tls"].contains(scheme))?;
    let rest = rest.trim_end_matches('/');
    let place =
        rest.rsplit_once('@').map_or(rest, |(secret, place)| if secret.contains('/') { "" } else { place });
    let place: Authority = place.parse().ok()?;
    let port = port_of(&place, NATS_PORT)?;
    (!place.host().is_empty()).then(|| (scheme, format!("{}:{port}", place.host())))
}

/// A bus setting without its secrets: schemes, hosts and ports.
#[must_use]
pub fn redact_bus(setting: &str) -> String {
    if setting == "none" {
        return setting.to_owned();
    }
    let servers: Option<Vec<_>> = setting.split(',').map(|url| server_of(url.trim())).collect();
    let show = |(scheme, place)| format!("{scheme}://{place}");
    servers.map_or_else(|| "(hidden)".into(), |all| all.into_iter().map(show).collect::<Vec<_>>().join(","))
}
