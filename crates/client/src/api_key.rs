//! API keys, made by the client: whoever has the key before it is registered cannot lose it with an answer.

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tandem_api::agents::ApiKeyHash;

/// An API key.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

/// A key is never shown by accident.
impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey")
    }
}

impl ApiKey {
    /// A new key: `tdm_` and 256 random bits.
    ///
    /// # Errors
    ///
    /// Fails if the system gives no random bytes.
    pub fn generate() -> std::io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(format!("tdm_{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// The text of the key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the hub gets of it.
    #[must_use]
    pub fn hash(&self) -> ApiKeyHash {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, self.0.as_bytes()).as_ref());
        ApiKeyHash(hash)
    }
}

impl From<String> for ApiKey {
    fn from(key: String) -> Self {
        Self(key)
    }
}

impl From<ApiKey> for String {
    fn from(key: ApiKey) -> Self {
        key.0
    }
}
