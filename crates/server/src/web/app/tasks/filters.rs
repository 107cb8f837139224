//! Which tasks the list shows. All of it is in the URL, so that a view can be kept and shared.

use serde::Deserialize;
use tandem_api::tasks::PartyRole;
use tandem_app::Invalid;
use tandem_core::text::SearchText;
use tandem_core::{AgentId, Role, Status};
use tandem_hub::Error;
use tandem_hub::ops::needs::Selection;
use tandem_hub::ops::sign_ins::{Count, SignedIn};

use crate::http::explain;
use crate::http::unknown::UnknownNames;
use crate::web::app::Viewer;

/// Statuses that wait for somebody.
pub(super) const OPEN: [Status; 4] =
    [Status::Submitted, Status::Working, Status::InputRequired, Status::AuthRequired];
/// Statuses of tasks that ended without a result.
const BAD: [Status; 3] = [Status::Failed, Status::Rejected, Status::Expired];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Statuses {
    #[default]
    All,
    Open,
    Waiting,
    Bad,
    One(Status),
}

impl Statuses {
    fn parse(word: &str) -> Result<Self, Invalid> {
        match word {
            "open" => Ok(Self::Open),
            "waiting" => Ok(Self::Waiting),
            "bad" => Ok(Self::Bad),
            _ => word.parse().map(Self::One).map_err(|_| {
                Invalid::field("status", "must be open, waiting, bad, or a status such as working")
            }),
        }
    }

    pub(crate) fn word(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Open => Some("open"),
            Self::Waiting => Some("waiting"),
            Self::Bad => Some("bad"),
            Self::One(status) => Some(status.as_str()),
        }
    }

    /// The statuses; none for all.
    pub(crate) fn list(self) -> Vec<Status> {
        match self {
            Self::All => Vec::new(),
            Self::Open => OPEN.to_vec(),
            Self::Waiting => OPEN[2..].to_vec(),
            Self::Bad => BAD.to_vec(),
            Self::One(status) => vec![status],
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Filters {
    pub(crate) statuses: Statuses,
    pub(crate) role: Option<PartyRole>,
    pub(crate) with: Option<AgentId>,
    pub(crate) text: Option<SearchText>,
    pub(crate) cursor: Option<String>,
    pub(crate) is_board: bool,
}

#[derive(Debug, Deserialize)]
struct Given {
    status: Option<String>,
    role: Option<PartyRole>,
    with: Option<AgentId>,
    q: Option<SearchText>,
    cursor: Option<String>,
    view: Option<View>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum View {
    List,
    Board,
}

impl Filters {
    /// Reads the query of a page. A form sends fields that nobody filled in; they count as absent.
    pub(crate) fn of(viewer: &Viewer) -> Result<Self, Error> {
        let query = viewer.browser.target.split_once('?').map_or("", |(_, query)| query);
        let pairs = form_urlencoded::parse(query.as_bytes()).into_owned();
        let pairs: Vec<(String, String)> = pairs.filter(|(_, value)| !value.trim().is_empty()).collect();
        let given: Given = explain::from_pairs(pairs, &mut UnknownNames::default())?;
        Ok(Self {
            statuses: given.status.as_deref().map(Statuses::parse).transpose()?.unwrap_or_default(),
            role: given.role,
            with: given.with,
            text: given.q,
            cursor: given.cursor,
            is_board: given.view == Some(View::Board),
        })
    }

    pub(crate) fn selection(&self) -> Selection {
        Selection {
            statuses: self.statuses.list(),
            held: false,
            stalled: false,
            role: self.role,
            with: self.with.clone(),
            text: self.text.clone(),
            cursor: self.cursor.clone(),
        }
    }

    /// The same for other statuses, from the beginning, as a list.
    pub(crate) fn in_statuses(&self, statuses: Statuses) -> Self {
        Self { statuses, cursor: None, is_board: false, ..self.clone() }
    }

    /// The same as a list or as a board, from the beginning.
    pub(crate) fn as_view(&self, is_board: bool) -> Self {
        Self { is_board, cursor: None, ..self.clone() }
    }

    pub(crate) fn at_cursor(&self, cursor: Option<String>) -> Self {
        Self { cursor, ..self.clone() }
    }

    pub(crate) fn role_word(&self) -> &'static str {
        match self.role {
            None => "",
            Some(PartyRole::Initiator) => "initiator",
            Some(PartyRole::Target) => "target",
        }
    }

    pub(crate) fn text_word(&self) -> &str {
        self.text.as_ref().map_or("", |text| text.as_str())
    }

    /// Whether some tasks are left out.
    pub(crate) fn is_any(&self) -> bool {
        self.statuses != Statuses::All || self.is_searched() || self.role.is_some()
    }

    /// Whether it goes through tasks one by one, so that no count tells how many there are.
    pub(crate) fn is_searched(&self) -> bool {
        self.with.is_some() || self.text.is_some()
    }

    /// How many tasks of the agent are in these statuses, in the role that is asked for; each status is counted up to
    /// a limit, and ended tasks only if they were created in the last day.
    pub(crate) fn count(&self, me: &SignedIn, statuses: Statuses) -> i64 {
        let is_asked = |count: &&Count| self.role.is_none_or(|only| Role::from(only) == count.role);
        let wanted = statuses.list();
        let counts = me.counts.iter().filter(is_asked).filter(|count| wanted.contains(&count.status));
        counts.map(|count| count.count).sum()
    }

    /// The filters as the query of the REST API has them, which knows one status at most.
    pub(crate) fn api_query(&self) -> String {
        self.query(false)
    }

    pub(crate) fn href(&self, base: &str) -> String {
        let query = self.query(true);
        if query.is_empty() { format!("{base}/tasks") } else { format!("{base}/tasks?{query}") }
    }

    fn query(&self, with_place: bool) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let mut add = |name: &str, value: Option<&str>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                query.append_pair(name, value);
            }
        };
        add("view", Some("board").filter(|_| self.is_board && with_place));
        add("status", self.statuses.word());
        add("role", Some(self.role_word()));
        add("with", self.with.as_ref().map(AgentId::as_str));
        add("q", Some(self.text_word()));
        add("cursor", self.cursor.as_deref().filter(|_| with_place));
        query.finish()
    }
}
