//! Jobs see what earlier ones wrote, and writes are merged in their order.

mod phases;

use super::*;
use crate::declare::{add, change, delete, insert, read, update};
use crate::statement::Set;

fn text(value: &str) -> Value<'static> {
    Value::Text(value.to_owned().into())
}

fn task() -> &'static Arc<Read> {
    read!([id, title, status]: "tasks where id = ?1", of tasks { id: 1 } uses []; lock tasks)
}

fn task_row() -> Key {
    vec![text("task_1"), text("Old"), text("working")]
}

fn newest() -> &'static Arc<Read> {
    read!([id]: "tasks where target_id = ?1 order by created_at limit 5", of tasks { target_id: 1 } uses [created_at])
}

/// Notes a write, which the test says as the product does.
fn write<'v, P: AsRef<[Value<'v>]>>(plan: &mut Plan, statement: &crate::declare::Statement<P>) {
    plan.write(statement.write, statement.params.as_ref()).unwrap();
}

fn plan_with(reads: &[(&Arc<Read>, Key, Rows)]) -> Plan {
    let mut plan = Plan::new();
    plan.begin(Locks::Wait, Vec::new());
    for (read, params, rows) in reads {
        let query = Query { read: Arc::clone(read), params: params.clone(), waits_for: None };
        plan.found(query, rows.clone(), 0);
    }
    plan.begin_round();
    plan
}

#[test]
fn a_query_tells_its_rows_and_columns() {
    let joined = read!([title]: "tasks t left join pairs p on p.low_id = ?2 and p.high_id = ?3 where t.id = ?1",
        of tasks as t { id: 1 } uses [status], pairs as p { low_id: 2, high_id: 3 });
    let [tasks, pairs] = joined.sources.as_slice() else { panic!("{joined:?}") };
    assert_eq!((tasks.keys, pairs.keys.len()), (&[("id", 0)][..], 2));
    assert!(tasks.only_shows("title") && tasks.looks_at("title"));
    assert!(!tasks.only_shows("id") && !tasks.only_shows("status") && !tasks.looks_at("description"));
    assert!(!pairs.only_shows("live_tasks"), "nothing was said of its columns");
    assert_eq!((tasks.may_be_absent, pairs.may_be_absent), (false, true));
}

#[test]
#[should_panic(expected = "a table is not declared")]
fn a_table_cannot_be_forgotten() {
    let forgotten =
        read!(1: "tasks t join agents i on i.id = t.initiator_id where t.id = ?1", of tasks as t { id: 1 });
    drop(Arc::clone(forgotten));
}

#[test]
fn a_job_that_misses_something_runs_again_with_it() {
    let mut plan = plan_with(&[]);
    plan.begin_job(0);
    assert!(plan.rows(task(), &["task_1".into()]).is_err());
    assert_eq!(plan.end_job(false), Run::Missing);
    let missing = plan.take_missing();
    assert_eq!(missing.len(), 1);
    for query in missing {
        plan.found(query, vec![task_row()], 0);
    }
    plan.begin_round();
    plan.begin_job(0);
    assert_eq!(plan.rows(task(), &["task_1".into()]).unwrap().len(), 1);
    assert_eq!(plan.end_job(true), Run::Done);
}

#[test]
fn a_query_that_is_not_declared_is_for_groups_that_only_read() {
    let mut plan = plan_with(&[]);
    plan.begin_job(0);
    assert!(plan.rows_of_text("select 1", &[]).is_err());
    assert_eq!(plan.end_job(false), Run::Direct);
    plan.begin(Locks::None, Vec::new());
    plan.begin_round();
    plan.begin_job(0);
    assert!(plan.rows_of_text("select 1", &[]).is_err());
    assert_eq!(plan.end_job(false), Run::Missing);
    assert_eq!(plan.take_missing().len(), 1);
}

#[test]
fn a_later_job_sees_what_an_earlier_one_has_set() {
    let mut plan = plan_with(&[(task(), vec![text("task_1")], vec![task_row()])]);
    plan.begin_job(0);
    write(&mut plan, &update!(tasks { title: "New" } where { id: "task_1" }));
    assert_eq!(plan.end_job(true), Run::Done);
    plan.begin_job(1);
    let mut rows = plan.rows(task(), &["task_1".into()]).unwrap();
    assert_eq!(rows.remove(0).into_values().get(1), Some(&text("New")));
    assert_eq!(plan.end_job(true), Run::Done);
}

#[test]
fn a_refused_job_leaves_nothing_behind() {
    let mut plan = plan_with(&[(task(), vec![text("task_1")], vec![task_row()])]);
    plan.begin_job(0);
    write(&mut plan, &update!(tasks { title: "New" } where { id: "task_1" }));
    write(&mut plan, &delete!(tasks where { id: "task_1" }));
    assert_eq!(plan.end_job(false), Run::Done);
    plan.begin_job(1);
    let mut rows = plan.rows(task(), &["task_1".into()]).unwrap();
    assert_eq!(rows.remove(0).into_values(), task_row());
    assert_eq!(plan.end_job(true), Run::Done);
    assert!(plan.take_batches().is_empty());
}

#[test]
fn a_job_waits_if_it_reads_what_cannot_be_changed_in_the_cache() {
    let mut plan = plan_with(&[
        (newest(), vec![text("agent_1")], vec![vec![text("task_1")]]),
        (task(), vec![text("task_2")], Vec::new()),
    ]);
    plan.begin_job(0);
    write(&mut plan, &insert!(tasks { id: "task_2", target_id: "agent_1" }));
    assert_eq!(plan.end_job(true), Run::Done);
    plan.begin_job(1);
    assert!(plan.rows(newest(), &["agent_1".into()]).is_err());
    assert_eq!(plan.end_job(false), Run::Deferred);
    plan.begin_job(2);
    assert!(plan.rows(task(), &["task_2".into()]).is_err(), "it was not there when it was read");
    assert_eq!(plan.end_job(false), Run::Deferred);
}

#[test]
fn a_job_that_reads_its_own_writes_goes_to_the_connection() {
    let mut plan = plan_with(&[(newest(), vec![text("agent_1")], Vec::new())]);
    plan.begin_job(0);
    write(&mut plan, &insert!(tasks { id: "task_2", target_id: "agent_1" }));
    assert!(plan.rows(newest(), &["agent_1".into()]).is_err());
    assert_eq!(plan.end_job(false), Run::Direct);
}

#[test]
fn writes_of_other_rows_and_columns_disturb_nobody() {
    let mut plan = plan_with(&[
        (newest(), vec![text("agent_1")], Vec::new()),
        (task(), vec![text("task_1")], vec![task_row()]),
    ]);
    plan.begin_job(0);
    write(&mut plan, &insert!(tasks { id: "task_9", target_id: "agent_9" }));
    write(&mut plan, &update!(tasks { description: "x" } where { id: "task_1" }));
    assert_eq!(plan.end_job(true), Run::Done);
    plan.begin_job(1);
    assert!(plan.rows(newest(), &["agent_1".into()]).is_ok());
    assert!(plan.rows(task(), &["task_1".into()]).is_ok());
    assert_eq!(plan.end_job(true), Run::Done);
}

/// The rows of the batches that come of these writes.
macro_rules! merged {
    ($($statement:expr),+ $(,)?) => {{
        let mut batches = Batches::default();
        $(
            let statement = $statement;
            batches.add(statement.write, statement.params.iter().cloned().map(Value::into_owned).collect());
        )+
        batches.into_vec().into_iter().map(|batch| batch.rows).collect::<Vec<Rows>>()
    }};
}

#[test]
fn writes_are_merged_in_the_order_of_each_row() {
    let title = |title: &'static str, id: &'static str| update!(tasks { title: title } where { id: id });
    let status = |status: &'static str, id: &'static str| update!(tasks { status: status } where { id: id });
    let set = |value: &str, id: &str| vec![text(value), text(id)];
    // Two rows by one statement, the second write of a row replaces the first.
    let rows = merged![title("a", "1"), title("b", "2"), title("c", "1")];
    assert_eq!(rows, [[set("c", "1"), set("b", "2")]]);
    // Another statement in between: the last write must stay the last.
    let rows = merged![title("a", "1"), status("b", "1"), title("c", "1")];
    assert_eq!(rows, [[set("a", "1")], [set("b", "1")], [set("c", "1")]]);
    // But not if it is about another row.
    let rows = merged![title("a", "1"), status("b", "2"), title("c", "3")];
    assert_eq!(rows, [vec![set("a", "1"), set("c", "3")], vec![set("b", "2")]]);
}

#[test]
fn what_looks_at_other_tables_stays_behind_what_was_written_there() {
    let look = |id: &'static str| {
        change!(agents [webhook_next_at] "webhook_next_at = (select min(next_at) from deliveries where agent_id = ?1)"
            where "id = ?1" { id: 1 } beside deliveries, [text(id)])
    };
    let put = |id: &'static str| insert!(deliveries { id: id });
    let rows = merged![look("1"), look("2"), put("a"), look("3")];
    assert_eq!(rows, [vec![vec![text("1")], vec![text("2")]], vec![vec![text("a")]], vec![vec![text("3")]]]);
}

#[test]
fn amounts_are_added_up() {
    let count = |change: i64| add!(mailboxes { tasks_ended: change } where { agent_id: "a" });
    assert_eq!(count(1).write.set, [("tasks_ended".into(), Set::Add(0))]);
    assert_eq!(merged![count(1), count(2)], [[vec![Value::Int(3), text("a")]]]);
}

#[test]
fn conditional_writes_of_one_row_stay_apart() {
    let mark = |at: i64| update!(tasks { pushed_at: at } where { id: "1" } and "pushed_at is null");
    assert_eq!(merged![mark(1), mark(2)].len(), 2);
}

#[test]
fn statements_have_a_text_for_one_and_for_many() {
    let mark = update!(tasks { pushed_at: 1 } where { id: "1" } and "pushed_at is null").write;
    assert_eq!(mark.sql(), "update tasks set pushed_at = ?1 where id = ?2 and pushed_at is null");
    assert_eq!(
        mark.merged(&["int8", "text"]),
        "update tasks set pushed_at = given.a1 from unnest($1::int8[], $2::text[]) as given(a1, a2) \
         where id = given.a2 and pushed_at is null"
    );
    let put =
        insert!(blocks { agent_id: "a", blocked_id: "b" }, on conflict (agent_id, blocked_id) ignore).write;
    assert_eq!(
        put.merged(&["text", "text"]),
        "insert into blocks (agent_id, blocked_id) select given.a1, given.a2 from \
         unnest($1::text[], $2::text[]) as given(a1, a2) on conflict (agent_id, blocked_id) do nothing"
    );
    let count =
        insert!(pairs { low_id: "a", high_id: "b", live_tasks: 1 }, on conflict (low_id, high_id) add).write;
    assert!(count.single().ends_with("do update set live_tasks = pairs.live_tasks + excluded.live_tasks"));
    let gone = delete!(idempotency where { agent_id: "a" } and "created_at <= ?2" with 7).write;
    assert_eq!(
        gone.merged(&["text", "int8"]),
        "delete from idempotency using unnest($1::text[], $2::int8[]) as given(a1, a2) \
         where agent_id = given.a1 and created_at <= given.a2"
    );
    assert_eq!(
        task().single(Locks::Skip),
        "select id, title, status from tasks where id = $1 for update of tasks skip locked"
    );
    assert!(
        task().merged(&["text"], Locks::Wait).ends_with("where id = given.a1 for update of tasks) as found")
    );
}
