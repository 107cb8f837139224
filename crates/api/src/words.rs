//! The closed sets of words on the wire, for the OpenAPI document. The words come from the types that read and write them.

use std::borrow::Cow;

use tandem_core::agents::{A2aAccess as A2a, Reach as Ways};
use tandem_core::approval::{Approval as Decision, Rule};
use tandem_core::events::{EVENT_TYPES, EventKind};
use tandem_core::messages::{ContentType as Content, Kind};
use tandem_core::remotes::{AuthType, Binding, OnUnclear as Unclear, PauseReason as Pause, Signature};
use tandem_core::tasks::{OnStall as Stalled, Priority as Urgency};
use tandem_core::wake::Rung as Step;
use tandem_core::webhooks::{SecretFormat as Secret, State};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::error::Code;

/// One row per set: its name in the document, its meaning, and its words.
macro_rules! closed_sets {
    ($($name:ident $about:literal $words:expr;)+) => {
        $(
            #[doc = $about]
            #[derive(Debug, Clone, Copy)]
            pub struct $name;

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    one_of($about, $words)
                }
            }

            impl ToSchema for $name {
                fn name() -> Cow<'static, str> {
                    stringify!($name).into()
                }
            }
        )+

        /// The name and the schema of every set.
        #[must_use]
        pub fn all() -> Vec<(String, RefOr<Schema>)> {
            vec![$((stringify!($name).to_owned(), $name::schema())),+]
        }
    };
}

closed_sets! {
    A2aAccess "Who finds an agent by A2A." A2a::WORDS;
    A2aBinding "How an agent elsewhere is called." Binding::WORDS;
    Approval "The target's decision at its approval gate." Decision::WORDS;
    ApprovalRule "What happens to a task that is sent to an agent." Rule::WORDS;
    CardSignature "Whether the card of an agent elsewhere is signed." Signature::WORDS;
    ContentType "How to read the content of a message." Content::WORDS;
    DeliveryStatus "What has become of a webhook's delivery." State::WORDS;
    ErrorCode "The machine-readable code of an error. Codes never change; a newer hub may know more." &CODES;
    EventType "The type of an event. A newer hub may know more." &EVENTS;
    MessageKind "What a message is." Kind::WORDS;
    OnStall "What the hub does when a lease runs out." Stalled::WORDS;
    OnUnclear "What becomes of a task when nobody knows whether it has arrived." Unclear::WORDS;
    PauseReason "Why the tasks of an agent elsewhere wait." Pause::WORDS;
    Priority "The order in which the inbox shows waiting tasks." Urgency::WORDS;
    Reach "How the hub can reach an agent at present, the best way first." Ways::WORDS;
    RemoteAuthType "How the hub authenticates itself to an agent elsewhere." AuthType::WORDS;
    Rung "One way of showing news to an agent's model, the best first." Step::WORDS;
    SecretFormat "How to give a secret to a Standard Webhooks library." Secret::WORDS;
    Status "The status of a task. Requests may also say `input_required`, `auth_required` and `canceled`." &STATUSES;
    WebhookEventType "What a webhook filter may name: every event type, and `ping`, which tests a webhook." &EVENT_TYPES;
}

const STATUSES: [&str; tandem_core::Status::ALL.len()] = {
    let mut words = [""; tandem_core::Status::ALL.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = tandem_core::Status::ALL[at].as_str();
        at += 1;
    }
    words
};

const EVENTS: [&str; EventKind::ALL.len()] = {
    let mut words = [""; EventKind::ALL.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = EventKind::ALL[at].as_str();
        at += 1;
    }
    words
};

const CODES: [&str; Code::ALL.len()] = {
    let mut words = [""; Code::ALL.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = Code::ALL[at].word();
        at += 1;
    }
    words
};

fn one_of(about: &str, words: &[&'static str]) -> RefOr<Schema> {
    let words = words.iter().copied();
    ObjectBuilder::new().schema_type(Type::String).description(Some(about)).enum_values(Some(words)).into()
}
