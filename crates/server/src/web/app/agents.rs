//! Agents: who can be reached, how, and under which rule. The agent of the page first, then its connections; the same as a
//! drawing; the agents that it has blocked.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use serde::Deserialize;
use tandem_api::agents::{BlockEntry, Profile};
use tandem_api::connections::ConnectionView;
use tandem_api::tasks::PageQuery;
use tandem_core::{AgentId, Rule};
use tandem_hub::ops::{agents, blocks, connections};
use tandem_hub::{Caller, Error, Hub, Listed, paging};

use super::copy::Copied;
use super::graph::{Edge, Graph, Node};
use super::people::Party;
use super::reach::{ReachMark, key_words};
use super::shell::path_of;
use super::words::When;
use super::{Form, Page, Section, Shell, Viewer, filters, html, redirect};

/// Connections on one page.
pub(super) const PAGE: i64 = 50;
/// Agents of other owners in the drawing.
const DRAWN_MAX: usize = 20;
/// Agents of this browser in the drawing.
const OWN_MAX: usize = 8;

pub(crate) fn routes() -> Router<Hub> {
    Router::new().route("/app/{agent}/agents", get(page)).route("/app/{agent}/agents/unblock", post(unblock))
}

#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) href: String,
    pub(super) name: String,
    /// The agent's own name, if the reader calls it by another.
    pub(super) real_name: Option<String>,
    pub(super) party: Party,
    pub(super) reach: ReachMark,
    pub(super) rule: String,
    pub(super) words: Option<Vec<String>>,
}

impl Row {
    pub(super) fn new(connection: &ConnectionView, base: &str, default: Option<Rule>, shell: &Shell) -> Self {
        let peer = &connection.connected;
        let alias = connection.alias.as_ref().map(|alias| alias.as_str().to_owned());
        let name = alias.clone().unwrap_or_else(|| peer.agent_name.as_str().to_owned());
        Self {
            href: format!("{base}/agents/{}", peer.id),
            party: Party::new(&peer.agent_id, &name, shell)
                .with_key(peer.public_key.as_ref().map(|key| key.as_str())),
            real_name: alias.map(|_| peer.agent_name.as_str().to_owned()).filter(|real| *real != name),
            name,
            reach: ReachMark::new(
                connection.reach,
                connection.reach_confirmed_at,
                connection.last_seen_at,
                shell.now,
            ),
            rule: rule_word(connection.approval, default),
            words: peer.public_key.as_ref().and_then(|key| key_words(key.as_str())),
        }
    }

    fn own(profile: &Profile, shell: &Shell) -> Self {
        Self {
            href: format!("{}/profile", shell.base),
            name: profile.name.as_str().to_owned(),
            real_name: None,
            party: Party::new(&profile.id, profile.name.as_str(), shell)
                .with_key(profile.public_key.as_ref().map(|key| key.as_str())),
            reach: ReachMark::new(profile.reach, profile.reach_confirmed_at, profile.last_seen_at, shell.now),
            rule: rule_word(profile.default_approval_rule, None),
            words: profile.public_key.as_ref().and_then(|key| key_words(key.as_str())),
        }
    }
}

/// A rule for what comes in, in words.
pub(super) fn rule_word(rule: Option<Rule>, default: Option<Rule>) -> String {
    match rule.or(default).unwrap_or(Rule::Auto) {
        Rule::Require => "Ask me".to_owned(),
        Rule::Auto => "Auto".to_owned(),
    }
}

#[derive(Debug, Clone)]
struct BlockedRow {
    party: Party,
    since: When,
}

impl BlockedRow {
    fn new(entry: &BlockEntry, shell: &Shell) -> Self {
        let party = Party::new(&entry.agent_id, entry.agent_name.as_str(), shell);
        Self { party, since: shell.when(&entry.created_at) }
    }
}

#[derive(Template)]
#[template(path = "app/agents.html")]
struct AgentsPage {
    shell: Shell,
    own: Row,
    /// Connections with other agents of this browser.
    mine: Vec<Row>,
    rows: Vec<Row>,
    is_first: bool,
    next: Option<String>,
    graph: Graph,
    blocked: Vec<BlockedRow>,
    blocked_next: Option<String>,
    command: Copied,
}

/// `GET /app/{agent}/agents`
async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    let shell = Shell::of(&hub, &viewer, Section::Agents).await?;
    let query = viewer.browser.query();
    let cursor = query.given("cursor");
    let profile = agents::profile(&hub, &viewer.caller).await?;
    let asked = PageQuery { limit: Some(PAGE), cursor: cursor.clone() };
    let listed = connections::list(&hub, &viewer.caller, asked, paging::LIST).await?;
    let asked = PageQuery { limit: Some(PAGE), cursor: query.given("blocked") };
    let blocked = blocks::list(&hub, &viewer.caller, asked).await?;
    // The drawing shows the newest connections, which are on the first page. Of one agent it would repeat the table.
    let graph = match cursor {
        None if shell.signed_in.len() > 1 => draw(&hub, &viewer, &profile, &listed, &shell).await?,
        _ => Graph::default(),
    };
    let default = profile.default_approval_rule;
    let rows = listed.items.iter().map(|one| Row::new(one, &shell.base, default, &shell));
    let (mine, rows) = rows.partition(|row| row.party.is_own);
    let page = AgentsPage {
        own: Row::own(&profile, &shell),
        mine,
        rows,
        is_first: cursor.is_none(),
        next: listed.next,
        graph,
        blocked: blocked.items.iter().map(|entry| BlockedRow::new(entry, &shell)).collect(),
        blocked_next: blocked.next,
        command: Copied::new("list", "this list").command(["connections"]).curl(
            &hub,
            "GET",
            "/connections",
            None,
        ),
        shell,
    };
    html(axum::http::StatusCode::OK, &page)
}

/// The drawing: the agents that are signed in in this browser, and the newest connections of each.
async fn draw(
    hub: &Hub,
    viewer: &Viewer,
    profile: &Profile,
    listed: &Listed<ConnectionView>,
    shell: &Shell,
) -> Result<Graph, Error> {
    let mut drawing = Drawing { shell, own: Vec::new(), others: Vec::new(), edges: Vec::new() };
    let mut callers = viewer.browser.callers(hub).await?;
    callers.retain(|caller| caller.agent != viewer.caller.agent);
    callers.truncate(OWN_MAX - 1);
    // An agent that is signed in here is at the left, also where it is connected to another one of them.
    let is_own: Vec<AgentId> =
        callers.iter().map(|caller| caller.agent.clone()).chain([profile.id.clone()]).collect();
    drawing.add(hub, &viewer.caller, profile.name.as_str(), &listed.items, &is_own).await?;
    for caller in callers {
        let path = path_of(&caller.agent);
        let name = shell.switches.iter().find(|one| one.href == path).map_or("", |one| &one.name);
        let asked = PageQuery { limit: Some(20), cursor: None };
        let listed = connections::list(hub, &caller, asked, paging::LIST).await?;
        drawing.add(hub, &caller, name, &listed.items, &is_own).await?;
    }
    let nodes: Vec<Node> = drawing.others.into_iter().map(|other| other.1).collect();
    Ok(Graph::new(&drawing.own, &nodes, &drawing.edges))
}

struct Drawing<'a> {
    shell: &'a Shell,
    own: Vec<Node>,
    others: Vec<(AgentId, Node)>,
    edges: Vec<Edge>,
}

impl Drawing<'_> {
    async fn add(
        &mut self,
        hub: &Hub,
        caller: &Caller,
        name: &str,
        listed: &[ConnectionView],
        is_own: &[AgentId],
    ) -> Result<(), Error> {
        let base = path_of(&caller.agent);
        let own = self.own.len();
        let limit = i64::try_from(DRAWN_MAX).unwrap_or_default();
        let live = connections::live_tasks(hub, caller, limit).await?;
        self.own.push(Node { name: name.to_owned(), href: format!("{base}/agents"), loss: None });
        for connection in listed.iter().take(DRAWN_MAX) {
            let peer = &connection.connected.agent_id;
            if is_own.contains(peer) {
                continue;
            }
            let known = self.others.iter().position(|other| other.0 == *peer);
            let other = match known {
                Some(other) => other,
                None if self.others.len() >= DRAWN_MAX => continue,
                None => {
                    let row = Row::new(connection, &base, None, self.shell);
                    let loss = row.reach.loss();
                    self.others.push((peer.clone(), Node { name: row.name, href: row.href, loss }));
                    self.others.len() - 1
                }
            };
            let tasks = live.iter().find(|pair| pair.0 == *peer).map_or(0, |pair| pair.1);
            self.edges.push(Edge { own, other, tasks });
        }
        Ok(())
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OneAgent {
    pub(super) agent_id: AgentId,
}

/// `POST /app/{agent}/agents/unblock`
async fn unblock(State(hub): State<Hub>, form: Form<Viewer, OneAgent>) -> Page {
    let caller = &form.by.caller;
    blocks::unblock(&hub, caller, &form.fields?.agent_id).await?;
    Ok(redirect(&format!("{}/agents?done=unblocked", path_of(&caller.agent))))
}
