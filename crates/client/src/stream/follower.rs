//! Keeps a stream connected: chooses the transport, resumes, and finds out whether the log is still the same.

use std::time::{Duration, Instant};

use http::HeaderValue;
use tandem_api::error::Code;
use tandem_api::events::EventsQuery;
use tokio::sync::mpsc;

use super::event::{Received, from_log};
use super::seen::{Compared, Seen};
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
    /// The number of the last event that was passed on or need not be.
    position: Option<i64>,
    seen: Seen,
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
        after: Option<i64>,
        out: mpsc::Sender<Result<Followed, Error>>,
    ) -> Self {
        Self {
            client,
            plan,
            position: after,
            seen: Seen::default(),
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
                End::Renew => {}
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
        let (mut source, start) = match Source::open(&self.client, self.transport, self.position).await {
            Ok(opened) => opened,
            Err(error) if error.code() == Some(Code::Unauthorized) && self.client.renew_key(key.as_ref()) => {
                return Err(End::Renew);
            }
            Err(error) => return Err(self.not_opened(error).await),
        };
        self.failures = 0;
        if let Some(to) = self.agree(start).await? {
            let from = self.position.unwrap_or(to);
            self.position = Some(to);
            self.notify(Notice::Rewound { from, to }).await?;
            if to != start {
                return Ok(());
            }
        }
        self.position = Some(start);
        self.notify(Notice::Connected { transport: self.transport, cursor: start }).await?;
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
    async fn pass_on(&mut self, Received { event, hash }: Received) -> Result<(), End> {
        let cursor = event.cursor;
        if self.position.is_some_and(|position| cursor <= position) {
            return Ok(());
        }
        if self.seen.compare(cursor, hash) != Compared::Same {
            self.send(Followed::Event(event)).await?;
            self.seen.remember(cursor, hash);
        }
        self.position = Some(cursor);
        Ok(())
    }

    /// Compares the hub's log with what was passed on. Returns the cursor from which to continue if they differ.
    ///
    /// `start` is the cursor after which the hub sends events. It is below ours if that is the end of the log.
    async fn agree(&mut self, start: i64) -> Result<Option<i64>, End> {
        let Some(position) = self.position else { return Ok(None) };
        let is_shorter = start < position;
        if is_shorter {
            self.seen.forget_after(start);
        }
        let end = start.min(position);
        if self.seen.is_empty() {
            // All that is known of the events before is the number of the last one.
            if !is_shorter && end > 0 {
                self.remember_one(end).await?;
            }
            return Ok(is_shorter.then_some(end));
        }
        let Some(recent) = self.seen.compared_from(end) else { return Ok(is_shorter.then_some(end)) };
        let differs = match self.first_difference(recent, end).await? {
            // The first difference may be older.
            Some(found) => match self.seen.oldest() {
                Some(oldest) if oldest < recent => self.first_difference(oldest, end).await?.or(Some(found)),
                _ => Some(found),
            },
            None => None,
        };
        let Some((first, compared)) = differs else { return Ok(is_shorter.then_some(end)) };
        if compared == Compared::Other {
            self.seen.forget_after(first - 1);
        }
        Ok(Some(first - 1))
    }

    /// The first event of the log from `from` to `to` that was not passed on.
    async fn first_difference(&self, from: i64, to: i64) -> Result<Option<(i64, Compared)>, End> {
        let mut after = from - 1;
        loop {
            let (events, has_more) = self.page(after).await?;
            let before = after;
            for event in events {
                if event.event.cursor > to {
                    return Ok(None);
                }
                let compared = self.seen.compare(event.event.cursor, event.hash);
                if compared != Compared::Same {
                    return Ok(Some((event.event.cursor, compared)));
                }
                after = event.event.cursor;
            }
            if !has_more {
                return Ok(None);
            }
            if after <= before {
                return Err(End::Lost(self.client.not_a_hub("a log whose cursor does not advance")));
            }
        }
    }

    /// Remembers the event with this number, if it still exists.
    async fn remember_one(&mut self, cursor: i64) -> Result<(), End> {
        let (events, _) = self.page(cursor - 1).await?;
        if let Some(found) = events.into_iter().find(|found| found.event.cursor == cursor) {
            self.seen.remember(cursor, found.hash);
        }
        Ok(())
    }

    /// A page of the log, and whether more follows.
    async fn page(&self, after: i64) -> Result<(Vec<Received>, bool), End> {
        let query = EventsQuery { after: Some(after.max(0)), wait: None };
        let page = self.client.events(&query).await.map_err(lost_or_failed)?;
        let events: Result<Vec<_>, _> = page.events.into_iter().map(from_log).collect();
        let events = events.map_err(|cause| End::Lost(self.client.not_a_hub(cause.to_string())))?;
        Ok((events, page.has_more))
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
        let asked = self.page(self.position.unwrap_or(i64::MAX)).await;
        if let Err(end) = asked {
            return end;
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
