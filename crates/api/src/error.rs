//! The error body, and the table of error codes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tandem_core::Status;
use utoipa::ToSchema;

use crate::words;

/// One row per code: variant, word on the wire, HTTP status, meaning, and a hint for a model.
macro_rules! codes {
    ($($variant:ident $word:literal $status:literal $meaning:literal $(=> $hint:literal)?;)+) => {
        /// The machine-readable code. Codes never change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $meaning] $variant,)+
            /// A code of a newer hub that this version does not know.
            Unknown,
        }

        impl Code {
            /// All codes, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word on the wire.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Unknown => "unknown",
                }
            }

            /// The usual HTTP status.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self {
                    $(Self::$variant => $status,)+
                    Self::Unknown => 500,
                }
            }

            /// The meaning, for the documentation.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)+
                    Self::Unknown => "a code of a newer version",
                }
            }

            /// What a model can do about it, unless the sentence says so.
            #[must_use]
            pub const fn hint(self) -> Option<&'static str> {
                match self {
                    $($(Self::$variant => Some($hint),)?)+
                    _ => None,
                }
            }
        }
    };
}

codes! {
    Validation "validation" 400 "the request has wrong or missing fields; details names them"
        => "Correct the arguments named below and call the tool again.";
    InvalidTransition "invalid_transition" 400 "no task can go from its current status to that one"
        => "Choose one of nextStatuses.";
    Unauthorized "unauthorized" 401 "the API key is missing or unknown";
    NoCredits "no_credits" 402 "tasks for that agent cost credits, and your balance is zero"
        => "Ask the operator for credits.";
    Suspended "suspended" 403 "the operator has suspended your agent";
    AdminOnly "admin_only" 403 "the route needs the operator's token";
    NotConnected "not_connected" 403 "you cannot reach that agent; pair with it first"
        => "Use the agent's id or your alias for it (list_connections), or pair first with generate_pairing_code.";
    NotAutoAccept "not_auto_accept" 403 "that agent accepts connections by pairing code only"
        => "Ask the agent's owner for a pairing code.";
    Blocked "blocked" 403 "one of the two agents has blocked the other";
    RoleNotAllowed "role_not_allowed" 403 "only the other party of the task may do that"
        => "Leave this step to the other party. You can send it a message.";
    ReviewRequired "review_required" 403 "the initiator completes this task, not the target"
        => "Set the status to input-required and let the initiator complete it, or use send_reply.";
    OwnerOnly "owner_only" 403 "only the owner of the network may do that";
    NotSender "not_sender" 403 "only the sender of a message may delete it"
        => "Delete your own messages only; get_task shows who sent each.";
    ForeignHost "foreign_host" 403 "MCP is not served for that Host or Origin";
    ForeignOrigin "foreign_origin" 403 "a browser sent the request for a web page of another site";
    ForeignSession "foreign_session" 403 "the MCP session belongs to another key";
    GuestOnly "guest_only" 403 "a guest's key is good at the A2A address of its host only";
    NotFound "not_found" 404 "it does not exist, or you may not see it"
        => "Look for the right id with list_tasks, list_connections, list_networks or get_inbox.";
    MethodNotAllowed "method_not_allowed" 405 "the route does not support that method";
    NotAcceptable "not_acceptable" 406 "an MCP client must accept application/json and text/event-stream";
    Timeout "timeout" 408 "the request body did not arrive in time";
    Conflict "conflict" 409 "the task has changed since you read it (412 with If-Match)"
        => "Read the task again with get_task and decide again.";
    TaskTerminal "task_terminal" 409 "the task has ended"
        => "Create a new task. The initiator of a completed open task can set its status back to working.";
    ApprovalPending "approval_pending" 409 "the task waits for its target's approval"
        => "Wait until the target has approved the task with approve_task.";
    TaskDraft "task_draft" 409 "the task is a draft"
        => "Publish the task first: update_task_status with submitted.";
    TaskLive "task_live" 409 "the task has not ended"
        => "Cancel or complete the task first.";
    InvalidState "invalid_state" 409 "that cannot be done in the task's current status"
        => "Read the task's status with get_task and choose one of nextStatuses.";
    TaskEncrypted "task_encrypted" 409 "an encrypted task cannot be given to another agent";
    MessageBudget "message_budget" 409 "the task has reached its maximum number of messages"
        => "Ask the initiator to raise maxMessages.";
    OwnerStays "owner_stays" 409 "the owner cannot leave its network; delete the network instead";
    AlreadyMember "already_member" 409 "you are already a member of that network";
    SignatureReplayed "signature_replayed" 409 "that signature was already used on this task"
        => "Encrypt and sign the content again.";
    IdTaken "id_taken" 409 "that task id is or was already in use"
        => "Choose another id, or leave it out.";
    AliasTaken "alias_taken" 409 "another of your connections has that alias";
    KeyTaken "key_taken" 409 "an agent has that API key already"
        => "Make another key.";
    AlreadyConnected "already_connected" 409 "you are already connected"
        => "Continue with create_task.";
    NoWebhook "no_webhook" 409 "you have no active webhook";
    IdempotencyConflict "idempotency_conflict" 409 "that Idempotency-Key was used for a different request";
    TooLarge "too_large" 413 "the body (413), the address (414) or the headers (431) are too large"
        => "Send less, or use the REST API.";
    FileQuota "file_quota" 413 "your files have reached their maximum size in total";
    UnsupportedMediaType "unsupported_media_type" 415
        "the body is not plain application/json, or the task does not take files of that type"
        => "Send it as another type, such as text/plain or application/pdf.";
    NoSuchRange "no_such_range" 416 "the file has no bytes in that range";
    UpgradeRequired "upgrade_required" 426 "the route speaks WebSocket";
    RateLimited "rate_limited" 429 "too many requests; Retry-After says when to try again"
        => "Wait before you call again.";
    TooManyOpenTasks "too_many_open_tasks" 429 "10,000 live tasks between two agents"
        => "Complete or cancel some tasks first.";
    TooManyCodes "too_many_codes" 429 "100 open pairing codes";
    TooManyGuests "too_many_guests" 429 "100 guests";
    TooManyRemotes "too_many_remotes" 429 "100 agents elsewhere";
    NetworkFull "network_full" 429 "1,000 members, 100 open invitations, or 100 networks per agent";
    TooManyStreams "too_many_streams" 429 "16 sockets and streams per agent";
    TooManySessions "too_many_sessions" 429 "32 MCP sessions per agent";
    Internal "internal" 500 "the hub failed; the cause is in its log";
    Unavailable "unavailable" 503
        "the hub is busy or cannot reach its database or files; Retry-After says when to try again"
        => "Wait a moment and call again.";
    StorageFull "storage_full" 507 "the hub's disk is full; nothing was saved"
        => "Tell your owner: the operator of the hub has to make room.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Code {
    type Err = Infallible;
    fn from_str(word: &str) -> Result<Self, Infallible> {
        Ok(Self::ALL.iter().copied().find(|code| code.word() == word).unwrap_or(Self::Unknown))
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Ok(code) = <Cow<'de, str>>::deserialize(deserializer)?.parse();
        Ok(code)
    }
}

/// An error.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorBody {
    /// A sentence for people. It may change.
    pub error: String,
    /// The machine-readable code. It never changes.
    #[schema(value_type = words::ErrorCode)]
    pub code: Code,
    /// Validation errors by field. Only with code `validation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<BTreeMap<String, Vec<String>>>,
    /// The status of the task. Only in errors about a task that you may see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<words::Status>)]
    pub status: Option<Status>,
    /// The statuses that you may set. Only in errors about a task that you may see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<words::Status>>)]
    pub next_statuses: Option<Vec<Status>>,
    /// A hint for a model that replaces the code's hint. Not on the wire.
    #[serde(skip)]
    #[schema(ignore)]
    pub hint: Option<&'static str>,
}

impl ErrorBody {
    /// An error with only a sentence.
    #[must_use]
    pub fn new(code: Code, error: impl Into<String>) -> Self {
        Self { error: error.into(), code, details: None, status: None, next_statuses: None, hint: None }
    }

    /// What a model can do about it: the error's own hint, or that of its code.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        self.hint.or_else(|| self.code.hint())
    }
}
