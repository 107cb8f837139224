//! The queue behind webhooks, without anybody who serves it.

use std::sync::Arc;

use rstest::rstest;
use tandem_app::Error;
use tandem_app::agents::{self, NewAgent};
use tandem_app::webhooks::{self, Attempt, Claim};
use tandem_core::events::EventKind;
use tandem_core::webhooks::State;
use tandem_core::{AgentId, IdSource, Now, Timestamp};
use tandem_store::events::{self, NewEvent};
use tandem_store::webhooks::Delivery;
use tandem_store::{Database, Options, Store, Tx};

use crate::harness::{Db, Place};

/// An agent with a webhook and a delivery that is due, and no hub that would try it.
struct Workshop {
    store: Store,
    ids: Arc<IdSource>,
    agent: AgentId,
}

impl Workshop {
    async fn open(place: &Place) -> Self {
        let database = match &place.database {
            Some(url) => Database::Postgres(url.clone()),
            None => Database::Sqlite(place.folder.join("tandem.db")),
        };
        let opened = tokio::task::spawn_blocking(move || Store::open(&database, &Options::default(), 0));
        let mut shop = Self {
            store: opened.await.unwrap().unwrap(),
            ids: Arc::new(IdSource::new(tandem_app::keys::fill_random)),
            agent: "agent_x".parse().unwrap(),
        };
        let new = NewAgent::plain("Bob".to_owned().try_into().unwrap(), [7; 32]);
        shop.agent = shop.at(0, move |tx, _, now| agents::register(tx, &new, now)).await.id;
        shop.point(Some("http://127.0.0.1:1/")).await;
        shop.at(0, webhooks::ping).await;
        shop
    }

    async fn at<T: Send + 'static>(
        &self,
        second: i64,
        act: impl Fn(&mut Tx<'_>, &AgentId, &Now) -> Result<T, Error> + Send + 'static,
    ) -> T {
        let (agent, now) = (self.agent.clone(), Now::new(Timestamp(second * 1_000), Arc::clone(&self.ids)));
        self.store.write(move |tx| act(tx, &agent, &now)).await.unwrap()
    }

    async fn point(&self, url: Option<&'static str>) {
        let change = webhooks::Change { url: Some(url.map(Into::into)), ..webhooks::Change::default() };
        self.at(0, move |tx, agent, _| webhooks::change(tx, agent, &change)).await;
    }

    async fn take(&self, second: i64, holder: &'static str) -> Vec<Delivery> {
        match self.at(second, |tx, agent, now| webhooks::claim(tx, agent, holder, 8, now)).await {
            Claim::Batch(batch) => batch.deliveries,
            Claim::Off | Claim::Idle | Claim::More => Vec::new(),
        }
    }

    /// Attempts that ended like this.
    fn tried(deliveries: Vec<Delivery>, outcome: Result<(u16, String), String>) -> Vec<Attempt> {
        let attempt = |delivery| Attempt { delivery, outcome: outcome.clone(), took_ms: 1, jitter: 0.5 };
        deliveries.into_iter().map(attempt).collect()
    }

    async fn record(&self, second: i64, holder: &'static str, tried: Vec<Attempt>) {
        self.at(second, move |tx, agent, now| {
            webhooks::record(tx, agent, holder, "http://127.0.0.1:1/", &tried, now)
        })
        .await;
    }

    /// The first delivery's status and attempts.
    async fn first(&self) -> (State, i64) {
        let list = self.at(0, |tx, agent, _| webhooks::list(tx, agent, None, 9)).await;
        let first = list.items.last().unwrap();
        (first.state, first.attempts)
    }

    async fn is_behind(&self, second: i64) -> bool {
        let behind = self.at(second, |tx, _, now| webhooks::behind_agents(tx, "", now, 9)).await;
        assert!(behind.len() <= 1);
        behind == [self.agent.clone()]
    }

    /// Appends an event to the agent's log.
    async fn event(&self, task: Option<&'static str>) {
        self.at(1, move |tx, agent, now| {
            let task = task.map(|task| task.parse().unwrap());
            let event = NewEvent {
                kind: EventKind::TaskUpdated,
                task: task.as_ref(),
                message: None,
                from: None,
                data: "{}".into(),
                at: now.at,
            };
            Ok(events::append(tx, agent, &[event]).map(drop)?)
        })
        .await;
    }

    async fn is_due(&self, second: i64) -> bool {
        let due = self.at(second, |tx, _, now| webhooks::due_agents(tx, None, now, 9)).await;
        due.into_iter().map(|(_, agent)| agent).collect::<Vec<_>>() == [self.agent.clone()]
    }
}

#[rstest]
#[tokio::test]
async fn what_a_lost_worker_had_is_due_again(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let shop = Workshop::open(&place).await;
    assert!(shop.is_due(1).await);
    assert_eq!(shop.take(1, "one").await.len(), 1);
    assert!(!shop.is_due(30).await, "somebody has it");
    assert_eq!(shop.take(30, "two").await.len(), 0, "its holder may be alive");
    assert!(shop.is_due(31).await, "whoever had it did not come back");
    assert_eq!(shop.take(31, "two").await.len(), 1);
    // The first one was only late. It does not give back what is no longer its own.
    shop.at(32, |tx, agent, now| webhooks::record(tx, agent, "one", "x", &[], now)).await;
    assert_eq!(shop.take(33, "one").await.len(), 0);
    assert_eq!(shop.take(33, "two").await.len(), 1, "a holder that starts again goes on at once");
    tokio::task::spawn_blocking(move || drop(shop)).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn what_was_given_up_during_a_try_stays_so(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let shop = Workshop::open(&place).await;
    let tried = Workshop::tried(shop.take(1, "one").await, Err("no answer".into()));
    shop.point(None).await;
    shop.record(2, "one", tried).await;
    assert!(!shop.at(2, |tx, agent, _| webhooks::is_active(tx, agent)).await);
    assert!(!shop.is_due(100_000).await);
    shop.point(Some("http://127.0.0.1:2/")).await;
    assert_eq!(shop.take(100_000, "one").await.len(), 0, "a new address gets nothing of the old one's");
    tokio::task::spawn_blocking(move || drop(shop)).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn a_replay_during_an_attempt_is_sent_again(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let shop = Workshop::open(&place).await;
    let taken = shop.take(1, "one").await;
    let id = taken[0].id.clone();
    // The receiver has the first one, and its answer is on the way.
    shop.at(1, move |tx, agent, now| webhooks::replay(tx, agent, &id, now)).await;
    shop.record(2, "one", Workshop::tried(taken, Ok((200, String::new())))).await;
    assert_eq!(shop.first().await, (State::Pending, 0), "the answer was to the first one");
    assert!(shop.is_due(2).await);
    let again = shop.take(2, "one").await;
    assert_eq!(again.len(), 1);
    shop.record(3, "one", Workshop::tried(again, Ok((200, String::new())))).await;
    assert_eq!(shop.first().await, (State::Delivered, 1));
    tokio::task::spawn_blocking(move || drop(shop)).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn an_attempt_without_a_result_counts_and_its_late_result_is_kept(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(true, false)] late_success: bool,
) {
    let place = Place::new(db);
    let shop = Workshop::open(&place).await;
    let first = shop.take(1, "one").await;
    let second = shop.take(31, "two").await;
    assert_eq!(second[0].attempts, 1, "it may have been sent");
    let outcome = if late_success { Ok((200, String::new())) } else { Err("no answer".into()) };
    shop.record(32, "one", Workshop::tried(first, outcome)).await;
    let expected = if late_success { State::Delivered } else { State::Pending };
    assert_eq!(shop.first().await, (expected, 1), "a late failure says nothing");
    assert_eq!(shop.take(33, "one").await.len(), 0, "the lease is the other one's");
    shop.record(34, "two", Workshop::tried(second, Ok((200, String::new())))).await;
    assert_eq!(shop.first().await, (State::Delivered, 2));
    assert!(!shop.is_due(100_000).await);
    tokio::task::spawn_blocking(move || drop(shop)).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn the_work_list_has_who_is_behind(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let shop = Workshop::open(&place).await;
    let ping = shop.take(1, "one").await;
    shop.record(1, "one", Workshop::tried(ping, Ok((200, String::new())))).await;
    assert!(!shop.is_behind(2).await, "a ping is no event");
    shop.event(None).await;
    assert!(shop.is_behind(2).await);
    let taken = shop.take(2, "one").await;
    assert_eq!(taken.len(), 1);
    assert!(!shop.is_behind(3).await, "somebody has it");
    assert!(shop.is_due(40).await, "whoever had it did not come back");
    shop.record(3, "one", Workshop::tried(taken, Ok((200, String::new())))).await;
    assert_eq!(shop.take(4, "one").await.len(), 0);
    assert!(!shop.is_behind(5).await, "all is delivered");

    // Events that are gone do not count.
    shop.event(Some("task_gone")).await;
    assert!(shop.is_behind(6).await);
    shop.at(6, |tx, _, _| Ok(events::purge_task(tx, &"task_gone".parse().unwrap())?)).await;
    assert_eq!(shop.take(6, "one").await.len(), 0);
    assert!(!shop.is_behind(7).await);

    // Without a webhook there is nothing to do.
    shop.event(None).await;
    shop.point(None).await;
    assert!(!shop.is_behind(8).await);
    shop.point(Some("http://127.0.0.1:2/")).await;
    assert!(!shop.is_behind(9).await, "a new one begins with the next event");
    shop.event(None).await;
    assert!(shop.is_behind(10).await);
    tokio::task::spawn_blocking(move || drop(shop)).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn a_webhook_of_an_older_version_gets_into_the_work_list(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let shop = Workshop::open(&place).await;
    // As a version without a work list leaves it.
    shop.at(1, |tx, agent, _| Ok(tandem_store::webhooks::list_at(tx, agent, None)?)).await;
    shop.event(None).await;
    assert!(!shop.is_behind(1).await);
    shop.at(1, |tx, agent, _| webhooks::list_missing(tx, "", agent)).await;
    assert!(shop.is_behind(1).await);
    tokio::task::spawn_blocking(move || drop(shop)).await.unwrap();
}
