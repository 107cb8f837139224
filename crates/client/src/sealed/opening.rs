//! Opening what other agents have sealed. Content counts as verified only if the sender's pinned key has signed it. What
//! cannot be opened is left out, with the reason: the hub could have written it, so no caller may take it for a peer's.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream;
use tandem_api::actor::Actor;
use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskView;
use tandem_api::text::{Author, PeerContent, PeerText, PeerToken, WrappedKeys};
use tandem_core::files::safe_name;
use tandem_core::messages::{ContentType, DELETED};
use tandem_core::{AgentId, FileId, TaskId};
use tandem_seal::{
    CLEAR_FILENAME, CLEAR_TITLE, Description, Envelope, File, Message, PublicKey, Sealed, from_stored,
};

use super::seen::sealed_text;
use super::sending::{TRANSFER_MAX, blocking, describe};
use super::unsigned::{leave_out_of_message, leave_out_of_task};
use crate::call::Call;
use crate::{Client, Error, each_page};

/// File ids are shorter than this, sealed content is longer.
const FILE_ID_CHARS_MAX: usize = 30;
/// Contents that are opened at the same time.
const AT_ONCE: usize = 4;

/// A view with its content in the clear, as far as it could be opened.
#[derive(Debug, Clone)]
pub struct Opened<T> {
    /// The view. Where the content was opened, keys and signature are null. Content of an encrypted task that could not be
    /// opened is left out: the title is the one that all encrypted tasks have, other texts are null or empty.
    pub view: T,
    /// What is known about its content.
    pub trust: Trust,
}

/// What is known about a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// It is not encrypted, and is not meant to be: the task is plain, or the message is the hub's own.
    Plain,
    /// It was encrypted, and the sender's pinned key has signed it.
    Verified,
    /// It is an encrypted file: opened and verified when it is downloaded. The content type of the message is `file`.
    Unopened,
    /// It is on an encrypted task and could not be opened or verified. The reason may contain names that others chose.
    Unreadable(String),
}

impl Trust {
    /// A word for programs: `plain`, `verified`, `unopened` (a file that is opened when it is downloaded) or `unreadable`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Verified => "verified",
            Self::Unopened => "unopened",
            Self::Unreadable(_) => "unreadable",
        }
    }

    /// Why the content could not be opened or verified.
    #[must_use]
    pub fn why_unreadable(&self) -> Option<&str> {
        match self {
            Self::Unreadable(why) => Some(why),
            _ => None,
        }
    }
}

/// A file with its real name, type and content; the sender's pinned key has signed it.
#[derive(Debug, Clone)]
pub struct OpenedFile {
    /// The name that the sender gave it, without folders and control characters.
    pub filename: String,
    /// The media type that the sender gave it.
    pub mime_type: String,
    /// The content.
    pub bytes: Vec<u8>,
}

impl Client {
    /// Opens title, description and result of a task. Give the view as the hub sent it. What cannot be opened is left
    /// out. A plain task stays as it is.
    pub async fn open_task(&self, task: TaskView) -> Opened<TaskView> {
        let result = task.result.clone();
        let mut opened = self.open_description(task).await;
        let Some(sealed) = result.filter(|_| opened.trust != Trust::Plain) else { return opened };
        match self.open_result(&opened.view, sealed.as_str()).await {
            Ok(clear) => {
                let by = self.author(&opened.view.target_agent_id);
                opened.view.result = Some(PeerContent::Prose(PeerText::new(by, clear.body)));
            }
            Err(why) if opened.trust == Trust::Verified => opened.trust = Trust::Unreadable(reason(&why)),
            Err(_) => {}
        }
        opened
    }

    /// Opens title and description of a task, and leaves out the result of an encrypted one. It needs no call if the
    /// initiator's key is pinned.
    pub async fn open_description(&self, mut task: TaskView) -> Opened<TaskView> {
        let clear = match self.is_encrypted(&task) {
            Ok(true) => self.description_of(&task).await,
            Ok(false) => return Opened { view: task, trust: Trust::Plain },
            Err(why) => Err(why),
        };
        task.result = None;
        leave_out_of_task(&mut task);
        self.name_parties(&mut task);
        let trust = match clear {
            Ok(clear) => {
                let by = self.author(&task.initiator_agent_id);
                task.title = PeerText::new(by, clear.title);
                task.description = describe(clear.description, |text| PeerText::new(by, text));
                task.description_keys = None;
                task.sender_signature = None;
                Trust::Verified
            }
            Err(why) => {
                task.title = PeerText::hub(CLEAR_TITLE);
                task.description = None;
                Trust::Unreadable(reason(&why))
            }
        };
        Opened { view: task, trust }
    }

    /// Opens the description. That the task is encrypted is remembered, whether it can be opened or not.
    pub(super) async fn description_of(&self, task: &TaskView) -> Result<Description, Error> {
        let opened = self.signed_description(task).await;
        self.keyring()?.pins()?.remember_sealed(&task.id)?;
        opened
    }

    /// Opens the description. The other agent that has signed it is remembered as a party of the task.
    async fn signed_description(&self, task: &TaskView) -> Result<Description, Error> {
        let keyring = self.keyring()?;
        let is_own = keyring.agent() == &task.initiator_agent_id;
        // The caller's own key is at hand, whoever the other one is.
        let peer = if is_own { self.peer_of(task)? } else { self.pinnable_peer(task)? };
        let content = task.description.as_ref().map_or("", PeerContent::as_str);
        let sealed = sealed(content, task.description_keys.as_ref(), task.sender_signature.as_ref())?;
        let clear = self.open_by(&task.id, &task.initiator_agent_id, sealed).await?;
        if !is_own {
            keyring.pins()?.remember_peer(&task.id, peer)?;
        }
        Ok(clear)
    }

    /// The task has no keys and signature for its result; they are with the message that delivered it.
    async fn open_result(&self, task: &TaskView, content: &str) -> Result<Message, Error> {
        self.pinnable_peer(task)?;
        let read = async |query| self.messages(&task.id, &query).await;
        let mut reply = None;
        each_page(1_000, read, |page| {
            reply = page.into_iter().rev().find(|message| message.content.as_str() == content);
            reply.is_none()
        })
        .await?;
        let reply = reply.ok_or_else(|| unreadable("the message with the keys of the result is gone"))?;
        let sealed = sealed(content, reply.encrypted_keys.as_ref(), reply.sender_signature.as_ref())?;
        self.open_by(&task.id, &task.target_agent_id, sealed).await
    }

    /// Opens the messages of a task. Give the views as the hub sent them. On an encrypted task the content of a message
    /// that is not verified is left out, except that of the hub's own messages, which then have no agent's name.
    pub async fn open_messages(
        &self,
        task: &TaskView,
        mut messages: Vec<MessageView>,
    ) -> Vec<Opened<MessageView>> {
        let sealed_texts: Vec<_> = messages.iter().map(sealed_text).collect();
        // The senders' keys first, so that none is asked for twice.
        let mut keys: HashMap<AgentId, Result<PublicKey, String>> = HashMap::new();
        for sender in messages.iter().filter_map(sealed_by) {
            if !keys.contains_key(sender) {
                let key = self.participant_key(task, sender).await;
                keys.insert(sender.clone(), key.map_err(|why| reason(&why)));
            }
        }
        self.name_senders(task, &mut messages);
        let is_plain = matches!(self.is_encrypted(task), Ok(false));
        if !is_plain {
            messages.iter_mut().for_each(leave_out_of_message);
        }
        let open = async |message: MessageView| match message.content_type {
            ContentType::Encrypted => self.open_message(&task.id, &keys, message).await,
            _ if is_plain => (Opened { view: message, trust: Trust::Plain }, false),
            _ => (unsealed(message), false),
        };
        let opened: Vec<_> = stream::iter(messages).map(open).buffered(AT_ONCE).collect().await;
        let mut shown = Vec::with_capacity(opened.len());
        let mut changed: HashMap<AgentId, Option<String>> = HashMap::new();
        for (mut one, forged) in opened {
            if let Some(sender) = sealed_by(&one.view).filter(|_| forged).cloned() {
                // One question per sender, however many of its messages fail.
                if !changed.contains_key(&sender) {
                    let why = self.changed_key(&sender).await.map(|why| reason(&why));
                    changed.insert(sender.clone(), why);
                }
                if let Some(Some(why)) = changed.get(&sender) {
                    one.trust = Trust::Unreadable(why.clone());
                }
            }
            shown.push(one);
        }
        self.refuse_repeated(task, &mut shown, &sealed_texts);
        shown
    }

    /// Opens one message. Also returns whether its signature was wrong.
    async fn open_message(
        &self,
        task: &TaskId,
        keys: &HashMap<AgentId, Result<PublicKey, String>>,
        mut message: MessageView,
    ) -> (Opened<MessageView>, bool) {
        if message.content.as_str() == DELETED {
            return (unsealed(message), false);
        }
        if is_file_id(message.content.as_str()) {
            message.content_type = ContentType::File;
            return (Opened { view: message, trust: Trust::Unopened }, false);
        }
        let Some((sender, key)) = sealed_by(&message).and_then(|sender| keys.get_key_value(sender)) else {
            return (without_content(message, "it has no sender".into()), false);
        };
        let opened = match key {
            Ok(key) => self.message_by(task, key, &message).await,
            Err(why) => Err(unreadable(why)),
        };
        let forged = matches!(&opened, Err(Error::Seal(tandem_seal::Error::Signature(_))));
        let opened = match opened {
            Ok(clear) => {
                message.content = PeerContent::Prose(PeerText::new(self.author(sender), clear.body));
                message.content_type = match clear.content_type {
                    tandem_seal::ContentType::Text => ContentType::Text,
                    tandem_seal::ContentType::Json => ContentType::Json,
                };
                message.encrypted_keys = None;
                message.sender_signature = None;
                Opened { view: message, trust: Trust::Verified }
            }
            Err(why) => without_content(message, reason(&why)),
        };
        (opened, forged)
    }

    async fn message_by(
        &self,
        task: &TaskId,
        sender: &PublicKey,
        message: &MessageView,
    ) -> Result<Message, Error> {
        let sealed = sealed(
            message.content.as_str(),
            message.encrypted_keys.as_ref(),
            message.sender_signature.as_ref(),
        )?;
        self.open_with(task, sender.clone(), sealed).await
    }

    /// Downloads the file of a message on an encrypted task, verifies and opens it. The message may be as the hub sent
    /// it or as [`open_messages`](Self::open_messages) returned it.
    pub async fn download_sealed(&self, task: &TaskView, message: &MessageView) -> Result<OpenedFile, Error> {
        let content = message.content.as_str();
        let file: FileId = match content.parse() {
            Ok(file) if is_file_id(content) => file,
            _ => return Err(unreadable("the message has no encrypted file")),
        };
        let sender = match &message.sender_agent_id {
            Actor::Agent(sender) => sender,
            Actor::System => return Err(unreadable("it has no sender")),
        };
        // The key before the file: without it the download is of no use.
        self.participant_key(task, sender).await?;
        let (_, bytes) = self.answer(&Call::get(format!("/files/{file}")).waiting(TRANSFER_MAX)).await?;
        let content = from_stored(&bytes);
        drop(bytes);
        let sealed = sealed(&content, message.encrypted_keys.as_ref(), message.sender_signature.as_ref())?;
        let opened: File = self.open_by(&task.id, sender, sealed).await?;
        self.record_file(task, sender, &content, &message.id)?;
        Ok(OpenedFile {
            filename: safe_name(&opened.filename).unwrap_or_else(|| CLEAR_FILENAME.to_owned()),
            mime_type: opened.mime_type,
            bytes: opened.data,
        })
    }

    /// The key of a sender that has a part in the task.
    async fn participant_key(&self, task: &TaskView, sender: &AgentId) -> Result<PublicKey, Error> {
        self.peer_of(task)?;
        if *sender != *self.keyring()?.agent() {
            self.pinnable_peer(task)?;
        }
        if *sender != task.initiator_agent_id && *sender != task.target_agent_id {
            return Err(unreadable("its sender has no part in the task"));
        }
        self.key_for_opening(sender).await
    }

    /// Opens what `sender` sealed, and says so if its signature fails because its key has changed.
    async fn open_by<E: Envelope + Send + 'static>(
        &self,
        task: &TaskId,
        sender: &AgentId,
        sealed: Sealed,
    ) -> Result<E, Error> {
        let key = self.key_for_opening(sender).await?;
        match self.open_with(task, key, sealed).await {
            Err(Error::Seal(why @ tandem_seal::Error::Signature(_))) => {
                Err(self.changed_key(sender).await.unwrap_or(Error::Seal(why)))
            }
            opened => opened,
        }
    }

    async fn open_with<E: Envelope + Send + 'static>(
        &self,
        task: &TaskId,
        sender: PublicKey,
        sealed: Sealed,
    ) -> Result<E, Error> {
        let keyring = self.keyring()?;
        let (key, me, task) = (Arc::clone(keyring.key()?), keyring.agent().clone(), task.clone());
        blocking(move || E::open(task.as_str(), &sealed, (me.as_str(), &key), &sender)).await
    }

    /// The error that says so, if the hub presents another key for an agent than the pinned one.
    async fn changed_key(&self, agent: &AgentId) -> Option<Error> {
        if self.keyring().ok()?.agent() == agent {
            return None;
        }
        self.key_for_sealing(agent).await.err().filter(is_about_key)
    }

    /// The author that an agent is to the caller.
    fn author(&self, writer: &AgentId) -> Author {
        self.keyring.as_ref().map_or(Author::Peer, |keyring| Author::of(writer, keyring.agent()))
    }
}

/// The agent that claims to have sealed a message.
fn sealed_by(message: &MessageView) -> Option<&AgentId> {
    match &message.sender_agent_id {
        Actor::Agent(agent) if message.content_type == ContentType::Encrypted => Some(agent),
        _ => None,
    }
}

fn is_about_key(error: &Error) -> bool {
    matches!(error, Error::KeyChanged { .. } | Error::AnotherAgent(_))
}

/// A message in the clear on an encrypted task: the hub's own, or one that has been deleted. An agent's would have been
/// sealed.
fn unsealed(mut message: MessageView) -> Opened<MessageView> {
    if message.sender_agent_id == Actor::System {
        message.sender_agent_name = None;
    } else if message.content.as_str() != DELETED {
        return without_content(message, "it is not encrypted, so the hub could have written it".into());
    }
    Opened { view: message, trust: Trust::Plain }
}

pub(super) fn without_content(mut message: MessageView, why: String) -> Opened<MessageView> {
    message.content = PeerContent::Prose(PeerText::hub(""));
    Opened { view: message, trust: Trust::Unreadable(why) }
}

fn is_file_id(content: &str) -> bool {
    content.len() < FILE_ID_CHARS_MAX && content.parse::<FileId>().is_ok()
}

fn sealed(content: &str, keys: Option<&WrappedKeys>, signature: Option<&PeerToken>) -> Result<Sealed, Error> {
    let (Some(keys), Some(signature)) = (keys, signature) else {
        return Err(unreadable("its keys or its signature are missing"));
    };
    let keys: BTreeMap<String, String> =
        serde_json::from_str(keys.as_str()).map_err(|_| unreadable("its wrapped keys are malformed"))?;
    Ok(Sealed { content: content.to_owned(), keys, signature: signature.as_str().to_owned() })
}

fn unreadable(why: &str) -> Error {
    Error::Unreadable(why.to_owned())
}

/// The reason alone, for a view that says by itself that it cannot be opened.
pub(super) fn reason(error: &Error) -> String {
    match error {
        Error::Unreadable(why) => why.clone(),
        error => error.to_string(),
    }
}
