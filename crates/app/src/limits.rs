//! Limits with a meaning, such as messages per minute: counted in rows, so they hold on any number of nodes and after
//! a restart. The rate of all requests is no such limit; each node counts it in memory.

use tandem_core::Timestamp;
use tandem_store::Tx;
use tandem_store::limits::{self as rows, Window};

use crate::Error;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Messages per agent and task, or agent and network.
    Messages,
    /// Wrong pairing codes per agent.
    WrongCodes,
    /// Wrong pairing codes per address.
    WrongCodesOfAddress,
    /// Exports per agent.
    Exports,
    /// Failed sign-ins to the dashboard per address.
    SignIns,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::WrongCodes => "codes",
            Self::WrongCodesOfAddress => "codes_of_address",
            Self::Exports => "exports",
            Self::SignIns => "sign_ins",
        }
    }
}

/// So many times in so many seconds, from the first time on. 0 of either means no limit.
#[derive(Debug, Clone)]
pub struct Limit {
    pub kind: Kind,
    /// Whose count it is.
    pub who: String,
    /// How often.
    pub max: u32,
    /// The length of the window.
    pub seconds: u32,
}

/// A limit is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded {
    /// How often it is allowed.
    pub max: u32,
    /// Seconds until it begins anew.
    pub reset_seconds: i64,
    /// Seconds until a retry makes sense, as the client is told.
    pub retry_seconds: i64,
}

impl Limit {
    fn is_off(&self) -> bool {
        self.max == 0 || self.seconds == 0
    }

    fn length_ms(&self) -> i64 {
        i64::from(self.seconds) * 1_000
    }

    /// The window that runs. A clock that was set back ends it too.
    fn running(&self, found: Option<Window>, now: Timestamp) -> Option<Window> {
        found.filter(|window| (1..=self.length_ms()).contains(&window.ends_at.ms_since(now)))
    }

    fn check_window(&self, window: Window, now: Timestamp) -> Result<(), Error> {
        if window.used < i64::from(self.max) {
            return Ok(());
        }
        let reset_seconds = (window.ends_at.ms_since(now) + 999) / 1_000;
        // An agent that writes too much waits for a whole window: agents that answer each other calm down.
        let retry_seconds = if self.kind == Kind::Messages { i64::from(self.seconds) } else { reset_seconds };
        Err(Error::LimitExceeded(Exceeded { max: self.max, reset_seconds, retry_seconds }))
    }

    /// Refuses if the limit is used up. This writes nothing: the last of a use case's checks, before its first write.
    pub fn admit(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<Admission<'_>, Error> {
        if self.is_off() {
            return Ok(Admission::default());
        }
        let found = rows::find(tx, self.kind.as_str(), &self.who)?;
        let fresh = Window { ends_at: Timestamp(now.0 + self.length_ms()), used: 0 };
        let window = self.running(found, now).unwrap_or(fresh);
        self.check_window(window, now)?;
        let counted = Window { used: window.used + 1, ..window };
        Ok(Admission(Some(Counting { limit: self, is_new: found.is_none(), counted })))
    }

    /// Says that [`Limit::admit`] follows, so that its row can be fetched together with others.
    pub fn expect(&self, tx: &mut Tx<'_>) -> Result<(), Error> {
        if self.is_off() { Ok(()) } else { Ok(rows::expect(tx, self.kind.as_str(), &self.who)?) }
    }

    /// Takes back one that was counted.
    pub fn give_back(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<(), Error> {
        if self.is_off() {
            return Ok(());
        }
        let found = rows::find(tx, self.kind.as_str(), &self.who)?;
        if let Some(window) = self.running(found, now).filter(|window| window.used > 0) {
            let window = Window { used: window.used - 1, ..window };
            rows::update(tx, self.kind.as_str(), &self.who, &window)?;
        }
        Ok(())
    }
}

/// There is room within a limit for one more.
#[derive(Debug, Default)]
#[must_use = "it is not counted yet"]
pub struct Admission<'a>(Option<Counting<'a>>);

#[derive(Debug)]
struct Counting<'a> {
    limit: &'a Limit,
    is_new: bool,
    counted: Window,
}

impl Admission<'_> {
    /// Counts it.
    pub fn count(self, tx: &mut Tx<'_>) -> Result<(), Error> {
        let Some(Counting { limit, is_new, counted }) = self.0 else { return Ok(()) };
        let (kind, who) = (limit.kind.as_str(), limit.who.as_str());
        if is_new {
            rows::insert(tx, kind, who, &counted)?
        } else {
            rows::update(tx, kind, who, &counted)?
        }
        Ok(())
    }
}

/// [`Limit::admit`] where there may be no limit.
pub(crate) fn admit<'a>(
    tx: &mut Tx<'_>,
    limit: Option<&'a Limit>,
    now: Timestamp,
) -> Result<Admission<'a>, Error> {
    limit.map_or(Ok(Admission::default()), |limit| limit.admit(tx, now))
}

/// Counts one within each of several limits, or refuses it.
pub fn take_all(tx: &mut Tx<'_>, limits: &[Limit], now: Timestamp) -> Result<(), Error> {
    let admissions = limits.iter().map(|limit| limit.admit(tx, now)).collect::<Result<Vec<_>, _>>()?;
    admissions.into_iter().try_for_each(|admission| admission.count(tx))
}
