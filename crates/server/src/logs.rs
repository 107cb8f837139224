//! Logging: readable on a terminal, JSON otherwise. Log lines never contain secrets, because no value with a secret
//! is passed to them.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

/// Starts logging to standard error. `TANDEM_LOG` sets the filter.
pub fn init() {
    let wanted = std::env::var("TANDEM_LOG").ok().filter(|wanted| EnvFilter::try_new(wanted).is_ok());
    let wanted = wanted.as_deref().unwrap_or("info");
    // The MCP library logs whole messages with keys in them, and client errors as warnings. Only its errors are
    // logged.
    let others = wanted.split(',').filter(|directive| !directive.trim_start().starts_with("rmcp"));
    let filter = EnvFilter::new(others.chain(["rmcp=error"]).collect::<Vec<_>>().join(","));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // In tests, logging may have started already.
    let _ = if std::io::stderr().is_terminal() {
        builder.with_target(false).compact().try_init()
    } else {
        builder.json().flatten_event(true).try_init()
    };
}
