//! The MCP server: what a client asks for, and who answers it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    DiscoverRequestMethod, DiscoverResult, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    Implementation, InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tandem_client::{Client, McpAnswer};
use tandem_hub::Error;
use tandem_server::mcp::shared::{
    self, Args, ToolSet, compact, fence, invalid, prompts, resources, to_result,
};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::claims;
use super::failures::to_hub_error;
use super::folder::Folder;
use super::hub::Hub;
use super::titles::Words;
use super::tools;
use super::wake::{CHANNEL, CLAUDE_CODE, Wakes};

/// Tool calls at the same time. Others wait for their turn.
const CALLS_MAX: usize = 16;
/// Subscriptions that are acknowledged at the same time and do not listen yet.
const ACKNOWLEDGED_MAX: usize = 16;
/// What the bridge does differently from the hub's own MCP.
const INSTRUCTIONS: &str = "Files: upload_file and download_file take paths below the working folder. Tasks are \
end-to-end encrypted if both sides have keys; you always see clear text.";

/// The bridge between an AI tool and a hub.
#[derive(Debug)]
pub(super) struct Bridge {
    pub(super) hub: Arc<Hub>,
    pub(super) folder: Folder,
    tools: Vec<Tool>,
    wakes: Arc<Wakes>,
    closing: CancellationToken,
    calls: Semaphore,
    /// Subscriptions that are acknowledged and do not listen yet. What happens in between counts for them.
    acknowledged: Mutex<VecDeque<watch::Receiver<u64>>>,
}

impl Bridge {
    pub(super) fn new(
        hub: Arc<Hub>,
        folder: Folder,
        set: ToolSet,
        wakes: Arc<Wakes>,
        closing: CancellationToken,
    ) -> Self {
        let (tools, calls) = (tools::list(set), Semaphore::new(CALLS_MAX));
        Self { hub, folder, tools, wakes, closing, calls, acknowledged: Mutex::default() }
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    pub(super) fn reported(&self) -> Option<i64> {
        self.wakes.reported()
    }

    pub(super) fn set_reported(&self, cursor: i64) {
        self.wakes.shown(cursor);
    }

    async fn dispatch(&self, name: &str, args: Args) -> Result<CallToolResult, Error> {
        let client = &self.hub.client();
        match name {
            "create_task" => self.create_task(client, args).await,
            "get_task" => self.get_task(client, args).await,
            "task_read" => self.task_read(client, args).await,
            "send_message" => self.send_message(client, args).await,
            "send_reply" => self.send_reply(client, args).await,
            "generate_pairing_code" => self.generate_pairing_code(client, args).await,
            "connect_with_agent" => self.connect_with_agent(client, args).await,
            "connect_directly" => self.connect_directly(client, args).await,
            "reassign_task" => self.reassign_task(client, args).await,
            "set_alias" => self.set_alias(client, args).await,
            "list_connections" => self.list_connections(client, args).await,
            "upload_file" => self.upload_file(client, args).await,
            "download_file" => self.download_file(client, args).await,
            "check_updates" => self.check_updates(client, name, args.0).await,
            "wait_for_updates" => self.wait_for_updates(client, args.0).await,
            "list_tasks" | "list_pending_approvals" | "get_inbox" => {
                let mut listed = self.forward(client, name, args.0).await?;
                self.open_titles(client, &mut listed, Words::List).await;
                Ok(listed)
            }
            "update_profile" if args.0.contains_key("publicKey") => {
                Err(invalid("publicKey", "belongs to your owner, who changes it on the command line"))
            }
            _ => {
                self.refuse_clear_text(client, name, &args).await?;
                self.forward(client, name, args.0).await
            }
        }
    }

    /// Asks the hub something that is no tool, until the client no longer wants to know.
    async fn ask<T: DeserializeOwned>(
        &self,
        cancelled: &CancellationToken,
        client: &Client,
        method: &str,
        params: Value,
    ) -> Result<T, ErrorData> {
        let params = match params {
            Value::Object(params) => params,
            _ => JsonObject::new(),
        };
        let answer = client.mcp(method, params, true, Duration::ZERO);
        let answered = tokio::select! {
            () = cancelled.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
            () = self.closing.cancelled() => return Err(ErrorData::internal_error("the bridge ends", None)),
            answered = answer => answered,
        };
        match answered {
            Ok(McpAnswer::Result(mut result)) => {
                claims::remove(&mut result);
                serde_json::from_value(result).map_err(|why| ErrorData::internal_error(why.to_string(), None))
            }
            Ok(McpAnswer::Refused { code, message }) => Err(ErrorData::new(ErrorCode(code), message, None)),
            Err(error) => Err(rpc(&to_hub_error(error))),
        }
    }
}

fn rpc(error: &Error) -> ErrorData {
    ErrorData::internal_error(error.body.error.clone(), Some(json!({ "code": error.body.code })))
}

impl ServerHandler for Bridge {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .build();
        capabilities.experimental = Some([(CHANNEL.to_owned(), JsonObject::new())].into());
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("tandem", env!("CARGO_PKG_VERSION")).with_title("Tandem"))
            .with_instructions(format!("{}\n\n{INSTRUCTIONS}", shared::INSTRUCTIONS))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        self.wakes.met(&request.client_info.name, context.peer.clone());
        self.negotiate_initialize(&request)
    }

    /// Claude Code takes channel notifications only from a server that it has met by `initialize`.
    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        if context.client_info().is_some_and(|client| client.name == CLAUDE_CODE) {
            return Err(ErrorData::method_not_found::<DiscoverRequestMethod>());
        }
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), self.get_info()))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tool(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.tool(&request.name).is_none() {
            return Err(ErrorData::invalid_params(format!("Unknown tool: {}", request.name), None));
        }
        let args = Args::new(request.arguments.unwrap_or_default());
        let thread = context.meta.0.0.get("threadId").and_then(Value::as_str);
        let client_name = context.client_info().map(|client| client.name).unwrap_or_default();
        let task = args.0.get("taskId").and_then(Value::as_str);
        let mut running = self.wakes.began(&client_name, thread, &request.name, task);
        let calling = Box::pin(async {
            // The semaphore is never closed.
            let _turn = self.calls.acquire().await;
            running.report().await;
            self.dispatch(&request.name, args).await
        });
        let called = tokio::select! {
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
            () = self.closing.cancelled() => return Err(ErrorData::internal_error("the bridge ends", None)),
            called = calling => called,
        };
        let result = called.unwrap_or_else(|error| to_result(Err(error)));
        running.ended(&result);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let client = self.hub.client();
        let uri = &request.uri;
        let task = uri.strip_prefix(resources::TASK).map(fence::unfenced).and_then(|id| id.parse().ok());
        if let Some(task) = task
            && let Some(thread) = self.sealed_thread(&client, &task).await.map_err(|error| rpc(&error))?
        {
            let shown = compact(thread).map_err(|error| rpc(&error))?;
            let contents = ResourceContents::text(shown, uri).with_mime_type("application/json");
            return Ok(ReadResourceResult::new(vec![contents]).into());
        }
        // Only an address that a header can carry is one of the hub's.
        if !uri.is_ascii() {
            return Err(resources::unknown(uri));
        }
        let params = json!({ "uri": uri });
        let mut read: ReadResourceResult = self.ask(&context.ct, &client, "resources/read", params).await?;
        self.open_resource(&client, &mut read).await;
        Ok(read.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if request.uri != resources::INBOX {
            return Err(resources::not_subscribable(&request.uri));
        }
        self.wakes.subscribe(Some(context.peer));
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if request.uri == resources::INBOX {
            self.wakes.subscribe(None);
        }
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let wanted = requested.resource_subscriptions.iter().flatten();
        let mut accepted = SubscriptionFilter::default();
        accepted.resource_subscriptions =
            Some(wanted.filter(|uri| *uri == resources::INBOX).take(1).cloned().collect());
        let mut acknowledged = self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
        acknowledged.truncate(ACKNOWLEDGED_MAX - 1);
        acknowledged.push_back(self.wakes.inbox());
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let acknowledged = self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let mut inbox = acknowledged.unwrap_or_else(|| self.wakes.inbox());
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.closing.cancelled() => return Ok(()),
                changed = inbox.changed() => {
                    let sent = context.sink().notify_resource_updated(resources::INBOX).await;
                    if changed.is_err() || sent.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let params = json!({ "ref": request.r#ref, "argument": request.argument });
        self.ask(&context.ct, &self.hub.client(), "completion/complete", params).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let client = self.hub.client();
        if let Some(id) = prompts::task_of(&request.name, &arguments)? {
            if let Some(thread) = self.sealed_thread(&client, &id).await.map_err(|error| rpc(&error))? {
                return Ok(prompts::render(&request.name, &arguments, Some(thread))?.into());
            }
            let params = json!({ "name": request.name, "arguments": arguments });
            let rendered: rmcp::model::GetPromptResult =
                self.ask(&context.ct, &client, "prompts/get", params).await?;
            return Ok(rendered.into());
        }
        Ok(prompts::render(&request.name, &arguments, None)?.into())
    }
}
