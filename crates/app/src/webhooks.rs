//! Webhooks: settings, turning log entries into deliveries, and recording the result of each attempt. Sending is not
//! done here.

use serde_json::json;
use tandem_core::webhooks::{GIVE_UP_AFTER_SECONDS, SecretFormat, State, retry_at, wants};
use tandem_core::{AgentId, DeliveryId, Now, Timestamp};
use tandem_seal::webhooks::{body, data, is_standard};
use tandem_store::events;
use tandem_store::webhooks::{self as rows, Delivery, Webhook};
use tandem_store::{Effect, Tx};

use crate::events::assigned_tasks;
use crate::{Error, Page, tasks};

/// Events that one transaction turns into deliveries.
const ENQUEUED_MAX: i64 = 100;
/// Lease of a worker on the deliveries of one agent.
const LEASE_SECONDS: i64 = 30;
const SWITCHED_OFF: &str = "deactivated after failing for a day; set webhookUrl again to activate it";

/// Changes to the caller's webhook. `None` leaves a field unchanged; `Some(None)` clears it.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// The URL of the receiver.
    pub url: Option<Option<String>>,
    /// The secret for the signatures.
    pub secret: Option<Option<String>>,
    /// Event types to deliver; empty means all.
    pub events: Option<Vec<String>>,
}

/// Changes the caller's webhook. Setting a URL activates it, starting with the next event.
pub fn change(tx: &mut Tx<'_>, by: &AgentId, change: &Change) -> Result<(), Error> {
    if change.url.is_none() && change.secret.is_none() && change.events.is_none() {
        return Ok(());
    }
    let mut webhook = rows::find(tx, by)?.ok_or(Error::NotFound("agent"))?;
    if let Some(secret) = &change.secret {
        webhook.secret.clone_from(secret);
    }
    if let Some(wanted) = &change.events {
        webhook.events.clone_from(wanted);
    }
    match &change.url {
        None => {}
        Some(None) => {
            (webhook.url, webhook.secret, webhook.active) = (None, None, false);
            rows::give_up(tx, by, "the webhook was removed")?;
        }
        Some(Some(url)) => {
            if !webhook.active {
                webhook.cursor = events::cursors(tx, by)?.last;
            }
            (webhook.url, webhook.active, webhook.failing_since) = (Some(url.clone()), true, None);
        }
    }
    rows::update(tx, by, &webhook)?;
    tx.after_commit(Effect::WebhookChanged(by.clone()));
    Ok(())
}

/// The result of a claim.
#[derive(Debug, Clone)]
pub enum Claim {
    /// The agent has no active webhook.
    Off,
    /// Nothing is due, or another worker holds the lease.
    Idle,
    /// The events read so far need no delivery, but there are more events.
    More,
    /// Deliveries to attempt now.
    Batch(Batch),
}

/// Deliveries to attempt now, with the settings of the webhook.
#[derive(Debug, Clone)]
pub struct Batch {
    /// The URL of the receiver.
    pub url: String,
    /// The secret for the signatures.
    pub secret: Option<String>,
    /// The deliveries, by due time.
    pub deliveries: Vec<Delivery>,
}

/// Claims some due deliveries of an agent for one worker. `holder` is the process that the worker belongs to; a process
/// has one worker per agent at most, so it may take over its own lease.
pub fn claim(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    holder: &str,
    deliveries_max: i64,
    now: &Now,
) -> Result<Claim, Error> {
    if !rows::lease(tx, agent, holder, now.at, now.at.plus_seconds(LEASE_SECONDS))? {
        return Ok(if rows::find(tx, agent)?.is_some() { Claim::Idle } else { Claim::Off });
    }
    let mut claim = Claim::Off;
    let webhook = rows::find(tx, agent)?;
    if let Some(Webhook { url: Some(url), active: true, secret, .. }) = webhook.clone()
        && let Some(webhook) = webhook
    {
        let more = enqueue(tx, agent, webhook, &url, now)?;
        let deliveries = rows::due(tx, agent, now.at, deliveries_max)?;
        if !deliveries.is_empty() {
            return Ok(Claim::Batch(Batch { url, secret, deliveries }));
        }
        claim = if more { Claim::More } else { Claim::Idle };
    }
    rows::release(tx, agent, holder)?;
    Ok(claim)
}

/// Turns new log entries into deliveries. Returns whether there may be more.
fn enqueue(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    mut webhook: Webhook,
    url: &str,
    now: &Now,
) -> Result<bool, Error> {
    let news = events::after(tx, agent, webhook.cursor, ENQUEUED_MAX)?;
    let Some(last) = news.last() else { return Ok(false) };
    webhook.cursor = last.seq;
    for event in news.iter().filter(|event| wants(&webhook.events, &event.kind)) {
        let body = body(agent.as_str(), &event.kind, event.at, data(&event.kind, &event.data, event.seq));
        rows::insert(tx, &delivery(agent, Some(event.seq), &event.kind, url, body, now))?;
    }
    rows::update(tx, agent, &webhook)?;
    Ok(i64::try_from(news.len()).is_ok_and(|found| found == ENQUEUED_MAX))
}

fn delivery(agent: &AgentId, seq: Option<i64>, kind: &str, url: &str, body: String, now: &Now) -> Delivery {
    Delivery {
        id: now.new_id(),
        agent: agent.clone(),
        event_seq: seq,
        event_type: kind.to_owned(),
        url: url.to_owned(),
        body,
        state: State::Pending,
        attempts: 0,
        next_at: Some(now.at),
        answered_at: None,
        answer_status: None,
        answer: None,
        error: None,
        took_ms: None,
        created_at: now.at,
    }
}

/// An attempt to deliver.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The delivery that was sent.
    pub delivery: Delivery,
    /// Status and start of the response body, or the error.
    pub outcome: Result<(u16, String), String>,
    /// Duration of the attempt.
    pub took_ms: i64,
    /// Random number from 0 to 1 that spreads the retries.
    pub jitter: f64,
}

impl Attempt {
    /// Whether the receiver answered with a 2xx status.
    #[must_use]
    pub fn delivered(&self) -> bool {
        matches!(self.outcome, Ok((200..=299, _)))
    }
}

/// Records attempts and releases the lease. The webhook is deactivated when it has failed for a day.
pub fn record(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    holder: &str,
    url: &str,
    attempts: &[Attempt],
    now: &Now,
) -> Result<(), Error> {
    for attempt in attempts {
        // A delivery that was given up meanwhile is not retried; if it succeeded, that is recorded.
        if !attempt.delivered() {
            let found = rows::find_delivery(tx, agent, &attempt.delivery.id)?;
            if found.is_none_or(|found| found.state != State::Pending) {
                continue;
            }
        }
        rows::update_delivery(tx, &after_attempt(attempt, url, now.at))?;
        if let Some(seq) = attempt.delivery.event_seq.filter(|_| attempt.delivered()) {
            let mut delivered = events::after(tx, agent, seq - 1, 1)?;
            // The event may have been deleted with its task.
            delivered.retain(|event| event.seq == seq);
            tasks::mark_pushed(tx, agent, &assigned_tasks(&delivered), now)?;
        }
    }
    // What an earlier URL did says nothing about the present one.
    let attempted = rows::find(tx, agent)?.filter(|webhook| webhook.url.as_deref() == Some(url));
    if let Some(mut webhook) = attempted.filter(|_| !attempts.is_empty()) {
        let before = (webhook.failing_since, webhook.active);
        webhook.failing_since = match (attempts.iter().any(Attempt::delivered), webhook.failing_since) {
            (true, _) => None,
            (false, since) => since.or(Some(now.at)),
        };
        let failing_ms = webhook.failing_since.map_or(0, |since| now.at.ms_since(since));
        if webhook.active && failing_ms >= GIVE_UP_AFTER_SECONDS * 1_000 {
            webhook.active = false;
            rows::give_up(tx, agent, SWITCHED_OFF)?;
        }
        if before != (webhook.failing_since, webhook.active) {
            rows::update(tx, agent, &webhook)?;
        }
    }
    Ok(rows::release(tx, agent, holder)?)
}

fn after_attempt(attempts: &Attempt, url: &str, now: Timestamp) -> Delivery {
    let mut delivery = attempts.delivery.clone();
    url.clone_into(&mut delivery.url);
    delivery.attempts += 1;
    delivery.answered_at = Some(now);
    delivery.took_ms = Some(attempts.took_ms);
    (delivery.answer_status, delivery.answer, delivery.error) = match &attempts.outcome {
        Ok((status, answer)) => (Some(i64::from(*status)), Some(answer.clone()), None),
        Err(error) => (None, None, Some(error.clone())),
    };
    delivery.next_at =
        if attempts.delivered() { None } else { retry_at(delivery.attempts, now, attempts.jitter) };
    delivery.state = match (attempts.delivered(), delivery.next_at) {
        (true, _) => State::Delivered,
        (false, Some(_)) => State::Pending,
        (false, None) => State::Failed,
    };
    delivery
}

fn active_url(tx: &mut Tx<'_>, by: &AgentId) -> Result<String, Error> {
    let webhook = rows::find(tx, by)?.filter(|webhook| webhook.active);
    webhook.and_then(|webhook| webhook.url).ok_or(Error::NoWebhook)
}

/// Sends a test event to the caller's webhook.
pub fn ping(tx: &mut Tx<'_>, by: &AgentId, now: &Now) -> Result<Delivery, Error> {
    let url = active_url(tx, by)?;
    let body = body(by.as_str(), "ping", now.at, json!({ "type": "ping" }));
    let test = delivery(by, None, "ping", &url, body, now);
    rows::insert(tx, &test)?;
    rows::wake(tx, by, now.at)?;
    tx.after_commit(Effect::WebhookDue(by.clone()));
    Ok(test)
}

/// Sends a delivery again, with the same id.
pub fn replay(tx: &mut Tx<'_>, by: &AgentId, id: &DeliveryId, now: &Now) -> Result<Delivery, Error> {
    let mut again = view(tx, by, id)?;
    again.url = active_url(tx, by)?;
    (again.state, again.attempts, again.next_at) = (State::Pending, 0, Some(now.at));
    rows::update_delivery(tx, &again)?;
    rows::wake(tx, by, now.at)?;
    tx.after_commit(Effect::WebhookDue(by.clone()));
    Ok(again)
}

/// One of the caller's deliveries.
pub fn view(tx: &mut Tx<'_>, by: &AgentId, id: &DeliveryId) -> Result<Delivery, Error> {
    rows::find_delivery(tx, by, id)?.ok_or(Error::NotFound("delivery"))
}

/// The caller's deliveries, newest first.
pub fn list(
    tx: &mut Tx<'_>,
    by: &AgentId,
    before: Option<&(Timestamp, DeliveryId)>,
    limit: i64,
) -> Result<Page<Delivery, (Timestamp, DeliveryId)>, Error> {
    let place = |delivery: &Delivery| (delivery.created_at, delivery.id.clone());
    let (found, cut) = rows::list(tx, by, before, limit + 1)?;
    let last = found.last().filter(|_| cut).map(place);
    let page = Page::cut(found, limit, place);
    Ok(Page { next: page.next.or(last), ..page })
}

/// Waiting deliveries are counted up to this number.
pub const WAITING_MAX: i64 = 1_000;

/// How the caller's webhook does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    /// Since when nothing has got through.
    pub failing_since: Option<Timestamp>,
    /// How many deliveries wait, up to [`WAITING_MAX`].
    pub waiting: i64,
    /// When the next one is tried.
    pub next_at: Option<Timestamp>,
}

/// How the caller's webhook does.
pub fn health(tx: &mut Tx<'_>, by: &AgentId) -> Result<Health, Error> {
    let webhook = rows::find(tx, by)?.ok_or(Error::NotFound("agent"))?;
    let (waiting, next_at) = rows::waiting(tx, by, WAITING_MAX)?;
    Ok(Health { failing_since: webhook.failing_since, waiting, next_at })
}

/// Whether an agent's webhook is active.
pub fn is_active(tx: &mut Tx<'_>, agent: &AgentId) -> Result<bool, Error> {
    Ok(rows::find(tx, agent)?.is_some_and(|webhook| webhook.active))
}

/// Agents with an active webhook, after an id.
pub fn active_agents(tx: &mut Tx<'_>, after: &str, limit: i64) -> Result<Vec<AgentId>, Error> {
    Ok(rows::active_agents(tx, after, limit)?)
}

/// Those of them that have something to deliver, now or later, up to an id.
pub fn waiting_agents(tx: &mut Tx<'_>, after: &str, to: &AgentId) -> Result<Vec<AgentId>, Error> {
    Ok(rows::waiting_agents(tx, after, to)?)
}

/// Agents with a due delivery, by due time, after a place in that order.
pub fn due_agents(
    tx: &mut Tx<'_>,
    after: Option<&(Timestamp, AgentId)>,
    now: &Now,
    limit: i64,
) -> Result<Vec<(Timestamp, AgentId)>, Error> {
    Ok(rows::due_agents(tx, after, now.at, limit)?)
}

/// How to give the caller's secret to a Standard Webhooks library; `None` without a secret.
pub fn secret_format(tx: &mut Tx<'_>, by: &AgentId) -> Result<Option<SecretFormat>, Error> {
    let secret = rows::find(tx, by)?.and_then(|webhook| webhook.secret);
    Ok(secret.map(|secret| if is_standard(&secret) { SecretFormat::Whsec } else { SecretFormat::Raw }))
}

/// The settings and the state of the caller's webhook.
pub fn settings(tx: &mut Tx<'_>, by: &AgentId) -> Result<Option<Webhook>, Error> {
    Ok(rows::find(tx, by)?)
}
