//! Whom a tool means by an id, an alias or a name. The hub gets ids only, so that it does not decide by itself.

use rmcp::model::CallToolResult;
use serde_json::Value;
use tandem_api::connections::ConnectionView;
use tandem_api::error::Code;
use tandem_api::networks::MemberView;
use tandem_client::{Client, find_on_pages};
use tandem_core::{AgentId, ConnectionId, NetworkId};
use tandem_hub::Error;
use tandem_server::mcp::shared::{Args, fence, invalid};

use super::super::agent_names::{self, Unclear, looks_like_id};
use super::super::pages::Extent;
use super::failures::to_hub_error;
use super::handler::Bridge;

/// An agent that a task can be sent to.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) id: AgentId,
    pub(super) name: String,
    pub(super) has_key: bool,
}

impl Bridge {
    /// The agent that a word means: a connection by the rule of all commands, or a member of a network by its id.
    pub(super) async fn target(
        &self,
        client: &Client,
        named: &str,
        network: Option<&NetworkId>,
    ) -> Result<Target, Error> {
        let connections = connections(client).await?;
        let is_id = |one: &ConnectionView| one.connected.agent_id.as_str() == named;
        // An alias that looks like the id of a member means the member.
        if looks_like_id(named)
            && !connections.iter().any(is_id)
            && let Some(member) = find_member(client, named, network).await?
        {
            return Ok(member);
        }
        let pins = self.hub.pins().map_err(to_hub_error)?;
        match agent_names::resolve(&connections, named, pins.as_ref()) {
            Ok(one) => Ok(Target {
                id: one.connected.agent_id,
                name: one.connected.agent_name.as_str().to_owned(),
                has_key: one.connected.public_key.is_some(),
            }),
            Err(Unclear::Nobody(_)) => {
                Err(Error::new(Code::NotConnected, "you are not connected with that agent"))
            }
            Err(Unclear::Several(several)) => {
                let one = |one: &ConnectionView| {
                    let connected = &one.connected;
                    let name = fence::name(connected.agent_name.as_str());
                    format!("{name} ({})", fence::id(connected.agent_id.as_str()))
                };
                let all: Vec<String> = several.iter().map(one).collect();
                Err(invalid("targetAgentId", &format!("can mean {}; give the id", all.join(" or "))))
            }
            Err(Unclear::Refused(error)) => Err(to_hub_error(error)),
        }
    }

    pub(super) async fn reassign_task(
        &self,
        client: &Client,
        mut args: Args,
    ) -> Result<CallToolResult, Error> {
        if let Some(named) = args.0.get("targetAgentId").and_then(Value::as_str) {
            let target = self.target(client, named, None).await?;
            args.0.insert("targetAgentId".to_owned(), target.id.as_str().into());
        }
        self.forward(client, "reassign_task", args.0).await
    }

    /// Sets an alias and pins it. The alias or name of another pinned agent is for the owner to give away.
    pub(super) async fn set_alias(&self, client: &Client, args: Args) -> Result<CallToolResult, Error> {
        let id = args.0.get("connectionId").and_then(Value::as_str);
        let id: Option<ConnectionId> = id.and_then(|id| fence::unfenced(id).parse().ok());
        let alias = args.0.get("alias").and_then(Value::as_str).map(ToOwned::to_owned);
        let Some(id) = id else { return self.forward(client, "set_alias", args.0).await };
        let all = connections(client).await?;
        let one = all.into_iter().find(|one| one.connected.connection_id == id);
        let pins = self.hub.pins().map_err(to_hub_error)?;
        if let (Some(alias), Some(one), Some(pins)) = (&alias, &one, &pins) {
            pins.check_named(alias, &one.connected.agent_id, None).map_err(to_hub_error)?;
        }
        let result = self.forward(client, "set_alias", args.0).await?;
        if let (Some(one), Some(pins), false) = (one, pins, result.is_error == Some(true)) {
            let old = one.alias.as_ref().map(|alias| alias.as_str());
            pins.set_alias(&one.connected.agent_id, old, alias.as_deref()).map_err(to_hub_error)?;
        }
        Ok(result)
    }
}

pub(super) async fn connections(client: &Client) -> Result<Vec<ConnectionView>, Error> {
    let read = async |query| client.connections(&query).await;
    Ok(Extent::whole().read(read).await.map_err(to_hub_error)?.items)
}

async fn find_member(
    client: &Client,
    named: &str,
    within: Option<&NetworkId>,
) -> Result<Option<Target>, Error> {
    for network in client.networks().await.map_err(to_hub_error)? {
        if within.is_some_and(|within| *within != network.id) {
            continue;
        }
        let read = async |query| client.members(&network.id, &query).await;
        let found = find_on_pages(500, read, |item: MemberView| {
            (item.agent_id.as_str() == named).then(|| Target {
                name: item.agent_name.as_str().to_owned(),
                has_key: item.public_key.is_some(),
                id: item.agent_id,
            })
        });
        if let Some(found) = found.await.map_err(to_hub_error)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
