//! `tandem register`: makes an agent on a hub and its profile on this machine.
//!
//! Everything that can fail here fails before the hub is asked: the name is free, the folder can be written, the key
//! exists. The API key is made here and shown nowhere; the hub gets its hash.

use clap::Args;
use tandem_api::agents::{Challenge, Profile as AgentProfile, RegisterAgent};
use tandem_client::{ApiKey, Client};
use tandem_core::text::{AgentName, Capabilities};
use tandem_seal::PrivateKey;

use super::session::{block_on, hub_of};
use super::{Common, input};
use crate::exit::{Failure, Outcome};
use crate::profiles::{Profile, Profiles, name_of};
use crate::signals;
use crate::terminal::{Terminal, progress, text};

/// The hardest proof of work that a hub can ask for; more could not be solved.
const DIFFICULTY_MAX: u32 = 40;

/// Arguments of `tandem register`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem register ada                                      on the hub of this machine
  tandem register \"Ada's coder\" --hub https://hub.example.com --as ada
  tandem register bob --capability rust --capability code-review --description \"Reviews Rust code\"

The API key and the private key are stored for you only and never shown. The private key opens what is encrypted
for this agent: a lost one cannot be recovered, so keep a copy of its file in a safe place.")]
pub(crate) struct Arguments {
    /// The agent's name, which others see
    #[arg(value_name = "NAME")]
    name: String,
    /// What the agent does, for its connections and the directory
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// A tag by which others find the agent, such as code-review; can be repeated
    #[arg(long = "capability", value_name = "TAG")]
    capabilities: Vec<String>,
    /// Register without a key: nothing can then be encrypted for this agent
    #[arg(long)]
    no_encryption: bool,
    /// The name of the profile on this machine [default: NAME, with - for spaces]
    #[arg(long = "as", value_name = "PROFILE")]
    profile: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let terminal = common.terminal();
    let request = request(arguments)?;
    let name = arguments.profile.clone().unwrap_or_else(|| name_of(&arguments.name));
    let client = Client::new(hub_of(common)?)?;
    let profiles = Profiles::of_user()?;
    block_on(async {
        let encrypted = !arguments.no_encryption;
        let (profile, key) = make_agent(&client, &profiles, &terminal, &name, request, encrypted).await?;
        let before = profiles.current()?.filter(|before| *before != profile.name);
        profiles.set_current(&profile.name)?;
        show(&terminal, &profile, key.as_ref(), before.as_deref())?;
        terminal.note("Next: `tandem pair` connects another agent.");
        Ok(())
    })
}

/// Makes an agent on a hub, its keys and its profile. It does not become the current one.
pub(super) async fn make_agent(
    client: &Client,
    profiles: &Profiles,
    terminal: &Terminal,
    name: &str,
    request: RegisterAgent,
    encrypted: bool,
) -> Outcome<(Profile, Option<PrivateKey>)> {
    let _locked = profiles.reserve(name)?;
    if profiles.load(name)?.is_some() {
        return Err(Failure::refused(format!("there is already a profile {name:?} on this machine")).next(
            "Choose another name for this one with --as PROFILE, or remove the old one with `tandem logout`.",
        ));
    }
    profiles.refuse_stray_key(name)?;
    // First of all, so that nobody waits for a key when the hub cannot be reached.
    let challenge = client.challenge().await?;
    let key = match encrypted {
        true => Some(new_key(terminal)?),
        false => None,
    };
    let solved = solve(challenge, terminal, request).await?;
    // From here on a process that ends would leave a private key without a profile, or an agent without its key.
    let held = signals::hold()?;
    let (agent, api_key) = register(client, profiles, name, solved, key.as_ref()).await?;
    let profile = Profile {
        name: name.to_owned(),
        hub: client.hub().to_string(),
        agent_id: agent.id,
        agent_name: agent.name.into(),
        api_key: api_key.into(),
        next_api_key: None,
    };
    match profiles.save(&profile) {
        Ok(()) => {
            held.release();
            Ok((profile, key))
        }
        Err(failure) => Err(undo(client, profiles, &profile, failure).await),
    }
}

fn request(arguments: &Arguments) -> Outcome<RegisterAgent> {
    let name: AgentName = input::checked("NAME", arguments.name.as_str())?;
    let description = arguments.description.as_deref();
    let description = description.map(|text| input::checked("--description", text)).transpose()?;
    let capabilities = capabilities(&arguments.capabilities)?;
    Ok(RegisterAgent { description, capabilities, ..RegisterAgent::new(name) })
}

/// Tags from arguments; none if there are no arguments.
pub(super) fn capabilities(tags: &[String]) -> Outcome<Option<Capabilities>> {
    if tags.is_empty() {
        return Ok(None);
    }
    let tags = tags.iter().map(|tag| input::checked("--capability", tag.as_str()));
    let tags = tags.collect::<Outcome<Vec<_>>>()?;
    let tags = Capabilities::try_from(tags);
    tags.map(Some).map_err(|unfit| Failure::usage(format!("--capability {}", unfit.0)))
}

fn new_key(terminal: &Terminal) -> Outcome<PrivateKey> {
    let spinner = progress::spinner(terminal, "Making a key for encryption (RSA-4096)");
    let key = PrivateKey::generate().map_err(|cause| Failure::refused(format!("cannot make a key: {cause}")));
    spinner.finish_and_clear();
    key
}

/// Adds the solution of the hub's challenge, if it asks for one.
async fn solve(challenge: Challenge, terminal: &Terminal, request: RegisterAgent) -> Outcome<RegisterAgent> {
    if challenge.difficulty == 0 {
        return Ok(request);
    }
    if challenge.difficulty > DIFFICULTY_MAX {
        return Err(Failure::refused(format!(
            "the hub asks for a proof of work that nobody can solve (difficulty {})",
            challenge.difficulty
        )));
    }
    let (text, solution) = solution(challenge, terminal).await?;
    Ok(RegisterAgent { challenge: Some(text), solution: Some(solution), ..request })
}

/// Searches on a thread of its own. Ctrl-C ends the process: nothing has been written or sent yet.
async fn solution(challenge: Challenge, terminal: &Terminal) -> Outcome<(String, String)> {
    let expected = 1_u64 << challenge.difficulty;
    let bar = progress::steps(terminal, "Solving the hub's proof of work", expected);
    let shown = bar.clone();
    let search = move || {
        let solution = tandem_client::solve(&challenge, |attempts| {
            // The number of attempts is a matter of luck; a bar beyond its end would be confusing.
            shown.set_position(attempts.min(expected));
            true
        });
        solution.map(|solution| (challenge.challenge, solution))
    };
    let found = tokio::task::spawn_blocking(search).await.ok().flatten();
    bar.finish_and_clear();
    found.ok_or_else(|| Failure::refused("found no solution for the hub's proof of work"))
}

/// Writes the key, then registers. Without a registration the key is removed again.
async fn register(
    client: &Client,
    profiles: &Profiles,
    name: &str,
    request: RegisterAgent,
    key: Option<&PrivateKey>,
) -> Outcome<(AgentProfile, ApiKey)> {
    profiles.check_writable(name)?;
    if let Some(key) = key {
        profiles.save_key(name, key)?;
    }
    let request = RegisterAgent { public_key: key.map(|key| key.public().to_pem()), ..request };
    let failure = match client.register(&request, &ApiKey::generate()?).await {
        Ok(registered) => return Ok(registered),
        Err(failure) => failure,
    };
    let lost = failure.may_have_taken_effect();
    let failure = Failure::from(failure);
    let _ = profiles.remove(name);
    match lost {
        true => Err(failure.next(
            "An agent may now exist there that nobody has the key of. It is empty and harms nobody: register again.",
        )),
        false => Err(failure),
    }
}

/// Deletes an agent whose profile could not be saved. Printing its API key instead would leave a secret in logs and in
/// the terminal's history, and a new agent has nothing yet that would be lost.
async fn undo(client: &Client, profiles: &Profiles, profile: &Profile, failure: Failure) -> Failure {
    let deleted = client.clone().with_key(&profile.api_key).delete_agent().await;
    let _ = profiles.remove(&profile.name);
    match deleted {
        Ok(_) => failure.next("The registration was undone. Make room for the profile and register again."),
        Err(_) => failure.next(format!(
            "The agent {} stays on the hub without anyone having its key. It is empty: register again.",
            profile.agent_id
        )),
    }
}

pub(super) fn show(
    terminal: &Terminal,
    profile: &Profile,
    key: Option<&PrivateKey>,
    before: Option<&str>,
) -> Outcome {
    let fingerprint = key.map(|key| key.public().fingerprint());
    let view = profile.view(&profile.hub, fingerprint.as_ref());
    terminal.result(&view, |terminal| {
        let name = terminal.bold(&text::line(&profile.agent_name));
        terminal.line(&format!("Registered {name} ({}) on {}", profile.agent_id, profile.hub))?;
        let words = fingerprint.map_or_else(|| "no key: no encryption".to_owned(), |print| print.words());
        terminal.line(&format!("Fingerprint  {words}"))
    })?;
    announce_current(terminal, profile, before);
    Ok(())
}

/// Says which profile commands now use, and how to go back.
pub(super) fn announce_current(terminal: &Terminal, profile: &Profile, before: Option<&str>) {
    match before {
        Some(before) => terminal.note(&format!(
            "Commands now act as {}. `tandem context use {before}` switches back.",
            profile.name
        )),
        None => terminal.note(&format!("Commands now act as {}.", profile.name)),
    }
}
