//! Failures of commands: what a person reads, and the exit code.

use std::fmt;

use tandem_api::error::{Code, ErrorBody};
use tandem_client::Error;

use crate::profiles::Profile;
use crate::terminal::text;

/// The exit code of a command. The codes are documented in `tandem help` and never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The hub refused, or the command failed.
    Refused = 1,
    /// The command line is wrong. Clap uses the same code.
    Usage = 2,
    /// The named thing does not exist, or the caller may not see it.
    NotFound = 3,
    /// The hub cannot be reached.
    Unreachable = 4,
    /// Something did not happen in time.
    TimedOut = 5,
}

/// Why a command failed: what happened, and the next command to try.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    what: String,
    next: Option<String>,
    /// The hub's error, for `--json`.
    body: Option<Box<ErrorBody>>,
    /// The key that is missing or wrong.
    wants: Option<Wanted>,
}

/// A key that a command did without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    ApiKey,
    PrivateKey,
}

/// The result of a command.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self { exit, what: without_codes(what.into()), next: None, body: None, wants: None }
    }

    pub(crate) fn refused(what: impl Into<String>) -> Self {
        Self::new(Exit::Refused, what)
    }

    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::new(Exit::Usage, what)
    }

    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, what)
    }

    pub(crate) fn timed_out(what: impl Into<String>) -> Self {
        Self::new(Exit::TimedOut, what)
    }

    /// Adds the next step, a sentence or a command.
    #[must_use]
    pub(crate) fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self.wants = None;
        self
    }

    /// Says how this profile gets the key that is missing. The general advice names no hub, and a key that is given to
    /// the wrong one is lost.
    #[must_use]
    pub(crate) fn for_profile(self, profile: &Profile, replaced: bool) -> Self {
        let login = profile.login_command();
        match self.wants {
            Some(Wanted::ApiKey) if replaced => {
                self.next("The key of this profile was replaced in the meantime: run it again.")
            }
            Some(Wanted::ApiKey) => self.next(format!("Log in again with `{login}`.")),
            Some(Wanted::PrivateKey) => self.next(format!(
                "Give this profile its key with `{login} --private-key FILE`, or register a new agent without \
                 --no-encryption."
            )),
            None => self,
        }
    }

    /// Whether it passes by itself: the hub is away, or has no time for this key at the moment.
    pub(crate) fn is_passing(&self) -> bool {
        let is_limited = self.body.as_ref().is_some_and(|body| body.code == Code::RateLimited);
        is_limited || matches!(self.exit, Exit::Unreachable | Exit::TimedOut)
    }

    /// Whether the hub refused the API key.
    pub(crate) fn is_about_api_key(&self) -> bool {
        self.wants == Some(Wanted::ApiKey)
    }

    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// The next step, if one is known.
    pub(crate) fn next_step(&self) -> Option<&str> {
        self.next.as_deref()
    }

    /// The error as JSON: the hub's own body, or one of the same shape.
    pub(crate) fn json(&self) -> serde_json::Value {
        let body = match &self.body {
            Some(body) => serde_json::to_value(body).ok(),
            None => None,
        };
        body.unwrap_or_else(|| serde_json::json!({ "error": self.what, "code": self.word() }))
    }

    /// The code in the JSON of an error that is not the hub's.
    fn word(&self) -> &'static str {
        match self.exit {
            Exit::Refused => "failed",
            Exit::Usage => "usage",
            Exit::NotFound => "not_found",
            Exit::Unreachable => "unreachable",
            Exit::TimedOut => "timed_out",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tandem: {}", self.what)?;
        match &self.next {
            Some(next) => write!(f, "\n  {next}"),
            None => Ok(()),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        // Most errors of the hub already contain the text of their cause, which is not repeated.
        let mut what = error.to_string();
        for cause in error.chain().skip(1).map(ToString::to_string) {
            if !what.contains(&cause) {
                what = format!("{what}: {cause}");
            }
        }
        Self::refused(what)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::refused(error.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let exit = match &error {
            Error::Refused(refusal) => match refusal.status {
                404 => Exit::NotFound,
                502..=504 => Exit::Unreachable,
                _ => Exit::Refused,
            },
            Error::Unreachable { .. } | Error::Lost { .. } | Error::NotAHub { .. } => Exit::Unreachable,
            Error::TimedOut { .. } => Exit::TimedOut,
            Error::UnknownPeer(_) => Exit::NotFound,
            _ => Exit::Refused,
        };
        let next = advice(&error);
        // Errors contain text of the hub and names of other agents.
        let what = match &error {
            Error::KeyChanged { .. } => text::lines(&error.to_string()),
            // A line of the hub's must not look like one of ours.
            _ => text::line(&error.to_string()),
        };
        let wants = match &error {
            Error::NoKey => Some(Wanted::PrivateKey),
            error if error.code() == Some(Code::Unauthorized) => Some(Wanted::ApiKey),
            _ => None,
        };
        let mut failure = Self { exit, what: without_codes(what), next, body: None, wants };
        if let Error::Refused(refusal) = error {
            let nexts = refusal.body.next_statuses.as_ref();
            // A wrong argument is not put right by another status.
            let is_about_status = !matches!(refusal.body.code, Code::Validation | Code::TooLarge);
            if let Some(nexts) = nexts.filter(|nexts| is_about_status && !nexts.is_empty()) {
                let words: Vec<&str> = nexts.iter().map(|status| status.as_str()).collect();
                failure.next.get_or_insert_with(|| format!("Possible now: {}.", words.join(", ")));
            }
            failure.body = Some(Box::new(refusal.body));
        }
        failure
    }
}

/// What to try next.
fn advice(error: &Error) -> Option<String> {
    match error {
        Error::Refused(refusal) => after_refusal(refusal.body.code, refusal.retry_after),
        Error::Unreachable { .. } => Some(
            "Is the hub running? Start one here with `tandem serve`, or check with `tandem doctor`."
                .into(),
        ),
        Error::Lost { .. } | Error::TimedOut { .. } => {
            Some("If it changes something, that may have happened. Look first: `tandem task list`.".into())
        }
        Error::KeyChanged { agent, .. } => Some(format!(
            "If its owner confirms the new words: `tandem trust {agent} --accept WORDS`. If not, send nothing."
        )),
        Error::AnotherAgent(other) if other.found.is_none() => Some(format!(
            "It has no key to compare. If you mean it all the same: give its id, {}, or `tandem connections alias {} NAME`.",
            other.agent, other.agent
        )),
        Error::AnotherAgent(other) => Some(format!(
            "If the owner confirms the new words: `tandem trust {} --accept WORDS`. If not, send nothing.",
            other.agent
        )),
        Error::TooManyPins => Some("Compare the words with its owner, then: `tandem trust ID --accept WORDS`.".into()),
        Error::SameName { .. } => {
            Some("Give the id, or say whom you mean: `tandem connections alias ID NAME`.".into())
        }
        Error::NotPinned { agent, .. } => {
            Some(format!("Compare the words with its owner, then: `tandem trust {agent} --accept WORDS`."))
        }
        Error::NoKey => Some(
            "Give this profile its key with `tandem login --hub URL --as PROFILE --private-key FILE`, or register a \
             new agent without --no-encryption."
                .into(),
        ),
        Error::NoPeerKey { .. } => {
            Some("Its owner has to register it with a key: `tandem register` makes one.".into())
        }
        Error::UnknownPeer(_) => Some(
            "`tandem connections` shows whom you can reach; `tandem pair` connects another agent.".into(),
        ),
        Error::Pins { .. } => {
            Some("Restore the file from a backup. If you remove it, every key is trusted anew.".into())
        }
        Error::NotAHub { .. } => Some("Check the address: `tandem context list` shows it.".into()),
        _ => None,
    }
}

/// Without the numbers of the operating system's errors, which tell a person nothing.
fn without_codes(mut text: String) -> String {
    while let Some(from) = text.find(" (os error ") {
        let Some(length) = text[from..].find(')') else { break };
        text.replace_range(from..=from + length, "");
    }
    text
}

/// What to do about an error of the hub, in terms of this command line.
fn after_refusal(code: Code, retry_after: Option<std::time::Duration>) -> Option<String> {
    let next = match code {
        Code::Unauthorized => {
            "Log in again with `tandem login --hub URL`, or register with `tandem register NAME`."
        }
        Code::NoCredits => "Ask the operator of the hub for credits.",
        Code::Suspended => "Ask the operator of the hub.",
        Code::AdminOnly => {
            "Give the operator's token: `TANDEM_ADMIN_TOKEN`, or run it where the hub's data is."
        }
        Code::NotConnected => {
            "`tandem connections` shows whom you can reach; `tandem pair` connects another agent."
        }
        Code::NotAutoAccept => "Ask its owner for a code and run `tandem pair CODE`.",
        Code::ReviewRequired => "Deliver with `tandem task reply`; the sender completes the task.",
        Code::AlreadyConnected => "`tandem connections` shows it.",
        Code::ApprovalPending => "The receiver has to let it in with `tandem task approve`.",
        Code::TaskTerminal => "`tandem send` starts a new task, `tandem task retry` starts this one again.",
        Code::TaskLive => "Cancel it first: `tandem task cancel`.",
        Code::NoWebhook => "Set one with `tandem webhook set URL`, or use `tandem listen --forward-to URL`.",
        Code::RateLimited | Code::Unavailable => {
            return retry_after.map(|after| format!("Try again in {} s.", after.as_secs()));
        }
        _ => return None,
    };
    Some(next.to_owned())
}
