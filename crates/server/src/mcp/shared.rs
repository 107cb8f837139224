//! What a local MCP server has in common with `/mcp`: the tools and their schemas, the texts for models, and how views are
//! shown with peer text fenced. `tandem mcp` uses it, so that a model cannot tell the two apart.

use tandem_app::Invalid;
use tandem_hub::Error;

pub use crate::mcp::call::Args;
pub use crate::mcp::handler::INSTRUCTIONS;
pub use crate::mcp::reply::{ToolReply, ToolResult, compact, to_result};
pub use crate::mcp::tools::files::uploaded;
pub use crate::mcp::tools::news::in_words as report_in_words;
pub use crate::mcp::tools::pairing::connected;
pub use crate::mcp::tools::talk::{sent, shown_messages, shown_reply};
pub use crate::mcp::tools::tasks::{created, shown_thread};
pub use crate::mcp::tools::{ToolSet, list as tools};

/// Fences text of other owners.
pub mod fence {
    pub use crate::mcp::fence::{has_no_words, id, id_in_words, is_id, name, text, unfenced};
}

pub mod prompts {
    pub use crate::mcp::prompts::{list, render, task_of};
}

pub mod resources {
    pub use crate::mcp::resources::{INBOX, TASK, list, not_subscribable, templates, unknown};
}

/// Changes to the schema of arguments.
pub mod schema {
    pub use crate::mcp::schema::{add, remove};
}

/// The error for an argument that is not valid. `why` ends a sentence that begins with its name.
#[must_use]
pub fn invalid(argument: &str, why: &str) -> Error {
    Invalid::field(argument, why).into()
}
