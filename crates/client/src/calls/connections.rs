//! Pairing and connections.

use std::time::Duration;

use tandem_api::connections::{
    ConnectedView, ConnectionView, Disconnected, PairingCodeView, PatchConnection, RedeemCode,
};
use tandem_api::tasks::PageQuery;
use tandem_core::{AgentId, ConnectionId};

use crate::call::Call;
use crate::probe::date_of;
use crate::{Client, Error, Page};

impl Client {
    /// Creates a pairing code for the owner of another agent.
    pub async fn create_pairing_code(&self) -> Result<PairingCodeView, Error> {
        self.call(&Call::post("/pair/generate")).await
    }

    /// Creates a pairing code, and says how long it is valid from now on. That is by the hub's clock, which need not be
    /// right; `None` if the answer does not have the hub's time.
    pub async fn create_pairing_code_with_lifetime(
        &self,
    ) -> Result<(PairingCodeView, Option<Duration>), Error> {
        let (headers, bytes) = self.answer(&Call::post("/pair/generate")).await?;
        let code: PairingCodeView = self.parse(&bytes)?;
        // The date has no fractions of a second, so the hub's time is up to one second later.
        let left_ms = date_of(&headers).map(|date| code.expires_at.ms_since(date) - 1_000);
        let left = left_ms.map(|ms| Duration::from_millis(u64::try_from(ms).unwrap_or(0)));
        Ok((code, left))
    }

    /// Redeems a pairing code. Both agents are then connected.
    pub async fn redeem_pairing_code(&self, code: &RedeemCode) -> Result<ConnectedView, Error> {
        self.call(&Call::post("/pair/connect").json(code)).await
    }

    /// Connects to an agent that accepts connections without a code.
    pub async fn connect(&self, agent: &AgentId) -> Result<ConnectedView, Error> {
        self.call(&Call::post(format!("/connect/{agent}"))).await
    }

    /// The caller's connections, newest first.
    pub async fn connections(&self, query: &PageQuery) -> Result<Page<ConnectionView>, Error> {
        self.page(&Call::get("/connections").query(query)).await
    }

    /// Changes alias or approval rule of a connection.
    pub async fn change_connection(
        &self,
        connection: &ConnectionId,
        change: &PatchConnection,
    ) -> Result<ConnectionView, Error> {
        self.call(&Call::patch(format!("/connections/{connection}")).json(change)).await
    }

    /// Ends a connection and cancels its live tasks.
    pub async fn disconnect(&self, connection: &ConnectionId) -> Result<Disconnected, Error> {
        self.call(&Call::delete(format!("/connections/{connection}"))).await
    }
}
