//! A key that ends on one node ends on all of them.

use rstest::rstest;
use serde_json::json;

use super::at;
use crate::harness::nats::Nats;
use crate::harness::{ADMIN_TOKEN, Harness, eventually};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Rotated,
    Suspended,
    Deleted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    ByNats,
    NatsAway,
    Without,
}

#[rstest]
#[tokio::test]
async fn an_ended_key_is_taken_nowhere(
    #[values(Ended::Rotated, Ended::Suspended, Ended::Deleted)] ended: Ended,
    #[values(Heard::ByNats, Heard::NatsAway, Heard::Without)] heard: Heard,
) {
    let mut nats = Nats::start();
    let url = if heard == Heard::Without { "none".to_owned() } else { nats.url() };
    let hub = Harness::start_cluster(move |_, config| config.bus = Some(url.clone())).await;
    let ada = hub.agent("Ada").await;
    for node in 0..3 {
        at(&hub, &ada, node).get("/agents/me").await.ok(200);
    }
    let mut socket = at(&hub, &ada, 1).socket("").await;
    if heard == Heard::NatsAway {
        nats.kill();
    }
    let first = at(&hub, &ada, 0);
    match ended {
        Ended::Rotated => drop(first.post_empty("/agents/me/rotate-key").await.ok(200)),
        Ended::Suspended => {
            let path = format!("/admin/agents/{}", ada.id);
            let body = Some(json!({ "suspended": true }));
            first.client.send("PATCH", &path, Some(ADMIN_TOKEN), body).await.ok(200);
        }
        Ended::Deleted => drop(first.delete("/agents/me").await.ok(200)),
    }
    // A node that hears of others would believe what it knows for a minute, longer than this waits.
    for node in 0..3 {
        let agent = at(&hub, &ada, node);
        eventually(async || (agent.get("/agents/me").await.status != 200).then_some(())).await;
    }
    assert_eq!(socket.next().await.unwrap_err().0, 1008);
    drop(nats);
}
