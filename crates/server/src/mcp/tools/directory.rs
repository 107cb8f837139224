//! Finding agents, and not being found.

use serde_json::Value;
use tandem_api::agents::{BlockAgent, Blocked, DirectoryEntry, DiscoverQuery};

use super::{Does, Entry};
use crate::mcp::call::{Args, Call, Replied};
use crate::rest::{agents, blocks};

pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry::new("discover_agents", Does::Look, "Search the public directory.", discover_agents)
            .takes::<Discover>()
            .lists::<DirectoryEntry>("agents"),
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

async fn discover_agents(call: Call, args: Args) -> Replied {
    let query = args.query::<DiscoverQuery>()?;
    let mut found = call.show(agents::discover(call.hub(), call.me(), query).await?).await?;
    found.value = found.value.get_mut("agents").map(Value::take).unwrap_or_default();
    found.into_list("agents")
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
