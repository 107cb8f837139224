//! Errors of A2A: one row per reason, for both bindings.

use std::collections::BTreeMap;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

/// One row per reason: variant, number in JSON-RPC, HTTP status, status word, and the word for programs.
macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident $rpc:literal $http:literal $status:literal $word:literal;)+) => {
        /// Why a call failed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Reason {
            $($(#[$doc])* $name,)+
        }

        impl Reason {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The number in JSON-RPC.
            #[must_use]
            pub const fn rpc_code(self) -> i32 {
                match self { $(Self::$name => $rpc,)+ }
            }

            /// The HTTP status.
            #[must_use]
            pub const fn http_status(self) -> u16 {
                match self { $(Self::$name => $http,)+ }
            }

            /// The word of the status, as in gRPC.
            #[must_use]
            pub const fn status_word(self) -> &'static str {
                match self { $(Self::$name => $status,)+ }
            }

            /// The word for programs.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }
        }
    };
}

reasons! {
    /// No such task for this caller, or no such push config.
    TaskNotFound -32001 404 "NOT_FOUND" "TASK_NOT_FOUND";
    /// The task has ended.
    TaskNotCancelable -32002 400 "FAILED_PRECONDITION" "TASK_NOT_CANCELABLE";
    /// Nothing is pushed.
    PushNotificationNotSupported -32003 400 "FAILED_PRECONDITION" "PUSH_NOTIFICATION_NOT_SUPPORTED";
    /// The task takes no message now, or cannot be subscribed to.
    UnsupportedOperation -32004 400 "FAILED_PRECONDITION" "UNSUPPORTED_OPERATION";
    /// A media type that the agent does not take.
    ContentTypeNotSupported -32005 400 "INVALID_ARGUMENT" "CONTENT_TYPE_NOT_SUPPORTED";
    /// Another version of the protocol.
    VersionNotSupported -32009 400 "FAILED_PRECONDITION" "VERSION_NOT_SUPPORTED";
    /// Wrong or missing fields.
    InvalidParams -32602 400 "INVALID_ARGUMENT" "INVALID_PARAMS";
    /// Not JSON.
    ParseError -32700 400 "INVALID_ARGUMENT" "INVALID_REQUEST";
    /// JSON, but no request.
    InvalidRequest -32600 400 "INVALID_ARGUMENT" "INVALID_REQUEST";
    /// No such method.
    MethodNotFound -32601 404 "NOT_FOUND" "METHOD_NOT_FOUND";
    /// The request is too large.
    TooLarge -32600 413 "INVALID_ARGUMENT" "INVALID_REQUEST";
    /// No key, or an unknown one.
    Unauthenticated -32000 401 "UNAUTHENTICATED" "UNAUTHENTICATED";
    /// No way to the agent, no credits, or a guest elsewhere than at its host.
    PermissionDenied -32000 403 "PERMISSION_DENIED" "PERMISSION_DENIED";
    /// Too many of something.
    ResourceExhausted -32000 429 "RESOURCE_EXHAUSTED" "RESOURCE_EXHAUSTED";
    /// The hub failed.
    Internal -32603 500 "INTERNAL" "INTERNAL_ERROR";
    /// The hub is busy.
    Unavailable -32603 503 "UNAVAILABLE" "INTERNAL_ERROR";
}

impl Reason {
    /// Whose word it is: ours where the protocol has none.
    #[must_use]
    pub const fn domain(self) -> &'static str {
        match self {
            Self::Unauthenticated | Self::PermissionDenied | Self::ResourceExhausted => "tandem",
            _ => "a2a-protocol.org",
        }
    }
}

/// A detail of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorDetail {
    /// The reason, and more for programs.
    Info {
        /// The reason.
        reason: Reason,
        /// Our own code, and the status of the task.
        metadata: BTreeMap<String, String>,
    },
    /// The fields that are wrong.
    BadRequest(Vec<FieldViolation>),
}

/// A wrong field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldViolation {
    /// Its path.
    pub field: String,
    /// What is wrong with it.
    pub description: String,
}

impl Serialize for FieldViolation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("field", &self.field)?;
        map.serialize_entry("description", &self.description)?;
        map.end()
    }
}

impl Serialize for ErrorDetail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Info { reason, metadata } => {
                map.serialize_entry("@type", "type.googleapis.com/google.rpc.ErrorInfo")?;
                map.serialize_entry("reason", reason.word())?;
                map.serialize_entry("domain", reason.domain())?;
                map.serialize_entry("metadata", metadata)?;
            }
            Self::BadRequest(violations) => {
                map.serialize_entry("@type", "type.googleapis.com/google.rpc.BadRequest")?;
                map.serialize_entry("fieldViolations", violations)?;
            }
        }
        map.end()
    }
}
