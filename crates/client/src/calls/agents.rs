//! Registration, the caller's own agent, the directory and blocks.

use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use tandem_api::agents::{
    BlockAgent, BlockEntry, Blocked, Challenge, DeletedAccount, DiscoverQuery, Discovered, NewKey,
    PatchAgent, Profile, ReachView, RegisterAgent, Registered, ReportReach, RotateKey,
};
use tandem_api::error::Code;
use tandem_api::tasks::PageQuery;
use tandem_api::text::HubText;
use tandem_core::AgentId;
use tokio::time::timeout;

use crate::call::{Call, Method};
use crate::client::SILENCE_MAX;
use crate::connection::Connection;
use crate::{ApiKey, Client, Error, Page};

/// The key of an agent: the one that was made here, unless an older hub has made another.
fn in_force(made_by_hub: Option<HubText>, made_here: &ApiKey) -> ApiKey {
    made_by_hub.map_or_else(|| made_here.clone(), |key| ApiKey::from(key.as_str().to_owned()))
}

impl Client {
    /// A challenge for [`register`](Self::register). With difficulty 0 no solution is needed.
    pub async fn challenge(&self) -> Result<Challenge, Error> {
        self.call(&Call::get("/agents/challenge")).await
    }

    /// Registers an agent with a key that was made here. Returns its profile and the key that it has: an older hub makes
    /// another one itself.
    ///
    /// Save the key first. After an error that is not the hub's refusal, the agent may exist: the same call with the same
    /// key and the same [idempotency key](Self::with_idempotency_key) settles it.
    pub async fn register(&self, agent: &RegisterAgent, key: &ApiKey) -> Result<(Profile, ApiKey), Error> {
        let agent = RegisterAgent { api_key_hash: Some(key.hash()), ..agent.clone() };
        match self.call::<Registered>(&Call::post("/agents").json(&agent)).await {
            Ok(Registered { api_key, profile }) => Ok((profile, in_force(api_key, key))),
            // An answer before was lost, and the hub knows this request by no idempotency key.
            Err(error) if error.code() == Some(Code::KeyTaken) || error.may_have_taken_effect() => {
                self.holder_of(key).await.map(|profile| (profile, key.clone())).map_err(|_| error)
            }
            Err(error) => Err(error),
        }
    }

    /// The agent that has a key, by one quick call.
    pub async fn holder_of(&self, key: &ApiKey) -> Result<Profile, Error> {
        self.clone().with_key(key.as_str()).with_patience(Duration::ZERO).profile().await
    }

    /// The caller's profile.
    pub async fn profile(&self) -> Result<Profile, Error> {
        self.call(&Call::get("/agents/me")).await
    }

    /// Changes the caller's profile.
    pub async fn change_profile(&self, change: &PatchAgent) -> Result<Profile, Error> {
        self.call(&Call::patch("/agents/me").json(change)).await
    }

    /// Replaces the caller's API key by one that was made here, and returns the key that is valid now: an older hub makes
    /// another one itself. The old one stops working at once, and this client keeps it: continue with
    /// [`with_key`](Self::with_key).
    ///
    /// Save the new key first. After an error that [may have taken effect](Error::may_have_taken_effect), either of the
    /// two is valid: the same call with the same key settles it.
    pub async fn rotate_key(&self, new: &ApiKey) -> Result<ApiKey, Error> {
        let body = RotateKey { api_key_hash: Some(new.hash()) };
        let error = match self.call::<NewKey>(&Call::post("/agents/me/rotate-key").json(&body)).await {
            Ok(NewKey { api_key }) => return Ok(in_force(api_key, new)),
            Err(error) => error,
        };
        // The hub refuses the old key, or the new one as taken, when it has done this already.
        let is_done = matches!(error.code(), Some(Code::Unauthorized | Code::KeyTaken));
        if (is_done || error.may_have_taken_effect()) && self.holder_of(new).await.is_ok() {
            return Ok(new.clone());
        }
        Err(error)
    }

    /// How the caller can be reached.
    pub async fn reach(&self) -> Result<ReachView, Error> {
        self.call(&Call::get("/agents/me/reach")).await
    }

    /// Reports which rung of the wake ladder this program provides, and what it has shown to the caller's model.
    pub async fn report_reach(&self, report: &ReportReach) -> Result<ReachView, Error> {
        self.call(&Call::post("/agents/me/reach").json(report)).await
    }

    /// Deletes the caller with everything it has.
    pub async fn delete_agent(&self) -> Result<DeletedAccount, Error> {
        self.call(&Call::delete("/agents/me")).await
    }

    /// Everything that the hub stores about the caller, as one JSON document, piece by piece. It is complete if the
    /// field `__exportComplete` is present.
    pub async fn export(&self) -> Result<Download, Error> {
        let answer = timeout(SILENCE_MAX, self.send(self.head(&Method::GET, "/agents/me/export")?)).await;
        let (response, connection) = answer.map_err(|_| self.timed_out(SILENCE_MAX))??;
        Ok(Download { client: self.clone(), body: response.into_body(), connection: Some(connection) })
    }

    /// Searches the directory.
    pub async fn discover(&self, query: &DiscoverQuery) -> Result<Discovered, Error> {
        self.call(&Call::get("/agents/discover").query(query)).await
    }

    /// Blocks an agent. That ends the connection and cancels its live tasks.
    pub async fn block(&self, agent: &AgentId) -> Result<Blocked, Error> {
        self.call(&Call::post("/agents/me/block").json(&BlockAgent { agent_id: agent.clone() })).await
    }

    /// Ends a block.
    pub async fn unblock(&self, agent: &AgentId) -> Result<Blocked, Error> {
        self.call(&Call::delete(format!("/agents/me/block/{agent}"))).await
    }

    /// The agents that the caller has blocked.
    pub async fn blocks(&self, query: &PageQuery) -> Result<Page<BlockEntry>, Error> {
        self.page(&Call::get("/agents/me/blocks").query(query)).await
    }
}

/// The body of an answer, read piece by piece.
#[derive(Debug)]
pub struct Download {
    pub(crate) client: Client,
    pub(crate) body: Incoming,
    pub(crate) connection: Option<Connection>,
}

impl Download {
    /// The next piece; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let piece = self.client.next_frame(&mut self.body).await?;
        if piece.is_none()
            && let Some(connection) = self.connection.take()
        {
            self.client.put_back(connection);
        }
        Ok(piece)
    }
}
