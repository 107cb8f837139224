//! One network: its members, its broadcasts, its invitations and its end.

use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use serde::Deserialize;
use tandem_api::networks::{
    BroadcastFilter, BroadcastView, CreateInvite, InviteView, MemberView, NetworkRole, SendBroadcast,
};
use tandem_api::tasks::PageQuery;
use tandem_core::NetworkId;
use tandem_core::text::{Body, Capability};
use tandem_hub::ops::{networks, parse_id};
use tandem_hub::{Error, Hub};

use super::agents::OneAgent;
use super::copy::Copied;
use super::networks::Row;
use super::people::Party;
use super::refused::{Refused, frame};
use super::session::{Nothing, Sent};
use super::shell::path_of;
use super::words::When;
use super::{Form, Page, Section, Shell, Viewer, filters, html, redirect};

/// Members and messages on one page.
const PAGE: i64 = 50;

pub(crate) fn routes() -> Router<Hub> {
    Router::new()
        .route("/app/{agent}/networks/{network}", get(page))
        .route("/app/{agent}/networks/{network}/broadcast", post(broadcast))
        .route("/app/{agent}/networks/{network}/invite", post(invite))
        .route("/app/{agent}/networks/{network}/remove", post(remove))
        .route("/app/{agent}/networks/{network}/leave", post(leave))
        .route("/app/{agent}/networks/{network}/delete", post(delete))
}

#[derive(Debug)]
struct Member {
    party: Party,
    is_owner: bool,
    is_online: bool,
    capabilities: Vec<String>,
    since: When,
}

impl Member {
    fn new(member: &MemberView, shell: &Shell) -> Self {
        Self {
            party: Party::new(&member.agent_id, member.agent_name.as_str(), shell),
            is_owner: member.role == NetworkRole::Owner,
            is_online: member.online,
            capabilities: member.capabilities.as_slice().to_vec(),
            since: shell.when(&member.created_at),
        }
    }
}

#[derive(Debug)]
struct Message {
    party: Party,
    when: When,
    recipients: i64,
    content: String,
}

impl Message {
    fn new(message: &BroadcastView, shell: &Shell) -> Self {
        Self {
            party: Party::new(&message.sender_agent_id, message.sender_agent_name.as_str(), shell),
            when: shell.when(&message.created_at),
            recipients: message.recipients,
            content: message.content.as_str().to_owned(),
        }
    }
}

/// A new invitation. It is shown once.
#[derive(Debug)]
struct Invited {
    code: String,
    uses: i64,
    ends: When,
}

#[derive(Template)]
#[template(path = "app/network.html")]
struct NetworkPage {
    shell: Shell,
    refused: Refused,
    row: Row,
    description: Option<String>,
    members: Vec<Member>,
    members_next: Option<String>,
    messages: Vec<Message>,
    messages_next: Option<String>,
    invited: Option<Invited>,
    command: Copied,
}

async fn show(
    hub: &Hub,
    viewer: &Viewer,
    id: &NetworkId,
    refused: Refused,
    invite: Option<InviteView>,
) -> Page {
    let mut shell = frame(hub, viewer, Section::Networks, &refused).await?;
    if invite.is_some() {
        shell.live = None;
    }
    let asked = viewer.browser.query();
    let network = networks::view(hub, &viewer.caller, id).await?;
    let page_of = |field: &str| PageQuery { limit: Some(PAGE), cursor: asked.given(field) };
    let members = networks::members(hub, &viewer.caller, id, page_of("members")).await?;
    let messages = networks::messages(hub, &viewer.caller, id, page_of("messages")).await?;
    let invited = invite.map(|invite| Invited {
        code: invite.code.as_str().to_owned(),
        uses: invite.max_uses,
        ends: shell.when(&invite.expires_at),
    });
    let page = NetworkPage {
        row: Row::new(&network, &shell),
        description: network.description.as_ref().map(|text| text.as_str().to_owned()),
        members: members.items.iter().map(|member| Member::new(member, &shell)).collect(),
        members_next: members.next,
        // The newest on top, as everywhere.
        messages: messages.items.iter().rev().map(|message| Message::new(message, &shell)).collect(),
        messages_next: messages.next,
        invited,
        command: Copied::new("broadcast", "send a broadcast")
            .command(["network", "broadcast", id.as_str(), "TEXT"])
            .curl(
                hub,
                "POST",
                &format!("/networks/{id}/broadcast"),
                Some(&serde_json::json!({ "content": "TEXT" })),
            ),
        shell,
        refused,
    };
    html(page.refused.status(), &page)
}

/// `GET /app/{agent}/networks/{network}`
async fn page(State(hub): State<Hub>, viewer: Viewer, Path((_, id)): Path<(String, String)>) -> Page {
    show(&hub, &viewer, &parse_id(&id, "network")?, Refused::default(), None).await
}

#[derive(Debug, Deserialize)]
struct NewBroadcast {
    content: Option<Body>,
    capability: Option<Capability>,
    online: Option<bool>,
}

/// `POST /app/{agent}/networks/{network}/broadcast`
async fn broadcast(
    State(hub): State<Hub>,
    Path((_, id)): Path<(String, String)>,
    form: Form<Viewer, NewBroadcast>,
) -> Page {
    let id: NetworkId = parse_id(&id, "network")?;
    let Form { by, fields, sent } = form;
    let sending = async {
        let NewBroadcast { content, capability, online } = fields?;
        let filter =
            (capability.is_some() || online.is_some()).then_some(BroadcastFilter { capability, online });
        let required = || tandem_app::Invalid::field("content", "must not be empty");
        let body = SendBroadcast { content: content.ok_or_else(required)?, filter };
        networks::broadcast(&hub, &by.caller, &id, body).await.map(drop)
    };
    let outcome = sending.await;
    done(&hub, &by, &id, outcome, ("broadcast", sent)).await
}

/// `POST /app/{agent}/networks/{network}/invite`. The code is in the answer, and nowhere else.
async fn invite(
    State(hub): State<Hub>,
    Path((_, id)): Path<(String, String)>,
    form: Form<Viewer, CreateInvite>,
) -> Page {
    let id: NetworkId = parse_id(&id, "network")?;
    let Form { by, fields, sent } = form;
    let invited = match fields {
        Ok(body) => networks::invite(&hub, &by.caller, &id, body).await,
        Err(error) => Err(error),
    };
    match invited {
        Ok(invite) => show(&hub, &by, &id, Refused::default(), Some(invite)).await,
        Err(error) => show(&hub, &by, &id, Refused::new("invite", error, sent)?, None).await,
    }
}

/// `POST /app/{agent}/networks/{network}/remove`
async fn remove(
    State(hub): State<Hub>,
    Path((_, id)): Path<(String, String)>,
    form: Form<Viewer, OneAgent>,
) -> Page {
    let id: NetworkId = parse_id(&id, "network")?;
    networks::remove_member(&hub, &form.by.caller, &id, &form.fields?.agent_id).await?;
    Ok(redirect(&format!("{}/networks/{id}?done=deleted", path_of(&form.by.caller.agent))))
}

/// `POST /app/{agent}/networks/{network}/leave`
async fn leave(
    State(hub): State<Hub>,
    Path((_, id)): Path<(String, String)>,
    form: Form<Viewer, Nothing>,
) -> Page {
    networks::leave(&hub, &form.by.caller, &parse_id(&id, "network")?).await?;
    Ok(redirect(&format!("{}/networks?done=left", path_of(&form.by.caller.agent))))
}

/// `POST /app/{agent}/networks/{network}/delete`
async fn delete(
    State(hub): State<Hub>,
    Path((_, id)): Path<(String, String)>,
    form: Form<Viewer, Nothing>,
) -> Page {
    networks::delete(&hub, &form.by.caller, &parse_id(&id, "network")?).await?;
    Ok(redirect(&format!("{}/networks?done=deleted", path_of(&form.by.caller.agent))))
}

async fn done(
    hub: &Hub,
    viewer: &Viewer,
    id: &NetworkId,
    outcome: Result<(), Error>,
    (form, sent): (&'static str, Sent),
) -> Page {
    match outcome {
        Ok(()) => {
            let base = path_of(&viewer.caller.agent);
            Ok(redirect(&format!("{base}/networks/{id}?done={form}")))
        }
        Err(error) => show(hub, viewer, id, Refused::new(form, error, sent)?, None).await,
    }
}
