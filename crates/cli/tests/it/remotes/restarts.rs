//! A hub that is killed while tasks for an agent elsewhere wait.

use std::collections::BTreeMap;

use rstest::rstest;
use serde_json::json;

use super::{Elsewhere, send};
use crate::crash::agent;
use crate::harness::{Client, Db, Place, eventually};
use crate::serve::{Process, command};

const TASKS: usize = 500;
/// Requests that one remote gets at the same time.
const AT_ONCE: usize = 4;

fn start(place: &Place) -> Process {
    let mut command = command(place);
    command.args(["--set", "webhook_allow_http=1", "--set", "webhook_allow_private=1"]);
    Process::start(command)
}

fn sent(far: &Elsewhere) -> BTreeMap<String, usize> {
    let mut sent = BTreeMap::new();
    for seen in far.calls("SendMessage") {
        *sent.entry(seen.params["message"]["messageId"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    sent
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_is_sent_after_a_kill(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::empty(db);
    let far = Elsewhere::start().await;
    let mut hub = start(&place);
    let mut ada = agent(&hub.client, "Ada").await;
    let remote = far.add(&ada, json!({})).await;
    let path = format!("/a2a/remotes/{remote}");
    ada.patch(&path, json!({ "paused": true })).await.ok(200);
    for _ in 0..TASKS {
        send(&ada, &remote, json!({})).await;
    }
    ada.patch(&path, json!({ "paused": false })).await.ok(200);
    for part in 1..=2 {
        eventually(async || (sent(&far).len() >= part * TASKS / 5).then_some(())).await;
        hub.signal("KILL");
        drop(hub);
        hub = start(&place);
        ada.client = Client { address: hub.client.address };
    }
    let all = tokio::time::timeout(std::time::Duration::from_secs(120), async {
        loop {
            let all = sent(&far);
            if all.len() == TASKS {
                return all;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    });
    let all = all.await.expect("all are sent");
    let twice: usize = all.values().map(|times| times - 1).sum();
    assert!(twice <= 2 * AT_ONCE, "{twice} were sent again, and only those under way may be");
}
