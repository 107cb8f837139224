//! Clients that want the hub to hold as much as possible for them. The hub is a process of its own here, so that its
//! memory can be measured.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Db, Place};
use crate::serve::{Process, command};

/// What the hub may use, whatever clients do.
const MEMORY_MAX_KB: u64 = 400_000;

fn connect(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    stream
}

/// Sends a request and reads the status and the body.
fn call(to: SocketAddr, method: &str, path: &str, key: &str, body: &str) -> (u16, Value) {
    let mut stream = connect(to);
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: hub\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
    let body = answer.split_once("\r\n\r\n").map_or("", |parts| parts.1);
    (status, serde_json::from_str(body).unwrap_or_default())
}

fn agent(to: SocketAddr, name: &str) -> (String, String) {
    let (status, agent) = call(to, "POST", "/agents", "", &json!({ "name": name }).to_string());
    assert_eq!(status, 201, "{agent}");
    (agent["id"].as_str().unwrap().to_owned(), agent["apiKey"].as_str().unwrap().to_owned())
}

/// The most memory that a process has used, and what it uses now.
fn memory_kb(pid: u32) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    (field("VmHWM:"), field("VmRSS:"))
}

/// A client that does one hostile thing and then keeps its connection open.
type Attack = Box<dyn Fn(SocketAddr) -> TcpStream + Send + Sync>;

fn sends(bytes: Vec<u8>) -> Attack {
    Box::new(move |to| {
        let mut stream = connect(to);
        // The hub may have refused it already.
        let _ = stream.write_all(&bytes);
        stream
    })
}

fn request(method: &str, path: &str, key: &str, headers: &str, body: &[u8], announced: usize) -> Attack {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n{headers}\
         content-length: {announced}\r\n\r\n"
    );
    sends([head.as_bytes(), body].concat())
}

/// Everything that a stranger and two agents can make the hub hold, each many times at once.
fn attacks(keys: [&str; 2], task: &str, network: &str) -> Vec<(usize, Attack)> {
    let [ada, bob] = keys;
    let json = "content-type: application/json\r\n";
    let large = [b"{\"name\":\"".as_slice(), &vec![b'x'; 900_000]].concat();
    let form = "content-type: multipart/form-data; boundary=b\r\n";
    let preamble = [b"--b\r\nx-large: ".as_slice(), &vec![b'x'; 4_000_000]].concat();
    let nested = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"wait_for_updates\",\
         \"arguments\":{{\"x\":[{}0]}}}}}}",
        "[],".repeat(300_000)
    );
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": { "experimental": { "x": { "y": "z".repeat(900_000) } } },
        "clientInfo": { "name": "large", "version": "1" } } })
    .to_string();
    let mcp = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
    let mut attacks = vec![
        // Unfinished heads.
        (300, sends([b"GET /health HTTP/1.1\r\nx-a: ".as_slice(), &vec![b'x'; 60_000]].concat())),
        // Bodies that never end, of strangers and of agents.
        (200, request("POST", "/agents", "", json, &large, 1_000_000)),
        (200, request("POST", "/tasks", ada, json, &large, 1_000_000)),
        // Forms without a field, and large uploads that never end.
        (60, request("POST", &format!("/tasks/{task}/files"), ada, form, &preamble, 50_000_000)),
        (40, request("POST", &format!("/tasks/{task}/files/json"), bob, json, &large, 70_000_000)),
        // MCP: large sessions, and arguments that are expensive to keep.
        (40, request("POST", "/mcp", ada, mcp, initialize.as_bytes(), initialize.len())),
        (40, request("POST", "/mcp", bob, mcp, nested.as_bytes(), nested.len())),
    ];
    // Responses that nobody reads.
    for path in [
        format!("/tasks/{task}/messages?limit=1000"),
        "/tasks?limit=500".to_owned(),
        format!("/networks/{network}/messages?limit=1000"),
    ] {
        attacks.push((24, request("GET", &path, ada, "", b"", 0)));
    }
    attacks
}

fn pair(to: SocketAddr, ada: &(String, String), bob: &(String, String)) {
    let code = call(to, "POST", "/pair/generate", &ada.1, "{}").1["code"].as_str().unwrap().to_owned();
    assert_eq!(call(to, "POST", "/pair/connect", &bob.1, &json!({ "code": code }).to_string()).0, 201);
}

/// Fills a thread, a list and a network with long texts, so that their pages are as large as pages get.
fn fill(to: SocketAddr, ada: &(String, String), bob: &(String, String)) -> (String, String) {
    pair(to, ada, bob);
    let long = "y".repeat(250_000);
    let new = json!({ "targetAgentId": bob.0, "title": "Large", "description": long }).to_string();
    let mut task = String::new();
    for _ in 0..40 {
        let (status, created) = call(to, "POST", "/tasks", &ada.1, &new);
        assert_eq!(status, 201, "{created}");
        task = created["id"].as_str().unwrap().to_owned();
    }
    let text = json!({ "content": long }).to_string();
    let network = call(to, "POST", "/networks", &ada.1, &json!({ "name": "All" }).to_string()).1;
    let network = network["id"].as_str().unwrap().to_owned();
    for _ in 0..40 {
        assert_eq!(call(to, "POST", &format!("/tasks/{task}/messages"), &ada.1, &text).0, 201);
        assert_eq!(call(to, "POST", &format!("/networks/{network}/broadcast"), &ada.1, &text).0, 201);
    }
    (task, network)
}

/// The head of a request whose connection is not used again.
fn get(path: &str, key: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: hub\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\r\n")
        .into()
}

/// Agents that ask for large lists all at once, and read what they get.
#[rstest]
fn many_large_lists_at_once_cost_little(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let mut command = command(&place);
    command.stderr(Stdio::null());
    let hub = Process::start(command);
    let to = hub.client.address;
    let carol = agent(to, "Carol");
    let flooders: Vec<_> = ["Ada", "Bob", "Dan"].iter().map(|name| agent(to, name)).collect();
    // Each of these characters is written as six.
    let description = "\u{1}".repeat(170_000);
    for flooder in &flooders {
        pair(to, flooder, &carol);
        let new =
            json!({ "targetAgentId": carol.0, "title": "Large", "description": description, "draft": true });
        for _ in 0..26 {
            let (status, created) = call(to, "POST", "/tasks", &flooder.1, &new.to_string());
            assert_eq!(status, 201, "{created}");
        }
    }
    let streams: Vec<TcpStream> = (0..300)
        .map(|number| {
            let mut stream = connect(to);
            stream.write_all(&get("/tasks", &flooders[number % 3].1)).unwrap();
            stream
        })
        .collect();
    for path in ["/agents/me", "/tasks", "/updates"] {
        let (status, answer) = call(to, "GET", path, &carol.1, "");
        assert_eq!(status, 200, "{path}: {answer}");
    }
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    for mut stream in streams {
        let mut answer = Vec::new();
        // The hub closes the connection.
        let _ = stream.read_to_end(&mut answer);
        let status = String::from_utf8_lossy(&answer[..answer.len().min(12)]).into_owned();
        *answers.entry(status).or_default() += 1;
    }
    let (peak, _) = memory_kb(hub.pid());
    eprintln!("the hub used {peak} kB at most, and answered {answers:?}");
    assert!(peak < MEMORY_MAX_KB, "the hub used {peak} kB");
    assert!(answers.contains_key("HTTP/1.1 200"), "{answers:?}");
    let (status, list) = call(to, "GET", "/tasks", &flooders[0].1, "");
    assert_eq!((status, list.as_array().map(Vec::len)), (200, Some(4)));
}

#[rstest]
fn the_hub_stays_small_whatever_clients_do(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let mut command = command(&place);
    command.stderr(Stdio::null());
    let hub = Process::start(command);
    let to = hub.client.address;
    let (ada, bob) = (agent(to, "Ada"), agent(to, "Bob"));
    let carol = agent(to, "Carol");
    let (task, network) = fill(to, &ada, &bob);

    let mut open = Vec::new();
    for (number, (times, attack)) in attacks([&ada.1, &bob.1], &task, &network).into_iter().enumerate() {
        let clients: Vec<TcpStream> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| (0..times / 8).map(|_| attack(to)).collect::<Vec<_>>()))
                .collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        open.push(clients);
        // Another agent of the same address is served meanwhile.
        let (status, profile) = call(to, "GET", "/agents/me", &carol.1, "");
        assert_eq!(status, 200, "during attack {number}: {profile}");
    }
    let (peak, now) = memory_kb(hub.pid());
    eprintln!("the hub used {peak} kB at most, and uses {now} kB");
    assert!(peak < MEMORY_MAX_KB, "the hub used {peak} kB");
    assert_eq!(call(to, "GET", "/health", "", "").0, 200);

    drop(open);
    let deadline = Instant::now() + Duration::from_secs(60);
    while call(to, "GET", "/tasks", &ada.1, "").0 != 200 {
        assert!(Instant::now() < deadline, "Ada is not served again after her clients have left");
    }
}
