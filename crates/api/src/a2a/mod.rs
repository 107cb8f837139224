//! The wire types of A2A 1.0 in ProtoJSON: what any A2A client sends and reads. Nothing here knows how a task moves.
//!
//! Requests are read leniently, as protocol buffers do it (see [`proto`]); answers have camelCase names, and leave empty
//! fields out.

mod artifact;
mod card;
mod error;
mod foreign_card;
mod message;
pub mod proto;
mod push;
mod request;
mod task;

pub use artifact::Artifact;
pub use card::{
    AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider,
    AgentSkill, HttpAuth, ScopeList, SecurityRequirement, SecurityScheme,
};
pub use error::{ErrorDetail, FieldViolation, Reason};
pub use foreign_card::{
    ForeignCapabilities, ForeignCard, ForeignInterface, ForeignRequirement, ForeignScheme,
};
pub use message::{Content, Message, Part, Role};
pub use proto::{Base64, FromProto, Json, JsonObject, Wrong, parse};
pub use push::{
    AuthenticationInfo, ListPushConfigsRequest, ListPushConfigsResponse, PushConfig, PushConfigRequest,
};
pub use request::{
    CancelTaskRequest, GetExtendedAgentCardRequest, GetTaskRequest, ListTasksRequest, ListTasksResponse,
    SendMessageConfiguration, SendMessageRequest, SendMessageResponse, SubscribeToTaskRequest,
};
pub use task::{StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent};

/// The version of the protocol, as cards name it.
pub const PROTOCOL_VERSION: &str = "1.0";

/// The media type of the HTTP+JSON binding.
pub const MEDIA_TYPE: &str = "application/a2a+json";

/// The extension by which a client sees and sets what A2A has no field for.
pub const HUB_EXTENSION: &str = "urn:tandem:a2a:hub:v1";
