//! The frame around every page: navigation with counts, the switcher between agents, and the state of the live stream.

use tandem_app::tasks::COUNTED_MAX;
use tandem_core::{AgentId, Timestamp};
use tandem_hub::ops::sign_ins::{self, SignedIn};
use tandem_hub::{Error, Hub};

use super::people::Party;
use super::session::{Browser, Operator, Viewer};
use super::words::{self, When};

/// The sections of the navigation, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Home,
    Approvals,
    Tasks,
    Agents,
    Networks,
    Events,
    Webhooks,
    Search,
    Profile,
}

impl Section {
    const ALL: [Self; 9] = [
        Self::Home,
        Self::Approvals,
        Self::Tasks,
        Self::Agents,
        Self::Networks,
        Self::Events,
        Self::Webhooks,
        Self::Search,
        Self::Profile,
    ];

    /// Its word, its icon and its path below the agent's.
    fn parts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Home => ("Home", "home", ""),
            Self::Approvals => ("Approvals", "gate", "/approvals"),
            Self::Tasks => ("Tasks", "tasks", "/tasks"),
            Self::Agents => ("Agents", "agents", "/agents"),
            Self::Networks => ("Networks", "net", "/networks"),
            Self::Events => ("Events", "pulse", "/events"),
            Self::Webhooks => ("Webhooks", "hook", "/webhooks"),
            Self::Search => ("Search", "search", "/search"),
            Self::Profile => ("Settings", "gear", "/profile"),
        }
    }
}

/// The operator's sections: path, word, icon.
const OPERATOR_LINKS: [(&str, &str, &str); 7] = [
    ("", "Overview", "home"),
    ("/agents", "Agents", "agents"),
    ("/tasks", "Tasks", "tasks"),
    ("/events", "Events", "pulse"),
    ("/deliveries", "Deliveries", "hook"),
    ("/settings", "Settings", "gear"),
    ("/storage", "Storage", "disk"),
];

#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) href: String,
    pub(crate) word: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) is_current: bool,
    /// A number beside it, if there is something to count.
    pub(crate) count: Option<String>,
    /// Whether the number is about things that wait for a person.
    pub(crate) waits: bool,
    /// The id of the number, for live updates.
    pub(crate) id: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Switch {
    pub(crate) href: String,
    pub(crate) name: String,
    pub(crate) initial: String,
    pub(crate) is_current: bool,
    pub(crate) waiting: Option<String>,
}

/// The live stream of a page.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    pub(crate) stream: String,
    pub(crate) cursor: i64,
}

/// The frame of a page. Templates call it `shell`.
#[derive(Debug, Clone)]
pub(crate) struct Shell {
    /// The path of this agent's pages, `/app/agent_…`, or `/app/admin`.
    pub(crate) base: String,
    /// Whose pages these are.
    pub(crate) name: String,
    pub(crate) initial: String,
    pub(crate) host: String,
    /// The address of the hub, for commands.
    pub(crate) address: String,
    pub(crate) links: Vec<Link>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) is_operator: bool,
    pub(crate) live: Option<Live>,
    /// The page that a refused form was on: it is fetched in place of the address of the form.
    pub(crate) refused_at: Option<String>,
    /// The versions of the regions that the browser shows, if it asks for what has changed.
    pub(crate) known: String,
    pub(crate) csrf: String,
    /// A new value for a form that must not take effect twice.
    pub(crate) once: String,
    /// What the last action did, in one sentence.
    pub(crate) flash: Option<&'static str>,
    pub(crate) has_search: bool,
    pub(crate) now: Timestamp,
    /// How many things wait for a decision of this agent's owner.
    pub(crate) waiting: i64,
    /// The agents that are signed in in this browser, with their counts.
    pub(crate) signed_in: Vec<SignedIn>,
    /// The agent with its counts; none on the operator's pages.
    pub(crate) me: Option<SignedIn>,
}

impl Shell {
    /// The frame of an agent's page.
    pub(crate) async fn of(hub: &Hub, viewer: &Viewer, section: Section) -> Result<Self, Error> {
        let signed_in = sign_ins::signed_in(hub, &viewer.browser.session).await?;
        let agent = &viewer.caller.agent;
        let me = signed_in.iter().find(|one| one.agent == *agent).cloned().ok_or_else(Error::unauthorized)?;
        let base = path_of(agent);
        let links = Section::ALL.into_iter().map(|link| agent_link(link, &base, section, &me)).collect();
        Ok(Self {
            name: me.name.clone(),
            links,
            live: Some(Live { stream: format!("{base}/live"), cursor: me.cursor }),
            has_search: true,
            waiting: me.waiting(),
            me: Some(me),
            ..Self::new(hub, &viewer.browser, base, signed_in)
        }
        .with_initial(agent))
    }

    fn with_initial(self, agent: &AgentId) -> Self {
        let initial = self.initials_of(agent);
        Self { initial: initial.unwrap_or_else(|| words::initials(&self.name)), ..self }
    }

    /// The frame of an operator's page; `section` is its path below `/app/admin`.
    pub(crate) async fn of_operator(hub: &Hub, operator: &Operator, section: &str) -> Result<Self, Error> {
        let signed_in = sign_ins::signed_in(hub, &operator.0.session).await?;
        let base = "/app/admin".to_owned();
        let link = |(path, word, icon): (&'static str, &'static str, &'static str)| Link {
            href: format!("{base}{path}"),
            word,
            icon,
            is_current: path == section,
            count: None,
            waits: false,
            id: format!("count-{}", path.trim_start_matches('/')),
        };
        let links = OPERATOR_LINKS.into_iter().map(link).collect();
        // The operator has no log of events: the pages ask again by themselves.
        let live = Some(Live { stream: String::new(), cursor: 0 });
        Ok(Self { links, live, ..Self::new(hub, &operator.0, base.clone(), signed_in) })
    }

    fn new(hub: &Hub, browser: &Browser, base: String, signed_in: Vec<SignedIn>) -> Self {
        let letters = words::initials_of_all(signed_in.iter().map(|one| one.name.as_str()));
        let switch = |(one, initial): (&SignedIn, String)| Switch {
            href: path_of(&one.agent),
            name: one.name.clone(),
            initial,
            is_current: path_of(&one.agent) == base,
            waiting: (one.waiting() > 0).then(|| words::count(one.waiting(), COUNTED_MAX)),
        };
        Self {
            switches: signed_in.iter().zip(letters).map(switch).collect(),
            name: "Operator".to_owned(),
            initial: "O".to_owned(),
            host: host(hub),
            address: super::copy::address(hub),
            links: Vec::new(),
            is_operator: browser.is_operator(hub),
            live: None,
            refused_at: None,
            known: browser.known.clone(),
            csrf: browser.csrf(),
            once: tandem_app::keys::random_hex::<12>(),
            flash: flash(&browser.target),
            has_search: false,
            now: hub.time(),
            waiting: 0,
            me: None,
            signed_in,
            base,
        }
    }

    /// Whether an agent belongs to the person: it is signed in in this browser.
    pub(crate) fn owns(&self, agent: &AgentId) -> bool {
        self.signed_in.iter().any(|own| own.agent == *agent)
    }

    /// The two letters of an agent of this browser, which tell it from the others.
    pub(crate) fn initials_of(&self, agent: &AgentId) -> Option<String> {
        let place = self.signed_in.iter().position(|own| own.agent == *agent)?;
        self.switches.get(place).map(|switch| switch.initial.clone())
    }

    /// Whether these are the pages of this agent.
    pub(crate) fn is_me(&self, agent: &AgentId) -> bool {
        self.me.as_ref().is_some_and(|me| me.agent == *agent)
    }

    /// The agent of these pages.
    pub(crate) fn party(&self) -> Option<Party> {
        self.me.as_ref().map(|me| Party::new(&me.agent, &me.name, self))
    }

    /// A moment, in relation to now.
    pub(crate) fn when(&self, at: &Timestamp) -> When {
        When::new(*at, self.now)
    }

    /// How the switcher says who else is signed in.
    pub(crate) fn signed_in_note(&self) -> String {
        match (self.switches.len(), self.is_operator) {
            (0, _) => "operator".to_owned(),
            (1, false) => "1 agent signed in".to_owned(),
            (1, true) => "1 agent and the operator".to_owned(),
            (agents, false) => format!("{agents} agents signed in"),
            (agents, true) => format!("{agents} agents and the operator"),
        }
    }

    /// Who is signed out by the button of the switcher.
    pub(crate) fn subject(&self) -> &str {
        self.me.as_ref().map_or("admin", |me| me.agent.as_str())
    }

    /// The first links, for the bar at the foot of a phone.
    pub(crate) fn bottom(&self) -> &[Link] {
        &self.links[..self.links.len().min(4)]
    }

    /// The other links, behind "More".
    pub(crate) fn more(&self) -> &[Link] {
        &self.links[self.links.len().min(4)..]
    }
}

pub(crate) fn path_of(agent: &AgentId) -> String {
    format!("/app/{agent}")
}

fn agent_link(link: Section, base: &str, current: Section, me: &SignedIn) -> Link {
    let (word, icon, path) = link.parts();
    let number = match link {
        Section::Approvals => me.held(),
        Section::Tasks => me.live(),
        _ => 0,
    };
    Link {
        href: format!("{base}{path}"),
        word,
        icon,
        is_current: link == current,
        count: (number > 0).then(|| words::count(number, COUNTED_MAX)),
        waits: link == Section::Approvals,
        id: format!("count-{}", word.to_ascii_lowercase()),
    }
}

/// The name of the hub: where people reach it.
fn host(hub: &Hub) -> String {
    match hub.config.public_address() {
        Some(url) => url.split("://").nth(1).unwrap_or(url).trim_end_matches('/').to_owned(),
        None => hub.config.listen.to_string(),
    }
}

/// Sentences that a page shows after an action, by the word in `?done=`. The set is closed, so that a link from elsewhere
/// cannot make the hub say something.
const DONE: &[(&str, &str)] = &[
    ("approved", "Approved. The agent gets the task now."),
    ("rejected", "Rejected. The sender is told why."),
    ("rule", "The rule for this sender is changed."),
    ("sent", "Sent."),
    ("asked", "Asked for a sign of life."),
    ("created", "The task is sent."),
    ("draft", "The draft is saved."),
    ("cancelled", "Cancelled. The other side is told."),
    ("retried", "Sent again as a new attempt."),
    ("reassigned", "Reassigned. The new agent has the whole thread."),
    ("accepted", "Accepted. The task is completed."),
    ("status", "The status is changed."),
    ("deleted", "Deleted."),
    ("saved", "Saved."),
    ("connected", "Connected."),
    ("disconnected", "Disconnected. Its live tasks are cancelled."),
    ("blocked", "Blocked. Its live tasks are cancelled."),
    ("unblocked", "Unblocked."),
    ("joined", "You are a member now."),
    ("left", "You have left the network."),
    ("broadcast", "Sent to all members."),
    ("pinged", "A test event is on its way to the webhook."),
    ("replayed", "The delivery is sent again."),
    ("replayed-all", "What had failed is sent again."),
    ("read", "Marked as read."),
    ("acknowledged", "Acknowledged. The other side is told."),
    ("replied", "The result is delivered."),
    ("attached", "The file is on the task."),
    ("reopened", "Reopened. Both sides are told."),
    ("budget", "The message budget is changed."),
    ("published", "Published. The other agent gets the task now."),
    ("message-deleted", "The message is deleted."),
    ("signed-out", "Signed out."),
    ("suspended", "Suspended. Its key, sockets and sessions have ended."),
    ("resumed", "The suspension is lifted."),
];

fn flash(target: &str) -> Option<&'static str> {
    let query = target.split_once('?')?.1;
    let (_, word) = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "done")?;
    DONE.iter().find(|known| known.0 == word).map(|known| known.1)
}
