//! Webhooks: where they go, and the log of their deliveries.

use std::sync::Arc;

use tandem_core::webhooks::State;
use tandem_core::{AgentId, DeliveryId, TaskId, Timestamp};

use crate::declare::{add, change, insert, read, update};
use crate::query::Query;
use crate::statement::Read;
use crate::table::{LATER, columns, sql};
use crate::{Error, Tx, Value};

/// Where an agent's events go, and how that has been going.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    pub url: Option<String>,
    /// What deliveries are signed with.
    pub secret: Option<String>,
    /// Which events; none named means all.
    pub events: Vec<String>,
    pub active: bool,
    /// Since when nothing has got through.
    pub failing_since: Option<Timestamp>,
    /// How far the agent's log has been turned into deliveries.
    pub cursor: i64,
}

/// The columns that belong to a webhook's settings and its state. The cursor is not among them: it belongs to whoever
/// has the lease.
const SETTINGS: u8 = 2;

columns! {
    "a", webhook: Webhook {
        url: webhook_url [SETTINGS],
        secret: webhook_secret [SETTINGS],
        events: webhook_events [SETTINGS],
        active: webhook_active [SETTINGS],
        failing_since: webhook_failing_since [SETTINGS],
        cursor: webhook_cursor,
    }
}

pub fn find(tx: &mut Tx<'_>, agent: &AgentId) -> Result<Option<Webhook>, Error> {
    read!(Webhook: "agents a where a.id = ?1", of agents as a { id: 1 } uses []; lock a)
        .find(tx, &[agent.into()])
}

/// A webhook with what the holder of its lease needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leased {
    pub webhook: Webhook,
    /// Who holds the lease, or held it last.
    pub holder: String,
    /// How many deliveries an earlier holder left without a result.
    pub interrupted: i64,
    /// The number of the newest event in the agent's log.
    pub last_seq: i64,
    /// How far the work list knows that the log was turned into deliveries.
    pub listed: Option<i64>,
    /// Whether the operator has suspended the agent.
    pub is_suspended: bool,
}

columns! {
    "a", leased: Leased {
        webhook: ..Webhook,
        holder: "a.webhook_lease_holder",
        interrupted: "a.webhook_interrupted",
        last_seq: "m.last_seq",
        listed: "m.webhook_cursor",
        is_suspended: "a.suspended",
    }
}

fn leased() -> &'static Arc<Read> {
    read!(Leased: "agents a join mailboxes m on m.agent_id = a.id where a.id = ?1",
        of agents as a { id: 1 }, mailboxes as m; lock a)
}

/// An agent's webhook and its lease. The end of the log is read before the events: an event that is written between
/// the two reads is not taken for an old one.
pub fn find_leased(tx: &mut Tx<'_>, agent: &AgentId) -> Result<Option<Leased>, Error> {
    leased().find(tx, &[agent.into()])
}

/// Writes back an agent's webhook, without its cursor.
pub fn update(tx: &mut Tx<'_>, agent: &AgentId, webhook: &Webhook) -> Result<(), Error> {
    update!(agents { ..webhook: Webhook[SETTINGS] } where { id: agent }).send(tx)
}

/// Notes how far an agent's log was turned into deliveries.
pub fn set_cursor(tx: &mut Tx<'_>, agent: &AgentId, cursor: i64) -> Result<(), Error> {
    update!(agents { webhook_cursor: cursor } where { id: agent }).send(tx)
}

/// Notes how an agent's webhook does. Nothing happens if its address was changed meanwhile.
pub fn set_health(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    url: &str,
    active: bool,
    failing_since: Option<Timestamp>,
) -> Result<(), Error> {
    update!(agents {
        webhook_active: active,
        webhook_failing_since: failing_since,
    } where { id: agent, webhook_url: url })
    .send(tx)
}

/// Tells the work list how far an agent's log was turned into deliveries; nothing without an active webhook.
pub fn list_at(tx: &mut Tx<'_>, agent: &AgentId, cursor: Option<i64>) -> Result<(), Error> {
    update!(mailboxes { webhook_cursor: cursor } where { agent_id: agent }).send(tx)
}

/// Agents whose webhook is switched on, in the order of their ids, from after `after`.
pub fn active_agents(tx: &mut Tx<'_>, after: &str, limit: i64) -> Result<Vec<AgentId>, Error> {
    let sql = "select id from agents where webhook_active = 1 and id > ?1 order by id limit ?2";
    tx.list(sql, &[after.into(), limit.into()])
}

/// Those of them that the work list does not have, up to `to`: they were switched on by a version without a work list.
pub fn unlisted_agents(tx: &mut Tx<'_>, after: &str, to: &AgentId) -> Result<Vec<(AgentId, i64)>, Error> {
    tx.list(
        "select a.id, a.webhook_cursor from agents a join mailboxes m on m.agent_id = a.id
         where a.webhook_active = 1 and a.id > ?1 and a.id <= ?2 and m.webhook_cursor is null order by a.id",
        &[after.into(), to.into()],
    )
}

/// Those of them whose lease this holder took and did not give back, up to `to`.
pub fn leased_agents(
    tx: &mut Tx<'_>,
    holder: &str,
    after: &str,
    to: &AgentId,
) -> Result<Vec<AgentId>, Error> {
    tx.list(
        "select id from agents where webhook_active = 1 and id > ?2 and id <= ?3
             and webhook_lease_holder = ?1 and webhook_lease_until > 0 order by id",
        &[holder.into(), after.into(), to.into()],
    )
}

/// Agents with events that were not turned into deliveries, and that no worker has, in the order of their ids, from
/// after `after`.
pub fn behind_agents(
    tx: &mut Tx<'_>,
    after: &str,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<AgentId>, Error> {
    tx.list(
        "select m.agent_id from mailboxes m join agents a on a.id = m.agent_id
         where m.webhook_behind = 1 and m.agent_id > ?1 and a.webhook_lease_until <= ?2
         order by m.agent_id limit ?3",
        &[after.into(), now.into(), limit.into()],
    )
}

/// Agents with a delivery that is due and that no worker has, by due time, from after a place in that order.
pub fn due_agents(
    tx: &mut Tx<'_>,
    after: Option<&(Timestamp, AgentId)>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(Timestamp, AgentId)>, Error> {
    let mut query = Query::default();
    query.push(
        "select webhook_next_at, id from agents where webhook_next_at is not null and webhook_next_at <= ",
    );
    query.bind(now).push(" and webhook_lease_until <= ").bind(now);
    if let Some((at, id)) = after {
        query.push(" and (webhook_next_at, id) > (").bind(*at).push(", ").bind(id).push(")");
    }
    query.push(" order by webhook_next_at, id limit ").bind(limit);
    tx.list(&query.sql, &query.params)
}

/// Takes some of an agent's deliveries for a worker of `holder`; false when another holder has them. If the worker does
/// not come back, they are due for everybody when its time is over, and for its holder at once.
pub fn lease(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    holder: &str,
    deliveries_max: i64,
    now: Timestamp,
    until: Timestamp,
) -> Result<bool, Error> {
    let taken = tx.execute(
        "update agents set webhook_lease_until = ?3, webhook_lease_holder = ?4, webhook_next_at = ?3,
             webhook_interrupted = case when webhook_lease_until > 0 then webhook_leased else 0 end,
             webhook_leased = ?5
         where id = ?1 and (webhook_lease_until <= ?2 or webhook_lease_holder = ?4)",
        &[agent.into(), now.into(), until.into(), holder.into(), deliveries_max.into()],
    )?;
    Ok(taken > 0)
}

/// Gives an agent's deliveries back, with the time when the next one is due. Nothing happens if another holder has
/// them by now.
pub fn release(tx: &mut Tx<'_>, agent: &AgentId, holder: &str) -> Result<(), Error> {
    change!(agents [webhook_lease_until, webhook_leased, webhook_next_at]
        "webhook_lease_until = 0, webhook_leased = 0, webhook_next_at =
             (select min(d.next_at) from deliveries d where d.agent_id = ?1 and d.state = 'pending')"
        where "id = ?1 and webhook_lease_holder = ?2" { id: 1 } beside deliveries,
        [agent.into(), holder.into()])
    .send(tx)
}

/// Gives an agent's deliveries back and has nobody look for them until [`wake`].
pub fn pause(tx: &mut Tx<'_>, agent: &AgentId) -> Result<(), Error> {
    list_at(tx, agent, None)?;
    update!(agents {
        webhook_lease_until: 0,
        webhook_leased: 0,
        webhook_next_at: Value::Null,
    } where { id: agent })
    .send(tx)
}

/// Says that an agent has something due by then.
pub fn wake(tx: &mut Tx<'_>, agent: &AgentId, at: Timestamp) -> Result<(), Error> {
    update!(agents { webhook_next_at: at } where { id: agent }
        and "(webhook_next_at is null or webhook_next_at > ?1)")
    .send(tx)
}

/// One event on its way to one receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its id; the receiver sees the same over all tries.
    pub id: DeliveryId,
    pub agent: AgentId,
    /// The event's number in the agent's log; nothing for a test.
    pub event_seq: Option<i64>,
    pub event_type: String,
    /// Where it went the last time.
    pub url: String,
    pub body: String,
    pub state: State,
    pub attempts: i64,
    pub next_at: Option<Timestamp>,
    /// When it was last tried.
    pub answered_at: Option<Timestamp>,
    pub answer_status: Option<i64>,
    /// The beginning of what it said.
    pub answer: Option<String>,
    /// Why there was no answer.
    pub error: Option<String>,
    pub took_ms: Option<i64>,
    /// When it was put into the queue.
    pub created_at: Timestamp,
    pub replays: i64,
    /// The task of which it tells a client of A2A, if it is a push.
    pub task: Option<TaskId>,
}

/// The columns that a try changes.
const OUTCOME: u8 = 2;

columns! {
    "d", delivery: Delivery {
        id,
        agent: agent_id,
        event_seq,
        event_type,
        url [OUTCOME],
        body,
        state [OUTCOME],
        attempts [OUTCOME],
        next_at [OUTCOME],
        answered_at [OUTCOME],
        answer_status [OUTCOME],
        answer [OUTCOME],
        error [OUTCOME],
        took_ms [OUTCOME],
        created_at,
        replays [LATER],
        task: task_id,
    }
}

/// How many deliveries of an agent wait, up to a limit, and when the first of them is tried next.
pub fn waiting(tx: &mut Tx<'_>, agent: &AgentId, limit: i64) -> Result<(i64, Option<Timestamp>), Error> {
    tx.get(
        "select count(*), min(next_at) from (select next_at from deliveries
             where agent_id = ?1 and state = 'pending' order by next_at, id limit ?2) d",
        &[agent.into(), limit.into()],
    )
}

/// Puts a delivery into the queue.
pub fn insert(tx: &mut Tx<'_>, delivery: &Delivery) -> Result<(), Error> {
    insert!(deliveries { ..delivery: Delivery }).send(tx)
}

/// Writes back how a try went. Nothing happens if the delivery was replayed since it was read.
pub fn update_delivery(tx: &mut Tx<'_>, delivery: &Delivery) -> Result<(), Error> {
    update!(deliveries { ..delivery: Delivery[OUTCOME] } where {
        id: &delivery.id,
        replays: delivery.replays,
    })
    .send(tx)
}

/// Counts a replay. From now on, [`update_delivery`] ignores tries of the time before.
pub fn count_replay(tx: &mut Tx<'_>, id: &DeliveryId) -> Result<(), Error> {
    add!(deliveries { replays: 1 } where { id: id }).send(tx)
}

/// Counts an attempt for the first due deliveries of an agent: they may have been sent, and nobody knows the result.
pub fn count_interrupted(tx: &mut Tx<'_>, agent: &AgentId, now: Timestamp, limit: i64) -> Result<(), Error> {
    tx.send(
        "update deliveries set attempts = attempts + 1 where id in (select d.id from deliveries d
             where d.agent_id = ?1 and d.state = 'pending' and d.next_at <= ?2
             order by d.next_at, d.id limit ?3)",
        &[agent.into(), now.into(), limit.into()],
    )
}

pub fn due(tx: &mut Tx<'_>, agent: &AgentId, now: Timestamp, limit: i64) -> Result<Vec<Delivery>, Error> {
    let sql = sql!(
        "select {} from deliveries d where d.agent_id = ?1 and d.state = 'pending' and d.next_at <= ?2
         order by d.next_at, d.id limit ?3",
        Delivery
    );
    tx.list(sql, &[agent.into(), now.into(), limit.into()])
}

pub fn find_delivery(tx: &mut Tx<'_>, agent: &AgentId, id: &DeliveryId) -> Result<Option<Delivery>, Error> {
    let delivery = read!(Delivery: "deliveries d where d.id = ?1 and d.agent_id = ?2",
        of deliveries as d { id: 1, agent_id: 2 });
    delivery.find(tx, &[id.into(), agent.into()])
}

/// An agent's deliveries, newest first, from before a place in that order, and whether a page had no room for all that
/// were asked for.
pub fn list(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    before: Option<&(Timestamp, DeliveryId)>,
    limit: i64,
) -> Result<(Vec<Delivery>, bool), Error> {
    let mut query = Query::default();
    query.push(sql!("select {} from deliveries d where d.agent_id = ", Delivery)).bind(agent);
    if let Some((at, id)) = before {
        query.push(" and (d.created_at, d.id) < (").bind(*at).push(", ").bind(id).push(")");
    }
    query.push(" order by d.created_at desc, d.id desc limit ").bind(limit);
    tx.list_page(&query.sql, &query.params)
}

/// Gives up everything that still waits for an agent's receiver.
pub fn give_up(tx: &mut Tx<'_>, agent: &AgentId, why: &str) -> Result<(), Error> {
    tx.send(
        "update deliveries set state = 'failed', next_at = null, error = ?2
         where agent_id = ?1 and state = 'pending'",
        &[agent.into(), why.into()],
    )?;
    update!(agents { webhook_next_at: Value::Null } where { id: agent }).send(tx)
}
