//! `tandem gc`: all housekeeping at once, beside a running hub or without one.

use std::path::Path;

use tandem_store::{Database, Options, Store, dump};

use crate::files::{self, Files};
use crate::housekeeping::Pace;
use crate::{Clock, Config, housekeeping, start};

/// Why not everything was removed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The place cannot be used.
    #[error(transparent)]
    Start(#[from] start::Error),
    /// The database cannot be used.
    #[error("cannot use the database: {0}")]
    Store(#[from] tandem_store::Error),
    /// A pass failed.
    #[error(transparent)]
    App(#[from] tandem_app::Error),
    /// The files cannot be looked through.
    #[error("cannot look through the files: {0}")]
    Files(#[from] files::Error),
    /// The folder seems to be another hub's.
    #[error("{0}")]
    Refused(String),
}

/// What was removed.
#[derive(Debug, Clone, Copy)]
pub struct Collected {
    /// Kept answers that had run out.
    pub answers: u64,
    /// Pairing codes and challenges that had run out.
    pub codes: u64,
    /// Invitations that had run out.
    pub invites: u64,
    /// Events that were kept long enough.
    pub events: u64,
    /// Webhook deliveries that were kept long enough.
    pub deliveries: u64,
    /// Files without a row.
    pub files: u64,
    /// What became of the room that is free now.
    pub room: Room,
}

/// What became of the room that removed rows took.
#[derive(Debug, Clone, Copy)]
pub enum Room {
    /// It was given back: the database file's bytes before and after.
    GivenBack(u64, u64),
    /// A hub is running; it uses the room again.
    KeptByHub,
    /// PostgreSQL looks after that itself.
    Postgres,
}

/// Removes everything that is of no more use.
pub async fn collect(config: &Config, clock: &Clock) -> Result<Collected, Error> {
    let (database, _) = start::database(config)?;
    refuse_foreign(config, &database)?;
    let now = clock.now();
    let place = database.clone();
    let opened = tokio::task::spawn_blocking(move || {
        // Neither makes a database nor changes the schema under a hub that runs.
        drop(dump::Snapshot::take(&place)?);
        Store::open(&place, &Options { writers: 1, readers: 1, ..Options::default() }, now.0)
    });
    let store = opened.await.map_err(|panic| tandem_store::Error::Panicked(panic.to_string()))??;
    let files = Files::of(config)?;
    files.claim(&store).await?;
    let swept = housekeeping::run_out(&store, now, &mut Pace::at_once()).await?;
    let outlived = housekeeping::outlived(&store, now, config, &mut Pace::at_once()).await?;
    let files = files::remove_orphans(&files, &store, files::old(now), &mut Pace::at_once()).await?;
    let settings = config.clone();
    let room = tokio::task::spawn_blocking(move || {
        // Its connections must be closed first.
        drop(store);
        give_back_room(&settings, &database)
    });
    Ok(Collected {
        answers: swept.answers,
        codes: swept.codes,
        invites: swept.invites,
        events: outlived.events,
        deliveries: outlived.deliveries,
        files,
        room: room.await.map_err(|panic| tandem_store::Error::Panicked(panic.to_string()))??,
    })
}

/// All files of a folder would be nobody's if they were compared with another hub's database.
fn refuse_foreign(config: &Config, database: &Database) -> Result<(), Error> {
    let own = config.data.join("tandem.db");
    let is_own = |path: &Path| path.canonicalize().ok() == own.canonicalize().ok();
    if own.exists() && !matches!(database, Database::Sqlite(path) if is_own(path)) {
        return Err(Error::Refused(format!(
            "{} holds a database of its own, which is not the one that is named: its files may be another hub's; \
             name the data folder that belongs to the database with --data",
            config.data.display()
        )));
    }
    Ok(())
}

fn give_back_room(config: &Config, database: &Database) -> Result<Room, Error> {
    let Database::Sqlite(path) = database else { return Ok(Room::Postgres) };
    let _locks = match start::locks(config, database) {
        Ok(locks) => locks,
        Err(start::Error::Locked { .. }) => return Ok(Room::KeptByHub),
        Err(error) => return Err(error.into()),
    };
    let size = || path.metadata().map_or(0, |metadata| metadata.len());
    let before = size();
    dump::compact(database)?;
    Ok(Room::GivenBack(before, size()))
}
