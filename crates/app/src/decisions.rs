//! The log of decisions at approval gates. It is written with the decision, by whichever way that came.

use tandem_core::text::SearchText;
use tandem_core::{AgentId, Now, Task, TaskId, Timestamp, Verdict, Way};
use tandem_store::decisions::{self as rows, Filter};
use tandem_store::{Tx, files};

pub use tandem_store::decisions::Decision;

use crate::{Error, Page, keys};

/// Files that the hash of a task's content covers.
const FILES_MAX: i64 = 1_000;
/// Decisions about one task that are looked at.
const OF_TASK_MAX: i64 = 100;

/// From where somebody decides, as the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub way: Way,
    /// The browser of a person, in words of ours.
    pub device: Option<String>,
    /// The beginning of the id of that browser's session.
    pub session: Option<String>,
    pub address: Option<String>,
}

impl Origin {
    #[must_use]
    pub fn of(way: Way) -> Self {
        Self { way, device: None, session: None, address: None }
    }
}

/// What is decided about a task that is held, before anything of it changes. It reads the files, so it comes before the
/// first write.
pub(crate) fn about(
    tx: &mut Tx<'_>,
    task: &Task,
    verdict: Verdict,
    note: Option<&str>,
    origin: Option<&Origin>,
    now: &Now,
) -> Result<Decision, Error> {
    let attached = match task.counts.messages {
        0 => Vec::new(),
        _ => files::first_of_task(tx, &task.id, FILES_MAX)?,
    };
    let names: Vec<(&str, &str, i64)> =
        attached.iter().map(|file| (file.name.as_str(), file.mime_type.as_str(), file.size_bytes)).collect();
    let content = serde_json::json!([task.content.title, task.content.description, names]).to_string();
    let of = |field: fn(&Origin) -> &Option<String>| origin.and_then(|origin| field(origin).clone());
    Ok(Decision {
        task: task.id.clone(),
        attempt: task.attempt.number,
        agent: task.target.clone(),
        at: now.at,
        asked_at: task.delivery.queued_at,
        verdict,
        title: task.content.title.clone(),
        sender: task.initiator.clone(),
        sender_name: task.initiator_name.clone(),
        note: note.filter(|note| !note.trim().is_empty()).map(Into::into),
        version: task.version,
        files: i64::try_from(attached.len()).unwrap_or(i64::MAX),
        content_hash: keys::sha256(content.as_bytes()).to_vec(),
        way: origin.map(|origin| origin.way),
        device: of(|origin| &origin.device),
        session: of(|origin| &origin.session),
        address: of(|origin| &origin.address),
    })
}

pub(crate) fn note(tx: &mut Tx<'_>, decision: &Decision) -> Result<(), Error> {
    Ok(rows::insert(tx, decision)?)
}

/// Which decisions are asked for.
#[derive(Debug, Clone, Default)]
pub struct Search {
    pub verdict: Option<Verdict>,
    pub sender: Option<AgentId>,
    pub since: Option<Timestamp>,
    pub text: Option<SearchText>,
    pub before: Option<(Timestamp, TaskId)>,
}

/// The caller's decisions, the newest first.
pub fn list(
    tx: &mut Tx<'_>,
    by: &AgentId,
    search: &Search,
    limit: i64,
) -> Result<Page<Decision, (Timestamp, TaskId)>, Error> {
    let Search { verdict, sender, since, text, before } = search.clone();
    let filter = Filter { verdict, sender, since, text, before, limit: limit + 1 };
    let found = rows::list(tx, by, &filter)?;
    Ok(Page::cut(found, limit, |decision| (decision.at, decision.task.clone())))
}

/// The decisions about each attempt of a task, for one of its parties. The caller has checked that it is one.
pub fn of_task(tx: &mut Tx<'_>, task: &TaskId) -> Result<Vec<Decision>, Error> {
    Ok(rows::of_task(tx, task, OF_TASK_MAX)?)
}
