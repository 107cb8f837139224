//! A network between client and hub that can be cut, stalled, or too clever for its own good.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What the relay does with bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Pass,
    /// Takes nothing in and lets nothing out, but keeps connections open.
    Stall,
    /// Accepts and closes.
    Down,
}

/// What is common to all connections.
#[derive(Debug)]
struct Shared {
    target: Mutex<SocketAddr>,
    mode: watch::Sender<Mode>,
    /// Raised to cut all connections.
    cuts: watch::Sender<u64>,
    /// Bytes to the hub and from it until the connection that carries them is cut.
    until_cut: [AtomicI64; 2],
    /// Requests whose head contains one of these words are answered with status 400.
    refused: Mutex<Vec<&'static str>>,
    /// Requests whose head contains one of these words get no answer.
    unanswered: Mutex<Vec<&'static str>>,
    /// The next request whose head contains this word reaches the hub, but its answer does not arrive.
    answer_lost: Mutex<Option<&'static str>>,
    /// Requests whose head contains one of these words reach the hub, and a page of a proxy is the answer.
    replaced: Mutex<Vec<&'static str>>,
    /// Requests that were refused, and those that got no answer.
    refusals: AtomicUsize,
    silences: AtomicUsize,
    connections: AtomicUsize,
}

#[derive(Debug, Clone)]
pub struct Relay {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

impl Relay {
    pub async fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            target: Mutex::new(target),
            mode: watch::Sender::new(Mode::Pass),
            cuts: watch::Sender::new(0),
            until_cut: [AtomicI64::new(i64::MAX), AtomicI64::new(i64::MAX)],
            refused: Mutex::default(),
            unanswered: Mutex::default(),
            answer_lost: Mutex::default(),
            replaced: Mutex::default(),
            refusals: AtomicUsize::new(0),
            silences: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
        });
        let common = Arc::clone(&shared);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                common.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(carry(Arc::clone(&common), stream));
            }
        });
        Self { address, shared }
    }

    pub fn set(&self, mode: Mode) {
        self.shared.mode.send_replace(mode);
    }

    pub fn lead_to(&self, target: SocketAddr) {
        *self.shared.target.lock().unwrap() = target;
    }

    /// Ends all connections.
    pub fn cut(&self) {
        self.shared.cuts.send_modify(|cuts| *cuts += 1);
    }

    pub fn refuse(&self, word: &'static str) {
        self.shared.refused.lock().unwrap().push(word);
    }

    /// Lets such requests through, and answers with a page in place of the hub.
    pub fn answer_in_place_of(&self, words: &[&'static str]) {
        *self.shared.replaced.lock().unwrap() = words.to_vec();
    }

    /// Refuses nothing any more.
    pub fn refuse_nothing(&self) {
        self.shared.refused.lock().unwrap().clear();
    }

    pub fn refusals(&self) -> usize {
        self.shared.refusals.load(Ordering::SeqCst)
    }

    pub fn leave_unanswered(&self, word: &'static str) {
        self.shared.unanswered.lock().unwrap().push(word);
    }

    /// Answers everything again.
    pub fn answer_all(&self) {
        self.shared.unanswered.lock().unwrap().clear();
    }

    /// Requests that got no answer.
    pub fn silences(&self) -> usize {
        self.shared.silences.load(Ordering::SeqCst)
    }

    /// Lets the next such request through and cuts the connection instead of the answer.
    pub fn lose_answer_to(&self, word: &'static str) {
        *self.shared.answer_lost.lock().unwrap() = Some(word);
    }

    pub fn has_lost_answer(&self) -> bool {
        self.shared.answer_lost.lock().unwrap().is_none()
    }

    /// Cuts the connection that carries the last of so many bytes to the hub.
    pub fn cut_after_bytes_up(&self, bytes: i64) {
        self.shared.until_cut[0].store(bytes, Ordering::SeqCst);
    }

    /// The same for bytes from the hub.
    pub fn cut_after_bytes_down(&self, bytes: i64) {
        self.shared.until_cut[1].store(bytes, Ordering::SeqCst);
    }

    /// Whether a cut after some bytes has happened or was never ordered.
    pub fn has_cut(&self) -> bool {
        self.shared.until_cut.iter().all(|left| left.load(Ordering::SeqCst) == i64::MAX)
    }

    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

/// Carries bytes both ways until one side ends or the relay is told to cut.
async fn carry(shared: Arc<Shared>, mut client: TcpStream) {
    let (mut mode, mut cuts) = (shared.mode.subscribe(), shared.cuts.subscribe());
    if *mode.borrow_and_update() == Mode::Down {
        return;
    }
    let target = *shared.target.lock().unwrap();
    let Ok(mut hub) = TcpStream::connect(target).await else { return };
    let (mut up, mut down) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let (mut loses_answer, mut is_replaced) = (false, false);
    loop {
        let is_open = *mode.borrow_and_update() == Mode::Pass;
        tokio::select! {
            _ = cuts.changed() => return,
            _ = mode.changed() => if *mode.borrow() == Mode::Down { return },
            read = client.read(&mut up), if is_open => {
                let Ok(length @ 1..) = read else { return };
                let head = String::from_utf8_lossy(&up[..length.min(1_000)]).to_lowercase();
                if shared.unanswered.lock().unwrap().iter().any(|word| head.contains(word)) {
                    shared.silences.fetch_add(1, Ordering::SeqCst);
                    continue;
                }
                if shared.refused.lock().unwrap().iter().any(|word| head.contains(word)) {
                    shared.refusals.fetch_add(1, Ordering::SeqCst);
                    let page = "<html>proxy</html>";
                    let answer = format!("HTTP/1.1 400 Bad Request\r\ncontent-length: {}\r\n\r\n{page}", page.len());
                    client.write_all(answer.as_bytes()).await.ok();
                    return;
                }
                loses_answer |= shared.answer_lost.lock().unwrap().take_if(|word| head.contains(*word)).is_some();
                is_replaced |= shared.replaced.lock().unwrap().iter().any(|word| head.contains(word));
                let (length, is_over) = count(&shared.until_cut[0], length);
                if hub.write_all(&up[..length]).await.is_err() || is_over {
                    return;
                }
            }
            read = hub.read(&mut down), if is_open => {
                let Ok(length @ 1..) = read else { return };
                if loses_answer {
                    return;
                }
                if is_replaced {
                    let page = "HTTP/1.1 404 Not Found\r\ncontent-length: 18\r\n\r\n<html>proxy</html>";
                    client.write_all(page.as_bytes()).await.ok();
                    return;
                }
                let (length, is_over) = count(&shared.until_cut[1], length);
                if client.write_all(&down[..length]).await.is_err() || is_over {
                    return;
                }
            }
        }
    }
}

/// Counts bytes. Returns how many may pass, and whether the connection is to be cut after them.
fn count(left: &AtomicI64, length: usize) -> (usize, bool) {
    let before = left.load(Ordering::SeqCst);
    if before == i64::MAX {
        return (length, false);
    }
    left.fetch_sub(length as i64, Ordering::SeqCst);
    if before > length as i64 {
        return (length, false);
    }
    left.store(i64::MAX, Ordering::SeqCst);
    (usize::try_from(before).unwrap_or(0), true)
}
