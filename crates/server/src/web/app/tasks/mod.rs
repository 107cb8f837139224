//! The tasks of an agent: list, board and the form for a new one. The thread of one task is another screen.

mod board;
mod filters;
mod list;
mod new;
pub(crate) mod row;

use axum::Router;
use axum::routing::get;
use tandem_api::connections::ConnectionView;
use tandem_api::tasks::PageQuery;
use tandem_hub::ops::connections;
use tandem_hub::{Error, Hub, Listed, paging};

use super::Viewer;

/// Connections that a choice or a summary shows.
const CONNECTIONS_MAX: i64 = 100;

pub(crate) fn routes() -> Router<Hub> {
    Router::new()
        .route("/app/{agent}/tasks", get(list::page))
        .route("/app/{agent}/new-task", get(new::page).post(new::submit))
}

pub(crate) async fn newest_connections(hub: &Hub, viewer: &Viewer) -> Result<Listed<ConnectionView>, Error> {
    let query = PageQuery { limit: Some(CONNECTIONS_MAX), cursor: None };
    connections::list(hub, &viewer.caller, query, paging::WHOLE).await
}

/// An agent to choose: the value of the option, and its name with the alias before it.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) label: String,
    pub(crate) is_chosen: bool,
}

impl Choice {
    fn of(connection: &ConnectionView, chosen: &str) -> Self {
        let name = connection.connected.agent_name.as_str();
        let label = match &connection.alias {
            Some(alias) if alias.as_str() != name => format!("{} ({name})", alias.as_str()),
            _ => name.to_owned(),
        };
        let value = connection.connected.agent_id.to_string();
        Self { is_chosen: value == chosen, value, label }
    }
}
