//! `tandem gc`: what it takes, and what it says.

use clap::Args;
use tandem_server::Clock;
use tandem_server::gc::{self, Room};

use crate::settings::Place;

/// What `tandem gc` takes.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    place: Place,
}

const HELP: &str = "\
Examples:
  tandem gc                                        the hub in ./tandem-data
  tandem gc --set event_retention_days=90          and acknowledged events older than 90 days
  tandem gc --data /var/lib/tandem --database postgres://tandem@db/tandem

A hub removes all this by itself, a little at a time; this does it at once, whether a hub runs or not:
answers kept for repeated requests, pairing codes and invitations that have run out; events and webhook
deliveries that were kept as long as event_retention_days and delivery_retention_days say; and files, on the
disk or in the bucket, that belong to nothing. On SQLite the free room goes back to the disk, if no hub runs.";

/// Removes what is of no more use.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let config = arguments.place.settings()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let removed = runtime.block_on(gc::collect(&config, &Clock::System))?;
    for (count, what) in [
        (removed.answers, "kept answers that had run out"),
        (removed.codes, "pairing codes and challenges that had run out"),
        (removed.invites, "invitations that had run out"),
        (removed.events, "old acknowledged events"),
        (removed.deliveries, "old webhook deliveries"),
        (removed.files, "files that belonged to nothing"),
    ] {
        println!("removed {count} {what}");
    }
    match removed.room {
        Room::GivenBack(before, after) => println!("the database had {before} bytes and has {after}"),
        Room::KeptByHub => {
            println!("a hub is running, so the database keeps its size; stop it to give the free room back");
        }
        Room::Postgres => println!("PostgreSQL gives the free room back by itself"),
    }
    Ok(())
}
