//! A message of a client: a new task, or one more message on a task of its own.

use tandem_core::messages::Kind;
use tandem_core::text::ContextId;
use tandem_core::{AgentId, Now, Refusal, Role, Status, StatusChange, Task, TaskId, Timestamp};
use tandem_store::{Tx, connections, messages, tasks as rows};

use super::pushes::{self, NewPush};
use super::{check_context, find, is_visible};
use crate::Error;
use crate::files::{NewFile, add_files, check_quota, checked_files};
use crate::messages::{NewMessage, add as add_message, check_message, pause_if_budget_spent};
use crate::tasks::{Cause, Defaults, NewTask, change_status, check_not_overdue, create};

/// How long the same message means the same task.
const JOIN_SECONDS: i64 = 600;

/// What became of a message.
#[derive(Debug, Clone)]
pub struct Sending {
    pub task: TaskId,
    pub created_at: Timestamp,
    /// The step that the message was; what the client waits for comes later.
    pub step: i64,
    /// Whether it was sent before, and nothing was added.
    pub joined: bool,
}

impl Sending {
    fn new(task: &Task, step: i64, joined: bool) -> Self {
        Self { task: task.id.clone(), created_at: task.created_at, step, joined }
    }
}

/// Whether a message that is sent again can only mean this task: its first copy has not been answered yet.
fn may_join(task: &Task) -> bool {
    matches!(task.status, Status::Submitted | Status::Working)
}

/// Makes a task, or finds the one that the same message made, and has what happens to it pushed.
pub fn start(
    tx: &mut Tx<'_>,
    by: &AgentId,
    host: &AgentId,
    (new, push): (&NewTask, Option<&NewPush>),
    defaults: &Defaults,
    now: &Now,
) -> Result<Sending, Error> {
    if let Some(hash) = new.hash() {
        // Of two copies that arrive at once, the second looks when the first is committed.
        connections::lock_pair(tx, by, host)?;
        let since = now.at.plus_seconds(-JOIN_SECONDS);
        let earlier = rows::by_foreign_hash(tx, hash, since)?;
        if let Some(task) = earlier.filter(|task| may_join(task) && is_visible(task, by, host)) {
            check_not_overdue([&task], now)?;
            set_push(tx, &task, push, task.steps(), now)?;
            return Ok(Sending::new(&task, task.steps(), true));
        }
    }
    let task = create(tx, by, new, defaults, now)?;
    set_push(tx, &task, push, task.steps(), now)?;
    Ok(Sending::new(&task, task.steps(), false))
}

fn set_push(
    tx: &mut Tx<'_>,
    task: &Task,
    push: Option<&NewPush>,
    after: i64,
    now: &Now,
) -> Result<(), Error> {
    push.map_or(Ok(()), |push| pushes::set_on(tx, task, push, after, now).map(drop))
}

/// One more message on a task.
#[derive(Debug, Clone)]
pub struct Later {
    pub context: Option<ContextId>,
    /// The text; none if the message is files alone. The last of these then carries what was sent.
    pub message: Option<NewMessage>,
    pub files: Vec<NewFile>,
    /// Tells the message from anything else that is sent.
    pub hash: [u8; 32],
    /// Where to push what follows.
    pub push: Option<NewPush>,
}

impl Later {
    /// How many messages it becomes.
    fn count(&self) -> i64 {
        i64::try_from(self.files.len()).unwrap_or(i64::MAX).saturating_add(i64::from(self.message.is_some()))
    }
}

/// Adds a message to a task that its client has open, unless it was sent before. The answer to a question continues the
/// work, in the same transaction: a client that asks next would find its question unanswered.
pub fn add(
    tx: &mut Tx<'_>,
    by: &AgentId,
    host: &AgentId,
    id: &TaskId,
    later: &Later,
    now: &Now,
) -> Result<Sending, Error> {
    if let Some(message) = &later.message {
        message.expect(tx)?;
    }
    let mut task = find(tx, by, host, id, now)?;
    check_context(&task, later.context.as_ref().map(ContextId::as_str))?;
    let since = now.at.plus_seconds(-JOIN_SECONDS);
    if may_join(&task) && messages::has_foreign_hash(tx, &task.id, &later.hash, since)? {
        set_push(tx, &task, later.push.as_ref(), task.steps(), now)?;
        return Ok(Sending::new(&task, task.steps(), true));
    }
    let standing = task.standing(Role::Initiator);
    add_to(tx, by, &mut task, later, now).map_err(|error| error.on_task(standing))
}

fn add_to(
    tx: &mut Tx<'_>,
    by: &AgentId,
    task: &mut Task,
    later: &Later,
    now: &Now,
) -> Result<Sending, Error> {
    let role = Role::Initiator;
    task.check_open()?;
    if task.counts.spoken.saturating_add(later.count()) > task.terms.max_messages {
        return Err(Refusal::MessageBudget(task.terms.max_messages).into());
    }
    let files = checked_files(task.content.encrypted, &later.files)?;
    check_quota(tx, by, &later.files)?;
    if let Some(push) = &later.push {
        pushes::check_room(tx, &task.id, push)?;
    }
    match &later.message {
        Some(message) => {
            check_message(task, message)?;
            message.count(tx, task, now)?;
        }
        None => {
            if let Some(file) = files.last() {
                file.count(tx, task, now)?;
            }
        }
    }
    let continues =
        task.status == Status::InputRequired && task.position().check(role, Status::Working).is_ok();
    add_files(tx, task, role, &files, now)?;
    if let Some(message) = &later.message {
        add_message(tx, task, role, message, Kind::Message, now)?;
    }
    rows::update_thread(tx, task)?;
    let step = task.steps();
    if continues {
        change_status(tx, task, StatusChange::Set(Status::Working), &Cause::of(role), now)?;
    }
    pause_if_budget_spent(tx, task, role, now)?;
    set_push(tx, task, later.push.as_ref(), step, now)?;
    Ok(Sending::new(task, step, false))
}
