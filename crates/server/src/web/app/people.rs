//! Agents as pages show them: round and filled if they are the reader's own, square and outlined if another's.

use tandem_api::tasks::TaskView;
use tandem_core::AgentId;
use tandem_seal::PublicKey;

use super::{Shell, words};

/// Segments of the ring around a large avatar, and the part of each that is drawn.
const SEGMENTS: u8 = 8;
const DRAWN: &str = "0.8";
const GAP: &str = "0.2";

/// An agent on a page.
#[derive(Debug, Clone)]
pub(crate) struct Party {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The two letters of its avatar.
    pub(crate) initials: String,
    /// Whether it is signed in in this browser.
    pub(crate) is_own: bool,
    /// Whether it is the agent whose page this is.
    pub(crate) is_me: bool,
    /// The first byte of its key's fingerprint, if it has a key: a hint which of two agents it is, and no proof.
    key_byte: Option<u8>,
}

impl Party {
    pub(crate) fn new(id: &AgentId, name: &str, shell: &Shell) -> Self {
        Self {
            id: id.to_string(),
            name: name.to_owned(),
            initials: shell.initials_of(id).unwrap_or_else(|| words::initials(name)),
            is_own: shell.owns(id),
            is_me: shell.is_me(id),
            key_byte: None,
        }
    }

    pub(crate) fn initiator(task: &TaskView, shell: &Shell) -> Self {
        Self::new(&task.initiator_agent_id, task.initiator_agent_name.as_str(), shell)
    }

    pub(crate) fn target(task: &TaskView, shell: &Shell) -> Self {
        Self::new(&task.target_agent_id, task.target_agent_name.as_str(), shell)
    }

    /// The same with the ring of its public key.
    pub(crate) fn with_key(self, pem: Option<&str>) -> Self {
        let key = pem.and_then(|pem| PublicKey::from_pem(pem).ok());
        Self { key_byte: key.map(|key| key.fingerprint().bytes()[0]), ..self }
    }

    /// The class of its avatar.
    pub(crate) fn kind(&self) -> &'static str {
        if self.is_own { "own" } else { "foreign" }
    }

    /// The ring of its key: a segment for each bit that is set, above a faint ring. Nothing without a key.
    pub(crate) fn ring(&self) -> String {
        let Some(byte) = self.key_byte else { return String::new() };
        let shape = if self.is_own {
            "<circle cx=\"18\" cy=\"18\" r=\"16.5\""
        } else {
            "<rect x=\"1.5\" y=\"1.5\" width=\"33\" height=\"33\" rx=\"6\""
        };
        let all = format!("{DRAWN} {GAP}");
        format!(
            "<svg class=\"ring\" viewBox=\"0 0 36 36\">{shape} pathLength=\"{SEGMENTS}\" stroke-dasharray=\"{all}\"/>\
             {shape} pathLength=\"{SEGMENTS}\" stroke-dasharray=\"{}\" class=\"set\"/></svg>",
            dashes(byte)
        )
    }
}

impl AsRef<Self> for Party {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// The bits of a byte as dashes and gaps, the highest first.
fn dashes(byte: u8) -> String {
    let parts = (0..SEGMENTS).rev().map(|bit| match byte >> bit & 1 {
        1 => format!("{DRAWN} {GAP}"),
        _ => "0 1".to_owned(),
    });
    parts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::dashes;

    #[test]
    fn a_ring_has_a_segment_for_each_bit() {
        assert_eq!(dashes(0xff), ["0.8 0.2"; 8].join(" "));
        assert_eq!(dashes(0b1000_0001), "0.8 0.2 0 1 0 1 0 1 0 1 0 1 0 1 0.8 0.2");
    }
}
