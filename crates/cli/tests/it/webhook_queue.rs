//! The queue behind webhooks, without anybody who serves it.

use std::sync::Arc;

use rstest::rstest;
use tandem_app::Error;
use tandem_app::agents::{self, NewAgent};
use tandem_app::webhooks::{self, Attempt, Claim};
use tandem_core::{AgentId, IdSource, Now, Timestamp};
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
        let new = NewAgent {
            name: "Bob".to_owned().try_into().unwrap(),
            description: None,
            capabilities: Default::default(),
            metadata: None,
            public_key: None,
            key_hash: [7; 32],
            solved: None,
            credits_micro: 0,
        };
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
    let tried: Vec<Attempt> = shop
        .take(1, "one")
        .await
        .into_iter()
        .map(|delivery| Attempt { delivery, outcome: Err("no answer".into()), took_ms: 1, jitter: 0.5 })
        .collect();
    shop.point(None).await;
    shop.at(2, move |tx, agent, now| webhooks::record(tx, agent, "one", "x", &tried, now)).await;
    assert!(!shop.at(2, |tx, agent, _| webhooks::is_active(tx, agent)).await);
    assert!(!shop.is_due(100_000).await);
    shop.point(Some("http://127.0.0.1:2/")).await;
    assert_eq!(shop.take(100_000, "one").await.len(), 0, "a new address gets nothing of the old one's");
    tokio::task::spawn_blocking(move || drop(shop)).await.unwrap();
}
