//! Which connected agent a word means. Every command, the runner and the bridge look here; they differ in how much of a
//! name is enough.

use tandem_api::connections::ConnectionView;

/// What may name an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Naming {
    /// Its id or the caller's alias, as the hub reads them.
    Exact,
    /// Also its own name. For what lasts: a beginning could mean another agent tomorrow.
    Name,
    /// Also the beginning of any of them.
    Beginning,
}

type Test<'a> = &'a dyn Fn(&ConnectionView) -> bool;

/// The agents that a word means: one, or several if it is not clear. An id comes first, then the alias, which nobody else
/// can choose. An agent chooses its own name, so a name never wins over them: not over the beginning of an alias either.
pub(crate) fn find<'a>(
    connections: &'a [ConnectionView],
    named: &str,
    naming: Naming,
) -> Vec<&'a ConnectionView> {
    let alias = |one: &ConnectionView| one.alias.as_ref().map(|alias| alias.as_str().to_owned());
    let id = |one: &ConnectionView| one.connected.agent_id.to_string();
    // An agent may choose a name that looks like the id of another.
    let small = named.to_lowercase();
    let is_id = small.starts_with("agent_");
    let name = |one: &ConnectionView| (!is_id).then(|| one.connected.agent_name.as_str().to_owned());
    // Only ASCII: other letters have look-alikes that become the same small letter.
    let is_same = |text: String| text.eq_ignore_ascii_case(named);
    let begins = |text: String| !small.is_empty() && text.to_lowercase().starts_with(&small);
    let steps: [(Naming, Test<'_>); 5] = [
        (Naming::Exact, &|one| id(one) == named),
        (Naming::Exact, &|one| alias(one).as_deref() == Some(named)),
        (Naming::Name, &|one| alias(one).is_some_and(is_same)),
        (Naming::Name, &|one| {
            name(one).is_some_and(is_same) || (naming == Naming::Beginning && alias(one).is_some_and(begins))
        }),
        (Naming::Beginning, &|one| [alias(one), Some(id(one)), name(one)].into_iter().flatten().any(begins)),
    ];
    let mut found = steps
        .iter()
        .filter(|(needs, _)| *needs <= naming)
        .map(|(_, is_it)| connections.iter().filter(|one| is_it(one)).collect::<Vec<_>>());
    found.find(|found| !found.is_empty()).unwrap_or_default()
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
    fn found(word: &str, naming: Naming) -> Vec<String> {
        let connections = [
            connection("agent_1", "Bob", Some("reviewer")),
            connection("agent_2", "Reviewer", None),
            connection("agent_3", "agent_1", None),
            connection("agent_4", "bob", None),
            connection("agent_5", "\u{212a}ate", None),
        ];
        find(&connections, word, naming).iter().map(|one| one.connected.agent_id.to_string()).collect()
    }

    #[test]
    fn nobody_takes_the_place_of_another_by_its_name() {
        for naming in [Naming::Exact, Naming::Name, Naming::Beginning] {
            assert_eq!(found("reviewer", naming), ["agent_1"]);
            assert_eq!(found("agent_1", naming), ["agent_1"]);
        }
        assert_eq!(found("AGENT_1", Naming::Beginning), ["agent_1"]);
        assert_eq!(found("BOB", Naming::Name), ["agent_1", "agent_4"]);
        assert!(found("kate", Naming::Name).is_empty());
    }

    #[test]
    fn nobody_takes_the_beginning_of_an_alias_by_its_name() {
        let connections =
            [connection("agent_1", "Bob", Some("reviewer")), connection("agent_2", "rev", None)];
        assert_eq!(find(&connections, "rev", Naming::Beginning).len(), 2, "it is not clear");
        assert_eq!(find(&connections, "rev", Naming::Name).len(), 1);
    }

    #[test]
    fn a_beginning_is_enough_only_where_it_is_said() {
        assert!(found("Bob", Naming::Exact).is_empty());
        assert!(found("rev", Naming::Name).is_empty());
        assert_eq!(found("rev", Naming::Beginning), ["agent_1"]);
        assert_eq!(found("AGENT_4", Naming::Beginning), ["agent_4"]);
        assert!(found("", Naming::Beginning).is_empty());
    }
}
