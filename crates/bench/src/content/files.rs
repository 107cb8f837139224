//! Uploads and downloads at a set rate, as over a network, while reads are measured.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::{Reads, field};
use crate::load::{Figures, Span};
use crate::process::Process;

/// How many bytes are sent or read at once.
const PIECE: usize = 64 * 1024;

/// Files that are uploaded or downloaded again and again.
#[derive(Debug, Clone)]
pub(super) struct Files {
    pub(super) address: SocketAddr,
    pub(super) key: String,
    pub(super) task: String,
    pub(super) count: usize,
    pub(super) size: usize,
    /// Bytes a second for each file; 0 for as fast as possible.
    pub(super) pace: f64,
}

/// What was measured meanwhile.
#[derive(Debug)]
pub(super) struct WhileTransferring {
    pub(super) reads: Figures,
    pub(super) megabytes_per_second: f64,
    pub(super) memory_most_mb: Option<f64>,
}

/// The greater of two, if both are known.
pub(super) fn most(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.zip(other).map(|(one, other)| one.max(other))
}

impl Files {
    /// Waits until so many bytes are due.
    async fn keep_pace(&self, begun: Instant, bytes: usize) {
        if self.pace > 0.0 {
            let due = begun + Duration::from_secs_f64(bytes as f64 / self.pace);
            tokio::time::sleep_until(due.into()).await;
        }
    }

    /// Sends a form with one file and returns its URL.
    pub(super) async fn upload(&self) -> anyhow::Result<String> {
        let head = "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\
            Content-Type: text/plain\r\n\r\n";
        let tail = "\r\n--XX--\r\n";
        let length = head.len() + self.size + tail.len();
        let mut stream = TcpStream::connect(self.address).await?;
        let request = format!(
            "POST /tasks/{}/files HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {}\r\nconnection: close\r\n\
             content-type: multipart/form-data; boundary=XX\r\ncontent-length: {length}\r\n\r\n{head}",
            self.task, self.key
        );
        stream.write_all(request.as_bytes()).await?;
        let (piece, begun) = (vec![b'0'; PIECE], Instant::now());
        let mut sent = 0;
        while sent < self.size {
            let part = PIECE.min(self.size - sent);
            stream.write_all(&piece[..part]).await?;
            sent += part;
            self.keep_pace(begun, sent).await;
        }
        stream.write_all(tail.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        if !answer.starts_with("HTTP/1.1 201") {
            bail!("an upload was answered with {answer}");
        }
        let body = answer.split("\r\n\r\n").nth(1).context("an answer has no body")?;
        field(&serde_json::from_str(body)?, "url")
    }

    async fn download(&self, url: &str) -> anyhow::Result<()> {
        let mut stream = TcpStream::connect(self.address).await?;
        let request = format!(
            "GET {url} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
            self.key
        );
        stream.write_all(request.as_bytes()).await?;
        let (mut piece, begun) = (vec![0; PIECE], Instant::now());
        let mut read = 0;
        loop {
            let count = stream.read(&mut piece).await?;
            if read == 0 && !piece.starts_with(b"HTTP/1.1 200") {
                bail!("a download was refused: {}", String::from_utf8_lossy(&piece[..count]));
            }
            read += count;
            if count == 0 {
                break;
            }
            self.keep_pace(begun, read).await;
        }
        if read > self.size { Ok(()) } else { bail!("a download was cut off after {read} bytes") }
    }

    /// Measures reads during uploads or, with a URL, during downloads.
    pub(super) async fn beside(
        &self,
        hub: &Process,
        reads: &Reads,
        span: Span,
        url: Option<String>,
    ) -> anyhow::Result<WhileTransferring> {
        let stop = Arc::new(AtomicBool::new(false));
        let begun = Instant::now();
        let mut running = JoinSet::new();
        for _ in 0..self.count {
            let (files, stop, url) = (self.clone(), Arc::clone(&stop), url.clone());
            running.spawn(async move {
                let mut done = 0;
                while !stop.load(Relaxed) {
                    match &url {
                        Some(url) => files.download(url).await?,
                        None => drop(files.upload().await?),
                    }
                    done += 1;
                }
                anyhow::Ok(done)
            });
        }
        let mut peak = hub.memory_mb();
        let mut driven = Box::pin(reads.drive(hub, span));
        let reads = loop {
            tokio::select! {
                figures = &mut driven => break figures?,
                () = tokio::time::sleep(Duration::from_millis(20)) => peak = most(peak, hub.memory_mb()),
            }
        };
        stop.store(true, Relaxed);
        let mut done = 0;
        while let Some(files) = running.join_next().await {
            done += files??;
            peak = most(peak, hub.memory_mb());
        }
        let megabytes = (done * self.size) as f64 / 1_000_000.0;
        let megabytes_per_second = megabytes / begun.elapsed().as_secs_f64();
        Ok(WhileTransferring { reads, megabytes_per_second, memory_most_mb: peak })
    }
}
