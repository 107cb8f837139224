//! Agents that rotate their keys all the time. A key that ended is refused at once by the node that ended it, and two
//! seconds later by every other node, whose sockets of that key are closed by then.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use serde_json::json;
use tokio::net::TcpStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::agents::{Agent, text};
use crate::cluster::Cluster;
use crate::dice::Dice;
use crate::http::{Answer, Ask};
use crate::ledger::{Breach, Ledger, add};

/// How long another node may take an ended key, and how long its sockets may live: two seconds, and the way of an answer.
const ENDED_MAX: Duration = Duration::from_millis(2_250);
/// What the check itself may add, on a busy machine.
const ALLOWANCE: Duration = Duration::from_millis(1_500);
/// The pause between two rotations.
const PAUSE_MS: (usize, usize) = (500, 2_000);

/// Rotates the key of an agent for ever. An agent whose rotation was not answered has lost its key; another follows.
pub(crate) async fn rotate(cluster: Arc<Cluster>, ledger: Arc<Ledger>, peer: Arc<Agent>, mut dice: Dice) {
    loop {
        let Ok(agent) = Agent::register(&cluster, "rotating").await else { continue };
        if Agent::pair(&cluster, &agent, &peer).await.is_err() {
            continue;
        }
        while once(&cluster, &ledger, &agent, &peer, &mut dice).await {
            tokio::time::sleep(dice.ms(PAUSE_MS.0, PAUSE_MS.1)).await;
        }
    }
}

/// One rotation. False if its answer was lost.
async fn once(cluster: &Cluster, ledger: &Ledger, agent: &Agent, peer: &Agent, dice: &mut Dice) -> bool {
    let old = agent.key();
    // The old key is known on every node.
    for node in cluster.addresses() {
        Ask::get("/agents/me").send(node, Some(&old)).await;
    }
    let on = &cluster.nodes[dice.below(cluster.nodes.len())];
    let socket = open_socket(on.address, &old).await;
    let at = cluster.next_node().address;
    let answer = Ask::post_once("/agents/me/rotate-key", json!({})).send(at, Some(&old)).await;
    let Some(new) = answer.success().and_then(|body| text(body, "apiKey").ok()) else { return false };
    let ended = Instant::now();
    agent.set_key(new);
    add(&ledger.keys_rotated, 1);
    let write = || {
        let body = json!({ "targetAgentId": peer.id, "title": "with an ended key" });
        Ask::post("/tasks", body)
    };
    refused(ledger, "wrote at once", &write().send(at, Some(&old)).await);
    for node in cluster.addresses() {
        if write().send(node, Some(&old)).await.success().is_some() {
            add(&ledger.ended_keys_taken_in_time, 1);
        }
    }
    tokio::time::sleep_until((ended + ENDED_MAX).into()).await;
    for node in cluster.addresses() {
        refused(ledger, "read", &Ask::get("/agents/me").send(node, Some(&old)).await);
        refused(ledger, "wrote", &write().send(node, Some(&old)).await);
    }
    if let Some(mut socket) = socket
        && on.is_settled_for(ENDED_MAX * 2)
    {
        let until = ended + ENDED_MAX + ALLOWANCE;
        let closed = async {
            while let Some(Ok(frame)) = socket.next().await {
                if matches!(frame, Message::Close(_)) {
                    break;
                }
            }
        };
        if tokio::time::timeout_at(until.into(), closed).await.is_err() && on.is_settled_for(ENDED_MAX * 2) {
            let late = ended.elapsed().as_millis();
            ledger.breach(Breach::Key, format!("node {}: a socket lives {late} ms after its key", on.number));
        }
    }
    true
}

fn refused(ledger: &Ledger, what: &str, answer: &Answer) {
    match answer {
        Answer::Status(401, _) => add(&ledger.refusals_of_ended_keys, 1),
        Answer::Status(200..300, _) => {
            ledger.breach(Breach::Key, format!("a key that ended {what}: {answer}"));
        }
        // Not the key's doing.
        _ => {}
    }
}

type Socket = tokio_tungstenite::WebSocketStream<TcpStream>;

async fn open_socket(node: std::net::SocketAddr, key: &str) -> Option<Socket> {
    let open = async {
        let mut request = format!("ws://{node}/ws").into_client_request().ok()?;
        request.headers_mut().insert("authorization", format!("Bearer {key}").parse().ok()?);
        let stream = TcpStream::connect(node).await.ok()?;
        client_async(request, stream).await.ok().map(|(socket, _)| socket)
    };
    tokio::time::timeout(Duration::from_secs(3), open).await.ok().flatten()
}
