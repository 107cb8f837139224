//! `tandem rotate`: a new API key for the agent. The old one ends at once, so the new one must not get lost.

use clap::Args;
use tandem_client::{Client, Error};

use super::{Common, Session};
use crate::exit::{Exit, Failure, Outcome};
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
        // The same profile again, which shows that a new one can be written.
        session.profiles.save(&stored)?;
        // The hub replaces the key when it has the request; a process that ends before the answer is stored loses it.
        let held = signals::hold()?;
        let new = match session.client.rotate_key().await {
            Ok(new) => new,
            Err(error) if error.may_have_taken_effect() => {
                return Err(after_lost_answer(&session.client, error).await);
            }
            Err(error) => return Err(error.into()),
        };
        let profile = Profile { api_key: new.api_key.as_str().to_owned(), ..stored };
        if let Err(failure) = session.profiles.save(&profile) {
            return Err(rescue(&session, &profile, failure));
        }
        let view =
            serde_json::json!({ "profile": profile.name, "agentId": profile.agent_id, "rotated": true });
        session.terminal.result(&view, |terminal| {
            terminal
                .line(&format!("The API key of {} is replaced. The old one no longer works.", profile.name))
        })?;
        held.release();
        Ok(())
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

/// What has happened when the answer was lost: the old key tells.
async fn after_lost_answer(client: &Client, error: Error) -> Failure {
    let failure = Failure::from(error);
    match client.profile().await {
        Ok(_) => failure.next("The key was not replaced: the old one still works. Run `tandem rotate` again."),
        Err(error) if error.code() == Some(tandem_api::error::Code::Unauthorized) => failure.next(
            "The hub replaced the key, but its answer was lost: the old key no longer works and nobody has the new \
             one.\n  This agent cannot be used any more. Register a new one with `tandem register NAME` and pair it \
             again;\n  ask the operator of the hub to suspend the old one.",
        ),
        Err(_) => failure.next(
            "It is not known whether the key was replaced. When the hub is back, `tandem profile show` tells: if it \
             works,\n  the old key is still valid; if the hub refuses it, the new key was lost and the agent with it.",
        ),
    }
}

/// Puts the new key where there is room: without it the agent is lost. It is not printed, because a terminal's history
/// and the logs of scripts are no place for a secret.
fn rescue(session: &Session, profile: &Profile, failure: Failure) -> Failure {
    match session.profiles.rescue_key(profile) {
        Some(file) => failure.next(format!(
            "The key was replaced and saved in {0}. Make room for the profile, then: `{1} < {0}`, and remove the file.",
            file.display(),
            profile.login_command()
        )),
        None => Failure::new(
            Exit::Refused,
            format!(
                "the key of {} was replaced, but the new one could be saved nowhere: the agent cannot be used any more",
                profile.name
            ),
        )
        .next("Make room on the disk and register a new agent with `tandem register NAME`."),
    }
}
