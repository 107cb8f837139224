//! What follows when an attempt to run jobs has failed. Nothing else in the store decides that.

use std::time::{Duration, Instant};

use crate::Error;

/// How long a job that keeps losing races is run again.
pub(crate) const RETRY_FOR: Duration = Duration::from_secs(2);
/// How often a taken unique value is believed to be a lost race.
const TAKEN_RETRIES: u32 = 5;
/// How often a group that lost a race is run again as a group. A job that has lost so many gets the database for itself.
const RACES_MAX: u32 = 3;
const PAUSE_MIN: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// What was attempted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Jobs that write, in rounds.
    Rounds,
    /// Several jobs that write, on the connection.
    Together,
    /// One job that writes, on the connection.
    Alone,
    /// Jobs that only read, in rounds.
    Reads,
    /// One job that only reads, on the connection.
    Read,
}

impl Kind {
    pub(crate) fn writes(self) -> bool {
        match self {
            Self::Rounds | Self::Together | Self::Alone => true,
            Self::Reads | Self::Read => false,
        }
    }
}

/// What follows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Next {
    /// The jobs are answered with the outcome of the attempt.
    Answer,
    /// The same again, after a pause.
    Again(Duration),
    /// The same again without the jobs whose rows are locked.
    LeaveOutLocked,
    /// Each of the jobs by itself.
    Apart,
    /// The job waits until its row is free.
    WaitForRow,
    /// The job is refused: it has tried for too long.
    Busy,
}

/// What has been tried of the same jobs so far.
#[derive(Debug)]
pub(crate) struct Tries {
    deadline: Instant,
    lost: u32,
    taken: u32,
    reconnected: bool,
    left_out_locked: bool,
    pause: Duration,
}

impl Tries {
    pub(crate) fn new() -> Self {
        Self {
            deadline: Instant::now() + RETRY_FOR,
            lost: 0,
            taken: 0,
            reconnected: false,
            left_out_locked: false,
            pause: PAUSE_MIN,
        }
    }

    /// Whether locked rows are left out from now on.
    pub(crate) fn leaves_out_locked(&self) -> bool {
        self.left_out_locked
    }

    /// Whether the other writers of this process should wait meanwhile.
    pub(crate) fn keeps_losing(&self) -> bool {
        self.lost >= RACES_MAX
    }

    /// Decides what follows an error. `begun` says whether the transaction had begun.
    pub(crate) fn after(&mut self, error: &Error, kind: Kind, begun: bool) -> Next {
        match (kind, error) {
            // The connection had died while idle; the next attempt opens a new one.
            (Kind::Rounds | Kind::Alone | Kind::Reads | Kind::Read, Error::Unreachable(_))
                if !self.reconnected =>
            {
                self.reconnected = true;
                Next::Again(Duration::ZERO)
            }
            (Kind::Rounds, Error::LostRace) if self.lost < RACES_MAX => {
                self.lost += 1;
                Next::Again(Duration::from_millis(2 << self.lost).mul_f64(jitter()))
            }
            (Kind::Rounds, Error::Locked) if !self.left_out_locked => {
                self.left_out_locked = true;
                Next::LeaveOutLocked
            }
            // One of the jobs is at fault, or keeps losing.
            (
                Kind::Rounds,
                Error::LostRace | Error::Locked | Error::Taken(_) | Error::Failed(_) | Error::Panicked(_),
            )
            | (Kind::Reads, Error::Failed(_)) => Next::Apart,
            // Running again could do everything twice.
            (Kind::Together, Error::Unknown(_)) => Next::Answer,
            // What keeps a transaction from beginning would keep each of them, after waiting as long again.
            (Kind::Together, _) if !begun => Next::Answer,
            (Kind::Together, _) => Next::Apart,
            // PostgreSQL may notice a lost race by a unique index before it notices it by itself.
            (Kind::Alone, Error::Taken(_)) if self.taken < TAKEN_RETRIES => {
                self.taken += 1;
                Next::Again(self.pause.mul_f64(jitter()))
            }
            (Kind::Alone, Error::LostRace) => self.after_lost_race(),
            (Kind::Alone, Error::Locked) => Next::WaitForRow,
            (Kind::Rounds | Kind::Alone | Kind::Reads | Kind::Read, _) => Next::Answer,
        }
    }

    fn after_lost_race(&mut self) -> Next {
        if Instant::now() < self.deadline {
            self.lost += 1;
            let pause = self.pause.mul_f64(jitter());
            self.pause = (self.pause * 2).min(PAUSE_MAX);
            Next::Again(pause)
        } else if self.lost < RACES_MAX {
            // A long job may have used up its time by one race; with the database for itself it does not lose another.
            self.lost = RACES_MAX;
            Next::Again(Duration::ZERO)
        } else {
            Next::Busy
        }
    }
}

/// Somewhere between a half and one and a half, different for every thread and moment.
fn jitter() -> f64 {
    use std::hash::{BuildHasher, RandomState};
    let bits = RandomState::new().hash_one(0) >> 40;
    0.5 + f64::from(u32::try_from(bits).unwrap_or(0)) / f64::from(1_u32 << 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost() -> Error {
        Error::LostRace
    }

    #[test]
    fn a_group_that_keeps_losing_is_taken_apart_and_a_job_gets_the_database_for_itself() {
        let mut group = Tries::new();
        for _ in 0..RACES_MAX {
            assert!(matches!(group.after(&lost(), Kind::Rounds, true), Next::Again(_)));
        }
        assert_eq!(group.after(&lost(), Kind::Rounds, true), Next::Apart);
        let mut job = Tries::new();
        for _ in 0..RACES_MAX {
            assert!(!job.keeps_losing());
            assert!(matches!(job.after(&lost(), Kind::Alone, true), Next::Again(_)));
        }
        assert!(job.keeps_losing());
    }

    #[test]
    fn a_job_whose_time_is_over_has_one_more_chance_without_others() {
        let mut job = Tries { deadline: Instant::now(), ..Tries::new() };
        assert_eq!(job.after(&lost(), Kind::Alone, true), Next::Again(Duration::ZERO));
        assert!(job.keeps_losing());
        assert_eq!(job.after(&lost(), Kind::Alone, true), Next::Busy);
    }

    #[test]
    fn a_locked_row_is_left_out_once_and_waited_for_alone() {
        let mut group = Tries::new();
        assert_eq!(group.after(&Error::Locked, Kind::Rounds, true), Next::LeaveOutLocked);
        assert!(group.leaves_out_locked());
        assert_eq!(group.after(&Error::Locked, Kind::Rounds, true), Next::Apart);
        assert_eq!(Tries::new().after(&Error::Locked, Kind::Alone, true), Next::WaitForRow);
    }

    #[test]
    fn a_dead_connection_is_replaced_once_and_an_unknown_outcome_is_told() {
        let gone = Error::Unreachable("gone".into());
        for kind in [Kind::Rounds, Kind::Alone, Kind::Reads, Kind::Read] {
            let mut tries = Tries::new();
            assert_eq!(tries.after(&gone, kind, false), Next::Again(Duration::ZERO));
            assert_eq!(tries.after(&gone, kind, false), Next::Answer);
        }
        for kind in [Kind::Rounds, Kind::Together, Kind::Alone] {
            assert_eq!(Tries::new().after(&Error::Unknown("cut".into()), kind, true), Next::Answer);
        }
    }

    #[test]
    fn what_one_job_of_several_may_have_caused_is_found_out_by_running_them_apart() {
        let full = Error::Full("no space".into());
        assert_eq!(Tries::new().after(&full, Kind::Together, true), Next::Apart);
        assert_eq!(Tries::new().after(&full, Kind::Together, false), Next::Answer);
        let failed = Error::failed("syntax".into());
        for kind in [Kind::Rounds, Kind::Reads] {
            assert_eq!(Tries::new().after(&failed, kind, true), Next::Apart);
        }
        assert_eq!(Tries::new().after(&failed, Kind::Alone, true), Next::Answer);
    }

    #[test]
    fn a_taken_value_is_believed_after_some_tries() {
        let mut job = Tries::new();
        for _ in 0..TAKEN_RETRIES {
            assert!(matches!(job.after(&Error::Taken("id".into()), Kind::Alone, true), Next::Again(_)));
        }
        assert_eq!(job.after(&Error::Taken("id".into()), Kind::Alone, true), Next::Answer);
    }
}
