//! The bare servers keep every row that they are compared for, numbered without gaps, on both databases.

use std::collections::HashMap;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tandem_bench::bare::{Arguments, router};
use tokio::task::JoinSet;
use tokio_postgres::NoTls;
use tower::ServiceExt as _;

const AGENTS: usize = 16;
/// So many at once that they share transactions.
const JOBS: usize = 200;

/// What must be in the tables after as many messages as tasks.
const COUNTS: [(&str, i64); 8] = [
    ("select count(*) from tasks", JOBS as i64),
    ("select count(*) from task_log", JOBS as i64),
    ("select cast(sum(live) as bigint) from pairs", JOBS as i64),
    ("select count(*) from messages", JOBS as i64),
    ("select cast(sum(messages) as bigint) from tasks", JOBS as i64),
    ("select count(*) from deadlines", 2 * JOBS as i64),
    ("select count(*) from events", 2 * JOBS as i64),
    ("select cast(sum(last_seq) as bigint) from mailboxes", 2 * JOBS as i64),
];

fn agent(number: usize) -> String {
    format!("agent_{:024}", number % AGENTS)
}

async fn send(server: &Router, by: usize, method: &str, path: String, body: Value) -> (StatusCode, Value) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer key_{:048}", by % AGENTS))
        .body(Body::from(body.to_string()))
        .unwrap();
    let response = server.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

/// Tasks and messages at once. Each recipient's events are numbered without gaps, and every task can be read.
async fn work(server: &Router) {
    let mut numbers: HashMap<String, Vec<i64>> = HashMap::new();
    let mut tasks = Vec::new();
    let mut jobs = JoinSet::new();
    for job in 0..JOBS {
        let server = server.clone();
        jobs.spawn(async move {
            let to = agent(job + 1);
            let new = json!({ "targetAgentId": to, "title": "Read", "description": "The draft." });
            (job, send(&server, job, "POST", "/job".into(), new).await, to)
        });
    }
    while let Some(done) = jobs.join_next().await {
        let (job, (status, made), to) = done.unwrap();
        assert_eq!(status, StatusCode::CREATED);
        numbers.entry(to).or_default().push(made["number"].as_i64().unwrap());
        tasks.push((job, made["id"].as_str().unwrap().to_owned()));
    }
    for (job, task) in tasks.clone() {
        let server = server.clone();
        jobs.spawn(async move {
            let to = agent(job + 1);
            let path = format!("/message/{task}/{to}");
            (job, send(&server, job, "POST", path, json!({ "content": "Done?" })).await, to)
        });
    }
    while let Some(done) = jobs.join_next().await {
        let (_, (status, made), to) = done.unwrap();
        assert_eq!(status, StatusCode::CREATED);
        numbers.entry(to).or_default().push(made["number"].as_i64().unwrap());
    }
    for (to, mut numbers) in numbers {
        numbers.sort_unstable();
        assert!(numbers.iter().copied().eq(1..=numbers.len() as i64), "{to}: {numbers:?}");
    }
    for (job, task) in tasks {
        let (status, found) = send(server, job, "GET", format!("/row/{task}"), Value::Null).await;
        assert_eq!((status, found["text"].as_str()), (StatusCode::CREATED, Some("The draft.")));
    }
    let (_, page) = send(server, 0, "GET", "/page/events/100".into(), Value::Null).await;
    assert_eq!(page.as_array().unwrap().len(), 100);
    let unknown = json!({ "targetAgentId": "nobody", "title": "Read", "description": "The draft." });
    let (status, _) = send(server, 0, "POST", "/job".into(), unknown).await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    let known = json!({ "targetAgentId": agent(1), "title": "Read", "description": "The draft." });
    let (status, _) = send(server, 0, "POST", "/job".into(), known).await;
    assert_eq!(status, StatusCode::CREATED, "a failed group must not stop the loop");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_on_sqlite() {
    for in_order in [false, true] {
        let data = std::env::temp_dir().join(format!("tandem-bare-{}-{in_order}", std::process::id()));
        std::fs::create_dir_all(&data).unwrap();
        let arguments = Arguments { data: data.clone(), postgres: None, agents: AGENTS, in_order };
        work(&router(&arguments).await.unwrap()).await;
        let conn = rusqlite::Connection::open(data.join("bare.db")).unwrap();
        let count = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        for (sql, expected) in COUNTS {
            // The task after the failure is one more.
            assert!((expected..=expected + 1).contains(&count(sql)), "{sql}: {}", count(sql));
        }
        let orders = "select count(*) from sqlite_master where name like 'tasks_of_%'";
        assert_eq!(count(orders), if in_order { 2 } else { 0 });
        std::fs::remove_dir_all(&data).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_on_postgres() {
    let url = std::env::var("TANDEM_TEST_POSTGRES")
        .expect("TANDEM_TEST_POSTGRES is not set: run the tests by ./check, or under scripts/with-postgres");
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    for in_order in [false, true] {
        let schema = format!("bare_{}_{in_order}", std::process::id());
        client.batch_execute(&format!("create schema {schema}; set search_path = {schema}")).await.unwrap();
        let postgres = Some(format!("{url}&options=-c%20search_path%3D{schema}"));
        let arguments = Arguments { data: "/nowhere".into(), postgres, agents: AGENTS, in_order };
        work(&router(&arguments).await.unwrap()).await;
        for (sql, expected) in COUNTS {
            let count: i64 = client.query_one(sql, &[]).await.unwrap().get(0);
            assert!((expected..=expected + 1).contains(&count), "{sql}: {count}");
        }
        let orders = "select count(*) from pg_indexes where schemaname = $1 and indexname like 'tasks_of_%'";
        let orders: i64 = client.query_one(orders, &[&schema]).await.unwrap().get(0);
        assert_eq!(orders, if in_order { 2 } else { 0 });
        client.batch_execute(&format!("drop schema {schema} cascade")).await.unwrap();
    }
}
