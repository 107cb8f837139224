//! `tandem hook --wait`: waits in the background until something arrives that may wake the model.
//!
//! Claude Code runs a hook with `asyncRewake` in the background; when it ends with exit code 2, what it wrote to standard
//! error starts a turn of the model, also in a session in which nobody types.

use std::os::unix::process::parent_id;
use std::time::Duration;

use tandem_api::events::EventType;
use tandem_client::{Followed, Notice, StreamEvent};
use tandem_core::events::EventKind;
use tokio::time::{Instant, Interval, interval, sleep, sleep_until, timeout};

use super::news::{self, Wording};
use super::shown::{Items, is_new};
use super::{ANSWER_MAX, Hook, News};
use crate::commands::session::block_on_and_leave;
use crate::exit::Outcome;
use crate::output;
use crate::profiles::{Profiles, WakeLock, Woken};
use crate::signals::Signals;
use crate::terminal::time;

/// The exit code that wakes the tool.
const WAKE: i32 = 2;
/// How often, and how many times, the lock is tried at first, and how often afterwards.
const LOCK_EVERY: Duration = Duration::from_millis(50);
const LOCK_TRIES: usize = 4;
const TURN_EVERY: Duration = Duration::from_secs(1);
/// How often the waiter looks whether its session is still there.
const PARENT_EVERY: Duration = Duration::from_secs(1);
/// How often the waiter looks whether the hub should hear again that it is there, and whether what was held back may wake the
/// model now.
const RENEW_EVERY: Duration = Duration::from_secs(60);
/// Time limit of the last report. A tool that ends its hooks does not wait for long.
const WITHDRAW_MAX: Duration = Duration::from_millis(500);
/// Time limit of a look at the inbox. Nobody waits for it.
const LOOK_MAX: Duration = Duration::from_secs(30);

/// Takes the right to wake the model. A bridge holds it for some milliseconds at a time, another session as long as it
/// waits: then this one takes over when that has ended.
async fn lock(profiles: &Profiles, name: &str) -> WakeLock {
    for attempt in 1.. {
        if let Some(lock) = profiles.lock_wake(name) {
            return lock;
        }
        sleep(if attempt < LOCK_TRIES { LOCK_EVERY } else { TURN_EVERY }).await;
    }
    std::future::pending().await
}

/// Waits, and ends the process with the exit code that wakes the tool.
pub(super) fn run(hook: &Hook, name: &str, max_wait: Duration) -> Outcome {
    let _ = block_on_and_leave(async {
        // The tool starts a waiter after every turn: one of each session is enough.
        let Some(_only_one) = hook.shown.reserve_wait() else { return Ok(()) };
        let (mut limits, began) = (Limits::new(max_wait)?, time::now());
        // One at a time per agent and machine: several sessions must not start on the same task.
        let lock = tokio::select! {
            lock = lock(&hook.session.profiles, name) => lock,
            _ = limits.over() => return Ok(()),
        };
        let (news, cursor) = match wait(hook, &mut limits, &hook.shown.of_others(began)).await {
            Waited::News(news, cursor) => (news, cursor),
            Waited::InVain => return Ok(()),
            Waited::SessionEnded => {
                let _ = timeout(WITHDRAW_MAX, hook.withdraw()).await;
                return Ok(());
            }
        };
        hook.note_wake(&news);
        // A bridge of this agent must not wake the model again for the same. The exit code starts a turn, so the wake is as
        // good as answered.
        if let Some(cursor) = cursor {
            lock.set_woken(Woken { up_to: cursor, answered: cursor });
        }
        output::report!("{}", news.line(hook.name(), Wording::Fixed));
        // It must not delay the model for long.
        let _ = timeout(ANSWER_MAX, hook.report(news.tasks())).await;
        std::process::exit(WAKE)
    });
    Ok(())
}

/// How a wait ended.
enum Waited {
    /// What arrived, and the cursor up to which the log was read.
    News(News, Option<i64>),
    /// The time is over, or nothing can arrive.
    InVain,
    /// The session of the tool is over, or the tool ends its hooks.
    SessionEnded,
}

/// What ends a wait without news.
struct Limits {
    parent: u32,
    deadline: Instant,
    look_at_parent: Interval,
    signals: Signals,
}

impl Limits {
    fn new(max_wait: Duration) -> Outcome<Self> {
        Ok(Self {
            parent: parent_id(),
            deadline: Instant::now() + max_wait,
            look_at_parent: interval(PARENT_EVERY),
            signals: Signals::new()?,
        })
    }

    /// Returns when the wait is over.
    async fn over(&mut self) -> Waited {
        loop {
            tokio::select! {
                // After the end of the process that started this one it is another.
                _ = self.look_at_parent.tick() => if parent_id() != self.parent {
                    return Waited::SessionEnded;
                },
                _ = self.signals.next() => return Waited::SessionEnded,
                () = sleep_until(self.deadline) => return Waited::InVain,
            }
        }
    }
}

/// Waits for news. Those that other sessions have are not for this one.
async fn wait(hook: &Hook, limits: &mut Limits, of_others: &Items) -> Waited {
    let (mut renew, mut is_held, mut is_connected) = (interval(RENEW_EVERY), false, false);
    // Without a cursor: what was there before is in the inbox, which is looked at when the stream is connected.
    let mut events = hook.session.client.follow(None);
    loop {
        let followed = tokio::select! {
            followed = events.next() => Some(followed),
            over = limits.over() => return over,
            _ = renew.tick() => {
                // Without a connection nothing arrives, so nothing is claimed.
                if is_connected {
                    let _ = timeout(ANSWER_MAX, hook.report(Vec::new())).await;
                }
                None
            }
        };
        if let Some(Ok(Followed::Notice(notice))) = &followed {
            is_connected = !matches!(notice, Notice::Lost { .. });
        }
        let is_worth_a_look = match followed {
            Some(Ok(Followed::Event(event))) => may_wake(&event),
            Some(Ok(Followed::Notice(Notice::Connected { .. }))) => true,
            Some(Ok(Followed::Notice(_))) => false,
            // The key is no longer valid; nothing will arrive.
            Some(Err(_)) => return Waited::InVain,
            None => is_held,
        };
        if !is_worth_a_look {
            continue;
        }
        if let Ok(Ok((news, held))) = timeout(LOOK_MAX, look(hook, of_others)).await {
            is_held = held;
            if !news.is_empty() {
                return Waited::News(news, events.cursor());
            }
        }
    }
}

/// What is new in the inbox and may wake the model, and whether something was held back.
async fn look(hook: &Hook, of_others: &Items) -> Outcome<(News, bool)> {
    let _ = hook.report(Vec::new()).await;
    let inbox = news::inbox(&hook.session.client).await?;
    let mut unseen = hook.shown.unseen(&inbox);
    unseen.retain(|item| is_new(of_others, item));
    let (candidates, is_held) = hook.waking(unseen).await?;
    Ok((hook.shown.take(candidates, &inbox).await.waking(), is_held))
}

fn may_wake(event: &StreamEvent) -> bool {
    matches!(
        event.kind,
        EventType::Logged(
            EventKind::TaskCreated
                | EventKind::TaskApprovalRequired
                | EventKind::MessageCreated
                | EventKind::BroadcastCreated
        )
    )
}
