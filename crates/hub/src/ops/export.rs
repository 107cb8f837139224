//! Everything that belongs to an agent, section by section. An export may be large and its reader slow, so at most a few
//! sections are in memory.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::TryStreamExt as _;
use tandem_api::agents::{BlockEntry, Profile};
use tandem_api::connections::ConnectionView;
use tandem_api::decisions::DecisionView;
use tandem_api::error::Code;
use tandem_api::events::EventView;
use tandem_api::export::ExportedFile;
use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskView;
use tandem_app::decisions::Search;
use tandem_app::limits::{Kind, Limit};
use tandem_app::{agents, blocks, connections, decisions, events, files, messages, tasks, webhooks};
use tandem_core::files::File;
use tandem_core::{AgentId, FileId, TaskId, Timestamp};
use tandem_store::tasks::Filter;
use tokio::sync::mpsc;
use tracing::Instrument as _;

use super::files::{PIECES_PER_CHECK, find};
use super::give_back;
use super::{
    blocks::entry, connections::view as connection_view, decisions::view as decision_view, events::view,
};
use crate::files as stored;
use crate::{Caller, Error, Hub, HubParts, UseCase};

/// How many bytes of files an export holds.
const FILE_BYTES_MAX: i64 = 45_000_000;
/// How many rows are read at once.
const PAGE: i64 = 500;
/// How many sections wait for the reader.
const SECTIONS: usize = 1;
/// The memory of an export: a section that is read, one that waits and one that is written, each as rows or as text.
const EXPORT_BYTES: usize = 16 * 1024 * 1024;

/// A part of an export. The parts come in the order of these variants; all but the first and the last may come several
/// times, or not at all.
#[derive(Debug)]
pub enum Section {
    Agent(Box<Profile>),
    Connections(Vec<ConnectionView>),
    Tasks(Vec<TaskView>),
    Messages(Vec<MessageView>),
    /// A file without its bytes.
    File(Box<ExportedFile>),
    /// A file whose bytes follow.
    FileBegins(Box<ExportedFile>),
    /// Bytes of that file, in base64.
    FileBytes(String),
    /// The end of that file.
    FileEnds {
        /// Whether all its bytes are there.
        complete: bool,
    },
    Decisions(Vec<DecisionView>),
    Blocks(Vec<BlockEntry>),
    Events(Vec<EventView>),
    /// The end: nothing is missing.
    Complete,
}

/// One export in some time.
fn limit_of(hub: &HubParts, caller: &Caller) -> Limit {
    let who = caller.agent.as_str().to_owned();
    Limit { kind: Kind::Exports, who, max: 1, seconds: hub.config.export_interval_seconds }
}

/// Refuses an export when the last one was not long ago, without counting one.
pub async fn check(hub: &HubParts, caller: &Caller) -> Result<(), Error> {
    let limit = limit_of(hub, caller);
    hub.read_for(caller.into(), move |tx, now| limit.admit(tx, now.at).map(drop)).await
}

/// Begins an export: its sections, as they are read. Refused when the last export was not long ago.
pub async fn start(hub: &Hub, caller: &Caller) -> Result<mpsc::Receiver<Section>, Error> {
    let held = hub.budget.hold(caller, EXPORT_BYTES)?;
    let limit = limit_of(hub, caller);
    hub.write(caller, move |tx, now| limit.admit(tx, now.at)?.count(tx)).await?;
    let (sections, written) = mpsc::channel(SECTIONS);
    let export = Export { hub: Hub::clone(hub), caller: caller.clone().with_memory(None), sections };
    let writing = async move {
        match export.write().await {
            Ok(()) | Err(ExportError::Reader) => {}
            Err(cause) => tracing::warn!(%cause, "an export was cut off"),
        }
        drop(held);
    };
    tokio::spawn(writing.in_current_span());
    Ok(written)
}

/// Allows another export at once, because the caller did not get this one.
pub async fn allow_again(hub: &HubParts, caller: &Caller) {
    give_back(hub, vec![limit_of(hub, caller)]).await;
}

/// Why an export is incomplete.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    /// The client has disconnected.
    #[error("the client disconnected")]
    Reader,
    #[error(transparent)]
    Refused(#[from] Error),
    #[error(transparent)]
    Files(#[from] stored::Error),
}

/// An export that is being written.
struct Export {
    hub: Hub,
    caller: Caller,
    sections: mpsc::Sender<Section>,
}

impl Export {
    /// Reads a page. Writing an export may take long, so each page checks that the key is still valid; who may see what
    /// is decided by the use cases, each time again.
    async fn read<T: Send + 'static>(&self, use_case: impl UseCase<T>) -> Result<T, Error> {
        self.hub.read_page_as(&self.caller, use_case).await
    }

    async fn put(&self, section: Section) -> Result<(), ExportError> {
        self.sections.send(section).await.map_err(|_| ExportError::Reader)
    }

    async fn write(&self) -> Result<(), ExportError> {
        let by = self.caller.agent.clone();
        let read = self.read(move |tx, _| Ok((agents::profile(tx, &by)?, webhooks::secret_format(tx, &by)?)));
        let (agent, secret_format) = read.await?;
        let seen = self.hub.presence(&agent).await;
        self.put(Section::Agent(Box::new(Profile::new(agent, seen, secret_format)))).await?;
        self.connections().await?;
        self.tasks().await?;
        self.messages().await?;
        self.files().await?;
        self.decisions().await?;
        self.blocks().await?;
        self.events().await?;
        self.put(Section::Complete).await
    }

    async fn connections(&self) -> Result<(), ExportError> {
        let mut before = None;
        loop {
            let (by, place) = (self.caller.agent.clone(), before.clone());
            let page = self.read(move |tx, _| connections::list(tx, &by, place.as_ref(), PAGE)).await?;
            let seen = self.hub.sightings(page.items.iter().map(|connection| &connection.peer.id)).await;
            let views = page.items.into_iter().map(|connection| connection_view(&seen, connection));
            self.put(Section::Connections(views.collect())).await?;
            before = page.next;
            if before.is_none() {
                return Ok(());
            }
        }
    }

    /// A page of the agent's tasks, newest first, and where the next one begins.
    async fn task_page(
        &self,
        before: Option<(Timestamp, TaskId)>,
    ) -> Result<tandem_app::Page<tandem_core::Task, (Timestamp, TaskId)>, Error> {
        let by = self.caller.agent.clone();
        let filter = Filter { before, limit: PAGE, ..Filter::default() };
        self.read(move |tx, now| tasks::list(tx, &by, &filter, now)).await
    }

    async fn tasks(&self) -> Result<(), ExportError> {
        let mut before = None;
        loop {
            let page = self.task_page(before).await?;
            let views = page.items.into_iter().map(|task| TaskView::new(task, &self.caller.agent));
            self.put(Section::Tasks(views.collect())).await?;
            before = page.next;
            if before.is_none() {
                return Ok(());
            }
        }
    }

    async fn messages(&self) -> Result<(), ExportError> {
        let mut before = None;
        loop {
            let page = self.task_page(before).await?;
            for task in page.items.iter().filter(|task| task.counts.messages > 0) {
                self.thread(&task.id).await?;
            }
            before = page.next;
            if before.is_none() {
                return Ok(());
            }
        }
    }

    /// One task's messages, the newest page first and each page oldest first.
    async fn thread(&self, task: &TaskId) -> Result<(), ExportError> {
        let mut before = None;
        loop {
            let (by, id) = (self.caller.agent.clone(), task.clone());
            let page = self.read(move |tx, now| messages::list(tx, &by, &id, before, PAGE, now)).await;
            let page = match page {
                // It was deleted, or given to somebody else, while this was being written.
                Err(gone) if gone.code() == Code::NotFound => return Ok(()),
                other => other?,
            };
            let views = page.items.into_iter().map(|message| MessageView::new(message, &self.caller.agent));
            self.put(Section::Messages(views.collect())).await?;
            before = page.next;
            if before.is_none() {
                return Ok(());
            }
        }
    }

    async fn files(&self) -> Result<(), ExportError> {
        let (mut before, mut room) = (None, FILE_BYTES_MAX);
        loop {
            let page = self.task_page(before).await?;
            for task in page.items.into_iter().filter(|task| task.counts.messages > 0) {
                let by = self.caller.agent.clone();
                let found = self.read(move |tx, now| files::of_task(tx, &by, &task.id, now)).await;
                let found = match found {
                    Err(gone) if gone.code() == Code::NotFound => continue,
                    other => other?,
                };
                for file in found {
                    room -= file.size_bytes;
                    self.file(file, room >= 0).await?;
                }
            }
            before = page.next;
            if before.is_none() {
                return Ok(());
            }
        }
    }

    /// Whether the agent may still see a file: its task may have been reassigned, or the file deleted, meanwhile.
    async fn may_see(&self, file: &FileId) -> Result<bool, Error> {
        match find(&self.hub, &self.caller, file).await {
            Err(gone) if gone.code() == Code::NotFound => Ok(false),
            other => other.map(|_| true),
        }
    }

    /// One file: with its bytes, or marked as without them.
    async fn file(&self, file: File, whole: bool) -> Result<(), ExportError> {
        let id = file.id.clone();
        if !self.may_see(&id).await? {
            return Ok(());
        }
        let bytes = match whole {
            true => self.hub.files.read_whole(&file.id, file.size_bytes.unsigned_abs()).await,
            false => Err(stored::Error::Missing),
        };
        let view = Box::new(ExportedFile::new(file, &self.caller.agent));
        let mut bytes = match bytes {
            // Too much for an export, or just deleted.
            Err(stored::Error::Missing) => return self.put(Section::File(view)).await,
            opened => opened?,
        };
        self.put(Section::FileBegins(view)).await?;
        let (mut rest, mut given) = (Vec::new(), 0_usize);
        loop {
            let piece = match bytes.try_next().await {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                // A part of it is lost for good. The rest of the export is whole.
                Err(cause) if stored::is_damaged(&cause) => {
                    return self.put(Section::FileEnds { complete: false }).await;
                }
                Err(cause) => return Err(stored::Error::from(cause).into()),
            };
            if given > 0 && given.is_multiple_of(PIECES_PER_CHECK) && !self.may_see(&id).await? {
                return self.put(Section::FileEnds { complete: false }).await;
            }
            given += 1;
            // Three bytes are four characters; what is left over waits for the next piece.
            rest.extend_from_slice(&piece);
            let whole = rest.len() / 3 * 3;
            self.put(Section::FileBytes(STANDARD.encode(&rest[..whole]))).await?;
            rest.drain(..whole);
        }
        self.put(Section::FileBytes(STANDARD.encode(&rest))).await?;
        self.put(Section::FileEnds { complete: true }).await
    }

    async fn decisions(&self) -> Result<(), ExportError> {
        let mut before = None;
        loop {
            let (by, search) = (self.caller.agent.clone(), Search { before, ..Search::default() });
            let page = self.read(move |tx, _| decisions::list(tx, &by, &search, PAGE)).await?;
            self.put(Section::Decisions(page.items.into_iter().map(decision_view).collect())).await?;
            before = page.next;
            if before.is_none() {
                return Ok(());
            }
        }
    }

    async fn blocks(&self) -> Result<(), ExportError> {
        let mut after: Option<AgentId> = None;
        loop {
            let (by, place) = (self.caller.agent.clone(), after.clone());
            let page = self.read(move |tx, _| blocks::list(tx, &by, place.as_ref(), PAGE)).await?;
            self.put(Section::Blocks(page.items.into_iter().map(entry).collect())).await?;
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    async fn events(&self) -> Result<(), ExportError> {
        let mut after = 0;
        loop {
            let by = self.caller.agent.clone();
            let page = self.read(move |tx, _| events::read(tx, &by, Some(after))).await?;
            self.put(Section::Events(page.events.into_iter().map(view).collect())).await?;
            after = page.cursor;
            if !page.has_more {
                return Ok(());
            }
        }
    }
}
