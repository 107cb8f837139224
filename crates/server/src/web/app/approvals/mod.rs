//! Approvals: who asks, do I know the key, what do they want, how long have I got?

pub(super) mod decide;
mod decided;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use tandem_api::tasks::{PageQuery, TaskView};
use tandem_core::files::File;
use tandem_core::{AgentId, Approval, Rule};
use tandem_hub::ops::approvals::{self, DECISIONS_COUNTED_MAX, Queue, Request};
use tandem_hub::{Hub, paging};

use self::decide::Late;
use super::copy::Copied;
use super::markdown::{self, Budget, Excerpt};
use super::people::Party;
use super::refused::Refused;
use super::session::Sent;
use super::thread::facts::{self, Key};
use super::thread::items::{FileLink, SealedBox, sealed_description};
use super::words::{self, When};
use super::{Page, Section, Shell, Viewer, filters, html, html_aside};

/// Cards on one page.
const CARDS_MAX: i64 = 10;
/// Less than this is left: say it in colour.
const SOON_MS: i64 = 15 * 60 * 1_000;

pub(crate) fn routes() -> Router<Hub> {
    Router::new()
        .route("/app/{agent}/approvals", get(page))
        .route("/app/{agent}/approvals/decided", get(decided::page))
        .route("/app/{agent}/approvals/decided/{file}", get(decided::export))
        .route("/app/{agent}/approvals/{task}/approve", post(decide::approve))
        .route("/app/{agent}/approvals/{task}/reject", post(decide::reject))
        .route("/app/{agent}/approvals/{task}/rule", post(decide::rule))
}

#[derive(Debug)]
enum Wish {
    Text(Excerpt),
    Sealed(Box<SealedBox>),
    Nothing,
}

/// One task that waits.
#[derive(Debug)]
struct Card {
    id: String,
    version: i64,
    title: String,
    sender: Party,
    target: Party,
    fingerprint: Option<String>,
    has_key: bool,
    connected: Option<When>,
    connection: Option<String>,
    rule: Option<Rule>,
    rule_word: &'static str,
    approved: String,
    rejected: String,
    is_first: bool,
    terms: Vec<String>,
    expires: Option<When>,
    is_soon: bool,
    asked: When,
    wish: Wish,
    files: Vec<FileLink>,
    has_more_files: bool,
    /// What was typed into a form that was refused.
    reason: String,
    note: String,
    is_open: bool,
    /// Whether it is the one request that a phone shows.
    is_current: bool,
    /// Its place among those that wait.
    number: usize,
    here: String,
    before: Option<String>,
    after: Option<String>,
    /// The task that comes next when this one is decided; empty if there is none.
    next: String,
    more: String,
    approve_id: String,
    approve_command: String,
    reject_id: String,
    reject_command: String,
}

impl Card {
    fn is_rule(&self, rule: Rule) -> bool {
        self.rule == Some(rule)
    }
}

#[derive(Debug)]
struct Decided {
    href: String,
    title: String,
    is_approved: bool,
    text: String,
    quote: Option<String>,
    when: When,
}

#[derive(Template)]
#[template(path = "app/approvals.html")]
struct ApprovalsTemplate {
    shell: Shell,
    cards: Vec<Card>,
    next: Option<String>,
    is_first_page: bool,
    decided: Vec<Decided>,
    default_word: &'static str,
    keys: Vec<Key>,
    is_encrypted: bool,
    late: Option<Late>,
    error: Option<String>,
    waiting: String,
    /// Where to go on, if the request that was asked for does not wait any more.
    gone: Option<String>,
    /// Where the page is fetched again, with the same request in front.
    address: String,
    agent: String,
    me: String,
}

/// The rule for tasks of one sender, as it is said on the page.
fn rule_word(rule: Option<Rule>) -> &'static str {
    match rule {
        Some(Rule::Require) => "ask me",
        Some(Rule::Auto) => "approve without asking",
        None => "as for everyone",
    }
}

/// `GET /app/{agent}/approvals`
async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    Show::new(&hub, &viewer).render().await
}

/// The page with what a form left behind.
struct Show<'a> {
    hub: &'a Hub,
    viewer: &'a Viewer,
    late: Option<Late>,
    refused: Refused,
}

impl<'a> Show<'a> {
    fn new(hub: &'a Hub, viewer: &'a Viewer) -> Self {
        Self { hub, viewer, late: None, refused: Refused::default() }
    }

    async fn render(self) -> Page {
        let shell = Shell::of(self.hub, self.viewer, Section::Approvals).await?;
        let sent = self.viewer.browser.query();
        let cursor = sent.given("cursor");
        let is_first_page = cursor.is_none();
        let query = PageQuery { limit: Some(CARDS_MAX), cursor };
        let queue = approvals::queue(self.hub, &self.viewer.caller, query, paging::LIST).await?;
        let me = self.viewer.caller.agent.clone();
        let Self { late, refused, .. } = self;
        // After a decision the next one may have been decided by somebody else: then the first one is shown.
        let asked = refused.form_of_task().or_else(|| sent.given("task"));
        let is_after = late.is_some() || sent.given("done").is_some();
        html_aside(move || {
            let mut budget = Budget::of_a_page();
            let card = |request: &Request| card(request, &refused, &me, &shell, &mut budget);
            let mut cards: Vec<Card> = queue.requests.items.iter().map(card).collect();
            let base = format!("{}/approvals", shell.base);
            let place = asked.as_ref().and_then(|asked| cards.iter().position(|card| card.id == *asked));
            let is_gone = asked.is_some() && place.is_none() && !is_after;
            let current = if is_gone { None } else { Some(place.unwrap_or(0)) };
            link(&mut cards, &base, current);
            let address = match current.and_then(|current| cards.get(current)) {
                Some(card) if is_first_page => card.here.clone(),
                _ => self_address(&base, &sent),
            };
            let template = ApprovalsTemplate {
                is_encrypted: cards.iter().any(|card| matches!(card.wish, Wish::Sealed(_))),
                next: queue.requests.next.as_ref().map(|cursor| {
                    form_urlencoded::Serializer::new(String::new()).append_pair("cursor", cursor).finish()
                }),
                is_first_page,
                gone: is_gone.then(|| base.clone()),
                address,
                decided: queue.decided.iter().map(|task| decided(task, &shell)).collect(),
                default_word: default_word(queue.default_rule),
                keys: keys(&queue, &me, &shell),
                error: refused.sentence().filter(|_| late.is_none()).map(str::to_owned),
                late,
                waiting: words::count(
                    shell.me.as_ref().map_or(0, |me| me.held()),
                    tandem_app::tasks::COUNTED_MAX,
                ),
                agent: me.to_string(),
                me: shell.name.clone(),
                cards,
                shell,
            };
            html(refused.status(), &template)
        })
        .await
    }
}

/// The address of this page without what is said once.
fn self_address(base: &str, sent: &Sent) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for name in ["cursor", "task"] {
        if let Some(value) = sent.given(name) {
            query.append_pair(name, &value);
        }
    }
    format!("{base}?{}", query.finish())
}

/// Leads from each request to its neighbours.
fn link(cards: &mut [Card], base: &str, current: Option<usize>) {
    let ids: Vec<String> = cards.iter().map(|card| card.id.clone()).collect();
    let href = |id: &String| format!("{base}?task={id}#approval-{id}");
    for (place, card) in cards.iter_mut().enumerate() {
        let before = place.checked_sub(1).and_then(|before| ids.get(before));
        let after = ids.get(place + 1);
        card.number = place + 1;
        card.is_current = current == Some(place);
        card.here = href(&card.id);
        card.before = before.map(href);
        card.after = after.map(href);
        card.next = after.or(before).cloned().unwrap_or_default();
    }
}

fn card(request: &Request, refused: &Refused, me: &AgentId, shell: &Shell, budget: &mut Budget) -> Card {
    let (task, sender) = (&request.task, &request.sender);
    let id = task.id.to_string();
    let pem = sender.agent.as_ref().and_then(|agent| agent.public_key.as_deref());
    let connection = sender.connection.as_ref();
    let rule = connection.and_then(|connection| connection.approval);
    let wish = match &task.description {
        None => Wish::Nothing,
        Some(text) if task.encrypted => Wish::Sealed(Box::new(sealed_description(task, me, text.as_str()))),
        Some(text) => Wish::Text(markdown::markdown(text.as_str(), budget)),
    };
    Card {
        version: request.version,
        title: task.title.as_str().to_owned(),
        sender: Party::initiator(task, shell).with_key(pem),
        target: Party::target(task, shell),
        fingerprint: pem.and_then(facts::fingerprint),
        has_key: pem.is_some(),
        connected: connection.map(|connection| shell.when(&connection.created_at)),
        connection: connection.map(|connection| connection.id.to_string()),
        rule,
        rule_word: rule_word(rule),
        approved: words::count(sender.approved, DECISIONS_COUNTED_MAX),
        rejected: words::count(sender.rejected, DECISIONS_COUNTED_MAX),
        is_first: sender.approved + sender.rejected == 0,
        terms: terms(task),
        expires: task.expires_at.map(|at| shell.when(&at)),
        is_soon: task.expires_at.is_some_and(|at| at.ms_since(shell.now) < SOON_MS),
        asked: shell.when(&task.delivery.queued_at.unwrap_or(task.created_at)),
        wish,
        files: request.files.iter().map(|file| file_link(file, shell)).collect(),
        has_more_files: request.has_more_files,
        is_open: !refused.typed(&id, "reason", "").is_empty(),
        reason: refused.typed(&id, "reason", "").to_owned(),
        note: refused.typed(&id, "note", "").to_owned(),
        is_current: false,
        number: 0,
        here: String::new(),
        before: None,
        after: None,
        next: String::new(),
        more: format!("{}/tasks/{id}?whole=description#m-description", shell.base),
        approve_id: format!("approve-cli-{id}"),
        reject_id: format!("reject-cli-{id}"),
        approve_command: command(&["task", "approve", &id]),
        reject_command: command(&["task", "reject", &id, "--reason", "…"]),
        id,
    }
}

fn file_link(file: &File, shell: &Shell) -> FileLink {
    let href = format!("{}/files/{}", shell.base, file.id);
    FileLink::new(href, &file.name, &file.mime_type, file.size_bytes)
}

fn command(words: &[&str]) -> String {
    Copied::new("decide", "decide").command(words).command.unwrap_or_default()
}

fn default_word(rule: Option<Rule>) -> &'static str {
    match rule {
        Some(Rule::Require) => "ask me every time",
        Some(Rule::Auto) | None => "approve without asking",
    }
}

/// The public keys that the page's script needs.
fn keys(queue: &Queue, me: &AgentId, shell: &Shell) -> Vec<Key> {
    let own = queue.public_key.as_deref().map(|pem| Key::new(me, &shell.name, pem));
    let mut keys: Vec<Key> = own.into_iter().collect();
    for request in queue.requests.items.iter().filter(|request| request.task.encrypted) {
        let Some(agent) = &request.sender.agent else { continue };
        let is_new = keys.iter().all(|key| key.agent != agent.id.as_str());
        if let Some(pem) = agent.public_key.as_deref().filter(|_| is_new) {
            keys.push(Key::new(&agent.id, &agent.name, pem));
        }
    }
    keys
}

fn terms(task: &TaskView) -> Vec<String> {
    let review = if task.requires_review { "the sender accepts the result" } else { "no review" };
    let mut terms = vec![format!("{}, {review}", facts::priority(task.priority))];
    terms.push(format!("at most {} messages", words::thousands(task.max_messages)));
    if let Some(seconds) = task.lease_seconds {
        terms.push(format!("a sign of life every {}", facts::seconds(seconds)));
    }
    if task.attempt > 1 {
        terms.push(format!("attempt {}", task.attempt));
    }
    terms
}

fn decided(task: &TaskView, shell: &Shell) -> Decided {
    let is_approved = task.approval_status == Some(Approval::Approved);
    let now = words::status(task.status, None).word;
    Decided {
        href: format!("{}/tasks/{}", shell.base, task.id),
        title: task.title.as_str().to_owned(),
        is_approved,
        text: if is_approved { format!("Approved, now {now}") } else { "Rejected".to_owned() },
        quote: task.status_reason.as_ref().filter(|_| !is_approved).map(|reason| reason.as_str().to_owned()),
        when: shell.when(&task.updated_at),
    }
}
