//! API keys that a client makes itself. The hub gets the hash only, so an answer that is lost costs nothing: the client has
//! the key already and tries it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::fence::Fence;
use crate::text::HubText;

/// SHA-256 of a whole API key, on the wire as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ApiKeyHash(pub [u8; 32]);

impl TryFrom<String> for ApiKeyHash {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || "must be the SHA-256 of the key as 64 lower-case hexadecimal digits".to_owned();
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(wrong()),
        };
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let mut hash = [0; 32];
        if pairs.len() != hash.len() || !rest.is_empty() {
            return Err(wrong());
        }
        for (byte, [high, low]) in hash.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self(hash))
    }
}

impl From<ApiKeyHash> for String {
    fn from(hash: ApiKeyHash) -> Self {
        hash.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// How to replace your API key.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RotateKey {
    /// SHA-256 of a key that you made: `tdm_` and at least 43 characters of `[A-Za-z0-9_-]`. Omitted: the hub makes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, pattern = "^[0-9a-f]{64}$")]
    pub api_key_hash: Option<ApiKeyHash>,
}

/// A new API key.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct NewKey {
    /// The API key. It is not stored and cannot be shown again. Null if you made it. The old key no longer works.
    #[schema(value_type = Option<String>)]
    pub api_key: Option<HubText>,
}
