//! Lets a program that embeds the server add to MCP. The product adds nothing; the tests add what the conformance
//! suites require of any server.

use futures_util::future::BoxFuture;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse, Prompt,
    ReadResourceResult, Resource, ResourceTemplate, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

/// What an extension lists in addition to the hub.
#[derive(Debug, Default)]
pub struct Offers {
    pub tools: Vec<Tool>,
    pub resources: Vec<Resource>,
    pub templates: Vec<ResourceTemplate>,
    pub prompts: Vec<Prompt>,
}

/// Additional tools, resources and prompts. The extension is asked first; `None` passes the request on to the hub. A
/// server with an extension also declares logging, which the hub itself does not use.
pub trait Extension: std::fmt::Debug + Send + Sync {
    fn offers(&self) -> &Offers;

    fn call<'a>(
        &'a self,
        request: &'a CallToolRequestParams,
        context: &'a RequestContext<RoleServer>,
    ) -> BoxFuture<'a, Option<Result<CallToolResponse, ErrorData>>>;

    fn read(&self, uri: &str) -> Option<Result<ReadResourceResult, ErrorData>>;

    fn accepts_subscription(&self, uri: &str) -> bool;

    fn prompt(&self, request: &GetPromptRequestParams) -> Option<Result<GetPromptResponse, ErrorData>>;
}
