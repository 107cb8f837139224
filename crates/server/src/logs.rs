//! Logs: readable on a terminal, JSON otherwise. Secrets never reach them, because nothing that holds one
//! is ever handed to a log line.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

/// Begins logging to standard error. `TANDEM_LOG` chooses what, in the usual filter syntax.
pub fn init() {
    let wanted = std::env::var("TANDEM_LOG").ok().filter(|wanted| EnvFilter::try_new(wanted).is_ok());
    let wanted = wanted.as_deref().unwrap_or("info");
    // The MCP library writes whole messages into its log, with keys in them, and clients' mistakes as
    // warnings: only its own failures are let through.
    let others = wanted.split(',').filter(|directive| !directive.trim_start().starts_with("rmcp"));
    let filter = EnvFilter::new(others.chain(["rmcp=error"]).collect::<Vec<_>>().join(","));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second call, in a test, finds logging begun already.
    let _ = if std::io::stderr().is_terminal() {
        builder.with_target(false).compact().try_init()
    } else {
        builder.json().flatten_event(true).try_init()
    };
}
