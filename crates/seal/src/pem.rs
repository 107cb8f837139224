//! Key bytes to PEM text and back.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const LINE_CHARS: usize = 64;

/// Encodes bytes as PEM, in lines of 64 characters.
pub(crate) fn encode(label: &str, bytes: &[u8]) -> String {
    let mut pem = format!("-----BEGIN {label}-----\n");
    let mut rest = STANDARD.encode(bytes);
    while !rest.is_empty() {
        let tail = rest.split_off(rest.len().min(LINE_CHARS));
        pem.push_str(&rest);
        pem.push('\n');
        rest = tail;
    }
    pem.push_str(&format!("-----END {label}-----\n"));
    pem
}

/// Decodes a text that consists of one PEM block with this label.
pub(crate) fn decode(label: &str, pem: &str) -> Option<Vec<u8>> {
    let body = pem
        .trim()
        .strip_prefix(&format!("-----BEGIN {label}-----"))?
        .strip_suffix(&format!("-----END {label}-----"))?;
    let base64: String = body.split_ascii_whitespace().collect();
    STANDARD.decode(base64).ok()
}
