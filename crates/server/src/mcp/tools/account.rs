//! Tools for the account: profile, key, export, deletion.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::json;
use tandem_api::agents::{DeletedAccount, PatchAgent, Profile, RotateKey};
use tandem_api::events::EventView;
use tandem_api::export::ExportView;
use tandem_api::text::HubText;
use tandem_app::Invalid;
use tandem_hub::Error;
use tandem_hub::ops::agents;
use tandem_hub::ops::export::{self, Section};
use tokio::sync::mpsc;

use super::{Entry, ToolKind};
use crate::mcp::call::{Args, Call, with_tool_names};
use crate::mcp::reply::{ANSWER_BYTES_MAX, ToolReply, ToolResult, answer_too_large, fenced};

pub(super) fn entries() -> Vec<Entry> {
    let url =
        json!({"type": ["string", "null"], "description": "An https URL, or null to turn the webhook off"});
    let skills = json!({"type": "array", "items": {"type": "object"},
        "description": "For your A2A card, each with id, name, description, tags"});
    let confirm = json!({"type": "boolean", "description": "Must be true"});
    vec![
        Entry::new(
            "get_profile",
            ToolKind::Read,
            "Get your own profile: your id, settings and credits, and how others see you.",
            get_profile,
        )
        .output::<Profile>(),
        Entry::new(
            "update_profile",
            ToolKind::Update,
            "Change your profile; omitted fields stay. Use it to be found, or to set who may connect.",
            update_profile,
        )
        .input::<PatchAgent>()
        .without_input(&["webhookUrl", "webhookSecret", "webhookEvents", "skills"])
        .field("skills", skills, false)
        .output::<Profile>(),
        Entry::new(
            "update_webhook",
            ToolKind::Update,
            "Send your events to an https URL. Use it when a server of yours should react to them.",
            update_webhook,
        )
        .field(
            "events",
            json!({"type": "array", "items": {"type": "string"},
                "description": "Event types to send; empty or omitted means all"}),
            false,
        )
        .field(
            "secret",
            json!({"type": "string", "minLength": 16, "description": "Secret that signs the deliveries"}),
            false,
        )
        .field("url", url, true)
        .output::<Profile>(),
        Entry::new(
            "rotate_api_key",
            ToolKind::Replace,
            "Replace your API key at once; this session ends. Use it when the key may have leaked, then \
             reconnect.",
            rotate_api_key,
        )
        .field("confirm", confirm.clone(), true)
        .output::<RotatedKey>(),
        Entry::new(
            "export_my_data",
            ToolKind::Read,
            "Get all your data as one JSON document, once in ten minutes. Above 4 MB, use GET \
             /agents/me/export.",
            export_my_data,
        )
        .output::<Exported>(),
        Entry::new(
            "delete_account",
            ToolKind::Delete,
            "Delete your agent and all its data for good. Use it only when your owner asks for it.",
            delete_account,
        )
        .field("confirm", confirm, true)
        .output::<DeletedAccount>(),
    ]
}

/// The result of a rotation. A model cannot make a key itself, so the hub always does.
#[derive(utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "its schema is what it is for")]
struct RotatedKey {
    api_key: String,
}

/// The result of an export.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "its schema is what it is for")]
struct Exported {
    #[schema(value_type = Object)]
    agent: (),
    connections: Vec<serde_json::Map<String, serde_json::Value>>,
    tasks: Vec<serde_json::Map<String, serde_json::Value>>,
    #[schema(rename = "__exportComplete")]
    complete: bool,
}

async fn get_profile(call: Call, _: Args) -> ToolResult {
    ToolReply::json("", agents::profile(&call.hub, &call.caller).await?)
}

async fn update_profile(call: Call, mut args: Args) -> ToolResult {
    // `update_webhook` handles these fields.
    args.0.retain(|name, _| !WEBHOOK.iter().any(|(_, field)| name == field));
    ToolReply::json("Profile updated.\n", agents::change(&call.hub, &call.caller, args.read()?).await?)
}

/// The argument names of `update_webhook`, with the names of the REST fields.
const WEBHOOK: [(&str, &str); 3] =
    [("url", "webhookUrl"), ("secret", "webhookSecret"), ("events", "webhookEvents")];

async fn update_webhook(call: Call, mut args: Args) -> ToolResult {
    if !args.0.contains_key("url") {
        return Err(Invalid::field("url", "is required").into());
    }
    args.0.entry("events").or_insert_with(|| json!([]));
    let changing = async {
        let body = args.renamed(&WEBHOOK).read::<PatchAgent>()?;
        agents::change(&call.hub, &call.caller, body).await
    };
    let profile = fenced(changing.await.map_err(|error| with_tool_names(error, &WEBHOOK))?);
    let words = match &profile.webhook_url {
        Some(url) => format!("Webhook configured: {}", url.as_str()),
        None => "Webhook disabled.".to_owned(),
    };
    ToolReply::new(&profile, words)
}

/// Refuses a call that cannot be undone, unless it is confirmed.
fn check_confirmed(args: &mut Args, what: &str) -> Result<(), Error> {
    if args.flag("confirm")? {
        return Ok(());
    }
    Err(Invalid::field("confirm", format!("must be true, because {what}")).into())
}

async fn rotate_api_key(call: Call, mut args: Args) -> ToolResult {
    check_confirmed(&mut args, "the present key stops working at once, everywhere")?;
    let rotated = fenced(agents::rotate_key(&call.hub, &call.caller, RotateKey::default()).await?);
    let key = rotated.api_key.as_ref().map_or("", HubText::as_str);
    let words = format!(
        "New API key: {key}\nSave it now: it is not shown again. This session has ended; reconnect with the new key."
    );
    ToolReply::new(&rotated, words)
}

async fn export_my_data(call: Call, _: Args) -> ToolResult {
    let sections = export::start(&call.hub, &call.caller).await?;
    let shown = exported(&call, sections).await;
    if shown.is_err() {
        // The client did not get the export, so it may request it again, as the error suggests.
        export::allow_again(&call.hub, &call.caller).await;
    }
    ToolReply::json("", shown?)
}

/// An export as one view, unless it is too much for a model.
async fn exported(call: &Call, mut sections: mpsc::Receiver<Section>) -> Result<ExportView, Error> {
    let Some(Section::Agent(profile)) = sections.recv().await else { return Err(Error::internal()) };
    let mut export = ExportView::begin(*profile);
    let (mut bytes, mut base64) = (0, String::new());
    while let Some(section) = sections.recv().await {
        bytes += match section {
            Section::Agent(_) => 0,
            Section::Connections(items) => extend(&mut export.connections, items),
            Section::Tasks(items) => extend(&mut export.tasks, items),
            Section::Messages(items) => extend(&mut export.messages, items),
            Section::File(file) | Section::FileBegins(file) => extend(&mut export.files, vec![*file]),
            Section::FileBytes(more) => {
                base64.push_str(&more);
                more.len()
            }
            Section::FileEnds { complete } => {
                let base64 = std::mem::take(&mut base64);
                if let Some(file) = export.files.last_mut().filter(|_| complete) {
                    file.set_content(base64, call.me());
                }
                0
            }
            Section::Decisions(items) => extend(&mut export.decisions, items),
            Section::Blocks(items) => extend(&mut export.blocks, items),
            Section::Events(items) => {
                let initiators: HashMap<_, _> =
                    export.tasks.iter().map(|task| (&task.id, &task.initiator_agent_id)).collect();
                let typed = |event: EventView| {
                    let initiator = event.task_id.as_ref().and_then(|task| initiators.get(task));
                    let initiator = initiator.map(|initiator| (*initiator).clone());
                    event.typed_for(call.me(), initiator.as_ref())
                };
                extend(&mut export.events, items.into_iter().map(typed).collect())
            }
            Section::Complete => {
                export.complete = true;
                0
            }
        };
        if bytes > ANSWER_BYTES_MAX {
            return Err(answer_too_large());
        }
    }
    if export.complete {
        return Ok(export);
    }
    // An export that was cut off: most likely, the key has ended.
    call.hub.access.check(&call.caller).await?;
    Err(Error::internal())
}

/// Adds items to a part of an export; gives their size.
fn extend<T: Serialize>(part: &mut Vec<T>, items: Vec<T>) -> usize {
    let size = serde_json::to_string(&items).map_or(0, |text| text.len());
    part.extend(items);
    size
}

async fn delete_account(call: Call, mut args: Args) -> ToolResult {
    check_confirmed(&mut args, "this deletes the agent and all its data for good")?;
    ToolReply::json("Account deleted.\n", agents::delete(&call.hub, &call.caller).await?)
}
