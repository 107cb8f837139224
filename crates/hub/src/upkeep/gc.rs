//! `tandem gc`: runs all housekeeping once, with or without a running hub.

use tandem_store::{Database, Options, Store, dump};

use crate::files::{self, Files};
use crate::start::data_folder;
use crate::upkeep::housekeeping;
use crate::upkeep::housekeeping::Pacing;
use crate::{Clock, Config, start};

/// Why the housekeeping failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The data folder is locked, or the setting names no database.
    #[error(transparent)]
    Start(#[from] start::Error),
    /// The database cannot be used.
    #[error("cannot use the database: {0}")]
    Store(#[from] tandem_store::Error),
    /// A pass failed.
    #[error(transparent)]
    App(#[from] tandem_app::Error),
    /// The files cannot be listed.
    #[error("cannot list the files: {0}")]
    Files(#[from] files::Error),
}

#[derive(Debug, Clone, Copy)]
pub struct Collected {
    /// Expired answers of idempotent requests.
    pub answers: u64,
    /// Expired pairing codes and challenges.
    pub codes: u64,
    /// Expired invitations.
    pub invites: u64,
    /// Old events.
    pub events: u64,
    /// Old webhook deliveries.
    pub deliveries: u64,
    /// Orphaned files.
    pub files: u64,
    /// What happened to the free space in the database.
    pub space: Space,
}

/// What happened to the space of the removed rows.
#[derive(Debug, Clone, Copy)]
pub enum Space {
    /// The database file was compacted: bytes before and after.
    Reclaimed(u64, u64),
    /// A hub is running, which reuses the space.
    HubRunning,
    /// PostgreSQL manages its space itself.
    Postgres,
}

/// Runs all housekeeping passes.
pub async fn collect(config: &Config, clock: &Clock) -> Result<Collected, Error> {
    let (database, _) = start::database(config)?;
    let now = clock.now();
    let (settings, place) = (config.clone(), database.clone());
    let opened = tokio::task::spawn_blocking(move || {
        data_folder::refuse_foreign(&settings, &place)?;
        // Do not create a database, and do not migrate it while a hub is running.
        drop(dump::Snapshot::take(&place)?);
        let options = Options { writers: 1, readers: 1, ..Options::default() };
        Ok::<_, Error>(Store::open(&place, &options, now.0)?)
    });
    let store = opened.await.map_err(|panic| tandem_store::Error::Panicked(panic.to_string()))??;
    let files = Files::of(config)?;
    data_folder::check(config, &store).await?;
    files.claim(&store, false).await?;
    let swept = housekeeping::remove_expired(&store, now, &mut Pacing::unpaced()).await?;
    let remove_old = housekeeping::remove_old(&store, now, config, &mut Pacing::unpaced()).await?;
    let files =
        files::remove_orphans(&files, &store, files::orphan_cutoff(now), &mut Pacing::unpaced()).await?;
    let settings = config.clone();
    let space = tokio::task::spawn_blocking(move || {
        // Close the connections first.
        drop(store);
        reclaim_space(&settings, &database)
    });
    Ok(Collected {
        answers: swept.answers,
        codes: swept.codes,
        invites: swept.invites,
        events: remove_old.events,
        deliveries: remove_old.deliveries,
        files,
        space: space.await.map_err(|panic| tandem_store::Error::Panicked(panic.to_string()))??,
    })
}

fn reclaim_space(config: &Config, database: &Database) -> Result<Space, Error> {
    let Database::Sqlite(path) = database else { return Ok(Space::Postgres) };
    let _locks = match data_folder::locks(config, database) {
        Ok(locks) => locks,
        Err(start::Error::Locked { .. }) => return Ok(Space::HubRunning),
        Err(error) => return Err(error.into()),
    };
    let size = || path.metadata().map_or(0, |metadata| metadata.len());
    let before = size();
    dump::compact(database)?;
    Ok(Space::Reclaimed(before, size()))
}
