//! Tools that connect agents. The bridge pins the key of the new connection, as `tandem pair` does.

use rmcp::model::CallToolResult;
use tandem_api::connections::{ConnectedView, RedeemCode};
use tandem_client::Client;
use tandem_core::AgentId;
use tandem_hub::Error;
use tandem_server::mcp::shared::{Args, connected, to_result};

use super::failures::to_hub_error;
use super::handler::Bridge;

impl Bridge {
    pub(super) async fn generate_pairing_code(
        &self,
        client: &Client,
        args: Args,
    ) -> Result<CallToolResult, Error> {
        // Before the code exists: its redemption may be faster than the answer.
        self.hub.offered();
        self.forward(client, "generate_pairing_code", args.0).await
    }

    pub(super) async fn connect_with_agent(
        &self,
        client: &Client,
        args: Args,
    ) -> Result<CallToolResult, Error> {
        let code: RedeemCode = args.read()?;
        let made = client.redeem_pairing_code(&code).await.map_err(to_hub_error)?;
        self.introduce(made).await
    }

    pub(super) async fn connect_directly(
        &self,
        client: &Client,
        mut args: Args,
    ) -> Result<CallToolResult, Error> {
        let agent: AgentId = args.id("agentId", "agent")?;
        let made = client.connect(&agent).await.map_err(to_hub_error)?;
        self.introduce(made).await
    }

    async fn introduce(&self, made: ConnectedView) -> Result<CallToolResult, Error> {
        if let Err(why) = self.hub.pin(&made).await {
            let mut error = to_hub_error(why);
            error.body.error = format!("You are connected now, but with care. {}", error.body.error);
            return Err(error);
        }
        Ok(to_result(connected(made)))
    }
}
