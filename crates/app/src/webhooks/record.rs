//! Records the results of attempts to deliver.

use tandem_core::webhooks::{GIVE_UP_AFTER_SECONDS, State, retry_at};
use tandem_core::{AgentId, Now, TaskId, Timestamp};
use tandem_store::webhooks::{self as rows, Delivery, Leased, Webhook};
use tandem_store::{Tx, events, tasks as task_rows};

use crate::events::assigned_tasks;
use crate::{Error, tasks};

const SWITCHED_OFF: &str = "deactivated after failing for a day; set webhookUrl again to activate it";

#[derive(Debug, Clone)]
pub struct Attempt {
    pub delivery: Delivery,
    /// Status and start of the response body, or the error.
    pub outcome: Result<(u16, String), String>,
    pub took_ms: i64,
    /// Random number from 0 to 1 that spreads the retries.
    pub jitter: f64,
}

impl Attempt {
    /// Whether the receiver answered with a 2xx status.
    #[must_use]
    pub fn delivered(&self) -> bool {
        matches!(self.outcome, Ok((200..=299, _)))
    }
}

/// Records attempts and releases the lease. The webhook is deactivated when it has failed for a day.
pub fn record(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    holder: &str,
    url: &str,
    attempts: &[Attempt],
    now: &Now,
) -> Result<(), Error> {
    let pushed = pushed_tasks(tx, agent, attempts)?;
    let leased = rows::find_leased(tx, agent)?;
    let is_held = leased.as_ref().is_some_and(|leased| leased.holder == holder);
    for attempt in attempts {
        let mut recorded = after_attempt(attempt, url, now.at);
        // A delivery that was given up meanwhile is not retried; if it succeeded, that is recorded. The same is true
        // if another node has taken over the lease, which has counted this attempt.
        if !attempt.delivered() || !is_held {
            let found = rows::find_delivery(tx, agent, &attempt.delivery.id)?;
            let Some(found) = found.filter(|found| found.state == State::Pending || attempt.delivered())
            else {
                continue;
            };
            if !is_held {
                if !attempt.delivered() {
                    continue;
                }
                recorded.attempts = found.attempts.max(recorded.attempts);
            }
        }
        rows::update_delivery(tx, &recorded)?;
        let of_event =
            pushed.iter().filter(|(seq, _)| attempt.delivered() && attempt.delivery.event_seq == Some(*seq));
        for (_, ids) in of_event {
            tasks::mark_pushed(tx, agent, ids, now)?;
        }
    }
    let Some(Leased { webhook, .. }) = leased.filter(|_| is_held) else { return Ok(()) };
    // What an earlier URL did says nothing about the present one.
    if webhook.url.as_deref() == Some(url) && !attempts.is_empty() {
        judge(tx, agent, url, &webhook, attempts.iter().any(Attempt::delivered), now)?;
    }
    Ok(rows::release(tx, agent, holder)?)
}

/// The tasks that the delivered events gave to the agent, by the numbers of the events. They are locked here, before the
/// agent is.
fn pushed_tasks(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    attempts: &[Attempt],
) -> Result<Vec<(i64, Vec<TaskId>)>, Error> {
    let delivered = attempts.iter().filter(|attempt| attempt.delivered());
    let seqs: Vec<i64> = delivered.filter_map(|attempt| attempt.delivery.event_seq).collect();
    for seq in &seqs {
        events::expect_after(tx, agent, seq - 1, 1)?;
    }
    let mut pushed = Vec::new();
    for seq in seqs {
        let mut event = events::after(tx, agent, seq - 1, 1)?;
        // The event may have been deleted with its task.
        event.retain(|event| event.seq == seq);
        pushed.push((seq, assigned_tasks(&event)));
    }
    for id in pushed.iter().flat_map(|(_, ids)| ids) {
        task_rows::expect_mark(tx, id)?;
    }
    Ok(pushed)
}

/// Notes since when a webhook has been failing, and deactivates it after a day.
fn judge(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    url: &str,
    webhook: &Webhook,
    delivered: bool,
    now: &Now,
) -> Result<(), Error> {
    let failing_since = if delivered { None } else { webhook.failing_since.or(Some(now.at)) };
    let failing_ms = failing_since.map_or(0, |since| now.at.ms_since(since));
    let gives_up = webhook.active && failing_ms >= GIVE_UP_AFTER_SECONDS * 1_000;
    if gives_up {
        rows::give_up(tx, agent, SWITCHED_OFF)?;
        rows::list_at(tx, agent, None)?;
    }
    if gives_up || failing_since != webhook.failing_since {
        rows::set_health(tx, agent, url, webhook.active && !gives_up, failing_since)?;
    }
    Ok(())
}

fn after_attempt(attempts: &Attempt, url: &str, now: Timestamp) -> Delivery {
    let mut delivery = attempts.delivery.clone();
    url.clone_into(&mut delivery.url);
    delivery.attempts += 1;
    delivery.answered_at = Some(now);
    delivery.took_ms = Some(attempts.took_ms);
    (delivery.answer_status, delivery.answer, delivery.error) = match &attempts.outcome {
        Ok((status, answer)) => (Some(i64::from(*status)), Some(answer.clone()), None),
        Err(error) => (None, None, Some(error.clone())),
    };
    delivery.next_at =
        if attempts.delivered() { None } else { retry_at(delivery.attempts, now, attempts.jitter) };
    delivery.state = match (attempts.delivered(), delivery.next_at) {
        (true, _) => State::Delivered,
        (false, Some(_)) => State::Pending,
        (false, None) => State::Failed,
    };
    delivery
}
