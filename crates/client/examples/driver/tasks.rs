//! What the parties of a task do with it.

use std::time::Duration;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tandem_api::messages::MessageView;
use tandem_api::tasks::{CreateTask, TaskView};
use tandem_client::{Client, Followed, Notice, Opened, Upload, each_page};
use tandem_core::messages::ContentType;
use tandem_core::{AgentId, FileId, Status, TaskId};

use crate::Failure;
use crate::commands::{id, text, wire};

const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;

async fn raw(client: &Client, request: &Value) -> anyhow::Result<TaskView> {
    Ok(client.task(&id(request, "task")?).await?)
}

pub(crate) async fn send(client: &Client, request: &Value) -> anyhow::Result<Value> {
    let mut fields = json!({ "targetAgentId": request["to"], "title": request["title"] });
    let object = fields.as_object_mut().context("an object")?;
    if let Some(description) = request["description"].as_str().filter(|text| !text.is_empty()) {
        object.insert("description".into(), description.into());
    }
    for (name, value) in request["options"].as_object().into_iter().flatten() {
        object.insert(name.clone(), value.clone());
    }
    let files = request["files"].as_array().cloned().unwrap_or_default();
    if !files.is_empty() {
        object.insert("draft".into(), true.into());
    }
    let task: CreateTask = wire(fields)?;
    let view = if request["encrypt"] == true {
        client.create_encrypted_task(task, &id::<AgentId>(request, "to")?).await?
    } else {
        client.create_task(&task).await?
    };
    for file in &files {
        upload_file(client, &client.task(&view.id).await?, file).await?;
    }
    if !files.is_empty() {
        client.change_task(&view.id, &wire(json!({ "status": "submitted" }))?).await?;
    }
    Ok(json!({ "taskId": view.id }))
}

pub(crate) async fn view(client: &Client, request: &Value) -> anyhow::Result<Value> {
    let Opened { view, trust } = client.open_task(raw(client, request).await?).await;
    Ok(json!({
        "status": view.status,
        "title": view.title,
        "description": view.description,
        "result": view.result,
        "progress": view.progress,
        "encrypted": view.encrypted,
        "trust": trust.as_str(),
        "why": trust.why_unreadable(),
    }))
}

pub(crate) async fn say(client: &Client, request: &Value) -> anyhow::Result<Value> {
    let message = wire(json!({ "content": text(request, "text")? }))?;
    let said = client.say(&raw(client, request).await?, message).await?;
    Ok(json!({ "messageId": said.id }))
}

pub(crate) async fn upload(client: &Client, request: &Value) -> anyhow::Result<Value> {
    let task = raw(client, request).await?;
    Ok(json!({ "messageId": upload_file(client, &task, &request["file"]).await? }))
}

async fn upload_file(client: &Client, task: &TaskView, file: &Value) -> anyhow::Result<Value> {
    let (name, mime) = (text(file, "name")?, text(file, "mime")?);
    let bytes = STANDARD.decode(text(file, "base64")?)?;
    if client.is_encrypted(task)? {
        let uploaded = client.upload_sealed(task, name, mime, bytes).await?;
        return Ok(json!(uploaded.message_id));
    }
    let path = std::env::temp_dir().join(format!("driver-{}", tandem_client::random_key()));
    std::fs::write(&path, bytes)?;
    let upload = Upload { path: path.clone(), filename: name.to_owned(), mime_type: mime.to_owned() };
    let uploaded = client.upload(&task.id, &upload, |_| {}).await;
    std::fs::remove_file(path)?;
    Ok(json!(uploaded?.message_id))
}

async fn opened(client: &Client, task: &TaskView) -> anyhow::Result<Vec<Opened<MessageView>>> {
    let mut pages = Vec::new();
    let read = async |query| client.messages(&task.id, &query).await;
    each_page(1_000, read, |page| {
        pages.push(page.items);
        true
    })
    .await?;
    // The first page has the newest ones.
    Ok(client.open_messages(task, pages.into_iter().rev().flatten().collect()).await)
}

pub(crate) async fn messages(client: &Client, request: &Value) -> anyhow::Result<Value> {
    let messages = opened(client, &raw(client, request).await?).await?;
    let shown = |one: &Opened<MessageView>| {
        json!({
            "id": one.view.id,
            "from": one.view.sender_agent_id,
            "contentType": one.view.content_type,
            "text": one.view.content,
            "trust": one.trust.as_str(),
        })
    };
    Ok(messages.iter().map(shown).collect())
}

pub(crate) async fn files(client: &Client, request: &Value) -> anyhow::Result<Value> {
    let task = raw(client, request).await?;
    let mut files = Vec::new();
    for one in opened(client, &task).await?.iter().filter(|one| one.view.content_type == ContentType::File) {
        let (name, mime, bytes, trust) = if client.is_encrypted(&task)? {
            let file = client.download_sealed(&task, &one.view).await?;
            (Some(file.filename), Some(file.mime_type), file.bytes, "verified")
        } else {
            let file: FileId = one.view.content.as_str().parse()?;
            let (bytes, info) = client.download_bytes(&file, FILE_BYTES_MAX).await?;
            (info.filename, info.mime_type, bytes.to_vec(), "plain")
        };
        files.push(json!({ "name": name, "mime": mime, "base64": STANDARD.encode(bytes), "trust": trust }));
    }
    Ok(files.into())
}

pub(crate) async fn set_status(client: &Client, request: &Value, to: &str) -> anyhow::Result<Value> {
    let mut change = json!({ "status": to });
    if !request["reason"].is_null() {
        change["reason"] = request["reason"].clone();
    }
    let changed = client.change_task(&id(request, "task")?, &wire(change)?).await?;
    Ok(json!({ "status": changed.status }))
}

pub(crate) async fn reply(client: &Client, request: &Value) -> anyhow::Result<Value> {
    let outcome = request["outcome"].as_str().unwrap_or("completed");
    let reply = wire(json!({ "content": text(request, "text")?, "outcome": outcome }))?;
    let replied = client.deliver(&raw(client, request).await?, reply).await?;
    Ok(json!({ "status": replied.task.status }))
}

/// Waits for the result as a program does: by the event stream, and by looking again when events may have been missed.
pub(crate) async fn result(client: &Client, request: &Value) -> anyhow::Result<Value> {
    let (task, mut events) = (id::<TaskId>(request, "task")?, client.follow(None));
    let wait = async {
        loop {
            match events.next().await? {
                Followed::Event(event) if event.task_id.as_ref() == Some(&task) => {}
                Followed::Notice(Notice::Connected { .. } | Notice::Rewound { .. }) => {}
                _ => continue,
            }
            if let Some(result) = outcome(client.open_task(client.task(&task).await?).await)? {
                return Ok(result);
            }
        }
    };
    tokio::time::timeout(Duration::from_secs_f64(request["timeout"].as_f64().unwrap_or(30.0)), wait).await?
}

fn outcome(opened: Opened<TaskView>) -> anyhow::Result<Option<Value>> {
    let view = opened.view;
    let ended = |kind| {
        let message = format!("{} is {}", view.id, view.status);
        Err(Failure { kind, code: view.status.to_string(), message }.into())
    };
    match view.status {
        Status::Completed => Ok(Some(json!({ "status": view.status, "text": view.result }))),
        Status::InputRequired if view.requires_review && view.result.is_some() => {
            Ok(Some(json!({ "status": view.status, "text": view.result })))
        }
        Status::InputRequired => ended("input_required"),
        status if status.is_terminal() => ended("task_failed"),
        _ => Ok(None),
    }
}
