//! All traffic between two agents: every connection creates a task, sends a message on it and cancels it, so that the
//! number of open tasks between the two does not grow.

use std::net::SocketAddr;
use std::time::Instant;

use anyhow::Context as _;
use futures_util::future::{join_all, try_join_all};
use hyper::Method;
use serde_json::{Value, json};

use crate::connection::Connection;
use crate::load::{ERRORS_MAX, Figures, Seen, Span, figures};
use crate::workload::{Agent, request, task_body, text};

/// Drives all nodes at once, which share the connections; the figures of each.
pub(super) async fn drive(
    nodes: &[SocketAddr],
    agents: &[Agent],
    connections: usize,
    span: Span,
) -> anyhow::Result<Vec<Figures>> {
    let from = Instant::now() + span.warm_up;
    let until = from + span.measured;
    let each = nodes.iter().enumerate().map(|(place, node)| {
        let share = connections / nodes.len() + usize::from(place < connections % nodes.len());
        let loops = (0..share).map(|_| {
            let (by, to, node) = (agents[0].clone(), agents[1].clone(), *node);
            tokio::spawn(async move { one_connection(node, &by, &to, (from, until)).await })
        });
        let loops: Vec<_> = loops.collect();
        async move {
            let mut all = Seen::default();
            for seen in join_all(loops).await {
                all.add(seen??);
            }
            anyhow::Ok(figures(all, span.measured))
        }
    });
    try_join_all(each).await
}

async fn one_connection(
    node: SocketAddr,
    by: &Agent,
    to: &Agent,
    (from, until): (Instant, Instant),
) -> anyhow::Result<Seen> {
    let mut connection = Connection::open(node).await?;
    let mut seen = Seen::default();
    let mut task: Option<String> = None;
    let mut step = 0_u64;
    while Instant::now() < until && seen.errors < ERRORS_MAX {
        let next = match &task {
            None => request(Method::POST, "/tasks", Some(&by.key), task_body(&to.id, step)),
            Some(id) if step % 3 == 1 => {
                let body = json!({ "content": text() }).to_string();
                request(Method::POST, &format!("/tasks/{id}/messages"), Some(&by.key), body)
            }
            Some(id) => {
                let body = json!({ "status": "cancelled" }).to_string();
                request(Method::PATCH, &format!("/tasks/{id}"), Some(&by.key), body)
            }
        };
        let asked = Instant::now();
        let (status, body) = connection.ask(next).await.context("a node ended the connection")?;
        let answered = Instant::now();
        if !(200..300).contains(&status) {
            seen.error(format!("{status} {}", String::from_utf8_lossy(&body)));
            (task, step) = (None, 0);
            continue;
        }
        if asked >= from && answered <= until {
            seen.took(answered - asked);
        }
        match step % 3 {
            0 => {
                let made: Value = serde_json::from_slice(&body)?;
                task = made["id"].as_str().map(ToOwned::to_owned);
            }
            1 => {}
            _ => task = None,
        }
        step += 1;
    }
    Ok(seen)
}
