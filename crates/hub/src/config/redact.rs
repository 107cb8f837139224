//! What may be shown of settings that contain secrets.

use super::Config;

/// What is shown instead of a secret.
const HIDDEN: &str = "(hidden)";

impl Config {
    /// The settings for the operator, without the token and the passwords of the database and the bus.
    #[must_use]
    pub fn redacted(&self) -> serde_json::Value {
        let mut shown = self.clone();
        shown.admin_token = shown.admin_token.map(|_| HIDDEN.into());
        shown.database = shown.database.as_deref().map(redact_database);
        shown.bus = shown.bus.as_deref().map(super::redact_bus);
        serde_json::to_value(&shown).unwrap_or_default()
    }
}

/// A database setting without its secrets: the path of a file, or the scheme, host and name of a server.
///
/// This lists what may be shown instead of what must be hidden: a password may contain any character, and may stand
/// before the host, in the query, or in the wrong place. Whatever is not exactly of the expected form is hidden.
#[must_use]
pub fn redact_database(setting: &str) -> String {
    if setting.starts_with("sqlite:") {
        return setting.to_owned();
    }
    let Some((scheme, rest)) = setting.split_once("://") else { return HIDDEN.into() };
    if scheme.is_empty() || !scheme.bytes().all(|b| b.is_ascii_alphabetic()) {
        return HIDDEN.into();
    }
    match place_of(rest) {
        Some(place) => format!("{scheme}://{place}"),
        None => format!("{scheme}://{HIDDEN}"),
    }
}

/// The host, port and name in `user:password@host:port/name?options`; `None` for any other form.
fn place_of(rest: &str) -> Option<String> {
    let (address, _options) = rest.split_once('?').unwrap_or((rest, ""));
    let (user, place) = match address.split_once('@') {
        Some((secret, _)) if secret.contains('/') => return None,
        Some((_, place)) => ("(hidden)@", place),
        None => ("", address),
    };
    // A second @ means that one belongs to the password, wherever it is.
    if rest.matches('@').count() > usize::from(!user.is_empty()) {
        return None;
    }
    let (host, name) = place.split_once('/').unwrap_or((place, ""));
    let is_plain = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    // Without a user, what looks like a port may be a password whose host was forgotten.
    let bare = match host.rsplit_once(':') {
        Some((bare, port)) if !user.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => bare,
        Some(_) => return None,
        None => host,
    };
    (is_plain(bare) && is_plain(name)).then(|| format!("{user}{place}"))
}
