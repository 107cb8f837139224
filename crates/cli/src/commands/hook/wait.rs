//! `tandem hook --wait`: waits in the background until something arrives that may wake the model.
//!
//! Claude Code runs a hook with `asyncRewake` in the background; when it ends with exit code 2, what it wrote to standard
//! error starts a turn of the model, also in a session in which nobody types.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use tandem_api::events::EventType;
use tandem_client::{Followed, Notice, StreamEvent};
use tokio::time::{Instant, Interval, interval, sleep, sleep_until, timeout};

use super::news::{self, Wording};
use super::reader::Reader;
use super::shown::{Items, Taken, is_new};
use super::{ANSWER_MAX, Hook, News};
use crate::commands::session::block_on_and_leave;
use crate::exit::Outcome;
use crate::profiles::{Profiles, TakenLock, WakeLock, Woken};
use crate::signals::Signals;
use crate::terminal::time;
use crate::tool_process::SESSION_INBOX;

/// The exit code that wakes the tool.
const WAKE: i32 = 2;
/// How often, and how many times, the lock is tried at first, and how often afterwards.
const LOCK_EVERY: Duration = Duration::from_millis(50);
const LOCK_TRIES: usize = 4;
const TURN_EVERY: Duration = Duration::from_secs(1);
/// How long the bridge of the session may take to wake it: what it waits for a reaction by default, and some more.
const BRIDGE_MAX: Duration = Duration::from_secs(90);
/// How often the waiter looks whether its session is still there.
const READER_EVERY: Duration = Duration::from_secs(1);
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
        if let TakenLock::Held(lock) = profiles.lock_wake(name) {
            return lock;
        }
        sleep(if attempt < LOCK_TRIES { LOCK_EVERY } else { TURN_EVERY }).await;
    }
    std::future::pending().await
}

/// The right to wake the model, and the turn of a bridge that does it better: by the inbox of the session.
struct Turn<'a> {
    hook: &'a Hook,
    name: &'a str,
    lock: Option<WakeLock>,
    /// When the bridge has had its time, and the event that was left to it.
    left: Option<(Instant, i64)>,
}

impl<'a> Turn<'a> {
    async fn take(hook: &'a Hook, name: &'a str) -> Self {
        let lock = Some(lock(&hook.session.profiles, name).await);
        Self { hook, name, lock, left: None }
    }

    /// Leaves an event to the bridge of this session, if it has one that wakes the session by its inbox.
    fn leave_to_bridge(&mut self, event: &StreamEvent) -> bool {
        let socket = std::env::var_os(SESSION_INBOX).map(PathBuf::from);
        let is_left = socket.is_some_and(|at| self.hook.session.profiles.is_inbox_marked(self.name, &at));
        if is_left {
            self.lock = None;
            self.left = Some((Instant::now() + BRIDGE_MAX, event.cursor));
        }
        is_left
    }

    /// Returns when the bridge has had its time: whether nobody has reacted.
    async fn bridge_had_its_time(&mut self) -> bool {
        let Some((until, cursor)) = self.left else { return std::future::pending().await };
        sleep_until(until).await;
        let lock = lock(&self.hook.session.profiles, self.name).await;
        let is_open = lock.woken().is_none_or(|woken| woken.answered < cursor);
        (self.lock, self.left) = (Some(lock), None);
        is_open
    }
}

/// Waits, and ends the process with the exit code that wakes the tool.
pub(super) fn run(hook: &Hook, name: &str, max_wait: Duration) -> Outcome {
    let _ = block_on_and_leave(async {
        // The tool starts a waiter after every turn: one of each session is enough.
        let Some(_only_one) = hook.shown.reserve_wait() else { return Ok(()) };
        let (mut limits, began) = (Limits::new(hook, max_wait)?, time::now());
        // One at a time per agent and machine: several sessions must not start on the same task.
        let mut turn = tokio::select! {
            turn = Turn::take(hook, name) => turn,
            _ = limits.over() => return Ok(()),
        };
        let news = match wait(&mut turn, &mut limits, &hook.shown.of_others(began)).await {
            Waited::News(news) => news,
            Waited::InVain => return Ok(()),
            Waited::SessionEnded => return withdraw(hook).await,
        };
        if !tell(hook, &news) {
            hook.shown.restore(&news.news, &news.before).await;
            return withdraw(hook).await;
        }
        hook.note_wake(&news.news);
        // A bridge of this agent must not wake the model again for the same. The exit code starts a turn, so the wake is as
        // good as answered.
        if let (Some(lock), Some(cursor)) = (&turn.lock, news.cursor) {
            lock.set_woken(Woken { up_to: cursor, answered: cursor });
        }
        // It must not delay the model for long.
        let _ = timeout(ANSWER_MAX, hook.report(news.news.tasks())).await;
        std::process::exit(WAKE)
    });
    Ok(())
}

/// Says what is new. Returns whether the session that is to hear it was there to read it.
fn tell(hook: &Hook, news: &Arrived) -> bool {
    let mut out = std::io::stderr();
    hook.reader.is_there(&out)
        && writeln!(out, "{}", news.news.line(hook.name(), &Wording::Fixed)).is_ok()
        && hook.reader.is_there(&out)
}

async fn withdraw(hook: &Hook) -> Outcome {
    let _ = timeout(WITHDRAW_MAX, hook.withdraw()).await;
    Ok(())
}

/// News that the session has not been shown.
struct Arrived {
    news: News,
    /// How these items were shown before.
    before: Items,
    /// Up to where the log was read.
    cursor: Option<i64>,
}

/// How a wait ended.
enum Waited {
    News(Arrived),
    /// The time is over, or nothing can arrive.
    InVain,
    /// The session of the tool is over, or the tool ends its hooks.
    SessionEnded,
}

/// What ends a wait without news.
struct Limits<'a> {
    reader: &'a Reader,
    deadline: Instant,
    look_at_reader: Interval,
    signals: Signals,
}

impl<'a> Limits<'a> {
    fn new(hook: &'a Hook, max_wait: Duration) -> Outcome<Self> {
        Ok(Self {
            reader: &hook.reader,
            deadline: Instant::now() + max_wait,
            look_at_reader: interval(READER_EVERY),
            signals: Signals::new()?,
        })
    }

    /// Returns when the wait is over.
    async fn over(&mut self) -> Waited {
        loop {
            tokio::select! {
                _ = self.look_at_reader.tick() => if !self.reader.is_there(std::io::stderr()) {
                    return Waited::SessionEnded;
                },
                _ = self.signals.next() => return Waited::SessionEnded,
                () = sleep_until(self.deadline) => return Waited::InVain,
            }
        }
    }
}

/// Waits for news. Those that other sessions have are not for this one.
async fn wait(turn: &mut Turn<'_>, limits: &mut Limits<'_>, of_others: &Items) -> Waited {
    let hook = turn.hook;
    let (mut renew, mut is_held, mut is_connected) = (interval(RENEW_EVERY), false, false);
    // Without a cursor: what was there before is in the inbox, which is looked at when the stream is connected.
    let mut events = hook.session.client.follow(None);
    loop {
        let followed = tokio::select! {
            followed = events.next() => Some(followed),
            is_open = turn.bridge_had_its_time() => {
                if is_open && let Some(news) = arrived(hook, of_others, events.cursor(), &mut is_held).await {
                    return Waited::News(news);
                }
                None
            }
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
            Some(Ok(Followed::Event(event))) => may_wake(&event) && !turn.leave_to_bridge(&event),
            Some(Ok(Followed::Notice(Notice::Connected { .. }))) => turn.lock.is_some(),
            Some(Ok(Followed::Notice(_))) => false,
            // The key is no longer valid; nothing will arrive.
            Some(Err(_)) => return Waited::InVain,
            None => is_held && turn.lock.is_some(),
        };
        if !is_worth_a_look {
            continue;
        }
        // What arrives after the end of the session is for the next one.
        if !hook.reader.is_there(std::io::stderr()) {
            return Waited::SessionEnded;
        }
        if let Some(news) = arrived(hook, of_others, events.cursor(), &mut is_held).await {
            return Waited::News(news);
        }
    }
}

/// What the session has to be told now, if there is something.
async fn arrived(hook: &Hook, of_others: &Items, cursor: Option<i64>, is_held: &mut bool) -> Option<Arrived> {
    let Ok(Ok((taken, held))) = timeout(LOOK_MAX, look(hook, of_others)).await else { return None };
    *is_held = held;
    let (news, before) = taken.waking();
    (!news.is_empty()).then_some(Arrived { news, before, cursor })
}

/// What is new in the inbox and may wake the model, and whether something was held back.
async fn look(hook: &Hook, of_others: &Items) -> Outcome<(Taken, bool)> {
    let _ = hook.report(Vec::new()).await;
    let inbox = news::inbox(&hook.session.client).await?;
    let mut unseen = hook.shown.unseen(&inbox);
    unseen.retain(|item| is_new(of_others, item));
    let (candidates, is_held) = hook.waking(unseen).await?;
    Ok((hook.shown.take(candidates, &inbox).await, is_held))
}

fn may_wake(event: &StreamEvent) -> bool {
    matches!(event.kind, EventType::Logged(kind) if kind.subject().is_for_inbox())
}
