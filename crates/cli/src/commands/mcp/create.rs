//! `create_task`: encrypted if both agents have keys, unless the model says otherwise.

use rmcp::model::CallToolResult;
use serde_json::Value;
use tandem_api::tasks::CreateTask;
use tandem_client::{Client, Error as ClientError};
use tandem_hub::Error;
use tandem_server::mcp::shared::{Args, created, invalid, to_result};

use super::failures::to_hub_error;
use super::handler::Bridge;
use super::targets::Target;
use super::tools::SEALED_FIELDS;

impl Bridge {
    pub(super) async fn create_task(&self, client: &Client, mut args: Args) -> Result<CallToolResult, Error> {
        refuse_sealed_fields(&args)?;
        let encrypt = match args.0.shift_remove("encrypt") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(encrypt)) => Some(encrypt),
            Some(_) => return Err(invalid("encrypt", "must be true or false")),
        };
        let mut plain = args.0.clone();
        let task: CreateTask = args.read()?;
        let target = self.target(client, task.target_agent_id.as_str(), task.network_id.as_ref()).await?;
        plain.insert("targetAgentId".to_owned(), target.id.as_str().into());
        if encrypt == Some(false) || (encrypt.is_none() && !self.hub.has_key()) {
            return self.forward(client, "create_task", plain).await;
        }
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
