//! `GET /.well-known/ai-catalog.json`: the public agents of this hub, and its MCP server. The format is a proposal
//! (AI Catalog 1.0, A2A pull request 2240); all that is known of it is in this file.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::{Value, json};
use tandem_core::AgentId;
use tandem_hub::Hub;
use tandem_hub::ops::cards;

use super::cards::{cacheable, reader};
use crate::http::visitor::{FromAddress, Identity, Local};
use crate::http::{ApiError, json as written, json_response};
use crate::mcp;

const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/ai-catalog+json");

pub(super) async fn catalog(
    State(hub): State<Hub>,
    address: FromAddress,
    local: Local,
) -> Result<Response, ApiError> {
    let base = hub.config.address_for(local.0);
    let nobody = reader(&Identity::Nobody, &address);
    let agents = cards::list_public(&hub, &nobody, &base).await?;
    let mut response = json_response(StatusCode::OK, written(&document(&base, &agents)));
    response.headers_mut().insert(header::CONTENT_TYPE, MEDIA_TYPE);
    cacheable(response.headers_mut(), true);
    Ok(response)
}

fn document(base: &str, agents: &[(AgentId, String)]) -> Value {
    let host = base.split_once("://").map_or(base, |(_, rest)| rest.split('/').next().unwrap_or(rest));
    // A colon would end the part of the name that says whose it is.
    let domain =
        host.rsplit_once(':').map_or(host, |(name, _)| name).trim_matches(['[', ']']).replace(':', "-");
    let mut entries = vec![json!({
        "identifier": format!("urn:air:{domain}:mcp"),
        "displayName": "Tandem hub",
        "type": "application/mcp-server+json",
        "url": format!("{base}{}", mcp::PATH),
    })];
    // The card has the name.
    entries.extend(agents.iter().map(|(agent, url)| {
        json!({
            "identifier": format!("urn:air:{domain}:agents:{agent}"),
            "type": "application/a2a-agent-card+json",
            "url": url,
        })
    }));
    json!({ "specVersion": "1.0", "host": { "displayName": host, "identifier": domain }, "entries": entries })
}
