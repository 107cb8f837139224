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

/// Shows the profile.
pub(crate) fn run(_: &Arguments, common: &Common) -> Outcome {
    let session = Session::open(common)?;
    let Some(profile) = &session.profile else {
        return session.terminal.line(&format!("the agent of TANDEM_KEY on {}", session.client.hub()));
    };
    let key_file = session.profiles.key_file(&profile.name);
    let fingerprint = match key_file.exists() {
        true => Some(PrivateKey::load(&key_file).map_err(anyhow::Error::from)?.public().fingerprint()),
        false => None,
    };
    let view = serde_json::json!({
        "profile": profile.name,
        "agentId": profile.agent_id,
        "agentName": profile.agent_name,
        "hub": session.client.hub().to_string(),
        "fingerprint": fingerprint.map(|fingerprint| fingerprint.hex()),
    });
    session.terminal.result(&view, |terminal| {
        terminal.line(&format!("Agent        {}", terminal.bold(&text::line(&profile.agent_name))))?;
        terminal.line(&format!("Id           {}", profile.agent_id))?;
        terminal.line(&format!("Hub          {}", session.client.hub()))?;
        terminal.line(&format!("Profile      {}", profile.name))?;
        let words = fingerprint.map_or_else(|| "no key: no encryption".to_owned(), |print| print.words());
        terminal.line(&format!("Fingerprint  {words}"))
    })
}
