//! Figures for the plots of the dashboard. For people who look on.

use std::collections::BTreeMap;

use tandem_app::figures;
pub use tandem_app::figures::{Figure, Outcomes, Past, STEP_MS};
use tandem_core::{AgentId, TaskId, Timestamp, Verdict};
use tandem_store::{Owner, Tx};

use super::needs::Followed;
use crate::{Caller, Error, HubParts};

/// Steps of a day.
const DAY_STEPS: i64 = 48;
/// Live tasks that are looked at, the oldest, and agents whose outcomes are shown.
const OLDEST_MAX: i64 = 200;
const PEERS_MAX: usize = 10;

/// A figure of the last day in steps, oldest first; the last step is not over. `None` where no hub ran.
#[derive(Debug, Clone, Default)]
pub struct Series {
    pub from: Timestamp,
    pub values: Vec<Option<i64>>,
}

impl Series {
    #[must_use]
    pub fn total(&self) -> i64 {
        self.values.iter().flatten().sum()
    }
}

/// Figures of the caller over the last day.
pub async fn of_agent<const N: usize>(
    hub: &HubParts,
    caller: &Caller,
    wanted: [Figure; N],
) -> Result<[Series; N], Error> {
    let (of, from) = (caller.agent.clone(), day(hub));
    let stored = hub.read(caller, move |tx, _| read(tx, Some(&of), wanted, from)).await?;
    Ok(series(hub, Some(&caller.agent), wanted, stored, from))
}

/// Figures of the hub over the last day, for the operator.
pub async fn of_hub<const N: usize>(hub: &HubParts, wanted: [Figure; N]) -> Result<[Series; N], Error> {
    let from = day(hub);
    let stored = hub.read_for(Owner::Hub, move |tx, _| read(tx, None, wanted, from)).await?;
    Ok(series(hub, None, wanted, stored, from))
}

/// The beginning of the last day.
fn day(hub: &HubParts) -> Timestamp {
    figures::step(hub.time()).plus_ms(-(DAY_STEPS - 1) * STEP_MS)
}

type Stored<const N: usize> = (BTreeMap<Timestamp, i64>, [BTreeMap<Timestamp, i64>; N]);

fn read<const N: usize>(
    tx: &mut Tx<'_>,
    of: Option<&AgentId>,
    wanted: [Figure; N],
    from: Timestamp,
) -> Result<Stored<N>, tandem_app::Error> {
    let minutes = figures::since(tx, None, Figure::Minutes, from)?;
    let mut found = std::array::from_fn(|_| BTreeMap::new());
    for (place, figure) in found.iter_mut().zip(wanted) {
        *place = figures::since(tx, of, figure, from)?;
    }
    Ok((minutes, found))
}

/// What is stored, with what this node has counted since. A step is known if a hub ran in it, and the present one always.
fn series<const N: usize>(
    hub: &HubParts,
    of: Option<&AgentId>,
    wanted: [Figure; N],
    (minutes, stored): Stored<N>,
    from: Timestamp,
) -> [Series; N] {
    let mut stored = stored.into_iter();
    wanted.map(|figure| {
        let mut counts = stored.next().unwrap_or_default();
        let last = from.plus_ms((DAY_STEPS - 1) * STEP_MS);
        let unwritten = hub.plot_counts.unwritten(of, figure);
        if unwritten > 0 {
            *counts.entry(last).or_default() += unwritten;
        }
        let value = |number: i64| {
            let at = from.plus_ms(number * STEP_MS);
            let count = counts.get(&at).copied();
            match count {
                Some(count) => Some(count),
                None => (at == last || minutes.contains_key(&at)).then_some(0),
            }
        };
        Series { from, values: (0..DAY_STEPS).map(value).collect() }
    })
}

/// The caller's oldest live tasks.
pub async fn oldest(hub: &HubParts, caller: &Caller) -> Result<Vec<Followed>, Error> {
    let by = caller.agent.clone();
    let found = hub.read_page(caller, move |tx, _| figures::oldest(tx, &by, OLDEST_MAX)).await?;
    Ok(found.into_iter().map(|task| Followed::new(task, &caller.agent)).collect())
}

/// When requests at the caller's gate were decided, and when they came; the newest first.
pub async fn waits(
    hub: &HubParts,
    caller: &Caller,
    since: Timestamp,
) -> Result<Vec<(Timestamp, Option<Timestamp>, Verdict)>, Error> {
    let by = caller.agent.clone();
    hub.read(caller, move |tx, _| figures::waits(tx, &by, since)).await
}

/// What became of the caller's tasks since a time, by their targets.
pub async fn outcomes(hub: &HubParts, caller: &Caller, since: Timestamp) -> Result<Vec<Outcomes>, Error> {
    let by = caller.agent.clone();
    hub.read(caller, move |tx, _| figures::outcomes(tx, &by, since, PEERS_MAX)).await
}

/// The past of some of the caller's tasks.
pub async fn pasts(
    hub: &HubParts,
    caller: &Caller,
    ids: Vec<TaskId>,
) -> Result<BTreeMap<TaskId, Past>, Error> {
    let by = caller.agent.clone();
    hub.read(caller, move |tx, _| figures::pasts(tx, Some(&by), &ids)).await
}

/// The past of any tasks, for the operator: when they moved, and nothing of what they say.
pub async fn pasts_for_operator(hub: &HubParts, ids: Vec<TaskId>) -> Result<BTreeMap<TaskId, Past>, Error> {
    hub.read_for(Owner::Hub, move |tx, _| figures::pasts(tx, None, &ids)).await
}
