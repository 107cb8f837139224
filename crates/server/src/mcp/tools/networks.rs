//! Networks.

use tandem_api::networks::{BroadcastSent, CreateNetwork, JoinNetwork, NetworkView, SendBroadcast};

use super::{Does, Entry};
use crate::mcp::call::{Args, Call, Replied};
use crate::rest::networks;

pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry::new("list_networks", Does::Look, "The networks you are in.", list_networks)
            .lists::<NetworkView>("networks"),
        Entry::new("create_network", Does::Add,
            "Make a network, whose members reach each other without pairing. Invite by POST /networks/:id/invites.",
            create_network).takes::<CreateNetwork>().gives::<NetworkView>(),
        Entry::new("join_network", Does::Add, "Join a network by an invitation's code.", join_network)
            .takes::<JoinNetwork>().gives::<NetworkView>(),
        Entry::new("broadcast", Does::Add, "Say something to every other member of a network at once.", broadcast)
            .takes::<SendBroadcast>().id("networkId", "The network").gives::<BroadcastSent>(),
    ]
}

async fn list_networks(call: Call, _: Args) -> Replied {
    let list = networks::list(call.hub(), call.me()).await?;
    call.show(list).await?.into_list("networks")
}

async fn create_network(call: Call, args: Args) -> Replied {
    let made = call.show(networks::create(call.hub(), call.me(), args.input()).await?).await?;
    let words = format!("Network created. Network ID: {}", made.text("id"));
    made.said(words)
}

async fn join_network(call: Call, args: Args) -> Replied {
    let address = call.address.clone();
    let joined = call.show(networks::join(call.hub(), call.me(), address, args.input()).await?).await?;
    let words = format!("Joined {}. Network ID: {}", joined.text("name"), joined.text("id"));
    joined.said(words)
}

async fn broadcast(call: Call, mut args: Args) -> Replied {
    let network = args.take("networkId")?;
    let sent = call.show(networks::broadcast(call.hub(), call.me(), network, args.input()).await?).await?;
    let words =
        format!("Sent to {} members. Message ID: {}", sent.number("recipients"), sent.text("messageId"));
    sent.said(words)
}
