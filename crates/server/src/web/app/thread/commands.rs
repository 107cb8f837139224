//! The actions of a task's page as commands and requests, for people who would rather use a shell.

use serde_json::{Value, json};
use tandem_core::Status;
use tandem_core::tasks::MaxMessages;
use tandem_hub::Hub;
use tandem_hub::ops::threads::ThreadPage;

use super::super::copy::Copied;
use super::actions::{Action, Actions};

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
    let mut found = vec![command(
        hub,
        "show",
        "show this task",
        &["task", "show", id],
        ("GET", format!("/tasks/{id}"), None),
    )];
    if actions.no_message.is_none() {
        let body = json!({ "content": "…" });
        let request = ("POST", format!("/tasks/{id}/messages"), Some(body));
        found.push(command(hub, "message", "write a message", &["message", id, "…"], request));
        found.push(Command {
            curl: None,
            ..command(hub, "file", "attach a file", &["file", "up", id, "FILE"], ("GET", String::new(), None))
        });
    }
    if actions.no_reply.is_none() {
        let body = json!({ "content": "…", "outcome": "completed" });
        let request = ("POST", format!("/tasks/{id}/reply"), Some(body));
        found.push(command(hub, "reply", "reply with the result", &["task", "reply", id, "…"], request));
    }
    found.extend(actions.first.iter().chain(&actions.more).map(|action| as_command(hub, action, id)));
    found
}

fn command(
    hub: &Hub,
    id: &'static str,
    what: &'static str,
    words: &[&str],
    (method, path, body): (&str, String, Option<Value>),
) -> Command {
    let copied = Copied::new(id, what).command(words).curl(hub, method, &path, body.as_ref());
    Command {
        command_id: format!("cli-{id}"),
        curl_id: format!("curl-{id}"),
        what,
        command: copied.command,
        curl: copied.curl,
    }
}

/// An action as a command and as a request. What the form asks for is left open.
fn as_command(hub: &Hub, action: &Action, id: &str) -> Command {
    let post = |path: &str, body: Option<Value>| ("POST", format!("/tasks/{id}/{path}"), body);
    let patch = |body: Value| ("PATCH", format!("/tasks/{id}"), Some(body));
    let reason = || Some(json!({ "reason": "…" }));
    let status = action.status.map_or("", Status::as_str);
    let (words, request): (Vec<&str>, _) = match action.path {
        "publish" => (vec!["task", "publish", id], patch(json!({ "status": "submitted" }))),
        "approve" => (vec!["task", "approve", id], ("POST", format!("/approvals/{id}/approve"), None)),
        "reject" => (
            vec!["task", "reject", id, "--reason", "…"],
            ("POST", format!("/approvals/{id}/reject"), reason()),
        ),
        "accept" => (vec!["task", "accept", id], patch(json!({ "status": "completed" }))),
        "retry" => (vec!["task", "retry", id], post("retry", None)),
        "reopen" => (vec!["task", "status", id, "working"], patch(json!({ "status": "working" }))),
        "reassign" => (
            vec!["task", "reassign", id, "AGENT"],
            post("reassign", Some(json!({ "targetAgentId": "AGENT" }))),
        ),
        "cancel" => (vec!["task", "cancel", id, "--reason", "…"], post("cancel", reason())),
        "budget" => (vec![], patch(json!({ "maxMessages": MaxMessages::max() }))),
        "read" => (vec!["task", "show", id, "--unread"], post("read", None)),
        "ack" => (vec![], post("ack", None)),
        "delete" => (vec!["task", "delete", id, "--yes"], ("DELETE", format!("/tasks/{id}"), None)),
        _ => (vec!["task", "status", id, status], patch(json!({ "status": status }))),
    };
    let has_command = !words.is_empty();
    let made = command(hub, action.id, action.word, &words, request);
    Command { command: made.command.filter(|_| has_command), ..made }
}
