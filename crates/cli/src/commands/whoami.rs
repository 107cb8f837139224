//! `tandem whoami`: the agent of this machine that commands act as. Asks no hub.

use clap::Args;
use tandem_seal::PrivateKey;

use super::{Common, Session};
use crate::exit::Outcome;
use crate::terminal::text;

/// Arguments of `tandem whoami`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem whoami
  tandem whoami --agent bob --json")]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments, common: &Common) -> Outcome {
    let session = Session::open(common)?;
    let Some(profile) = &session.profile else {
        // Only the hub knows whose key it is, and whether that agent has a key for encryption.
        let hub = session.client.hub().to_string();
        let view = serde_json::json!({ "profile": null, "hub": hub });
        return session
            .terminal
            .result(&view, |terminal| terminal.line(&format!("the agent of TANDEM_KEY on {hub}")));
    };
    let key_file = session.profiles.key_file(&profile.name);
    let fingerprint = match key_file.exists() {
        true => Some(PrivateKey::load(&key_file).map_err(anyhow::Error::from)?.public().fingerprint()),
        false => None,
    };
    let view = profile.view(&session.client.hub().to_string(), fingerprint.as_ref());
    session.terminal.result(&view, |terminal| {
        terminal.line(&format!("Agent        {}", terminal.bold(&text::line(&profile.agent_name))))?;
        terminal.line(&format!("Id           {}", profile.agent_id))?;
        terminal.line(&format!("Hub          {}", session.client.hub()))?;
        terminal.line(&format!("Profile      {}", profile.name))?;
        let words = fingerprint.map_or_else(|| "no key: no encryption".to_owned(), |print| print.words());
        terminal.line(&format!("Fingerprint  {words}"))
    })
}
