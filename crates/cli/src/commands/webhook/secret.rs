//! The secret that signs an agent's webhooks: from a file, or one of the profile's own that stays the same.

use std::io::Read as _;
use std::path::Path;

use tandem_core::text::WebhookSecret;
use tandem_seal::webhooks::new_secret;

use crate::commands::Session;
use crate::exit::{Failure, Outcome};
use crate::profiles::{read_secret, write_secret};

/// What to do about a secret that others may have read.
const REPLACE: &str = "remove it and set another one where your program verifies signatures";

/// Reads a secret from a file that only its owner can read; `-` is standard input.
pub(crate) fn from_file(file: &Path) -> Outcome<WebhookSecret> {
    let text = if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().take(4_096).read_to_string(&mut text)?;
        text
    } else {
        read_secret(file, REPLACE)?
            .ok_or_else(|| Failure::usage(format!("--secret-file: no file {}", file.display())))?
    };
    checked(text.trim())
}

/// The profile's secret, created by the first call and kept beside the profile; `None` without a profile.
pub(crate) fn of_profile(session: &Session) -> Outcome<Option<WebhookSecret>> {
    let Some(profile) = &session.profile else { return Ok(None) };
    let file = session.profiles.webhook_secret_file(&profile.name);
    if let Some(text) = read_secret(&file, REPLACE)? {
        return checked(text.trim()).map(Some);
    }
    let secret = new_secret().ok_or_else(|| Failure::refused("this machine gives no random bytes"))?;
    write_secret(&file, &format!("{secret}\n"))?;
    checked(&secret).map(Some)
}

fn checked(text: &str) -> Outcome<WebhookSecret> {
    text.to_owned().try_into().map_err(|unfit| Failure::usage(format!("the webhook's secret {unfit}")))
}
