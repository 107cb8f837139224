//! The turn of a remote: its card if that is due, else some of its tasks, all at the same time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tandem_app::Error;
use tandem_app::keys::random_hex;
use tandem_app::remotes::{self, Batch, Claim, PushSecret};
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::card::{self, ReadCard};
use super::perform::Performer;
use super::queue::{Turn, TurnEnd};
use super::streams::StreamJob;
use crate::Hub;

/// Tasks of one turn.
const TASKS_MAX: i64 = 4;
/// A remote that takes longer is slow.
const QUICK_MAX: Duration = Duration::from_millis(500);
/// Time from the claim until the requests have to start. A process that was suspended for longer sends nothing.
const START_MAX: Duration = Duration::from_secs(5);
/// Time from the claim until the last request has to end: before the lease does, so that clocks that differ a little let no other
/// node repeat it.
const END_MAX: Duration = Duration::from_secs(50);
/// How often a result is written before it is given up and the request repeated.
const RECORD_TRIES: usize = 5;
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// Gives a remote its turn.
pub(super) async fn serve(hub: Hub, mut turn: Turn, opened: mpsc::Sender<StreamJob>) {
    match serve_turn(&hub, &mut turn, opened).await {
        Ok(end) => turn.end = end,
        Err(error) => {
            let agent = turn.agent.as_str();
            tracing::warn!(%error, agent, "could not serve a remote agent; trying again");
        }
    }
}

async fn serve_turn(hub: &Hub, turn: &mut Turn, opened: mpsc::Sender<StreamJob>) -> Result<TurnEnd, Error> {
    let claimed_at = Instant::now();
    let (of, holder) = (turn.agent.clone(), hub.webhooks.holder.clone());
    let secrets: Vec<PushSecret> = match hub.config.public_address() {
        Some(_) => (0..TASKS_MAX).map(|_| new_secret()).collect(),
        None => Vec::new(),
    };
    let claimed =
        hub.db.write(move |tx, now| remotes::claim(tx, &of, &holder, (TASKS_MAX, secrets.as_slice()), now));
    let batch = match claimed.await? {
        Claim::Off => return Ok(TurnEnd::Off),
        Claim::Idle => return Ok(TurnEnd::Idle),
        Claim::More => return Ok(TurnEnd::More),
        Claim::Batch(batch) => *batch,
    };
    if claimed_at.elapsed() <= START_MAX {
        let mut work = std::pin::pin!(do_batch(hub, batch, claimed_at + END_MAX, opened));
        tokio::select! {
            () = &mut work => turn.was_slow = Some(false),
            () = sleep(QUICK_MAX) => {
                turn.linger();
                turn.was_slow = Some(true);
                work.await;
            }
        }
    }
    let (of, holder) = (turn.agent.clone(), hub.webhooks.holder.clone());
    recorded(|| {
        let (of, holder) = (of.clone(), holder.clone());
        hub.db.write(move |tx, now| remotes::give_back(tx, &of, &holder, now))
    })
    .await?;
    Ok(TurnEnd::More)
}

fn new_secret() -> PushSecret {
    PushSecret { path: random_hex::<24>(), token: random_hex::<24>() }
}

async fn do_batch(hub: &Hub, batch: Batch, end_by: Instant, opened: mpsc::Sender<StreamJob>) {
    if batch.reads_card {
        let remote = &batch.remote;
        let base = hub.config.address_for(None);
        let read = card::read(hub, &remote.owner, &remote.terms, remote.card.pinned.as_deref(), &base).await;
        let (agent, version, ReadCard(reading)) = (remote.agent.clone(), remote.version, read.into());
        let reading = Arc::new(reading);
        let written = recorded(|| {
            let (agent, reading) = (agent.clone(), Arc::clone(&reading));
            hub.db.write(move |tx, now| remotes::record_card(tx, &agent, version, &reading, now))
        });
        if let Err(error) = written.await {
            tracing::warn!(%error, agent = agent.as_str(), "could not record the card of a remote agent");
        }
        return;
    }
    let performer = &Performer::new(hub, &batch, end_by, opened);
    let mut all: FuturesUnordered<_> = batch.work.into_iter().map(|work| performer.perform(work)).collect();
    while all.next().await.is_some() {}
}

/// Writes what came of a request, more than once if the store cannot be reached.
pub(super) async fn recorded<T, F: Future<Output = Result<T, Error>>>(
    write: impl Fn() -> F,
) -> Result<T, Error> {
    for _ in 1..RECORD_TRIES {
        match write().await {
            Err(Error::Store(error)) => {
                tracing::warn!(%error, "could not record what a remote agent answered; trying again");
                sleep(STORE_PAUSE).await;
            }
            other => return other,
        }
    }
    write().await
}
