//! The server stream of a session: who reads it, and which task serves it.
//!
//! Every session has at most one stream that is read, the newest. The task that serves it goes on while one stream replaces
//! another, so that no event is lost or sent twice in between.

/// The state of a session's stream. Streams have numbers within their session, and a task that serves them has that of its
/// first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamState {
    /// No stream is read.
    Silent,
    /// A client is opening a stream. The older one may still be read, and may end meanwhile; the task that serves it stays.
    Opening { older: Option<u64>, server: Option<u64> },
    /// A stream is read.
    Read { stream: u64, server: u64 },
    /// The session has ended.
    Ended,
}

impl StreamState {
    /// A client begins to open a stream. `None` while another does, and after the end.
    pub(super) fn begin(self) -> Option<Self> {
        match self {
            Self::Silent => Some(Self::Opening { older: None, server: None }),
            Self::Read { stream, server } => {
                Some(Self::Opening { older: Some(stream), server: Some(server) })
            }
            Self::Opening { .. } | Self::Ended => None,
        }
    }

    /// The stream is open. It replaces the older one, which its client has lost even if the hub does not know it yet.
    pub(super) fn open(self, stream: u64) -> Self {
        match self {
            Self::Opening { server, .. } => Self::Read { stream, server: server.unwrap_or(stream) },
            other => other,
        }
    }

    /// The stream could not be opened, or its client has gone.
    pub(super) fn give_up(self) -> Self {
        match self {
            Self::Opening { older: Some(stream), server: Some(server) } => Self::Read { stream, server },
            Self::Opening { .. } => Self::Silent,
            other => other,
        }
    }

    /// Nobody reads this stream any more.
    pub(super) fn close(self, closed: u64) -> Self {
        match self {
            Self::Read { stream, .. } if stream == closed => Self::Silent,
            Self::Opening { older: Some(stream), server } if stream == closed => {
                Self::Opening { older: None, server }
            }
            other => other,
        }
    }

    /// The stream that is read.
    pub(crate) fn stream(self) -> Option<u64> {
        match self {
            Self::Read { stream, .. } => Some(stream),
            Self::Opening { older, .. } => older,
            Self::Silent | Self::Ended => None,
        }
    }

    /// The task that serves it.
    pub(crate) fn server(self) -> Option<u64> {
        match self {
            Self::Read { server, .. } => Some(server),
            Self::Opening { server, .. } => server,
            Self::Silent | Self::Ended => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::StreamState::{self, Ended, Opening, Read, Silent};

    const READ: StreamState = Read { stream: 5, server: 2 };

    #[test]
    fn one_stream_replaces_another_and_its_server_goes_on() {
        let opening = READ.begin().unwrap();
        assert_eq!((opening.stream(), opening.server()), (Some(5), Some(2)), "the older one is still read");
        assert_eq!(opening.open(6), Read { stream: 6, server: 2 });
        assert_eq!(opening.open(6).close(5), Read { stream: 6, server: 2 }, "the older one ends afterwards");
        let left = opening.close(5);
        assert_eq!((left.stream(), left.server()), (None, Some(2)), "or before");
        assert_eq!(left.open(6), Read { stream: 6, server: 2 });
    }

    #[test]
    fn a_client_that_gives_up_leaves_what_was() {
        assert_eq!(READ.begin().unwrap().give_up(), READ);
        assert_eq!(READ.begin().unwrap().close(5).give_up(), Silent, "its server has nobody to serve");
        assert_eq!(Silent.begin().unwrap().give_up(), Silent);
    }

    #[test]
    fn a_first_stream_needs_a_server() {
        let opening = Silent.begin().unwrap();
        assert_eq!((opening, opening.server()), (Opening { older: None, server: None }, None));
        assert_eq!(opening.open(1), Read { stream: 1, server: 1 });
        assert_eq!(opening.open(1).close(1), Silent);
    }

    #[test]
    fn clients_open_one_after_the_other_and_none_after_the_end() {
        for state in [Silent.begin().unwrap(), READ.begin().unwrap(), Ended] {
            assert_eq!(state.begin(), None);
        }
        for after in [Ended.open(6), Ended.give_up(), Ended.close(5)] {
            assert_eq!((after, after.stream(), after.server()), (Ended, None, None));
        }
    }
}
