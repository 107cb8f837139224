//! A server that answers as it is told to, and not as a hub would.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tandem_client::Client;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::client_at;

/// What the server does with a request.
#[derive(Debug, Clone)]
pub enum Answer {
    /// Sends this text.
    Send(String),
    /// Sends this text and closes the connection.
    Cut(String),
    /// Closes the connection.
    Close,
}

pub fn json_answer(status: &str, headers: &str, body: serde_json::Value) -> Answer {
    let body = body.to_string();
    Answer::Send(format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()))
}

/// The server, and the heads of its requests.
#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Gives these answers, and the last one for ever.
    pub async fn start(answers: &[Answer]) -> Self {
        let answers = answers.to_vec();
        Self::answering(move |number, _| answers.get(number).or(answers.last()).unwrap().clone()).await
    }

    /// Answers by the number of the request, from 0, and its head.
    pub async fn answering(answer: impl Fn(usize, &str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, Arc::clone(&seen), Arc::clone(&answer)));
            }
        });
        Self { address, requests }
    }

    pub fn client(&self) -> Client {
        client_at(self.address, "tdm_key")
    }

    pub fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// The idempotency keys of all requests.
    pub fn keys(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        let key = |head: &String| {
            let line = head.lines().find_map(|line| line.strip_prefix("idempotency-key: "));
            line.unwrap_or_default().to_owned()
        };
        requests.iter().map(key).collect()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: Arc<Mutex<Vec<String>>>,
    answer: Arc<impl Fn(usize, &str) -> Answer>,
) {
    let mut received = Vec::new();
    loop {
        while !received.windows(4).any(|part| part == b"\r\n\r\n") {
            let mut part = [0; 4096];
            match stream.read(&mut part).await {
                Ok(length @ 1..) => received.extend_from_slice(&part[..length]),
                _ => return,
            }
        }
        let head = String::from_utf8_lossy(&received).to_lowercase();
        received.clear();
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(head.clone());
            seen.len() - 1
        };
        match answer(number, &head) {
            // A client that has heard enough closes the connection.
            Answer::Send(text) if stream.write_all(text.as_bytes()).await.is_ok() => {}
            Answer::Cut(text) => return drop(stream.write_all(text.as_bytes()).await),
            Answer::Send(_) | Answer::Close => return,
        }
    }
}
