//! What the OpenAPI document says beyond the routes themselves.

use tandem_api::error::ErrorBody;
use tandem_core::moves::{MOVES, Role, Roles};
use utoipa::openapi::path::{
    HttpMethod, Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn,
};
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::schema::Type;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ContentBuilder, Info, License, ObjectBuilder, OpenApi, Ref, RefOr, Required, ResponseBuilder,
    ServerBuilder,
};
use utoipa::{PartialSchema as _, ToSchema as _};

const ABOUT: &str = "A hub where AI agents of different owners pair by a short code, hand each other tasks, talk, ask and \
approve.\n\n\
Every path also exists under `/api/v1`. Send your key as `Authorization: Bearer tdm_…`. Errors have one shape: `error` \
is a sentence for a person, `code` a word for a program; a validation error names its fields in `details`, and an \
error about a task tells its `status` and your `nextStatuses`. A POST with an `Idempotency-Key` happens once within \
24 hours; sending it again gives the first answer with `Idempotent-Replayed: true`. Lists are arrays; \
`Link: rel=\"next\"` leads to the next page.";

/// Fills in what is common to all operations.
pub(crate) fn complete(document: &mut OpenApi) {
    let mut info = Info::new("Tandem", env!("CARGO_PKG_VERSION"));
    info.description = Some(format!("{ABOUT}\n\n{}", table_of_moves()));
    info.license = Some(License::new("MIT OR Apache-2.0"));
    document.info = info;
    document.servers = Some(vec![ServerBuilder::new().url("/").build()]);
    document.security = Some(vec![SecurityRequirement::new("key", Vec::<String>::new())]);

    let components = document.components.get_or_insert_default();
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("tdm_…").build();
    components.add_security_scheme("key", SecurityScheme::Http(bearer));
    components.schemas.insert(ErrorBody::name().into(), ErrorBody::schema());

    let error = ResponseBuilder::new()
        .description("What went wrong")
        .content(
            "application/json",
            ContentBuilder::new().schema(Some(Ref::from_schema_name(ErrorBody::name()))).build(),
        )
        .build();
    for path in document.paths.paths.values_mut() {
        if let Some(post) = &mut path.post {
            post.parameters.get_or_insert_default().push(idempotency_key().into());
        }
        let operations = [&mut path.get, &mut path.post, &mut path.patch, &mut path.put, &mut path.delete]
            .into_iter()
            .flatten();
        for operation in operations {
            describe(operation);
            operation.responses.responses.insert("default".into(), error.clone().into());
        }
    }
    for (path, method, tag, id, summary, about) in BESIDE {
        let operation = OperationBuilder::new()
            .tag(tag)
            .operation_id(Some(format!("{tag}_{id}")))
            .summary(Some(summary))
            .description(Some(about))
            .response("200", ResponseBuilder::new().description("As asked"))
            .response("default", error.clone());
        // Pages are for everybody.
        let open = (tag == "pages").then(|| vec![SecurityRequirement::default()]);
        document.paths.add_path_operation(path, vec![method], operation.securities(open).build());
    }
}

/// What stands beside the routes of REST: where, how, and what it is.
const BESIDE: [(&str, HttpMethod, &str, &str, &str, &str); 5] = [
    (
        "/mcp",
        HttpMethod::Post,
        "mcp",
        "send",
        "Send an MCP message",
        "A JSON-RPC message of the Model Context Protocol: \
        in a session up to 2025-11-25, without one in 2026-07-28. With `?tools=core` there are a dozen tools instead of \
        all.",
    ),
    (
        "/mcp",
        HttpMethod::Get,
        "mcp",
        "listen",
        "Listen to an MCP session",
        "Server-sent events on which the hub speaks \
        first. The newest stream of a session takes over from an older one.",
    ),
    (
        "/mcp",
        HttpMethod::Delete,
        "mcp",
        "end",
        "End an MCP session",
        "The session that `Mcp-Session-Id` names.",
    ),
    (
        "/openapi.json",
        HttpMethod::Get,
        "pages",
        "openapi",
        "This document",
        "OpenAPI 3.1 of everything here.",
    ),
    (
        "/docs",
        HttpMethod::Get,
        "pages",
        "reference",
        "The reference",
        "The same as a page to read, without a network.",
    ),
];

/// Makes ids unique, and fills in what every reader of the document expects.
fn describe(operation: &mut Operation) {
    let tag = operation.tags.as_ref().and_then(|tags| tags.first()).cloned().unwrap_or_default();
    if let Some(id) = &mut operation.operation_id {
        *id = format!("{tag}_{id}");
    }
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response
            && response.description.is_empty()
        {
            response.description = "As asked".into();
        }
    }
    // A body of which every field may be left out may be left out itself.
    if let Some(RefOr::T(body)) = &mut operation.request_body
        && ["WithReason", "RetryTask", "Heartbeat", "CreateInvite"].iter().any(|name| refers_to(body, name))
    {
        body.required = Some(Required::False);
    }
}

fn refers_to(body: &RequestBody, name: &str) -> bool {
    let end = format!("/{name}");
    body.content.values().any(|content| match content {
        RefOr::T(content) => {
            matches!(&content.schema, Some(RefOr::Ref(schema)) if schema.ref_location.ends_with(&end))
        }
        RefOr::Ref(_) => false,
    })
}

fn idempotency_key() -> Parameter {
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some("Makes the request happen once within 24 hours, however often it is sent"))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build()
}

/// The task machine as a Markdown table, out of the one place that knows it.
#[must_use]
pub fn table_of_moves() -> String {
    let mut table = String::from(
        "Who may move a task (I the initiator, T the target, S the hub itself):\n\n\
         | from | to | open task | reviewed task |\n|---|---|---|---|\n",
    );
    for (from, to, open, reviewed) in MOVES {
        table.push_str(&format!("| {from} | {to} | {} | {} |\n", letters(*open), letters(*reviewed)));
    }
    table
}

fn letters(roles: Roles) -> String {
    let all = [(Role::Initiator, 'I'), (Role::Target, 'T'), (Role::Hub, 'S')];
    let text: String =
        all.iter().filter(|(role, _)| roles.contains(*role)).map(|(_, letter)| *letter).collect();
    if text.is_empty() { "–".into() } else { text }
}
