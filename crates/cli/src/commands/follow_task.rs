//! Follows one task: prints what happens to it until it ends, or until it needs its sender.

use std::time::Duration;

use tandem_api::messages::MessageView;
use tandem_api::tasks::{PageQuery, TaskView};
use tandem_client::{Client, Followed, Notice, Opened, StreamEvent};
use tandem_core::events::EventKind;
use tandem_core::{MessageId, Status, TaskId};
use tokio::time::{Instant, timeout_at};

use super::Session;
use super::task_view::{file_infos, in_the_clear, print_message, status_line, unopened};
use crate::exit::{Failure, Outcome};
use crate::terminal::text;

/// When following ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    Ended,
    /// The task has ended or waits for the caller.
    EndedOrNeedsMe,
}

/// How long following may take without a time limit of the user's: as good as for ever.
const FOR_EVER: Duration = Duration::from_secs(10 * 365 * 86_400);

/// How long to wait for the events of an end that the task already shows.
const LAST_EVENTS: Duration = Duration::from_secs(2);

/// How often the task is read without an event: the hub tells an agent nothing of what it does itself, as in another shell.
const LOOK_EVERY: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Ending {
    /// The task as it is now, in the clear.
    pub(crate) task: Opened<TaskView>,
    /// The text of the last message that was printed.
    pub(crate) last_text: Option<String>,
    /// Whether a message was not printed, because it could not be opened or verified.
    has_unopened: bool,
}

impl Ending {
    /// The outcome of a command that waited for the task: a failure if it ended in another way than completed, or if a text
    /// of it could not be opened.
    pub(crate) fn outcome(&self, client: &Client) -> Outcome {
        let task = &self.task.view;
        if task.status.is_terminal() && task.status != Status::Completed {
            let why = task.status_reason.as_ref();
            let why = why.map_or(String::new(), |why| {
                format!(": {}{}", text::line(why.as_str()), in_the_clear(client, task))
            });
            let what = format!("the task was not completed; it is {}{why}", task.status.as_str());
            return Err(Failure::refused(what)
                .next("`tandem task show @` has the details, `tandem task retry @` starts it again."));
        }
        if self.has_unopened || self.task.trust.why_unreadable().is_some() {
            return Err(unopened("a text of this encrypted task"));
        }
        Ok(())
    }
}

/// Follows a task with the events after a cursor, and prints them.
pub(crate) async fn follow_task(
    session: &Session,
    id: &TaskId,
    after: i64,
    until: Until,
    limit: Option<Duration>,
) -> Outcome<Ending> {
    let deadline = Instant::now() + limit.unwrap_or(FOR_EVER);
    let mut stream = session.client.follow(Some(after));
    let mut task = session.client.task(id).await?;
    let (mut last_text, mut has_unopened) = (None, false);
    let mut is_told = is_over(session, &task, until);
    loop {
        // The task can be ahead of its events: what led to the end is printed first.
        let is_over = is_over(session, &task, until);
        if is_over && is_told {
            break;
        }
        let pause = if is_over { LAST_EVENTS } else { LOOK_EVERY };
        let limit = deadline.min(Instant::now() + pause);
        let Ok(followed) = timeout_at(limit, stream.next()).await else {
            if is_over {
                break;
            }
            if limit < deadline {
                // A hub that cannot be reached now is reached by the stream later.
                task = session.client.task(id).await.unwrap_or(task);
                continue;
            }
            return Err(Failure::timed_out(format!("the task is still {}", task.status.as_str()))
                .next(format!("Go on with `tandem task watch {id}`.")));
        };
        match followed? {
            Followed::Notice(Notice::Lost { cause, .. }) => {
                session.terminal.note(&format!("connection lost, trying again: {}", text::line(&cause)));
            }
            Followed::Event(event) if event.task_id.as_ref() == Some(id) => {
                match print_event(session, &task, &event).await? {
                    Printed::Text(text) => last_text = Some(text),
                    Printed::Unopened => has_unopened = true,
                    Printed::Other => {}
                }
                task = session.client.task(id).await?;
                is_told = event.fields().status == Some(task.status);
            }
            _ => {}
        }
    }
    Ok(Ending { task: session.client.open_task(task).await, last_text, has_unopened })
}

fn is_over(session: &Session, task: &TaskView, until: Until) -> bool {
    let me = session.profile.as_ref().map(|profile| &profile.agent_id);
    let is_initiator = me.is_none_or(|me| *me == task.initiator_agent_id);
    let needs_me = is_initiator && matches!(task.status, Status::InputRequired | Status::AuthRequired);
    task.status.is_terminal() || (until == Until::EndedOrNeedsMe && needs_me)
}

enum Printed {
    Text(String),
    /// That a message could not be opened.
    Unopened,
    Other,
}

async fn print_event(session: &Session, task: &TaskView, event: &StreamEvent) -> Outcome<Printed> {
    let terminal = &session.terminal;
    if terminal.json {
        terminal.json_line(&super::events::event_json(event))?;
        return Ok(Printed::Other);
    }
    let fields = event.fields();
    if event.kind == EventKind::MessageCreated.into() {
        let Some(message) = find_message(session, task, fields.message_id.as_ref()).await? else {
            return Ok(Printed::Other);
        };
        let opened = session.client.open_messages(task, vec![message]).await;
        let files = file_infos(&session.client, opened.iter().map(|message| &message.view), 1).await;
        let mut printed = Printed::Other;
        for (message, file) in opened.iter().zip(&files) {
            print_message(session, task, message, file.as_ref())?;
            printed = match message.trust.why_unreadable() {
                Some(_) => Printed::Unopened,
                None => Printed::Text(message.view.content.as_str().to_owned()),
            };
        }
        return Ok(printed);
    }
    if let Some(status) = fields.status {
        let clear = in_the_clear(&session.client, task);
        let reason = fields.reason.as_ref().map(|reason| format!("{}{clear}", text::line(reason.as_str())));
        terminal.line(&status_line(terminal, status, reason.as_deref()))?;
    } else if event.kind == EventKind::TaskStalled.into() {
        terminal.line("the worker has gone silent")?;
    }
    Ok(Printed::Other)
}

/// A message by its id. It is one of the newest, because its event has just arrived.
async fn find_message(
    session: &Session,
    task: &TaskView,
    id: Option<&MessageId>,
) -> Outcome<Option<MessageView>> {
    let newest = PageQuery { limit: Some(50), cursor: None };
    let page = session.client.messages(&task.id, &newest).await?;
    Ok(page.into_iter().find(|message| Some(&message.id) == id))
}
