//! Webhooks: where they go, and the log of their deliveries.

use tandem_core::webhooks::State;
use tandem_core::{AgentId, DeliveryId, Timestamp};

use crate::agents::split;
use crate::query::Query;
use crate::{Error, Row, Tx};

/// Where an agent's events go, and how that has been going.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// The address.
    pub url: Option<String>,
    /// What deliveries are signed with.
    pub secret: Option<String>,
    /// Which events; none named means all.
    pub events: Vec<String>,
    /// Whether it is switched on.
    pub active: bool,
    /// Since when nothing has got through.
    pub failing_since: Option<Timestamp>,
    /// How far the agent's log has been turned into deliveries.
    pub cursor: i64,
}

/// An agent's webhook.
pub fn find(tx: &mut Tx<'_>, agent: &AgentId) -> Result<Option<Webhook>, Error> {
    let row = tx.optional(
        "select webhook_url, webhook_secret, webhook_events, webhook_active, webhook_failing_since, webhook_cursor
         from agents where id = ?1",
        &[agent.into()],
    )?;
    row.map(|mut row| {
        Ok(Webhook {
            url: row.take()?,
            secret: row.take()?,
            events: split(&row.take::<String>()?),
            active: row.take()?,
            failing_since: row.take()?,
            cursor: row.take()?,
        })
    })
    .transpose()
}

/// Writes back an agent's webhook.
pub fn update(tx: &mut Tx<'_>, agent: &AgentId, webhook: &Webhook) -> Result<(), Error> {
    tx.send(
        "update agents set webhook_url = ?2, webhook_secret = ?3, webhook_events = ?4, webhook_active = ?5,
             webhook_failing_since = ?6, webhook_cursor = ?7
         where id = ?1",
        &[
            agent.into(),
            webhook.url.as_ref().into(),
            webhook.secret.as_ref().into(),
            webhook.events.join(",").into(),
            webhook.active.into(),
            webhook.failing_since.into(),
            webhook.cursor.into(),
        ],
    )
}

/// Agents whose webhook is switched on, in the order of their ids, from after `after`.
pub fn active_agents(tx: &mut Tx<'_>, after: &str, limit: i64) -> Result<Vec<AgentId>, Error> {
    let rows = tx.rows(
        "select id from agents where webhook_active = 1 and id > ?1 order by id limit ?2",
        &[after.into(), limit.into()],
    )?;
    rows.into_iter().map(|mut row| row.take()).collect()
}

/// Agents with a delivery that is due and that no worker has.
pub fn due_agents(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<Vec<AgentId>, Error> {
    let rows = tx.rows(
        "select id from agents where webhook_next_at is not null and webhook_next_at <= ?1
             and webhook_lease_until <= ?1 order by webhook_next_at, id limit ?2",
        &[now.into(), limit.into()],
    )?;
    rows.into_iter().map(|mut row| row.take()).collect()
}

/// Takes an agent's deliveries for one worker; false when another has them. If that worker does not come back, they
/// are due when its time is over.
pub fn lease(tx: &mut Tx<'_>, agent: &AgentId, now: Timestamp, until: Timestamp) -> Result<bool, Error> {
    let taken = tx.execute(
        "update agents set webhook_lease_until = ?3, webhook_next_at = ?3
         where id = ?1 and webhook_lease_until <= ?2",
        &[agent.into(), now.into(), until.into()],
    )?;
    Ok(taken > 0)
}

/// Gives an agent's deliveries back, with the time when the next one is due.
pub fn release(tx: &mut Tx<'_>, agent: &AgentId) -> Result<(), Error> {
    tx.send(
        "update agents set webhook_lease_until = 0, webhook_next_at =
             (select min(d.next_at) from deliveries d where d.agent_id = ?1 and d.state = 'pending')
         where id = ?1",
        &[agent.into()],
    )
}

/// Says that an agent has something due by then.
pub fn wake(tx: &mut Tx<'_>, agent: &AgentId, at: Timestamp) -> Result<(), Error> {
    tx.send(
        "update agents set webhook_next_at = ?2
         where id = ?1 and (webhook_next_at is null or webhook_next_at > ?2)",
        &[agent.into(), at.into()],
    )
}

/// One event on its way to one receiver.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Its id; the receiver sees the same over all tries.
    pub id: DeliveryId,
    /// Whose receiver.
    pub agent: AgentId,
    /// The event's number in the agent's log; nothing for a test.
    pub event_seq: Option<i64>,
    /// What happened.
    pub event_type: String,
    /// Where it went the last time.
    pub url: String,
    /// What is sent.
    pub body: String,
    /// Where it stands.
    pub state: State,
    /// How often it was tried.
    pub attempts: i64,
    /// When it is tried next.
    pub next_at: Option<Timestamp>,
    /// When it was last tried.
    pub answered_at: Option<Timestamp>,
    /// What the receiver answered.
    pub answer_status: Option<i64>,
    /// The beginning of what it said.
    pub answer: Option<String>,
    /// Why there was no answer.
    pub error: Option<String>,
    /// How long it took.
    pub took_ms: Option<i64>,
    /// When it was put into the queue.
    pub created_at: Timestamp,
}

const COLUMNS: &str = "id, agent_id, event_seq, event_type, url, body, state, attempts, next_at, answered_at, \
     answer_status, answer, error, took_ms, created_at";

fn from_row(mut row: Row) -> Result<Delivery, Error> {
    Ok(Delivery {
        id: row.take()?,
        agent: row.take()?,
        event_seq: row.take()?,
        event_type: row.take()?,
        url: row.take()?,
        body: row.take()?,
        state: row.take()?,
        attempts: row.take()?,
        next_at: row.take()?,
        answered_at: row.take()?,
        answer_status: row.take()?,
        answer: row.take()?,
        error: row.take()?,
        took_ms: row.take()?,
        created_at: row.take()?,
    })
}

/// Puts a delivery into the queue.
pub fn insert(tx: &mut Tx<'_>, delivery: &Delivery) -> Result<(), Error> {
    tx.send(
        "insert into deliveries (id, agent_id, event_seq, event_type, url, body, state, attempts, next_at, created_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        &[
            (&delivery.id).into(),
            (&delivery.agent).into(),
            delivery.event_seq.into(),
            (&delivery.event_type).into(),
            (&delivery.url).into(),
            (&delivery.body).into(),
            delivery.state.into(),
            delivery.attempts.into(),
            delivery.next_at.into(),
            delivery.created_at.into(),
        ],
    )
}

/// Writes back how a try went.
pub fn update_delivery(tx: &mut Tx<'_>, delivery: &Delivery) -> Result<(), Error> {
    tx.send(
        "update deliveries set url = ?2, state = ?3, attempts = ?4, next_at = ?5, answered_at = ?6,
             answer_status = ?7, answer = ?8, error = ?9, took_ms = ?10
         where id = ?1",
        &[
            (&delivery.id).into(),
            (&delivery.url).into(),
            delivery.state.into(),
            delivery.attempts.into(),
            delivery.next_at.into(),
            delivery.answered_at.into(),
            delivery.answer_status.into(),
            delivery.answer.as_ref().into(),
            delivery.error.as_ref().into(),
            delivery.took_ms.into(),
        ],
    )
}

/// An agent's deliveries that are due.
pub fn due(tx: &mut Tx<'_>, agent: &AgentId, now: Timestamp, limit: i64) -> Result<Vec<Delivery>, Error> {
    let sql = format!(
        "select {COLUMNS} from deliveries where agent_id = ?1 and state = 'pending' and next_at <= ?2
         order by next_at, id limit ?3"
    );
    tx.rows(&sql, &[agent.into(), now.into(), limit.into()])?.into_iter().map(from_row).collect()
}

/// One delivery of an agent.
pub fn find_delivery(tx: &mut Tx<'_>, agent: &AgentId, id: &DeliveryId) -> Result<Option<Delivery>, Error> {
    let sql = format!("select {COLUMNS} from deliveries where id = ?1 and agent_id = ?2");
    tx.optional(&sql, &[id.into(), agent.into()])?.map(from_row).transpose()
}

/// An agent's deliveries, newest first, from before a place in that order.
pub fn list(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    before: Option<&(Timestamp, DeliveryId)>,
    limit: i64,
) -> Result<Vec<Delivery>, Error> {
    let mut query = Query::default();
    query.push("select ").push(COLUMNS).push(" from deliveries where agent_id = ").bind(agent);
    if let Some((at, id)) = before {
        query.push(" and (created_at, id) < (").bind(*at).push(", ").bind(id).push(")");
    }
    query.push(" order by created_at desc, id desc limit ").bind(limit);
    tx.rows(&query.sql, &query.params)?.into_iter().map(from_row).collect()
}

/// Gives up everything that still waits for an agent's receiver.
pub fn give_up(tx: &mut Tx<'_>, agent: &AgentId, why: &str) -> Result<(), Error> {
    tx.send(
        "update deliveries set state = 'failed', next_at = null, error = ?2
         where agent_id = ?1 and state = 'pending'",
        &[agent.into(), why.into()],
    )?;
    tx.send("update agents set webhook_next_at = null where id = ?1", &[agent.into()])
}
