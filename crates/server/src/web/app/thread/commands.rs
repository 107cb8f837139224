//! The actions of a task's page as commands and requests, for people who would rather use a shell.

use tandem_hub::Hub;
use tandem_hub::ops::threads::ThreadPage;

use super::super::copy::Copied;
use super::action::{Request, TaskAction};
use super::actions::Actions;

/// An action as a person would run it elsewhere.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) command_id: String,
    pub(crate) curl_id: String,
    pub(crate) what: &'static str,
    pub(crate) command: Option<String>,
    pub(crate) curl: Option<String>,
}

pub(crate) fn of(hub: &Hub, thread: &ThreadPage, actions: &Actions) -> Vec<Command> {
    let id = thread.task.id.as_str();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let show = ("GET", format!("/tasks/{id}"), None);
    let mut found = vec![command(hub, "show", "show this task", &words(&["task", "show", id]), Some(show))];
    let mut add = |action: TaskAction| {
        let (words, request) = action.elsewhere(id);
        found.push(command(hub, &action.id(), action.word(), &words, Some(request)));
    };
    if actions.no_message.is_none() {
        add(TaskAction::Message);
    }
    if actions.no_reply.is_none() {
        add(TaskAction::Reply);
    }
    actions.possible().filter(|action| *action != TaskAction::Ping).for_each(add);
    if actions.no_message.is_none() {
        found.push(command(hub, "file", "attach a file", &words(&["file", "up", id, "FILE"]), None));
    }
    found
}

fn command(hub: &Hub, id: &str, what: &'static str, words: &[String], request: Option<Request>) -> Command {
    let copied = Copied::new("action", what);
    let copied = if words.is_empty() { copied } else { copied.command(words) };
    let copied = match request {
        Some((method, path, body)) => copied.curl(hub, method, &path, body.as_ref()),
        None => copied,
    };
    Command {
        command_id: format!("cli-{id}"),
        curl_id: format!("curl-{id}"),
        what,
        command: copied.command,
        curl: copied.curl,
    }
}
