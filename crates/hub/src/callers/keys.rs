//! The key cache and the hub's own secrets.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use tandem_app::agents::KeyHolder;
use tandem_app::challenge::Challenges;
use tandem_app::keys::{self, KeyHash};
use tandem_app::ticket::Tickets;
use tandem_app::{Error, admin, agents};
use tandem_core::AgentId;
use tandem_store::{Owner, Size, Store, Tx};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::callers::caller::Caller;
use crate::cluster::Topology;
use crate::config::Config;
use crate::db::Db;
use crate::delivery::bus::{Bus, EndReason};

/// Keys in the cache; when it is full, it is emptied.
const CACHED_KEYS_MAX: usize = 100_000;

/// A callback for an agent whose key has ended.
type KeyEndHook = Box<dyn Fn(&AgentId) + Send + Sync>;

/// Whose a key is, and when the database said so.
#[derive(Debug)]
struct KeyOwner {
    holder: KeyHolder,
    read_at: Instant,
}

#[derive(Debug, Default)]
struct CacheState {
    owners: HashMap<KeyHash, KeyOwner>,
    /// Number of removals, to detect a race with a query.
    removals: u64,
    misses: u64,
}

/// Maps key hashes to agents, so that a known key needs no query. Beside other nodes, an entry is believed only as long
/// as this node would have heard of the end of the key.
pub(crate) struct KeyCache {
    topology: Arc<Topology>,
    known: RwLock<CacheState>,
    end_hooks: RwLock<Vec<KeyEndHook>>,
}

impl fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyCache").finish_non_exhaustive()
    }
}

impl KeyCache {
    pub(crate) fn new(topology: Arc<Topology>) -> Self {
        Self { topology, known: RwLock::default(), end_hooks: RwLock::default() }
    }

    /// Refuses a caller whose key has ended. Called in a transaction: an ended key leaves the cache with the commit that
    /// ended it, so a key in the cache needs no query unless this transaction itself has ended one, or another node may
    /// have.
    pub(crate) fn check(&self, tx: &mut Tx<'_>, agent: &AgentId, hash: &KeyHash) -> Result<(), Error> {
        let known = self.get(hash).is_some_and(|holder| holder.agent == *agent);
        if !known || tx.has_ended_keys() {
            agents::check_key(tx, agent, hash)
        } else if self.topology.is_clustered() {
            agents::check_key_again(tx, agent, hash)
        } else {
            Ok(())
        }
    }

    fn get(&self, hash: &KeyHash) -> Option<KeyHolder> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let owner = known.owners.get(hash).filter(|owner| self.topology.covers(owner.read_at));
        owner.map(|owner| owner.holder.clone())
    }

    /// The agent of a key, however long ago the database said so.
    fn get_old(&self, hash: &KeyHash) -> Option<AgentId> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.owners.get(hash).map(|owner| owner.holder.agent.clone())
    }

    /// Those of these agents whose cached keys are not the ones that the database has.
    pub(crate) fn ended_among<'a>(
        &self,
        agents: &[AgentId],
        current: impl Fn(&AgentId) -> Option<&'a [u8]>,
    ) -> Vec<AgentId> {
        let agents: HashSet<&AgentId> = agents.iter().collect();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let cached = known.owners.iter().map(|(hash, owner)| (hash, &owner.holder.agent));
        let cached = cached.filter(|(_, agent)| agents.contains(agent));
        let ended = cached.filter(|(hash, agent)| current(agent) != Some(hash.as_slice()));
        ended.map(|(_, agent)| agent.clone()).collect()
    }

    /// The state of the cache before a query; pass it to [`Self::remember`] afterwards.
    fn state(&self) -> u64 {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.misses += 1;
        known.removals
    }

    /// Caches a key that was read from the database, unless any key has ended since the query started: it could be
    /// this one.
    fn remember(&self, hash: KeyHash, holder: KeyHolder, state: u64, read_at: Instant) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.removals != state {
            return;
        }
        if known.owners.len() >= CACHED_KEYS_MAX {
            known.owners.clear();
        }
        known.owners.insert(hash, KeyOwner { holder, read_at });
    }

    /// Removes an agent's keys from the cache and notifies everything that was opened with them.
    pub(crate) fn end(&self, agent: &AgentId) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.owners.retain(|_, owner| owner.holder.agent != *agent);
        known.removals += 1;
        drop(known);
        for hook in self.end_hooks.read().unwrap_or_else(PoisonError::into_inner).iter() {
            hook(agent);
        }
    }
}

/// Keys, the operator's token, and tokens signed by the hub.
#[derive(Debug)]
pub struct Access {
    cache: Arc<KeyCache>,
    bus: Arc<Bus>,
    db: Db,
    /// The turn of [`Self::look_up_in_turn`].
    turns: Semaphore,
    admin_token: KeyHash,
    /// Challenges for the proof of work at registration.
    pub challenges: Challenges,
    /// Tickets for sockets of browsers.
    pub tickets: Tickets,
}

impl Access {
    /// The cache, for checks in transactions.
    pub(crate) fn cache(&self) -> Arc<KeyCache> {
        Arc::clone(&self.cache)
    }

    pub(crate) async fn new(
        cache: Arc<KeyCache>,
        bus: Arc<Bus>,
        db: Db,
        config: &Config,
        admin_token: KeyHash,
    ) -> Result<Self, Error> {
        let challenge = hub_secret(db.store(), "challenge").await?;
        let ticket = hub_secret(db.store(), "ticket").await?;
        Ok(Self {
            cache,
            bus,
            turns: Semaphore::new(1),
            admin_token,
            challenges: Challenges::new(&challenge, config.pow_difficulty),
            tickets: Tickets::new(&ticket),
            db,
        })
    }

    /// Whether a key with this hash is the operator's token.
    #[must_use]
    pub fn is_admin(&self, hash: &KeyHash) -> bool {
        keys::same_hash(hash, &self.admin_token)
    }

    /// The hash of the operator's token.
    pub(crate) fn operator_key(&self) -> KeyHash {
        self.admin_token
    }

    /// Whose this key is, if it is in the cache.
    #[must_use]
    pub fn known(&self, hash: &KeyHash) -> Option<KeyHolder> {
        self.cache.get(hash)
    }

    /// Whose this key is, from the database, for a client whose key is not known yet.
    pub async fn look_up(&self, hash: KeyHash, by: Owner) -> Result<Option<KeyHolder>, crate::Error> {
        let (state, read_at) = (self.cache.state(), Instant::now());
        let found = self.db.store().read_for(by, Size::Rows, move |tx| agents::by_key(tx, &hash)).await;
        match &found {
            Ok(Some(holder)) => self.cache.remember(hash, holder.clone(), state, read_at),
            // Another node has ended the key, and this one did not hear of it.
            Ok(None) | Err(Error::Suspended) => {
                if let Some(agent) = self.cache.get_old(&hash) {
                    self.end(&agent);
                }
            }
            Err(_) => {}
        }
        Ok(found?)
    }

    /// Ends an agent's keys on this node, with everything that was opened with them.
    fn end(&self, agent: &AgentId) {
        self.cache.end(agent);
        self.bus.end(agent, EndReason::KeyEnded);
    }

    /// The same, for an address that has used up its requests: one such look-up at a time in the whole hub, in the order
    /// of arrival. Strangers who send wrong keys without end occupy one reader of the database at most, and a valid key
    /// waits for those that came before it; once found, it is in the cache and does not wait again. A refusal without a
    /// look-up would lock out every agent at their address whose key is not in the cache, as after a restart.
    pub async fn look_up_in_turn(&self, hash: KeyHash, by: Owner) -> Result<Option<KeyHolder>, crate::Error> {
        let _turn = self.turn().await;
        // Another request with the same key may have found it meanwhile.
        match self.known(&hash) {
            Some(holder) => Ok(Some(holder)),
            None => self.look_up(hash, by).await,
        }
    }

    /// Waits for the turn of [`Self::look_up_in_turn`]; it ends when the result is dropped.
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.turns.acquire().await.ok()
    }

    /// Refuses a caller whose key has ended since its request was admitted. An ended key leaves the cache with the commit
    /// that ended it, so this seldom costs a query.
    pub async fn check(&self, caller: &Caller) -> Result<(), crate::Error> {
        let holder = match self.known(&caller.key_hash) {
            Some(holder) => Some(holder),
            None => self.look_up(caller.key_hash, caller.into()).await?,
        };
        let is_own = holder.is_some_and(|holder| holder.agent == caller.agent);
        if is_own { Ok(()) } else { Err(crate::Error::unauthorized()) }
    }

    #[must_use]
    pub fn cache_misses(&self) -> u64 {
        self.cache.known.read().unwrap_or_else(PoisonError::into_inner).misses
    }

    /// Registers a callback for ended keys. It runs on the store's thread, so it must not wait.
    pub fn on_key_end(&self, hook: impl Fn(&AgentId) + Send + Sync + 'static) {
        self.cache.end_hooks.write().unwrap_or_else(PoisonError::into_inner).push(Box::new(hook));
    }
}

/// Returns a secret of the hub, created by the first call and stored in the database.
pub(crate) async fn hub_secret(store: &Store, name: &'static str) -> Result<Vec<u8>, Error> {
    let mut fresh = [0; 32];
    keys::fill_random(&mut fresh);
    store.write(move |tx| admin::hub_secret(tx, name, &fresh)).await
}
