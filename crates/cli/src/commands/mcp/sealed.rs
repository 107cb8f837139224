//! Tools on tasks that may be encrypted: reading, messages, replies. Those on plain tasks go to the hub.
//!
//! Content that could not be verified is never shown: whoever can write it could be anyone.

use rmcp::model::{CallToolResult, JsonObject};
use serde_json::Value;
use tandem_api::actor::Actor;
use tandem_api::messages::{MessageView, SendMessage};
use tandem_api::tasks::{PageQuery, ReplyTask, TaskView, ThreadView};
use tandem_api::text::{Author, HubText, PeerContent, PeerText};
use tandem_client::{Client, Error as ClientError, Opened, Trust};
use tandem_core::TaskId;
use tandem_core::messages::ContentType;
use tandem_hub::Error;
use tandem_server::mcp::shared::{Args, invalid, sent, shown_messages, shown_reply, shown_thread, to_result};

use super::create::refuse_sealed_fields;
use super::failures::to_hub_error;
use super::handler::Bridge;

/// Messages that are shown with a task; fewer if they are long.
const PAGES: [i64; 2] = [50, 4];
/// Size of the messages that are shown with a task.
const PAGE_BYTES_MAX: usize = 1024 * 1024;
/// What is shown instead of content.
pub(super) const UNVERIFIED: &str = "[withheld: this content could not be decrypted and verified]";
/// Arguments of tools on a task in which nothing can be said: ids, numbers and words of closed sets. The hub reads all others,
/// and stores them as they are.
const WORDLESS_ARGUMENTS: [&str; 11] = [
    "taskId",
    "messageId",
    "fileId",
    "targetAgentId",
    "status",
    "expectedStatus",
    "sessionKey",
    "progress",
    "cost",
    "limit",
    "cursor",
];

impl Bridge {
    pub(super) async fn get_task(&self, client: &Client, args: Args) -> Result<CallToolResult, Error> {
        let arguments = args.0.clone();
        let cursor = arguments.get("cursor").and_then(Value::as_str).map(ToOwned::to_owned);
        // The hub checks the arguments, and notes that a model has seen the task.
        let forwarded = self.forward(client, "get_task", arguments.clone()).await?;
        let is_plain = forwarded.structured_content.as_ref().is_some_and(|task| task["encrypted"] == false);
        let id = task_id(&arguments)?;
        let is_known_encrypted = client.is_known_encrypted(&id).map_err(to_hub_error)?;
        if forwarded.is_error == Some(true) || (is_plain && !is_known_encrypted) {
            return Ok(forwarded);
        }
        match encrypted(client, &id).await? {
            Some(task) => Ok(to_result(shown_thread(thread(client, task, cursor).await?))),
            None => Ok(forwarded),
        }
    }

    pub(super) async fn task_read(&self, client: &Client, args: Args) -> Result<CallToolResult, Error> {
        let Some(task) = encrypted(client, &task_id(&args.0)?).await? else {
            return self.forward(client, "task_read", args.0).await;
        };
        let mut read = client.read_messages(&task.id).await.map_err(to_hub_error)?;
        let messages = client.open_messages(&task, read.messages).await;
        refuse_changed_key(client, &task, messages.iter().map(|message| &message.trust)).await?;
        read.messages = messages.into_iter().map(shown_message).collect();
        Ok(to_result(shown_messages(read)))
    }

    pub(super) async fn send_message(
        &self,
        client: &Client,
        mut args: Args,
    ) -> Result<CallToolResult, Error> {
        refuse_sealed_fields(&args)?;
        let Some(task) = encrypted(client, &task_id(&args.0)?).await? else {
            return self.forward(client, "send_message", args.0).await;
        };
        args.0.shift_remove("taskId");
        let message: SendMessage = args.read()?;
        refuse_other_types(message.content_type)?;
        let said = client.say(&task, message).await.map_err(to_hub_error)?;
        Ok(to_result(sent(said)))
    }

    pub(super) async fn send_reply(&self, client: &Client, mut args: Args) -> Result<CallToolResult, Error> {
        refuse_sealed_fields(&args)?;
        let Some(task) = encrypted(client, &task_id(&args.0)?).await? else {
            return self.forward(client, "send_reply", args.0).await;
        };
        args.0.shift_remove("taskId");
        let reply: ReplyTask = args.read()?;
        refuse_other_types(reply.content_type)?;
        let mut replied = client.deliver(&task, reply).await.map_err(to_hub_error)?;
        if replied.task.title == tandem_seal::CLEAR_TITLE {
            replied.task.description = None;
        }
        Ok(to_result(shown_reply(replied)))
    }

    /// Refuses whatever the hub would store readable, on an encrypted task.
    pub(super) async fn refuse_clear_text(
        &self,
        client: &Client,
        tool: &str,
        args: &Args,
    ) -> Result<(), Error> {
        let fields = self.tool(tool).and_then(|tool| tool.input_schema.get("properties"));
        let is_on_task = fields.is_some_and(|fields| fields.get("taskId").is_some());
        let says = |(name, value): &(&String, &Value)| {
            !value.is_null() && !WORDLESS_ARGUMENTS.contains(&name.as_str())
        };
        let Some((name, _)) = args.0.iter().find(says).filter(|_| is_on_task) else {
            return Ok(());
        };
        match encrypted(client, &task_id(&args.0)?).await? {
            Some(_) => Err(invalid(
                name,
                "would be readable for the hub, but this task is encrypted; use send_message, send_reply or upload_file",
            )),
            None => Ok(()),
        }
    }

    /// A task with its messages, for prompts and resources; `None` if it is plain.
    pub(super) async fn sealed_thread(
        &self,
        client: &Client,
        id: &TaskId,
    ) -> Result<Option<ThreadView>, Error> {
        let task = client.task(id).await.map_err(to_hub_error)?;
        match client.is_encrypted(&task).map_err(to_hub_error)? {
            true => Ok(Some(thread(client, task, None).await?)),
            false => Ok(None),
        }
    }
}

/// The task in the arguments. What cannot be its id is refused here: the text beside it may be for an encrypted task, and the hub
/// must not get that to say what is wrong.
fn task_id(arguments: &JsonObject) -> Result<TaskId, Error> {
    let given = arguments.get_key_value("taskId").map(|(name, given)| (name.clone(), given.clone()));
    Args(given.into_iter().collect()).id("taskId", "task")
}

/// A task, if it is encrypted.
async fn encrypted(client: &Client, id: &TaskId) -> Result<Option<TaskView>, Error> {
    let task = client.task(id).await.map_err(to_hub_error)?;
    Ok(client.is_encrypted(&task).map_err(to_hub_error)?.then_some(task))
}

fn refuse_other_types(given: Option<ContentType>) -> Result<(), Error> {
    match given {
        None | Some(ContentType::Text | ContentType::Json) => Ok(()),
        Some(_) => Err(invalid("contentType", "must be text or json")),
    }
}

async fn thread(client: &Client, task: TaskView, cursor: Option<String>) -> Result<ThreadView, Error> {
    let mut page = None;
    for limit in PAGES {
        let query = PageQuery { limit: Some(limit), cursor: cursor.clone() };
        let found = client.messages(&task.id, &query).await.map_err(to_hub_error)?;
        let bytes: usize = found.items.iter().map(|message| message.content.as_str().len()).sum();
        page = Some(found);
        if bytes <= PAGE_BYTES_MAX {
            break;
        }
    }
    let (items, older) = page.map_or((Vec::new(), None), |page| (page.items, page.next));
    let messages = client.open_messages(&task, items).await;
    let described = client.open_description(task.clone()).await;
    let opened = client.open_task(task.clone()).await;
    let trusts = [&described.trust, &opened.trust].into_iter();
    refuse_changed_key(client, &task, trusts.chain(messages.iter().map(|message| &message.trust))).await?;
    let sealed_result = task.result.as_ref().map(|result| result.as_str().to_owned());
    let mut shown = opened.view;
    if described.trust != Trust::Verified {
        shown.title = PeerText::hub(UNVERIFIED);
        shown.description = Some(withheld());
    }
    if opened.trust != Trust::Verified
        && shown.result.as_ref().map(PeerContent::as_str) == sealed_result.as_deref()
    {
        shown.result = shown.result.map(|_| withheld());
    }
    shown.description_keys = None;
    shown.sender_signature = None;
    Ok(ThreadView {
        task: shown,
        messages: messages.into_iter().map(shown_message).collect(),
        older_messages_cursor: older.map(HubText::new),
    })
}

fn withheld() -> PeerContent {
    PeerContent::Prose(PeerText::hub(UNVERIFIED))
}

fn shown_message(message: Opened<MessageView>) -> MessageView {
    let Opened { mut view, trust } = message;
    let is_shown = match trust {
        Trust::Verified => true,
        // A file id; the file is verified when it is downloaded.
        Trust::Unopened => {
            view.content = PeerContent::new(Author::Peer, view.content.as_str(), true);
            true
        }
        // On an encrypted task only the hub itself writes in the clear.
        Trust::Plain => matches!(view.sender_agent_id, Actor::System),
        Trust::Unreadable(_) => false,
    };
    if !is_shown {
        view.content = withheld();
    }
    view.encrypted_keys = None;
    view.sender_signature = None;
    view
}

/// If something is unreadable because the other agent has another key now, that is what the model must learn.
async fn refuse_changed_key<'a>(
    client: &Client,
    task: &TaskView,
    mut trusts: impl Iterator<Item = &'a Trust>,
) -> Result<(), Error> {
    if !trusts.any(|trust| matches!(trust, Trust::Unreadable(_))) {
        return Ok(());
    }
    let Ok(keyring) = client.keyring() else { return Err(to_hub_error(ClientError::NoKey)) };
    let me = keyring.agent();
    let peer = if task.initiator_agent_id == *me { &task.target_agent_id } else { &task.initiator_agent_id };
    // A peer that is gone has no key that could have changed.
    let Ok(found) = client.presented_key(peer).await else { return Ok(()) };
    let checked = keyring.pins().and_then(|pins| pins.check(peer, &found));
    checked.map_err(to_hub_error)
}
