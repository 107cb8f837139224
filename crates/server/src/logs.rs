//! Logging: readable on a terminal, JSON otherwise. Log lines never contain secrets, because no value with a secret
//! is passed to them.

use std::io::IsTerminal as _;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// What may be logged, whatever `TANDEM_LOG` says. Below `info`, libraries log what passes through them: the database
/// driver its statements with all parameters, others frames and addresses. The MCP library logs whole messages with
/// keys in them, and client errors as warnings; only its errors are logged.
fn bounds() -> Targets {
    Targets::new()
        .with_default(LevelFilter::INFO)
        .with_targets([("tandem", LevelFilter::TRACE), ("rmcp", LevelFilter::ERROR)])
}

/// Starts logging to standard error. `TANDEM_LOG` sets the filter: a level, or levels by module.
pub fn init() {
    let wanted = std::env::var("TANDEM_LOG").ok().filter(|wanted| wanted.parse::<Targets>().is_ok());
    let wanted = wanted.as_deref().unwrap_or("info");
    // By module alone: a filter that also looks at spans would keep track of the span of every request.
    let wanted: Targets = wanted.parse().unwrap_or_default();
    let registry = tracing_subscriber::registry().with(wanted).with(bounds());
    // In tests, logging may have started already.
    let _ = if std::io::stderr().is_terminal() {
        registry.with(layer().with_writer(std::io::stderr).with_target(false).compact()).try_init()
    } else {
        registry.with(layer().with_writer(std::io::stderr).json().flatten_event(true)).try_init()
    };
}
