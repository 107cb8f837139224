//! Agents elsewhere.

use tandem_api::remotes::{CreateRemote, DeletedRemote, PatchRemote, RemoteView};
use tandem_core::AgentId;

use crate::call::Call;
use crate::{Client, Error};

impl Client {
    /// Adds an agent elsewhere to which the caller sends tasks.
    pub async fn create_remote(&self, remote: &CreateRemote) -> Result<RemoteView, Error> {
        self.call(&Call::post("/a2a/remotes").json(remote)).await
    }

    /// The caller's agents elsewhere, oldest first.
    pub async fn remotes(&self) -> Result<Vec<RemoteView>, Error> {
        self.call(&Call::get("/a2a/remotes")).await
    }

    /// Changes an agent elsewhere of the caller.
    pub async fn change_remote(&self, agent: &AgentId, change: &PatchRemote) -> Result<RemoteView, Error> {
        self.call(&Call::patch(format!("/a2a/remotes/{agent}")).json(change)).await
    }

    /// Removes an agent elsewhere of the caller, with everything that belongs to it.
    pub async fn delete_remote(&self, agent: &AgentId) -> Result<DeletedRemote, Error> {
        self.call(&Call::delete(format!("/a2a/remotes/{agent}"))).await
    }
}
