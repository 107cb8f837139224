//! Webhooks: settings, turning log entries into deliveries, and recording the result of each attempt. Sending is not
//! done here.

mod record;

use serde_json::json;
use tandem_core::webhooks::{SecretFormat, State, wants};
use tandem_core::{AgentId, DeliveryId, Now, Timestamp};
use tandem_seal::webhooks::{body, data, is_standard};
use tandem_store::events;
use tandem_store::webhooks::{self as rows, Delivery, Leased, Webhook};
use tandem_store::{Effect, Tx};

pub use record::{Attempt, record};

use crate::{Error, Invalid, Page};

/// Events that one transaction turns into deliveries.
const ENQUEUED_MAX: i64 = 100;
/// Lease of a worker on the deliveries of one agent.
const LEASE_SECONDS: i64 = 30;

/// Changes to the caller's webhook. `None` leaves a field unchanged; `Some(None)` clears it.
#[derive(Debug, Clone, Default)]
pub struct Change {
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
            rows::list_at(tx, by, None)?;
        }
        Some(Some(url)) => {
            if !webhook.active {
                webhook.cursor = events::cursors(tx, by)?.last;
                rows::set_cursor(tx, by, webhook.cursor)?;
                rows::list_at(tx, by, Some(webhook.cursor))?;
            }
            (webhook.url, webhook.active, webhook.failing_since) = (Some(url.clone()), true, None);
        }
    }
    rows::update(tx, by, &webhook)?;
    tx.after_commit(Effect::WebhookChanged(by.clone()));
    Ok(())
}

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
    let until = now.at.plus_seconds(LEASE_SECONDS);
    if !rows::lease(tx, agent, holder, deliveries_max, now.at, until)? {
        return Ok(if rows::find(tx, agent)?.is_some() { Claim::Idle } else { Claim::Off });
    }
    let Some(mut leased) = rows::find_leased(tx, agent)? else {
        rows::release(tx, agent, holder)?;
        return Ok(Claim::Off);
    };
    let Some(url) = leased.webhook.url.clone().filter(|_| leased.webhook.active) else {
        rows::list_at(tx, agent, None)?;
        rows::release(tx, agent, holder)?;
        return Ok(Claim::Off);
    };
    if leased.interrupted > 0 {
        rows::count_interrupted(tx, agent, now.at, leased.interrupted)?;
    }
    // Nothing is lost: what waits, and what happens meanwhile, is delivered after the suspension.
    if leased.is_suspended {
        rows::pause(tx, agent)?;
        return Ok(Claim::Off);
    }
    let more = enqueue(tx, agent, &mut leased, &url, now)?;
    let deliveries = rows::due(tx, agent, now.at, deliveries_max)?;
    if !deliveries.is_empty() {
        return Ok(Claim::Batch(Batch { url, secret: leased.webhook.secret, deliveries }));
    }
    // Told at the end only: the row belongs to those who write events, and they must not wait for each delivery.
    if !more && leased.listed != Some(leased.webhook.cursor) {
        rows::list_at(tx, agent, Some(leased.webhook.cursor))?;
    }
    rows::release(tx, agent, holder)?;
    Ok(if more { Claim::More } else { Claim::Idle })
}

/// Turns new log entries into deliveries. Returns whether there may be more.
fn enqueue(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    leased: &mut Leased,
    url: &str,
    now: &Now,
) -> Result<bool, Error> {
    let Leased { webhook, last_seq, .. } = leased;
    if *last_seq <= webhook.cursor {
        return Ok(false);
    }
    let news = events::after(tx, agent, webhook.cursor, ENQUEUED_MAX)?;
    for event in news.iter().filter(|event| wants(&webhook.events, &event.kind)) {
        let data = data(&event.kind, &event.data, &event.text().whole());
        let body = body(agent.as_str(), &event.kind, event.at, data);
        rows::insert(tx, &delivery(agent, Some(event.seq), &event.kind, url, body, now))?;
    }
    let more = i64::try_from(news.len()).is_ok_and(|found| found == ENQUEUED_MAX);
    let read_to = news.last().map_or(webhook.cursor, |last| last.seq);
    // The last events may have been deleted with their tasks.
    webhook.cursor = if more { read_to } else { read_to.max(*last_seq) };
    rows::set_cursor(tx, agent, webhook.cursor)?;
    Ok(more)
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
        replays: 0,
        task: None,
    }
}

/// Goes on with the webhook of an agent whose suspension has ended.
pub(crate) fn resume(tx: &mut Tx<'_>, agent: &AgentId, now: Timestamp) -> Result<(), Error> {
    let Some(webhook) = rows::find(tx, agent)?.filter(|webhook| webhook.active) else { return Ok(()) };
    rows::list_at(tx, agent, Some(webhook.cursor))?;
    rows::wake(tx, agent, now)?;
    tx.after_commit(Effect::WebhookDue(agent.clone()));
    Ok(())
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
    if again.task.is_some() {
        return Err(Invalid::field("id", "is a push of A2A: its client asks for the task instead").into());
    }
    again.url = active_url(tx, by)?;
    (again.state, again.attempts, again.next_at) = (State::Pending, 0, Some(now.at));
    rows::update_delivery(tx, &again)?;
    // An attempt may be under way: its result must not count for this one.
    rows::count_replay(tx, id)?;
    rows::wake(tx, by, now.at)?;
    tx.after_commit(Effect::WebhookDue(by.clone()));
    Ok(again)
}

/// Deliveries among which the failed ones are sent again at once.
pub const REPLAYED_MAX: i64 = 50;

/// Sends those of the newest deliveries again that have failed for good; tells how many.
pub fn replay_failed(tx: &mut Tx<'_>, by: &AgentId, now: &Now) -> Result<usize, Error> {
    let url = active_url(tx, by)?;
    let (newest, _) = rows::list(tx, by, None, REPLAYED_MAX)?;
    let failed: Vec<Delivery> =
        newest.into_iter().filter(|one| one.state == State::Failed && one.task.is_none()).collect();
    let count = failed.len();
    for mut again in failed {
        again.url.clone_from(&url);
        (again.state, again.attempts, again.next_at) = (State::Pending, 0, Some(now.at));
        rows::update_delivery(tx, &again)?;
        rows::count_replay(tx, &again.id)?;
    }
    if count > 0 {
        rows::wake(tx, by, now.at)?;
        tx.after_commit(Effect::WebhookDue(by.clone()));
    }
    Ok(count)
}

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    /// Since when nothing has got through.
    pub failing_since: Option<Timestamp>,
    /// How many deliveries wait, up to [`WAITING_MAX`].
    pub waiting: i64,
    /// When the next one is tried.
    pub next_at: Option<Timestamp>,
}

pub fn health(tx: &mut Tx<'_>, by: &AgentId) -> Result<Health, Error> {
    let webhook = rows::find(tx, by)?.ok_or(Error::NotFound("agent"))?;
    let (waiting, next_at) = rows::waiting(tx, by, WAITING_MAX)?;
    Ok(Health { failing_since: webhook.failing_since, waiting, next_at })
}

pub fn is_active(tx: &mut Tx<'_>, agent: &AgentId) -> Result<bool, Error> {
    Ok(rows::find(tx, agent)?.is_some_and(|webhook| webhook.active))
}

/// Agents with an active webhook, after an id.
pub fn active_agents(tx: &mut Tx<'_>, after: &str, limit: i64) -> Result<Vec<AgentId>, Error> {
    Ok(rows::active_agents(tx, after, limit)?)
}

/// Puts those of them into the work list that are missing there, up to an id: a version without a work list may have
/// activated them.
pub fn list_missing(tx: &mut Tx<'_>, after: &str, to: &AgentId) -> Result<(), Error> {
    for (agent, cursor) in rows::unlisted_agents(tx, after, to)? {
        rows::list_at(tx, &agent, Some(cursor))?;
    }
    Ok(())
}

/// Those of them whose deliveries `holder` had when it was stopped, up to an id.
pub fn interrupted_agents(
    tx: &mut Tx<'_>,
    holder: &str,
    after: &str,
    to: &AgentId,
) -> Result<Vec<AgentId>, Error> {
    Ok(rows::leased_agents(tx, holder, after, to)?)
}

/// Agents with events to deliver that no worker has, after an id.
pub fn behind_agents(tx: &mut Tx<'_>, after: &str, now: &Now, limit: i64) -> Result<Vec<AgentId>, Error> {
    Ok(rows::behind_agents(tx, after, now.at, limit)?)
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
