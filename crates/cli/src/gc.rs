//! `tandem gc`: arguments and output.

use clap::Args;
use tandem_hub::Clock;
use tandem_hub::gc::{self, Space};

use crate::output::say;
use crate::settings::Place;

/// Arguments of `tandem gc`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    place: Place,
}

const HELP: &str = "\
Examples:
  tandem gc                                        the hub in ./tandem-data
  tandem gc --set event_retention_days=90          also acknowledged events older than 90 days
  tandem gc --data /var/lib/tandem --database postgres://tandem@db/tandem

A hub does this housekeeping by itself, in small steps. This command does all of it now, with or without
a running hub. It removes expired answers of idempotent requests, pairing codes and invitations; events and
webhook deliveries older than event_retention_days and delivery_retention_days; and orphaned files, on disk
or in the bucket. If no hub is running, a SQLite database file is also compacted.";

/// Runs the housekeeping and prints what was removed.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let config = arguments.place.settings()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let removed = runtime.block_on(gc::collect(&config, &Clock::System))?;
    for (count, what) in [
        (removed.answers, "expired answers of idempotent requests"),
        (removed.codes, "expired pairing codes and challenges"),
        (removed.invites, "expired invitations"),
        (removed.events, "old acknowledged events"),
        (removed.deliveries, "old webhook deliveries"),
        (removed.files, "orphaned files"),
    ] {
        say!("removed {count} {what}");
    }
    match removed.space {
        Space::Reclaimed(before, after) => say!("compacted the database from {before} to {after} bytes"),
        Space::HubRunning => {
            say!("a hub is running, so the database was not compacted; stop the hub to compact it");
        }
        Space::Postgres => say!("PostgreSQL reuses free space by itself"),
    }
    Ok(())
}
