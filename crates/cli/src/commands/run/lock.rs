//! One runner for each profile and machine, by a lock on a file that names its holder.
//!
//! The system releases the lock of a killed process a moment after the kill, when it closes its files. So the next runner
//! waits for a holder that has ended, and refuses to start beside one that runs.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::processes::{ProcessId, is_running};
use crate::exit::Outcome;
use crate::profiles::try_lock;

/// How long a holder that has ended may keep the lock.
const ENDED_MAX: Duration = Duration::from_secs(30);
/// How long one that seems to run is waited for: it may have been killed just now.
const RUNNING_MAX: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(50);

/// Takes the lock for as long as the file is open; `None` if another runner has it.
pub(super) async fn take(path: &Path) -> Outcome<Option<File>> {
    let begun = Instant::now();
    loop {
        if let Some(mut file) = try_lock(path)? {
            let own = i32::try_from(std::process::id()).ok().map(ProcessId::of);
            file.set_len(0)?;
            file.write_all(&serde_json::to_vec(&own).unwrap_or_default())?;
            return Ok(Some(file));
        }
        let holder: Option<ProcessId> =
            std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let max = if holder.is_some_and(|holder| is_running(&holder)) { RUNNING_MAX } else { ENDED_MAX };
        if begun.elapsed() > max {
            return Ok(None);
        }
        sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_holder_that_has_ended_is_waited_for() {
        let folder = std::env::temp_dir().join(format!("tandem-run-lock-{}", std::process::id()));
        let path = folder.join("lock");
        let held = take(&path).await.unwrap().unwrap();
        assert!(take(&path).await.unwrap().is_none(), "this process runs and has it");
        // As if the holder had been killed, and the system had not yet closed its files.
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let ended = ProcessId::of(i32::try_from(child.id()).unwrap());
        child.wait().unwrap();
        std::fs::write(&path, serde_json::to_vec(&ended).unwrap()).unwrap();
        let waiting = take(&path);
        tokio::pin!(waiting);
        assert!(tokio::time::timeout(2 * RUNNING_MAX, &mut waiting).await.is_err(), "it waits");
        drop(held);
        assert!(waiting.await.unwrap().is_some());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
