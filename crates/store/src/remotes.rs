//! Remotes: agents elsewhere, what their cards said, and the leases of those who serve them.

pub mod tasks;

use tandem_core::remotes::{
    Auth, AuthType, Binding, CardFacts, Interface, OnUnclear, Pause, PauseReason, Remote, Signature, Terms,
};
use tandem_core::{AgentId, Timestamp};

use crate::declare::{insert, read, update};
use crate::query::Query;
use crate::table::{LATER, columns, sql};
use crate::{Error, Tx, Value};

/// A remote as its row is.
struct Stored {
    agent: AgentId,
    owner: AgentId,
    card_url: String,
    auth_type: Option<AuthType>,
    auth_value: Option<String>,
    auth_header: Option<String>,
    origins: Vec<String>,
    keys: Option<String>,
    on_unclear: OnUnclear,
    url: String,
    binding: Binding,
    tenant: Option<String>,
    streams: bool,
    pushes: bool,
    signature: Signature,
    pinned: Option<String>,
    card_version: String,
    card_read_at: Timestamp,
    card_next_at: Timestamp,
    paused: Option<PauseReason>,
    paused_detail: Option<String>,
    paused_at: Option<Timestamp>,
    failing_since: Option<Timestamp>,
    last_error: Option<String>,
    version: i64,
    next_at: Option<Timestamp>,
    created_at: Timestamp,
}

/// The columns that change: those that the owner or the card sets, and how the remote does.
const STATE: u8 = 2;

columns! {
    "r", stored: Stored {
        agent: agent_id,
        owner: owner_id,
        card_url [STATE],
        auth_type [STATE],
        auth_value [STATE],
        auth_header [STATE],
        origins [STATE],
        keys [STATE],
        on_unclear [STATE],
        url [STATE],
        binding [STATE],
        tenant [STATE],
        streams [STATE],
        pushes [STATE],
        signature [STATE],
        pinned [STATE],
        card_version [STATE],
        card_read_at [STATE],
        card_next_at [STATE],
        paused [STATE],
        paused_detail [STATE],
        paused_at [STATE],
        failing_since [STATE],
        last_error [STATE],
        version [STATE],
        next_at [LATER],
        created_at,
    }
}

impl Stored {
    fn of(remote: &Remote) -> Self {
        let Remote { terms, card, pause, .. } = remote.clone();
        let Interface { url, binding, tenant, streams, pushes } = card.interface;
        let (auth_type, auth_value, auth_header) = match terms.auth {
            Some(Auth { kind, value, header }) => (Some(kind), Some(value), header),
            None => (None, None, None),
        };
        let (paused, paused_at) = (pause.as_ref().map(|pause| pause.reason), pause.as_ref().map(|p| p.since));
        Self {
            agent: remote.agent.clone(),
            owner: remote.owner.clone(),
            card_url: terms.card_url,
            auth_type,
            auth_value,
            auth_header,
            origins: terms.origins,
            keys: terms.keys,
            on_unclear: terms.on_unclear,
            url,
            binding,
            tenant,
            streams,
            pushes,
            signature: card.signature,
            pinned: card.pinned,
            card_version: card.version,
            card_read_at: card.read_at,
            card_next_at: remote.card_next_at,
            paused,
            paused_detail: pause.and_then(|pause| pause.detail),
            paused_at,
            failing_since: remote.failing_since,
            last_error: remote.last_error.clone(),
            version: remote.version,
            next_at: None,
            created_at: remote.created_at,
        }
    }

    fn into_remote(self) -> Remote {
        let auth = self.auth_type.zip(self.auth_value);
        let auth = auth.map(|(kind, value)| Auth { kind, value, header: self.auth_header });
        let pause = self.paused.zip(self.paused_at);
        let (url, binding, tenant, streams, pushes) =
            (self.url, self.binding, self.tenant, self.streams, self.pushes);
        Remote {
            agent: self.agent,
            owner: self.owner,
            terms: Terms {
                card_url: self.card_url,
                auth,
                origins: self.origins,
                keys: self.keys,
                on_unclear: self.on_unclear,
            },
            card: CardFacts {
                interface: Interface { url, binding, tenant, streams, pushes },
                signature: self.signature,
                pinned: self.pinned,
                version: self.card_version,
                read_at: self.card_read_at,
            },
            pause: pause.map(|(reason, since)| Pause { reason, detail: self.paused_detail, since }),
            failing_since: self.failing_since,
            last_error: self.last_error,
            card_next_at: self.card_next_at,
            version: self.version,
            created_at: self.created_at,
        }
    }
}

pub fn insert(tx: &mut Tx<'_>, remote: &Remote) -> Result<(), Error> {
    let stored = &Stored::of(remote);
    insert!(remotes { ..stored: Stored }).send(tx)?;
    wake(tx, &remote.agent, remote.card_next_at)
}

/// A remote. A transaction that writes locks it.
pub fn find(tx: &mut Tx<'_>, agent: &AgentId) -> Result<Option<Remote>, Error> {
    let stored = read!(Stored: "remotes r where r.agent_id = ?1", of remotes as r { agent_id: 1 }; lock r);
    Ok(stored.find::<Stored>(tx, &[agent.into()])?.map(Stored::into_remote))
}

/// Writes back a remote, without its lease and what is due.
pub fn update(tx: &mut Tx<'_>, remote: &Remote) -> Result<(), Error> {
    let stored = &Stored::of(remote);
    update!(remotes { ..stored: Stored[STATE] } where { agent_id: &remote.agent }).send(tx)
}

/// An agent's remotes, oldest first.
pub fn list(tx: &mut Tx<'_>, owner: &AgentId, limit: i64) -> Result<Vec<Remote>, Error> {
    let sql = sql!(
        "select {} from remotes r where r.owner_id = ?1 order by r.created_at, r.agent_id limit ?2",
        Stored
    );
    let found = tx.list::<Stored>(sql, &[owner.into(), limit.into()])?;
    Ok(found.into_iter().map(Stored::into_remote).collect())
}

/// How many tasks of an agent's remotes have something to be done.
pub fn waiting(tx: &mut Tx<'_>, agent: &AgentId, limit: i64) -> Result<i64, Error> {
    tx.get(
        "select count(*) from (select 1 from remote_tasks where agent_id = ?1 and next_at is not null
             and sent_to is null limit ?2) t",
        &[agent.into(), limit.into()],
    )
}

/// Takes a remote for a worker of `holder`; false when another holder has it, or it is gone. If the worker does not come
/// back, it is due for everybody when its time is over, and for its holder at once.
pub fn lease(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    holder: &str,
    now: Timestamp,
    until: Timestamp,
) -> Result<bool, Error> {
    let taken = tx.execute(
        "update remotes set lease_until = ?3, lease_holder = ?4, next_at = ?3
         where agent_id = ?1 and (lease_until <= ?2 or lease_holder = ?4)",
        &[agent.into(), now.into(), until.into(), holder.into()],
    )?;
    Ok(taken > 0)
}

/// Until when somebody has a remote; a time of the past if nobody has.
pub fn lease_until(tx: &mut Tx<'_>, agent: &AgentId) -> Result<Timestamp, Error> {
    let found = tx.find("select lease_until from remotes where agent_id = ?1", &[agent.into()])?;
    Ok(found.unwrap_or(Timestamp(0)))
}

/// Whether a remote's lease is this holder's.
pub fn is_held(tx: &mut Tx<'_>, agent: &AgentId, holder: &str) -> Result<bool, Error> {
    let held: Option<i64> = tx.find(
        "select 1 from remotes where agent_id = ?1 and lease_holder = ?2 and lease_until > 0",
        &[agent.into(), holder.into()],
    )?;
    Ok(held.is_some())
}

/// Gives a remote back, with the time when something is due again. Nothing happens if another holder has it by now.
pub fn release(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    holder: &str,
    next_at: Option<Timestamp>,
) -> Result<(), Error> {
    tx.send(
        "update remotes set lease_until = 0, next_at = ?3 where agent_id = ?1 and lease_holder = ?2",
        &[agent.into(), holder.into(), next_at.into()],
    )
}

/// Says that a remote has something due by then.
pub fn wake(tx: &mut Tx<'_>, agent: &AgentId, at: Timestamp) -> Result<(), Error> {
    update!(remotes { next_at: at } where { agent_id: agent } and "(next_at is null or next_at > ?1)")
        .send(tx)
}

/// Remotes, in the order of their ids, from after `after`.
pub fn all(tx: &mut Tx<'_>, after: &str, limit: i64) -> Result<Vec<AgentId>, Error> {
    let sql = "select agent_id from remotes where agent_id > ?1 order by agent_id limit ?2";
    tx.list(sql, &[after.into(), limit.into()])
}

/// Those of them whose log has events that nobody has looked at, or whose lease this holder has, up to `to`.
pub fn behind(
    tx: &mut Tx<'_>,
    holder: &str,
    after: &str,
    to: &AgentId,
    now: Timestamp,
) -> Result<Vec<AgentId>, Error> {
    tx.list(
        "select r.agent_id from remotes r join mailboxes m on m.agent_id = r.agent_id
         where r.agent_id > ?2 and r.agent_id <= ?3
             and ((m.last_seq > m.events_acked and r.lease_until <= ?4)
                 or (r.lease_holder = ?1 and r.lease_until > 0))
         order by r.agent_id",
        &[holder.into(), after.into(), to.into(), now.into()],
    )
}

/// Remotes with something due that no worker has, by due time, from after a place in that order.
pub fn due(
    tx: &mut Tx<'_>,
    after: Option<&(Timestamp, AgentId)>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(Timestamp, AgentId)>, Error> {
    let mut query = Query::default();
    query.push("select next_at, agent_id from remotes where next_at is not null and next_at <= ");
    query.bind(now).push(" and lease_until <= ").bind(now);
    if let Some((at, id)) = after {
        query.push(" and (next_at, agent_id) > (").bind(*at).push(", ").bind(id).push(")");
    }
    query.push(" order by next_at, agent_id limit ").bind(limit);
    tx.list(&query.sql, &query.params)
}

/// Forgets a remote with its credentials: its account is closed.
pub fn remove(tx: &mut Tx<'_>, agent: &AgentId) -> Result<(), Error> {
    tx.send("delete from remotes where agent_id = ?1", &[agent.into()])
}

/// Whether the two agents have not been suspended by the operator.
pub fn may_work(tx: &mut Tx<'_>, remote: &Remote) -> Result<bool, Error> {
    let suspended: i64 = tx.get(
        "select count(*) from agents where id in (?1, ?2) and suspended = 1",
        &[Value::from(&remote.agent), (&remote.owner).into()],
    )?;
    Ok(suspended == 0)
}
