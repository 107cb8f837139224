//! `tandem demo`: two scripted agents, no model, that show in half a minute what a hub is for.

mod cast;
mod serve;
mod story;

use std::time::Duration;

use clap::Args;
use tandem_client::{Client, Error, HubUrl};

use super::Common;
use super::session::{USUAL_HUB, block_on};
use crate::exit::{Failure, Outcome};
use crate::profiles::Profiles;
use crate::terminal::Terminal;
use cast::{ADA, BOB, Cast};
use story::Stage;

/// Pause between two steps, to read along.
const PAUSE: Duration = Duration::from_millis(700);

/// Arguments of `tandem demo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem demo              on the hub at http://127.0.0.1:3000
  tandem demo --serve      with a hub of its own that is gone afterwards
  tandem demo --clear      remove the two agents with everything they did

The agents stay, as the profiles demo-ada and demo-bob: `tandem task list --agent demo-bob`. Your current profile does
not change.")]
pub(crate) struct Arguments {
    /// Remove the two agents and their profiles
    #[arg(long, conflicts_with_all = ["serve", "fast"])]
    clear: bool,
    /// Do not pause between the steps
    #[arg(long)]
    fast: bool,
    /// Start a temporary hub in this process; nothing stays
    #[arg(long)]
    serve: bool,
}

/// Runs `tandem demo`.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let terminal = common.terminal();
    let profiles = Profiles::of_user()?;
    let pause = if arguments.fast { Duration::ZERO } else { PAUSE };
    block_on(async {
        if arguments.clear {
            return clear(&profiles, &terminal).await;
        }
        if arguments.serve {
            let hub = serve::TemporaryHub::start().await?;
            let client = Client::new(hub.url.clone())?;
            let played = play(&client, None, Stage::new(&terminal, pause)).await;
            hub.stop().await;
            played?;
            return story::next_steps(&terminal, None);
        }
        let client = Client::new(hub(common, &profiles)?)?;
        match client.health().await {
            Ok(_) => {}
            Err(error @ Error::Unreachable { .. }) => {
                return Err(Failure::from(error).next(
                    "Start a hub with `tandem serve`, or let the demo bring one: `tandem demo --serve`.",
                ));
            }
            Err(error) => return Err(error.into()),
        }
        play(&client, Some(&profiles), Stage::new(&terminal, pause)).await?;
        story::next_steps(&terminal, Some(client.hub()))
    })
}

async fn play(client: &Client, profiles: Option<&Profiles>, mut stage: Stage<'_>) -> Outcome {
    stage.title(client.hub())?;
    let cast = Cast::assemble(client, profiles, &mut stage).await?;
    story::play(&cast, &mut stage).await
}

/// The demo's hub: the given one, that of the demo's agents, or the usual one. Not that of the current profile: nobody
/// wants two demo agents on a hub that others use.
fn hub(common: &Common, profiles: &Profiles) -> Outcome<HubUrl> {
    let known = profiles.load(ADA.profile)?.map(|profile| profile.hub);
    if let (Some(given), Some(known)) = (&common.hub, &known)
        && given.parse::<HubUrl>().map(|hub| hub.to_string()).as_ref() != Ok(known)
    {
        return Err(Failure::refused(format!("the demo's agents are already on {known}"))
            .next("Remove them first: `tandem demo --clear`."));
    }
    let text = common.hub.clone().or(known).unwrap_or_else(|| USUAL_HUB.to_owned());
    text.parse().map_err(|cause| Failure::usage(format!("--hub: {cause}")))
}

/// Deletes the agents on the hub, and their profiles.
async fn clear(profiles: &Profiles, terminal: &Terminal) -> Outcome {
    let mut cleared = Vec::new();
    for part in [ADA, BOB] {
        let Some(profile) = profiles.load(part.profile)? else { continue };
        let client = Client::new(profile.hub_url()?)?.with_key(&profile.api_key);
        match client.delete_agent().await {
            Ok(_) => {}
            // The hub has forgotten it already.
            Err(error) if error.code() == Some(tandem_api::error::Code::Unauthorized) => {}
            Err(error) => return Err(error.into()),
        }
        profiles.remove(part.profile)?;
        cleared.push(part.name);
    }
    terminal.result(&serde_json::json!({ "cleared": cleared }), |terminal| match cleared.as_slice() {
        [] => terminal.line("There are no agents of the demo on this machine."),
        names => terminal.line(&format!("Removed {}.", names.join(" and "))),
    })
}
