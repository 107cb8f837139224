//! `create_task`: encrypted if both agents have keys, unless the model says otherwise.

use rmcp::model::CallToolResult;
use serde_json::Value;
use tandem_api::error::Code;
use tandem_api::networks::MemberView;
use tandem_api::tasks::CreateTask;
use tandem_client::{Client, Error as ClientError, find_on_pages};
use tandem_core::{AgentId, NetworkId};
use tandem_hub::Error;
use tandem_server::mcp::shared::{Args, created, invalid, to_result};

use super::super::agent_names::{self, Naming};
use super::super::pages::Extent;
use super::failures::to_hub_error;
use super::handler::Bridge;
use super::tools::SEALED_FIELDS;

/// An agent that a task can be sent to.
#[derive(Clone)]
struct Target {
    id: AgentId,
    name: String,
    has_key: bool,
}

impl Bridge {
    pub(super) async fn create_task(&self, client: &Client, mut args: Args) -> Result<CallToolResult, Error> {
        refuse_sealed_fields(&args)?;
        let encrypt = match args.0.shift_remove("encrypt") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(encrypt)) => Some(encrypt),
            Some(_) => return Err(invalid("encrypt", "must be true or false")),
        };
        let plain = args.0.clone();
        let task: CreateTask = args.read()?;
        if encrypt == Some(false) || (encrypt.is_none() && !self.hub.has_key()) {
            return self.forward(client, "create_task", plain).await;
        }
        let target = find(client, task.target_agent_id.as_str(), task.network_id.as_ref()).await?;
        if encrypt.is_none() && !target.has_key {
            refuse_downgrade(client, &target)?;
            return self.forward(client, "create_task", plain).await;
        }
        let made = client.create_encrypted_task(task, &target.id).await.map_err(to_hub_error)?;
        Ok(to_result(created(made)))
    }
}

/// The bridge makes what encryption needs. A model that gives it believes something wrong.
pub(super) fn refuse_sealed_fields(args: &Args) -> Result<(), Error> {
    match SEALED_FIELDS.iter().find(|name| args.0.contains_key(**name)) {
        Some(name) => Err(invalid(name, "is made here and must be left out")),
        None => Ok(()),
    }
}

/// A hub that hides a key must not get in the clear what was encrypted before.
fn refuse_downgrade(client: &Client, target: &Target) -> Result<(), Error> {
    let pinned = client.keyring().and_then(|keys| keys.pins()?.get(&target.id)).map_err(to_hub_error)?;
    if pinned.is_none() {
        return Ok(());
    }
    let gone = ClientError::NoPeerKey { agent: target.id.clone(), name: target.name.clone() };
    Err(to_hub_error(gone))
}

/// The agent that an id or alias means, as the hub finds it.
async fn find(client: &Client, named: &str, network: Option<&NetworkId>) -> Result<Target, Error> {
    let read = async |query| client.connections(&query).await;
    let connections = Extent::whole().read(read).await.map_err(to_hub_error)?.items;
    let found = agent_names::find(&connections, named, Naming::Exact).first().map(|one| Target {
        id: one.connected.agent_id.clone(),
        name: one.connected.agent_name.as_str().to_owned(),
        has_key: one.connected.public_key.is_some(),
    });
    // Like the hub: an alias that looks like the id of a member means the member.
    if let Some(target) = found.as_ref().filter(|target| target.id.as_str() == named) {
        return Ok(target.clone());
    }
    if let Some(member) = find_member(client, named, network).await? {
        return Ok(member);
    }
    found.ok_or_else(|| Error::new(Code::NotConnected, "you are not connected with that agent"))
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
