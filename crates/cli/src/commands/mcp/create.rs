//! `create_task`: encrypted if both agents have keys, unless the model says otherwise.

use rmcp::model::CallToolResult;
use serde_json::Value;
use tandem_api::error::Code;
use tandem_api::tasks::{CreateTask, PageQuery};
use tandem_client::{Client, Error as ClientError};
use tandem_core::{AgentId, NetworkId};
use tandem_hub::Error;
use tandem_server::mcp::shared::{Args, created, invalid, to_result};

use super::failures::to_hub_error;
use super::handler::Bridge;
use super::tools::SEALED_FIELDS;

/// An agent that a task can be sent to.
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
    let mut query = PageQuery { limit: Some(1_000), cursor: None };
    let mut aliased = None;
    loop {
        let page = client.connections(&query).await.map_err(to_hub_error)?;
        for item in page.items {
            let target = |has_key| Target {
                id: item.connected.agent_id.clone(),
                name: item.connected.agent_name.as_str().to_owned(),
                has_key,
            };
            let has_key = item.connected.public_key.is_some();
            if item.connected.agent_id.as_str() == named {
                return Ok(target(has_key));
            }
            if item.alias.as_ref().is_some_and(|alias| alias.as_str() == named) {
                aliased = Some(target(has_key));
            }
        }
        match page.next {
            Some(next) => query.cursor = Some(next),
            None => break,
        }
    }
    if let Some(member) = find_member(client, named, network).await? {
        return Ok(member);
    }
    aliased.ok_or_else(|| Error::new(Code::NotConnected, "you are not connected with that agent"))
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
        let mut query = PageQuery { limit: Some(500), cursor: None };
        loop {
            let page = client.members(&network.id, &query).await.map_err(to_hub_error)?;
            if let Some(found) = page.items.into_iter().find(|item| item.agent_id.as_str() == named) {
                let name = found.agent_name.as_str().to_owned();
                return Ok(Some(Target { id: found.agent_id, name, has_key: found.public_key.is_some() }));
            }
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => break,
            }
        }
    }
    Ok(None)
}
