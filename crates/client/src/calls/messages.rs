//! Messages.

use tandem_api::messages::{DeletedMessage, MessageView, SendMessage, SendToAgent};
use tandem_api::parts::AddArtifact;
use tandem_api::tasks::{AcknowledgedView, PageQuery, ReadView};
use tandem_core::{MessageId, TaskId};

use crate::call::Call;
use crate::{Client, Error, Page};

impl Client {
    /// Sends a message on a task.
    pub async fn send_message(&self, task: &TaskId, message: &SendMessage) -> Result<MessageView, Error> {
        self.call(&Call::post(format!("/tasks/{task}/messages")).json(message)).await
    }

    /// Hands over an artifact, as the target.
    pub async fn add_artifact(&self, task: &TaskId, artifact: &AddArtifact) -> Result<MessageView, Error> {
        self.call(&Call::post(format!("/tasks/{task}/artifacts")).json(artifact)).await
    }

    /// Sends a message to an agent without naming a task.
    pub async fn send_to_agent(&self, message: &SendToAgent) -> Result<MessageView, Error> {
        self.call(&Call::post("/messages").json(message)).await
    }

    /// The messages of a task, oldest first. The next page contains older ones.
    pub async fn messages(&self, task: &TaskId, query: &PageQuery) -> Result<Page<MessageView>, Error> {
        self.page(&Call::get(format!("/tasks/{task}/messages")).query(query)).await
    }

    /// Deletes one of the caller's messages.
    pub async fn delete_message(&self, task: &TaskId, message: &MessageId) -> Result<DeletedMessage, Error> {
        self.call(&Call::delete(format!("/tasks/{task}/messages/{message}"))).await
    }

    /// Returns the unread messages of a task and marks them as read.
    pub async fn read_messages(&self, task: &TaskId) -> Result<ReadView, Error> {
        self.call(&Call::post(format!("/tasks/{task}/read"))).await
    }

    /// Acknowledges a task and its messages.
    pub async fn acknowledge(&self, task: &TaskId) -> Result<AcknowledgedView, Error> {
        self.call(&Call::post(format!("/tasks/{task}/ack"))).await
    }
}
