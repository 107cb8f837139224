//! Errors of the client as errors of a tool. Names of other agents in them are fenced.

use tandem_api::error::{Code, ErrorBody};
use tandem_client::Error as ClientError;
use tandem_hub::Error;
use tandem_server::mcp::shared::{fence, invalid};

use crate::exit::Failure;

/// The error that a model gets.
pub(super) fn to_hub_error(error: ClientError) -> Error {
    match error {
        ClientError::Refused(refusal) => {
            let retry_after = refusal.retry_after.and_then(|after| i64::try_from(after.as_secs()).ok());
            Error {
                body: Box::new(refusal.body),
                status: refusal.status,
                retry_after_seconds: retry_after,
                rate: None,
            }
        }
        ClientError::KeyChanged { agent, name, pinned, found } => said(format!(
            "The public key of {} ({}) has changed; it may belong to someone else. Nothing was sent.\n\
             Pinned fingerprint: {}\nFingerprint now: {}\n\
             Your owner must compare it with the other owner and then run `tandem trust {} --accept WORDS`.",
            fence::name(&name),
            fence::id(agent.as_str()),
            pinned.words(),
            found.words(),
            fence::id(agent.as_str()),
        )),
        ClientError::SameName { name, agents } => {
            let ids: Vec<String> = agents.iter().map(|agent| fence::id(agent.as_str())).collect();
            said(format!("{} can mean {}; give the id.", fence::name(&name), ids.join(" or ")))
        }
        ClientError::AnotherAgent(other) => said(format!(
            "Another agent ({}) has the name or alias of {}, whose key is pinned; it may belong to someone else. Nothing was \
             sent.\n\
             Pinned fingerprint: {} ({})\nFingerprint now: {}\n\
             Your owner must compare it with the other owner and then run `tandem trust {} --accept WORDS`.",
            fence::id(other.agent.as_str()),
            fence::name(&other.name),
            other.pinned.words(),
            fence::id(other.pinned_agent.as_str()),
            other.found_words(),
            fence::id(other.agent.as_str()),
        )),
        ClientError::NoPeerKey { agent, name } => said(format!(
            "{} ({}) has no public key, so nothing can be encrypted for it. Without encryption: encrypt false.",
            fence::name(&name),
            fence::id(agent.as_str()),
        )),
        // The reason may contain names.
        ClientError::Unreadable(why) => {
            said(format!("The encrypted content cannot be opened: {}", fence::text(&why)))
        }
        ClientError::File { .. } => invalid("path", &format!("cannot be used: {error}")),
        ClientError::TooLarge { .. } => Error::new(Code::TooLarge, error.to_string()),
        ClientError::Unreachable { .. }
        | ClientError::Lost { .. }
        | ClientError::TimedOut { .. }
        | ClientError::NotAHub { .. }
        | ClientError::Tls(_) => Error::new(Code::Unavailable, in_words(error)),
        other => said(in_words(other)),
    }
}

fn in_words(error: ClientError) -> String {
    let failure = Failure::from(error);
    let next = failure.next_step().map(|next| format!(". {next}")).unwrap_or_default();
    format!("{}{next}", failure.what())
}

/// An error about encryption. The hub has no code for it, because it never sees one.
fn said(sentence: String) -> Error {
    let body = Box::new(ErrorBody::new(Code::TaskEncrypted, sentence));
    Error { body, status: Code::TaskEncrypted.status(), retry_after_seconds: None, rate: None }
}
