//! Which connected agent a word means, for every command, the runner and the bridge.
//!
//! An id is an id. Then come the owner's aliases, then the names that agents have chosen themselves. A name counts as a whole
//! only: with the beginning of one, a task would go to `bobby` as soon as `bob` has left.

use tandem_api::connections::ConnectionView;
use tandem_client::{Error, Pins, folded_name};
use tandem_core::AgentId;
use tandem_core::ids::has_made_shape;
use tandem_core::text::is_invisible;
use tandem_seal::PublicKey;

use crate::exit::Failure;
use crate::terminal::text;

/// Agents that are listed in an error.
const LISTED_MAX: usize = 5;

/// Why it is not clear whom a word means.
#[derive(Debug)]
pub(crate) enum Unclear {
    /// Nobody is called so. These names begin so.
    Nobody(Vec<ConnectionView>),
    Several(Vec<ConnectionView>),
    /// The hub presents another agent under it than before, or the pins cannot be read.
    Refused(Error),
}

/// The agent that a word means. If its id is not given, no other agent may be pinned under the word: the hub says which agent
/// has an alias, and agents choose their names.
pub(crate) fn resolve(
    connections: &[ConnectionView],
    named: &str,
    pins: Option<&Pins>,
) -> Result<ConnectionView, Unclear> {
    let one = match find(connections, named).as_slice() {
        [one] => (*one).clone(),
        [] => return Err(Unclear::Nobody(beginning_with(connections, named))),
        several => return Err(Unclear::Several(several.iter().map(|one| (*one).clone()).collect())),
    };
    let connected = &one.connected;
    if let Some(pins) = pins.filter(|_| connected.agent_id.as_str() != named) {
        let pem = connected.public_key.as_ref().map(|key| key.as_str());
        let key = pem.and_then(|pem| PublicKey::from_pem(pem).ok());
        pins.check_named(named, &connected.agent_id, key.as_ref()).map_err(Unclear::Refused)?;
    }
    Ok(one)
}

/// The agents that a word means: one, or several if it is not clear.
fn find<'a>(connections: &'a [ConnectionView], named: &str) -> Vec<&'a ConnectionView> {
    let folded = folded_name(named);
    let id = |one: &&ConnectionView| one.connected.agent_id.as_str() == named;
    // The hub says which alias an agent has. One that is the id of another agent would take its place when it is hidden.
    let alias_of = |one: &&'a ConnectionView| {
        one.alias.as_ref().map(|alias| alias.as_str()).filter(|_| !has_made_shape(named))
    };
    let alias = |one: &&'a ConnectionView| alias_of(one).is_some_and(|alias| alias == named);
    let folded_alias =
        |one: &&'a ConnectionView| alias_of(one).is_some_and(|alias| folded_name(alias) == folded);
    // An agent may choose a name that looks like the id of another.
    let name = |one: &&ConnectionView| {
        !looks_like_id(named) && folded_name(one.connected.agent_name.as_str()) == folded
    };
    let steps: [&dyn Fn(&&'a ConnectionView) -> bool; 4] = [&id, &alias, &folded_alias, &name];
    let found = steps.iter().map(|is_it| connections.iter().filter(|one| is_it(one)).collect::<Vec<_>>());
    found.into_iter().find(|found| !found.is_empty() && !folded.is_empty()).unwrap_or_default()
}

/// What a word means among agents that have no alias: an id, else a whole name.
pub(crate) fn by_id_or_name<'a, T>(
    agents: &'a [T],
    named: &str,
    id_and_name: impl Fn(&T) -> (&str, &str),
) -> Vec<&'a T> {
    let folded = folded_name(named);
    let by_id: Vec<&T> = agents.iter().filter(|one| id_and_name(one).0 == named).collect();
    let is_called = |one: &&T| !looks_like_id(named) && folded_name(id_and_name(one).1) == folded;
    if by_id.is_empty() { agents.iter().filter(is_called).collect() } else { by_id }
}

/// Whether a word can only be the id of an agent.
pub(crate) fn looks_like_id(word: &str) -> bool {
    folded_name(word).starts_with("agent_")
}

/// The agents with an alias, a name or an id that begins so. A person may have meant one of them.
fn beginning_with(connections: &[ConnectionView], named: &str) -> Vec<ConnectionView> {
    let folded = folded_name(named);
    let begins = |text: &str| !folded.is_empty() && folded_name(text).starts_with(&folded);
    let is_it = |one: &&ConnectionView| {
        let name = one.connected.agent_name.as_str();
        one.alias.as_ref().is_some_and(|alias| begins(alias.as_str()))
            || begins(one.connected.agent_id.as_str())
            || (!looks_like_id(named) && begins(name))
    };
    connections.iter().filter(is_it).cloned().collect()
}

/// An agent with its name, its alias and its id.
pub(crate) fn described(one: &ConnectionView) -> String {
    let connected = &one.connected;
    let alias = one.alias.as_ref().map_or(String::new(), |alias| format!("{}, ", text::line(alias.as_str())));
    format!("{alias}{} ({})", text::line(connected.agent_name.as_str()), connected.agent_id)
}

/// A word for an agent in a command to copy: the owner's alias or the agent's own name, if it means this agent alone and a
/// shell takes it for a plain word; else the id.
pub(crate) fn word_for(connections: &[ConnectionView], agent: &AgentId, pins: Option<&Pins>) -> String {
    let is_plain = |word: &str, fits: fn(char) -> bool| {
        word.starts_with(fits) && word.chars().all(|c| fits(c) || "-_.".contains(c)) && !looks_like_id(word)
    };
    let is_it =
        |word: &str| resolve(connections, word, pins).is_ok_and(|found| found.connected.agent_id == *agent);
    let one = connections.iter().find(|one| one.connected.agent_id == *agent);
    let alias = one.and_then(|one| one.alias.as_ref()).map(|alias| alias.as_str());
    // Its own name could be made of letters that look like others.
    let name = one.map(|one| one.connected.agent_name.as_str());
    let alias = alias.filter(|alias| is_plain(alias, |c| c.is_alphanumeric() && !is_invisible(c)));
    let name = name.filter(|name| is_plain(name, |c| c.is_ascii_alphanumeric()));
    let word = [alias, name].into_iter().flatten().find(|word| is_it(word));
    word.unwrap_or(agent.as_str()).to_owned()
}

fn listed(agents: &[ConnectionView]) -> String {
    let mut words: Vec<String> = agents.iter().take(LISTED_MAX).map(described).collect();
    if agents.len() > LISTED_MAX {
        words.push(format!("{} more", agents.len() - LISTED_MAX));
    }
    words.join(" or ")
}

impl Unclear {
    /// The failure of a command in which this word was typed.
    pub(crate) fn failure(self, named: &str) -> Failure {
        let named = text::line(named);
        match self {
            Self::Nobody(similar) if similar.is_empty() => Failure::not_found(format!(
                "you have no connection to {named:?}"
            ))
            .next("`tandem connections` shows whom you can reach; `tandem pair` connects another agent."),
            Self::Nobody(similar) => {
                let what = format!(
                    "you have no connection to {named:?}; {named:?} is the beginning of {}",
                    listed(&similar)
                );
                Failure::not_found(what).next("Give the whole name, the alias or the id.")
            }
            Self::Several(several) => Failure::usage(format!("{named:?} can mean {}", listed(&several)))
                .next("Give the id, or set an alias: `tandem connections alias ID NAME`."),
            Self::Refused(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn connection(id: &str, name: &str, alias: Option<&str>) -> ConnectionView {
        let at = "2026-01-01T00:00:00.000Z";
        serde_json::from_value(json!({
            "connectionId": "conn_1", "id": "conn_1", "agentId": id, "agentName": name, "name": name,
            "publicKey": null, "description": null, "capabilities": [], "alias": alias, "approval": null,
            "online": false, "lastSeenAt": null, "reach": "never", "reachConfirmedAt": null, "createdAt": at,
        }))
        .unwrap()
    }

    /// The ids that a word means.
    fn found(connections: &[ConnectionView], word: &str) -> Vec<String> {
        find(connections, word).iter().map(|one| one.connected.agent_id.to_string()).collect()
    }

    #[test]
    fn nobody_takes_the_place_of_another_by_its_name() {
        let connections = [
            connection("agent_1", "Bob", Some("reviewer")),
            connection("agent_2", "Reviewer", None),
            connection("agent_3", "agent_1", None),
            connection("agent_4", " agent_9", None),
        ];
        for word in ["reviewer", "Reviewer ", "agent_1", "bob", " BOB"] {
            assert_eq!(found(&connections, word), ["agent_1"], "{word:?}");
        }
        // A hub that hides an agent and gives its id to another one as an alias.
        let made = "agent_01k0000000e8h8q000000000";
        let id = made.parse::<AgentId>().unwrap();
        assert!(
            has_made_shape(id.as_str())
                && found(&[connection("agent_5", "eve", Some(made))], made).is_empty()
        );
        // Somebody who calls itself like an agent that has left does not get its tasks.
        for word in ["agent_9", " agent_9", "Agent_9", "AGENT_1"] {
            assert!(found(&connections, word).is_empty(), "{word:?}");
        }
    }

    #[test]
    fn a_command_to_copy_names_an_agent_by_what_means_it_alone() {
        let word = |connections: &[ConnectionView]| {
            word_for(connections, &"agent_1".parse().unwrap(), Some(&Pins::in_memory()))
        };
        let one = |name: &str, alias: Option<&str>| word(&[connection("agent_1", name, alias)]);
        assert_eq!((one("bob", None), one("bob", Some("josé"))), ("bob".into(), "josé".into()));
        assert_eq!((one("b b", Some("rev 1")), one("bob", Some("x;y"))), ("agent_1".into(), "bob".into()));
        for name in
            ["--all", ".b", "-", "@", "$(id)", "agent_9", "Agent_1", "b\u{200d}", "b\u{43e}b", "a|b", "b'"]
        {
            assert_eq!(one(name, None), "agent_1", "{name:?}");
        }
        let bob = connection("agent_1", "bob", None);
        for other in [connection("agent_2", "Bob", None), connection("agent_2", "x", Some("bob"))] {
            assert_eq!(word(&[bob.clone(), other]), "agent_1");
        }
        assert_eq!(word(&[]), "agent_1");
    }

    #[test]
    fn an_id_is_an_id_also_among_agents_without_an_alias() {
        let agents = [("agent_1", "Bob"), ("agent_2", "agent_1"), ("agent_3", " bob")];
        let found = |word: &str| by_id_or_name(&agents, word, |one| *one);
        assert_eq!(found("agent_1"), [&agents[0]]);
        assert!(found("AGENT_1").is_empty() && found("bo").is_empty());
        assert_eq!(found("BOB"), [&agents[0], &agents[2]]);
    }

    #[test]
    fn names_that_look_the_same_are_the_same() {
        let connections = [
            connection("agent_1", "Kate M", None),
            connection("agent_2", "\u{212a}ate\u{a0} m", None),
            connection("agent_3", "ka\u{200b}te m\u{200d}", None),
            connection("agent_4", "Ame\u{301}lie", None),
            connection("agent_5", "\u{202e}Am\u{e9}lie ", None),
        ];
        assert_eq!(found(&connections, "Kate M"), ["agent_1", "agent_2", "agent_3"]);
        assert_eq!(found(&connections, "amélie"), ["agent_4", "agent_5"]);
        let unclear = resolve(&connections, "amélie", None).unwrap_err().failure("amélie");
        assert!(unclear.what().contains("agent_4") && unclear.what().contains("agent_5"), "{unclear}");
    }

    #[test]
    fn the_beginning_of_a_name_is_no_name() {
        let connections =
            [connection("agent_1", "bobby", None), connection("agent_2", "x", Some("Reviewer"))];
        for (word, similar) in [("bob", 1), ("rev", 1), ("agent_", 2), ("", 0), (" ", 0), ("carol", 0)] {
            match resolve(&connections, word, None) {
                Err(Unclear::Nobody(found)) => assert_eq!(found.len(), similar, "{word:?}"),
                other => panic!("{word:?}: {other:?}"),
            }
        }
        assert_eq!(found(&connections, "bobby"), ["agent_1"]);
    }

    /// A hub that gives the alias or name of a pinned agent to another one, with or without a key.
    #[test]
    fn a_moved_alias_is_refused_until_the_owner_moves_it() {
        let pins = Pins::in_memory();
        let key = |name: &str| {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../seal/tests/vectors/keys.json");
            let keys: serde_json::Value =
                serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
            PublicKey::from_pem(keys["keys"][name]["public"].as_str().unwrap()).unwrap()
        };
        let (bob, eve) = ("agent_bob".parse().unwrap(), "agent_eve".parse().unwrap());
        pins.check(&bob, &tandem_client::PeerKey::new("bob", None, key("bob"))).unwrap();
        pins.set_alias(&bob, None, Some("Reviewer")).unwrap();
        let moved = |alias: Option<&str>, name: &str| [connection("agent_eve", name, alias)];
        for (connections, word) in [(moved(Some("reviewer"), "eve"), "REVIEWER"), (moved(None, "bob"), "Bob")]
        {
            let refused = resolve(&connections, word, Some(&pins)).unwrap_err();
            assert!(matches!(refused, Unclear::Refused(Error::AnotherAgent(_))), "{word}: {refused:?}");
            resolve(&connections, "agent_eve", Some(&pins)).unwrap();
        }
        pins.set_alias(&eve, None, Some("reviewer")).unwrap();
        resolve(&moved(Some("reviewer"), "eve"), "reviewer", Some(&pins)).unwrap();
        // What the hub says about an agent takes no name from another: the name means neither then.
        pins.set_alias(&bob, None, Some("reviewer")).unwrap();
        let eves_key = tandem_client::PeerKey::new("bob", Some("reviewer"), key("cyd"));
        pins.accept(&eve, &eves_key, None).unwrap();
        for (connections, word) in [(moved(Some("reviewer"), "eve"), "reviewer"), (moved(None, "bob"), "BOB")]
        {
            let refused = resolve(&connections, word, Some(&pins)).unwrap_err();
            let Unclear::Refused(Error::SameName { agents, .. }) = &refused else { panic!("{refused:?}") };
            assert_eq!(*agents, [bob.clone(), eve.clone()]);
            let said = refused.failure(word).what().to_owned();
            assert!(said.contains("agent_bob") && said.contains("agent_eve"), "{said}");
        }
        assert_eq!(pins.name(&eve), None, "its name is bob's too");
        // What the owner has typed does.
        pins.accept(&eve, &eves_key, Some("reviewer")).unwrap();
        resolve(&moved(Some("reviewer"), "eve"), "reviewer", Some(&pins)).unwrap();
        let back = [connection("agent_bob", "bob", Some("reviewer"))];
        let refused = resolve(&back, "reviewer", Some(&pins)).unwrap_err();
        assert!(matches!(refused, Unclear::Refused(Error::AnotherAgent(_))), "{refused:?}");
    }
}
