//! Messages by their words.

use tandem_core::text::{SearchText, searchable};
use tandem_core::{AgentId, TaskId};
use tandem_store::tasks::{self, Filter};
use tandem_store::{Tx, messages as rows};

use crate::Error;

/// Tasks whose messages one search goes through, and messages of each.
const SEARCHED_TASKS: i64 = 40;
const SEARCHED_MESSAGES: i64 = 40;

/// A text in which a search found its words.
#[derive(Debug, Clone)]
pub struct Hit {
    pub task: TaskId,
    pub title: String,
    pub said: rows::Said,
}

/// The newest texts with these words, among the newest messages of the caller's newest tasks.
pub fn messages(tx: &mut Tx<'_>, by: &AgentId, words: &SearchText, limit: usize) -> Result<Vec<Hit>, Error> {
    let wanted = searchable(words.as_str().trim());
    let filter = Filter { brief: true, limit: SEARCHED_TASKS, ..Filter::default() };
    let newest = tasks::list(tx, by, &filter)?.tasks;
    let mut hits = Vec::new();
    for task in newest.into_iter().filter(|task| task.counts.messages > 0 && !task.content.encrypted) {
        for said in rows::newest_texts(tx, &task.id, SEARCHED_MESSAGES)? {
            if searchable(&said.text).contains(&wanted) {
                hits.push(Hit { task: task.id.clone(), title: task.content.title.clone(), said });
            }
        }
    }
    hits.sort_by_key(|hit| std::cmp::Reverse(hit.said.at));
    hits.truncate(limit);
    Ok(hits)
}
