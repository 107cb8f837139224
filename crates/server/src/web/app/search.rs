//! Search: what to do, tasks, agents and messages. It opens things and never decides. The palette of the script shows the
//! same page.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use tandem_core::text::SearchText;
use tandem_hub::Hub;
use tandem_hub::ops::search::{self, Found};

use super::people::Party;
use super::shell::Link;
use super::tasks::row::{TaskRow, cut};
use super::words::When;
use super::{Page, Section, Shell, Viewer, filters, html};

/// Characters of a message that are shown, and of those before the words.
const SHOWN_CHARS: usize = 120;
const BEFORE_CHARS: usize = 30;

pub(crate) fn routes() -> Router<Hub> {
    Router::new().route("/app/{agent}/search", get(page))
}

/// Something to do or a page to open.
#[derive(Debug)]
struct Deed {
    icon: &'static str,
    word: String,
    href: String,
}

#[derive(Debug)]
struct AgentHit {
    party: Party,
    alias: Option<String>,
    href: String,
    is_online: bool,
}

#[derive(Debug)]
struct MessageHit {
    party: Party,
    text: String,
    title: String,
    href: String,
    when: When,
}

#[derive(Template)]
#[template(path = "app/search.html")]
struct SearchPage {
    text: String,
    /// Why the words cannot be searched for.
    error: Option<String>,
    deeds: Vec<Deed>,
    tasks: Vec<TaskRow>,
    agents: Vec<AgentHit>,
    messages: Vec<MessageHit>,
    shell: Shell,
}

impl SearchPage {
    fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.agents.is_empty() && self.messages.is_empty()
    }
}

/// `GET /app/{agent}/search?q=`
async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    let shell = Shell::of(&hub, &viewer, Section::Search).await?;
    let text = viewer.browser.query().get("q").trim().to_owned();
    let (found, error) = match SearchText::try_from(text.clone()) {
        _ if text.is_empty() => (Found::default(), None),
        Ok(words) => (search::all(&hub, &viewer.caller, words).await?, None),
        Err(unfit) => (Found::default(), Some(format!("The text {unfit}."))),
    };
    let agents = found.agents.iter().map(|one| AgentHit {
        party: Party::new(&one.connected.agent_id, one.connected.agent_name.as_str(), &shell),
        alias: one.alias.as_ref().map(|alias| alias.as_str().to_owned()),
        href: format!("{}/agents/{}", shell.base, one.connected.id),
        is_online: one.online,
    });
    let messages = found.messages.iter().map(|hit| MessageHit {
        party: Party::new(&hit.said.sender, &hit.said.sender_name, &shell),
        text: around(&hit.said.text, &text),
        title: hit.title.clone(),
        href: format!("{}/tasks/{}#m-{}", shell.base, hit.task, hit.said.id),
        when: shell.when(&hit.said.at),
    });
    let template = SearchPage {
        deeds: deeds(&shell, &found, &text),
        tasks: found.tasks.into_iter().map(|task| TaskRow::new(task, &shell)).collect(),
        agents: agents.collect(),
        messages: messages.collect(),
        text,
        error,
        shell,
    };
    html(StatusCode::OK, &template)
}

/// What can be done about the words: look at requests that wait, write a task, open a page.
fn deeds(shell: &Shell, found: &Found, text: &str) -> Vec<Deed> {
    let waiting = found.tasks.iter().filter(|one| one.needs_owner()).map(|one| Deed {
        icon: "gate",
        word: format!("Look at: {}", one.task.title.as_str()),
        href: format!("{}/tasks/{}", shell.base, one.task.id),
    });
    let mut deeds: Vec<Deed> = waiting.take(3).collect();
    if !text.is_empty() {
        let query: String =
            form_urlencoded::Serializer::new(String::new()).append_pair("title", text).finish();
        let word = format!("New task: “{}”", cut(text, 40));
        deeds.push(Deed { icon: "plus", word, href: format!("{}/new-task?{query}", shell.base) });
    }
    let wanted = text.to_lowercase();
    let is_it = |link: &&Link| link.word.to_lowercase().contains(&wanted);
    deeds.extend(shell.links.iter().filter(is_it).map(|link| Deed {
        icon: link.icon,
        word: link.word.to_owned(),
        href: link.href.clone(),
    }));
    deeds
}

/// The part of a text around the words that were found, in one line.
fn around(text: &str, words: &str) -> String {
    let line = cut(text, usize::MAX);
    let (lower, wanted) = (line.to_lowercase(), words.to_lowercase());
    // In lower case a text may have more or fewer bytes, so places are counted in characters.
    let place = lower.find(&wanted).map_or(0, |at| lower[..at].chars().count());
    let skipped = place.saturating_sub(BEFORE_CHARS);
    let rest: String = line.chars().skip(skipped).collect();
    let shown = cut(&rest, SHOWN_CHARS);
    if skipped > 0 { format!("… {shown}") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_is_shown_with_what_stands_around_it() {
        assert_eq!(around("GET /shipments\nkeeps pages", "ship"), "GET /shipments keeps pages");
        let long = format!("{}needle{}", "before ".repeat(20), " after".repeat(40));
        let shown = around(&long, "NEEDLE");
        assert!(shown.starts_with("… ") && shown.contains("needle") && shown.ends_with('…'), "{shown}");
        assert_eq!(around("İstanbul", "zzz"), "İstanbul");
    }
}
