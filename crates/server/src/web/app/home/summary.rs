//! Tasks by status, agents by reach, and the health of the hub as an agent's owner may know it.

use tandem_api::system::Database;
use tandem_app::tasks::COUNTED_MAX;
use tandem_core::agents::Reach;
use tandem_core::{Approval, Role, Status};
use tandem_hub::Hub;
use tandem_hub::ops::needs::WebhookState;

use crate::web::app::Shell;
use crate::web::app::words::{self, StatusMark};

/// Dots of one kind of reach; more are told as a number.
const DOTS_MAX: usize = 12;

pub(super) struct Bar {
    pub(super) mark: StatusMark,
    pub(super) count: String,
    /// In percent of the longest.
    pub(super) width: i64,
    pub(super) href: String,
}

pub(super) struct Statuses {
    pub(super) open: Vec<Bar>,
    pub(super) open_count: String,
    /// Ended tasks that were created in the last day.
    pub(super) ended: Vec<Bar>,
    is_empty: bool,
}

impl Statuses {
    pub(super) fn new(shell: &Shell) -> Self {
        let Some(me) = &shell.me else {
            return Self { open: Vec::new(), open_count: "0".to_owned(), ended: Vec::new(), is_empty: true };
        };
        let both = |status| me.count(Role::Initiator, status, false) + me.count(Role::Target, status, false);
        let numbers = |statuses: &[Status]| -> Vec<(Status, i64)> {
            statuses.iter().map(|status| (*status, both(*status))).collect()
        };
        let live =
            numbers(&[Status::Submitted, Status::Working, Status::InputRequired, Status::AuthRequired]);
        let most = live.iter().map(|one| one.1).chain([me.held()]).max().unwrap_or(0).max(1);
        let bar = |mark: StatusMark, count: i64, path: String| Bar {
            mark,
            count: words::count(count, COUNTED_MAX),
            width: count * 100 / most,
            href: format!("{}{path}", shell.base),
        };
        let of_status = |(status, count): (Status, i64)| {
            bar(words::status(status, None), count, format!("/tasks?status={}", status.as_str()))
        };
        let ended = [Status::Completed, Status::Failed, Status::Rejected, Status::Cancelled, Status::Expired];
        let ended = numbers(&ended);
        let mut open: Vec<Bar> = live.into_iter().map(of_status).collect();
        let held_mark = words::status(Status::Submitted, Some(Approval::Pending));
        open.insert(1, bar(held_mark, me.held(), "/approvals".to_owned()));
        Self {
            open,
            open_count: words::count(me.live(), COUNTED_MAX),
            ended: ended.into_iter().map(of_status).collect(),
            is_empty: me.counts.iter().all(|count| count.count == 0),
        }
    }

    /// Whether there is no task at all.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }
}

/// Agents that are reached in one way.
pub(super) struct ReachRow {
    pub(super) word: &'static str,
    pub(super) is_bad: bool,
    pub(super) own: usize,
    pub(super) others: usize,
}

impl ReachRow {
    /// One class per dot.
    pub(super) fn dots(&self) -> Vec<&'static str> {
        let dots = std::iter::repeat_n("own", self.own).chain(std::iter::repeat_n("foreign", self.others));
        dots.take(DOTS_MAX).collect()
    }

    /// How many have no dot.
    pub(super) fn rest(&self) -> Option<usize> {
        (self.own + self.others).checked_sub(DOTS_MAX).filter(|rest| *rest > 0)
    }
}

pub(super) struct Reaches {
    pub(super) rows: Vec<ReachRow>,
    pub(super) counted: usize,
    /// Whether there are more connections than were counted.
    pub(super) has_more: bool,
}

impl Reaches {
    pub(super) fn new(own: Reach, others: impl Iterator<Item = Reach>, has_more: bool) -> Self {
        let words = [
            "Wakes in about 1 s",
            "Starts a worker",
            "Socket, stream or webhook",
            "At its next turn",
            "Pull only",
            "Away",
            "Never seen",
        ];
        let row = |word| ReachRow { word, is_bad: word == "Never seen", own: 0, others: 0 };
        let mut rows = words.map(row);
        rows[place(own)].own += 1;
        let mut counted = 1;
        for reach in others {
            rows[place(reach)].others += 1;
            counted += 1;
        }
        let rows = rows.into_iter().filter(|row| row.own + row.others > 0).collect();
        Self { rows, counted, has_more }
    }
}

/// The best way first.
fn place(reach: Reach) -> usize {
    match reach {
        Reach::Channel => 0,
        Reach::Runner => 1,
        Reach::Socket | Reach::Stream | Reach::Webhook | Reach::A2a => 2,
        Reach::Hook => 3,
        Reach::Polling => 4,
        Reach::Away => 5,
        Reach::Never => 6,
    }
}

pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) value: String,
    pub(super) is_bad: bool,
}

pub(super) struct Health {
    pub(super) facts: Vec<Fact>,
    pub(super) warnings: usize,
}

impl Health {
    pub(super) fn new(hub: &Hub, is_ready: bool, webhook: &WebhookState) -> Self {
        let database = match hub.totals.database {
            Database::Sqlite => "SQLite",
            Database::Postgres => "PostgreSQL",
        };
        let writing = if is_ready { "can be written" } else { "cannot be written" };
        let (webhook, fails) = match webhook {
            WebhookState::None => ("none", false),
            WebhookState::Active => ("active", false),
            WebhookState::Failing { .. } => ("failing", true),
            WebhookState::Off => ("switched off", true),
        };
        let up = words::span(hub.time().ms_since(hub.totals.started_at));
        let fact = |name, value: String, is_bad| Fact { name, value, is_bad };
        let facts = vec![
            fact("Database", database.to_owned(), false),
            fact("Storage", writing.to_owned(), !is_ready),
            fact("Your webhook", webhook.to_owned(), fails),
            fact("Up", up.unwrap_or_else(|| "just started".to_owned()), false),
            fact("Version", env!("CARGO_PKG_VERSION").to_owned(), false),
        ];
        let warnings = facts.iter().filter(|fact| fact.is_bad).count();
        Self { facts, warnings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_grouped_by_reach() {
        let others = [Reach::Socket, Reach::Webhook, Reach::Never].into_iter();
        let reaches = Reaches::new(Reach::Polling, others, true);
        let rows: Vec<_> = reaches.rows.iter().map(|row| (row.word, row.own, row.others)).collect();
        assert_eq!(rows, [("Socket, stream or webhook", 0, 2), ("Pull only", 1, 0), ("Never seen", 0, 1)]);
        assert_eq!((reaches.counted, reaches.has_more), (4, true));
        let many = ReachRow { word: "", is_bad: false, own: 1, others: 20 };
        assert_eq!((many.dots().len(), many.rest()), (DOTS_MAX, Some(9)));
        let few = ReachRow { word: "", is_bad: false, own: 1, others: 2 };
        assert_eq!((few.dots(), few.rest()), (vec!["own", "foreign", "foreign"], None));
    }
}
