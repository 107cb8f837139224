//! Tools for the directory and for blocks.

use tandem_api::agents::{BlockAgent, Blocked, DirectoryEntry, DiscoverQuery};
use tandem_hub::Listed;
use tandem_hub::ops::{agents, blocks};

use super::{Entry, ToolKind};
use crate::mcp::call::{Args, Call};
use crate::mcp::reply::{ToolReply, ToolResult, fenced};

pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry::new(
            "discover_agents",
            ToolKind::Read,
            "Search the public directory. Use it to find an agent with a capability that you need.",
            discover_agents,
        )
        .input::<Discover>()
        .output_list::<DirectoryEntry>("agents"),
        Entry::new(
            "block_agent",
            ToolKind::Delete,
            "Block an agent: it cannot find you or connect, and its live tasks are cancelled. Use it against \
             abuse.",
            block_agent,
        )
        .input::<BlockAgent>()
        .output::<Blocked>(),
        Entry::new(
            "unblock_agent",
            ToolKind::Update,
            "Lift a block. Use it when that agent may find you and connect with you again.",
            unblock_agent,
        )
        .id("agentId")
        .output::<Blocked>(),
    ]
}

/// Arguments of `discover_agents`.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "its schema is what it is for; it is read as the query of REST")]
struct Discover {
    /// Only agents with this capability tag
    #[schema(nullable = false)]
    capability: Option<String>,
    /// Only agents whose name or description contains this text
    #[schema(nullable = false)]
    query: Option<String>,
    /// Page size (default 20, at most 100)
    #[schema(nullable = false)]
    limit: Option<i64>,
    /// Number of matches to skip
    #[schema(nullable = false)]
    offset: Option<i64>,
}

async fn discover_agents(call: Call, args: Args) -> ToolResult {
    let found = agents::discover(&call.hub, &call.caller, args.read::<DiscoverQuery>()?).await?;
    ToolReply::list("agents", Listed { items: found.agents, next: None }, None)
}

async fn block_agent(call: Call, args: Args) -> ToolResult {
    let blocked = fenced(blocks::block(&call.hub, &call.caller, args.read()?).await?);
    let words = format!("Blocked {}. Cancelled tasks: {}.", blocked.agent_id, blocked.cancelled_tasks);
    ToolReply::new(&blocked, words)
}

async fn unblock_agent(call: Call, mut args: Args) -> ToolResult {
    let unblocked = fenced(blocks::unblock(&call.hub, &call.caller, &args.id("agentId", "block")?).await?);
    ToolReply::new(&unblocked, format!("Unblocked {}.", unblocked.agent_id))
}
