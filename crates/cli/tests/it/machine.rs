//! The task machine: every cell of the documented table, through core and through HTTP.

use rstest::rstest;
use serde_json::{Value, json};
use tandem_core::moves::{Position, allowed};
use tandem_core::{Refusal, Role, Status};
use tandem_store::tasks as rows;

use crate::harness::{Agent, Db, Harness};

/// The table of the documentation, word for word: from, open task, reviewed task.
const DOCUMENTED: &[(&str, &str, &str)] = &[
    ("draft", "submitted I · cancelled I", "submitted I · cancelled I"),
    (
        "submitted",
        "working IT · cancelled IT · rejected T · expired S",
        "working, input-required, auth-required, rejected, failed T · completed I · cancelled IT · expired S",
    ),
    (
        "working",
        "input-required, completed, failed, cancelled IT · auth-required, rejected T · submitted, expired S",
        "input-required, auth-required, rejected, failed T · completed I · cancelled IT · submitted, expired S",
    ),
    (
        "input-required",
        "working, completed, failed, cancelled IT · auth-required, rejected T",
        "working, auth-required, rejected, failed T · completed I · cancelled IT",
    ),
    (
        "auth-required",
        "working, input-required, completed, failed, cancelled IT · rejected T",
        "working, input-required, rejected, failed T · completed I · cancelled IT",
    ),
    ("completed", "working I", ""),
    ("failed", "", ""),
    ("rejected", "", ""),
    ("cancelled", "", ""),
    ("expired", "", ""),
];

const ROLES: [(Role, char); 3] = [(Role::Initiator, 'I'), (Role::Target, 'T'), (Role::Hub, 'S')];

/// Whether the documentation lets a role make a move.
pub fn documented(from: Status, to: Status, letter: char, reviewed: bool) -> bool {
    let row = DOCUMENTED.iter().find(|row| row.0 == from.as_str()).unwrap();
    let cell = if reviewed { row.2 } else { row.1 };
    cell.split(" · ").filter(|part| !part.is_empty()).any(|part| {
        let (words, letters) = part.rsplit_once(' ').unwrap();
        letters.contains(letter) && words.split(", ").any(|word| word == to.as_str())
    })
}

#[test]
fn the_table_is_the_documented_one() {
    for from in Status::ALL {
        for to in Status::ALL {
            for reviewed in [false, true] {
                for (role, letter) in ROLES {
                    assert_eq!(
                        allowed(from, to, reviewed).contains(role),
                        documented(from, to, letter, reviewed),
                        "{from} to {to} by {role:?}, reviewed: {reviewed}"
                    );
                }
            }
        }
    }
}

/// What the documentation's list of refusals says, derived from its table and not from the code.
fn expected(from: Status, to: Status, role: char, reviewed: bool) -> Result<(), &'static str> {
    let anybody = "ITS".chars().any(|letter| documented(from, to, letter, reviewed));
    if documented(from, to, role, reviewed) {
        Ok(())
    } else if from.is_terminal() && !anybody {
        Err("task_terminal")
    } else if !anybody {
        Err("invalid_transition")
    } else if role == 'T' && to == Status::Completed && reviewed {
        Err("review_required")
    } else {
        Err("role_not_allowed")
    }
}

#[test]
fn every_cell_answers_as_documented_in_core() {
    for from in Status::ALL {
        for to in Status::ALL {
            for reviewed in [false, true] {
                for (role, letter) in &ROLES[..2] {
                    let position = Position { status: from, reviewed, held: false };
                    let answer = position.check(*role, to).map_err(|refusal| match refusal {
                        Refusal::Terminal => "task_terminal",
                        Refusal::NoSuchMove { .. } => "invalid_transition",
                        Refusal::NotYourMove => "role_not_allowed",
                        Refusal::ReviewRequired => "review_required",
                        other => panic!("{other:?}"),
                    });
                    assert_eq!(answer, expected(from, to, *letter, reviewed), "{from} to {to} by {letter}");
                    let listed = position.next_statuses(*role).contains(&to);
                    assert_eq!(listed, answer.is_ok(), "nextStatuses of {from} for {letter}");
                }
            }
        }
    }
}

#[test]
fn a_held_task_can_only_be_cancelled_by_its_initiator_or_expire() {
    let held = Position { status: Status::Submitted, reviewed: false, held: true };
    for to in Status::ALL {
        for (role, letter) in ROLES {
            let free = matches!((letter, to), ('I', Status::Cancelled) | ('S', Status::Expired));
            match held.check(role, to) {
                Ok(()) => assert!(free, "{to} by {letter}"),
                Err(refusal) => assert!(!free && refusal == Refusal::ApprovalPending, "{to} by {letter}"),
            }
        }
    }
}

/// Brings a new task into a status by the moves its parties have; `expired` is the hub's alone.
async fn task_in(hub: &Harness, ada: &Agent, bob: &Agent, status: Status, reviewed: bool) -> String {
    let draft = status == Status::Draft;
    let task = ada.task_with(bob, json!({ "requiresReview": reviewed, "draft": draft })).await;
    let path: &[(&Agent, &str)] = match status {
        Status::Draft | Status::Submitted | Status::Expired => &[],
        Status::Working => &[(bob, "working")],
        Status::InputRequired => &[(bob, "working"), (bob, "input-required")],
        Status::AuthRequired => &[(bob, "working"), (bob, "auth-required")],
        Status::Completed => &[(bob, "working"), (ada, "completed")],
        Status::Failed => &[(bob, "working"), (bob, "failed")],
        Status::Rejected => &[(bob, "rejected")],
        Status::Cancelled => &[(ada, "cancelled")],
    };
    for (agent, to) in path {
        agent.set(&task, to).await.ok(200);
    }
    if status == Status::Expired {
        let id = task.clone();
        hub.hub
            .db
            .write(move |tx, _| {
                let mut row = rows::find(tx, &id.parse().unwrap())?.unwrap();
                row.status = Status::Expired;
                Ok(rows::update(tx, &row)?)
            })
            .await
            .unwrap();
    }
    task
}

fn next_statuses(from: Status, role: char, reviewed: bool) -> Vec<Value> {
    let next = Status::ALL.into_iter().filter(|to| documented(from, *to, role, reviewed));
    next.map(|to| Value::from(to.as_str())).collect()
}

#[rstest]
#[tokio::test]
async fn every_cell_answers_as_documented_over_http(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(false, true)] reviewed: bool,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    for from in Status::ALL {
        for (agent, letter) in [(&ada, 'I'), (&bob, 'T')] {
            let mut task = task_in(&hub, &ada, &bob, from, reviewed).await;
            for to in Status::ALL {
                let reply = agent.set(&task, to.as_str()).await;
                let what = format!("{from} to {to} by {letter}, reviewed: {reviewed}: {reply:?}");
                // A draft, also one that was given up, does not exist for its target.
                if from == Status::Draft && letter == 'T' {
                    reply.refused(404, "not_found");
                    continue;
                }
                match expected(from, to, letter, reviewed) {
                    Ok(()) => {
                        assert_eq!(reply.status, 200, "{what}");
                        let body = reply.json();
                        assert_eq!(body["status"], to.as_str(), "{what}");
                        assert_eq!(
                            body["nextStatuses"],
                            json!(next_statuses(to, letter, reviewed)),
                            "{what}"
                        );
                        task = task_in(&hub, &ada, &bob, from, reviewed).await;
                    }
                    Err(code) => {
                        let status = match code {
                            "task_terminal" => 409,
                            "invalid_transition" => 400,
                            _ => 403,
                        };
                        let body = reply.refused(status, code);
                        assert_eq!(body["status"], from.as_str(), "{what}");
                        assert_eq!(
                            body["nextStatuses"],
                            json!(next_statuses(from, letter, reviewed)),
                            "{what}"
                        );
                    }
                }
            }
        }
    }
}

#[rstest]
#[tokio::test]
async fn both_spellings_of_a_status_are_taken(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    bob.set(&task, "working").await.ok(200);
    assert_eq!(bob.set(&task, "input_required").await.ok(200)["status"], "input-required");
    assert_eq!(bob.set(&task, "auth_required").await.ok(200)["status"], "auth-required");
    assert_eq!(bob.set(&task, "canceled").await.ok(200)["status"], "cancelled");
}

#[rstest]
#[tokio::test]
async fn of_two_racing_moves_exactly_one_wins(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    for _ in 0..40 {
        let task = ada.task(&bob).await;
        bob.set(&task, "working").await.ok(200);
        let moves = [(&ada, "cancelled"), (&bob, "completed"), (&ada, "failed"), (&bob, "rejected")];
        let replies =
            futures_util::future::join_all(moves.iter().map(|(agent, to)| agent.set(&task, to))).await;
        let winners: Vec<usize> = (0..4).filter(|i| replies[*i].status == 200).collect();
        assert_eq!(winners.len(), 1, "{replies:?}");
        let won = moves[winners[0]].1;
        for (i, reply) in replies.iter().enumerate() {
            if i != winners[0] {
                assert_eq!(reply.refused(409, "task_terminal")["status"], won);
            }
        }
        let log = ada.get(&format!("/tasks/{task}/events")).await.ok(200);
        let steps: Vec<&str> =
            log.as_array().unwrap().iter().map(|l| l["toStatus"].as_str().unwrap()).collect();
        assert_eq!(steps, ["submitted", "working", won]);
    }
}

#[rstest]
#[tokio::test]
async fn an_expected_status_or_etag_that_is_no_longer_so_is_a_conflict(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}");
    let body = json!({ "status": "cancelled", "expectedStatus": "working" });
    let refused = ada.patch(&path, body).await.refused(409, "conflict");
    assert_eq!(refused["status"], "submitted");

    let etag = ada.get(&path).await.header("etag").unwrap().to_owned();
    bob.set(&task, "working").await.ok(200);
    let with_tag = |tag: &str, status: &str| {
        hyper::Request::patch(&path)
            .header("authorization", format!("Bearer {}", ada.key))
            .header("content-type", "application/json")
            .header("if-match", tag)
            .body(http_body_util::Full::from(json!({ "status": status }).to_string()))
            .unwrap()
    };
    ada.client.raw(with_tag(&etag, "cancelled")).await.refused(412, "conflict");
    ada.client.raw(with_tag("\"nonsense\"", "cancelled")).await.refused(412, "conflict");
    assert_eq!(ada.view(&task).await["status"], "working");
    let etag = ada.get(&path).await.header("etag").unwrap().to_owned();
    ada.client.raw(with_tag(&etag, "input-required")).await.ok(200);
    let etag = ada.get(&path).await.header("etag").unwrap().to_owned();
    ada.client.raw(with_tag(&format!("\"0\", {etag}"), "working")).await.ok(200);
    let cancel = format!("{path}/cancel");
    ada.post(&cancel, json!({ "expectedStatus": "submitted" })).await.refused(409, "conflict");
    ada.client.raw(with_tag("*", "cancelled")).await.ok(200);
}
