//! What must hold after every step, and at the end.

use std::collections::HashMap;

use tandem_app::tasks::{self};
use tandem_app::{Error, updates};
use tandem_core::messages::{DELETED, Kind, Message};
use tandem_core::tasks::Task;
use tandem_core::{AgentId, Approval, Role, Status, TaskId};

use super::{Act, Line, Stored, World};

impl World<'_> {
    /// What follows from one step to the next.
    pub(super) fn check_step(&self, act: &Act, answer: &Result<(), Error>, before: &Stored, after: &Stored) {
        if answer.is_err() {
            // Meeting an expired task lets it expire; besides that, a refusal changes nothing.
            let expired = |stored: &Stored| {
                stored.tasks.iter().flatten().filter(|found| found.0.status == Status::Expired).count()
            };
            assert!(before == after || expired(before) < expired(after), "{act:?} was refused: {answer:?}");
        }
        if let (Act::Say { task, .. } | Act::Reply { task, .. }, Ok(())) = (act, answer) {
            let found = &before.tasks[*task].as_ref().unwrap().0;
            assert!(found.status.is_live() && !found.position().held, "5: a message on {:?}", found.status);
        }
        for (old, new) in before.tasks.iter().zip(&after.tasks) {
            let (Some(old), Some(new)) = (old, new) else { continue };
            if old.0.attempt.number < new.0.attempt.number {
                let target = self.agents.iter().position(|agent| *agent == new.0.target).unwrap();
                let held = new.0.gate.approval == Some(Approval::Pending);
                let asked = new.0.status == Status::Submitted;
                assert!(!asked || held == self.holds[target], "4: the gate is asked, whoever hands it over");
            }
        }
    }

    /// What holds at any moment.
    pub(super) fn check(&self, stored: &Stored, told: &HashMap<AgentId, Vec<i64>>) {
        for (task, log, thread) in stored.tasks.iter().flatten() {
            let lines = self.log_of(&task.id);
            assert_eq!(lines.len(), log.len());
            assert_eq!(lines[0].from, None);
            assert_eq!(lines.last().unwrap().to, task.status, "2: the last line is where it stands");
            assert!(lines.windows(2).all(|pair| pair[1].from == Some(pair[0].to)), "2: no hole in the log");
            for pair in lines.windows(2).filter(|pair| pair[0].to.is_terminal()) {
                let reopened = pair[0].to == Status::Completed
                    && pair[1].to == Status::Working
                    && !task.requires_review
                    && pair[1].actor == task.initiator.as_str();
                let retried = matches!(pair[0].to, Status::Failed | Status::Cancelled | Status::Expired)
                    && pair[1].to == Status::Submitted
                    && pair[1].attempt == pair[0].attempt + 1;
                assert!(reopened || retried, "1: {pair:?}");
            }
            let ends = lines.iter().filter(|line| line.to.is_terminal()).count();
            let closings = thread.iter().filter(|message| message.kind == Kind::System).count();
            let expected = if task.requires_review { ends } else { 0 };
            assert_eq!(closings, expected, "2: one system message for each end of a reviewed task");
            for message in thread {
                assert!(message.acknowledged_at.is_none() || message.read_at.is_some(), "6: {message:?}");
            }
            let unread = |to_target: bool| {
                let counted = thread.iter().filter(|message| {
                    let by_initiator = message.sender.as_ref() == Some(&task.initiator);
                    let is_there = message.sender.is_some() && message.content != DELETED;
                    is_there && by_initiator == to_target && message.read_at.is_none()
                });
                counted.count() as i64
            };
            assert_eq!((task.target_side.unread, task.initiator_side.unread), (unread(true), unread(false)));
            assert_eq!(task.target_side.unread > 0, task.target_side.unread_since.is_some());
            for agent in &self.agents {
                let party =
                    *agent == task.initiator || (*agent == task.target && task.delivery.queued_at.is_some());
                let (agent, id) = (agent.clone(), task.id.clone());
                let seen = self.run(move |tx, now| tasks::view(tx, &agent, &id, now).map(drop));
                assert_eq!(seen.is_ok(), party, "7: {seen:?}");
            }
        }
        for (agent, (events, end)) in self.agents.iter().zip(stored.events.iter().zip(&stored.ends)) {
            assert!(events.windows(2).all(|pair| pair[0].0 < pair[1].0), "8: in order");
            assert!(events.last().is_none_or(|last| last.0 <= *end));
            let pushed = told.get(agent).cloned().unwrap_or_default();
            assert_eq!(pushed, (1..=*end).collect::<Vec<_>>(), "8: every number once, and in order");
            let mut no_acks: Vec<&String> =
                events.iter().filter(|event| event.1 == "message.no_ack").map(|event| &event.3).collect();
            no_acks.sort();
            let all = no_acks.len();
            no_acks.dedup();
            let attempts: i64 = stored.tasks.iter().flatten().map(|found| found.0.attempt.number - 1).sum();
            assert!(all as i64 - no_acks.len() as i64 <= attempts, "a silence is reported once an attempt");
            self.check_updates(agent, stored, events);
        }
    }

    /// What the updates say is what can be counted from the tasks, the threads and the log.
    fn check_updates(&self, agent: &AgentId, stored: &Stored, log: &[Line]) {
        let by = agent.clone();
        let cursors = self.run(move |tx, _| Ok(tandem_store::events::cursors(tx, &by)?)).unwrap();
        let told_at = |task: &Task, message: &Message| {
            let mentions = |line: &&Line| line.2.as_ref() == Some(&task.id);
            let about = log
                .iter()
                .filter(mentions)
                .find(|line| line.1 == "message.created" && line.3.contains(&format!("\"{}\"", message.id)));
            // What was written before the task was this agent's came with the task.
            let handed = ["task.created", "task.approval_required"];
            let first = || log.iter().filter(mentions).find(|line| handed.contains(&line.1.as_str()));
            about.or_else(first).map_or(0, |line| line.0)
        };
        for after in [None, Some(0), Some(cursors.updates_acked), Some(cursors.last - 3), Some(cursors.last)]
        {
            let by = agent.clone();
            let found = self.run(move |tx, now| updates::check(tx, &by, after, now)).unwrap();
            let since = after.unwrap_or(cursors.updates_acked);
            let (mut unread, mut pending, mut held) = (Vec::new(), Vec::new(), Vec::new());
            for (task, _, thread) in stored.tasks.iter().flatten() {
                let Some(role) = task.role_of(agent) else { continue };
                let count = thread.iter().filter(|message| {
                    let by_initiator = message.sender.as_ref() == Some(&task.initiator);
                    message.sender.is_some()
                        && by_initiator == (role == Role::Target)
                        && message.read_at.is_none()
                        && message.content != DELETED
                        && told_at(task, message) > since
                });
                let count = count.count() as i64;
                if count > 0 {
                    unread.push((task.id.clone(), count));
                }
                let handed = log.iter().any(|line| {
                    line.0 > since
                        && line.2.as_ref() == Some(&task.id)
                        && ["task.created", "task.approval_required"].contains(&line.1.as_str())
                });
                if role == Role::Target && task.status == Status::Submitted && (after.is_none() || handed) {
                    let list = if task.position().held { &mut held } else { &mut pending };
                    list.push(task.id.clone());
                }
            }
            let mut seen: Vec<_> = found.unread.iter().map(|one| (one.task.clone(), one.count)).collect();
            let ids = |list: &[tandem_store::updates::News]| {
                let mut ids: Vec<TaskId> = list.iter().map(|one| one.task.clone()).collect();
                ids.sort();
                ids
            };
            seen.sort();
            unread.sort();
            pending.sort();
            held.sort();
            assert_eq!((seen, since), (unread, found.since), "unread after {after:?} of {cursors:?}");
            assert_eq!((ids(&found.tasks), ids(&found.approvals)), (pending, held), "after {after:?}");
        }
    }
}
