//! `tandem trust`: the pinned public key of another agent, the one that the hub presents now, and accepting a new one.

use clap::Args;
use serde_json::json;
use tandem_client::{Error, PeerKey, Pins};
use tandem_core::AgentId;

use super::{Common, Session};
use crate::exit::{Exit, Failure, Outcome};
use crate::terminal::text;

/// Arguments of `tandem trust`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem trust bob                         the words to compare with bob's owner
  tandem trust bob --accept acid-bulb-...  trust the key with these eight words, which his owner has read to you

The key of each agent is pinned when you connect, or when something is first encrypted for it or read from it. Compare
the words over another channel, such as the phone: the hub could present a key of its own. Ends with 1 if the key has
changed, or if another agent has the name of a pinned one.")]
pub(crate) struct Arguments {
    /// The other agent: name, alias or id
    #[arg(value_name = "AGENT")]
    agent: String,
    /// Pin the key with these words, if the hub presents it now
    #[arg(long, value_name = "WORDS")]
    accept: Option<String>,
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
        // Another agent under the name of a pinned one is shown with the key of that one.
        let (pinned, instead_of) = match pins.namesake(&agent, &found) {
            Some(Error::AnotherAgent(other)) => (Some(other.pinned), Some(other.pinned_agent)),
            Some(error) => return Err(error.into()),
            None => (pins.get(&agent)?.map(|key| key.fingerprint()), None),
        };
        let state = match pinned {
            None => "new",
            Some(pinned) if instead_of.is_none() && pinned == found.key.fingerprint() => "same",
            Some(_) => "changed",
        };
        if let Some(words) = &arguments.accept {
            check_words(words, &found)?;
            // Who types a name has said whom it means. The name that the agent has chosen says nothing.
            let named = Some(arguments.agent.as_str()).filter(|named| *named != agent.as_str());
            pins.accept(&agent, &found, named)?;
        }
        let is_accepted = arguments.accept.is_some();
        let name = text::line(&found.name);
        let view = json!({
            "agentId": agent, "agentName": found.name, "state": state, "accepted": is_accepted,
            "pinned": pinned.map(|pinned| pinned.hex()), "pinnedAgentId": instead_of,
            "presented": found.key.fingerprint().hex(),
        });
        session.terminal.result(&view, |terminal| {
            let mut pinned = pinned.map_or_else(|| "not yet".to_owned(), |pinned| pinned.words());
            if let Some(other) = &instead_of {
                pinned.push_str(&format!(" ({other}, another agent)"));
            }
            terminal.line(&format!("Agent   {} ({agent})", terminal.bold(&name)))?;
            terminal.line(&format!("Pinned  {pinned}"))?;
            terminal.line(&format!("Now     {}", found.key.fingerprint().words()))
        })?;
        match (state, is_accepted) {
            (_, true) => {
                session.terminal.note(&format!("The key of {name} is pinned."));
                if let Err(Error::SameName { .. }) = pins.check_named(&found.name, &agent, None) {
                    session.terminal.note(&format!(
                        "Another pinned agent is called {name} too, so the name means neither. Give ids, or say whom you mean: \
                         `tandem connections alias {agent} NAME`."
                    ));
                }
            }
            ("new", false) => session.terminal.note(&format!(
                "If {name}'s owner has the same words: `tandem trust {agent} --accept WORDS`. Else it is pinned at first use."
            )),
            ("changed", false) => {
                let what = match &instead_of {
                    Some(_) => format!("another agent has the name or alias {name}"),
                    None => format!("the public key of {name} has changed"),
                };
                return Err(Failure::new(Exit::Refused, what).next(
                    format!(
                        "If its owner confirms the new words: `tandem trust {agent} --accept WORDS`. If not, send nothing."
                    ),
                ));
            }
            _ => {}
        }
        Ok(())
    })
}

/// Refuses to accept another key than the one whose words a person has compared: the hub may present another one each time.
fn check_words(given: &str, found: &PeerKey) -> Outcome {
    let words = |text: &str| -> Vec<String> {
        let separate = |c: char| c == '-' || c == ',' || c.is_whitespace();
        text.split(separate).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let presented = found.key.fingerprint().words();
    if words(given) == words(&presented) {
        return Ok(());
    }
    let what = format!("the key that the hub presents has other words: {presented}");
    Err(Failure::refused(what).next("Nothing was accepted. Compare all eight words with the owner again."))
}

/// A connection, or the id of a member of a network.
async fn agent(session: &Session, named: &str) -> Outcome<AgentId> {
    match session.presented_agent(named).await {
        Ok(connection) => Ok(connection.connected.agent_id),
        Err(failure) => match named.parse::<AgentId>() {
            Ok(id) if failure.exit == Exit::NotFound && named.starts_with("agent_") => Ok(id),
            _ => Err(failure),
        },
    }
}
