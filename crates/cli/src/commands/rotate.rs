//! `tandem rotate`: a new API key for the agent. It is made here and saved in the profile before the hub hears of it, so it
//! cannot get lost: not with an answer, and not with this process.

use clap::Args;
use tandem_api::error::Code;
use tandem_client::ApiKey;

use super::{Common, Session};
use crate::exit::{Failure, Outcome};
use crate::profiles::Profile;
use crate::signals;

/// Arguments of `tandem rotate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem rotate
  tandem rotate --agent bob

The old key stops working at once, everywhere. Other machines with this agent log in again with
`tandem login --hub URL --as PROFILE`.")]
pub(crate) struct Arguments {}

/// Replaces the API key.
pub(crate) fn run(_: &Arguments, common: &Common) -> Outcome {
    Session::run(common, async |session| {
        let Some(begun) = &session.profile else {
            return Err(Failure::refused(
                "the key in TANDEM_KEY belongs to no profile, so it cannot be replaced",
            )
            .next("Unset TANDEM_KEY, or log in first: `tandem login`."));
        };
        let _locked = session.profiles.reserve(&begun.name)?;
        let stored = stored(&session, begun)?;
        // A rotation that was cut off goes on with its key: a third one could end both.
        let new = stored.next_api_key.clone().map_or_else(ApiKey::generate, |key| Ok(key.into()))?;
        session.profiles.save(&Profile { next_api_key: Some(new.clone().into()), ..stored.clone() })?;
        // A process that ends here leaves both keys; one that may finish leaves the right one.
        let held = signals::hold()?;
        match session.client.rotate_key(&new).await {
            Ok(valid) => {
                let profile = Profile { api_key: valid.into(), next_api_key: None, ..stored };
                session.profiles.save(&profile)?;
                show(&session, &profile)?;
                held.release();
                Ok(())
            }
            // A key that another agent has is of no use.
            Err(error) if error.code() == Some(Code::KeyTaken) => {
                session.profiles.save(&Profile { next_api_key: None, ..stored })?;
                Err(error.into())
            }
            // Whatever was answered: an earlier try may have reached the hub, or a proxy may have spoken in its place.
            Err(error) => Err(Failure::from(error).next(
                "It is not known whether the key was replaced. Both keys are saved, and commands use the one that works;\n  \
                 `tandem rotate` finishes this.",
            )),
        }
    })
}

fn show(session: &Session, profile: &Profile) -> Outcome {
    let view = serde_json::json!({ "profile": profile.name, "agentId": profile.agent_id, "rotated": true });
    session.terminal.result(&view, |terminal| {
        terminal.line(&format!("The API key of {} is replaced. The old one no longer works.", profile.name))
    })
}

/// The profile as it is now that no other command can change it. Another one may have, after this one began.
fn stored(session: &Session, begun: &Profile) -> Outcome<Profile> {
    match session.profiles.load(&begun.name)? {
        Some(stored) if stored.api_key == begun.api_key => Ok(stored),
        Some(_) => Err(Failure::refused(format!(
            "another command has just replaced the key of {}; nothing was changed",
            begun.name
        ))
        .next("To replace the new key too, run `tandem rotate` again.")),
        None => Err(Failure::refused(format!("another command has just removed the profile {}", begun.name))),
    }
}
