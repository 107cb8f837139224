//! Cards of agents elsewhere: what a caller needs of them. They are read leniently, because what we do not know may be right.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::card::AgentCardSignature;
use super::proto::{FromProto, Object, Wrong};

/// The card of an agent elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignCard {
    /// The agent's name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// The version of the card.
    pub version: String,
    /// Where and how it is called, the preferred way first.
    pub interfaces: Vec<ForeignInterface>,
    /// What the interfaces can do.
    pub capabilities: ForeignCapabilities,
    /// The ways to authenticate, by name.
    pub schemes: BTreeMap<String, ForeignScheme>,
    /// Which of them are needed: one of these sets.
    pub requirements: Vec<ForeignRequirement>,
    /// The signatures of the rest.
    pub signatures: Vec<AgentCardSignature>,
}

impl FromProto for ForeignCard {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let card = Object::read(json)?;
        Ok(Self {
            name: card.required_text("name")?,
            description: card.text("description")?,
            version: card.text("version")?.unwrap_or_default(),
            interfaces: card.list("supportedInterfaces")?,
            capabilities: card.get("capabilities")?.unwrap_or_default(),
            schemes: card.get("securitySchemes")?.unwrap_or_default(),
            requirements: card.list("securityRequirements")?,
            signatures: card.list("signatures")?,
        })
    }
}

/// One way to call an agent elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignInterface {
    /// The base URL.
    pub url: String,
    /// `JSONRPC`, `HTTP+JSON`, or what we do not speak.
    pub binding: String,
    /// The version of the protocol.
    pub version: String,
    /// What each request has to name.
    pub tenant: Option<String>,
}

impl FromProto for ForeignInterface {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let interface = Object::read(json)?;
        Ok(Self {
            url: interface.text("url")?.unwrap_or_default(),
            binding: interface.text("protocolBinding")?.unwrap_or_default(),
            version: interface.text("protocolVersion")?.unwrap_or_default(),
            tenant: interface.text("tenant")?,
        })
    }
}

/// What the interfaces of an agent elsewhere can do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignCapabilities {
    /// Whether it streams.
    pub streaming: bool,
    /// Whether it pushes.
    pub push_notifications: bool,
    /// The extensions that each caller has to use.
    pub required_extensions: Vec<String>,
}

impl FromProto for ForeignCapabilities {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let given = Object::read(json)?;
        let extensions: Vec<ForeignExtension> = given.list("extensions")?;
        let required = extensions.into_iter().filter(|extension| extension.required);
        Ok(Self {
            streaming: given.flag("streaming")?,
            push_notifications: given.flag("pushNotifications")?,
            required_extensions: required.map(|extension| extension.uri).collect(),
        })
    }
}

struct ForeignExtension {
    uri: String,
    required: bool,
}

impl FromProto for ForeignExtension {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let extension = Object::read(json)?;
        Ok(Self { uri: extension.text("uri")?.unwrap_or_default(), required: extension.flag("required")? })
    }
}

/// A way to authenticate to an agent elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForeignScheme {
    /// By the `Authorization` header; the scheme in lower case.
    Http(String),
    /// By a header with this name.
    ApiKey(String),
    /// By a token that somebody else has given.
    Token,
    /// In another way.
    Other,
}

impl FromProto for ForeignScheme {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let scheme = Object::read(json)?;
        if let Some(http) = scheme.value("httpAuthSecurityScheme")? {
            let name = Object::read(http)?.text("scheme")?.unwrap_or_default();
            return Ok(Self::Http(name.to_ascii_lowercase()));
        }
        if let Some(key) = scheme.value("apiKeySecurityScheme")? {
            let key = Object::read(key)?;
            let is_header = key.text("location")?.is_none_or(|place| place.eq_ignore_ascii_case("header"));
            return Ok(match key.text("name")? {
                Some(name) if is_header => Self::ApiKey(name),
                _ => Self::Other,
            });
        }
        let is_token = scheme.value("oauth2SecurityScheme")?.is_some()
            || scheme.value("openIdConnectSecurityScheme")?.is_some();
        Ok(if is_token { Self::Token } else { Self::Other })
    }
}

/// Schemes that are needed together, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignRequirement(pub Vec<String>);

impl FromProto for ForeignRequirement {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let requirement = Object::read(json)?;
        let Some(schemes) = requirement.value("schemes")? else { return Ok(Self(Vec::new())) };
        let named = Object::read(schemes)?;
        Ok(Self(named.fields().map(|(name, _)| name.to_owned()).collect()))
    }
}
