//! Connects the agents of one machine with each other. Their keys are read from their files, so no hub is believed.

use tandem_api::connections::RedeemCode;
use tandem_client::{Client, PeerKey, Pins};
use tandem_seal::PrivateKey;

use super::input::{checked, confirm};
use super::pages::Extent;
use crate::exit::{Failure, Outcome};
use crate::profiles::{Profile, Profiles};
use crate::terminal::{Terminal, text};

/// Offers to connect these agents with each other, if a person can be asked and some of them are not. That it failed is a
/// warning: what the command was for is done.
pub(super) async fn offer(profiles: &Profiles, terminal: &Terminal, names: impl IntoIterator<Item = &str>) {
    if terminal.can_ask()
        && let Err(failure) = ask(profiles, terminal, names).await
    {
        terminal.warn(&format!("The agents were not connected: {}", text::line(failure.what())));
    }
}

async fn ask(profiles: &Profiles, terminal: &Terminal, names: impl IntoIterator<Item = &str>) -> Outcome {
    let mut agents = Vec::new();
    for name in names {
        agents.extend(profiles.load(name)?);
    }
    agents.sort_by(|one: &Profile, other| one.agent_id.cmp(&other.agent_id));
    agents.dedup_by(|one, other| one.agent_id == other.agent_id);
    let mut pairs = Vec::new();
    for (number, one) in agents.iter().enumerate() {
        let client = client(one)?;
        let connected = Extent::whole().read(async |query| client.connections(&query).await).await?.items;
        let is_connected =
            |other: &Profile| connected.iter().any(|known| known.connected.agent_id == other.agent_id);
        let others = agents.iter().skip(number + 1).filter(|other| other.hub == one.hub);
        pairs.extend(others.filter(|other| !is_connected(other)).map(|other| (one, other)));
    }
    if pairs.is_empty() {
        return Ok(());
    }
    let words: Vec<String> =
        pairs.iter().map(|(one, other)| format!("{} with {}", one.name, other.name)).collect();
    let question =
        format!("Connect these agents, so that they can send each other tasks: {}?", words.join(", "));
    if confirm(&question, false).is_err() {
        return Ok(());
    }
    for (one, other) in pairs {
        connect(profiles, one, other).await?;
        terminal.done(&format!("Connected {} with {}.", one.name, other.name))?;
    }
    Ok(())
}

async fn connect(profiles: &Profiles, one: &Profile, other: &Profile) -> Outcome {
    let offer = client(one)?.create_pairing_code().await?;
    let code = RedeemCode { code: checked("the hub's code", offer.code.as_str())? };
    let made = client(other)?.redeem_pairing_code(&code).await?;
    if made.agent_id != one.agent_id {
        let what = format!("the hub connected {} with {} instead of {}", other.name, made.agent_id, one.name);
        return Err(Failure::refused(what));
    }
    pin(profiles, one, other)?;
    pin(profiles, other, one)
}

/// Pins the key of a peer for an agent, as it is in the file of the peer.
fn pin(profiles: &Profiles, agent: &Profile, peer: &Profile) -> Outcome {
    let file = profiles.key_file(&peer.name);
    if !file.exists() {
        return Ok(());
    }
    let key = PrivateKey::load(&file).map_err(tandem_client::Error::from)?.public().clone();
    let pins = Pins::at(profiles.pins_file(&agent.name))?;
    Ok(pins.check(&peer.agent_id, &PeerKey::new(&peer.agent_name, None, key))?)
}

fn client(profile: &Profile) -> Outcome<Client> {
    Ok(Client::new(profile.hub_url()?)?.with_key(&profile.api_key))
}
