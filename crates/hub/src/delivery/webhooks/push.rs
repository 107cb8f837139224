//! Pushes to clients of A2A: the steps of a task, one after the other, to each receiver that its client has named. They take
//! turns with webhooks.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::Stream;
use futures_util::stream::unfold;
use tandem_api::a2a::{MEDIA_TYPE, StreamResponse};
use tandem_app::Error;
use tandem_app::a2a::pushes::{self, Attempt, TurnEnd as Ended, Waiting};
use tandem_core::TaskId;
use tandem_core::pushes::PushConfig;
use tandem_store::pushes::Due;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::schedule::{Pace, Turn, TurnEnd};
use super::send::Post;
use super::{Dispatcher, START_MAX, STORE_PAUSE, Tried, attempt_all, attempt_once, recorded, send};
use crate::ops::a2a::{Reader, Shown, Step, Steps, extras_of};
use crate::ops::cards;
use crate::{Held, Holder};

/// How often a node looks for what is due, whether or not a bell rings.
const DUE_EVERY: Duration = Duration::from_millis(250);
/// A node that shares its database and knows of nobody who wants pushes looks with every fourth of these.
const ANY_EVERY: u32 = 4;
/// Configs per query.
const PAGE: i64 = 256;
/// Clients that are left out of a query, because they have enough in the queues.
const FULL_MAX: usize = 256;
/// Steps that are read at once. Most of them are pushed.
const STEPS_AT_ONCE: i64 = 4;
/// A push is at most so many times as large as the step that it tells of.
const COPIES: usize = 2;

/// Finds what is to be pushed until the hub stops.
pub(super) async fn find(with: &Dispatcher) {
    begin(with).await;
    let mut look = interval(DUE_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let receivers = &with.webhooks.receivers;
    for count in 0_u32.. {
        tokio::select! {
            _ = look.tick() => {}
            () = receivers.push_rung() => {}
        }
        let is_known = receivers.wants_pushes() || (with.is_shared && count.is_multiple_of(ANY_EVERY));
        if is_known && let Err(error) = add_due(with).await {
            tracing::warn!(%error, "could not check for due pushes");
            sleep(STORE_PAUSE).await;
        }
    }
}

/// Learns whether anybody wants pushes, and goes on with what this node had when it was stopped.
async fn begin(with: &Dispatcher) {
    loop {
        let holder = with.webhooks.holder.clone();
        let begun = with.db.write(move |tx, now| {
            let is_any = pushes::is_any(tx)?;
            if is_any {
                pushes::free(tx, &holder, now)?;
            }
            Ok(is_any)
        });
        match begun.await {
            Ok(false) => return,
            Ok(true) => return with.webhooks.receivers.want_pushes(),
            Err(error) => {
                tracing::warn!(%error, "could not load the pushes; trying again");
                sleep(STORE_PAUSE).await;
            }
        }
    }
}

/// Queues what is due. A client that has enough in the queues is left out, so that it hides nobody else.
async fn add_due(with: &Dispatcher) -> Result<(), Error> {
    let mut full = Vec::new();
    let mut after: Option<Due> = None;
    loop {
        let (from, without) = (after.clone(), full.clone());
        let due = with.db.read(move |tx, now| pushes::due(tx, from.as_ref(), &without, PAGE, now)).await?;
        full.extend(with.webhooks.receivers.add_pushes(&due));
        let is_last = i64::try_from(due.len()).is_ok_and(|found| found < PAGE);
        if is_last || full.len() > FULL_MAX {
            return Ok(());
        }
        after = due.into_iter().next_back();
    }
}

/// Pushes some of the steps that a receiver has not got.
pub(super) async fn serve(
    with: &Dispatcher,
    turn: &mut Turn,
    task: &TaskId,
    id: &str,
) -> Result<TurnEnd, Error> {
    let claimed_at = Instant::now();
    let (of, named, holder) = (task.clone(), id.to_owned(), with.webhooks.holder.clone());
    let claimed = with.db.write(move |tx, now| pushes::claim(tx, &of, &named, &holder, now)).await?;
    let Some(config) = claimed else { return Ok(TurnEnd::Off) };
    let pushing = Pushing {
        with,
        config: &config,
        start_by: claimed_at + START_MAX,
        requests: turn.pace().requests_max(),
        pushed: config.pushed,
        end: None,
    };
    let steps = Box::pin(attempt_all(turn, steps_of(pushing))).await;
    let mut result = pushes::Turn {
        attempts: Vec::new(),
        pushed: config.pushed,
        pace: turn.measured.unwrap_or(Pace::New).number(),
        end: Ended::Done,
    };
    for Pushed { attempt, pushed, end } in steps {
        result.attempts.extend(attempt);
        (result.pushed, result.end) = (pushed, end);
    }
    if result.attempts.is_empty() && turn.measured == Some(Pace::Quick) {
        // Nothing was measured.
        result.pace = Pace::New.number();
    }
    recorded(|| {
        let (config, holder, result) = (config.clone(), with.webhooks.holder.clone(), result.clone());
        with.db.write(move |tx, now| pushes::record(tx, &config, &holder, &result, now))
    })
    .await?;
    Ok(TurnEnd::Off)
}

/// A part of a turn.
struct Pushed {
    /// Nothing if the steps that were read say nothing to the client.
    attempt: Option<Attempt>,
    pushed: i64,
    end: Ended,
}

/// A turn under way.
struct Pushing<'a> {
    with: &'a Dispatcher,
    config: &'a PushConfig,
    start_by: Instant,
    /// How many more there may be.
    requests: i64,
    pushed: i64,
    end: Option<Ended>,
}

/// The attempts of a turn, one after the other, up to the first that fails.
fn steps_of(pushing: Pushing<'_>) -> impl Stream<Item = (Pushed, Pace)> {
    unfold(pushing, |mut pushing| async move {
        let (pushed, pace) = pushing.next().await?;
        Some(((pushed, pace), pushing))
    })
}

impl<'a> Pushing<'a> {
    async fn next(&mut self) -> Option<(Pushed, Pace)> {
        if self.end.is_some() || self.requests == 0 || Instant::now() > self.start_by {
            return None;
        }
        self.requests -= 1;
        let written = match self.write().await {
            Ok(written) => written,
            Err(error) => {
                tracing::warn!(%error, "could not write a push; trying again");
                Written::Nothing(Ended::Paused)
            }
        };
        let (step, event, post, held) = match written {
            Written::Nothing(end) => {
                self.end = Some(end);
                return Some((Pushed { attempt: None, pushed: self.pushed, end }, Pace::Quick));
            }
            Written::Post { step, event, post, held } => (step, event, post, held),
        };
        let (tried, pace) = attempt_once(self.with, post, self.start_by + send::TIME_MAX).await;
        drop(held);
        let Tried { outcome, took_ms, jitter } = tried;
        let attempt = Attempt { step, event, outcome, took_ms, jitter };
        if attempt.delivered() {
            self.pushed = step;
        } else {
            self.end = Some(Ended::Done);
        }
        Some((Pushed { attempt: Some(attempt), pushed: self.pushed, end: Ended::Done }, pace))
    }

    /// Writes the next push.
    async fn write(&mut self) -> Result<Written<'a>, crate::Error> {
        let with: &'a Dispatcher = self.with;
        let _permit = with.webhooks.writing.acquire().await;
        loop {
            let (config, after) = (self.config.clone(), self.pushed);
            let found =
                with.db.read(move |tx, now| pushes::waiting(tx, &config, after, STEPS_AT_ONCE, now)).await?;
            let steps = match found {
                Waiting::Steps(steps) => Steps::from(*steps),
                Waiting::Paused => return Ok(Written::Nothing(Ended::Paused)),
                Waiting::Gone => return Ok(Written::Nothing(Ended::Gone)),
            };
            let has_more = steps.has_more;
            let Some(last) = steps.steps.last().map(|step| step.step) else {
                self.pushed = self.pushed.max(steps.task.steps());
                return Ok(Written::Nothing(Ended::Done));
            };
            if let Some(written) = self.first_of(steps).await? {
                return Ok(written);
            }
            self.pushed = last;
            if !has_more {
                return Ok(Written::Nothing(Ended::Done));
            }
        }
    }

    /// Writes the first of these steps that says something to the client.
    async fn first_of(&self, found: Steps) -> Result<Option<Written<'a>>, crate::Error> {
        let (hub, config) = (&self.with.hub, self.config);
        let extension = match config.extension {
            true => Some(cards::seen_by(hub, &config.owner, &config.host).await?),
            false => None,
        };
        let base = hub.config.public_address().unwrap_or(&config.base).to_owned();
        let (agent, host) = (config.owner.clone(), config.host.clone());
        let mut shown = Shown::new(hub, Reader { agent, host, base, extension });
        shown.set_files(found.files);
        for step in found.steps {
            let Step { step: number, .. } = step;
            let Some(said) = shown.step(&found.task, step).await else { continue };
            let event = match said {
                StreamResponse::ArtifactUpdate(_) => "a2a.artifactUpdate",
                _ => "a2a.statusUpdate",
            };
            let body = serde_json::to_string(&said).map_err(|_| crate::Error::internal())?;
            let held = hub.budget.hold(Holder::Agent(config.owner.clone()), COPIES * body.len())?;
            let headers = self.headers(&found.task, number, &body);
            let post = Post { url: &config.receiver.url, content_type: MEDIA_TYPE, headers, body };
            return Ok(Some(Written::Post { step: number, event, post, held }));
        }
        Ok(None)
    }

    fn headers(&self, task: &tandem_core::Task, step: i64, body: &str) -> Vec<(&'static str, String)> {
        let receiver = &self.config.receiver;
        let id = pushes::delivery_id(self.config, step);
        let timestamp = self.with.db.time().0 / 1_000;
        let signed = self.with.hub.signing.sign_push(format!("{id}.{timestamp}.{body}").as_bytes());
        let extras = extras_of(&task.foreign);
        let mut headers = vec![
            ("a2a-version", tandem_api::a2a::PROTOCOL_VERSION.to_owned()),
            ("webhook-id", id.to_string()),
            ("webhook-timestamp", timestamp.to_string()),
            ("webhook-signature", format!("v1a,{}", STANDARD.encode(signed))),
        ];
        if let Some(scheme) = &receiver.scheme {
            let credentials = receiver.credentials.as_deref().unwrap_or_default();
            headers.push(("authorization", format!("{scheme} {credentials}").trim_end().to_owned()));
        }
        let others = [
            ("x-a2a-notification-token", receiver.token.clone()),
            ("traceparent", extras.traceparent),
            ("tracestate", extras.tracestate),
        ];
        headers.extend(others.into_iter().filter_map(|(name, value)| Some((name, value?))));
        headers
    }
}

/// What there is to push.
enum Written<'a> {
    Nothing(Ended),
    Post { step: i64, event: &'static str, post: Post<'a>, held: Held },
}
