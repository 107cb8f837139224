//! REST: each handler parses a request, calls one operation of the hub and renders the answer.

pub mod admin;
pub mod agents;
pub mod approvals;
pub mod blocks;
pub mod connections;
pub mod events;
pub mod export;
pub mod files;
pub mod guests;
pub mod inbox;
pub mod messages;
pub mod networks;
pub mod openapi;
pub mod remotes;
pub mod system;
pub mod tasks;
pub mod webhooks;
pub mod work;

use axum::Router;
use axum::routing::{MethodFilter, on};
use serde_json::Value;
use tandem_hub::Hub;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::{PathItemExt, paste};

use crate::push::{observe, socket, stream};

/// Registers handlers. The router of the program takes path and method from the description of a handler and nothing else, so
/// that the descriptions stay out of the program: it serves the document that a test has written from them.
macro_rules! routes {
    ($($module:ident $(:: $inner:ident)? => $handler:ident;)+) => {
        pub(crate) fn served() -> Router<Hub> {
            let router = Router::new();
            $(
                let place = paste! { Place::of::<$module $(::$inner)? ::[<__path_ $handler>]>() };
                let router = router.route(&place.path, on(place.methods, $module $(::$inner)? ::$handler));
            )+
            router
        }

        fn described() -> OpenApi {
            let router = OpenApiRouter::<Hub>::new();
            $(let router = router.routes(utoipa_axum::routes!($module $(::$inner)? ::$handler));)+
            router.into_openapi()
        }
    };
}

/// Where a handler is reached.
struct Place {
    path: String,
    methods: MethodFilter,
}

impl Place {
    fn of<P: utoipa::Path>() -> Self {
        let methods = P::methods();
        let methods = methods.iter().map(PathItemExt::to_method_filter).reduce(MethodFilter::or);
        Self { path: P::path(), methods: methods.unwrap_or(MethodFilter::GET) }
    }
}

routes! {
    // Health, metrics and the operator.
    system => health;
    system => ready;
    system => metrics;
    observe => observe;
    admin => overview;
    admin => nodes;
    admin => agents;
    admin => change_agent;
    admin => setup_link;
    admin => tasks;
    admin => events;
    admin => deliveries;
    admin => settings;
    // Agents, connections and networks.
    agents => challenge;
    agents => register;
    agents => profile;
    agents => change;
    agents => delete;
    export => export;
    agents => rotate_key;
    agents => reach;
    agents => report_reach;
    agents => discover;
    blocks => block;
    blocks => unblock;
    blocks => list;
    connections => generate_code;
    connections => redeem_code;
    connections => connect_directly;
    connections => list;
    connections => change;
    connections => disconnect;
    guests => create;
    guests => list;
    guests => delete;
    remotes => create;
    remotes => list;
    remotes => change;
    remotes => delete;
    networks => create;
    networks => list;
    networks => view;
    networks => delete;
    networks => invite;
    networks => join;
    networks => leave;
    networks => members;
    networks => remove_member;
    networks => broadcast;
    networks => messages;
    webhooks => list;
    webhooks => replay;
    webhooks => ping;
    // Tasks, messages, files and events.
    tasks => create;
    tasks => list;
    tasks => view;
    tasks => change;
    tasks => delete;
    tasks => cancel;
    tasks => history;
    work => retry;
    work => reassign;
    work => reply;
    work => add_artifact;
    messages => read;
    messages => acknowledge;
    work => heartbeat;
    tasks => tree;
    work => report_usage;
    messages => send;
    messages => list;
    messages => delete;
    messages => send_to_agent;
    files => upload_json;
    files::form => upload;
    files => download;
    files => delete;
    inbox => list;
    approvals => list;
    approvals => approve;
    approvals => reject;
    approvals => approve_task;
    approvals => reject_task;
    inbox => updates;
    inbox => acknowledge;
    events => read;
    events => acknowledge;
    socket => socket;
    events => ticket;
    stream => stream;
}

/// The document that `GET /openapi.json` serves. A test writes it, and keeps it equal to [`document`].
pub const DOCUMENT: &str = include_str!("../../../../docs/openapi.json");

/// The OpenAPI document, from the types and the handlers.
#[must_use]
pub fn document() -> Value {
    openapi::complete(&described())
}
