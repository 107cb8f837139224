//! Requests that one node of a hub passes on to another.
//!
//! The node that a client has connected to has counted the request and knows the client's address. It says so in headers
//! that are signed with the secret of the nodes; without the signature they are ignored. The receiving node checks the
//! agent's key like that of any other request.

use std::net::IpAddr;

use aws_lc_rs::hmac;
use axum::http::{HeaderMap, HeaderValue};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The address of the client.
const CLIENT: &str = "x-tandem-client";
/// The signature of a node.
const SIGNATURE: &str = "x-tandem-node-signature";

/// A request that another node has passed on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PassedOn {
    /// The address of the client that has connected to the other node.
    pub(crate) client: IpAddr,
}

/// What is signed: the client's address, and what the request says about who it is and which session it is for, so that
/// the headers are of no use with another request.
fn signed_text(headers: &HeaderMap, client: &str) -> Vec<u8> {
    let mut text = b"passed on\n".to_vec();
    text.extend_from_slice(client.as_bytes());
    for name in ["authorization", "mcp-session-id"] {
        text.push(b'\n');
        text.extend_from_slice(headers.get(name).map_or(&[][..], HeaderValue::as_bytes));
    }
    text
}

fn key(secret: &[u8]) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret)
}

/// Signs a request that is passed on for this client. The other headers are complete by now.
pub(crate) fn sign(headers: &mut HeaderMap, secret: &[u8], client: IpAddr) {
    let client = client.to_string();
    let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&key(secret), &signed_text(headers, &client)));
    for (name, value) in [(CLIENT, client), (SIGNATURE, signature)] {
        if let Ok(mut value) = HeaderValue::from_str(&value) {
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
}

/// Removes the headers of [`sign`], and returns what they say if the signature is right.
pub(crate) fn take(headers: &mut HeaderMap, secret: &[u8]) -> Option<PassedOn> {
    let (client, signature) = (headers.remove(CLIENT), headers.remove(SIGNATURE));
    let (client, signature) = (client?, signature?);
    let client = client.to_str().ok()?;
    let signature = URL_SAFE_NO_PAD.decode(signature.as_bytes()).ok()?;
    // Takes the same time wherever the difference is.
    hmac::verify(&key(secret), &signed_text(headers, client), &signature).ok()?;
    Some(PassedOn { client: client.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_static("Bearer key"));
        headers.insert("mcp-session-id", HeaderValue::from_static("node.session"));
        headers
    }

    #[test]
    fn only_a_node_can_sign_and_only_for_this_request() {
        let client: IpAddr = [192, 0, 2, 7].into();
        let signed = || {
            let mut headers = request();
            sign(&mut headers, b"secret", client);
            headers
        };
        let mut headers = signed();
        assert_eq!(take(&mut headers, b"secret").map(|passed| passed.client), Some(client));
        assert_eq!(headers, request(), "nobody else sees them");
        assert!(take(&mut signed(), b"other").is_none());
        for (name, value) in [
            (CLIENT, "192.0.2.8"),
            ("authorization", "Bearer other"),
            ("mcp-session-id", "node.other"),
            (SIGNATURE, "AAAA"),
            (SIGNATURE, "?"),
        ] {
            let mut headers = signed();
            headers.insert(name, HeaderValue::from_static(value));
            assert!(take(&mut headers, b"secret").is_none(), "{name}");
            assert!(!headers.contains_key(CLIENT) && !headers.contains_key(SIGNATURE));
        }
        assert!(take(&mut request(), b"secret").is_none());
    }
}
