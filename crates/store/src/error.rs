//! How the store can fail. None of these is ever "not found".

/// A failure of the database or of the way to it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// More work waits than the store takes in; try again shortly.
    #[error("the store is busy")]
    Busy,
    /// The same for one client: it has too much under way at once.
    #[error("too much is under way for one client")]
    OwnShare,
    /// There is no space left for what was to be saved.
    #[error("no space left for the database: {0}")]
    Full(String),
    /// The database is locked by another program, read-only, or its disk fails; nothing was saved.
    #[error("the database cannot be written: {0}")]
    Unwritable(String),
    /// The database did not answer in time: the work may be saved or not.
    #[error("the database did not answer in time")]
    TimedOut,
    /// The database cannot be reached at present; nothing was saved.
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    /// A job of a group stops here, because what it asked for is not there yet. The store runs it again by itself.
    #[error("what was asked for is not read yet")]
    Stopped,
    /// Another transaction got in the way. The store runs the job again by itself.
    #[error("another change got in the way")]
    LostRace,
    /// Another transaction kept a row locked for too long. The store runs the job again by itself.
    #[error("another change has locked a row for too long")]
    Locked,
    /// The connection broke during the commit: the work may be saved or not.
    #[error("the connection broke while committing: {0}")]
    Unknown(String),
    /// A unique index refused a row.
    #[error("a unique value is taken: {0}")]
    Taken(String),
    #[error("a job panicked: {0}")]
    Panicked(String),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// Whether the database itself is out of order, so that other work fails too.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Full(_)
            | Self::Unwritable(_)
            | Self::TimedOut
            | Self::Unreachable(_)
            | Self::Unknown(_) => true,
            Self::Busy
            | Self::OwnShare
            | Self::Stopped
            | Self::LostRace
            | Self::Locked
            | Self::Taken(_)
            | Self::Panicked(_)
            | Self::Failed(_) => false,
        }
    }

    pub(crate) fn failed(why: String) -> Self {
        Self::Failed(why)
    }
}
