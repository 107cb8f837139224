//! The log of decisions: who decided what, when and from where, and what the request said then.

use std::fmt::Write as _;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use tandem_api::decisions::DecisionView;
use tandem_core::text::SearchText;
use tandem_core::{AgentId, Verdict, Way};
use tandem_hub::ops::decisions::{self, Search};
use tandem_hub::{Error, Hub, Listed};

use super::super::people::Party;
use super::super::session::Sent;
use super::super::words::{self, StatusMark};
use super::super::{Page, PageError, Section, Shell, Viewer, filters, html};

/// Decisions on a page.
const PAGE: i64 = 50;
/// Decisions that are read at once for a file, and pages of them in one file.
const FILE_PAGE: i64 = 500;
const FILE_PAGES_MAX: usize = 10;
/// Digits of a hash in the list.
const HASH_SHOWN: usize = 8;

/// The choices of a time, in days; the first is the usual one.
const PERIODS: [(&str, &str, i64); 4] =
    [("30", "Last 30 days", 30), ("1", "Last 24 hours", 1), ("7", "Last 7 days", 7), ("all", "All", 0)];

/// A decision of the list.
struct Row {
    decision: DecisionView,
    sender: Party,
}

impl Row {
    fn new(decision: DecisionView, shell: &Shell) -> Self {
        let name = decision.sender_agent_name.as_str();
        Self { sender: Party::new(&decision.sender_agent_id, name, shell), decision }
    }

    fn mark(&self) -> StatusMark {
        let (word, icon, tone) = match (self.decision.verdict, &self.decision.note) {
            (Verdict::Approved, Some(_)) => ("Approved, note", "note", "good"),
            (Verdict::Approved, None) => ("Approved", "check", "good"),
            (Verdict::Rejected, _) => ("Rejected", "status-rejected", "bad"),
            (Verdict::Expired, _) => ("Expired", "status-expired", "bad"),
        };
        StatusMark { word, icon, tone }
    }

    /// Who decided, and by what.
    fn by(&self) -> (&str, &str) {
        let device = self.decision.device.as_ref().map_or("a browser", |text| text.as_str());
        match self.decision.way {
            Some(Way::Page) => ("You", device),
            Some(Way::Rest) => ("Your agent", "by the API"),
            Some(Way::Mcp) => ("Your agent", "by MCP"),
            None => ("Nobody", "in time"),
        }
    }

    fn short_hash(&self) -> &str {
        let hash = self.decision.content_sha256.as_str();
        hash.get(..HASH_SHOWN).unwrap_or(hash)
    }

    fn is_late(&self) -> bool {
        self.decision.verdict == Verdict::Expired
    }
}

/// The choices of a decision.
const VERDICTS: [(&str, &str); 4] =
    [("", "Any decision"), ("approved", "Approved"), ("rejected", "Rejected"), ("expired", "Expired")];

#[derive(Template)]
#[template(path = "app/decided.html")]
struct DecidedPage {
    shell: Shell,
    rows: Vec<Row>,
    since: &'static str,
    verdict: &'static str,
    text: String,
    /// The filter, for the files and for older decisions.
    query: String,
    older: Option<String>,
    waiting: String,
}

/// What a reader asked for, in the query of the address.
struct Asked {
    period: (&'static str, &'static str, i64),
    verdict: Option<Verdict>,
    sender: Option<AgentId>,
    text: Option<SearchText>,
    cursor: Option<String>,
}

impl Asked {
    fn of(sent: &Sent) -> Result<Self, Error> {
        let period = PERIODS.into_iter().find(|period| period.0 == sent.get("since")).unwrap_or(PERIODS[0]);
        let text = match sent.given("q") {
            Some(text) => Some(
                SearchText::try_from(text)
                    .map_err(|unfit| tandem_app::Invalid::field("q", unfit.to_string()))?,
            ),
            None => None,
        };
        Ok(Self {
            period,
            verdict: sent.given("verdict").and_then(|word| Verdict::try_from(word).ok()),
            sender: sent.given("sender").and_then(|id| id.parse().ok()),
            text,
            cursor: sent.given("cursor"),
        })
    }

    fn search(&self, hub: &Hub) -> Search {
        let days = self.period.2;
        Search {
            verdict: self.verdict,
            sender: self.sender.clone(),
            since: (days > 0).then(|| hub.time().plus_seconds(-days * 86_400)),
            text: self.text.clone(),
            before: None,
        }
    }

    /// The filter as a query, without the place in the list.
    fn query(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("since", self.period.0);
        if let Some(verdict) = self.verdict {
            query.append_pair("verdict", verdict.as_str());
        }
        if let Some(sender) = &self.sender {
            query.append_pair("sender", sender.as_str());
        }
        if let Some(text) = &self.text {
            query.append_pair("q", text.as_str());
        }
        query.finish()
    }
}

/// `GET /app/{agent}/approvals/decided`
pub(super) async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    let asked = Asked::of(&viewer.browser.query())?;
    let shell = Shell::of(&hub, &viewer, Section::Approvals).await?;
    let search = asked.search(&hub);
    let found = decisions::list(&hub, &viewer.caller, search, asked.cursor.as_deref(), PAGE).await?;
    let query = asked.query();
    let template = DecidedPage {
        rows: found.items.into_iter().map(|decision| Row::new(decision, &shell)).collect(),
        since: asked.period.0,
        verdict: asked.verdict.map_or("", Verdict::as_str),
        text: asked.text.as_ref().map_or_else(String::new, |text| text.as_str().to_owned()),
        older: found.next.map(|cursor| {
            let place: String =
                form_urlencoded::Serializer::new(String::new()).append_pair("cursor", &cursor).finish();
            format!("{}/approvals/decided?{query}&{place}", shell.base)
        }),
        query,
        waiting: words::count(shell.me.as_ref().map_or(0, |me| me.held()), tandem_app::tasks::COUNTED_MAX),
        shell,
    };
    html(StatusCode::OK, &template)
}

/// `GET /app/{agent}/approvals/decided/decisions.{csv,json}`: what the filter shows, from the newest on.
pub(super) async fn export(
    State(hub): State<Hub>,
    viewer: Viewer,
    Path((_, file)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let asked = Asked::of(&viewer.browser.query())?;
    let is_csv = match file.as_str() {
        "decisions.csv" => true,
        "decisions.json" => false,
        _ => return Err(Error::not_found("file").into()),
    };
    let (mut found, mut cursor) = (Vec::new(), asked.cursor.clone());
    for _ in 0..FILE_PAGES_MAX {
        let listed: Listed<DecisionView> =
            decisions::list(&hub, &viewer.caller, asked.search(&hub), cursor.as_deref(), FILE_PAGE).await?;
        found.extend(listed.items);
        cursor = listed.next;
        if cursor.is_none() {
            break;
        }
    }
    let (kind, body) = if is_csv {
        ("text/csv; charset=utf-8", csv(&found))
    } else {
        let whole = serde_json::json!({ "decisions": found, "complete": cursor.is_none() });
        ("application/json", whole.to_string())
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_static(if is_csv {
                "attachment; filename=\"decisions.csv\""
            } else {
                "attachment; filename=\"decisions.json\""
            }),
        ),
    ];
    Ok((headers, body).into_response())
}

fn csv(decisions: &[DecisionView]) -> String {
    let mut text = "decidedAt,verdict,taskId,attempt,title,senderAgentId,senderAgentName,note,version,files,\
                    contentSha256,way,device,session,address\r\n"
        .to_owned();
    for one in decisions {
        let of = |text: &Option<tandem_api::text::HubText>| {
            text.as_ref().map_or_else(String::new, |text| text.as_str().to_owned())
        };
        let fields = [
            one.decided_at.to_string(),
            one.verdict.as_str().to_owned(),
            one.task_id.to_string(),
            one.attempt.to_string(),
            one.title.as_str().to_owned(),
            one.sender_agent_id.to_string(),
            one.sender_agent_name.as_str().to_owned(),
            one.note.as_ref().map_or_else(String::new, |note| note.as_str().to_owned()),
            one.version.to_string(),
            one.files.to_string(),
            one.content_sha256.as_str().to_owned(),
            one.way.map_or("", Way::as_str).to_owned(),
            of(&one.device),
            of(&one.session),
            of(&one.address),
        ];
        let line: Vec<String> = fields.iter().map(|field| cell(field)).collect();
        // Writing to a string cannot fail.
        let _ = write!(text, "{}\r\n", line.join(","));
    }
    text
}

/// A field in quotation marks. A spreadsheet takes what begins with certain signs for a formula, so these get an apostrophe.
fn cell(field: &str) -> String {
    let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let mark = if is_formula { "'" } else { "" };
    format!("\"{mark}{}\"", field.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spreadsheet_finds_text_only() {
        assert_eq!(cell("plain, with a comma"), "\"plain, with a comma\"");
        assert_eq!(cell("say \"hi\""), "\"say \"\"hi\"\"\"");
        for formula in ["=1+1", "+1", "-1", "@sum", "\t=1"] {
            assert_eq!(cell(formula), format!("\"'{formula}\""));
        }
    }
}
