//! Reads the card of a remote and decides whether it can be used: which interface, with which credentials, signed by whom.

use std::time::Instant;

use hyper::Method;
use serde_json::value::RawValue;
use tandem_api::a2a::{
    AgentCardSignature, ForeignCard, ForeignInterface, ForeignScheme, HUB_EXTENSION, parse,
};
use tandem_api::remotes::CardKey;
use tandem_app::remotes::CardReading;
use tandem_core::AgentId;
use tandem_core::remotes::{Auth, AuthType, Binding, CardFacts, Interface, PauseReason, Signature, Terms};
use tandem_core::text::{AgentDescription, AgentName};

use super::call::auth_header;
use super::fetch::{Ask, Failed, TIME_MAX, fetch};
use super::origin::{is_seen, origin};
use super::verify::{Header, is_by, keys_of, signed_forms, usable};
use crate::HubParts;

/// Bytes of a card and of a key set.
const CARD_BYTES_MAX: usize = 256 * 1024;
/// What a remote without a proper name is called.
const NAME: &str = "Remote agent";
const NAME_CHARS_MAX: usize = 64;
const DESCRIPTION_CHARS_MAX: usize = 500;
const VERSION_CHARS_MAX: usize = 100;
const HEADER_DEFAULT: &str = "X-API-Key";

/// What a card says.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    pub(crate) name: AgentName,
    pub(crate) description: Option<AgentDescription>,
    pub(crate) facts: CardFacts,
    /// The header of an API key, by the card.
    pub(crate) key_header: Option<String>,
}

/// Why a card cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CardError {
    /// It says what cannot be used, or not without its owner.
    Unfit(PauseReason, String),
    /// It could not be read now.
    Unreachable(String),
}

impl CardError {
    /// As the end of a sentence about the address of the card.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Unfit(PauseReason::Origin, origin) => {
                format!("leads to {origin}, which is another origin; name it in allowOrigins")
            }
            Self::Unfit(_, why) => format!("cannot be used: {why}"),
            Self::Unreachable(why) => format!("cannot be read: {why}"),
        }
    }
}

impl From<Result<Card, CardError>> for ReadCard {
    fn from(read: Result<Card, CardError>) -> Self {
        Self(match read {
            Ok(card) => CardReading::Read(card.facts),
            Err(CardError::Unfit(reason, why)) => CardReading::Unfit(reason, why),
            Err(CardError::Unreachable(why)) => CardReading::Unreachable(why),
        })
    }
}

/// A reading as the database keeps it.
pub(crate) struct ReadCard(pub(crate) CardReading);

fn unfit<T>(why: impl Into<String>) -> Result<T, CardError> {
    Err(CardError::Unfit(PauseReason::Card, why.into()))
}

/// Reads the card under these terms. `pinned` is the key that signed it before.
pub(crate) async fn read(
    hub: &HubParts,
    owner: &AgentId,
    terms: &Terms,
    pinned: Option<&str>,
    base: &str,
) -> Result<Card, CardError> {
    let end_by = Instant::now() + TIME_MAX;
    let headers = terms.auth.iter().map(auth_header).collect();
    let text = get(hub, owner, &terms.card_url, headers, end_by).await?;
    let raw: &RawValue = match serde_json::from_str(&text) {
        Ok(raw) => raw,
        Err(_) => return unfit("it is not JSON"),
    };
    let card: ForeignCard = match parse(raw) {
        Ok(card) => card,
        Err(wrong) => return unfit(format!("{wrong}")),
    };
    let (interface, binding) = choose(&card)?;
    check_foreign(hub, &card, interface, base)?;
    check_extensions(&card)?;
    check_schemes(&card, terms.auth.as_ref())?;
    let Some(called) = origin(&interface.url) else { return unfit("its interface has no proper address") };
    if !is_seen(terms, &called) {
        return Err(CardError::Unfit(PauseReason::Origin, called));
    }
    let (signature, key) = verify(hub, owner, terms, pinned, (&card, &text), end_by).await?;
    let facts = CardFacts {
        interface: Interface {
            url: interface.url.clone(),
            binding,
            tenant: interface.tenant.clone(),
            streams: card.capabilities.streaming,
            pushes: card.capabilities.push_notifications,
        },
        signature,
        pinned: key,
        version: card.version.chars().filter(|c| !c.is_control()).take(VERSION_CHARS_MAX).collect(),
        read_at: hub.time(),
    };
    let key_header = card.schemes.values().find_map(|scheme| match scheme {
        ForeignScheme::ApiKey(header) => Some(header.clone()),
        _ => None,
    });
    Ok(Card { name: name(&card.name), description: description(&card), facts, key_header })
}

async fn get(
    hub: &HubParts,
    owner: &AgentId,
    url: &str,
    headers: Vec<(&str, String)>,
    end_by: Instant,
) -> Result<String, CardError> {
    let ask = Ask { method: Method::GET, url, headers, body: None, bytes_max: CARD_BYTES_MAX, owner, end_by };
    match fetch(hub, ask).await {
        Ok(answer) if answer.status == 200 => match String::from_utf8(answer.body) {
            Ok(text) => Ok(text),
            Err(_) => unfit("it is not UTF-8"),
        },
        Ok(answer) if matches!(answer.status, 408 | 429 | 500..=599) => {
            Err(CardError::Unreachable(format!("the status is {}", answer.status)))
        }
        Ok(answer) if (300..400).contains(&answer.status) => {
            unfit(format!("it is elsewhere (status {}), and redirects are not followed", answer.status))
        }
        Ok(answer) => unfit(format!("the status is {}", answer.status)),
        Err(failed @ (Failed::Refused(_) | Failed::TooLarge(_))) => unfit(failed.to_string()),
        Err(failed) => Err(CardError::Unreachable(failed.to_string())),
    }
}

/// The first interface that we speak.
fn choose(card: &ForeignCard) -> Result<(&ForeignInterface, Binding), CardError> {
    let spoken = |interface: &ForeignInterface| {
        let is_known = interface.version == "1" || interface.version.starts_with("1.");
        Binding::try_from(interface.binding.clone()).ok().filter(|_| is_known)
    };
    let chosen = card.interfaces.iter().find_map(|interface| Some((interface, spoken(interface)?)));
    match chosen {
        Some(chosen) => Ok(chosen),
        None => unfit("it has no interface JSONRPC or HTTP+JSON of version 1"),
    }
}

/// A hub does not call itself: its agents are reached by connections.
fn check_foreign(
    hub: &HubParts,
    card: &ForeignCard,
    interface: &ForeignInterface,
    base: &str,
) -> Result<(), CardError> {
    let called = origin(&interface.url);
    let own = hub.config.public_address().into_iter().chain([base]);
    let is_own = own.filter_map(origin).any(|own| Some(own) == called);
    let mut signers = usable(&card.signatures).into_iter().filter_map(|(header, _)| header.key_id);
    if is_own || signers.any(|signer| hub.signing.is_card_key(&signer)) {
        return unfit("it is of an agent of this hub; pair with that instead");
    }
    Ok(())
}

fn check_extensions(card: &ForeignCard) -> Result<(), CardError> {
    let mut required = card.capabilities.required_extensions.iter();
    match required.find(|uri| *uri != HUB_EXTENSION) {
        Some(uri) => unfit(format!("it requires the extension {uri}")),
        None => Ok(()),
    }
}

/// Whether one of the sets of schemes that the card names is what we have.
fn check_schemes(card: &ForeignCard, auth: Option<&Auth>) -> Result<(), CardError> {
    let has = |name: &String| match (card.schemes.get(name), auth.map(|auth| auth.kind)) {
        (Some(ForeignScheme::Http(scheme)), Some(AuthType::Bearer)) => scheme == "bearer",
        (Some(ForeignScheme::Http(scheme)), Some(AuthType::Basic)) => scheme == "basic",
        (Some(ForeignScheme::ApiKey(_)), Some(AuthType::ApiKey))
        | (Some(ForeignScheme::Token), Some(AuthType::Bearer)) => true,
        _ => false,
    };
    let mut sets = card.requirements.iter().map(|set| &set.0);
    if card.requirements.is_empty() || sets.any(|set| set.len() <= 1 && set.iter().all(has)) {
        return Ok(());
    }
    let named: Vec<&str> = card.requirements.iter().flat_map(|set| &set.0).map(String::as_str).collect();
    unfit(format!("it requires credentials that were not given: {}", named.join(", ")))
}

fn not_by(reason: PauseReason, why: &str) -> CardError {
    CardError::Unfit(reason, why.to_owned())
}

/// Finds out who has signed the card. Trusted are the keys of the owner, else the one that was pinned, else at first sight those
/// of a key set of the card's own origin, never of another one.
async fn verify(
    hub: &HubParts,
    owner: &AgentId,
    terms: &Terms,
    pinned: Option<&str>,
    (card, text): (&ForeignCard, &str),
    end_by: Instant,
) -> Result<(Signature, Option<String>), CardError> {
    let given: Option<Vec<CardKey>> = terms.keys.as_deref().and_then(|keys| serde_json::from_str(keys).ok());
    let known: Option<CardKey> = pinned.and_then(|key| serde_json::from_str(key).ok());
    let not_given = || not_by(PauseReason::Signature, "it is not signed by any of the keys");
    if card.signatures.is_empty() {
        return match (given, known) {
            (None, None) => Ok((Signature::Unsigned, None)),
            (Some(_), _) => Err(not_given()),
            (None, Some(_)) => Err(not_by(PauseReason::Key, "it is no longer signed")),
        };
    }
    let Some(forms) = signed_forms(text) else { return unfit("it is not JSON") };
    let signatures = usable(&card.signatures);
    let is_signed_by = |key: &CardKey| signatures.iter().any(|(_, signature)| is_by(key, signature, &forms));
    match (given, known) {
        (Some(given), _) if given.iter().any(is_signed_by) => Ok((Signature::Verified, None)),
        (Some(_), _) => Err(not_given()),
        (None, Some(known)) if is_signed_by(&known) => {
            Ok((Signature::Verified, pinned.map(ToOwned::to_owned)))
        }
        (None, Some(_)) => Err(not_by(PauseReason::Key, "it is signed with another key than before")),
        (None, None) => at_first_sight(hub, owner, terms, &signatures, &forms, end_by).await,
    }
}

/// Finds the key in a key set of the card's own origin.
async fn at_first_sight(
    hub: &HubParts,
    owner: &AgentId,
    terms: &Terms,
    signatures: &[(Header, &AgentCardSignature)],
    forms: &[String],
    end_by: Instant,
) -> Result<(Signature, Option<String>), CardError> {
    let home = origin(&terms.card_url);
    let mut sets = signatures.iter().filter_map(|(header, _)| header.key_set.as_deref());
    let found = match sets.find(|set| origin(set) == home) {
        None => Vec::new(),
        Some(set) => match get(hub, owner, set, Vec::new(), end_by).await {
            Ok(found) => keys_of(found.as_bytes()),
            Err(CardError::Unreachable(why)) => {
                return Err(CardError::Unreachable(format!("its keys cannot be read: {why}")));
            }
            Err(CardError::Unfit(..)) => Vec::new(),
        },
    };
    for (header, signature) in signatures {
        let fits = |key: &&CardKey| header.key_id.is_none() || key.kid == header.key_id;
        if let Some(key) = found.iter().filter(fits).find(|key| is_by(key, signature, forms)) {
            return Ok((Signature::Verified, serde_json::to_string(key).ok()));
        }
    }
    Err(not_by(PauseReason::Signature, "its signature cannot be verified"))
}

/// The name of an agent, as far as ours may have it.
fn name(given: &str) -> AgentName {
    let fit = |text: String| AgentName::try_from(text.trim().to_owned()).ok();
    let cut: String = given.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect();
    let plain: String =
        cut.chars().filter(|c| c.is_alphanumeric() || c.is_ascii_graphic() || *c == ' ').collect();
    fit(cut)
        .or_else(|| fit(plain))
        .or_else(|| fit(NAME.to_owned()))
        .unwrap_or_else(|| unreachable!("the fixed name is one"))
}

fn description(card: &ForeignCard) -> Option<AgentDescription> {
    let cut: String = card.description.as_deref()?.chars().take(DESCRIPTION_CHARS_MAX).collect();
    AgentDescription::try_from(cut).ok()
}

/// The credentials with the header that the card names for an API key, unless its owner named one. Headers that say something
/// else are never taken from a card.
pub(crate) fn completed(auth: Option<Auth>, card: &Card) -> Option<Auth> {
    auth.map(|auth| match (auth.kind, &auth.header) {
        (AuthType::ApiKey, None) => {
            let named = card.key_header.clone().filter(|name| tandem_api::remotes::is_own_header(name));
            Auth { header: Some(named.unwrap_or_else(|| HEADER_DEFAULT.to_owned())), ..auth }
        }
        _ => auth,
    })
}
