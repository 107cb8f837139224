//! Blocks.

use tandem_api::agents::{BlockAgent, BlockEntry, Blocked};
use tandem_api::tasks::PageQuery;
use tandem_api::text::PeerName;
use tandem_app::blocks;
use tandem_core::AgentId;

use crate::ops::paging;
use crate::{Caller, Error, HubParts, Listed};

/// Blocks an agent. The connection with it ends, and the live tasks are cancelled.
pub async fn block(hub: &HubParts, caller: &Caller, body: BlockAgent) -> Result<Blocked, Error> {
    let (by, agent) = (caller.agent.clone(), body.agent_id);
    let blocked = hub
        .write_once(caller, move |tx, now| {
            let cancelled_tasks = blocks::block(tx, &by, &agent, now)?;
            Ok(Blocked { agent_id: agent.clone(), blocked: true, cancelled_tasks })
        })
        .await?;
    hub.cancel_rest(blocked.cancelled_tasks).await;
    Ok(blocked)
}

pub async fn unblock(hub: &HubParts, caller: &Caller, agent: &AgentId) -> Result<Blocked, Error> {
    let (by, unblocked) = (caller.agent.clone(), agent.clone());
    hub.write(caller, move |tx, _| blocks::unblock(tx, &by, &unblocked)).await?;
    Ok(Blocked { agent_id: agent.clone(), blocked: false, cancelled_tasks: 0 })
}

pub async fn list(hub: &HubParts, caller: &Caller, query: PageQuery) -> Result<Listed<BlockEntry>, Error> {
    let limit = paging::LIST.of(query.limit)?;
    let after = paging::id(query.cursor.as_deref())?;
    let by = caller.agent.clone();
    let page = hub.read(caller, move |tx, _| blocks::list(tx, &by, after.as_ref(), limit)).await?;
    Ok(Listed::new(page, entry, ToString::to_string))
}

pub(super) fn entry(block: tandem_store::blocks::Block) -> BlockEntry {
    BlockEntry { agent_id: block.agent, agent_name: PeerName::peer(block.name), created_at: block.created_at }
}
