//! Pairing and connections.

use serde_json::{Value, json};
use tandem_api::connections::{
    ConnectedView, ConnectionView, Disconnected, PairingCodeView, PatchConnection, RedeemCode,
};
use tandem_api::tasks::PageQuery;

use super::{Does, Entry, Page};
use crate::mcp::call::{Args, Call, Replied, Shown, named_here, nowhere};
use crate::rest::connections;

pub(super) fn entries() -> Vec<Entry> {
    let rule = json!({"type": "string", "enum": ["auto", "require"],
        "description": "auto lets tasks in at once, require holds each until you approve it"});
    let alias = json!({"type": ["string", "null"], "maxLength": 64, "description": "Your name for it; null clears it"});
    vec![
        Entry::new(
            "generate_pairing_code",
            Does::Add,
            "Make a code that another agent's owner redeems once, within ten minutes, to connect with you.",
            generate_pairing_code,
        )
        .gives::<PairingCodeView>()
        .core(),
        Entry::new(
            "connect_with_agent",
            Does::Add,
            "Redeem a pairing code that another agent's owner gave you.",
            connect_with_agent,
        )
        .takes::<RedeemCode>()
        .gives::<ConnectedView>()
        .core(),
        Entry::new(
            "connect_directly",
            Does::Add,
            "Connect without a code to an agent that has autoAccept (see discover_agents).",
            connect_directly,
        )
        .id("agentId", "The agent")
        .gives::<ConnectedView>(),
        Entry::new(
            "list_connections",
            Does::Look,
            "The agents you are connected with, and how they can be reached.",
            list_connections,
        )
        .takes::<Page>()
        .lists::<ConnectionView>("connections")
        .core(),
        Entry::new("set_alias", Does::Set, "Give a connected agent a name that only you see.", set_alias)
            .field("alias", alias, true)
            .id("connectionId", "The connection")
            .gives::<ConnectionView>(),
        Entry::new(
            "set_approval_rule",
            Does::Set,
            "Whether tasks from a connection wait for your approval.",
            set_approval_rule,
        )
        .field("rule", rule, true)
        .id("connectionId", "The connection")
        .gives::<ConnectionView>(),
        Entry::new(
            "disconnect",
            Does::Destroy,
            "End a connection. Its live tasks are cancelled, and the other agent is told.",
            disconnect,
        )
        .id("connection_id", "The connection")
        .gives::<Disconnected>(),
    ]
}

async fn generate_pairing_code(call: Call, args: Args) -> Replied {
    let code = call.show(connections::generate_code(call.hub(), call.me(), args.input()).await?).await?;
    let words = format!(
        "Pairing code: **{}**\nShare this with the other agent. Expires in 10 minutes.",
        code.text("code")
    );
    code.said(words)
}

async fn connect_with_agent(call: Call, args: Args) -> Replied {
    let address = call.address.clone();
    connected(call.show(connections::redeem_code(call.hub(), call.me(), address, args.input()).await?).await?)
}

async fn connect_directly(call: Call, mut args: Args) -> Replied {
    let agent = args.take("agentId")?;
    connected(
        call.show(connections::connect_directly(call.hub(), call.me(), agent, args.input()).await?).await?,
    )
}

fn connected(connection: Shown) -> Replied {
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
    connection.said(words)
}

async fn list_connections(call: Call, args: Args) -> Replied {
    let query = args.query::<PageQuery>()?;
    let list = connections::list(call.hub(), call.me(), nowhere(), query).await?;
    call.show(list).await?.into_list("connections")
}

async fn set_alias(call: Call, mut args: Args) -> Replied {
    let connection = args.take("connectionId")?;
    if !args.0.contains_key("alias") {
        return Err(tandem_app::Invalid::field("alias", "is required; null clears it").into());
    }
    let changed =
        connections::change(call.hub(), call.me(), connection, args.input::<PatchConnection>()).await?;
    let changed = call.show(changed).await?;
    let words = match changed.value.get("alias").and_then(Value::as_str) {
        Some(alias) => format!("Alias set: {alias}"),
        None => "Alias cleared.".to_owned(),
    };
    changed.said(words)
}

async fn set_approval_rule(call: Call, mut args: Args) -> Replied {
    let connection = args.take("connectionId")?;
    let rule = args.take("rule")?.0;
    args.0.insert("approval".to_owned(), rule.clone().into());
    let input = args.input::<PatchConnection>();
    let changed = connections::change(call.hub(), call.me(), connection, input).await;
    let changed = changed.map_err(|error| named_here(error, &[("rule", "approval")]))?;
    let meaning = if rule == "require" { "wait for your approval" } else { "are let in at once" };
    call.show(changed)
        .await?
        .said(format!("Approval rule set to {rule}: tasks from this connection {meaning}."))
}

async fn disconnect(call: Call, mut args: Args) -> Replied {
    let connection = args.take("connection_id")?;
    let ended = call.show(connections::disconnect(call.hub(), call.me(), connection).await?).await?;
    let words = format!("Disconnected. Cancelled tasks: {}.", ended.number("cancelledTasks"));
    ended.said(words)
}
