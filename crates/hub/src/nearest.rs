//! Which known name somebody meant. It knows nothing of what the names stand for.

/// The known name that is most similar to this one, if it is similar enough. How words of a name are joined does not count.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let name = joined(name);
    // A name that was cut off or written in another order is less similar by letters than it is by words.
    let likeness = |known: &str| {
        let known = joined(known);
        let words: Vec<&str> = known.split('_').collect();
        let shared = name.split('_').filter(|word| words.contains(word)).count();
        strsim::jaro_winkler(&name, &known) + shared as f64 * 0.05
    };
    let known = known.into_iter().map(|known| (likeness(known), known));
    let best = known.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (best.0 >= 0.8).then_some(best.1)
}

/// A name in small letters, its words joined by underscores.
fn joined(name: &str) -> String {
    let mut joined = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_uppercase() && !joined.is_empty() && !joined.ends_with('_') {
            joined.push('_');
        }
        match c {
            '-' | ' ' | '.' => joined.push('_'),
            _ => joined.extend(c.to_lowercase()),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_name_is_found_however_its_words_are_joined() {
        let known = ["targetAgentId", "title", "priority", "description", "ttlSeconds"];
        for (said, meant) in [
            ("prio", Some("priority")),
            ("target_agent_id", Some("targetAgentId")),
            ("ttl_seconds", Some("ttlSeconds")),
            ("desc", Some("description")),
            ("Titel", Some("title")),
            ("weather", None),
            ("", None),
        ] {
            assert_eq!(nearest(said, known), meant, "{said}");
        }
        assert_eq!(nearest("rate-limit-maximum", ["rate_limit_max", "listen"]), Some("rate_limit_max"));
    }
}
