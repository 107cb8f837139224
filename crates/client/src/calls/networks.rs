//! Networks.

use tandem_api::networks::{
    BroadcastSent, BroadcastView, CreateInvite, CreateNetwork, DeletedNetwork, InviteView, JoinNetwork,
    LeftNetwork, MemberView, NetworkView, RemovedMember, SendBroadcast,
};
use tandem_api::tasks::PageQuery;
use tandem_core::{AgentId, NetworkId};

use crate::call::Call;
use crate::{Client, Error, Page};

impl Client {
    /// Creates a network that the caller owns.
    pub async fn create_network(&self, network: &CreateNetwork) -> Result<NetworkView, Error> {
        self.call(&Call::post("/networks").json(network)).await
    }

    /// The caller's networks.
    pub async fn networks(&self) -> Result<Vec<NetworkView>, Error> {
        self.call(&Call::get("/networks")).await
    }

    /// One network.
    pub async fn network(&self, network: &NetworkId) -> Result<NetworkView, Error> {
        self.call(&Call::get(format!("/networks/{network}"))).await
    }

    /// Deletes a network, as its owner.
    pub async fn delete_network(&self, network: &NetworkId) -> Result<DeletedNetwork, Error> {
        self.call(&Call::delete(format!("/networks/{network}"))).await
    }

    /// Creates an invitation, as the owner.
    pub async fn invite(&self, network: &NetworkId, invite: &CreateInvite) -> Result<InviteView, Error> {
        self.call(&Call::post(format!("/networks/{network}/invites")).json(invite)).await
    }

    /// Joins a network with an invitation.
    pub async fn join_network(&self, invitation: &JoinNetwork) -> Result<NetworkView, Error> {
        self.call(&Call::post("/networks/join").json(invitation)).await
    }

    /// Leaves a network.
    pub async fn leave_network(&self, network: &NetworkId) -> Result<LeftNetwork, Error> {
        self.call(&Call::post(format!("/networks/{network}/leave"))).await
    }

    /// The members of a network.
    pub async fn members(&self, network: &NetworkId, query: &PageQuery) -> Result<Page<MemberView>, Error> {
        self.page(&Call::get(format!("/networks/{network}/members")).query(query)).await
    }

    /// Removes a member, as the owner.
    pub async fn remove_member(&self, network: &NetworkId, member: &AgentId) -> Result<RemovedMember, Error> {
        self.call(&Call::delete(format!("/networks/{network}/members/{member}"))).await
    }

    /// Sends a message to the members of a network.
    pub async fn broadcast(
        &self,
        network: &NetworkId,
        broadcast: &SendBroadcast,
    ) -> Result<BroadcastSent, Error> {
        self.call(&Call::post(format!("/networks/{network}/broadcast")).json(broadcast)).await
    }

    /// The broadcasts of a network, oldest first.
    pub async fn broadcasts(
        &self,
        network: &NetworkId,
        query: &PageQuery,
    ) -> Result<Page<BroadcastView>, Error> {
        self.page(&Call::get(format!("/networks/{network}/messages")).query(query)).await
    }
}
