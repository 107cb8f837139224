//! `tandem logout`: removes a profile from this machine and, on request, its agent from the hub.

use clap::Args;

use super::session::block_on;
use super::{Common, Session, input};
use crate::exit::{Failure, Outcome};
use crate::profiles::Profiles;
use crate::terminal::{Terminal, text};

/// Arguments of `tandem logout`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem logout                            forget the current agent on this machine
  tandem logout --agent bob --yes          another one, without a question
  tandem logout --delete-agent             and delete it on the hub, with its tasks, messages and files")]
pub(crate) struct Arguments {
    /// Also delete the agent on the hub, with everything it has
    #[arg(long)]
    delete_agent: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    if let Some(name) = common.agent.as_ref().filter(|_| !arguments.delete_agent) {
        let profiles = Profiles::of_user()?;
        // A registration that was not finished has no profile yet.
        if profiles.pending(name)?.is_some() && profiles.load(name)?.is_none() {
            return remove(&profiles, &common.terminal(), name, arguments.yes);
        }
    }
    let session = Session::open(common)?;
    let Some(profile) = &session.profile else {
        return Err(Failure::refused("the key in TANDEM_KEY belongs to no profile").next("Unset TANDEM_KEY."));
    };
    if !arguments.delete_agent {
        return remove(&session.profiles, &session.terminal, &profile.name, arguments.yes);
    }
    let question = format!(
        "Delete the agent {} on {}, with its connections, tasks, messages and files, and its profile here?",
        text::line(&profile.agent_name),
        session.client.hub()
    );
    input::confirm(&question, arguments.yes)?;
    let _locked = session.profiles.reserve(&profile.name)?;
    block_on(async {
        // On an error the profile stays: its key is the only way to try again.
        let deleted = session.client.delete_agent().await?;
        session.profiles.remove(&profile.name)?;
        session.terminal.result(&deleted, |terminal| {
            terminal.line(&format!(
                "Deleted {} with {} connections, {} tasks, {} messages and {} files.",
                text::line(&profile.agent_name),
                deleted.connections,
                deleted.tasks,
                deleted.messages,
                deleted.files
            ))
        })
    })
}

/// Removes a profile after a question.
pub(super) fn remove(profiles: &Profiles, terminal: &Terminal, name: &str, yes: bool) -> Outcome {
    let loss = match profiles.key_file(name).exists() {
        true => "its API key and its private key; nothing encrypted for it can then be read",
        false => "its API key",
    };
    input::confirm(&format!("Remove the profile {name} from this machine, with {loss}?"), yes)?;
    let _locked = profiles.reserve(name)?;
    profiles.remove(name)?;
    let view = serde_json::json!({ "profile": name, "removed": true });
    terminal.result(&view, |terminal| {
        terminal.line(&format!("Removed the profile {name}. The agent still exists on its hub."))
    })
}
