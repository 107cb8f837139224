//! Who sends a request, as admission has found out, and the extractors by which handlers ask for it.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;
use tandem_app::keys::KeyHash;
use tandem_core::AgentId;
use tandem_hub::ops::sign_ins::Session;
use tandem_hub::{Address, Caller, Error, RequestMemory};
use tracing::Span;

use crate::http::connection::Connection;
use crate::http::unknown::UnknownOfRequest;
use crate::http::{ApiError, error};

#[derive(Debug, Clone)]
pub enum Identity {
    /// No key.
    Nobody,
    /// An unknown key.
    Unknown,
    /// An agent, with the hash of its key.
    Agent(AgentId, KeyHash),
    Admin,
    /// A browser in which somebody is signed in to the dashboard. It counts for pages only: no route of the API takes a
    /// cookie.
    Browser(Arc<Session>),
}

/// The sender of a request that was admitted.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) identity: Identity,
    pub(crate) address: Address,
    /// The memory of what the request reads.
    pub(crate) memory: Option<RequestMemory>,
    /// What log lines of the request have in common, for work on it that is done in another task.
    pub(crate) span: Span,
    /// What the request says that the hub does not know; `None` if it says nothing.
    pub(crate) unknown: Option<UnknownOfRequest>,
}

impl Visitor {
    /// Who sent a request. Without one, nobody has admitted it.
    pub(crate) fn of(parts: &Parts) -> Result<&Self, Error> {
        parts.extensions.get().ok_or_else(Error::internal)
    }

    /// The agent whose key the request has.
    pub(crate) fn caller(&self) -> Option<Caller> {
        let Identity::Agent(agent, key_hash) = &self.identity else { return None };
        let caller = Caller::new(agent.clone(), *key_hash, self.address.clone());
        Some(caller.with_memory(self.memory.as_ref()))
    }
}

/// Requires an agent's key.
#[derive(Debug, Clone)]
pub struct Authenticated(pub Caller);

impl<S: Sync> FromRequestParts<S> for Authenticated {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Self(Visitor::of(parts)?.caller().ok_or_else(Error::unauthorized)?))
    }
}

/// Requires the operator's token.
#[derive(Debug, Clone, Copy)]
pub struct Admin;

impl<S: Sync> FromRequestParts<S> for Admin {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        match Visitor::of(parts)?.identity {
            Identity::Admin => Ok(Self),
            Identity::Agent(..) => Err(error::admin_only().into()),
            _ => Err(Error::unauthorized().into()),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Identity {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Visitor::of(parts)?.identity.clone())
    }
}

#[derive(Debug, Clone)]
pub struct FromAddress(pub Address);

impl<S: Sync> FromRequestParts<S> for FromAddress {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Self(Visitor::of(parts)?.address.clone()))
    }
}

/// The address of the hub that the client has connected to.
#[derive(Debug, Clone, Copy)]
pub struct Local(pub Option<SocketAddr>);

impl Local {
    pub(crate) fn of(parts: &Parts) -> Result<Self, Error> {
        Ok(Self(Connection::of(&parts.extensions)?.local))
    }
}

impl<S: Sync> FromRequestParts<S> for Local {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Self::of(parts)?)
    }
}

/// The URI as the client sent it, for links.
#[derive(Debug, Clone)]
pub struct SentUri(pub Uri);

impl<S: Sync> FromRequestParts<S> for SentUri {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // Only one that was rewritten before routing is kept.
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_else(|| Self(parts.uri.clone())))
    }
}
