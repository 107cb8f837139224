//! Verifies the signatures of cards: ES256 over the canonical form (RFC 8785). The form is tried as the card was written and
//! without empty values, because the SDKs leave those out.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};
use tandem_api::a2a::AgentCardSignature;
use tandem_api::remotes::CardKey;

use crate::signing::canonical;

/// The only algorithm: that of the hub's own cards, and of the SDKs' examples.
const ALGORITHM: &str = "ES256";
/// Signatures of one card that are looked at.
const SIGNATURES_MAX: usize = 10;
/// What a public key begins with that has both coordinates.
const UNCOMPRESSED: u8 = 4;
const COORDINATE_BYTES: usize = 32;

/// What the header of a signature says.
#[derive(Debug, Clone, Default)]
pub(super) struct Header {
    pub(super) key_id: Option<String>,
    /// Where the keys are.
    pub(super) key_set: Option<String>,
}

fn header(signature: &AgentCardSignature) -> Option<Header> {
    let json = URL_SAFE_NO_PAD.decode(signature.protected.trim_end_matches('=')).ok()?;
    let header: Map<String, Value> = serde_json::from_slice(&json).ok()?;
    // An extension that must be understood is not understood here.
    if header.get("alg")?.as_str()? != ALGORITHM || header.contains_key("crit") {
        return None;
    }
    let text = |name: &str| header.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    Some(Header { key_id: text("kid"), key_set: text("jku") })
}

/// The signatures that could be verified, with their headers.
pub(super) fn usable(signatures: &[AgentCardSignature]) -> Vec<(Header, &AgentCardSignature)> {
    let first = signatures.iter().take(SIGNATURES_MAX);
    first.filter_map(|signature| Some((header(signature)?, signature))).collect()
}

/// The forms of a card that may have been signed.
pub(super) fn signed_forms(card: &str) -> Option<Vec<String>> {
    let Value::Object(mut fields) = serde_json::from_str(card).ok()? else { return None };
    fields.remove("signatures");
    let whole = Value::Object(fields);
    let mut forms = vec![canonical(&whole)];
    let lean = canonical(&without_empty(whole).unwrap_or_else(|| Value::Object(Map::new())));
    if lean != forms[0] {
        forms.push(lean);
    }
    Some(forms.into_iter().map(|form| URL_SAFE_NO_PAD.encode(form)).collect())
}

/// A value without what is empty in it; nothing if it is empty itself.
fn without_empty(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) => {
            let kept: Map<String, Value> =
                fields.into_iter().filter_map(|(name, value)| Some((name, without_empty(value)?))).collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        Value::Array(items) => {
            let kept: Vec<Value> = items.into_iter().filter_map(without_empty).collect();
            (!kept.is_empty()).then_some(Value::Array(kept))
        }
        Value::String(text) if text.is_empty() => None,
        Value::Null => None,
        plain => Some(plain),
    }
}

/// Whether a key has made this signature.
pub(super) fn is_by(key: &CardKey, signature: &AgentCardSignature, forms: &[String]) -> bool {
    let decode = |text: &str| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
    let (Some(x), Some(y), Some(signed)) = (decode(&key.x), decode(&key.y), decode(&signature.signature))
    else {
        return false;
    };
    let is_p256 = key.kty == "EC" && key.crv == "P-256";
    if !is_p256 || x.len() != COORDINATE_BYTES || y.len() != COORDINATE_BYTES {
        return false;
    }
    let point: Vec<u8> = std::iter::once(UNCOMPRESSED).chain(x).chain(y).collect();
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    forms.iter().any(|form| {
        let message = format!("{}.{form}", signature.protected);
        public.verify(message.as_bytes(), &signed).is_ok()
    })
}

/// The keys of a JWK set that can sign cards.
pub(super) fn keys_of(set: &[u8]) -> Vec<CardKey> {
    let Ok(Value::Object(mut set)) = serde_json::from_slice::<Value>(set) else { return Vec::new() };
    let Some(Value::Array(keys)) = set.remove("keys") else { return Vec::new() };
    keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).collect()
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::rand::SystemRandom;
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};

    use super::*;

    fn signed(card: &str, header: &str) -> (CardKey, AgentCardSignature) {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref()).unwrap();
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let (x, y) = pair.public_key().as_ref()[1..].split_at(COORDINATE_BYTES);
        let key = CardKey {
            kty: "EC".into(),
            crv: "P-256".into(),
            x: encode(x),
            y: encode(y),
            kid: Some("k".into()),
        };
        let protected = encode(header.as_bytes());
        let value: Value = serde_json::from_str(card).unwrap();
        let message = format!("{protected}.{}", encode(canonical(&value).as_bytes()));
        let signature = encode(pair.sign(&random, message.as_bytes()).unwrap().as_ref());
        (key, AgentCardSignature { protected, signature })
    }

    const HEADER: &str = r#"{"alg":"ES256","kid":"k","jku":"https://a/keys"}"#;

    #[test]
    fn a_card_is_verified_with_and_without_its_empty_values() {
        let (key, signature) = signed(r#"{"name":"A","pi":3.5,"skills":[]}"#, HEADER);
        let whole = r#"{ "skills": [], "pi": 3.50, "name": "A", "signatures": [{"x": 1}] }"#;
        assert!(is_by(&key, &signature, &signed_forms(whole).unwrap()));
        let other = whole.replace("\"A\"", "\"B\"");
        assert!(!is_by(&key, &signature, &signed_forms(&other).unwrap()));
        let (key, signature) = signed(r#"{"name":"A"}"#, HEADER);
        let forms = signed_forms(r#"{"name":"A","skills":[],"provider":{"url":""}}"#).unwrap();
        assert!(is_by(&key, &signature, &forms));
        let (stranger, _) = signed("{}", HEADER);
        assert!(!is_by(&stranger, &signature, &forms));
    }

    #[test]
    fn only_one_algorithm_counts() {
        for (text, is_usable) in [
            (HEADER, true),
            (r#"{"alg":"none"}"#, false),
            (r#"{"alg":"HS256"}"#, false),
            (r#"{"alg":"ES256","crit":["b64"]}"#, false),
            ("[]", false),
        ] {
            let (_, signature) = signed("{}", text);
            assert_eq!(!usable(&[signature]).is_empty(), is_usable, "{text}");
        }
    }
}
