//! The log of an agent's decisions at its gate, for its owner.

use tandem_api::decisions::DecisionView;
use tandem_api::text::{HubText, PeerName, PeerText};
use tandem_app::decisions::{self, Decision};
pub use tandem_app::decisions::{Origin, Search};
use tandem_app::keys;

use super::paging;
use crate::{Caller, Error, HubParts, Listed};

/// The caller's decisions, the newest first.
pub async fn list(
    hub: &HubParts,
    caller: &Caller,
    search: Search,
    cursor: Option<&str>,
    limit: i64,
) -> Result<Listed<DecisionView>, Error> {
    let search = Search { before: paging::place(cursor)?, ..search };
    let (by, limit) = (caller.agent.clone(), paging::LIST.of(Some(limit))?);
    let page = hub.read_page(caller, move |tx, _| decisions::list(tx, &by, &search, limit)).await?;
    Ok(Listed::new(page, view, paging::cursor))
}

pub(super) fn view(decision: Decision) -> DecisionView {
    DecisionView {
        decided_at: decision.at,
        verdict: decision.verdict,
        task_id: decision.task,
        attempt: decision.attempt,
        title: PeerText::peer(decision.title),
        sender_agent_id: decision.sender,
        sender_agent_name: PeerName::peer(decision.sender_name),
        note: decision.note.map(PeerText::own),
        version: decision.version,
        files: decision.files,
        content_sha256: HubText::new(keys::hex(&decision.content_hash)),
        way: decision.way,
        device: decision.device.map(HubText::new),
        session: decision.session.map(HubText::new),
        address: decision.address.map(HubText::new),
    }
}
