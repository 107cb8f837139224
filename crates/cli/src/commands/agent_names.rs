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
/// can choose. An agent chooses its own name, so a name never wins over them.
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
        (Naming::Name, &|one| name(one).is_some_and(is_same)),
        (Naming::Beginning, &|one| [alias(one), Some(id(one)), name(one)].into_iter().flatten().any(begins)),
    ];
    let mut found = steps
        .iter()
        .filter(|(needs, _)| *needs <= naming)
        .map(|(_, is_it)| connections.iter().filter(|one| is_it(one)).collect::<Vec<_>>());
    found.find(|found| !found.is_empty()).unwrap_or_default()
}
