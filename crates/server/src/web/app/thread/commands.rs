//! The actions of a task's page as commands and requests, for people who would rather use a shell.

use tandem_hub::Hub;
use tandem_hub::ops::threads::ThreadPage;

use super::super::copy::Copied;
use super::action::{Request, TaskAction};
use super::actions::Actions;

pub(crate) fn of(hub: &Hub, thread: &ThreadPage, actions: &Actions) -> Vec<Copied> {
    let id = thread.task.id.as_str();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let show = ("GET", format!("/tasks/{id}"), None);
    let mut found = vec![copied(hub, "show", "show this task", &words(&["task", "show", id]), Some(show))];
    let mut add = |action: TaskAction| {
        let (words, request) = action.elsewhere(id);
        found.push(copied(hub, &action.id(), action.word(), &words, Some(request)));
    };
    if actions.no_message.is_none() {
        add(TaskAction::Message);
    }
    if actions.no_reply.is_none() {
        add(TaskAction::Reply);
    }
    actions.possible().filter(|action| *action != TaskAction::Ping).for_each(add);
    if actions.no_message.is_none() {
        found.push(copied(hub, "file", "attach a file", &words(&["file", "up", id, "FILE"]), None));
    }
    found
}

fn copied(hub: &Hub, id: &str, what: &'static str, words: &[String], request: Option<Request>) -> Copied {
    let copied = Copied::new(id, what);
    let copied = if words.is_empty() { copied } else { copied.command(words) };
    match request {
        Some((method, path, body)) => copied.curl(hub, method, &path, body.as_ref()),
        None => copied,
    }
}
