//! The limit of open files (`ulimit -n`). Without room for a socket, the hub could neither accept connections nor open
//! its own files, so it raises the limit, or accepts fewer connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tandem_hub::Config;

/// What a hub opens besides connections: database, stored files, requests to webhooks and to a bucket.
const OTHERS: u64 = 1_500;
/// What remains for that if the limit is small.
const OTHERS_MIN: u64 = 128;

/// Makes room for the connections in the settings, of which some become streams. Returns a warning if there are fewer.
pub(crate) fn make_room(config: &mut Config) -> anyhow::Result<Option<String>> {
    let wanted = config.max_connections as u64;
    let limit = raise(wanted.saturating_add(OTHERS));
    if limit >= wanted.saturating_add(OTHERS) {
        return Ok(None);
    }
    let others = OTHERS.min(limit / 2);
    anyhow::ensure!(
        others >= OTHERS_MIN,
        "a hub needs at least {} open files, and the limit is {limit}; raise it with ulimit -n, or with LimitNOFILE \
         in a systemd unit",
        2 * OTHERS_MIN
    );
    let room = limit - others;
    if wanted <= room {
        return Ok(None);
    }
    config.max_connections = usize::try_from(room).unwrap_or(config.max_connections);
    Ok(Some(format!(
        "the limit of open files is {limit}, so the hub accepts {room} connections instead of {wanted}; raise it with \
         ulimit -n, or with LimitNOFILE in a systemd unit"
    )))
}

/// Raises the soft limit as far as needed and allowed. Returns the limit.
fn raise(needed: u64) -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let (current, maximum) = (limit.current.unwrap_or(u64::MAX), limit.maximum.unwrap_or(u64::MAX));
    let wanted = needed.min(maximum);
    if wanted <= current {
        return current;
    }
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum });
    if raised.is_ok() { wanted } else { current }
}
