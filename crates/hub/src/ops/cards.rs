//! A2A cards: what an agent says about itself to those who would call it. They are signed by the hub.

use std::collections::BTreeMap;

use jiff::fmt::rfc2822::DateTimePrinter;
use serde_json::{Map, Value, json};
use tandem_api::a2a::{
    AgentCapabilities, AgentCard, AgentExtension, AgentInterface, AgentProvider, AgentSkill, HUB_EXTENSION,
    HttpAuth, JsonObject, PROTOCOL_VERSION, ScopeList, SecurityRequirement, SecurityScheme,
};
use tandem_api::agents::Presence;
use tandem_app::{cards, keys};
use tandem_core::agents::{A2aAccess, Agent};
use tandem_core::{AgentId, Rule, Timestamp};
use tandem_store::Owner;

use super::a2a;
use crate::signing::canonical;
use crate::{Address, Caller, Error, HubParts};

/// Where the key set is, below the hub's address.
pub const JWKS_PATH: &str = "/.well-known/jwks.json";
/// What an agent takes and answers with: text, and files of the types that a plain task allows.
const MODES: [&str; 8] = [
    "text/plain",
    "application/json",
    "application/pdf",
    "text/csv",
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
];
/// The scheme of a key of the hub, in a card.
const BEARER: &str = "bearer";

/// A signed card.
#[derive(Debug)]
pub struct Card {
    pub card: AgentCard,
    /// Says whether two cards are the same but for their signatures.
    pub hash: String,
    /// When the agent last changed it, as an HTTP date.
    pub changed_at: String,
    /// Whether anybody may read it.
    pub is_public: bool,
}

/// Who reads a card: an agent, or somebody at an address.
#[derive(Debug)]
pub struct Reader {
    pub agent: Option<AgentId>,
    pub address: Address,
}

impl Reader {
    fn turn(&self) -> Owner {
        self.agent.as_ref().map_or_else(|| (&self.address).into(), Owner::agent)
    }
}

/// The card of an agent. `base` is the hub's address, without a slash at its end.
pub async fn card(hub: &HubParts, reader: Reader, agent: &AgentId, base: &str) -> Result<Card, Error> {
    let (turn, by, of) = (reader.turn(), reader.agent, agent.clone());
    let found = hub.read_for(turn, move |tx, _| cards::find(tx, by.as_ref(), &of)).await?;
    signed(hub, &found, base, None)
}

/// The card with what this caller may know beyond it.
pub async fn extended(hub: &HubParts, caller: &Caller, agent: &AgentId, base: &str) -> Result<Card, Error> {
    let (by, of) = (caller.agent.clone(), agent.clone());
    let found = hub.read(caller, move |tx, _| cards::find_to_call(tx, &by, &of)).await?;
    let seen = hub.presence(&found).await;
    let mut known = json!({ "online": seen.online, "reach": seen.reach });
    if let Some(terms) = a2a::terms(hub, caller, agent).await? {
        known["approval"] = json!(terms.approval.map_or("auto", Rule::as_str));
        known["liveTasks"] = json!(terms.live_tasks);
        known["liveTasksMax"] = json!(terms.live_tasks_max);
        let of = agent.clone();
        known["ahead"] = json!(hub.read(caller, move |tx, _| tandem_app::a2a::ahead(tx, &of)).await?);
    }
    signed(hub, &found, base, Some(known))
}

/// How the agent that is called is reached, if the caller may call it.
pub async fn called(hub: &HubParts, caller: &Caller, agent: &AgentId) -> Result<Presence, Error> {
    let (by, of) = (caller.agent.clone(), agent.clone());
    let found = hub.read(caller, move |tx, _| cards::find_to_call(tx, &by, &of)).await?;
    Ok(hub.presence(&found).await)
}

/// The same for a client to whom something is pushed.
pub(crate) async fn seen_by(hub: &HubParts, client: &AgentId, agent: &AgentId) -> Result<Presence, Error> {
    let (by, of) = (client.clone(), agent.clone());
    let found = hub.db.read(move |tx, _| cards::find_to_call(tx, &by, &of)).await?;
    Ok(hub.presence(&found).await)
}

/// The agents whose cards anybody may read, with the addresses of their cards.
pub async fn list_public(
    hub: &HubParts,
    reader: &Reader,
    base: &str,
) -> Result<Vec<(AgentId, String)>, Error> {
    let found = hub.read_for(reader.turn(), |tx, _| cards::list_public(tx)).await?;
    let entry = |agent: Agent| {
        let url = format!("{}/.well-known/agent-card.json", address(base, &agent.id));
        (agent.id, url)
    };
    Ok(found.into_iter().map(entry).collect())
}

/// Where an agent is called.
#[must_use]
pub fn address(base: &str, agent: &AgentId) -> String {
    format!("{base}/a2a/agents/{agent}")
}

fn signed(hub: &HubParts, agent: &Agent, base: &str, known: Option<Value>) -> Result<Card, Error> {
    let mut card = unsigned(agent, base, extension(hub, known)?);
    let written = serde_json::to_value(&card).map_err(|_| Error::internal())?;
    let hash = keys::hex(&keys::sha256(canonical(&written).as_bytes())[..8]);
    card.version = format!("1.0.0+{hash}");
    hub.signing.sign_card(&mut card, &format!("{base}{JWKS_PATH}"))?;
    let changed_at = http_date(agent.profile_at.unwrap_or(agent.created_at))?;
    Ok(Card { card, hash, changed_at, is_public: agent.a2a == A2aAccess::Public })
}

fn http_date(at: Timestamp) -> Result<String, Error> {
    let moment = jiff::Timestamp::from_millisecond(at.0).map_err(|_| Error::internal())?;
    DateTimePrinter::new().timestamp_to_rfc9110_string(&moment).map_err(|_| Error::internal())
}

fn unsigned(agent: &Agent, base: &str, extension: AgentExtension) -> AgentCard {
    let url = address(base, &agent.id);
    let interface = |binding: &str| AgentInterface {
        url: url.clone(),
        protocol_binding: binding.to_owned(),
        protocol_version: PROTOCOL_VERSION.to_owned(),
    };
    let auth = HttpAuth {
        description: "A key of this hub: of an agent that is connected to this one, or of its guest."
            .to_owned(),
        scheme: "Bearer".to_owned(),
    };
    let scopes = ScopeList { list: vec!["agent".to_owned()] };
    let modes: Vec<String> = MODES.map(str::to_owned).into();
    let host = base.split_once("://").map_or(base, |(_, host)| host);
    AgentCard {
        name: agent.name.clone(),
        description: match agent.description.as_deref().map(str::trim) {
            None | Some("") => format!("{}, an agent on a Tandem hub", agent.name),
            Some(description) => description.to_owned(),
        },
        supported_interfaces: vec![interface("JSONRPC"), interface("HTTP+JSON")],
        provider: Some(AgentProvider { url: base.to_owned(), organization: host.to_owned() }),
        version: "1.0.0".to_owned(),
        documentation_url: Some(format!("{base}/docs")),
        capabilities: AgentCapabilities {
            streaming: true,
            push_notifications: true,
            extensions: vec![extension],
            extended_agent_card: true,
        },
        security_schemes: BTreeMap::from([(BEARER.to_owned(), SecurityScheme::HttpAuthSecurityScheme(auth))]),
        security_requirements: vec![SecurityRequirement {
            schemes: BTreeMap::from([(BEARER.to_owned(), scopes)]),
        }],
        default_input_modes: modes.clone(),
        default_output_modes: modes,
        skills: skills(agent),
        signatures: Vec::new(),
    }
}

/// The skills that its owner wrote, else one for each of its capabilities, else one.
fn skills(agent: &Agent) -> Vec<AgentSkill> {
    let stored = agent.skills.as_deref().and_then(|json| serde_json::from_str::<Vec<AgentSkill>>(json).ok());
    let mut skills = stored.unwrap_or_default();
    if skills.is_empty() {
        skills = agent.capabilities.iter().map(|tag| skill(tag, format!("Tasks about {tag}"))).collect();
    }
    if skills.is_empty() {
        skills.push(skill("general", "Tasks in plain words".to_owned()));
    }
    for skill in &mut skills {
        if skill.tags.is_empty() {
            skill.tags.push(skill.id.clone());
        }
    }
    skills
}

fn skill(tag: &str, description: String) -> AgentSkill {
    AgentSkill {
        id: tag.to_owned(),
        name: tag.to_owned(),
        description,
        tags: vec![tag.to_owned()],
        examples: Vec::new(),
        input_modes: Vec::new(),
        output_modes: Vec::new(),
    }
}

/// What the hub offers beyond the protocol, and what the reader may know of the agent at this moment.
fn extension(hub: &HubParts, known: Option<Value>) -> Result<AgentExtension, Error> {
    let mut params = Map::new();
    params.insert("offlineDelivery".into(), true.into());
    params.insert("idempotencyKey".into(), true.into());
    params.insert("waitSeconds".into(), hub.config.a2a_wait_seconds.into());
    let sets =
        ["title", "priority", "ttlSeconds", "leaseSeconds", "onStall", "maxMessages", "parentTaskId", "hops"];
    params.insert("sets".into(), json!(sets));
    let shows = [
        "status",
        "nextStatuses",
        "delivery",
        "online",
        "approval",
        "attempt",
        "expiresAt",
        "progress",
        "progressNote",
    ];
    params.insert("shows".into(), json!(shows));
    if let Some(known) = known {
        params.insert("now".into(), known);
    }
    let params = JsonObject::new(Value::Object(params).to_string()).ok_or_else(Error::internal)?;
    Ok(AgentExtension {
        uri: HUB_EXTENSION.to_owned(),
        description:
            "Delivery to agents that are offline, sends that take effect once, and more about each task"
                .to_owned(),
        params: Some(params),
    })
}
