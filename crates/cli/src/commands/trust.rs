//! `tandem trust`: the pinned public key of another agent, the one that the hub presents now, and accepting a new one.

use clap::Args;
use serde_json::json;
use tandem_client::Pins;
use tandem_core::AgentId;
use tandem_seal::PublicKey;

use super::{Common, Session};
use crate::exit::{Exit, Failure, Outcome};
use crate::terminal::text;

/// Arguments of `tandem trust`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem trust bob                         the words to compare with bob's owner
  tandem trust bob --accept                trust the key that the hub presents now

The key of each agent is pinned when something is first encrypted for it or read from it. Compare the words over
another channel, such as the phone: the hub could present a key of its own. Ends with 1 if the key has changed.")]
pub(crate) struct Arguments {
    /// The other agent: name, alias or id
    #[arg(value_name = "AGENT")]
    agent: String,
    /// Pin the key that the hub presents now
    #[arg(long)]
    accept: bool,
}

/// Shows and accepts keys.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    Session::run(common, async |session| {
        let Some(profile) = &session.profile else {
            return Err(Failure::refused("keys are pinned in a profile, and TANDEM_KEY has none")
                .next("Unset TANDEM_KEY, or log in first: `tandem login`."));
        };
        let pins = Pins::at(session.profiles.pins_file(&profile.name))?;
        let agent = agent(&session, &arguments.agent).await?;
        let found = session.client.presented_key(&agent).await?;
        let pinned = pins.get(&agent)?;
        let state = match &pinned {
            None => "new",
            Some(pinned) if *pinned == found.key => "same",
            Some(_) => "changed",
        };
        if arguments.accept {
            pins.accept(&agent, &found.name, &found.key)?;
        }
        let name = text::line(&found.name);
        let hex = |key: &PublicKey| key.fingerprint().hex();
        let view = json!({
            "agentId": agent, "agentName": found.name, "state": state, "accepted": arguments.accept,
            "pinned": pinned.as_ref().map(hex), "presented": hex(&found.key),
        });
        session.terminal.result(&view, |terminal| {
            let words = |key: &PublicKey| key.fingerprint().words();
            let pinned = pinned.as_ref().map_or_else(|| "not yet".to_owned(), words);
            terminal.line(&format!("Agent   {} ({agent})", terminal.bold(&name)))?;
            terminal.line(&format!("Pinned  {pinned}"))?;
            terminal.line(&format!("Now     {}", words(&found.key)))
        })?;
        match (state, arguments.accept) {
            (_, true) => session.terminal.note(&format!("The key of {name} is pinned.")),
            ("new", false) => session.terminal.note(&format!(
                "If {name}'s owner has the same words: `tandem trust {agent} --accept`. Else it is pinned at first use."
            )),
            ("changed", false) => {
                return Err(Failure::new(Exit::Refused, format!("the public key of {name} has changed")).next(
                    format!(
                        "If its owner confirms the new words: `tandem trust {agent} --accept`. If not, send nothing."
                    ),
                ));
            }
            _ => {}
        }
        Ok(())
    })
}

/// A connection, or the id of a member of a network.
async fn agent(session: &Session, named: &str) -> Outcome<AgentId> {
    match session.agent(named).await {
        Ok(connection) => Ok(connection.connected.agent_id),
        Err(failure) => match named.parse::<AgentId>() {
            Ok(id) if failure.exit == Exit::NotFound && named.starts_with("agent_") => Ok(id),
            _ => Err(failure),
        },
    }
}
