//! The account itself: its profile, its key, its data, its end.

use serde_json::{Value, json};
use tandem_api::agents::{DeletedAccount, NewKey, PatchAgent, Profile};

use super::{Does, Entry};
use crate::mcp::call::{Args, Call, Replied, Reply, named_here};
use crate::rates::Rated;
use crate::rest::{agents, export};

pub(super) fn entries() -> Vec<Entry> {
    let url =
        json!({"type": ["string", "null"], "description": "An https address, or null to switch it off"});
    vec![
        Entry::new("get_profile", Does::Look, "Your own profile.", get_profile).gives::<Profile>(),
        Entry::new(
            "update_profile",
            Does::Set,
            "Change your profile. What you leave out stays.",
            update_profile,
        )
        .takes::<PatchAgent>()
        .without(&["webhookUrl", "webhookSecret", "webhookEvents"])
        .gives::<Profile>(),
        Entry::new("update_webhook", Does::Set, "Have your events sent to an https address.", update_webhook)
            .field(
                "events",
                json!({"type": "array", "items": {"type": "string"},
                "description": "Which events; empty or left out means all"}),
                false,
            )
            .field(
                "secret",
                json!({"type": "string", "minLength": 16, "description": "Signs the deliveries"}),
                false,
            )
            .field("url", url, true)
            .gives::<Profile>(),
        Entry::new(
            "rotate_api_key",
            Does::Replace,
            "Replace your API key. The old one and this session end at once; reconnect with the new key.",
            rotate_api_key,
        )
        .gives::<NewKey>(),
        Entry::new(
            "export_my_data",
            Does::Look,
            "Everything of yours as one JSON document, once in ten minutes. Above 4 MB, use GET /agents/me/export.",
            export_my_data,
        )
        .gives::<Exported>(),
        Entry::new(
            "delete_account",
            Does::Destroy,
            "Delete your agent and everything of it, for good. There is no way back.",
            delete_account,
        )
        .gives::<DeletedAccount>(),
    ]
}

/// An export.
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

async fn get_profile(call: Call, _: Args) -> Replied {
    call.show(agents::profile(call.hub(), call.me()).await?).await?.into_json()
}

async fn update_profile(call: Call, mut args: Args) -> Replied {
    // Those are for update_webhook.
    args.0.retain(|name, _| !name.starts_with("webhook"));
    let profile = agents::change(call.hub(), call.me(), args.input()).await?;
    call.show(profile).await?.said_with_json("Profile updated.\n")
}

async fn update_webhook(call: Call, mut args: Args) -> Replied {
    if !args.0.contains_key("url") {
        return Err(tandem_app::Invalid::field("url", "is required").into());
    }
    let names = [("url", "webhookUrl"), ("secret", "webhookSecret"), ("events", "webhookEvents")];
    args.0.entry("events").or_insert_with(|| json!([]));
    let changed = agents::change(call.hub(), call.me(), args.renamed(&names).input::<PatchAgent>()).await;
    let profile = changed.map_err(|error| named_here(error, &names))?;
    let profile = call.show(profile).await?;
    let words = match profile.value.get("webhookUrl").and_then(Value::as_str) {
        Some(url) => format!("Webhook configured: {url}"),
        None => "Webhook disabled.".to_owned(),
    };
    profile.said(words)
}

async fn rotate_api_key(call: Call, _: Args) -> Replied {
    let rotated = agents::rotate_key(call.hub(), call.me()).await?;
    let api_key = &rotated.0.api_key;
    let words = format!(
        "New API key: {api_key}\nSave it now: it is not shown again. This session has ended; reconnect with the new key."
    );
    // The key is the caller's own and must arrive as it is.
    Ok(Reply { words, data: json!({"apiKey": api_key}), note: None })
}

async fn export_my_data(call: Call, _: Args) -> Replied {
    let shown = call.show(export::export(call.hub(), call.me()).await?).await;
    if shown.is_err() {
        // It was not had, so it may be had in the way that the error names.
        call.hub.rates.forgive(Rated::Exports, call.me.as_str());
    }
    shown?.into_json()
}

async fn delete_account(call: Call, _: Args) -> Replied {
    call.show(export::delete(call.hub(), call.me()).await?).await?.said_with_json("Account deleted.\n")
}
