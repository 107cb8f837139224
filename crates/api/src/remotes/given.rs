//! What the owner of a remote gives: credentials, origins and keys.

use std::fmt;

use serde::{Deserialize, Serialize};
use tandem_core::remotes::{Auth, AuthType};
use tandem_core::text::Unfit;
use utoipa::ToSchema;

use crate::words;

/// Characters of a secret, of a header's name, and of an origin.
const VALUE_CHARS_MAX: usize = 8_192;
const HEADER_CHARS_MAX: usize = 64;
const ORIGIN_CHARS_MAX: usize = 300;
/// Origins and keys that its owner can name.
const LIST_MAX: usize = 20;
/// Headers that say something else.
const TAKEN_HEADERS: [&str; 12] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "idempotency-key",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What the hub authenticates itself with to an agent elsewhere. It is never shown again.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", try_from = "GivenAuth")]
pub struct RemoteAuth {
    /// `bearer` and `basic`: the `Authorization` header. `apiKey`: a header of its own.
    #[serde(rename = "type")]
    #[schema(value_type = words::RemoteAuthType)]
    pub kind: AuthType,
    /// The token, `user:password`, or the key.
    #[schema(min_length = 1, max_length = 8192)]
    pub value: String,
    /// The header of an API key. Default: the one that the card names, else `X-API-Key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, max_length = 64)]
    pub header: Option<String>,
}

impl fmt::Debug for RemoteAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteAuth").field("kind", &self.kind).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct GivenAuth {
    #[serde(rename = "type")]
    kind: AuthType,
    value: String,
    #[serde(default)]
    header: Option<String>,
}

impl TryFrom<GivenAuth> for RemoteAuth {
    type Error = Unfit;

    fn try_from(given: GivenAuth) -> Result<Self, Unfit> {
        let GivenAuth { kind, value, header } = given;
        let unfit = |why: &str| Err(Unfit(why.into()));
        let is_visible = |byte: u8| (b' '..=b'~').contains(&byte);
        if value.trim().is_empty() || value.len() > VALUE_CHARS_MAX {
            return unfit("value must have 1 to 8192 characters");
        }
        if kind != AuthType::Basic && !value.bytes().all(is_visible) {
            return unfit("value must have visible ASCII characters only");
        }
        if kind == AuthType::Basic && (!value.contains(':') || value.chars().any(char::is_control)) {
            return unfit("value must be user:password");
        }
        if header.is_some() && kind != AuthType::ApiKey {
            return unfit("header is for an apiKey only");
        }
        if header.as_deref().is_some_and(|name| !is_own_header(name)) {
            return unfit("header must be the name of a header of its own");
        }
        Ok(Self { kind, value, header })
    }
}

/// Whether a key can be sent in a header with this name: it must say nothing else.
#[must_use]
pub fn is_own_header(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let lower = name.to_ascii_lowercase();
    let is_fit = !name.is_empty() && name.len() <= HEADER_CHARS_MAX && name.bytes().all(is_token);
    is_fit && !TAKEN_HEADERS.contains(&lower.as_str()) && !lower.starts_with("a2a-")
}

impl From<RemoteAuth> for Auth {
    fn from(auth: RemoteAuth) -> Self {
        Self { kind: auth.kind, value: auth.value, header: auth.header }
    }
}

/// A public key that signs cards: an elliptic curve key P-256, as a JWK. Other fields are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CardKey {
    /// `EC`.
    #[schema(example = "EC")]
    pub kty: String,
    /// `P-256`.
    #[schema(example = "P-256")]
    pub crv: String,
    /// The first coordinate, in base64url.
    pub x: String,
    /// The second coordinate, in base64url.
    pub y: String,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub kid: Option<String>,
}

/// Origins such as `https://example.com`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct OriginList(Vec<String>);

impl TryFrom<Vec<String>> for OriginList {
    type Error = Unfit;

    fn try_from(origins: Vec<String>) -> Result<Self, Unfit> {
        if origins.len() > LIST_MAX {
            return Err(Unfit(format!("must be at most {LIST_MAX}")));
        }
        let is_fit = |origin: &String| {
            let rest = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
            let is_host = |c: char| !c.is_control() && !c.is_whitespace() && !"/?#@,".contains(c);
            origin.chars().count() <= ORIGIN_CHARS_MAX
                && rest.is_some_and(|host| !host.is_empty() && host.chars().all(is_host))
        };
        if !origins.iter().all(is_fit) {
            return Err(Unfit("each must be an origin such as https://example.com".into()));
        }
        Ok(Self(origins.into_iter().map(|origin| origin.to_ascii_lowercase()).collect()))
    }
}

impl From<OriginList> for Vec<String> {
    fn from(list: OriginList) -> Self {
        list.0
    }
}

/// Keys that sign a card.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<CardKey>")]
pub struct CardKeys(Vec<CardKey>);

impl TryFrom<Vec<CardKey>> for CardKeys {
    type Error = Unfit;

    fn try_from(keys: Vec<CardKey>) -> Result<Self, Unfit> {
        if keys.is_empty() || keys.len() > LIST_MAX {
            return Err(Unfit(format!("must be 1 to {LIST_MAX} keys")));
        }
        let is_fit =
            |key: &CardKey| key.kty == "EC" && key.crv == "P-256" && key.x.len() <= 64 && key.y.len() <= 64;
        let is_short = |key: &CardKey| key.kid.as_ref().is_none_or(|kid| kid.len() <= 256);
        if !keys.iter().all(|key| is_fit(key) && is_short(key)) {
            return Err(Unfit("each must be a public key of the curve P-256".into()));
        }
        Ok(Self(keys))
    }
}

impl CardKeys {
    /// The keys.
    #[must_use]
    pub fn as_slice(&self) -> &[CardKey] {
        &self.0
    }
}
