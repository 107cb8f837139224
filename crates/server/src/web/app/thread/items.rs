//! The thread: the description, the messages and, between them, the changes of status.

use tandem_api::actor::Actor;
use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskLogView;
use tandem_core::messages::{ContentType, Kind};
use tandem_core::{AgentId, Status, Timestamp};
use tandem_hub::ops::threads::ThreadPage;

use super::super::Shell;
use super::super::markdown::{self, Excerpt};
use super::super::people::Party;
use super::super::words::{self, StatusMark, When};
use super::facts::Author;

/// The place of the description among messages.
pub(crate) const DESCRIPTION: &str = "description";

/// A file that can be fetched.
#[derive(Debug, Clone)]
pub(crate) struct FileLink {
    pub(crate) href: String,
    pub(crate) name: String,
    /// Its type in a word, and its size.
    pub(crate) size: String,
}

impl FileLink {
    pub(crate) fn new(href: String, name: &str, mime_type: &str, bytes: i64) -> Self {
        let size = format!("{}, {}", words::file_type(name, mime_type), words::size(bytes));
        Self { href, name: name.to_owned(), size }
    }
}

/// End-to-end encrypted content, as `sealed.js` expects it.
#[derive(Debug, Clone)]
pub(crate) struct SealedBox {
    /// `description`, `message` or `file`.
    pub(crate) kind: &'static str,
    pub(crate) id: String,
    pub(crate) task: String,
    pub(crate) agent: String,
    pub(crate) sender: String,
    pub(crate) sender_name: String,
    pub(crate) is_own: bool,
    pub(crate) signature: String,
    pub(crate) keys: String,
    /// The ciphertext; none for a file, which is fetched.
    pub(crate) cipher: Option<String>,
    pub(crate) href: Option<String>,
    pub(crate) size: String,
}

/// What a message says.
#[derive(Debug)]
pub(crate) enum Content {
    Text(Excerpt),
    Sealed(Box<SealedBox>),
    File(FileLink),
    Deleted,
    Nothing,
}

/// What is known of how a message was received.
#[derive(Debug)]
pub(crate) struct Receipt {
    pub(crate) word: &'static str,
    pub(crate) when: When,
}

/// A message, or the description.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) from: Party,
    pub(crate) when: When,
    pub(crate) is_result: bool,
    pub(crate) is_unread: bool,
    pub(crate) can_delete: bool,
    pub(crate) content: Content,
    /// Where the whole text is.
    pub(crate) more: String,
    pub(crate) receipts: Vec<Receipt>,
}

/// A change of status, or a sentence of the hub.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) mark: StatusMark,
    pub(crate) by: Author,
    pub(crate) text: String,
    pub(crate) quote: Option<String>,
    pub(crate) when: When,
}

#[derive(Debug)]
pub(crate) enum Item {
    Message(Box<Message>),
    Line(Box<Line>),
    /// The place where older messages are left out.
    Older,
}

/// The thread of a page, oldest first.
pub(crate) fn items(thread: &ThreadPage, me: &AgentId, shell: &Shell, whole: Option<&str>) -> Vec<Item> {
    let mut build = Build { thread, me, shell, whole, budget: markdown::Budget::of_a_page() };
    let description = build.description();
    // The newest first, for whom the budget is there. In the end they are in the order of time again.
    let newest = thread.messages.iter().rev();
    let mut timed: Vec<(Timestamp, Item)> =
        newest.map(|message| (message.created_at, build.item(message))).collect();
    timed.reverse();
    // Creation is the description itself.
    let is_move = |line: &&TaskLogView| line.from_status.is_some() && line.to_status != Status::Draft;
    let moves = thread.moves.iter().filter(is_move);
    timed.extend(moves.map(|line| (line.created_at, build.moved(line))));
    // Stable: a message stays before the change of status that came with it.
    timed.sort_by_key(|(at, _)| *at);
    let mut items = vec![description];
    if thread.older.is_some() {
        items.push(Item::Older);
    }
    items.extend(timed.into_iter().map(|(_, item)| item));
    items
}

struct Build<'a> {
    thread: &'a ThreadPage,
    me: &'a AgentId,
    shell: &'a Shell,
    whole: Option<&'a str>,
    budget: markdown::Budget,
}

impl Build<'_> {
    fn text(&mut self, id: &str, text: &str, is_json: bool) -> Content {
        let excerpt = match () {
            () if self.whole == Some(id) => markdown::whole(text),
            () if is_json => markdown::plain(text),
            () => markdown::markdown(text, &mut self.budget),
        };
        Content::Text(excerpt)
    }

    fn more(&self, id: &str) -> String {
        format!("{}/tasks/{}?whole={id}#m-{id}", self.shell.base, self.thread.task.id)
    }

    fn description(&mut self) -> Item {
        let task = &self.thread.task;
        let from = Party::initiator(task, self.shell);
        let content = match &task.description {
            None => Content::Nothing,
            Some(text) if task.encrypted => {
                Content::Sealed(Box::new(sealed_description(task, self.me, text.as_str())))
            }
            Some(text) => self.text(DESCRIPTION, text.as_str(), false),
        };
        let message = Message {
            id: DESCRIPTION.to_owned(),
            more: self.more(DESCRIPTION),
            when: self.shell.when(&task.created_at),
            from,
            is_result: false,
            is_unread: false,
            can_delete: false,
            content,
            receipts: Vec::new(),
        };
        Item::Message(Box::new(message))
    }

    fn item(&mut self, message: &MessageView) -> Item {
        let Actor::Agent(sender) = &message.sender_agent_id else {
            let mark = words::status(self.thread.task.status, self.thread.task.approval_status);
            let text = message.content.as_str().to_owned();
            let when = self.shell.when(&message.created_at);
            return Item::Line(Box::new(Line { mark, by: Author::Hub, text, quote: None, when }));
        };
        let name = message.sender_agent_name.as_ref().map_or("deleted agent", |name| name.as_str());
        let from = Party::new(sender, name, self.shell);
        let is_deleted = self.thread.deleted.contains(&message.id);
        let content = if is_deleted { Content::Deleted } else { self.content(message, &from) };
        Item::Message(Box::new(Message {
            id: message.id.to_string(),
            more: self.more(message.id.as_str()),
            when: self.shell.when(&message.created_at),
            is_result: message.kind == Kind::Reply,
            is_unread: !from.is_me && message.read_at.is_none(),
            can_delete: from.is_me && !is_deleted,
            receipts: self.receipts(message, from.is_me),
            content,
            from,
        }))
    }

    fn content(&mut self, message: &MessageView, from: &Party) -> Content {
        let id = message.id.to_string();
        let text = message.content.as_str();
        let href = || format!("{}/files/{text}", self.shell.base);
        match (message.content_type, &message.file) {
            (ContentType::Text, _) => self.text(&id, text, false),
            (ContentType::Json, _) => self.text(&id, text, true),
            (ContentType::File, Some(file)) => Content::File(FileLink::new(
                href(),
                file.filename.as_str(),
                file.mime_type.as_str(),
                file.size_bytes,
            )),
            (ContentType::File, None) => Content::Deleted,
            (ContentType::Encrypted, file) => Content::Sealed(Box::new(SealedBox {
                kind: if file.is_some() { "file" } else { "message" },
                task: message.task_id.to_string(),
                agent: self.me.to_string(),
                sender: from.id.clone(),
                sender_name: from.name.clone(),
                is_own: from.is_me,
                signature: message.sender_signature.as_ref().map_or("", |text| text.as_str()).to_owned(),
                keys: message.encrypted_keys.as_ref().map_or("{}", |keys| keys.as_str()).to_owned(),
                cipher: file.is_none().then(|| text.to_owned()),
                href: file.is_some().then(href),
                size: file.as_ref().map_or_else(|| cipher_size(text), |file| words::size(file.size_bytes)),
                id,
            })),
        }
    }

    fn receipts(&self, message: &MessageView, is_own: bool) -> Vec<Receipt> {
        let (read, acknowledged) =
            if is_own { ("Read", "Acknowledged") } else { ("Your agent read it", "acknowledged it") };
        let marks = [(read, message.read_at), (acknowledged, message.acknowledged_at)];
        marks
            .into_iter()
            .filter_map(|(word, at)| Some(Receipt { word, when: self.shell.when(&at?) }))
            .collect()
    }

    fn moved(&self, line: &TaskLogView) -> Item {
        let mark = words::status(line.to_status, None);
        let quote = line.detail.as_ref().map(|detail| detail.as_str().to_owned());
        Item::Line(Box::new(Line {
            by: Author::of(&line.actor, &self.thread.task, self.shell),
            text: mark.word.to_owned(),
            mark,
            quote,
            when: self.shell.when(&line.created_at),
        }))
    }
}

/// The encrypted description of a task.
pub(crate) fn sealed_description(
    task: &tandem_api::tasks::TaskView,
    me: &AgentId,
    cipher: &str,
) -> SealedBox {
    SealedBox {
        kind: "description",
        id: format!("{DESCRIPTION}-{}", task.id),
        task: task.id.to_string(),
        agent: me.to_string(),
        sender: task.initiator_agent_id.to_string(),
        sender_name: task.initiator_agent_name.as_str().to_owned(),
        is_own: task.initiator_agent_id == *me,
        signature: task.sender_signature.as_ref().map_or("", |text| text.as_str()).to_owned(),
        keys: task.description_keys.as_ref().map_or("{}", |keys| keys.as_str()).to_owned(),
        size: cipher_size(cipher),
        cipher: Some(cipher.to_owned()),
        href: None,
    }
}

/// The size of what base64 holds.
fn cipher_size(base64: &str) -> String {
    words::size(i64::try_from(base64.len() / 4 * 3).unwrap_or(i64::MAX))
}
