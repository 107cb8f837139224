//! What a session of a tool was shown already. One small file per session, in the state folder of the profile.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use tandem_api::inbox::{InboxItem, InboxKind, InboxView};
use tandem_core::Timestamp;
use tandem_disk::read_regular;

use super::News;
use crate::profiles::{create_private, try_lock, write_secret};

/// Sessions that are remembered; the oldest is forgotten first.
const SESSIONS_MAX: usize = 64;
/// Items of one session that are remembered.
const ITEMS_MAX: usize = 1_000;
/// More than so many items need.
const BYTES_MAX: u64 = 1024 * 1024;
/// How often, and how many times, the lock is tried.
const LOCK_EVERY: Duration = Duration::from_millis(20);
const LOCK_TRIES: usize = 10;
/// Waiters of so many sessions can be there at the same time.
const WAITERS_MAX: u64 = 256;
/// How often the rung is reported. A report holds for ten minutes.
const REPORT_EVERY: Duration = Duration::from_secs(4 * 60);

/// The memory of one session.
pub(super) struct Shown {
    folder: PathBuf,
    file: PathBuf,
    session: u64,
}

/// What a session is shown now.
pub(super) struct Taken {
    pub(super) news: News,
    /// Whether the session will remember it. Otherwise it is told again, so it must not start a turn: the turns would have no
    /// end.
    is_remembered: bool,
    /// How these items were shown before, for the case that nobody reads this.
    pub(super) before: Items,
}

impl Taken {
    /// What may start a turn of the model, and what was shown before.
    pub(super) fn waking(self) -> (News, Items) {
        if self.is_remembered { (self.news, self.before) } else { (News::default(), Items::new()) }
    }
}

/// The items by kind and id, each with the state in which it was shown.
pub(super) type Items = BTreeMap<String, State>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    since: i64,
    unread: i64,
}

impl Shown {
    /// The memory of a session; an empty id is a session of its own.
    pub(super) fn at(profile_folder: &Path, session: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        session.hash(&mut hasher);
        let folder = profile_folder.join("hook");
        let session = hasher.finish();
        let file = folder.join(format!("{session:016x}.json"));
        Self { folder, file, session }
    }

    /// Takes the right to wait for this session, until the file is closed; `None` if another process has it. There is a
    /// limited number of such files, so two sessions can share one; then only one of them waits.
    pub(super) fn reserve_wait(&self) -> Option<File> {
        try_lock(&self.folder.join(format!("wait-{}", self.session % WAITERS_MAX))).ok().flatten()
    }

    /// What other sessions were shown since a time.
    pub(super) fn of_others(&self, since: Timestamp) -> Items {
        let since = SystemTime::UNIX_EPOCH + Duration::from_millis(since.0.unsigned_abs());
        let is_later = |file: &PathBuf| {
            fs::metadata(file).and_then(|about| about.modified()).is_ok_and(|modified| modified >= since)
        };
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let others = entries.filter(|file| is_memory(file) && *file != self.file && is_later(file));
        let mut items = Items::new();
        for (key, state) in others.take(SESSIONS_MAX).flat_map(|file| read(&file)) {
            let known = items.entry(key).or_insert(state);
            if (state.since, state.unread) > (known.since, known.unread) {
                *known = state;
            }
        }
        items
    }

    /// What the session has not been shown.
    pub(super) fn unseen(&self, inbox: &InboxView) -> Vec<InboxItem> {
        let items = self.read();
        inbox.items.iter().filter(|item| is_new(&items, item)).cloned().collect()
    }

    /// What of the candidates the session has still not been shown; from now on it has. What has left the inbox is
    /// forgotten, so that a task that comes again is news again.
    pub(super) async fn take(&self, candidates: Vec<InboxItem>, inbox: &InboxView) -> Taken {
        let there: BTreeSet<String> = inbox.items.iter().map(key).collect();
        let is_gone = |key: &String| !inbox.has_more && !there.contains(key);
        // Most hooks end here: nothing is new, and there is nothing to forget.
        if candidates.is_empty() && !self.read().keys().any(is_gone) {
            return Taken { news: News::default(), is_remembered: true, before: Items::new() };
        }
        let _held = self.lock().await;
        let mut items = self.read();
        let before = items.clone();
        let news: Vec<InboxItem> = candidates.into_iter().filter(|item| is_new(&items, item)).collect();
        items.retain(|key, _| !is_gone(key));
        items.extend(news.iter().map(|item| (key(item), state(item))));
        while items.len() > ITEMS_MAX {
            items.pop_first();
        }
        let is_remembered = items == before || self.write(&items);
        let before = news.iter().map(key).filter_map(|key| Some((key.clone(), *before.get(&key)?)));
        Taken { before: before.collect(), news: News(news), is_remembered }
    }

    /// Forgets that the session was shown news, because nobody has read them.
    pub(super) async fn restore(&self, news: &News, before: &Items) {
        let _held = self.lock().await;
        let mut items = self.read();
        for item in &news.0 {
            match before.get(&key(item)) {
                Some(state) => items.insert(key(item), *state),
                None => items.remove(&key(item)),
            };
        }
        let _ = self.write(&items);
    }

    /// Two hooks of one session can run at the same time. Each needs the lock for a moment only; one that was stopped
    /// while it had the lock does not keep the others waiting.
    async fn lock(&self) -> Option<File> {
        let path = self.folder.join("lock");
        for _ in 0..LOCK_TRIES {
            if let Some(lock) = try_lock(&path).ok()? {
                return Some(lock);
            }
            tokio::time::sleep(LOCK_EVERY).await;
        }
        None
    }

    fn read(&self) -> Items {
        read(&self.file)
    }

    /// Returns whether it was written.
    fn write(&self, items: &Items) -> bool {
        if !self.file.exists() {
            self.forget_oldest();
        }
        serde_json::to_string(items).is_ok_and(|json| write_secret(&self.file, &json).is_ok())
    }

    fn forget_oldest(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .flatten()
            .filter(|entry| is_memory(&entry.path()))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort();
        let excess = (files.len() + 1).saturating_sub(SESSIONS_MAX);
        for (_, file) in files.into_iter().take(excess) {
            let _ = fs::remove_file(file);
        }
    }

    /// Whether the hub should hear again that the agent has hooks.
    pub(super) fn is_report_due(&self) -> bool {
        let reported = fs::metadata(self.report_file()).and_then(|file| file.modified());
        // A time in the future is a clock that was set back.
        !reported.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < REPORT_EVERY))
    }

    /// Remembers that the hub was told.
    pub(super) fn reported(&self) {
        let _ = create_private(&self.folder).and_then(|()| fs::write(self.report_file(), ""));
    }

    /// Notes that what the hub was told is no longer so.
    pub(super) fn forget_report(&self) {
        let _ = fs::remove_file(self.report_file());
    }

    fn report_file(&self) -> PathBuf {
        self.folder.join("reported")
    }
}

/// What a file remembers; nothing if it cannot be read.
fn read(file: &Path) -> Items {
    let bytes = read_regular(file, BYTES_MAX).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn is_memory(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "json")
}

fn key(item: &InboxItem) -> String {
    let (kind, id) = match item.kind {
        InboxKind::Task => ("task", item.task_id.as_ref().map(ToString::to_string)),
        InboxKind::Approval => ("approval", item.task_id.as_ref().map(ToString::to_string)),
        InboxKind::Messages => ("messages", item.task_id.as_ref().map(ToString::to_string)),
        InboxKind::Broadcast => ("broadcast", item.message_id.as_ref().map(ToString::to_string)),
    };
    format!("{kind} {}", id.unwrap_or_default())
}

fn state(item: &InboxItem) -> State {
    State { since: item.created_at.0, unread: item.unread_count }
}

/// Whether it was not shown, or has more unread messages than when it was.
pub(super) fn is_new(shown: &Items, item: &InboxItem) -> bool {
    match shown.get(&key(item)) {
        Some(before) if item.kind == InboxKind::Messages => {
            before.since != item.created_at.0 || before.unread < item.unread_count
        }
        Some(_) => false,
        None => true,
    }
}
