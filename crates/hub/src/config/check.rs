//! Checks of the settings that their types do not express.

use http::uri::Authority;
use tandem_core::credits::Usd;

use super::{Config, Error, MEMORY_BUDGET_MB_MIN};
use crate::delivery::webhooks::address::port_of;

/// The longest wait that a client of A2A can ask for.
pub const WAIT_SECONDS_MAX: u32 = 300;

impl Config {
    pub(super) fn check(&self) -> Result<(), Error> {
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
        if self.a2a_wait_seconds > WAIT_SECONDS_MAX {
            return refuse("a2a_wait_seconds", "must be at most 300");
        }
        if self.max_connections == 0 || self.database_writers == 0 || self.database_readers == 0 {
            return refuse("max_connections, database_writers and database_readers", "must not be 0");
        }
        if !(MEMORY_BUDGET_MB_MIN..=1_000_000).contains(&self.memory_budget_mb) {
            let why = format!("must be from {MEMORY_BUDGET_MB_MIN} to 1000000");
            return refuse("memory_budget_mb", &why);
        }
        self.check_files()?;
        self.check_nodes()
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
}

fn is_web_address(url: &str) -> bool {
    let rest = ["http://", "https://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    rest.and_then(|rest| rest.split(['/', '?', '#']).next()).is_some_and(is_host)
}

/// Whether this is a host with or without a port.
fn is_host(text: &str) -> bool {
    text.parse::<Authority>().is_ok_and(|host| !host.host().is_empty() && port_of(&host, 80).is_some())
}
