//! `GET /app/{agent}/tasks`: the list, which is the default, and the board.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use tandem_app::tasks::COUNTED_MAX;
use tandem_core::Status;
use tandem_hub::Hub;
use tandem_hub::ops::figures;
use tandem_hub::ops::needs::{self, Followed};
use tandem_hub::ops::sign_ins::SignedIn;

use super::board::{self, Column};
use super::filters::{Filters, Statuses};
use super::row::{self, TaskRow};
use super::{Choice, newest_connections};
use crate::web::app::copy::Copied;
use crate::web::app::{Page, Section, Shell, Viewer, filters, html, words};

/// Tasks on a page.
const PAGE: i64 = 50;

#[derive(Template)]
#[template(path = "app/tasks.html")]
struct TasksPage {
    chips: Vec<Chip>,
    peers: Vec<Choice>,
    groups: Vec<Group>,
    /// Columns, if this is the board.
    columns: Vec<Column>,
    older: Option<String>,
    /// The beginning, if this is a later page.
    newest: Option<String>,
    list_href: String,
    board_href: String,
    copied: Copied,
    filters: Filters,
    shell: Shell,
}

/// The tasks of a page under one heading.
struct Group {
    word: &'static str,
    rows: Vec<TaskRow>,
}

/// The tasks of a page by whose turn it is, each in the order of the list.
fn grouped(rows: Vec<TaskRow>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for group in row::Group::ALL {
        let rows: Vec<TaskRow> = rows.iter().filter(|row| row.group() == group).cloned().collect();
        if !rows.is_empty() {
            groups.push(Group { word: group.word(), rows });
        }
    }
    groups
}

impl TasksPage {
    fn count(&self) -> usize {
        self.groups.iter().map(|group| group.rows.len()).sum()
    }

    fn open(&self) -> String {
        words::count(self.shell.me.as_ref().map_or(0, SignedIn::live), COUNTED_MAX)
    }
}

/// A filter by status.
struct Chip {
    href: String,
    word: &'static str,
    icon: Option<&'static str>,
    count: Option<String>,
    /// Whether only tasks of the last day are counted.
    is_recent: bool,
    is_current: bool,
}

pub(super) async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    let filters = Filters::of(&viewer)?;
    let shell = Shell::of(&hub, &viewer, Section::Tasks).await?;
    let peers = peers(&hub, &viewer, &filters).await?;
    let mut page = TasksPage {
        chips: chips(&shell, &filters),
        peers,
        groups: Vec::new(),
        columns: Vec::new(),
        older: None,
        newest: None,
        list_href: filters.as_view(false).href(&shell.base),
        board_href: filters.as_view(true).href(&shell.base),
        copied: copied(&hub, &filters),
        filters,
        shell,
    };
    if page.filters.is_board {
        page.columns = board::columns(&hub, &viewer, &page.shell, &page.filters).await?;
    } else {
        let found = needs::tasks(&hub, &viewer.caller, page.filters.selection(), PAGE).await?;
        let ids = found.items.iter().map(|task| task.task.id.clone()).collect();
        let pasts = figures::pasts(&hub, &viewer.caller, ids).await?;
        let row = |task: Followed| {
            let past = pasts.get(&task.task.id);
            TaskRow::new(task, &page.shell).with_life(past, page.shell.now)
        };
        page.groups = grouped(found.items.into_iter().map(row).collect());
        let base = &page.shell.base;
        page.older = found.next.map(|cursor| page.filters.at_cursor(Some(cursor)).href(base));
        page.newest = page.filters.cursor.as_ref().map(|_| page.filters.at_cursor(None).href(base));
    }
    html(StatusCode::OK, &page)
}

/// The agents to filter by: the newest connections, and the one that is chosen.
async fn peers(hub: &Hub, viewer: &Viewer, filters: &Filters) -> Result<Vec<Choice>, tandem_hub::Error> {
    let chosen = filters.with.as_ref().map_or_else(String::new, ToString::to_string);
    let connections = newest_connections(hub, viewer).await?.items;
    let mut peers: Vec<Choice> = connections.iter().map(|one| Choice::of(one, &chosen)).collect();
    if !chosen.is_empty() && !peers.iter().any(|peer| peer.is_chosen) {
        peers.push(Choice { label: chosen.clone(), value: chosen, is_chosen: true });
    }
    Ok(peers)
}

fn chips(shell: &Shell, filters: &Filters) -> Vec<Chip> {
    let Some(me) = &shell.me else { return Vec::new() };
    let mut chips = vec![Chip {
        href: filters.in_statuses(Statuses::All).href(&shell.base),
        word: "All",
        icon: None,
        count: None,
        is_recent: false,
        is_current: filters.statuses == Statuses::All && !filters.is_board,
    }];
    let one = Statuses::One;
    let shown = [
        (Statuses::Open, "Open", true),
        (one(Status::Draft), "Draft", false),
        (one(Status::Submitted), "Submitted", true),
        (one(Status::Working), "Working", true),
        (one(Status::InputRequired), "Input required", false),
        (one(Status::AuthRequired), "Auth required", false),
        (Statuses::Waiting, "Waits for an answer", false),
        (one(Status::Completed), "Completed", true),
        (Statuses::Bad, "Ended badly", true),
        (one(Status::Cancelled), "Cancelled", true),
        (one(Status::Failed), "Failed", false),
        (one(Status::Rejected), "Rejected", false),
        (one(Status::Expired), "Expired", false),
    ];
    for (statuses, word, is_always) in shown {
        let (number, is_current) =
            (filters.count(me, statuses), filters.statuses == statuses && !filters.is_board);
        let list = statuses.list();
        let is_recent = list.iter().all(|status| status.is_terminal());
        // A group stands for its statuses; they get chips of their own only when one of them is chosen.
        let is_counted = !is_recent && number > 0 && statuses != Statuses::Waiting;
        if !(is_always || is_current || is_counted) {
            continue;
        }
        let icon = match list.as_slice() {
            [status] => Some(words::status(*status, None).icon),
            _ => None,
        };
        chips.push(Chip {
            href: filters.in_statuses(statuses).href(&shell.base),
            word,
            icon,
            count: (!filters.is_searched()).then(|| words::count(number, COUNTED_MAX)),
            is_recent,
            is_current,
        });
    }
    chips
}

fn copied(hub: &Hub, filters: &Filters) -> Copied {
    let mut words: Vec<&str> = vec!["task", "list"];
    match filters.role_word() {
        "initiator" => words.push("--sent"),
        "target" => words.push("--received"),
        _ => {}
    }
    if let Some(with) = &filters.with {
        words.extend(["--with", with.as_str()]);
    }
    if filters.text.is_some() {
        words.extend(["--search", filters.text_word()]);
    }
    let copied = Copied::new("list", "this list");
    match filters.statuses {
        // The command line and the API know one status at a time.
        Statuses::Open | Statuses::Waiting | Statuses::Bad => {
            let statuses: Vec<&str> = filters.statuses.list().iter().map(|status| status.as_str()).collect();
            copied.command_for_each("status", &statuses, &words)
        }
        Statuses::All | Statuses::One(_) => {
            if let Some(status) = filters.statuses.word() {
                words.extend(["--status", status]);
            }
            let query = filters.api_query();
            let mark = if query.is_empty() { "" } else { "?" };
            copied.command(words).curl(hub, "GET", &format!("/tasks{mark}{query}"), None)
        }
    }
}
