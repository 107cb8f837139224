//! Files, streamed: never as a whole in memory, with progress, and repeated or resumed after a lost connection.

mod download;
mod new_file;
mod upload;

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use http::HeaderValue;
use tandem_api::error::Code;

use crate::backoff::Backoff;
use crate::{Client, Error};

pub use download::{DownloadOptions, Downloaded, FileInfo};
pub use new_file::NewFile;
pub use upload::Upload;

/// How long a transfer is repeated without any progress if the network is gone. More than a call: a minute without a network
/// must not cost the work of an hour.
const PATIENCE: Duration = Duration::from_secs(3 * 60);
/// Interrupted attempts of one transfer. A network may take bytes that never arrive, which looks like progress.
const ATTEMPTS_MAX: u32 = 30;

/// Whether a transfer is tried again.
#[derive(Debug)]
struct Attempts {
    patience: Duration,
    /// How long the hub may ask to wait, all times together: as for any other call, because nothing is lost.
    pauses_left: Duration,
    progress_at: Instant,
    backoff: Backoff,
    interrupted: u32,
    /// Whether another key was taken over.
    is_renewed: bool,
}

impl Attempts {
    fn new(client: &Client) -> Self {
        let pauses_left = client.patience();
        let patience = pauses_left;
        // A caller that wants no repetition gets none here either.
        let patience = if patience.is_zero() { patience } else { patience.max(PATIENCE) };
        Self {
            patience,
            pauses_left,
            progress_at: Instant::now(),
            backoff: Backoff::default(),
            interrupted: 0,
            is_renewed: false,
        }
    }

    /// Notes that bytes have moved.
    fn progressed(&mut self) {
        self.progress_at = Instant::now();
        self.backoff.reset();
    }

    /// Waits before the next attempt. Returns the failure if there is to be none. `key` is the one that was sent.
    async fn wait_after(
        &mut self,
        client: &Client,
        failure: Error,
        key: Option<&HeaderValue>,
    ) -> Result<(), Error> {
        // The hub has done nothing for a key that it does not know.
        if failure.code() == Some(Code::Unauthorized) && !self.is_renewed && client.renew_key(key) {
            self.is_renewed = true;
            return Ok(());
        }
        if !matches!(failure, Error::Unreachable { .. }) {
            self.interrupted += 1;
        }
        let Some(pause) = client.pause_after(&failure, true, &mut self.backoff) else { return Err(failure) };
        if self.interrupted > ATTEMPTS_MAX || self.progress_at.elapsed() + pause > self.patience {
            return Err(failure);
        }
        if let Error::Refused(_) = failure {
            match self.pauses_left.checked_sub(pause) {
                Some(left) => self.pauses_left = left,
                None => return Err(failure),
            }
        }
        tokio::time::sleep(pause).await;
        Ok(())
    }
}

/// An error of a file on this machine.
fn file_error(what: &str, path: &Path, cause: io::Error) -> Error {
    Error::File { what: format!("{what} {}", path.display()), cause }
}

/// Runs work on the disk on a thread for blocking work.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(io::Error::other("the work was given up")))
}
