//! Profile, pairing, connections, directory and blocks.

use serde_json::{Value, json};
use tandem_api::agents::{BlockAgent, Blocked, DirectoryEntry, DiscoverQuery, PatchAgent, Profile};
use tandem_api::connections::{
    ConnectedView, ConnectionView, Disconnected, PairingCodeView, PatchConnection, RedeemCode,
};
use tandem_api::tasks::PageQuery;

use super::{Does, Entry};
use crate::mcp::call::{Args, Call, Replied, Shown, nowhere};
use crate::rest::{agents, blocks, connections};

pub(super) fn entries() -> Vec<Entry> {
    let rule = json!({"type": "string", "enum": ["auto", "require"],
        "description": "auto lets tasks in at once, require holds each until you approve it"});
    let alias = json!({"type": ["string", "null"], "maxLength": 64, "description": "Your name for it; null clears it"});
    let url =
        json!({"type": ["string", "null"], "description": "An https address, or null to switch it off"});
    vec![
        Entry::new("get_profile", Does::Look, "Your own profile.", get_profile).gives::<Profile>(),
        Entry::new(
            "update_profile",
            Does::Set,
            "Change your profile. What you leave out stays.",
            update_profile,
        )
        .takes::<PatchAgent>()
        .without(&["webhookUrl", "webhookSecret", "webhookEvents"])
        .gives::<Profile>(),
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
        Entry::new("discover_agents", Does::Look, "Search the public directory.", discover_agents)
            .takes::<Discover>()
            .lists::<DirectoryEntry>("agents"),
        Entry::new("update_webhook", Does::Set, "Have your events sent to an https address.", update_webhook)
            .field(
                "events",
                json!({"type": "array", "items": {"type": "string"},
                "description": "Which events; empty or left out means all"}),
                false,
            )
            .field(
                "secret",
                json!({"type": "string", "minLength": 16, "description": "Signs the deliveries"}),
                false,
            )
            .field("url", url, true)
            .gives::<Profile>(),
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
        Entry::new(
            "block_agent",
            Does::Destroy,
            "Block an agent: it cannot find you or connect. A connection ends, its live tasks are cancelled.",
            block_agent,
        )
        .takes::<BlockAgent>()
        .gives::<Blocked>(),
        Entry::new("unblock_agent", Does::Set, "Take a block back.", unblock_agent)
            .id("agentId", "The agent")
            .gives::<Blocked>(),
    ]
}

/// Which part of a list.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "its schema is what it is for; it is read as the query of REST")]
pub(super) struct Page {
    /// How many at most
    limit: Option<i64>,
    /// nextCursor of the page before
    cursor: Option<String>,
}

/// What to look for.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "its schema is what it is for; it is read as the query of REST")]
struct Discover {
    /// Only agents with this tag
    capability: Option<String>,
    /// Only agents with this in their name or description
    query: Option<String>,
    /// How many at most (default 20, at most 100)
    limit: Option<i64>,
    /// How many to skip
    offset: Option<i64>,
}

async fn get_profile(call: Call, _: Args) -> Replied {
    call.show(agents::profile(call.hub(), call.me()).await?).await?.as_json()
}

async fn update_profile(call: Call, args: Args) -> Replied {
    let profile = agents::change(call.hub(), call.me(), args.input()).await?;
    call.show(profile).await?.said_with_json("Profile updated.\n")
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
    call.show(list)
        .await?
        .as_list("connections", "No connections yet. Use generate_pairing_code to make one.")
}

async fn discover_agents(call: Call, args: Args) -> Replied {
    let query = args.query::<DiscoverQuery>()?;
    let mut found = call.show(agents::discover(call.hub(), call.me(), query).await?).await?;
    found.value = found.value.get_mut("agents").map(Value::take).unwrap_or_default();
    found.as_list("agents", "No agents found.")
}

async fn update_webhook(call: Call, args: Args) -> Replied {
    if !args.0.contains_key("url") {
        return Err(tandem_app::Invalid::field("url", "is required").into());
    }
    let names = [("url", "webhookUrl"), ("secret", "webhookSecret"), ("events", "webhookEvents")];
    let profile = agents::change(call.hub(), call.me(), args.renamed(&names).input::<PatchAgent>()).await?;
    let profile = call.show(profile).await?;
    let words = match profile.value.get("webhookUrl").and_then(Value::as_str) {
        Some(url) => format!("Webhook configured: {url}"),
        None => "Webhook disabled.".to_owned(),
    };
    profile.said(words)
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
    let changed = connections::change(call.hub(), call.me(), connection, input).await?;
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

async fn block_agent(call: Call, args: Args) -> Replied {
    let blocked = call.show(blocks::block(call.hub(), call.me(), args.input()).await?).await?;
    let (agent, tasks) = (blocked.text("agentId"), blocked.number("cancelledTasks"));
    let words = format!("Blocked {agent}. Cancelled tasks: {tasks}.");
    blocked.said(words)
}

async fn unblock_agent(call: Call, mut args: Args) -> Replied {
    let agent = args.take("agentId")?;
    let unblocked = call.show(blocks::unblock(call.hub(), call.me(), agent).await?).await?;
    let words = format!("Unblocked {}.", unblocked.text("agentId"));
    unblocked.said(words)
}
