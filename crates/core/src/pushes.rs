//! Where a client of A2A has what happens to a task pushed to.

use std::fmt;

use crate::ids::{AgentId, TaskId};
use crate::text::Unfit;
use crate::time::Timestamp;
use crate::webhooks::{GIVE_UP_AFTER_SECONDS, retry_at};

/// Configs of one task at most.
pub const CONFIGS_MAX: i64 = 10;
/// Bytes of a config's id, of its token, of a scheme and of credentials.
const ID_BYTES_MAX: usize = 256;
const TOKEN_BYTES_MAX: usize = 2_048;
const SCHEME_BYTES_MAX: usize = 64;
const CREDENTIALS_BYTES_MAX: usize = 4_096;

/// The receiver of pushes, as its owner has named it.
#[derive(Clone, PartialEq, Eq)]
pub struct PushReceiver {
    pub url: String,
    /// A word of the owner's that each push carries.
    pub token: Option<String>,
    /// What the `Authorization` header begins with, and what follows.
    pub scheme: Option<String>,
    pub credentials: Option<String>,
}

/// Shows no secret.
impl fmt::Debug for PushReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushReceiver").finish_non_exhaustive()
    }
}

impl PushReceiver {
    /// Checks what goes into headers; what is wrong is said of a field. The address is checked by those who connect to it.
    pub fn check(&self) -> Result<(), (&'static str, Unfit)> {
        let fits = |text: &Option<String>, max: usize, is_fit: fn(u8) -> bool| {
            text.as_ref().is_none_or(|text| text.len() <= max && !text.is_empty() && text.bytes().all(is_fit))
        };
        let is_visible = |byte: u8| byte.is_ascii_graphic();
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let is_visible_or_space = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
        let unfit = |field, why: &str| Err((field, Unfit(why.to_owned())));
        if !fits(&self.token, TOKEN_BYTES_MAX, is_visible) {
            return unfit("token", "must be at most 2048 visible ASCII characters");
        }
        if !fits(&self.scheme, SCHEME_BYTES_MAX, is_word) {
            return unfit("authentication.scheme", "must be the name of a scheme, such as Bearer");
        }
        if !fits(&self.credentials, CREDENTIALS_BYTES_MAX, is_visible_or_space) {
            return unfit("authentication.credentials", "must be at most 4096 visible ASCII characters");
        }
        Ok(())
    }
}

/// Checks the id of a config.
pub fn check_id(id: &str) -> Result<(), Unfit> {
    if id.is_empty() || id.len() > ID_BYTES_MAX || id.chars().any(char::is_control) {
        return Err(Unfit("must be 1 to 256 bytes without control characters".to_owned()));
    }
    Ok(())
}

/// A receiver of pushes about one task, and how far that has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushConfig {
    pub task: TaskId,
    /// Its id within the task.
    pub id: String,
    /// The client that wants the pushes.
    pub owner: AgentId,
    /// The agent at whose address it was set.
    pub host: AgentId,
    pub receiver: PushReceiver,
    /// Whether the client knows the hub's extension.
    pub extension: bool,
    /// The hub's address, as the client has named it.
    pub base: String,
    /// When its owner has set it last.
    pub set_at: Timestamp,
    /// How many steps the task has taken.
    pub steps: i64,
    /// The last step that was pushed.
    pub pushed: i64,
    /// How often the next one was tried.
    pub attempts: i64,
    /// Since when nothing has got through.
    pub failing_since: Option<Timestamp>,
}

/// What follows an attempt that has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterFailure {
    /// The step is tried again then.
    Retry(Timestamp),
    /// The step is given up; the next one is tried.
    GiveUp,
    /// Nothing has got through for a day: nothing more is pushed there.
    SwitchOff,
}

impl PushConfig {
    /// What follows an attempt that has failed, as for webhooks.
    #[must_use]
    pub fn after_failure(&self, attempts: i64, now: Timestamp, jitter: f64) -> AfterFailure {
        let failing_ms = self.failing_since.map_or(0, |since| now.ms_since(since));
        if failing_ms >= GIVE_UP_AFTER_SECONDS * 1_000 {
            return AfterFailure::SwitchOff;
        }
        retry_at(attempts, now, jitter).map_or(AfterFailure::GiveUp, AfterFailure::Retry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver(token: &str, scheme: &str, credentials: &str) -> PushReceiver {
        let text = |text: &str| Some(text.to_owned()).filter(|text| text != "-");
        PushReceiver {
            url: "https://example.com/".to_owned(),
            token: text(token),
            scheme: text(scheme),
            credentials: text(credentials),
        }
    }

    #[test]
    fn what_goes_into_headers_is_checked() {
        assert_eq!(receiver("t", "Bearer", "a b=").check(), Ok(()));
        assert_eq!(receiver("-", "-", "-").check(), Ok(()));
        let long = "x".repeat(5_000);
        for (wrong, field) in [
            (receiver("a b", "-", "-"), "token"),
            (receiver("a\r\nb: c", "-", "-"), "token"),
            (receiver(&long, "-", "-"), "token"),
            (receiver("-", "Bearer x", "-"), "authentication.scheme"),
            (receiver("-", "Bearer", "a\nb"), "authentication.credentials"),
            (receiver("-", "Bearer", &long), "authentication.credentials"),
        ] {
            assert_eq!(wrong.check().unwrap_err().0, field);
        }
    }

    #[test]
    fn nothing_of_a_receiver_is_shown() {
        let shown = format!("{:?}", receiver("token-x", "Bearer", "credentials-x"));
        assert!(!shown.contains("-x"), "{shown}");
    }

    #[test]
    fn a_receiver_that_fails_for_a_day_is_switched_off() {
        let now = Timestamp(1_000_000_000);
        let config = PushConfig {
            task: "task_1".parse().unwrap(),
            id: "c".to_owned(),
            owner: "agent_a".parse().unwrap(),
            host: "agent_b".parse().unwrap(),
            receiver: receiver("-", "-", "-"),
            extension: false,
            base: "http://hub".to_owned(),
            set_at: now,
            steps: 2,
            pushed: 1,
            attempts: 0,
            failing_since: None,
        };
        assert_eq!(config.after_failure(1, now, 0.5), AfterFailure::Retry(now.plus_seconds(5)));
        assert_eq!(config.after_failure(6, now, 0.5), AfterFailure::Retry(now.plus_seconds(21_600)));
        assert_eq!(config.after_failure(7, now, 0.5), AfterFailure::GiveUp);
        let failing = PushConfig { failing_since: Some(now.plus_seconds(-86_400)), ..config };
        assert_eq!(failing.after_failure(1, now, 0.5), AfterFailure::SwitchOff);
    }
}
