//! Fills a database with tasks through the hub's use cases, without HTTP, while no hub runs on it.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use anyhow::Context as _;
use tandem_app::tasks::{self, Change, Defaults, NewTask};
use tandem_app::{Error, keys};
use tandem_core::text::{Body, ContextId};
use tandem_core::{AgentId, IdSource, Now, Status, Timestamp};
use tandem_store::{Database, Options, Store, Tx};

use super::progress::Progress;
use super::workload::{Agent, Known, pairs, scattered, text};

/// How many tasks share a transaction: far more than a hub would, because nobody waits.
const JOB: u64 = 500;
/// How many such jobs are under way.
const JOBS: usize = 4;
/// One task in so many is still open, as on a hub that has been used for a while.
const LIVE_EVERY: u64 = 19;
/// How many of the stored tasks are remembered, to be read.
const SAMPLE: u64 = 10_000;
/// Over how much time the tasks are spread.
const MADE_WITHIN_MS: u64 = 600_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// As in a hub that has been used for a while: most have ended, and none has a deadline.
    Old,
    /// All open, with a deadline tomorrow.
    Waiting,
    /// Ended, of one pair, as parts of a conversation of A2A.
    Conversation { pair: usize },
}

impl Kind {
    fn defaults(self) -> Defaults {
        let ttl_seconds = (self == Self::Waiting).then_some(86_400);
        Defaults { ttl_seconds, check_in_seconds: Some(0), max_messages: 200 }
    }
}

/// The time now.
#[expect(clippy::disallowed_methods, reason = "nobody hands the bench a clock")]
pub(super) fn wall_clock() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}

/// What every job needs.
struct Scene {
    agents: Vec<AgentId>,
    pairs: Vec<(usize, usize)>,
    ids: Arc<IdSource>,
    begin: Timestamp,
    count: u64,
    kind: Kind,
}

/// Stores `count` tasks between the agents and returns a sample of them.
pub(super) async fn fill(
    database: Database,
    agents: &[Agent],
    count: u64,
    kind: Kind,
    progress: &Progress,
) -> anyhow::Result<Vec<Known>> {
    let now = wall_clock();
    // With more than one writer, jobs of this size would conflict with each other.
    let options = Options { writers: 1, ..Options::default() };
    let opened = tokio::task::spawn_blocking(move || Store::open(&database, &options, now.0));
    let store = opened.await?.context("cannot open the database to fill it")?;
    let ids: Result<Vec<AgentId>, _> = agents.iter().map(|agent| agent.id.parse()).collect();
    let scene = Arc::new(Scene {
        agents: ids?,
        pairs: pairs(agents.len()),
        ids: Arc::new(IdSource::new(keys::fill_random)),
        begin: now.plus_ms(-i64::try_from(MADE_WITHIN_MS)?),
        count,
        kind,
    });
    let mut work = progress.work(&format!("storing {count} tasks"), count);
    let mut sample = Vec::new();
    let mut running = VecDeque::new();
    let store = Arc::new(store);
    let mut from = 0;
    while from < count || !running.is_empty() {
        if from < count && running.len() < JOBS {
            let range = from..(from + JOB).min(count);
            from = range.end;
            let (scene, store) = (Arc::clone(&scene), Arc::clone(&store));
            running.push_back(tokio::spawn(async move {
                let units = range.end - range.start;
                let known = store.write(move |tx| make(tx, &scene, range.clone())).await;
                known.map(|known| (units, known))
            }));
        } else if let Some(job) = running.pop_front() {
            let (units, known) = job.await?.context("cannot store tasks")?;
            work.advance(units);
            sample.extend(known);
        }
    }
    // Closing waits for the threads and copies the write-ahead log back.
    tokio::task::spawn_blocking(move || drop(store)).await?;
    Ok(sample)
}

fn make(tx: &mut Tx<'_>, scene: &Scene, range: Range<u64>) -> Result<Vec<Known>, Error> {
    let unfit = |what| move |_| Error::NotFound(what);
    let description = Body::try_from(text().to_owned()).map_err(unfit("text"))?;
    let cancel = Change { status: Some(Status::Cancelled), ..Change::default() };
    // Odd, so that the sample goes through all pairs.
    let keep_every = (scene.count / SAMPLE) | 1;
    let mut known = Vec::new();
    for number in range {
        let (pair, context) = match scene.kind {
            Kind::Conversation { pair } => (pair, Some("bench".to_owned())),
            Kind::Old | Kind::Waiting => (scattered(number, scene.pairs.len()), None),
        };
        let context = context.map(ContextId::try_from).transpose().map_err(unfit("context"))?;
        let (by, to) = scene.pairs[pair];
        let by = &scene.agents[by];
        let made_at = i64::try_from(MADE_WITHIN_MS * number / scene.count).unwrap_or_default();
        let now = Now::new(scene.begin.plus_ms(made_at), Arc::clone(&scene.ids));
        let target = scene.agents[to].to_string().try_into().map_err(unfit("agent"))?;
        let title = format!("Review the API document {number}").try_into().map_err(unfit("title"))?;
        let new =
            NewTask { description: Some(description.clone()), context, ..NewTask::plain(target, title) };
        let task = tasks::create(tx, by, &new, &scene.kind.defaults(), &now)?;
        let ends = match scene.kind {
            Kind::Old => number % LIVE_EVERY != 0,
            Kind::Waiting => false,
            Kind::Conversation { .. } => true,
        };
        if ends {
            tasks::change(tx, by, &task.id, &cancel, &now)?;
        }
        if number % keep_every == 0 {
            known.push(Known { id: task.id.to_string(), pair });
        }
    }
    Ok(known)
}
