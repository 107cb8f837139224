//! The page of a task: did it arrive, whose turn is it, what may I do?
//!
//! The page shows a task, its messages and its history, and offers every action as a form. What is possible is asked of
//! the rules in `core`; an action that is refused is shown with the reason.

mod act;
mod action;
mod actions;
mod commands;
pub(super) mod facts;
pub(super) mod items;
mod life;
pub(super) mod mini_life;
mod timeline;
mod turn;

use askama::Template;
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use tandem_api::error::Code;
use tandem_api::tasks::PageQuery;
use tandem_core::TaskId;
use tandem_hub::ops::threads::{self, ThreadPage, ThreadQuery};
use tandem_hub::ops::{connections, parse_id};
use tandem_hub::{Error, Hub, paging};

use self::actions::Actions;
use self::facts::{Facts, Peer};
use self::items::Item;
use self::life::Life;
use self::timeline::Line;
use self::turn::Turn;
use super::refused::Refused;
use super::words::{self, StatusMark};
use super::{Page, PageError, Section, Shell, Viewer, filters, html, html_aside};
use crate::http::files;

/// Agents to which a task can be given, on its page.
const TARGETS_MAX: i64 = 200;

/// The routes of tasks, one by one.
pub(crate) fn routes() -> Router<Hub> {
    Router::new()
        .route("/app/{agent}/tasks/{task}", get(page))
        .route("/app/{agent}/tasks/{task}/file", post(act::upload))
        .route("/app/{agent}/tasks/{task}/{action}", post(act::submit))
        .route("/app/{agent}/files/{file}", get(download))
}

#[derive(Template)]
#[template(path = "app/thread.html")]
struct ThreadTemplate {
    shell: Shell,
    path: String,
    title: String,
    mark: StatusMark,
    is_live: bool,
    is_encrypted: bool,
    facts: Facts,
    turn: Turn,
    life: Life,
    items: Vec<Item>,
    older: Option<i64>,
    is_newest: bool,
    timeline: Vec<Line>,
    earlier: Option<i64>,
    later: Option<i64>,
    actions: Actions,
    targets: Vec<Peer>,
    has_more_targets: bool,
    refused: Refused,
}

/// What a reader asked to see, in the query of the address.
#[derive(Debug, Default)]
struct Asked {
    query: ThreadQuery,
    /// The message whose whole text is shown.
    whole: Option<String>,
}

impl Asked {
    fn parse(target: &str) -> Self {
        let mut asked = Self::default();
        let query = target.split_once('?').map_or("", |(_, query)| query);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "before" => asked.query.before = value.parse().ok().filter(|number| *number > 0),
                "log" => asked.query.log_after = value.parse().ok().filter(|number| *number >= 0),
                "whole" => asked.whole = Some(value.into_owned()),
                _ => {}
            }
        }
        asked
    }
}

/// `GET /app/{agent}/tasks/{task}`
async fn page(
    State(hub): State<Hub>,
    viewer: Viewer,
    Path((_, task)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let task: TaskId = parse_id(&task, "task")?;
    let asked = Asked::parse(&viewer.browser.target);
    let show = Show::load(&hub, &viewer, &task, asked.query).await?;
    Show { asked, ..show }.render().await
}

/// The page with everything that goes into it.
struct Show<'a> {
    hub: &'a Hub,
    viewer: &'a Viewer,
    shell: Shell,
    thread: ThreadPage,
    asked: Asked,
    refused: Refused,
}

impl<'a> Show<'a> {
    /// The frame has the cursor from which the page follows events. It is read first: what happens between the two reads is
    /// shown twice and not missed.
    async fn load(
        hub: &'a Hub,
        viewer: &'a Viewer,
        task: &TaskId,
        query: ThreadQuery,
    ) -> Result<Self, Error> {
        let shell = Shell::of(hub, viewer, Section::Tasks).await?;
        let thread = threads::page(hub, &viewer.caller, task, query).await?;
        let (asked, refused) = Default::default();
        Ok(Self { hub, viewer, shell, thread, asked, refused })
    }

    async fn render(self) -> Page {
        let actions = Actions::of(self.hub, &self.thread, &self.refused);
        let (targets, has_more_targets) = match actions.can_reassign() {
            true => self.targets().await?,
            false => (Vec::new(), false),
        };
        let me = self.viewer.caller.agent.clone();
        let Self { shell, thread, asked, refused, .. } = self;
        html_aside(move || {
            let task = &thread.task;
            let history_end = thread.history_before + i64::try_from(thread.history.len()).unwrap_or(0);
            let facts = Facts::of(&thread, &shell);
            let template = ThreadTemplate {
                title: task.title.as_str().to_owned(),
                mark: words::mark(task.status, thread.waits),
                is_live: task.status.is_live(),
                is_encrypted: task.encrypted,
                turn: Turn::of(&thread, &facts, &shell),
                life: Life::of(&thread, shell.now),
                facts,
                items: items::items(&thread, &me, &shell, asked.whole.as_deref()),
                older: thread.older,
                is_newest: asked.query.before.is_none(),
                timeline: timeline::lines(&thread, &shell),
                earlier: (thread.history_before > 0).then(|| (thread.history_before - 100).max(0)),
                later: (history_end < thread.history_total).then_some(history_end),
                actions,
                targets,
                has_more_targets,
                refused,
                path: format!("{}/tasks/{}", shell.base, task.id),
                shell,
            };
            html(template.refused.status(), &template)
        })
        .await
    }

    /// The agents to which the initiator can give the task.
    async fn targets(&self) -> Result<(Vec<Peer>, bool), Error> {
        let query = PageQuery { limit: Some(TARGETS_MAX), cursor: None };
        let listed = connections::list(self.hub, &self.viewer.caller, query, paging::WHOLE).await?;
        let others =
            listed.items.iter().filter(|one| one.connected.agent_id != self.thread.task.target_agent_id);
        let peer = |one: &tandem_api::connections::ConnectionView| {
            let name = one.connected.agent_name.as_str();
            let alias = one.alias.as_ref().map(|alias| alias.as_str());
            Peer {
                id: one.connected.agent_id.to_string(),
                name: alias.map_or_else(|| name.to_owned(), |alias| format!("{alias} ({name})")),
                is_online: one.online,
            }
        };
        Ok((others.map(peer).collect(), listed.next.is_some()))
    }
}

/// `GET /app/{agent}/files/{file}`: the bytes of a file, for the person who is signed in.
async fn download(
    State(hub): State<Hub>,
    viewer: Viewer,
    Path((_, file)): Path<(String, String)>,
    request: Request,
) -> Result<Response, PageError> {
    match files::serve(&hub, &viewer.caller, &file, request.headers()).await {
        Err(error) if error.code() == Code::NotFound => {
            Err(Error::new(Code::NotFound, "this file was deleted, or it is not on a task of this agent")
                .into())
        }
        other => Ok(other?),
    }
}
