//! Home: does anything need me, and is the hub well?

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use tandem_hub::Hub;

use super::{Page, Section, Shell, Viewer, html};

#[derive(Template)]
#[template(path = "app/home.html")]
struct HomePage {
    shell: Shell,
}

/// `GET /app/{agent}`
pub(crate) async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    let shell = Shell::of(&hub, &viewer, Section::Home).await?;
    html(StatusCode::OK, &HomePage { shell })
}
