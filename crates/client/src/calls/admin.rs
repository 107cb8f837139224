//! Calls with the operator's token.

use serde_json::Value;
use tandem_api::admin::{
    AdminAgent, AdminDelivery, AdminEvent, AdminEventsQuery, AdminNode, AdminTask, Overview, PatchAgentTerms,
    SetupLink,
};
use tandem_api::tasks::PageQuery;
use tandem_core::AgentId;

use crate::call::Call;
use crate::{Client, Error, Page};

impl Client {
    /// Figures of the whole hub.
    pub async fn admin_overview(&self) -> Result<Overview, Error> {
        self.call(&Call::get("/admin/overview")).await
    }

    /// All agents.
    pub async fn admin_agents(&self, query: &PageQuery) -> Result<Page<AdminAgent>, Error> {
        self.page(&Call::get("/admin/agents").query(query)).await
    }

    /// Changes credits and suspension of an agent.
    pub async fn admin_change_agent(
        &self,
        agent: &AgentId,
        change: &PatchAgentTerms,
    ) -> Result<AdminAgent, Error> {
        self.call(&Call::patch(format!("/admin/agents/{agent}")).json(change)).await
    }

    /// The nodes of the hub that run.
    pub async fn admin_nodes(&self) -> Result<Vec<AdminNode>, Error> {
        self.call(&Call::get("/admin/nodes")).await
    }

    /// A one-time link to the dashboard for the operator.
    pub async fn admin_setup_link(&self) -> Result<SetupLink, Error> {
        self.call(&Call::post_once("/admin/setup-link")).await
    }

    /// All tasks, without content.
    pub async fn admin_tasks(&self, query: &PageQuery) -> Result<Page<AdminTask>, Error> {
        self.page(&Call::get("/admin/tasks").query(query)).await
    }

    /// All events, without content.
    pub async fn admin_events(&self, query: &AdminEventsQuery) -> Result<Page<AdminEvent>, Error> {
        self.page(&Call::get("/admin/events").query(query)).await
    }

    /// All webhook deliveries, without content.
    pub async fn admin_deliveries(&self, query: &PageQuery) -> Result<Page<AdminDelivery>, Error> {
        self.page(&Call::get("/admin/deliveries").query(query)).await
    }

    /// The settings in force, without secrets.
    pub async fn admin_settings(&self) -> Result<Value, Error> {
        self.call(&Call::get("/admin/settings")).await
    }
}
