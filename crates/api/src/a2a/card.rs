//! Agent cards: what an agent says about itself to those who would call it.
//!
//! A card holds no empty text, list or object and no `false`: the SDKs leave such out of what they verify, each in another
//! way, and a signature must hold for all of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::proto::{FromProto, JsonObject, Object, Wrong};

/// An agent card.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCard {
    /// The agent's name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Where and how it is called, the preferred way first.
    pub supported_interfaces: Vec<AgentInterface>,
    /// Who runs the hub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<AgentProvider>,
    /// The version of the card.
    pub version: String,
    /// Where to read more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// What the interfaces can do.
    pub capabilities: AgentCapabilities,
    /// The ways to authenticate, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub security_schemes: BTreeMap<String, SecurityScheme>,
    /// Which of them are needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub security_requirements: Vec<SecurityRequirement>,
    /// Media types that it takes.
    pub default_input_modes: Vec<String>,
    /// Media types that it answers with.
    pub default_output_modes: Vec<String>,
    /// What it can do.
    pub skills: Vec<AgentSkill>,
    /// The signatures of all the above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<AgentCardSignature>,
}

impl FromProto for AgentCard {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let card = Object::read(json)?;
        let capabilities = card.get("capabilities")?;
        Ok(Self {
            name: card.required_text("name")?,
            description: card.required_text("description")?,
            supported_interfaces: card.list("supportedInterfaces")?,
            provider: card.get("provider")?,
            version: card.required_text("version")?,
            documentation_url: card.text("documentationUrl")?,
            capabilities: capabilities.ok_or_else(|| Wrong::field("capabilities", "is required"))?,
            security_schemes: card.get("securitySchemes")?.unwrap_or_default(),
            security_requirements: card.list("securityRequirements")?,
            default_input_modes: card.list("defaultInputModes")?,
            default_output_modes: card.list("defaultOutputModes")?,
            skills: card.list("skills")?,
            signatures: card.list("signatures")?,
        })
    }
}

/// One way to call an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentInterface {
    /// The base URL.
    pub url: String,
    /// `JSONRPC` or `HTTP+JSON`.
    pub protocol_binding: String,
    /// The version of the protocol.
    pub protocol_version: String,
}

impl FromProto for AgentInterface {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let interface = Object::read(json)?;
        Ok(Self {
            url: interface.required_text("url")?,
            protocol_binding: interface.required_text("protocolBinding")?,
            protocol_version: interface.required_text("protocolVersion")?,
        })
    }
}

/// Who runs an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentProvider {
    /// Their address.
    pub url: String,
    /// Their name.
    pub organization: String,
}

impl FromProto for AgentProvider {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let provider = Object::read(json)?;
        Ok(Self {
            url: provider.required_text("url")?,
            organization: provider.required_text("organization")?,
        })
    }
}

/// What the interfaces can do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCapabilities {
    /// Whether it streams.
    pub streaming: bool,
    /// Whether it pushes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub push_notifications: bool,
    /// What it does beyond the protocol.
    pub extensions: Vec<AgentExtension>,
    /// Whether callers may ask for a card of their own.
    pub extended_agent_card: bool,
}

impl FromProto for AgentCapabilities {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let given = Object::read(json)?;
        Ok(Self {
            streaming: given.flag("streaming")?,
            push_notifications: given.flag("pushNotifications")?,
            extensions: given.list("extensions")?,
            extended_agent_card: given.flag("extendedAgentCard")?,
        })
    }
}

/// An extension. None of ours is required, and `false` is left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentExtension {
    /// Its name.
    pub uri: String,
    /// What it is for.
    pub description: String,
    /// What there is to know about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<JsonObject>,
}

impl FromProto for AgentExtension {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let extension = Object::read(json)?;
        Ok(Self {
            uri: extension.required_text("uri")?,
            description: extension.required_text("description")?,
            params: extension.metadata("params")?,
        })
    }
}

/// Something that an agent can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSkill {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Words by which it is found.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Requests that it could serve.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Media types that it takes, if other than the agent's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_modes: Vec<String>,
    /// Media types that it answers with, if other than the agent's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_modes: Vec<String>,
}

impl FromProto for AgentSkill {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let skill = Object::read(json)?;
        Ok(Self {
            id: skill.required_text("id")?,
            name: skill.required_text("name")?,
            description: skill.required_text("description")?,
            tags: skill.list("tags")?,
            examples: skill.list("examples")?,
            input_modes: skill.list("inputModes")?,
            output_modes: skill.list("outputModes")?,
        })
    }
}

/// A way to authenticate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SecurityScheme {
    /// By the `Authorization` header.
    HttpAuthSecurityScheme(HttpAuth),
}

impl FromProto for SecurityScheme {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let http = Object::read(json)?.get("httpAuthSecurityScheme")?.map(Self::HttpAuthSecurityScheme);
        http.ok_or_else(|| Wrong::here("must be a scheme that we know"))
    }
}

/// The scheme of the `Authorization` header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HttpAuth {
    /// How to get a key.
    pub description: String,
    /// `Bearer`.
    pub scheme: String,
}

impl FromProto for HttpAuth {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let auth = Object::read(json)?;
        Ok(Self { description: auth.required_text("description")?, scheme: auth.required_text("scheme")? })
    }
}

/// The schemes that are needed together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SecurityRequirement {
    /// The scopes that are needed, by scheme.
    pub schemes: BTreeMap<String, ScopeList>,
}

impl FromProto for SecurityRequirement {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        Ok(Self { schemes: Object::read(json)?.get("schemes")?.unwrap_or_default() })
    }
}

/// Scopes. Never none: see the top of this file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScopeList {
    /// The scopes.
    pub list: Vec<String>,
}

impl FromProto for ScopeList {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        Ok(Self { list: Object::read(json)?.list("list")? })
    }
}

/// A signature of a card, in the parts of a JWS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentCardSignature {
    /// The header that is signed too, in base64url.
    pub protected: String,
    /// The signature, in base64url.
    pub signature: String,
}

impl FromProto for AgentCardSignature {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let jws = Object::read(json)?;
        Ok(Self { protected: jws.required_text("protected")?, signature: jws.required_text("signature")? })
    }
}
