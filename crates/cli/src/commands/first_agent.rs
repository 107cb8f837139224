//! Makes the first agent of this machine for a hub, for somebody who has got a pairing code.

use std::io::Write as _;

use tandem_api::agents::RegisterAgent;
use tandem_client::{Client, HubUrl};
use tandem_core::text::AgentName;

use super::register::{make_agent, show};
use super::session::{block_on, hub_beside};
use super::{Common, input};
use crate::exit::{Failure, Outcome};
use crate::profiles::{Profiles, name_of};
use crate::terminal::Terminal;

/// The options for a command that acts as the agent of this name, which is made if it does not exist; or as a new one, if
/// this machine has none for the hub. `None` if the command has its agent already.
pub(super) fn for_hub(common: &Common, name: Option<&str>) -> Outcome<Option<Common>> {
    let has_key = std::env::var_os("TANDEM_KEY").is_some_and(|key| !key.is_empty());
    if has_key || (name.is_none() && common.agent.is_some()) {
        return Ok(None);
    }
    let (profiles, terminal) = (Profiles::of_user()?, common.terminal());
    let hub = hub_beside(common, &profiles)?;
    let name = match name {
        Some(name) => name.to_owned(),
        None if has_agent(&profiles, common, &hub)? => return Ok(None),
        // Agents of other hubs are there, and the command says of which.
        None if !terminal.can_ask() && !profiles.names()?.is_empty() => return Ok(None),
        None => ask_name(&terminal, &hub)?,
    };
    let profile_name = name_of(&name);
    // A code that had ended is tried again with the same command.
    if profiles.load(&profile_name)?.is_none() {
        register(&profiles, &terminal, &profile_name, hub, &name)?;
    }
    Ok(Some(Common {
        json: common.json,
        quiet: common.quiet,
        agent: Some(profile_name),
        hub: common.hub.clone(),
    }))
}

/// Whether this machine has an agent: on the hub that was named, else on any.
fn has_agent(profiles: &Profiles, common: &Common, hub: &HubUrl) -> Outcome<bool> {
    let names = profiles.names()?;
    if common.hub.is_none() {
        return Ok(!names.is_empty());
    }
    // A profile that cannot be read may be the one; the command says what is wrong with it.
    let is_on_hub = |name: &String| match profiles.load(name) {
        Ok(profile) => profile.is_some_and(|profile| profile.hub == hub.to_string()),
        Err(_) => true,
    };
    Ok(names.iter().any(is_on_hub))
}

fn ask_name(terminal: &Terminal, hub: &HubUrl) -> Outcome<String> {
    if !terminal.can_ask() {
        let what = format!("there is no agent for {hub} on this machine yet, so one has to be made");
        return Err(Failure::usage(what).next("Give it a name, which others see: --name NAME."));
    }
    let mut errors = std::io::stderr();
    write!(errors, "There is no agent for {hub} on this machine yet. Its name, which others see: ")?;
    let mut typed = String::new();
    std::io::stdin().read_line(&mut typed)?;
    match typed.trim() {
        "" => Err(Failure::usage("an agent needs a name").next("Give it with --name NAME.")),
        name => Ok(name.to_owned()),
    }
}

fn register(profiles: &Profiles, terminal: &Terminal, profile: &str, hub: HubUrl, name: &str) -> Outcome {
    let agent_name: AgentName = input::checked("--name", name)?;
    let client = Client::new(hub)?;
    block_on(async {
        let request = RegisterAgent::new(agent_name);
        let (made, key) = make_agent(&client, profiles, terminal, profile, request, true).await?;
        let before = profiles.current()?.filter(|before| *before != made.name);
        profiles.set_current(&made.name)?;
        if terminal.json {
            return Ok(());
        }
        show(terminal, &made, key.as_ref(), before.as_deref())
    })
}
