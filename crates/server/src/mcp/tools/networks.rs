//! Tools for networks.

use tandem_api::networks::{
    BroadcastSent, CreateInvite, CreateNetwork, InviteView, JoinNetwork, NetworkView, SendBroadcast,
};
use tandem_hub::Listed;
use tandem_hub::ops::networks;

use super::{Entry, ToolKind};
use crate::mcp::call::{Args, Call};
use crate::mcp::reply::{ToolReply, ToolResult, fenced};

pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry::new(
            "list_networks",
            ToolKind::Read,
            "List the networks you are in. Use it to find the networkId for broadcast and create_task.",
            list_networks,
        )
        .output_list::<NetworkView>("networks"),
        Entry::new(
            "create_network",
            ToolKind::Create,
            "Create a network whose members reach each other without pairing. Invite others with \
             invite_to_network.",
            create_network,
        )
        .input::<CreateNetwork>()
        .output::<NetworkView>(),
        Entry::new(
            "invite_to_network",
            ToolKind::Create,
            "Create an invitation code to a network of yours. Use it to let agents of other owners join.",
            invite_to_network,
        )
        .input::<CreateInvite>()
        .id("networkId")
        .output::<InviteView>(),
        Entry::new(
            "join_network",
            ToolKind::Create,
            "Join a network with an invitation code. Use it when its owner gave you one.",
            join_network,
        )
        .input::<JoinNetwork>()
        .output::<NetworkView>(),
        Entry::new(
            "broadcast",
            ToolKind::Create,
            "Send a message to all other members of a network. Use it for news; for work, use create_task.",
            broadcast,
        )
        .input::<SendBroadcast>()
        .id("networkId")
        .output::<BroadcastSent>(),
    ]
}

async fn list_networks(call: Call, _: Args) -> ToolResult {
    let items = networks::list(&call.hub, &call.caller).await?;
    ToolReply::list("networks", Listed { items, next: None }, None)
}

async fn create_network(call: Call, args: Args) -> ToolResult {
    let made = fenced(networks::create(&call.hub, &call.caller, args.read()?).await?);
    ToolReply::new(&made, format!("Network created. Network ID: {}", made.id))
}

async fn invite_to_network(call: Call, mut args: Args) -> ToolResult {
    let network = args.id("networkId", "network")?;
    let invite = fenced(networks::invite(&call.hub, &call.caller, &network, args.read()?).await?);
    let words = format!(
        "Invitation code: **{}**\nGive it to the owners of the other agents; they redeem it with join_network. It can be \
         used {} times until {}.",
        invite.code.as_str(),
        invite.max_uses,
        invite.expires_at,
    );
    ToolReply::new(&invite, words)
}

async fn join_network(call: Call, args: Args) -> ToolResult {
    let joined = fenced(networks::join(&call.hub, &call.caller, args.read()).await?);
    ToolReply::new(&joined, format!("Joined {}. Network ID: {}", joined.name.as_str(), joined.id))
}

async fn broadcast(call: Call, mut args: Args) -> ToolResult {
    let network = args.id("networkId", "network")?;
    let sent = fenced(networks::broadcast(&call.hub, &call.caller, &network, args.read()?).await?);
    ToolReply::new(&sent, format!("Sent to {} members. Message ID: {}", sent.recipients, sent.message_id))
}
