//! What the tool says about the event, on standard input. A tool must not be disturbed: one that never closes the stream
//! does not hold the hook up, and one that says more than is read gets no error.

use std::fmt;
use std::io::Read;
use std::time::{Duration, Instant};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// Bytes in which the fields are looked for. A tool's answer can be long, but they come before it.
const PARSED_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Time limit for the next bytes. A tool that says something says it at once.
const SILENCE_MAX: Duration = Duration::from_millis(500);
/// Time limit for everything.
const READ_MAX: Duration = Duration::from_secs(2);
/// Characters of an event's name.
const EVENT_CHARS_MAX: usize = 40;
const PIECE_BYTES: usize = 64 * 1024;

/// What the tool says, as far as it matters.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) session_id: Option<String>,
    hook_event_name: Option<String>,
    pub(super) stop_hook_active: Option<bool>,
}

impl Input {
    /// Reads standard input. Without an object in it, the hook works all the same.
    pub(super) fn read() -> Self {
        let mut stdin = ImpatientStdin { until: Instant::now() + READ_MAX, silence_max: SILENCE_MAX };
        let (mut bytes, mut piece) = (Vec::new(), vec![0; PIECE_BYTES]);
        while bytes.len() < PARSED_BYTES_MAX
            && let Ok(count @ 1..) = stdin.read(&mut piece)
        {
            bytes.extend_from_slice(&piece[..count]);
            // A whole object: nothing else comes, even if the tool does not close the stream.
            if bytes.trim_ascii_end().ends_with(b"}")
                && let Ok(input) = Self::parse(&bytes)
            {
                stdin.silence_max = Duration::ZERO;
                let _ = std::io::copy(&mut stdin, &mut std::io::sink());
                return input;
            }
        }
        let _ = std::io::copy(&mut stdin, &mut std::io::sink());
        Self::parse(&bytes).unwrap_or_else(|input| input)
    }

    /// The fields of an object; those that came before the error if it is none.
    fn parse(bytes: &[u8]) -> Result<Self, Self> {
        let mut input = Self::default();
        match Fields(&mut input).deserialize(&mut serde_json::Deserializer::from_slice(bytes)) {
            Ok(()) => Ok(input),
            Err(_) => Err(input),
        }
    }

    /// The name of the event. It is printed, so it has to be a name.
    pub(super) fn event(&self) -> &str {
        let name = self.hook_event_name.as_deref().unwrap_or_default();
        let is_name = !name.is_empty()
            && name.len() <= EVENT_CHARS_MAX
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_name { name } else { "SessionStart" }
    }

    /// Whether the model has just finished. An answer makes it go on.
    pub(super) fn is_stop(&self) -> bool {
        matches!(self.event(), "Stop" | "AfterAgent")
    }
}

/// Reads the fields one by one, so that those of an object that is cut off are not lost.
struct Fields<'a>(&'a mut Input);

impl<'de> DeserializeSeed<'de> for Fields<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "session_id" => self.0.session_id = map.next_value()?,
                "hook_event_name" => self.0.hook_event_name = map.next_value()?,
                "stop_hook_active" => self.0.stop_hook_active = map.next_value()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Standard input, which ends when nothing comes for a while.
struct ImpatientStdin {
    until: Instant,
    silence_max: Duration,
}

impl Read for ImpatientStdin {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let stdin = std::io::stdin();
        let wait = self.silence_max.min(self.until.saturating_duration_since(Instant::now()));
        let wait = Timespec::try_from(wait).map_err(std::io::Error::other)?;
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&wait))? {
            0 => Ok(0),
            // Not through the buffer of the standard library, whose content `poll` does not see.
            _ => Ok(rustix::io::read(&stdin, buffer)?),
        }
    }
}
