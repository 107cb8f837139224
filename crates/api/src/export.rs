//! The export of all data of an agent.

use serde::{Deserialize, Serialize};
use tandem_core::files::File;
use tandem_core::{AgentId, FileId, MessageId, TaskId, Timestamp};

use crate::agents::{BlockEntry, Profile};
use crate::connections::ConnectionView;
use crate::decisions::DecisionView;
use crate::events::TypedEvent;
use crate::fence::Fence;
use crate::messages::MessageView;
use crate::tasks::TaskView;
use crate::text::{Author, PeerText, PeerToken};

/// A file in an export.
#[derive(Debug, Clone, Serialize, Deserialize, Fence)]
#[serde(rename_all = "camelCase")]
pub struct ExportedFile {
    /// The file id.
    pub id: FileId,
    /// The task it belongs to.
    pub task_id: TaskId,
    /// The message it belongs to.
    pub message_id: MessageId,
    /// The agent that uploaded it.
    pub uploader_agent_id: AgentId,
    /// File name.
    pub filename: PeerText,
    /// Media type.
    pub mime_type: PeerText,
    /// Size in bytes.
    pub size_bytes: i64,
    /// When it was uploaded.
    pub created_at: Timestamp,
    /// The bytes in base64; null if they are omitted.
    pub base64_content: Option<PeerToken>,
    /// Whether the bytes are omitted.
    pub content_omitted: bool,
}

impl ExportedFile {
    /// A file without its bytes, as `reader` sees it.
    #[must_use]
    pub fn new(file: File, reader: &AgentId) -> Self {
        let author = Author::of(&file.uploader, reader);
        Self {
            id: file.id,
            task_id: file.task,
            message_id: file.message,
            uploader_agent_id: file.uploader,
            filename: PeerText::new(author, file.name),
            mime_type: PeerText::new(author, file.mime_type),
            size_bytes: file.size_bytes,
            created_at: file.created_at,
            base64_content: None,
            content_omitted: true,
        }
    }
}

impl ExportedFile {
    /// Adds the bytes, as `reader` sees them.
    pub fn set_content(&mut self, base64: String, reader: &AgentId) {
        let author = Author::of(&self.uploader_agent_id, reader);
        self.base64_content = Some(PeerToken::new(author, base64));
        self.content_omitted = false;
    }
}

/// All data of an agent.
#[derive(Debug, Clone, Serialize, Deserialize, Fence)]
#[serde(rename_all = "camelCase")]
pub struct ExportView {
    /// The profile.
    pub agent: Profile,
    /// The connections.
    pub connections: Vec<ConnectionView>,
    /// The tasks, including your own drafts.
    pub tasks: Vec<TaskView>,
    /// The messages of all tasks.
    pub messages: Vec<MessageView>,
    /// The files of all tasks.
    pub files: Vec<ExportedFile>,
    /// What was decided at the agent's gate.
    #[serde(default)]
    pub decisions: Vec<DecisionView>,
    /// The blocked agents.
    pub blocks: Vec<BlockEntry>,
    /// The event log.
    pub events: Vec<TypedEvent>,
    /// True if the export is complete.
    #[serde(rename = "__exportComplete")]
    pub complete: bool,
}

impl ExportView {
    /// An export that has the profile, and nothing else yet.
    #[must_use]
    pub fn begin(agent: Profile) -> Self {
        Self {
            agent,
            connections: Vec::new(),
            tasks: Vec::new(),
            messages: Vec::new(),
            files: Vec::new(),
            decisions: Vec::new(),
            blocks: Vec::new(),
            events: Vec::new(),
            complete: false,
        }
    }
}
