//! Statements are understood, jobs see what earlier ones wrote, and writes are merged in their order.

mod phases;

use super::text::Set;
use super::*;

fn read(sql: &str) -> Text {
    Text::parse(sql)
}

fn write(sql: &str) -> (Arc<Text>, Write) {
    let text = Text::parse(sql);
    let Action::Write(write) = Text::parse(sql).action else { panic!("{sql}: {text:?}") };
    (Arc::new(text), write)
}

fn text(value: &str) -> Value<'static> {
    Value::Text(value.to_owned().into())
}

const TASK: &str =
    "select t.id, t.title, i.name, t.status from tasks t join agents i on i.id = t.initiator_id
     where t.id = ?1 /* lock t */";
const SET_TITLE: &str = "update tasks set title = ?1 where id = ?2";

fn plan_with(reads: &[(&str, Key, Vec<Key>)]) -> Plan {
    let mut plan = Plan::new();
    plan.begin(Locks::Wait, Vec::new());
    for (sql, params, rows) in reads {
        let text = plan.text(sql);
        plan.found(Query { text, params: params.clone(), waits_for: None }, rows.clone(), 0);
    }
    plan.begin_round();
    plan
}

fn task_row() -> Vec<Value<'static>> {
    vec![text("task_1"), text("Old"), text("ada"), text("working")]
}

#[test]
fn a_query_tells_its_rows_and_columns() {
    let found = read(TASK);
    let [tasks, agents] = found.sources.as_slice() else { panic!("{found:?}") };
    assert_eq!((tasks.table.as_str(), tasks.keys.as_slice()), ("tasks", &[("id".to_owned(), 0)][..]));
    assert!(tasks.only_shows("title") && tasks.looks_at("title"));
    assert!(!tasks.only_shows("id") && !tasks.looks_at("description"));
    assert_eq!(agents.table, "agents");
    let Action::Read(Some(lock)) = &found.action else { panic!("{found:?}") };
    assert_eq!((lock.alias.as_str(), lock.table.as_str(), lock.class), ("t", "tasks", LockClass::Task));
}

#[test]
fn conditions_of_joins_are_keys() {
    let found = read(
        "select t.name, p.live_tasks from agents t left join pairs p on p.low_id = ?2 and p.high_id = ?3
         where t.id = ?1 and t.deleted_at is null",
    );
    let keys: Vec<_> = found.sources.iter().map(|source| source.keys.len()).collect();
    assert_eq!(keys, [1, 2]);
    assert!(found.sources.iter().any(|source| source.table == "pairs" && source.only_shows("live_tasks")));
}

#[test]
fn what_is_not_understood_reads_whole_tables() {
    for sql in [
        "select id from (select id from tasks where target_id = ?1) page join agents a on a.id = page.id",
        "select count(*) from tasks where target_id = ?1 group by status",
        "select id from tasks union all select id from messages where id = ?1",
    ] {
        let found = read(sql);
        let tasks = found.sources.iter().find(|source| source.table == "tasks");
        assert!(tasks.is_some_and(|tasks| tasks.keys.is_empty() && !tasks.only_shows("title")), "{sql}");
    }
    let either = read("select 1 from blocks where agent_id = ?1 or blocked_id = ?1");
    assert!(either.sources.iter().all(|source| source.keys.is_empty()));
}

#[test]
fn a_nested_query_reads_its_tables_as_well() {
    let found = read(
        "select id from tasks where id = ?1 and not exists (select 1 from blocks b where b.agent_id = ?2)",
    );
    assert!(found.sources.iter().any(|source| source.table == "blocks" && !source.only_shows("created_at")));
}

#[test]
fn writes_tell_their_rows_and_what_they_set() {
    let (_, update) = write("update tasks set title = ?1, usage = usage + ?2 where id = ?3");
    assert_eq!(update.set, [("title".into(), Set::To(0)), ("usage".into(), Set::Add(1))]);
    assert!(update.exact && update.keys == [("id".to_owned(), 2)]);
    let (_, conditional) = write("update tasks set pushed_at = ?3 where id = ?1 and pushed_at is null");
    assert!(!conditional.exact);
    let (_, upsert) = write(
        "insert into pairs (low_id, high_id, live_tasks) values (?1, ?2, ?3)
         on conflict (low_id, high_id) do update set live_tasks = pairs.live_tasks + excluded.live_tasks",
    );
    assert_eq!(upsert.form, Form::Upsert(vec!["low_id".into(), "high_id".into()]));
    assert_eq!(upsert.set, [("live_tasks".into(), Set::Add(2))]);
    let (_, delete) = write("delete from deadlines where due_at = ?1 and kind = ?2");
    assert!(delete.form == Form::Delete && delete.exact);
    for sql in [
        "delete from events where seq in (select seq from events limit 1)",
        "update mailboxes set last_seq = ?2 where agent_id = ?1 returning last_seq",
        "update schema_migrations set name = name",
    ] {
        assert!(matches!(Text::parse(sql).action, Action::Other), "{sql}");
    }
}

#[test]
fn a_job_that_misses_something_runs_again_with_it() {
    let mut plan = plan_with(&[]);
    plan.begin_job(0);
    assert!(plan.rows(TASK, &["task_1".into()]).is_err());
    assert_eq!(plan.end_job(false), Run::Missing);
    let missing = plan.take_missing();
    assert_eq!(missing.len(), 1);
    for query in missing {
        plan.found(query, vec![task_row()], 0);
    }
    plan.begin_round();
    plan.begin_job(0);
    assert_eq!(plan.rows(TASK, &["task_1".into()]).unwrap().len(), 1);
    assert_eq!(plan.end_job(true), Run::Done);
}

#[test]
fn a_later_job_sees_what_an_earlier_one_has_set() {
    let mut plan = plan_with(&[(TASK, vec![text("task_1")], vec![task_row()])]);
    plan.begin_job(0);
    plan.write(SET_TITLE, &["New".into(), "task_1".into()]).unwrap();
    assert_eq!(plan.end_job(true), Run::Done);
    plan.begin_job(1);
    let mut rows = plan.rows(TASK, &["task_1".into()]).unwrap();
    let shown: Vec<Value<'static>> = rows.remove(0).into_values();
    assert_eq!(shown.get(1), Some(&text("New")));
    assert_eq!(plan.end_job(true), Run::Done);
}

#[test]
fn a_refused_job_leaves_nothing_behind() {
    let mut plan = plan_with(&[(TASK, vec![text("task_1")], vec![task_row()])]);
    plan.begin_job(0);
    plan.write(SET_TITLE, &["New".into(), "task_1".into()]).unwrap();
    plan.write("delete from tasks where id = ?1", &["task_1".into()]).unwrap();
    assert_eq!(plan.end_job(false), Run::Done);
    plan.begin_job(1);
    let mut rows = plan.rows(TASK, &["task_1".into()]).unwrap();
    assert_eq!(rows.remove(0).into_values(), task_row());
    assert_eq!(plan.end_job(true), Run::Done);
    assert!(plan.take_batches().is_empty());
}

#[test]
fn a_job_waits_if_it_reads_what_cannot_be_changed_in_the_cache() {
    let list = "select id from tasks where target_id = ?1 order by created_at limit 5";
    let mut plan = plan_with(&[
        (list, vec![text("agent_1")], vec![vec![text("task_1")]]),
        (TASK, vec![text("task_2")], Vec::new()),
    ]);
    plan.begin_job(0);
    plan.write("insert into tasks (id, target_id) values (?1, ?2)", &["task_2".into(), "agent_1".into()])
        .unwrap();
    assert_eq!(plan.end_job(true), Run::Done);
    plan.begin_job(1);
    assert!(plan.rows(list, &["agent_1".into()]).is_err());
    assert_eq!(plan.end_job(false), Run::Deferred);
    plan.begin_job(2);
    assert!(plan.rows(TASK, &["task_2".into()]).is_err(), "it was not there when it was read");
    assert_eq!(plan.end_job(false), Run::Deferred);
}

#[test]
fn a_job_that_reads_its_own_writes_goes_to_the_connection() {
    let list = "select id from tasks where target_id = ?1 order by created_at limit 5";
    let mut plan = plan_with(&[(list, vec![text("agent_1")], Vec::new())]);
    plan.begin_job(0);
    plan.write("insert into tasks (id, target_id) values (?1, ?2)", &["task_2".into(), "agent_1".into()])
        .unwrap();
    assert!(plan.rows(list, &["agent_1".into()]).is_err());
    assert_eq!(plan.end_job(false), Run::Direct);
}

#[test]
fn writes_of_other_rows_disturb_nobody() {
    let list = "select id from tasks where target_id = ?1 order by created_at limit 5";
    let mut plan = plan_with(&[
        (list, vec![text("agent_1")], Vec::new()),
        (TASK, vec![text("task_1")], vec![task_row()]),
    ]);
    plan.begin_job(0);
    plan.write("insert into tasks (id, target_id) values (?1, ?2)", &["task_9".into(), "agent_9".into()])
        .unwrap();
    plan.write("update tasks set description = ?1 where id = ?2", &["x".into(), "task_1".into()]).unwrap();
    assert_eq!(plan.end_job(true), Run::Done);
    plan.begin_job(1);
    assert!(plan.rows(list, &["agent_1".into()]).is_ok());
    assert!(plan.rows(TASK, &["task_1".into()]).is_ok());
    assert_eq!(plan.end_job(true), Run::Done);
}

fn merged(writes: &[(&Arc<Text>, Vec<Value<'static>>)]) -> Vec<Vec<Vec<Value<'static>>>> {
    let mut batches = Batches::default();
    for (text, params) in writes {
        batches.add(Arc::clone(text), params.clone());
    }
    batches.into_vec().into_iter().map(|batch| batch.rows).collect()
}

#[test]
fn writes_are_merged_in_the_order_of_each_row() {
    let (title, _) = write(SET_TITLE);
    let (status, _) = write("update tasks set status = ?1 where id = ?2");
    let set = |value: &str, id: &str| vec![text(value), text(id)];
    // Two rows by one statement, the second write of a row replaces the first.
    let rows = merged(&[(&title, set("a", "1")), (&title, set("b", "2")), (&title, set("c", "1"))]);
    assert_eq!(rows, [[set("c", "1"), set("b", "2")]]);
    // Another statement in between: the last write must stay the last.
    let rows = merged(&[(&title, set("a", "1")), (&status, set("b", "1")), (&title, set("c", "1"))]);
    assert_eq!(rows, [[set("a", "1")], [set("b", "1")], [set("c", "1")]]);
    // But not if it is about another row.
    let rows = merged(&[(&title, set("a", "1")), (&status, set("b", "2")), (&title, set("c", "3"))]);
    assert_eq!(rows, [vec![set("a", "1"), set("c", "3")], vec![set("b", "2")]]);
}

#[test]
fn amounts_are_added_up() {
    let (count, _) = write("update mailboxes set tasks_ended = tasks_ended + ?2 where agent_id = ?1");
    let rows = merged(&[(&count, vec![text("a"), Value::Int(1)]), (&count, vec![text("a"), Value::Int(2)])]);
    assert_eq!(rows, [[vec![text("a"), Value::Int(3)]]]);
}

#[test]
fn conditional_writes_of_one_row_stay_apart() {
    let (mark, _) = write("update tasks set pushed_at = ?2 where id = ?1 and pushed_at is null");
    let rows = merged(&[(&mark, vec![text("1"), Value::Int(1)]), (&mark, vec![text("1"), Value::Int(2)])]);
    assert_eq!(rows.len(), 2);
}

#[test]
fn merged_statements_take_their_parameters_from_rows() {
    let (update, _) = write("update tasks set pushed_at = ?2\n where id = ?1 and pushed_at is null");
    assert_eq!(
        merged_write(&update, &["text", "int8"]).unwrap(),
        "update tasks set pushed_at = given.a2\n  from unnest($1::text[], $2::int8[]) as given(a1, a2) where id = given.a1 and pushed_at is null"
    );
    let (insert, _) = write("insert into blocks (a, b) values (?1, ?2) on conflict (a) do nothing");
    assert_eq!(
        merged_write(&insert, &["text", "text"]).unwrap(),
        "insert into blocks (a, b) select given.a1, given.a2 from unnest($1::text[], $2::text[]) as given(a1, a2) on conflict (a) do nothing"
    );
    assert!(
        merged_read(&read(TASK), &["text"], Locks::Wait)
            .ends_with("where t.id = given.a1 /* lock t */ for update of t) as found")
    );
}
