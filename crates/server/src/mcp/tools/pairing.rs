//! Tools for pairing and connections.

use serde_json::json;
use tandem_api::connections::{
    ConnectedView, ConnectionView, Disconnected, PairingCodeView, PatchConnection, RedeemCode,
};
use tandem_api::tasks::PageQuery;
use tandem_app::Invalid;
use tandem_core::Rule;
use tandem_hub::ops::connections;
use tandem_hub::paging;

use super::{Entry, Page, ToolKind};
use crate::mcp::call::{Args, Call, with_tool_names};
use crate::mcp::reply::{ToolReply, ToolResult, fenced};

pub(super) fn entries() -> Vec<Entry> {
    let rule = json!({"type": "string", "enum": ["auto", "require"],
        "description": "auto accepts tasks at once, require holds each until you approve it"});
    let alias =
        json!({"type": ["string", "null"], "maxLength": 64, "description": "Your alias; null clears it"});
    vec![
        Entry::new(
            "generate_pairing_code",
            ToolKind::Create,
            "Create a pairing code, valid once for ten minutes. Use it when another agent wants to connect \
             with you.",
            generate_pairing_code,
        )
        .output::<PairingCodeView>()
        .core(),
        Entry::new(
            "connect_with_agent",
            ToolKind::Create,
            "Redeem a pairing code that another agent's owner gave you, to connect.",
            connect_with_agent,
        )
        .input::<RedeemCode>()
        .output::<ConnectedView>()
        .core(),
        Entry::new(
            "connect_directly",
            ToolKind::Create,
            "Connect without a code. Use it for an agent that discover_agents shows with autoAccept.",
            connect_directly,
        )
        .id("agentId")
        .output::<ConnectedView>(),
        Entry::new(
            "list_connections",
            ToolKind::Read,
            "List the agents you are connected with. Use it to find a task's target.",
            list_connections,
        )
        .input::<Page>()
        .output_list::<ConnectionView>("connections")
        .core(),
        Entry::new(
            "set_alias",
            ToolKind::Update,
            "Give a connected agent a name that only you see. Use it when names are alike.",
            set_alias,
        )
        .field("alias", alias, true)
        .id("connectionId")
        .output::<ConnectionView>(),
        Entry::new(
            "set_approval_rule",
            ToolKind::Update,
            "Choose whether tasks from a connection wait for your approval: for agents you do not fully \
             trust.",
            set_approval_rule,
        )
        .field("rule", rule, true)
        .id("connectionId")
        .output::<ConnectionView>(),
        Entry::new(
            "disconnect",
            ToolKind::Delete,
            "End a connection and cancel its live tasks. Use it when you no longer work with that agent.",
            disconnect,
        )
        .id("connection_id")
        .output::<Disconnected>(),
    ]
}

async fn generate_pairing_code(call: Call, _: Args) -> ToolResult {
    let code = fenced(connections::generate_code(&call.hub, &call.caller).await?);
    let words = format!(
        "Pairing code: **{}**\nShare this with the other agent. Expires in 10 minutes.",
        code.code.as_str()
    );
    ToolReply::new(&code, words)
}

async fn connect_with_agent(call: Call, args: Args) -> ToolResult {
    connected(connections::redeem_code(&call.hub, &call.caller, args.read()).await?)
}

async fn connect_directly(call: Call, mut args: Args) -> ToolResult {
    let agent = args.id("agentId", "agent")?;
    connected(connections::connect_directly(&call.hub, &call.caller, &agent).await?)
}

pub fn connected(connection: ConnectedView) -> ToolResult {
    let connection = fenced(connection);
    let key = match connection.public_key {
        Some(_) => " It has a public key: tasks with it can be end-to-end encrypted.",
        None => "",
    };
    let words = format!(
        "Connected with **{}** (agent ID: {}, connection ID: {}).{key}",
        connection.agent_name.as_str(),
        connection.agent_id,
        connection.connection_id,
    );
    ToolReply::new(&connection, words)
}

async fn list_connections(call: Call, args: Args) -> ToolResult {
    let query = args.read::<PageQuery>()?;
    let list = connections::list(&call.hub, &call.caller, query, paging::LIST).await?;
    ToolReply::list("connections", list, None)
}

async fn set_alias(call: Call, mut args: Args) -> ToolResult {
    let connection = args.id("connectionId", "connection")?;
    if !args.0.contains_key("alias") {
        return Err(Invalid::field("alias", "is required; null clears it").into());
    }
    let changed = fenced(connections::change(&call.hub, &call.caller, &connection, args.read()?).await?);
    let words = match &changed.alias {
        Some(alias) => format!("Alias set: {}", alias.as_str()),
        None => "Alias cleared.".to_owned(),
    };
    ToolReply::new(&changed, words)
}

async fn set_approval_rule(call: Call, mut args: Args) -> ToolResult {
    let connection = args.id("connectionId", "connection")?;
    let rule = args.take("rule")?;
    args.0.insert("approval".to_owned(), rule.into());
    let changing = async {
        connections::change(&call.hub, &call.caller, &connection, args.read::<PatchConnection>()?).await
    };
    let changed = fenced(changing.await.map_err(|error| with_tool_names(error, &[("rule", "approval")]))?);
    let words = match changed.approval {
        Some(Rule::Require) => {
            "Approval rule set to require: tasks from this connection wait for your approval."
        }
        _ => "Approval rule set to auto: tasks from this connection are let in at once.",
    };
    ToolReply::new(&changed, words)
}

async fn disconnect(call: Call, mut args: Args) -> ToolResult {
    let connection = args.id("connection_id", "connection")?;
    let ended = fenced(connections::disconnect(&call.hub, &call.caller, &connection).await?);
    ToolReply::new(&ended, format!("Disconnected. Cancelled tasks: {}.", ended.cancelled_tasks))
}
