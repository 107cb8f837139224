//! Pages of tasks: the same order and the same cuts, however a database reads the rows.

use rstest::rstest;
use tandem_core::text::SearchText;
use tandem_core::{AgentId, Status, Task, TaskId, Timestamp};

use super::place::{Db, Place};
use super::tables::{agent, id};
use super::tasks::new_task;
use crate::tasks::{self, Filter};
use crate::{Error, Tx, agents};

/// Tasks of every status in both directions, several of them of the same age; newest first.
fn stored(db: Db) -> (Place, Vec<Task>) {
    let mut place = Place::new(db);
    let mut all = Vec::new();
    place.run(|tx| {
        for name in ["ada", "bob", "cyd"] {
            agents::insert(tx, &agent(name, name), name.as_bytes())?;
        }
        for number in 0..60_i64 {
            let place = usize::try_from(number).unwrap();
            let status = Status::ALL[place % Status::ALL.len()];
            let (by, to) = [("ada", "bob"), ("ada", "cyd"), ("bob", "ada")][place % 3];
            let mut task = Task { id: id(&format!("task_{:02}", (number * 7) % 60)), status, ..new_task() };
            (task.initiator, task.target) = (id(by), id(to));
            (task.created_at, task.content.title) = (Timestamp(number / 4), format!("Title {number}"));
            task.content.description = Some("x".repeat(100));
            tasks::insert(tx, &task, None)?;
            all.push(task);
        }
        Ok(())
    });
    all.sort_by(|a, b| (b.created_at, &b.id).cmp(&(a.created_at, &a.id)));
    (place, all)
}

/// The ids on all pages.
fn pages(place: &mut Place, filter: &Filter, room: Option<usize>) -> Vec<TaskId> {
    let (mut ids, mut before) = (Vec::new(), None);
    for _ in 0..200 {
        let filter = Filter { before: before.take(), ..filter.clone() };
        let found = place.run(|tx: &mut Tx<'_>| -> Result<_, Error> {
            if let Some(room) = room {
                tx.meter(room, None);
            }
            tasks::list(tx, &id("ada"), &filter)
        });
        let last = found.tasks.last().map(|task| (task.created_at, task.id.clone()));
        let is_full = i64::try_from(found.tasks.len()).unwrap() == filter.limit;
        ids.extend(found.tasks.into_iter().map(|task| task.id));
        before = found.stopped_at.or(last.filter(|_| is_full));
        if before.is_none() {
            return ids;
        }
    }
    panic!("the list has no end");
}

#[rstest]
fn pages_hold_every_task_once_and_in_order(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (mut place, all) = stored(db);
    let ada: AgentId = id("ada");
    let expected = |wanted: &dyn Fn(&Task) -> bool| -> Vec<TaskId> {
        let seen = all.iter().filter(|task| task.initiator == ada || task.status != Status::Draft);
        seen.filter(|task| wanted(task)).map(|task| task.id.clone()).collect()
    };
    let by_seven = Filter { limit: 7, ..Filter::default() };
    assert_eq!(pages(&mut place, &by_seven, None), expected(&|_| true));
    let brief = Filter { brief: true, ..by_seven.clone() };
    assert_eq!(pages(&mut place, &brief, None), expected(&|_| true));
    // Less than a row has, and room for some.
    for room in [10, 5_000] {
        let filter = Filter { limit: 50, ..Filter::default() };
        assert_eq!(pages(&mut place, &filter, Some(room)), expected(&|_| true), "{room}");
    }
    let some = Filter { statuses: vec![Status::Submitted, Status::Completed], ..by_seven.clone() };
    let is_some = |task: &Task| matches!(task.status, Status::Submitted | Status::Completed);
    assert_eq!(pages(&mut place, &some, None), expected(&is_some));
    let with = Filter { with: Some(id("cyd")), ..by_seven.clone() };
    assert_eq!(pages(&mut place, &with, None), expected(&|task| task.target == id("cyd")));
    let text = SearchText::try_from("TITLE 3".to_owned()).unwrap();
    let found = Filter { text: Some(text), limit: 50, ..Filter::default() };
    assert_eq!(pages(&mut place, &found, None), expected(&|task| task.content.title.starts_with("Title 3")));
}
