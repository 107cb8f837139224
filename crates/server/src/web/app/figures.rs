//! Figures: each drawing answers one question. They come from the database, so they survive a restart.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use tandem_core::{Status, Timestamp, Verdict, Waits};
use tandem_hub::Hub;
use tandem_hub::ops::figures::{self, Figure, Series};
use tandem_hub::ops::needs::Followed;

use super::drawing::{AgeAxis, Bars, percent, round_up};
use super::people::Party;
use super::{Page, Section, Shell, Viewer, filters, html, words};

/// Agents whose open tasks are drawn, and tasks of each.
const HOLDERS_MAX: usize = 10;
const DOTS_MAX: usize = 20;
const DAY_MS: i64 = 86_400_000;
/// Of a hundred tasks; fewer is bad.
const RELIABLE: i64 = 80;

/// The choices of a time: word in the address, word for people, days, and columns of a drawing over it.
const PERIODS: [(&str, &str, i64, i64); 3] =
    [("1", "24 h", 1, 24), ("14", "14 d", 14, 14), ("90", "90 d", 90, 13)];

pub(crate) fn routes() -> Router<Hub> {
    Router::new().route("/app/{agent}/figures", get(page))
}

/// An open task, by its age.
struct Dot {
    x: String,
    /// Whether it waits for the reader, or is silent.
    is_amber: bool,
    href: String,
    label: String,
}

/// The open tasks that one agent has to go on with.
struct Holder {
    party: Party,
    oldest: String,
    count: usize,
    dots: Vec<Dot>,
}

struct Ages {
    answer: String,
    holders: Vec<Holder>,
    ticks: Vec<(String, &'static str)>,
}

impl Ages {
    fn of(tasks: &[Followed], shell: &Shell) -> Self {
        let age = |task: &Followed| {
            shell.now.ms_since(task.task.delivery.queued_at.unwrap_or(task.task.created_at))
        };
        let oldest = tasks.iter().map(age).max().unwrap_or(0);
        let axis = AgeAxis::up_to(oldest);
        let mut holders: Vec<(String, Holder)> = Vec::new();
        for task in tasks {
            let party = holder(task, shell);
            let place = match holders.iter().position(|known| known.0 == party.id) {
                Some(place) => place,
                None if holders.len() >= HOLDERS_MAX => continue,
                None => {
                    let new = Holder {
                        oldest: words::length(age(task)),
                        party: party.clone(),
                        count: 0,
                        dots: Vec::new(),
                    };
                    holders.push((party.id, new));
                    holders.len() - 1
                }
            };
            let Some((_, known)) = holders.get_mut(place) else { continue };
            known.count += 1;
            if known.dots.len() < DOTS_MAX {
                known.dots.push(Dot {
                    x: axis.place(age(task)),
                    is_amber: task.needs_owner() || task.waits == Waits::Sign,
                    href: format!("{}/tasks/{}", shell.base, task.task.id),
                    label: format!("{}, {}", task.task.title.as_str(), words::length(age(task))),
                });
            }
        }
        let silent = tasks.iter().filter(|task| task.waits == Waits::Sign).count();
        let old = tasks.iter().filter(|task| age(task) > DAY_MS).count();
        Self {
            answer: age_answer(tasks.len(), silent, old),
            holders: holders.into_iter().map(|known| known.1).collect(),
            ticks: axis.ticks(),
        }
    }
}

/// Whoever has to go on with a task.
fn holder(task: &Followed, shell: &Shell) -> Party {
    match task.waits {
        Waits::Answer | Waits::Authorisation | Waits::Acceptance | Waits::Budget | Waits::Publication => {
            Party::initiator(&task.task, shell)
        }
        _ => Party::target(&task.task, shell),
    }
}

fn age_answer(open: usize, silent: usize, old: usize) -> String {
    match (open, silent, old) {
        (0, _, _) => "Nobody: nothing is open.".to_owned(),
        (open, 0, 0) => format!("Nobody: {} open, none older than a day.", counted(open, "task")),
        (_, silent, old) => format!("{silent} silent, {old} older than a day."),
    }
}

fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// A day, an hour or a week of decisions.
struct Column {
    x: String,
    label: String,
    /// The height of half of them, and of 95 of 100; nothing if nobody asked.
    found: Option<(String, String)>,
    half: String,
    most: String,
    expired: usize,
}

struct Waiting {
    answer: String,
    columns: Vec<Column>,
    /// Heights and labels of the grid.
    grid: Vec<(String, String)>,
    is_empty: bool,
}

impl Waiting {
    fn of(
        decided: &[(Timestamp, Option<Timestamp>, Verdict)],
        (days, columns): (i64, i64),
        now: Timestamp,
    ) -> Self {
        let step = days * DAY_MS / columns;
        let from = now.0 - days * DAY_MS;
        let of_column = |number: i64| {
            decided.iter().filter(move |one| (one.0.0 - from).div_euclid(step).min(columns - 1) == number)
        };
        let wait = |one: &(Timestamp, Option<Timestamp>, Verdict)| {
            let decided = one.2 != Verdict::Expired;
            Some(one.0.ms_since(one.1.filter(|_| decided)?).max(0))
        };
        let all: Vec<(Option<(i64, i64)>, usize)> = (0..columns)
            .map(|number| {
                let waits: Vec<i64> = of_column(number).filter_map(wait).collect();
                (quantiles(waits), of_column(number).filter(|one| one.2 == Verdict::Expired).count())
            })
            .collect();
        let most = all.iter().filter_map(|one| one.0).map(|found| found.1).max().unwrap_or(0);
        let top = round_up(most / 60_000 + 1) * 60_000;
        let y = |ms: i64| percent(top - ms, top);
        let column = |(number, (found, expired)): (i64, (Option<(i64, i64)>, usize))| Column {
            x: percent(number * 2 + 1, columns * 2),
            label: column_label(Timestamp(from + number * step), step),
            found: found.map(|(half, most)| (y(half), y(most))),
            half: found.map_or_else(|| "–".to_owned(), |found| words::length(found.0)),
            most: found.map_or_else(|| "–".to_owned(), |found| words::length(found.1)),
            expired,
        };
        let waits: Vec<i64> = decided.iter().filter_map(wait).collect();
        let expired = decided.iter().filter(|one| one.2 == Verdict::Expired).count();
        let answer = match (quantiles(waits), expired) {
            (None, 0) => "Nobody asked in this time.".to_owned(),
            (None, expired) => format!("{expired} expired, none was decided."),
            (Some((half, _)), 0) => format!("Half within {}; none expired.", words::length(half)),
            (Some((half, _)), expired) => format!("Half within {}; {expired} expired.", words::length(half)),
        };
        let grid = (0..=4).map(|line| (percent(4 - line, 4), words::length(top / 4 * line)));
        Self {
            answer,
            is_empty: decided.is_empty(),
            columns: (0..).zip(all).map(column).collect(),
            grid: grid.collect(),
        }
    }
}

fn column_label(from: Timestamp, step_ms: i64) -> String {
    let iso = from.to_string();
    let part = if step_ms < DAY_MS { iso.get(11..13) } else { iso.get(8..10) };
    part.unwrap_or_default().to_owned()
}

/// Half of them took no longer than the first, 95 of 100 no longer than the second.
fn quantiles(mut waits: Vec<i64>) -> Option<(i64, i64)> {
    waits.sort_unstable();
    let at = |percent: usize| waits.get((waits.len() * percent).div_ceil(100).saturating_sub(1)).copied();
    Some((at(50)?, at(95)?))
}

/// What became of the tasks of one agent.
struct Peer {
    party: Party,
    total: i64,
    share: i64,
    /// Width of each part: completed, cancelled, ended badly.
    parts: [(&'static str, String, String); 3],
    ended: [i64; 3],
    is_bad: bool,
}

fn peers(found: Vec<figures::Outcomes>, shell: &Shell) -> Vec<Peer> {
    let most = found.iter().map(figures::Outcomes::total).max().unwrap_or(1);
    let peer = |one: figures::Outcomes| {
        let count =
            |statuses: &[Status]| -> i64 { statuses.iter().filter_map(|status| one.ended.get(status)).sum() };
        let good = count(&[Status::Completed]);
        let cancelled = count(&[Status::Cancelled]);
        let bad = count(&[Status::Failed, Status::Rejected, Status::Expired]);
        let share = good * 100 / (good + bad).max(1);
        Peer {
            party: Party::new(&one.peer, &one.name, shell),
            total: one.total(),
            share,
            parts: [
                ("ok", percent(0, most), percent(good, most)),
                ("off", percent(good, most), percent(cancelled, most)),
                ("bad", percent(good + cancelled, most), percent(bad, most)),
            ],
            ended: [good, cancelled, bad],
            is_bad: good + bad > 0 && share < RELIABLE,
        }
    };
    found.into_iter().map(peer).collect()
}

#[derive(Template)]
#[template(path = "app/figures.html")]
struct FiguresPage {
    shell: Shell,
    period: &'static str,
    ages: Ages,
    waiting: Waiting,
    peers: Vec<Peer>,
    hook: Bars,
    events: Bars,
}

impl FiguresPage {
    /// Whom one cannot rely on, in a sentence.
    fn reliable(&self) -> String {
        let bad: Vec<String> = self
            .peers
            .iter()
            .filter(|peer| peer.is_bad)
            .map(|peer| words::quoted(&peer.party.name))
            .collect();
        match bad.as_slice() {
            _ if self.peers.is_empty() => "Nothing has ended in this time.".to_owned(),
            [] => "On all of them.".to_owned(),
            [one] => format!("Not on {one}."),
            many => format!("Not on {} of them.", many.len()),
        }
    }

    fn delivered(&self) -> String {
        match (self.hook.share(), self.hook.bad) {
            (None, _) => "Nothing was called in 24 hours.".to_owned(),
            (Some(_), 0) => "Yes, at the first try.".to_owned(),
            (Some(share), bad) => format!("{share} of 100 tries; {} failed.", words::thousands(bad)),
        }
    }
}

/// `GET /app/{agent}/figures`
async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    let shell = Shell::of(&hub, &viewer, Section::Home).await?;
    let asked = viewer.browser.query();
    let (period, _, days, columns) =
        PERIODS.into_iter().find(|period| period.0 == asked.get("days")).unwrap_or(PERIODS[1]);
    let since = shell.now.plus_ms(-days * DAY_MS);
    let oldest = figures::oldest(&hub, &viewer.caller).await?;
    let decided = figures::waits(&hub, &viewer.caller, since).await?;
    let outcomes = figures::outcomes(&hub, &viewer.caller, since).await?;
    let wanted = [Figure::Events, Figure::Delivered, Figure::Undelivered];
    let [events, delivered, undelivered] = figures::of_agent(&hub, &viewer.caller, wanted).await?;
    let template = FiguresPage {
        period,
        ages: Ages::of(&oldest, &shell),
        waiting: Waiting::of(&decided, (days, columns), shell.now),
        peers: peers(outcomes, &shell),
        hook: Bars::of(&delivered, &undelivered, shell.now),
        events: Bars::of(&events, &Series::default(), shell.now),
        shell,
    };
    html(StatusCode::OK, &template)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    #[test]
    fn waiting_is_told_by_the_day() {
        let ago = |minutes: i64| Timestamp(NOW.0 - minutes * 60_000);
        let decided = [
            (ago(10), Some(ago(14)), Verdict::Approved),
            (ago(20), Some(ago(40)), Verdict::Rejected),
            (ago(30), Some(ago(600)), Verdict::Expired),
            (ago(40), None, Verdict::Approved),
            (ago(3 * 1_440), Some(ago(3 * 1_440 + 2)), Verdict::Approved),
        ];
        let waiting = Waiting::of(&decided, (14, 14), NOW);
        assert_eq!(waiting.answer, "Half within 4 min; 1 expired.");
        let days: Vec<_> = waiting.columns.iter().map(|column| (&*column.half, column.expired)).collect();
        assert_eq!((days[13], days[11], days[12]), (("4 min", 1), ("2 min", 0), ("–", 0)));
        assert_eq!(waiting.grid.last().map(|line| &*line.1), Some("40 min"));
        assert_eq!(Waiting::of(&[], (1, 24), NOW).answer, "Nobody asked in this time.");
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_waits() {
        assert_eq!(quantiles(vec![]), None);
        assert_eq!(quantiles(vec![7]), Some((7, 7)));
        assert_eq!(quantiles((1..=100).rev().collect()), Some((50, 95)));
    }

    #[test]
    fn the_answer_names_what_is_wrong() {
        assert_eq!(age_answer(0, 0, 0), "Nobody: nothing is open.");
        assert_eq!(age_answer(1, 0, 0), "Nobody: 1 task open, none older than a day.");
        assert_eq!(age_answer(9, 1, 2), "1 silent, 2 older than a day.");
    }
}
