//! Requests of webhooks: their body and their signed headers. The hub sends them; `tandem listen` sends the same ones to a
//! program on the user's own machine.

use std::fmt::Display;

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A larger event is sent without its data.
const DATA_BYTES_MAX: usize = 100 * 1024;
/// Random bytes of a new secret, as Standard Webhooks recommends.
const SECRET_BYTES: usize = 24;

/// The data of a request: the event, as on every other channel; without its fields if they are too large.
#[must_use]
pub fn data(event: &str, fields: &str, whole: &str) -> Value {
    if fields.len() > DATA_BYTES_MAX {
        return json!({ "type": event, "truncated": true });
    }
    serde_json::from_str(whole).unwrap_or_default()
}

/// The body of a request. `timestamp` is the time of the event.
#[must_use]
pub fn body(agent: &str, event: &str, timestamp: impl Display, data: Value) -> String {
    json!({ "event": event, "timestamp": timestamp.to_string(), "agentId": agent, "data": data }).to_string()
}

/// The headers of a request: id and time, and with a secret the two signatures, a hexadecimal HMAC over `timestamp.body`
/// and that of Standard Webhooks over `id.timestamp.body`. `timestamp` is the time of this attempt in seconds; `id` stays
/// the same over all attempts.
#[must_use]
pub fn headers(secret: Option<&str>, id: &str, timestamp: i64, body: &str) -> Vec<(&'static str, String)> {
    let mut headers = vec![
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", timestamp.to_string()),
        ("x-pairai-timestamp", timestamp.to_string()),
    ];
    if let Some(secret) = secret {
        let mac =
            |key: &[u8], text: String| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes());
        let plain = mac(secret.as_bytes(), format!("{timestamp}.{body}"));
        let own = decoded(secret);
        let key = own.as_deref().unwrap_or(secret.as_bytes());
        let standard = mac(key, format!("{id}.{timestamp}.{body}"));
        headers.push(("x-pairai-signature", hex(plain.as_ref())));
        headers.push(("webhook-signature", format!("v1,{}", STANDARD.encode(standard.as_ref()))));
    }
    headers
}

/// Whether a secret is `whsec_` followed by base64, which Standard Webhooks libraries take as it is. The key of any other
/// secret is its own bytes.
#[must_use]
pub fn is_standard(secret: &str) -> bool {
    decoded(secret).is_some()
}

/// A new secret of that kind; `None` if the operating system gives no random bytes.
#[must_use]
pub fn new_secret() -> Option<String> {
    let mut key = [0; SECRET_BYTES];
    aws_lc_rs::rand::fill(&mut key).ok()?;
    Some(format!("whsec_{}", STANDARD.encode(key)))
}

fn decoded(secret: &str) -> Option<Vec<u8>> {
    STANDARD.decode(secret.strip_prefix("whsec_")?).ok()
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
