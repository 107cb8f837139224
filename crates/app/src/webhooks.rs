//! Webhooks: setting one, turning the log into deliveries, and what follows from each try.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tandem_core::webhooks::{DATA_BYTES_MAX, GIVE_UP_AFTER_SECONDS, State, retry_at, wants};
use tandem_core::{AgentId, DeliveryId, Now, Timestamp};
use tandem_store::Tx;
use tandem_store::events::{self, Logged};
use tandem_store::webhooks::{self as rows, Delivery, Webhook};

use crate::events::handed_over;
use crate::{Error, Page, tasks};

/// How many events are turned into deliveries at a time.
const ENQUEUED_MAX: i64 = 100;
/// How many deliveries a worker takes at a time.
const TAKEN_MAX: i64 = 8;
/// How long a worker has its deliveries for itself.
const LEASE_SECONDS: i64 = 30;
const SWITCHED_OFF: &str = "switched off after failing for a day; set webhookUrl again to switch it on";

/// What an agent changes about its webhook; what is nothing stays as it is.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// A new address, or none any more.
    pub url: Option<Option<String>>,
    /// What to sign with, or nothing.
    pub secret: Option<Option<String>>,
    /// Which events; none named means all.
    pub events: Option<Vec<String>>,
}

/// Changes the caller's webhook. Setting an address switches it on, from the next event on.
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
    Ok(rows::update(tx, by, &webhook)?)
}

/// What there is for a worker.
#[derive(Debug, Clone)]
pub enum Taken {
    /// Nothing, or another worker has it.
    Nothing,
    /// Nothing among the events that were looked at, but there are more.
    More,
    /// Deliveries to try now.
    Batch(Batch),
}

/// Deliveries to try now.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Where to.
    pub url: String,
    /// What to sign them with.
    pub secret: Option<String>,
    /// What.
    pub deliveries: Vec<Delivery>,
}

/// Takes what is due for an agent's receiver, for one worker.
pub fn take(tx: &mut Tx<'_>, agent: &AgentId, now: &Now) -> Result<Taken, Error> {
    if !rows::lease(tx, agent, now.at, now.at.plus_seconds(LEASE_SECONDS))? {
        return Ok(Taken::Nothing);
    }
    let mut taken = Taken::Nothing;
    let webhook = rows::find(tx, agent)?;
    if let Some(Webhook { url: Some(url), active: true, secret, .. }) = webhook.clone()
        && let Some(webhook) = webhook
    {
        let more = enqueue(tx, agent, webhook, &url, now)?;
        let deliveries = rows::due(tx, agent, now.at, TAKEN_MAX)?;
        if !deliveries.is_empty() {
            return Ok(Taken::Batch(Batch { url, secret, deliveries }));
        }
        if more {
            taken = Taken::More;
        }
    }
    rows::release(tx, agent)?;
    Ok(taken)
}

/// Turns what the log has gained into deliveries; tells whether there may be more.
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
        let body = body(agent, &event.kind, event.at, data(event));
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

/// The event with its cursor, as on every other channel; without its fields when it is too large.
fn data(event: &Logged) -> Value {
    if event.data.len() > DATA_BYTES_MAX {
        return json!({ "type": event.kind, "truncated": true });
    }
    let mut data: Value = serde_json::from_str(&event.data).unwrap_or_default();
    if let Some(fields) = data.as_object_mut() {
        fields.insert("cursor".into(), event.seq.into());
    }
    data
}

fn body(agent: &AgentId, kind: &str, at: Timestamp, data: Value) -> String {
    json!({ "event": kind, "timestamp": at, "agentId": agent, "data": data }).to_string()
}

/// How a try went.
#[derive(Debug, Clone)]
pub struct Tried {
    /// What was tried.
    pub delivery: Delivery,
    /// The receiver's status and the beginning of its answer, or why there was none.
    pub outcome: Result<(u16, String), String>,
    /// How long it took.
    pub took_ms: i64,
    /// Spreads retries; from 0 to 1.
    pub jitter: f64,
}

impl Tried {
    /// Whether the receiver took it.
    #[must_use]
    pub fn delivered(&self) -> bool {
        matches!(self.outcome, Ok((200..=299, _)))
    }
}

/// Writes down how tries went, and gives the agent's deliveries back. Tells whether the webhook is still
/// switched on.
pub fn record(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    url: &str,
    tried: &[Tried],
    now: &Now,
) -> Result<bool, Error> {
    for one in tried {
        // What was given up meanwhile is not tried again; if it got through all the same, that is told.
        if !one.delivered() {
            let found = rows::find_delivery(tx, agent, &one.delivery.id)?;
            if found.is_none_or(|found| found.state != State::Pending) {
                continue;
            }
        }
        rows::update_delivery(tx, &after_try(one, url, now.at))?;
        if let Some(seq) = one.delivery.event_seq.filter(|_| one.delivered()) {
            let mut told = events::after(tx, agent, seq - 1, 1)?;
            // It may have gone with its task meanwhile.
            told.retain(|event| event.seq == seq);
            tasks::mark_pushed(tx, agent, &handed_over(&told), now)?;
        }
    }
    let mut active = false;
    if let Some(mut webhook) = rows::find(tx, agent)? {
        let before = (webhook.failing_since, webhook.active);
        webhook.failing_since = match (tried.iter().any(Tried::delivered), webhook.failing_since) {
            (true, _) => None,
            (false, since) => since.or(Some(now.at)),
        };
        let failing_ms = webhook.failing_since.map_or(0, |since| now.at.ms_since(since));
        if webhook.active && failing_ms >= GIVE_UP_AFTER_SECONDS * 1_000 {
            webhook.active = false;
            rows::give_up(tx, agent, SWITCHED_OFF)?;
        }
        active = webhook.active;
        if before != (webhook.failing_since, webhook.active) {
            rows::update(tx, agent, &webhook)?;
        }
    }
    rows::release(tx, agent)?;
    Ok(active)
}

fn after_try(tried: &Tried, url: &str, now: Timestamp) -> Delivery {
    let mut delivery = tried.delivery.clone();
    url.clone_into(&mut delivery.url);
    delivery.attempts += 1;
    delivery.answered_at = Some(now);
    delivery.took_ms = Some(tried.took_ms);
    (delivery.answer_status, delivery.answer, delivery.error) = match &tried.outcome {
        Ok((status, answer)) => (Some(i64::from(*status)), Some(answer.clone()), None),
        Err(error) => (None, None, Some(error.clone())),
    };
    delivery.next_at = if tried.delivered() { None } else { retry_at(delivery.attempts, now, tried.jitter) };
    delivery.state = match (tried.delivered(), delivery.next_at) {
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

/// Sends the caller's receiver a test.
pub fn ping(tx: &mut Tx<'_>, by: &AgentId, now: &Now) -> Result<Delivery, Error> {
    let url = active_url(tx, by)?;
    let test = delivery(by, None, "ping", &url, body(by, "ping", now.at, json!({ "type": "ping" })), now);
    rows::insert(tx, &test)?;
    rows::wake(tx, by, now.at)?;
    Ok(test)
}

/// Sends a delivery again, under the same id.
pub fn replay(tx: &mut Tx<'_>, by: &AgentId, id: &DeliveryId, now: &Now) -> Result<Delivery, Error> {
    let mut again = rows::find_delivery(tx, by, id)?.ok_or(Error::NotFound("delivery"))?;
    again.url = active_url(tx, by)?;
    (again.state, again.attempts, again.next_at) = (State::Pending, 0, Some(now.at));
    rows::update_delivery(tx, &again)?;
    rows::wake(tx, by, now.at)?;
    Ok(again)
}

/// The caller's deliveries, newest first.
pub fn list(
    tx: &mut Tx<'_>,
    by: &AgentId,
    before: Option<&(Timestamp, DeliveryId)>,
    limit: i64,
) -> Result<Page<Delivery, (Timestamp, DeliveryId)>, Error> {
    let found = rows::list(tx, by, before, limit + 1)?;
    Ok(Page::cut(found, limit, |delivery| (delivery.created_at, delivery.id.clone())))
}

/// Whether an agent's webhook is switched on.
pub fn is_active(tx: &mut Tx<'_>, agent: &AgentId) -> Result<bool, Error> {
    Ok(rows::find(tx, agent)?.is_some_and(|webhook| webhook.active))
}

/// Agents whose webhook is switched on, from after an id.
pub fn active_agents(tx: &mut Tx<'_>, after: &str, limit: i64) -> Result<Vec<AgentId>, Error> {
    Ok(rows::active_agents(tx, after, limit)?)
}

/// Agents with a delivery that is due.
pub fn due_agents(tx: &mut Tx<'_>, now: &Now, limit: i64) -> Result<Vec<AgentId>, Error> {
    Ok(rows::due_agents(tx, now.at, limit)?)
}

/// The two signatures of a request: in hexadecimal over `timestamp.body`, and by Standard Webhooks over
/// `id.timestamp.body`.
#[must_use]
pub fn sign(secret: &str, id: &DeliveryId, timestamp: i64, body: &str) -> (String, String) {
    let mac = |key: &[u8], text: String| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes());
    let plain = mac(secret.as_bytes(), format!("{timestamp}.{body}"));
    let decoded = secret.strip_prefix("whsec_").and_then(|key| STANDARD.decode(key).ok());
    let key = decoded.unwrap_or_else(|| secret.as_bytes().to_vec());
    let standard = mac(&key, format!("{id}.{timestamp}.{body}"));
    (crate::keys::hex(plain.as_ref()), format!("v1,{}", STANDARD.encode(standard.as_ref())))
}
