//! One agent of the behaviour suite (sdk/suite), by the Rust client: commands as JSON lines on stdin, answers on stdout.
//! Profiles are made by the command line, as people make them.

mod commands;
mod profile;
mod streams;
mod tasks;

use std::collections::HashMap;
use std::io::{BufRead as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tandem_client::{Client, Error};
use tokio::sync::mpsc;

use streams::Followed;

/// The agent, once it is known, and its streams.
#[derive(Default)]
pub(crate) struct Driver {
    client: Mutex<Option<Client>>,
    pub(crate) streams: tokio::sync::Mutex<HashMap<String, Arc<Followed>>>,
}

impl Driver {
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        let client = self.client.lock().unwrap_or_else(PoisonError::into_inner).clone();
        client.ok_or_else(|| anyhow::anyhow!("no agent was opened"))
    }

    pub(crate) fn set_client(&self, client: Client) {
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = Some(client);
    }
}

/// Why a command failed, in the words of the suite.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub(crate) kind: &'static str,
    pub(crate) code: String,
    pub(crate) message: String,
}

fn failure(error: &anyhow::Error) -> Value {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return json!({ "kind": failure.kind, "code": failure.code, "message": failure.message });
    }
    let known = error.downcast_ref::<Error>().map(kind_and_code);
    let (kind, code) = known.unwrap_or(("other", None));
    json!({ "kind": kind, "code": code, "message": format!("{error:#}") })
}

fn kind_and_code(error: &Error) -> (&'static str, Option<&'static str>) {
    let trust = match error {
        Error::Refused(refusal) => return ("refused", Some(refusal.body.code.word())),
        Error::Unreachable { .. } => return ("unreachable", None),
        Error::Lost { .. } => return ("lost", None),
        Error::TimedOut { .. } => return ("timed_out", None),
        Error::NotAHub { .. } | Error::EndlessList => return ("not_a_hub", None),
        Error::KeyChanged { .. } => "key_changed",
        Error::AnotherAgent(_) => "another_agent",
        Error::NotPinned { .. } => "not_pinned",
        Error::OtherParty { .. } => "other_party",
        Error::Repeated => "repeated",
        Error::RecordFull => "record_full",
        Error::PresentedAsPlain(_) => "presented_as_plain",
        Error::Unreadable(_) | Error::Seal(_) => "unreadable",
        Error::NoKey => "no_key",
        Error::NoPeerKey { .. } => "no_peer_key",
        Error::UnknownPeer(_) => "unknown_peer",
        Error::TooManyPins => "too_many_pins",
        Error::SameName { .. } => "same_name",
        Error::Pins { .. } => "pins",
        _ => return ("other", None),
    };
    ("untrusted", Some(trust))
}

fn say(line: &Value) {
    let mut out = std::io::stdout().lock();
    // Whoever does not read any more has ended the suite.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let (lines, mut requests) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if lines.send(line).is_err() {
                return;
            }
        }
    });
    say(&json!({ "id": 0, "ok": { "language": "rust", "can": [] } }));
    let driver = Arc::new(Driver::default());
    while let Some(line) = requests.recv().await {
        let request: Value = serde_json::from_str(&line)?;
        let driver = Arc::clone(&driver);
        tokio::spawn(async move {
            let answer = match Box::pin(commands::run(&driver, &request)).await {
                Ok(done) => json!({ "id": request["id"], "ok": done }),
                Err(error) => json!({ "id": request["id"], "error": failure(&error) }),
            };
            say(&answer);
        });
    }
    Ok(())
}
