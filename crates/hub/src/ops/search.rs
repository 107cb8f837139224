//! What a person looks for: tasks by title, agents by name, messages by their words.

use tandem_api::connections::ConnectionView;
use tandem_api::tasks::PageQuery;
use tandem_app::search;
pub use tandem_app::search::Hit;
use tandem_core::text::{SearchText, searchable};

use super::needs::{self, Followed, Selection};
use super::{connections, paging};
use crate::{Caller, Error, HubParts};

/// Hits of each kind.
pub const HITS_MAX: usize = 8;
/// Connections among which agents are searched.
const CONNECTIONS_MAX: i64 = 1_000;

#[derive(Debug, Default)]
pub struct Found {
    pub tasks: Vec<Followed>,
    pub agents: Vec<ConnectionView>,
    pub messages: Vec<Hit>,
}

/// Everything of the caller's that has these words.
pub async fn all(hub: &HubParts, caller: &Caller, words: SearchText) -> Result<Found, Error> {
    let limit = i64::try_from(HITS_MAX).unwrap_or(1);
    let selection = Selection { text: Some(words.clone()), ..Selection::default() };
    let tasks = needs::tasks(hub, caller, selection, limit).await?.items;
    let wanted = searchable(words.as_str().trim());
    let query = PageQuery { limit: Some(CONNECTIONS_MAX), cursor: None };
    let connected = connections::list(hub, caller, query, paging::WHOLE).await?.items;
    let is_it = |one: &ConnectionView| {
        let alias = one.alias.as_ref().is_some_and(|alias| searchable(alias.as_str()).contains(&wanted));
        alias || searchable(one.connected.agent_name.as_str()).contains(&wanted)
    };
    let agents = connected.into_iter().filter(is_it).take(HITS_MAX).collect();
    let by = caller.agent.clone();
    let messages = hub.read_page(caller, move |tx, _| search::messages(tx, &by, &words, HITS_MAX)).await?;
    Ok(Found { tasks, agents, messages })
}
