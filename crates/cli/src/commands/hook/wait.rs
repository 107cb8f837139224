//! `tandem hook --wait`: waits in the background until something arrives that may wake the model.
//!
//! Claude Code runs a hook with `asyncRewake` in the background; when it ends with exit code 2, what it wrote to standard
//! error starts a turn of the model, also in a session in which nobody types.

use std::time::Duration;

use tandem_api::events::EventType;
use tandem_client::{Followed, Notice, StreamEvent};
use tandem_core::events::EventKind;
use tokio::time::{Instant, interval, sleep, sleep_until, timeout};

use super::news::{self, Wording};
use super::{ANSWER_MAX, Hook, News};
use crate::commands::session::block_on_and_leave;
use crate::exit::Outcome;
use crate::output;
use crate::profiles::{Profiles, WakeLock, Woken};

/// The exit code that wakes the tool.
const WAKE: i32 = 2;
/// How often, and how many times, the lock is tried.
const LOCK_EVERY: Duration = Duration::from_millis(50);
const LOCK_TRIES: usize = 4;
/// How often the waiter looks whether its session is still there.
const PARENT_EVERY: Duration = Duration::from_secs(1);
/// How often the waiter looks whether the hub should hear again that it is there, and whether what was held back may wake the
/// model now.
const RENEW_EVERY: Duration = Duration::from_secs(60);
/// Time limit of the last report. A tool that ends its hooks does not wait for long.
const WITHDRAW_MAX: Duration = Duration::from_millis(500);
/// Time limit of a look at the inbox. Nobody waits for it.
const LOOK_MAX: Duration = Duration::from_secs(30);

/// Takes the right to wake the model. A bridge holds it for some milliseconds at a time; another hook as long as it waits.
async fn lock(profiles: &Profiles, name: &str) -> Option<WakeLock> {
    for _ in 0..LOCK_TRIES {
        if let Some(lock) = profiles.lock_wake(name) {
            return Some(lock);
        }
        sleep(LOCK_EVERY).await;
    }
    None
}

/// Waits, and ends the process with the exit code that wakes the tool.
pub(super) fn run(hook: &Hook, name: &str, max_wait: Duration) -> Outcome {
    let _ = block_on_and_leave(async {
        // One waiter per agent and machine: several sessions must not start on the same task.
        let Some(lock) = lock(&hook.session.profiles, name).await else { return Ok(()) };
        let (news, cursor) = match wait(hook, max_wait).await {
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

async fn wait(hook: &Hook, max_wait: Duration) -> Waited {
    let (parent, deadline) = (parent(), Instant::now() + max_wait);
    let (mut ended, mut is_held) = (std::pin::pin!(ended()), false);
    let (mut look_at_parent, mut renew) = (interval(PARENT_EVERY), interval(RENEW_EVERY));
    // Without a cursor: what was there before is in the inbox, which is looked at when the stream is connected.
    let mut events = hook.session.client.follow(None);
    loop {
        let followed = tokio::select! {
            followed = events.next() => Some(followed),
            _ = look_at_parent.tick() => match self::parent() == parent {
                true => continue,
                false => return Waited::SessionEnded,
            },
            () = &mut ended => return Waited::SessionEnded,
            _ = renew.tick() => {
                let _ = timeout(ANSWER_MAX, hook.report(Vec::new())).await;
                None
            }
            () = sleep_until(deadline) => return Waited::InVain,
        };
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
        if let Ok(Ok((news, held))) = timeout(LOOK_MAX, look(hook)).await {
            is_held = held;
            if !news.is_empty() {
                return Waited::News(news, events.cursor());
            }
        }
    }
}

/// What is new in the inbox and may wake the model, and whether something was held back.
async fn look(hook: &Hook) -> Outcome<(News, bool)> {
    let _ = hook.report(Vec::new()).await;
    let inbox = news::inbox(&hook.session.client).await?;
    let (candidates, is_held) = hook.waking(hook.shown.unseen(&inbox)).await?;
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

/// Returns when the tool tells this process to end.
#[cfg(unix)]
async fn ended() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => drop(terminate.recv().await),
        Err(_) => std::future::pending().await,
    }
}

/// Other systems have no such signal.
#[cfg(not(unix))]
async fn ended() {
    std::future::pending().await
}

/// The process that started this one; another one after its end.
#[cfg(unix)]
fn parent() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

/// Other systems keep no such record; there the time limit ends the wait.
#[cfg(not(unix))]
fn parent() -> Option<u32> {
    None
}
