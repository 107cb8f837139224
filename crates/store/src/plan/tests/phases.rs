//! Locks are taken in phases, whatever the jobs of a group ask for first.

use super::*;

/// The queries of these tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Task,
    OtherOfTask,
    Pair,
    Reach,
    Mailbox,
}

use Of::{Mailbox, OtherOfTask, Pair, Reach, Task};

fn query(of: Of) -> &'static Arc<Read> {
    match of {
        Task => task(),
        OtherOfTask => read!([title]: "tasks where id = ?1", of tasks { id: 1 } uses []; lock tasks),
        Pair => lock::of_table("pairs").unwrap(),
        Reach => read!([name]: "agents where id = ?1", of agents { id: 1 } uses []),
        Mailbox => lock::of_table("mailboxes").unwrap(),
    }
}

fn begun(avoided: Vec<LockedRow>) -> Plan {
    let mut plan = Plan::new();
    plan.begin(Locks::Wait, avoided);
    plan
}

/// Runs jobs, each of which asks for some queries; nothing is missing any more when it returns nothing.
fn round(plan: &mut Plan, jobs: &[&[(Of, &str)]]) -> (Vec<Run>, Vec<Of>) {
    plan.begin_round();
    let mut runs = Vec::new();
    for (number, asks) in jobs.iter().enumerate() {
        plan.begin_job(number);
        let mut all = || -> Result<(), Error> {
            for (of, id) in *asks {
                let params = [(*id).into(), "z".into()];
                let params = &params[..if *of == Pair { 2 } else { 1 }];
                // An id in capitals: the job goes on without the rows.
                if id.starts_with(char::is_uppercase) {
                    plan.peek(query(*of), params)?;
                } else {
                    plan.rows(query(*of), params)?;
                }
            }
            Ok(())
        };
        let succeeded = all().is_ok();
        runs.push(plan.end_job(succeeded));
    }
    let missing = plan.take_missing();
    let all = [Task, OtherOfTask, Pair, Reach, Mailbox];
    let of = |missing: &Query| *all.iter().find(|of| Arc::ptr_eq(query(**of), &missing.read)).unwrap();
    let asked = missing.iter().map(of).collect();
    for query in missing {
        plan.found(query, vec![vec![Value::Int(1)]], 0);
    }
    (runs, asked)
}

#[test]
fn a_later_class_waits_for_the_jobs_that_have_not_come_to_it() {
    let mut plan = begun(Vec::new());
    let message: &[(Of, &str)] = &[(Task, "t1"), (Mailbox, "B")];
    let create: &[(Of, &str)] = &[(Mailbox, "B"), (Pair, "A"), (Reach, "a")];
    let jobs = [message, create];
    let (_, asked) = round(&mut plan, &jobs);
    assert_eq!(asked, [Task], "neither the pair, nor what it protects, nor the mailbox");
    let (_, asked) = round(&mut plan, &jobs);
    assert_eq!(asked, [Mailbox, Pair, Reach]);
    assert_eq!(round(&mut plan, &jobs), (vec![Run::Done, Run::Done], Vec::new()));
}

#[test]
fn a_lone_job_gets_all_it_knows_of_at_once() {
    let mut plan = begun(Vec::new());
    plan.begin_round();
    plan.begin_job(0);
    assert!(plan.peek(query(Mailbox), &["b".into()]).unwrap().is_none());
    assert!(plan.peek(query(Pair), &["a".into(), "b".into()]).unwrap().is_none());
    assert!(plan.rows(query(Reach), &["b".into()]).is_err());
    assert_eq!(plan.end_job(false), Run::Missing);
    assert_eq!(plan.take_missing().len(), 3);
}

#[test]
fn a_job_that_comes_back_to_an_earlier_class_leaves_the_group() {
    let mut plan = begun(Vec::new());
    let jobs: [&[(Of, &str)]; 1] = [&[(Pair, "a"), (Task, "t1")]];
    assert_eq!(round(&mut plan, &jobs).0, [Run::Missing]);
    assert_eq!(round(&mut plan, &jobs), (vec![Run::Direct], Vec::new()));
    // A row that is locked already is no new lock.
    let mut plan = begun(Vec::new());
    let jobs: [&[(Of, &str)]; 1] = [&[(Task, "t1"), (Pair, "a"), (OtherOfTask, "t1")]];
    for asked in [Task, Pair, OtherOfTask] {
        assert_eq!(round(&mut plan, &jobs).1, [asked]);
    }
    assert_eq!(round(&mut plan, &jobs).0, [Run::Done]);
}

#[test]
fn what_was_read_before_a_lock_is_read_again_after_it() {
    let mut plan = begun(Vec::new());
    let early: &[(Of, &str)] = &[(Reach, "a")];
    let late: &[(Of, &str)] = &[(Task, "t1"), (Pair, "a"), (Reach, "a")];
    let jobs = [early, late];
    assert_eq!(round(&mut plan, &jobs).1, [Reach], "no lock before everybody asks for one");
    assert_eq!(round(&mut plan, &jobs).1, [Task]);
    assert_eq!(round(&mut plan, &jobs).1, [Pair]);
    assert_eq!(round(&mut plan, &jobs).1, [Reach]);
    assert_eq!(round(&mut plan, &jobs).0, [Run::Done, Run::Done]);
}

#[test]
fn a_job_without_locks_does_not_wait_for_those_of_others() {
    let mut plan = begun(Vec::new());
    let jobs: [&[(Of, &str)]; 2] = [&[(Reach, "a")], &[(Pair, "A"), (Reach, "a")]];
    assert_eq!(round(&mut plan, &jobs).1, [Reach]);
    assert_eq!(round(&mut plan, &jobs), (vec![Run::Done, Run::Missing], vec![Pair]));
    assert_eq!(round(&mut plan, &jobs).1, [Reach], "behind the lock");
    assert_eq!(round(&mut plan, &jobs).0, [Run::Done, Run::Done]);
}

#[test]
fn a_write_locks_its_row_in_its_phase() {
    let mut plan = begun(Vec::new());
    plan.begin_round();
    plan.begin_job(0);
    write(&mut plan, &update!(tasks { title: "New" } where { id: "t1" }));
    assert_eq!(plan.end_job(true), Run::Missing);
    let missing = plan.take_missing();
    let asked: Vec<_> = missing.iter().map(|query| (query.read.sql(), query.params.clone())).collect();
    assert_eq!(asked, [("select 1 from tasks where id = ?1", vec![text("t1")])]);
    assert!(plan.take_batches().is_empty());
}

#[test]
fn a_row_that_is_known_to_be_locked_costs_only_those_who_need_it() {
    let row = |id: &str| LockedRow { table: "tasks", key: vec![text(id)] };
    let mut plan = begun(vec![row("t1")]);
    let jobs: [&[(Of, &str)]; 2] = [&[(Task, "t1")], &[(Task, "t2")]];
    let (runs, asked) = round(&mut plan, &jobs);
    assert_eq!((runs, asked.len()), (vec![Run::Locked, Run::Missing], 1));
}

#[test]
fn a_missing_row_is_no_locked_row() {
    let mut plan = Plan::new();
    plan.begin(Locks::Skip, Vec::new());
    for (id, there) in [("absent", 0), ("locked", 1)] {
        let query = Query { read: Arc::clone(task()), params: vec![id.into()], waits_for: None };
        plan.found(query, Vec::new(), there);
    }
    let jobs: [&[(Of, &str)]; 2] = [&[(Task, "absent")], &[(Task, "locked")]];
    assert_eq!(round(&mut plan, &jobs).0, [Run::Done, Run::Locked]);
    let found = plan.take_found_locked();
    assert_eq!(found, [LockedRow { table: "tasks", key: vec![text("locked")] }]);
}
