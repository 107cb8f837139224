//! `tandem register`: makes an agent on a hub and its profile on this machine.
//!
//! Everything that can fail here fails before the hub is asked: the name is free, the folder can be written, the key
//! exists. The API key is made here and shown nowhere; the hub gets its hash. If its answer does not arrive, the next
//! `tandem register` finishes what was begun.

use clap::Args;
use tandem_api::agents::{Challenge, Profile as AgentProfile, RegisterAgent};
use tandem_api::error::Code;
use tandem_client::{ApiKey, Client, Error};
use tandem_core::text::{AgentName, Capabilities};
use tandem_seal::PrivateKey;

use super::session::{block_on, hub_of};
use super::{Common, input};
use crate::exit::{Failure, Outcome};
use crate::profiles::{Pending, Profile, Profiles, name_of};
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

/// Makes an agent on a hub, its keys and its profile, or finishes what an earlier command has begun. It does not become the
/// current one.
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
    let hub = client.hub().to_string();
    if let Some(begun) = profiles.pending(name)? {
        begun.check(&hub, &request, name)?;
        terminal.note("An earlier registration was not finished. It is finished now, as it was begun.");
        let registration = Registration { client, profiles, terminal, name, pending: begun };
        return match client.holder_of(&registration.api_key()).await {
            Ok(agent) => {
                let key = registration.stored_key()?;
                registration.save(agent, registration.api_key(), key).await
            }
            // The hub knows nothing of it.
            Err(error) if error.code() == Some(Code::Unauthorized) => registration.carry_out(false).await,
            Err(error) => Err(error.into()),
        };
    }
    profiles.refuse_stray_key(name)?;
    let (api_key, idempotency_key) = (ApiKey::generate()?.into(), tandem_client::random_key());
    let pending = Pending { hub, api_key, idempotency_key, encrypted, request };
    Registration { client, profiles, terminal, name, pending }.carry_out(true).await
}

/// A registration in progress.
struct Registration<'a> {
    client: &'a Client,
    profiles: &'a Profiles,
    terminal: &'a Terminal,
    name: &'a str,
    pending: Pending,
}

impl Registration<'_> {
    fn api_key(&self) -> ApiKey {
        self.pending.api_key.clone().into()
    }

    /// The private key that the command before has written, if it came so far.
    fn stored_key(&self) -> Outcome<Option<PrivateKey>> {
        let file = self.profiles.key_file(self.name);
        let load = |file: &std::path::Path| PrivateKey::load(file).map_err(tandem_client::Error::from);
        Ok(file.exists().then(|| load(&file)).transpose()?)
    }

    /// Registers the agent. Everything is written down before, for the case that no answer comes.
    async fn carry_out(&self, is_new: bool) -> Outcome<(Profile, Option<PrivateKey>)> {
        // First of all, so that nobody waits for a key when the hub cannot be reached.
        let challenge = self.client.challenge().await?;
        let key = match (self.stored_key()?, self.pending.encrypted) {
            (None, true) => Some(new_key(self.terminal)?),
            (stored, _) => stored,
        };
        let solved = solve(challenge, self.terminal, self.pending.request.clone()).await?;
        // From here on a process that ends would leave a registration that has to be finished.
        let held = signals::hold()?;
        self.profiles.check_writable(self.name)?;
        self.profiles.save_pending(self.name, &self.pending)?;
        if let Some(key) = &key {
            self.profiles.save_key(self.name, key)?;
        }
        let request = RegisterAgent { public_key: key.as_ref().map(|key| key.public().to_pem()), ..solved };
        let client = self.client.clone().with_idempotency_key(&self.pending.idempotency_key);
        let made = match client.register(&request, &self.api_key()).await {
            Ok((agent, api_key)) => self.save(agent, api_key, key).await?,
            Err(error) => return Err(self.failed(error, is_new).await),
        };
        held.release();
        Ok(made)
    }

    /// What was written down is removed if the hub itself has refused it, and knows nothing of an earlier try.
    async fn failed(&self, error: Error, is_new: bool) -> Failure {
        let is_refused = matches!(&error, Error::Refused(refusal) if (400..500).contains(&refusal.status));
        let is_unknown = async || {
            let holder = self.client.holder_of(&self.api_key()).await;
            holder.is_err_and(|error| error.code() == Some(Code::Unauthorized))
        };
        if is_new && is_refused && is_unknown().await {
            let _ = self.profiles.remove(self.name);
            return error.into();
        }
        let next = self.pending.next_step(self.name);
        Failure::from(error).next(format!("The agent may exist now. Its keys are kept. {next}"))
    }

    async fn save(
        &self,
        agent: AgentProfile,
        api_key: ApiKey,
        key: Option<PrivateKey>,
    ) -> Outcome<(Profile, Option<PrivateKey>)> {
        let profile = Profile {
            name: self.name.to_owned(),
            hub: self.pending.hub.clone(),
            agent_id: agent.id,
            agent_name: agent.name.into(),
            api_key: api_key.into(),
            next_api_key: None,
        };
        let Err(failure) = self.profiles.save(&profile) else { return Ok((profile, key)) };
        // An older hub has made another key, which is nowhere else.
        let is_kept = profile.api_key == self.pending.api_key
            && matches!(self.profiles.pending(self.name), Ok(Some(_)));
        if is_kept {
            return Err(failure.next(format!("Its keys are kept. {}", self.pending.next_step(self.name))));
        }
        Err(undo(self.client, self.profiles, &profile, failure).await)
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
