//! Running jobs together: whatever waited shares one transaction and one commit.
//!
//! A job that is refused before it wrote anything disturbs nobody. A job that fails after writing, or
//! panics, or loses a race, spoils the group: everything is rolled back and each job runs again alone.
//! So a failure takes back its own job only, and the usual case pays for no savepoint.

use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use crate::conn::{Conn, Mode};
use crate::job::Job;
use crate::lock::LockedRows;
use crate::room::Room;
use crate::stats::Stats;
use crate::store::CommitHook;
use crate::{Effect, Error, Tx};

/// How long a job that keeps losing races is run again.
pub(crate) const RETRY_FOR: Duration = Duration::from_secs(2);
/// How often a taken unique value is believed to be a lost race.
const TAKEN_RETRIES: u32 = 5;
/// After so many lost races a job gets the database for itself.
const RACES_MAX: u32 = 3;
/// What the writers of a process share: each writes beside the others, until one that keeps losing against them asks
/// them to wait. Without it, a single job could lose against whole groups for as long as it may try.
#[derive(Debug, Default)]
pub(crate) struct Floor {
    lock: RwLock<()>,
    pub(crate) locked_rows: LockedRows,
}

impl Floor {
    pub(crate) fn shared<T>(&self, act: impl FnOnce() -> T) -> T {
        let _beside_others = self.lock.read().unwrap_or_else(PoisonError::into_inner);
        act()
    }

    fn alone<T>(&self, act: impl FnOnce() -> T) -> T {
        let _nobody_else = self.lock.write().unwrap_or_else(PoisonError::into_inner);
        act()
    }
}

/// Runs jobs in one transaction, or one by one when that does not work out. Those whose rows stay locked go to the
/// waiting room.
pub(crate) fn run_writes(
    conn: &mut Conn,
    mut jobs: Vec<Job>,
    floor: &Floor,
    stats: &Stats,
    commit_hook: &CommitHook,
    room: Option<&Room>,
) {
    conn.set_impatient(false);
    if jobs.len() > 1 {
        match floor.shared(|| run_together(conn, &mut jobs, &floor.locked_rows, stats)) {
            Together::Spoilt => stats.group_rerun(),
            Together::Settled(outcome, effects) => {
                stats.committed(jobs.len());
                commit_hook(effects);
                for job in jobs {
                    job.finish(outcome.clone());
                }
                return;
            }
        }
    }
    for mut job in jobs {
        match run_alone(conn, &mut job, Locked::Avoided, floor, stats, commit_hook) {
            Err(Error::Locked) => {
                conn.set_impatient(true);
                match room {
                    Some(room) => room.take(job),
                    None => job.finish(Err(Error::Busy)),
                }
            }
            committed => job.finish(committed),
        }
    }
}

/// How a group went.
enum Together {
    /// It was committed, or its commit failed for good.
    Settled(Result<(), Error>, Vec<Effect>),
    /// Nothing of it was kept; its jobs have to run one by one.
    Spoilt,
}

fn run_together(conn: &mut Conn, jobs: &mut [Job], locked_rows: &LockedRows, stats: &Stats) -> Together {
    // What keeps a transaction from beginning would keep each of them, after waiting as long again.
    if let Err(error) = conn.begin(Mode::Write) {
        stats.write_failed(&error);
        return Together::Settled(Err(error), Vec::new());
    }
    let (mut effects, mut keys_ended, mut dirty) = (Vec::new(), false, false);
    for job in jobs.iter_mut() {
        let mut tx = Tx::after(conn, keys_ended);
        tx.avoid(locked_rows.all());
        let succeeded = job.run(&mut tx);
        if let Some(error) = tx.failure() {
            stats.write_failed(error);
        }
        dirty |= tx.is_dirty();
        if tx.failure().is_some() || (!succeeded && tx.is_dirty()) {
            // If the rollback fails too, running alone meets the same failure and reports it.
            let _ = conn.rollback();
            return Together::Spoilt;
        }
        if succeeded {
            let mut registered = tx.into_effects();
            keys_ended |= registered.iter().any(|effect| matches!(effect, Effect::KeyEnded(_)));
            effects.append(&mut registered);
        }
    }
    let committed = conn.commit();
    stats.write_ended(&committed, dirty);
    match committed {
        Ok(()) => Together::Settled(Ok(()), effects),
        // Running again could do everything twice.
        Err(error @ Error::Unknown(_)) => Together::Settled(Err(error), safe_if_undone(effects)),
        Err(_) => {
            let _ = conn.rollback();
            Together::Spoilt
        }
    }
}

pub(crate) fn safe_if_undone(mut effects: Vec<Effect>) -> Vec<Effect> {
    effects.retain(Effect::is_safe_if_undone);
    effects
}

/// What a job that runs alone does with rows that stayed locked lately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locked {
    /// It gives up.
    Avoided,
    /// It tries whether they are free.
    Tried,
}

/// Runs one job in a transaction of its own, again and again while it loses races, and executes the effects of its
/// commit. A row that stays locked is an error.
pub(crate) fn run_alone(
    conn: &mut Conn,
    job: &mut Job,
    locked: Locked,
    floor: &Floor,
    stats: &Stats,
    commit_hook: &CommitHook,
) -> Result<(), Error> {
    let mut effects = Vec::new();
    let committed = repeat_alone(conn, job, locked, floor, stats, &mut effects);
    if let Err(Error::Locked) = committed {
        stats.met_lock();
    } else {
        commit_hook(effects);
        stats.committed(1);
    }
    committed
}

fn repeat_alone(
    conn: &mut Conn,
    job: &mut Job,
    locked: Locked,
    floor: &Floor,
    stats: &Stats,
    effects: &mut Vec<Effect>,
) -> Result<(), Error> {
    let deadline = Instant::now() + RETRY_FOR;
    let mut pause = Duration::from_millis(1);
    let mut reconnected = false;
    let (mut taken, mut lost) = (0, 0);
    loop {
        let attempted = if lost < RACES_MAX {
            floor.shared(|| attempt(conn, job, locked, &floor.locked_rows, effects, stats))
        } else {
            floor.alone(|| attempt(conn, job, locked, &floor.locked_rows, effects, stats))
        };
        match attempted {
            // PostgreSQL may notice a lost race by a unique index before it notices it by itself.
            Err(Error::Taken(_)) if taken < TAKEN_RETRIES => {
                taken += 1;
                stats.lost_race();
                conn.pause(pause.mul_f64(jitter()));
            }
            Err(Error::LostRace) if Instant::now() < deadline => {
                lost += 1;
                stats.lost_race();
                conn.pause(pause.mul_f64(jitter()));
                pause = (pause * 2).min(Duration::from_millis(50));
            }
            // A long job may have used up its time by one race; with the database for itself it does not lose another.
            Err(Error::LostRace) if lost < RACES_MAX => {
                lost = RACES_MAX;
                stats.lost_race();
            }
            Err(Error::LostRace) => return Err(Error::Busy),
            // The connection had died while idle; the next attempt opens a new one.
            Err(Error::Unreachable(_)) if !reconnected => reconnected = true,
            outcome => return outcome,
        }
    }
}

/// Somewhere between a half and one and a half, different for every thread and moment.
pub(crate) fn jitter() -> f64 {
    use std::hash::{BuildHasher, RandomState};
    let bits = RandomState::new().hash_one(0) >> 40;
    0.5 + f64::from(u32::try_from(bits).unwrap_or(0)) / f64::from(1_u32 << 24)
}

/// One transaction of one job. `Ok` means that what the job's result says is so.
fn attempt(
    conn: &mut Conn,
    job: &mut Job,
    locked: Locked,
    locked_rows: &LockedRows,
    effects: &mut Vec<Effect>,
    stats: &Stats,
) -> Result<(), Error> {
    conn.begin(Mode::Write).inspect_err(|error| stats.write_failed(error))?;
    let mut tx = Tx::new(conn);
    if locked == Locked::Avoided {
        tx.avoid(locked_rows.all());
    }
    let succeeded = job.run(&mut tx);
    let mut rows = tx.take_locked();
    match tx.failure() {
        Some(Error::Locked) => rows.pop().into_iter().for_each(|row| locked_rows.remember(row)),
        _ if locked == Locked::Tried => locked_rows.forget(&rows),
        _ => {}
    }
    let dirty = tx.is_dirty();
    let failure = tx.failure().cloned();
    if let Some(error) = &failure {
        stats.write_failed(error);
    }
    let registered = tx.into_effects();
    if succeeded && failure.is_none() {
        let committed = conn.commit().inspect_err(|_| {
            let _ = conn.rollback();
        });
        stats.write_ended(&committed, dirty);
        *effects = match &committed {
            Ok(()) => registered,
            Err(Error::Unknown(_)) => safe_if_undone(registered),
            Err(_) => Vec::new(),
        };
        return committed;
    }
    if !succeeded && dirty && failure.is_none() {
        job.refused_late();
    }
    let rolled_back = conn.rollback();
    match failure {
        Some(error @ (Error::LostRace | Error::Locked | Error::Taken(_) | Error::Unreachable(_))) => {
            Err(error)
        }
        // A success that the database contradicts must not be claimed.
        Some(error) if succeeded => Err(error),
        _ => rolled_back,
    }
}

/// Runs one read and answers before the transaction is tidied away.
pub(crate) fn run_read(conn: &mut Conn, mut job: Job) {
    for last in [false, true] {
        if let Err(error) = conn.begin(Mode::Read) {
            job.finish(Err(error));
            return;
        }
        let mut tx = Tx::new(conn);
        job.run(&mut tx);
        // The connection may have died while idle; the next attempt opens a new one.
        if last || !matches!(tx.failure(), Some(Error::Unreachable(_))) {
            break;
        }
    }
    job.finish(Ok(()));
    if let Err(error) = conn.rollback() {
        tracing::debug!(%error, "a read transaction could not be ended");
    }
}
