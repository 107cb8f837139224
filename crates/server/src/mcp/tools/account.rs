//! The account itself: its key, its data, its end.

use serde_json::json;
use tandem_api::agents::{DeletedAccount, NewKey};

use super::{Does, Entry};
use crate::mcp::call::{Args, Call, Replied};
use crate::rest::{agents, export};

pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry::new(
            "rotate_api_key",
            Does::Destroy,
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

async fn rotate_api_key(call: Call, _: Args) -> Replied {
    let rotated = agents::rotate_key(call.hub(), call.me()).await?;
    let api_key = &rotated.0.api_key;
    let words = format!(
        "New API key: {api_key}\nSave it now: it is not shown again. This session has ended; reconnect with the new key."
    );
    // The key is the caller's own and must arrive as it is.
    Ok(crate::mcp::call::Reply { words, data: json!({"apiKey": api_key}) })
}

async fn export_my_data(call: Call, _: Args) -> Replied {
    call.show(export::export(call.hub(), call.me()).await?).await?.as_json()
}

async fn delete_account(call: Call, _: Args) -> Replied {
    call.show(export::delete(call.hub(), call.me()).await?).await?.said_with_json("Account deleted.\n")
}
