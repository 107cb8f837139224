//! Keeps a stream connected: chooses the transport, resumes, and notices a log of another epoch.

use std::time::{Duration, Instant};

use http::HeaderValue;
use tandem_api::error::Code;
use tandem_api::events::EventsQuery;
use tandem_core::Timestamp;
use tokio::sync::mpsc;

use super::event::{Start, StreamEvent};
use super::source::{Interruption, Source};
use super::{Followed, Notice, Transport};
use crate::backoff::Backoff;
use crate::{Client, Error};

/// After this time on a lesser transport the better ones are tried again.
const LESSER_MAX: Duration = Duration::from_secs(10 * 60);
/// A connection that lasted this long was a good one: the next pause is short.
const GOOD_CONNECTION: Duration = Duration::from_secs(10);
/// Failures of a transport after which the next one is tried, if the hub answers other requests.
const FAILURES_MAX: u32 = 2;
/// The longest pause that the hub can ask for: nothing arrives meanwhile.
const WANTED_MAX: Duration = Duration::from_secs(60);
/// How long a new key is waited for, and the pause between two looks.
const KEY_MAX: Duration = Duration::from_secs(3);
const KEY_PAUSE: Duration = Duration::from_millis(100);

/// Pause before a connection is made again that ended without a failure.
const RENEW_PAUSE: Duration = Duration::from_millis(100);

/// What the caller chose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) only: Option<Transport>,
    pub(super) silence_max: Duration,
}

impl Plan {
    pub(super) fn new(silence_max: Duration) -> Self {
        Self { only: None, silence_max }
    }
}

/// Reads events from the hub and passes them on.
pub(super) struct Follower {
    client: Client,
    plan: Plan,
    /// The last event that was passed on or need not be.
    position: Option<Start>,
    /// Whether only new events are wanted.
    is_live: bool,
    /// When the last event was written that was passed on.
    last_at: Option<Timestamp>,
    /// After a restore of the hub: events up to this time were passed on before.
    known_until: Option<Timestamp>,
    transport: Transport,
    /// Failed attempts in a row with this transport.
    failures: u32,
    /// Since when the transport is a lesser one.
    lesser_since: Option<Instant>,
    backoff: Backoff,
    out: mpsc::Sender<Result<Followed, Error>>,
}

/// Why a connection has ended.
enum End {
    /// Nobody reads the stream any more.
    Unread,
    /// Connecting again is of no use.
    Failed(Error),
    /// Connect again after a pause.
    Lost(Error),
    /// Connect again at once.
    Renew,
}

impl From<Interruption> for End {
    fn from(interruption: Interruption) -> Self {
        match interruption {
            Interruption::Lost(error) => lost_or_failed(error),
            Interruption::Renew => Self::Renew,
        }
    }
}

/// Whether the hub was restored: its log has another epoch, or ends before the last event that was passed on.
fn is_another_log(before: &Start, now: &Start) -> bool {
    let is_other = before.epoch.is_some() && now.epoch.is_some() && before.epoch != now.epoch;
    is_other || now.cursor < before.cursor
}

/// Whether connecting again can help. A wrong key, a suspended agent or a wrong cursor stays what it is.
fn lost_or_failed(error: Error) -> End {
    match &error {
        Error::Refused(refusal) if matches!(refusal.status, 400 | 401 | 403) => End::Failed(error),
        _ => End::Lost(error),
    }
}

impl Follower {
    pub(super) fn new(
        client: Client,
        plan: Plan,
        after: Option<Start>,
        is_live: bool,
        out: mpsc::Sender<Result<Followed, Error>>,
    ) -> Self {
        Self {
            client,
            plan,
            position: after,
            is_live,
            last_at: None,
            known_until: None,
            transport: plan.only.unwrap_or(Transport::WebSocket),
            failures: 0,
            lesser_since: None,
            backoff: Backoff::default(),
            out,
        }
    }

    /// Runs until nobody reads the stream or it cannot go on.
    pub(super) async fn run(mut self) {
        loop {
            if self.lesser_since.is_some_and(|since| since.elapsed() > LESSER_MAX) {
                self.use_transport(Transport::WebSocket);
            }
            let key = self.client.key();
            let Err(end) = self.connection().await else { continue };
            match end {
                // Never at once again and again, whatever the hub says.
                End::Renew => tokio::time::sleep(RENEW_PAUSE).await,
                End::Unread => return,
                End::Failed(error)
                    if error.code() == Some(Code::Unauthorized) && self.has_other_key(key.as_ref()).await => {
                }
                End::Failed(error) => {
                    // An error nobody waits for is of no interest.
                    let _ = self.out.send(Err(error)).await;
                    return;
                }
                End::Lost(error) => {
                    let wanted = match &error {
                        Error::Refused(refusal) => refusal.retry_after.unwrap_or_default(),
                        _ => Duration::ZERO,
                    };
                    let retry_in = self.backoff.pause().max(wanted.min(WANTED_MAX));
                    let lost = Notice::Lost { cause: error.to_string(), retry_in };
                    if self.notify(lost).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(retry_in).await;
                }
            }
        }
    }

    /// Waits for a new key, if somebody else can store one. The hub ends the stream when it replaces the key; whoever
    /// asked for that stores the new one a moment later.
    async fn has_other_key(&self, refused: Option<&HeaderValue>) -> bool {
        let until = Instant::now() + KEY_MAX;
        while self.client.has_key_source() {
            if self.client.renew_key(refused) {
                return true;
            }
            if Instant::now() > until {
                return false;
            }
            tokio::time::sleep(KEY_PAUSE).await;
        }
        false
    }

    /// Connects and passes events on until the connection ends.
    async fn connection(&mut self) -> Result<(), End> {
        let key = self.client.key();
        let (mut source, start) = match Source::open(&self.client, self.transport, self.position.as_ref())
            .await
        {
            Ok(opened) => opened,
            Err(error) if error.code() == Some(Code::Unauthorized) && self.client.renew_key(key.as_ref()) => {
                return Err(End::Renew);
            }
            Err(error) => return Err(self.not_opened(error).await),
        };
        self.failures = 0;
        if let Some(before) = self.position.take_if(|before| is_another_log(before, &start)) {
            self.notify(Notice::Rewound { from: before.cursor, to: start.cursor }).await?;
            if self.is_live && before.epoch != start.epoch {
                self.known_until = self.last_at;
                if self.last_at.is_none() {
                    // It cannot be told what is new. Connects once more, at the end of the restored log.
                    return Err(End::Renew);
                }
            }
        }
        let (cursor, epoch) = (start.cursor, start.epoch.clone());
        self.position = Some(start);
        self.notify(Notice::Connected { transport: self.transport, cursor, epoch }).await?;
        let opened_at = Instant::now();
        loop {
            let next = source.next(&self.client, self.plan.silence_max).await;
            if next.is_ok() || opened_at.elapsed() > GOOD_CONNECTION {
                self.backoff.reset();
            }
            self.pass_on(next?).await?;
        }
    }

    /// Passes an event on, unless that was done before.
    async fn pass_on(&mut self, event: StreamEvent) -> Result<(), End> {
        let cursor = event.cursor;
        if self.position.as_ref().is_some_and(|position| cursor <= position.cursor) {
            return Ok(());
        }
        let written = event.created_at;
        if self.known_until.is_none() || written.is_none() || written > self.known_until {
            self.send(Followed::Event(event)).await?;
            (self.last_at, self.known_until) = (written.or(self.last_at), None);
        }
        if let Some(position) = &mut self.position {
            position.cursor = cursor;
        }
        Ok(())
    }

    /// What to do if no connection could be opened.
    async fn not_opened(&mut self, error: Error) -> End {
        if self.transport == Transport::LongPoll {
            return lost_or_failed(error);
        }
        if matches!(error, Error::Unreachable { .. }) {
            return End::Lost(error);
        }
        // A proxy may refuse what the hub would not. So the hub is asked in the plainest way.
        let after = Some(self.position.as_ref().map_or(i64::MAX, |position| position.cursor));
        if let Err(refused) = self.client.events(&EventsQuery { after, ..EventsQuery::default() }).await {
            return lost_or_failed(refused);
        }
        self.failures += 1;
        let is_refused = matches!(error, Error::Refused(_) | Error::NotAHub { .. });
        if self.plan.only.is_some() || (!is_refused && self.failures < FAILURES_MAX) {
            return End::Lost(error);
        }
        self.use_transport(match self.transport {
            Transport::WebSocket => Transport::ServerSentEvents,
            Transport::ServerSentEvents | Transport::LongPoll => Transport::LongPoll,
        });
        End::Renew
    }

    fn use_transport(&mut self, transport: Transport) {
        self.transport = transport;
        self.failures = 0;
        self.lesser_since = (transport != Transport::WebSocket).then(Instant::now);
    }

    async fn notify(&self, notice: Notice) -> Result<(), End> {
        self.send(Followed::Notice(notice)).await
    }

    async fn send(&self, item: Followed) -> Result<(), End> {
        self.out.send(Ok(item)).await.map_err(|_| End::Unread)
    }
}
