//! Locks are taken in phases, whatever the jobs of a group ask for first.

use super::*;

const PAIR: &str = "select 1 from pairs where low_id = ?1 and high_id = ?2 /* lock pairs */";
const REACH: &str = "select name from agents where id = ?1";
const MAILBOX: &str = "select last_seq from mailboxes where agent_id = ?1 /* lock mailboxes */";

fn begun(avoided: Vec<LockedRow>) -> Plan {
    let mut plan = Plan::new();
    plan.begin(Locks::Wait, avoided);
    plan
}

/// Runs jobs, each of which asks for some queries; nothing is missing any more when it returns nothing.
fn round(plan: &mut Plan, jobs: &[&[(&str, &str)]]) -> (Vec<Run>, Vec<String>) {
    plan.begin_round();
    let mut runs = Vec::new();
    for (number, asks) in jobs.iter().enumerate() {
        plan.begin_job(number);
        let mut all = || -> Result<(), Error> {
            for (sql, id) in *asks {
                let params = [(*id).into(), "z".into()];
                let count = sql.matches('?').count();
                // An id in capitals: the job goes on without the rows.
                if id.starts_with(char::is_uppercase) {
                    plan.peek(sql, &params[..count])?;
                } else {
                    plan.rows(sql, &params[..count])?;
                }
            }
            Ok(())
        };
        let succeeded = all().is_ok();
        runs.push(plan.end_job(succeeded));
    }
    let missing = plan.take_missing();
    let asked = missing.iter().map(|query| query.text.sql.clone()).collect();
    for query in missing {
        plan.found(query, vec![vec![Value::Int(1)]], 0);
    }
    (runs, asked)
}

#[test]
fn a_later_class_waits_for_the_jobs_that_have_not_come_to_it() {
    let mut plan = begun(Vec::new());
    let message: &[(&str, &str)] = &[(TASK, "t1"), (MAILBOX, "B")];
    let create: &[(&str, &str)] = &[(MAILBOX, "B"), (PAIR, "A"), (REACH, "a")];
    let jobs = [message, create];
    let (_, asked) = round(&mut plan, &jobs);
    assert_eq!(asked, [TASK], "neither the pair, nor what it protects, nor the mailbox");
    let (_, asked) = round(&mut plan, &jobs);
    assert_eq!(asked, [MAILBOX, PAIR, REACH]);
    assert_eq!(round(&mut plan, &jobs), (vec![Run::Done, Run::Done], Vec::new()));
}

#[test]
fn a_lone_job_gets_all_it_knows_of_at_once() {
    let mut plan = begun(Vec::new());
    plan.begin_round();
    plan.begin_job(0);
    assert!(plan.peek(MAILBOX, &["b".into()]).unwrap().is_none());
    assert!(plan.peek(PAIR, &["a".into(), "b".into()]).unwrap().is_none());
    assert!(plan.rows(REACH, &["b".into()]).is_err());
    assert_eq!(plan.end_job(false), Run::Missing);
    assert_eq!(plan.take_missing().len(), 3);
}

#[test]
fn a_job_that_comes_back_to_an_earlier_class_leaves_the_group() {
    let mut plan = begun(Vec::new());
    let jobs: [&[(&str, &str)]; 1] = [&[(PAIR, "a"), (TASK, "t1")]];
    assert_eq!(round(&mut plan, &jobs).0, [Run::Missing]);
    assert_eq!(round(&mut plan, &jobs), (vec![Run::Direct], Vec::new()));
    // A row that is locked already is no new lock.
    let mut plan = begun(Vec::new());
    let other_query = "select title from tasks where id = ?1 /* lock tasks */";
    let jobs: [&[(&str, &str)]; 1] = [&[(TASK, "t1"), (PAIR, "a"), (other_query, "t1")]];
    for asked in [TASK, PAIR, other_query] {
        assert_eq!(round(&mut plan, &jobs).1, [asked]);
    }
    assert_eq!(round(&mut plan, &jobs).0, [Run::Done]);
}

#[test]
fn what_was_read_before_a_lock_is_read_again_after_it() {
    let mut plan = begun(Vec::new());
    let early: &[(&str, &str)] = &[(REACH, "a")];
    let late: &[(&str, &str)] = &[(TASK, "t1"), (PAIR, "a"), (REACH, "a")];
    let jobs = [early, late];
    assert_eq!(round(&mut plan, &jobs).1, [REACH], "no lock before everybody asks for one");
    assert_eq!(round(&mut plan, &jobs).1, [TASK]);
    assert_eq!(round(&mut plan, &jobs).1, [PAIR]);
    assert_eq!(round(&mut plan, &jobs).1, [REACH]);
    assert_eq!(round(&mut plan, &jobs).0, [Run::Done, Run::Done]);
}

#[test]
fn a_write_locks_its_row_in_its_phase() {
    let mut plan = begun(Vec::new());
    plan.begin_round();
    plan.begin_job(0);
    plan.write(SET_TITLE, &["New".into(), "t1".into()]).unwrap();
    assert_eq!(plan.end_job(true), Run::Missing);
    let missing = plan.take_missing();
    let asked: Vec<_> = missing.iter().map(|query| (query.text.sql.as_str(), query.params.clone())).collect();
    assert_eq!(asked, [("select 1 from tasks where id = ?1 /* lock tasks */", vec![text("t1")])]);
    assert!(plan.take_batches().is_empty());
}

#[test]
fn a_row_that_is_known_to_be_locked_costs_only_those_who_need_it() {
    let row = |id: &str| LockedRow { table: "tasks".into(), key: vec![text(id)] };
    let mut plan = begun(vec![row("t1")]);
    let jobs: [&[(&str, &str)]; 2] = [&[(TASK, "t1")], &[(TASK, "t2")]];
    let (runs, asked) = round(&mut plan, &jobs);
    assert_eq!((runs, asked.len()), (vec![Run::Locked, Run::Missing], 1));
}

#[test]
fn a_missing_row_is_no_locked_row() {
    let mut plan = Plan::new();
    plan.begin(Locks::Skip, Vec::new());
    for (id, there) in [("absent", 0), ("locked", 1)] {
        let text = plan.text(TASK);
        plan.found(Query { text, params: vec![id.into()], waits_for: None }, Vec::new(), there);
    }
    let jobs: [&[(&str, &str)]; 2] = [&[(TASK, "absent")], &[(TASK, "locked")]];
    assert_eq!(round(&mut plan, &jobs).0, [Run::Done, Run::Locked]);
    let found = plan.take_found_locked();
    assert_eq!(found, [LockedRow { table: "tasks".into(), key: vec![text("locked")] }]);
}
