//! Receivers take turns: none delays another, and a failure of the hub delays a delivery, but never loses it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rstest::rstest;
use serde_json::json;
use tandem_app::agents::{self, NewAgent};
use tandem_app::tasks::{self, Defaults, NewTask};
use tandem_app::{keys, webhooks};
use tandem_core::{AgentId, Now};
use tandem_store::{Database, Options, Store, Tx};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::crash::agent;
use crate::harness::{Agent, Db, Harness, Place, eventually};
use crate::serve::{Process, command};
use crate::webhooks::{Receiver, Reply, deliveries, start};

/// A receiver that takes requests and answers late, or never. It counts its connections.
#[derive(Debug, Clone)]
struct Late {
    address: SocketAddr,
    open: Arc<AtomicUsize>,
    open_max: Arc<AtomicUsize>,
    served: Arc<AtomicUsize>,
}

impl Late {
    async fn start(answer_after: Option<Duration>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let late = Self {
            address: listener.local_addr().unwrap(),
            open: Arc::default(),
            open_max: Arc::default(),
            served: Arc::default(),
        };
        let counted = late.clone();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let late = counted.clone();
                tokio::spawn(async move {
                    let open = late.open.fetch_add(1, Ordering::SeqCst) + 1;
                    late.open_max.fetch_max(open, Ordering::SeqCst);
                    let mut request = [0; 16 * 1024];
                    let _ = stream.read(&mut request).await;
                    if let Some(pause) = answer_after {
                        tokio::time::sleep(pause).await;
                        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
                    }
                    late.served.fetch_add(1, Ordering::SeqCst);
                    // Until the hub hangs up.
                    let _ = stream.read(&mut request).await;
                    late.open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        late
    }
}

const RECEIVERS_PER_JOB: usize = 20;

/// Registers agents with this receiver, each with some deliveries that are due.
async fn add_receivers(hub: &Harness, address: SocketAddr, count: usize, due: usize) {
    // In small jobs: on a busy machine one with all of them would take longer than a job may.
    for _ in 0..count.div_ceil(RECEIVERS_PER_JOB) {
        add_some_receivers(hub, address, RECEIVERS_PER_JOB, due).await;
    }
}

async fn add_some_receivers(hub: &Harness, address: SocketAddr, count: usize, due: usize) {
    let url = format!("http://{address}/");
    let add = move |tx: &mut tandem_store::Tx<'_>, now: &tandem_core::Now| {
        for _ in 0..count {
            let new = NewAgent::plain(
                "Late".to_owned().try_into().unwrap(),
                keys::sha256(keys::new_api_key().as_bytes()),
            );
            let agent = agents::register(tx, &new, now)?;
            let change = webhooks::Change { url: Some(Some(url.clone())), ..webhooks::Change::default() };
            webhooks::change(tx, &agent.id, &change)?;
            for _ in 0..due {
                webhooks::ping(tx, &agent.id, now)?;
            }
        }
        Ok(())
    };
    hub.hub.db.write(add).await.unwrap();
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_late_receivers_delay_nobody(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(None, Some(Duration::from_secs(4)))] answer_after: Option<Duration>,
) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    bob.patch("/agents/me", json!({ "webhookUrl": receiver.url() })).await.ok(200);
    let late = Late::start(answer_after).await;
    add_receivers(&hub, late.address, 300, 20).await;
    eventually(async || (late.open.load(Ordering::SeqCst) >= 64).then_some(())).await;
    // One that is known to be quick, and one that nothing is known of.
    for number in 1..=5 {
        ada.task(&bob).await;
        receiver.wait_for(number).await;
    }
    let cy = hub.agent("Cy").await;
    let other = Receiver::start(&[Reply::Status(200)]).await;
    cy.patch("/agents/me", json!({ "webhookUrl": other.url() })).await.ok(200);
    cy.post_empty("/webhooks/ping").await.ok(201);
    other.wait_for(1).await;
    let open_max = late.open_max.load(Ordering::SeqCst);
    assert!(open_max <= 128 + 128 + 64, "{open_max} connections");
}

#[rstest]
#[tokio::test]
async fn a_failed_turn_is_repeated(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    bob.patch("/agents/me", json!({ "webhookUrl": receiver.url() })).await.ok(200);
    eventually(async || hub_has_no_turns(&hub).await).await;
    hub.place.execute("alter table deliveries rename to deliveries_elsewhere");
    let task = ada.task(&bob).await;
    let failed = Receiver::start(&[Reply::Status(200)]).await;
    // A second agent's turn fails as well, and is repeated on its own.
    let cy = hub.agent("Cy").await;
    ada.pair_with(&cy).await;
    cy.patch("/agents/me", json!({ "webhookUrl": failed.url() })).await.ok(200);
    ada.task(&cy).await;
    hub.timer_has_looked().await;
    hub.place.execute("alter table deliveries_elsewhere rename to deliveries");
    assert_eq!(receiver.wait_for(1).await[0].json()["data"]["taskId"], task.as_str());
    failed.wait_for(1).await;
}

/// Gives something once the hub has served all that was due.
async fn hub_has_no_turns(hub: &Harness) -> Option<()> {
    let due = hub.hub.db.read(|tx, now| webhooks::due_agents(tx, None, now, 9)).await.unwrap();
    due.is_empty().then_some(())
}

#[rstest]
#[tokio::test]
async fn webhooks_that_could_not_be_loaded_are_loaded_later(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(503), Reply::Status(200)]).await;
    bob.patch("/agents/me", json!({ "webhookUrl": receiver.url() })).await.ok(200);
    ada.task(&bob).await;
    eventually(async || (deliveries(&bob).await.first()?["attempts"] == 1).then_some(())).await;
    let (place, clock) = (Arc::clone(&hub.place), Arc::clone(&hub.clock));
    let config = hub.hub.config.clone();
    tokio::task::spawn_blocking(move || drop(hub)).await.unwrap();

    place.execute("alter table agents rename column webhook_active to webhook_elsewhere");
    let hub = Harness::start_at(Arc::clone(&place), config, clock).await;
    hub.advance_ms(6_000);
    hub.timer_has_looked().await;
    place.execute("alter table agents rename column webhook_elsewhere to webhook_active");
    receiver.wait_for(2).await;
}

#[rstest]
#[tokio::test]
async fn a_killed_hub_goes_on_at_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let allowing = || {
        let mut command = command(&place);
        command.args(["--set", "webhook_allow_http=1", "--set", "webhook_allow_private=1"]);
        command
    };
    let hub = Process::start(allowing());
    let (ada, bob) = (agent(&hub.client, "Ada").await, agent(&hub.client, "Bob").await);
    ada.pair_with(&bob).await;
    let receiver = Receiver::start(&[Reply::Hang, Reply::Status(200)]).await;
    bob.patch("/agents/me", json!({ "webhookUrl": receiver.url() })).await.ok(200);
    let task = ada.task(&bob).await;
    receiver.wait_for(1).await;
    hub.signal("KILL");
    hub.end();
    let hub = Process::start(allowing());
    assert_eq!(receiver.wait_for(2).await[1].json()["data"]["taskId"], task.as_str());
    let bob = Agent { client: hub.client.clone(), ..bob };
    eventually(async || (deliveries(&bob).await[0]["status"] == "delivered").then_some(())).await;
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn racing_changes_leave_the_webhook_as_the_profile_says(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    for _ in 0..30 {
        let (on, off) = (json!({ "webhookUrl": receiver.url() }), json!({ "webhookUrl": null }));
        let changes = [bob.patch("/agents/me", off), bob.patch("/agents/me", on)];
        for changed in futures_util::future::join_all(changes).await {
            changed.ok(200);
        }
        if bob.get("/agents/me").await.ok(200)["webhookActive"] == false {
            continue;
        }
        let task = ada.task(&bob).await;
        let arrived = || receiver.got().iter().any(|got| got.json()["data"]["taskId"] == task.as_str());
        eventually(async || arrived().then_some(())).await;
    }
}

type Act = Arc<dyn Fn(&mut Tx<'_>, &Now) -> Result<(), tandem_app::Error> + Send + Sync>;

#[rstest]
#[tokio::test]
async fn a_node_delivers_what_another_one_left_behind_on_postgres() {
    let hub = start(Db::Postgres).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    // The other node commits and is gone before it can do or say anything: it has no effects of commits.
    let database = Database::Postgres(hub.place.database.clone().unwrap());
    let opened = tokio::task::spawn_blocking(move || Store::open(&database, &Options::default(), 0));
    let other = opened.await.unwrap().unwrap();
    let write = async |act: Act| {
        let now = hub.hub.db.now();
        other.write(move |tx| act(tx, &now)).await.unwrap();
    };
    let (by, to, url): (AgentId, AgentId, _) =
        (ada.id.parse().unwrap(), bob.id.parse().unwrap(), receiver.url());
    let agent = to.clone();
    write(Arc::new(move |tx, _| {
        let change = webhooks::Change { url: Some(Some(url.clone())), ..webhooks::Change::default() };
        webhooks::change(tx, &agent, &change)
    }))
    .await;
    let target = bob.id.clone();
    write(Arc::new(move |tx, now| {
        let defaults = Defaults { ttl_seconds: None, check_in_seconds: Some(0), max_messages: 200 };
        let title = "left behind".to_owned().try_into().unwrap();
        let task = NewTask::plain(target.clone().try_into().unwrap(), title);
        tasks::create(tx, &by, &task, &defaults, now).map(drop)
    }))
    .await;
    assert_eq!(receiver.wait_for(1).await[0].json()["event"], "task.created");
    let agent = to.clone();
    write(Arc::new(move |tx, now| webhooks::ping(tx, &agent, now).map(drop))).await;
    assert_eq!(receiver.wait_for(2).await[1].json()["event"], "ping");
    tokio::task::spawn_blocking(move || drop(other)).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn a_replay_of_a_delivery_that_is_being_sent_is_sent(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let (_, bob) = hub.pair().await;
    let late = Late::start(Some(Duration::from_millis(400))).await;
    bob.patch("/agents/me", json!({ "webhookUrl": format!("http://{}/", late.address) })).await.ok(200);
    let ping = bob.post_empty("/webhooks/ping").await;
    let id = ping.text("id");
    eventually(async || (late.open.load(Ordering::SeqCst) == 1).then_some(())).await;
    bob.post_empty(&format!("/webhooks/deliveries/{id}/replay")).await;
    eventually(async || (late.served.load(Ordering::SeqCst) == 2).then_some(())).await;
    eventually(async || (deliveries(&bob).await[0]["status"] == "delivered").then_some(())).await;
}
