//! The event stream: an agent's events as they happen, each exactly once and in order.
//!
//! The stream resumes by itself after a lost connection, a restart of the hub and a night of sleep. It prefers a
//! WebSocket, and uses server-sent events or long polls where a proxy in between does not let one through.

mod event;
mod follower;
mod poll;
mod socket;
mod source;
mod sse;

use std::fmt;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use event::Start;
pub use event::StreamEvent;
pub(crate) use event::is_epoch;

use crate::{Client, Error};
use follower::{Follower, Plan};

/// Items that wait for the caller. When it is full, the stream stops reading, and the hub closes a connection that is
/// not read; nothing is lost by that.
const BUFFERED: usize = 256;
/// Time without a byte after which a connection counts as lost. The hub sends something every 30 seconds.
const SILENCE_MAX: Duration = Duration::from_secs(75);

/// How events arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// A WebSocket at `/ws`.
    WebSocket,
    /// Server-sent events from `/events/stream`.
    ServerSentEvents,
    /// Long polls of `/events`.
    LongPoll,
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WebSocket => "WebSocket",
            Self::ServerSentEvents => "server-sent events",
            Self::LongPoll => "long poll",
        })
    }
}

/// What [`EventStream::next`] returns.
#[derive(Debug, Clone)]
pub enum Followed {
    /// An event.
    Event(StreamEvent),
    /// Something happened to the stream itself. It goes on; a program may ignore this.
    Notice(Notice),
}

/// What happened to a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// The stream is connected and continues after `cursor`.
    Connected {
        /// How events arrive from now on.
        transport: Transport,
        /// The events after this cursor follow.
        cursor: i64,
        /// The epoch of the log; `None` from an older hub.
        epoch: Option<String>,
    },
    /// The connection was lost, or none could be made.
    Lost {
        /// The cause, for people.
        cause: String,
        /// When the stream connects again.
        retry_in: Duration,
    },
    /// The hub's log is no longer the one that was read: the hub was restored from a backup. Numbers of events that were
    /// returned before may be used again.
    Rewound {
        /// The cursor until now.
        from: i64,
        /// The cursor from which the stream continues.
        to: i64,
    },
}

/// An agent's events, first those in the log and then new ones. Made by [`Client::follow`].
///
/// Each event is returned once, in the order of the log. A connection that breaks is made again for as long as it
/// takes, so [`next`](Self::next) fails only if that is of no use: the key is not valid, the agent is suspended, or the
/// cursor is not one.
///
/// # A hub that was restored
///
/// A hub that was restored from a backup has forgotten its newest events and gives their numbers out again. Its log has
/// another epoch then, by which the stream notices it. A stream with a cursor sends [`Notice::Rewound`] and goes on after
/// the last event that was acknowledged with [`Client::acknowledge_events`]: some events may be returned a second time, and
/// none is missed. A stream of only new events goes on with those that were written after the last one that it returned;
/// look at [`Client::inbox`] when it says that it was rewound, because a clock may have been set back.
///
/// A program that stores its cursor stores [`epoch`](Self::epoch) with it and starts with
/// [`in_epoch`](Self::in_epoch); otherwise a restore while it does not run goes unnoticed, unless the log has become
/// shorter than the cursor.
///
/// Deleted tasks leave gaps in the numbers.
#[derive(Debug)]
pub struct EventStream {
    client: Client,
    plan: Plan,
    cursor: Option<i64>,
    epoch: Option<String>,
    is_live: bool,
    running: Option<Running>,
}

/// The task that reads from the hub. It ends with the stream.
#[derive(Debug)]
struct Running {
    items: mpsc::Receiver<Result<Followed, Error>>,
    task: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Client {
    /// The caller's events after a cursor, or only new ones.
    ///
    /// ```no_run
    /// use tandem_client::{Client, Followed, Notice};
    ///
    /// # async fn example(client: Client, stored: Option<i64>) -> anyhow::Result<()> {
    /// let mut events = client.follow(stored);
    /// loop {
    ///     match events.next().await? {
    ///         Followed::Event(event) => println!("{} {}", event.cursor, event.kind.as_str()),
    ///         Followed::Notice(Notice::Lost { cause, .. }) => eprintln!("{cause}"),
    ///         Followed::Notice(_) => {}
    ///     }
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn follow(&self, after: Option<i64>) -> EventStream {
        // The stream repeats what fails, and says so.
        let client = self.clone().with_patience(Duration::ZERO);
        let is_live = after.is_none();
        EventStream {
            client,
            plan: Plan::new(SILENCE_MAX),
            cursor: after,
            epoch: None,
            is_live,
            running: None,
        }
    }
}

impl EventStream {
    /// The next event or notice. Nothing is lost if the future is dropped.
    ///
    /// After an error, the next call tries again from the last cursor.
    pub async fn next(&mut self) -> Result<Followed, Error> {
        loop {
            let running = match &mut self.running {
                Some(running) => running,
                None => {
                    let started = self.start();
                    self.running.insert(started)
                }
            };
            let Some(item) = running.items.recv().await else {
                self.running = None;
                continue;
            };
            match &item {
                Ok(Followed::Event(event)) => self.cursor = Some(event.cursor),
                Ok(Followed::Notice(Notice::Connected { cursor, epoch, .. })) => {
                    (self.cursor, self.epoch) = (Some(*cursor), epoch.clone());
                }
                Ok(Followed::Notice(Notice::Rewound { to, .. })) => self.cursor = Some(*to),
                Ok(Followed::Notice(Notice::Lost { .. })) | Err(_) => {}
            }
            return item;
        }
    }

    fn start(&self) -> Running {
        let (sender, items) = mpsc::channel(BUFFERED);
        let after = self.cursor.map(|cursor| Start { cursor, epoch: self.epoch.clone() });
        let follower = Follower::new(self.client.clone(), self.plan, after, self.is_live, sender);
        Running { items, task: tokio::spawn(follower.run().boxed()) }
    }

    /// The next event. Notices are left out.
    pub async fn next_event(&mut self) -> Result<StreamEvent, Error> {
        loop {
            if let Followed::Event(event) = self.next().await? {
                return Ok(event);
            }
        }
    }

    /// The cursor after what was returned: [`Client::follow`] continues from it. `None` before the first connection of
    /// a stream that starts at the end.
    #[must_use]
    pub fn cursor(&self) -> Option<i64> {
        self.cursor
    }

    /// The epoch of the log to which the cursor belongs. `None` before the first connection, and from an older hub.
    #[must_use]
    pub fn epoch(&self) -> Option<&str> {
        self.epoch.as_deref()
    }

    /// Says to which epoch of the log the cursor belongs.
    #[must_use]
    pub fn in_epoch(mut self, epoch: Option<String>) -> Self {
        self.epoch = epoch;
        self
    }

    /// Uses only this transport, for tests and to find out what a proxy does.
    #[must_use]
    pub fn only(mut self, transport: Transport) -> Self {
        self.plan.only = Some(transport);
        self
    }

    /// Sets the time without a byte after which a connection counts as lost: the other side is gone, or this machine
    /// was asleep. The default is 75 seconds. The hub sends something every 30 seconds.
    #[must_use]
    pub fn with_silence_max(mut self, silence_max: Duration) -> Self {
        self.plan.silence_max = silence_max;
        self
    }
}
