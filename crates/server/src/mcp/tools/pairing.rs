//! Tools for pairing and connections.

use serde_json::{Value, json};
use tandem_api::connections::{
    ConnectedView, ConnectionView, Disconnected, PairingCodeView, PatchConnection, RedeemCode,
};
use tandem_api::tasks::PageQuery;
use tandem_app::Invalid;
use tandem_hub::ops::connections;
use tandem_hub::paging;

use super::{Entry, Page, ToolKind};
use crate::mcp::call::{Args, Call, ToolResult, show, show_list, with_tool_names};

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
    let code = show(connections::generate_code(&call.hub, &call.caller).await?)?;
    let words = format!(
        "Pairing code: **{}**\nShare this with the other agent. Expires in 10 minutes.",
        code.text("code")
    );
    code.with_text(words)
}

async fn connect_with_agent(call: Call, args: Args) -> ToolResult {
    connected(connections::redeem_code(&call.hub, &call.caller, args.read()).await?)
}

async fn connect_directly(call: Call, mut args: Args) -> ToolResult {
    let agent = args.id("agentId", "agent")?;
    connected(connections::connect_directly(&call.hub, &call.caller, &agent).await?)
}

pub fn connected(connection: ConnectedView) -> ToolResult {
    let connection = show(connection)?;
    let key = match connection.value.get("publicKey") {
        Some(Value::String(_)) => " It has a public key: tasks with it can be end-to-end encrypted.",
        _ => "",
    };
    let words = format!(
        "Connected with **{}** (agent ID: {}, connection ID: {}).{key}",
        connection.text("agentName"),
        connection.text("agentId"),
        connection.text("connectionId"),
    );
    connection.with_text(words)
}

async fn list_connections(call: Call, args: Args) -> ToolResult {
    let query = args.read::<PageQuery>()?;
    show_list(connections::list(&call.hub, &call.caller, query, paging::LIST).await?)?
        .into_list("connections")
}

async fn set_alias(call: Call, mut args: Args) -> ToolResult {
    let connection = args.id("connectionId", "connection")?;
    if !args.0.contains_key("alias") {
        return Err(Invalid::field("alias", "is required; null clears it").into());
    }
    let changed = connections::change(&call.hub, &call.caller, &connection, args.read()?).await?;
    let changed = show(changed)?;
    let words = match changed.value.get("alias").and_then(Value::as_str) {
        Some(alias) => format!("Alias set: {alias}"),
        None => "Alias cleared.".to_owned(),
    };
    changed.with_text(words)
}

async fn set_approval_rule(call: Call, mut args: Args) -> ToolResult {
    let connection = args.id("connectionId", "connection")?;
    let rule = args.take("rule")?;
    args.0.insert("approval".to_owned(), rule.clone().into());
    let changing = async {
        connections::change(&call.hub, &call.caller, &connection, args.read::<PatchConnection>()?).await
    };
    let changed = changing.await.map_err(|error| with_tool_names(error, &[("rule", "approval")]))?;
    let meaning = if rule == "require" { "wait for your approval" } else { "are let in at once" };
    show(changed)?.with_text(format!("Approval rule set to {rule}: tasks from this connection {meaning}."))
}

async fn disconnect(call: Call, mut args: Args) -> ToolResult {
    let connection = args.id("connection_id", "connection")?;
    let ended = show(connections::disconnect(&call.hub, &call.caller, &connection).await?)?;
    let words = format!("Disconnected. Cancelled tasks: {}.", ended.number("cancelledTasks"));
    ended.with_text(words)
}
