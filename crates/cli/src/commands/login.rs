//! `tandem login`: a profile for an agent that exists already. The API key comes from a hidden prompt or a pipe.

use std::path::{Path, PathBuf};

use clap::Args;
use tandem_api::agents::Profile as AgentProfile;
use tandem_client::Client;
use tandem_seal::{PrivateKey, PublicKey};

use super::Common;
use super::register::announce_current;
use super::session::{block_on, hub_of};
use crate::exit::{Failure, Outcome};
use crate::profiles::{Profile, Profiles, name_of};
use crate::signals;
use crate::terminal::{Terminal, secret, text};

/// Arguments of `tandem login`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem login --hub https://hub.example.com               asks for the API key without showing it
  pass show tandem/ada | tandem login --as ada             from a password manager
  tandem login --private-key ada.pem                       with the key for encrypted tasks")]
pub(crate) struct Arguments {
    /// The profile on this machine; an existing one keeps its hub [default: the agent's name]
    #[arg(long = "as", value_name = "PROFILE")]
    profile: Option<String>,
    /// The agent's private key (PEM) for encrypted tasks; it is copied into the profile
    #[arg(long, value_name = "FILE")]
    private_key: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let terminal = common.terminal();
    let profiles = Profiles::of_user()?;
    let hub = match (&common.hub, &arguments.profile) {
        // A new key for a profile is for the hub that it is on. Another hub must not see it.
        (None, Some(name)) => match profiles.load(name)? {
            Some(existing) => existing.hub_url()?,
            None => hub_of(common)?,
        },
        _ => hub_of(common)?,
    };
    let key = arguments.private_key.as_deref().map(load).transpose()?;
    let api_key = secret::read(&format!("API key for {hub}: "))?;
    let client = Client::new(hub)?.with_key(&api_key);
    block_on(async {
        let agent = client.profile().await?;
        if let (Some(key), Some(file)) = (&key, &arguments.private_key) {
            check_match(key, file, &agent)?;
        }
        let agent_name = agent.name.as_str().to_owned();
        let profile = Profile {
            name: arguments.profile.clone().unwrap_or_else(|| name_of(&agent_name)),
            hub: client.hub().to_string(),
            agent_id: agent.id.clone(),
            agent_name,
            api_key,
            next_api_key: None,
        };
        let _locked = profiles.reserve(&profile.name)?;
        // A private key and its profile are written both or not at all.
        let held = signals::hold()?;
        let key = stored_key(&profiles, &profile, &agent, key)?;
        profiles.save(&profile)?;
        held.release();
        let before = profiles.current()?.filter(|before| *before != profile.name);
        profiles.set_current(&profile.name)?;
        show(&terminal, &profile, &agent, key.as_ref(), before.as_deref())
    })
}

fn load(file: &Path) -> Outcome<PrivateKey> {
    PrivateKey::load(file).map_err(|cause| Failure::refused(cause.to_string()))
}

/// Checks that a private key belongs to the public key that the hub has.
fn check_match(key: &PrivateKey, file: &Path, agent: &AgentProfile) -> Outcome {
    let Some(registered) = &agent.public_key else {
        return Err(Failure::refused(
            "this agent is registered without a public key, so it has no private one",
        ));
    };
    let registered = PublicKey::from_pem(registered.as_str())
        .map_err(|cause| Failure::refused(format!("the hub's answer: {cause}")))?;
    if registered == *key.public() {
        return Ok(());
    }
    Err(Failure::refused(format!(
        "{} is not the private key of this agent\n  registered: {}\n  given:      {}",
        file.display(),
        registered.fingerprint().words(),
        key.public().fingerprint().words()
    ))
    .next("Give the key that was made when this agent was registered."))
}

/// The private key in the profile: the given one, or the one that is there already.
fn stored_key(
    profiles: &Profiles,
    profile: &Profile,
    agent: &AgentProfile,
    given: Option<PrivateKey>,
) -> Outcome<Option<PrivateKey>> {
    if let Some(old) = profiles.load(&profile.name)?
        && old.agent_id != profile.agent_id
    {
        let what = format!("the profile {:?} belongs to another agent ({})", profile.name, old.agent_id);
        return Err(Failure::refused(what).next("Choose another name for this one with --as PROFILE."));
    }
    let file = profiles.key_file(&profile.name);
    if let Some(key) = given {
        profiles.save_key(&profile.name, &key)?;
        return Ok(Some(key));
    }
    if !file.exists() {
        return Ok(None);
    }
    let key = load(&file)?;
    check_match(&key, &file, agent).map_err(|failure| {
        failure.next("Move that file away, or give the right key with --private-key FILE.")
    })?;
    Ok(Some(key))
}

fn show(
    terminal: &Terminal,
    profile: &Profile,
    agent: &AgentProfile,
    key: Option<&PrivateKey>,
    before: Option<&str>,
) -> Outcome {
    let fingerprint = key.map(|key| key.public().fingerprint());
    let view = profile.view(&profile.hub, fingerprint.as_ref());
    terminal.result(&view, |terminal| {
        let name = terminal.bold(&text::line(&profile.agent_name));
        terminal.line(&format!("Logged in as {name} ({}) on {}", profile.agent_id, profile.hub))
    })?;
    announce_current(terminal, profile, before);
    if key.is_none() && agent.public_key.is_some() {
        terminal.note(&format!(
            "Encrypted tasks cannot be read here: this machine does not have the agent's private key. \
             Add it with `{} --private-key FILE`.",
            profile.login_command()
        ));
    }
    Ok(())
}
