//! Sealing: encrypted tasks, and messages, replies and files on them. What is sealed is sealed once: a repeated call
//! sends the same content with the same idempotency key.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use tandem_api::actor::Actor;
use tandem_api::files::{UploadFile, UploadedFile};
use tandem_api::messages::{MessageView, SendMessage};
use tandem_api::tasks::{CreateTask, RepliedView, ReplyTask, TaskView};
use tandem_api::text::{PeerContent, PeerText};
use tandem_core::files::FILE_BYTES_MAX;
use tandem_core::messages::ContentType;
use tandem_core::text::{Alias, Body, Title, Unfit};
use tandem_core::{AgentId, TaskId};
use tandem_seal::{
    CLEAR_FILENAME, CLEAR_MIME_TYPE, CLEAR_TITLE, Description, Envelope, File, Message, Sealed,
};

use super::known_tasks::new_task_id;
use super::unsigned::{leave_out_of_message, leave_out_of_task};
use crate::call::Call;
use crate::{Client, Error};

/// Bytes that encryption adds to a file: the JSON around it, IV and tag. Names are counted on their own.
const FILE_OVERHEAD_BYTES: usize = 128;
/// More time for an upload or a download: a large file over a slow line.
pub(super) const TRANSFER_MAX: Duration = Duration::from_secs(900);

impl Client {
    /// Creates an encrypted task for `peer`. Title and description are given in the clear, and the answer contains them
    /// in the clear; the hub gets them sealed. An id is made if `task` has none.
    pub async fn create_encrypted_task(
        &self,
        mut task: CreateTask,
        peer: &AgentId,
    ) -> Result<TaskView, Error> {
        let id = match task.id.take() {
            Some(id) => id,
            None => new_task_id()?,
        };
        let clear = Description {
            title: task.title.into(),
            description: task.description.take().map(String::from).unwrap_or_default(),
        };
        let sealed = self.seal(&id, peer, clear.clone()).await?;
        // Before the call: the task may exist although the answer is lost.
        self.keyring()?.pins()?.choose_peer(&id, peer)?;
        let sent = CreateTask {
            target_agent_id: fits(Alias::try_from(peer.to_string()))?,
            title: fits(Title::try_from(CLEAR_TITLE.to_owned()))?,
            description: Some(fits(Body::try_from(sealed.content))?),
            id: Some(id.clone()),
            encrypted: Some(true),
            description_keys: Some(sealed.keys),
            sender_signature: Some(sealed.signature),
            ..task
        };
        let mut view = self.create_task(&sent).await?;
        self.check_id(&id, &view)?;
        // Files and messages go where this view says.
        if !self.is_encrypted(&view)? || self.peer_of(&view)? != peer {
            return Err(Error::Unreadable(format!("the hub presents {id} as another task than was created")));
        }
        leave_out_of_task(&mut view);
        self.name_parties(&mut view);
        view.title = PeerText::own(clear.title);
        view.description = describe(clear.description, PeerText::own);
        view.description_keys = None;
        view.sender_signature = None;
        Ok(view)
    }

    /// Sends a message on a task: sealed if the task is encrypted. The answer contains the content in the clear.
    pub async fn say(&self, task: &TaskView, message: SendMessage) -> Result<MessageView, Error> {
        let Some(content_type) = self.clear_type(task, message.content_type)? else {
            return self.send_message(&task.id, &message).await;
        };
        let clear: String = message.content.into();
        let sealed = self.seal_message(task, content_type, clear.clone()).await?;
        let sent = SendMessage {
            content: fits(Body::try_from(sealed.content))?,
            content_type: Some(ContentType::Encrypted),
            encrypted_keys: Some(sealed.keys),
            sender_signature: Some(sealed.signature),
            ..message
        };
        let mut view = self.send_message(&task.id, &sent).await?;
        self.show_own(&mut view, content_type, clear);
        Ok(view)
    }

    /// Delivers the result of a task, as its target: sealed if the task is encrypted. The answer contains the content
    /// in the clear.
    pub async fn deliver(&self, task: &TaskView, reply: ReplyTask) -> Result<RepliedView, Error> {
        let Some(content_type) = self.clear_type(task, reply.content_type)? else {
            return self.reply(&task.id, &reply).await;
        };
        let clear: String = reply.content.into();
        let sealed = self.seal_message(task, content_type, clear.clone()).await?;
        let sent = ReplyTask {
            content: fits(Body::try_from(sealed.content))?,
            content_type: Some(ContentType::Encrypted),
            encrypted_keys: Some(sealed.keys),
            sender_signature: Some(sealed.signature),
            ..reply
        };
        let mut view = self.reply(&task.id, &sent).await?;
        view.task = self.open_description(view.task).await.view;
        view.task.result = Some(PeerContent::Prose(PeerText::own(clear.clone())));
        self.show_own(&mut view.message, content_type, clear);
        Ok(view)
    }

    /// Seals a file and uploads it to an encrypted task. The answer contains its real name and type; its size is the
    /// one that the hub stores.
    pub async fn upload_sealed(
        &self,
        task: &TaskView,
        filename: &str,
        mime_type: &str,
        bytes: Vec<u8>,
    ) -> Result<UploadedFile, Error> {
        let size = sealed_file_size(filename, mime_type, bytes.len());
        if size > FILE_BYTES_MAX {
            return Err(Error::TooLarge { size, max: FILE_BYTES_MAX });
        }
        let peer = self.known_peer(task).await?;
        let file = File { filename: filename.to_owned(), mime_type: mime_type.to_owned(), data: bytes };
        let sealed = self.seal(&task.id, peer, file).await?;
        let upload = UploadFile {
            filename: CLEAR_FILENAME.to_owned(),
            mime_type: CLEAR_MIME_TYPE.to_owned(),
            base64_content: Cow::Owned(sealed.content),
            encrypted_keys: Some(sealed.keys),
            sender_signature: Some(sealed.signature),
        };
        let call = Call::post(format!("/tasks/{}/files/json", task.id)).json(&upload).waiting(TRANSFER_MAX);
        drop(upload);
        let mut view: UploadedFile = self.call(&call).await?;
        view.filename = PeerText::own(filename);
        view.mime_type = PeerText::own(mime_type);
        Ok(view)
    }

    /// How the content is to be sealed; `None` if it goes out as it is: the task is plain, or the content is sealed already.
    fn clear_type(&self, task: &TaskView, given: Option<ContentType>) -> Result<Option<ContentType>, Error> {
        let is_encrypted = self.is_encrypted(task)?;
        Ok(match given.unwrap_or(ContentType::Text) {
            content_type @ (ContentType::Text | ContentType::Json) => is_encrypted.then_some(content_type),
            ContentType::File | ContentType::Encrypted => None,
        })
    }

    async fn seal_message(
        &self,
        task: &TaskView,
        content_type: ContentType,
        body: String,
    ) -> Result<Sealed, Error> {
        let content_type = match content_type {
            ContentType::Json => tandem_seal::ContentType::Json,
            _ => tandem_seal::ContentType::Text,
        };
        self.seal(&task.id, self.known_peer(task).await?, Message { content_type, body }).await
    }

    /// The other participant of an existing task. One that is not known yet must have signed the task.
    async fn known_peer<'a>(&self, task: &'a TaskView) -> Result<&'a AgentId, Error> {
        let peer = self.pinnable_peer(task)?;
        let keyring = self.keyring()?;
        if *peer == task.initiator_agent_id && keyring.pins()?.peer(&task.id).is_none() {
            match self.description_of(task).await {
                // The signature is checked first. An agent with a new key cannot read the task, but can go on with it.
                Err(Error::Seal(tandem_seal::Error::Closed)) => {
                    keyring.pins()?.remember_peer(&task.id, peer)?;
                }
                described => drop(described?),
            }
        }
        Ok(peer)
    }

    /// Shows a message of the caller in the clear.
    fn show_own(&self, view: &mut MessageView, content_type: ContentType, clear: String) {
        leave_out_of_message(view);
        if let Ok(keyring) = self.keyring() {
            view.sender_agent_id = Actor::Agent(keyring.agent().clone());
            view.sender_agent_name = Some(self.known_name(keyring.agent()));
        }
        view.content = PeerContent::Prose(PeerText::own(clear));
        view.content_type = content_type;
        view.encrypted_keys = None;
        view.sender_signature = None;
    }

    /// Seals an envelope for the caller and `peer`, away from the async threads: RSA takes milliseconds.
    async fn seal<E: Envelope + Send + 'static>(
        &self,
        task: &TaskId,
        peer: &AgentId,
        envelope: E,
    ) -> Result<Sealed, Error> {
        let keyring = self.keyring()?;
        let key = Arc::clone(keyring.key()?);
        let peer_key = self.key_for_sealing(peer).await?;
        let (task, me, peer) = (task.clone(), keyring.agent().clone(), peer.clone());
        blocking(move || {
            let recipients = [(me.as_str(), key.public()), (peer.as_str(), &peer_key)];
            envelope.seal(task.as_str(), &key, recipients)
        })
        .await
    }
}

/// Runs a calculation on a thread for blocking work.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, tandem_seal::Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        // The runtime is shutting down.
        Err(cause) => Err(Error::Unreadable(cause.to_string())),
    }
}

/// The description for a view; an empty one is none.
pub(super) fn describe(text: String, by: impl Fn(String) -> PeerText) -> Option<PeerContent> {
    (!text.is_empty()).then(|| PeerContent::Prose(by(text)))
}

/// The size of a file after encryption, rounded up by a few bytes.
fn sealed_file_size(filename: &str, mime_type: &str, bytes: usize) -> u64 {
    let json = |text: &str| tandem_core::text::json_bytes(text);
    let base64 = bytes.div_ceil(3).saturating_mul(4);
    let all = base64.saturating_add(json(filename) + json(mime_type) + FILE_OVERHEAD_BYTES);
    u64::try_from(all).unwrap_or(u64::MAX)
}

/// Base64 and the fixed texts of this file fit their types; the error is for completeness.
fn fits<T>(checked: Result<T, Unfit>) -> Result<T, Error> {
    checked.map_err(|why| Error::Unreadable(format!("a sealed field {why}")))
}
