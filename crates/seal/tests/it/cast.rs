//! The agents of the tests. Their keys were made by another implementation, so that no test waits for new ones.

use serde_json::Value;
use tandem_seal::{PrivateKey, Recipients};

pub(crate) const TASK: &str = "task_8c1f0e5d";

/// A file of vectors, as `tests/foreign/vectors.py` wrote it.
pub(crate) fn vectors(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub(crate) fn key(name: &str) -> PrivateKey {
    PrivateKey::from_pem(vectors("keys")["keys"][name]["private"].as_str().unwrap()).unwrap()
}

/// The two participants of the task, with keys of different lengths, and somebody else.
pub(crate) struct Cast {
    pub(crate) ana: PrivateKey,
    pub(crate) bob: PrivateKey,
    pub(crate) cyd: PrivateKey,
}

impl Cast {
    pub(crate) fn new() -> Self {
        Self { ana: key("ana"), bob: key("bob"), cyd: key("cyd") }
    }

    pub(crate) fn pair(&self) -> Recipients<'_> {
        [("agent_ana", self.ana.public()), ("agent_bob", self.bob.public())]
    }
}
