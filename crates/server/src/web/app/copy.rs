//! "As command or curl": an action of a page as a person would run it in a shell. Templates show it with
//! `{% call copy::lines(copied) %}{% endcall %}` of `app/copy.html`.

use std::fmt::Write as _;

use serde_json::Value;
use tandem_hub::Hub;

/// An action as text for a shell.
#[derive(Debug, Clone)]
pub(crate) struct Copied {
    /// Unique on the page.
    id: String,
    /// What the action does, for screen readers: "send this task".
    pub(crate) what: &'static str,
    pub(crate) command: Option<String>,
    pub(crate) curl: Option<String>,
}

impl Copied {
    pub(crate) fn new(id: impl Into<String>, what: &'static str) -> Self {
        Self { id: id.into(), what, command: None, curl: None }
    }

    /// As a command: the words after `tandem`, quoted where a shell needs it.
    pub(crate) fn command<W: AsRef<str>>(self, words: impl IntoIterator<Item = W>) -> Self {
        let mut line = "tandem".to_owned();
        for word in words {
            line.push(' ');
            line.push_str(&quoted(word.as_ref()));
        }
        Self { command: Some(line), ..self }
    }

    /// As a loop over the values of an option.
    pub(crate) fn command_for_each(self, option: &str, values: &[&str], words: &[&str]) -> Self {
        let Some(command) = self.clone().command(words).command else { return self };
        let values = values.iter().map(|value| quoted(value)).collect::<Vec<_>>().join(" ");
        let line = format!("for {option} in {values}; do {command} --{option} ${option}; done");
        Self { command: Some(line), ..self }
    }

    /// As a request of the REST API. `path` is without the prefix `/api/v1`.
    pub(crate) fn curl(self, hub: &Hub, method: &str, path: &str, body: Option<&Value>) -> Self {
        let mut line = "curl -sS".to_owned();
        if method != "GET" {
            // Writing to a string cannot fail.
            let _ = write!(line, " -X {method}");
        }
        let _ = write!(line, " {} -H \"Authorization: Bearer $KEY\"", quoted(&format!("{}{path}", api(hub))));
        if let Some(body) = body {
            let _ = write!(line, " -H 'Content-Type: application/json' -d {}", quoted(&body.to_string()));
        }
        Self { curl: Some(line), ..self }
    }

    pub(crate) fn summary(&self) -> &'static str {
        match (&self.command, &self.curl) {
            (Some(_), Some(_)) => "As command or curl",
            (Some(_), None) => "As command",
            _ => "As curl",
        }
    }

    pub(crate) fn id(&self) -> String {
        format!("copy-{}", self.id)
    }

    pub(crate) fn command_id(&self) -> String {
        format!("copy-{}-command", self.id)
    }

    pub(crate) fn curl_id(&self) -> String {
        format!("copy-{}-curl", self.id)
    }
}

/// Where the hub is reached.
pub(crate) fn address(hub: &Hub) -> String {
    match hub.config.public_address() {
        Some(url) => url.to_owned(),
        None => format!("http://{}", hub.config.listen),
    }
}

fn api(hub: &Hub) -> String {
    format!("{}/api/v1", address(hub))
}

/// A word as a POSIX shell reads it back. Peers choose titles and names, so everything that is not plainly harmless is
/// quoted, and control characters are dropped: a terminal would act on them when they are pasted.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let printable: String = word.chars().filter(|c| *c == '\n' || !c.is_control()).collect();
    format!("'{}'", printable.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_words_as_they_are() {
        assert_eq!(quoted("bob"), "bob");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("$(rm -rf ~)"), "'$(rm -rf ~)'");
        assert_eq!(quoted("it's; ls"), r"'it'\''s; ls'");
        assert_eq!(quoted("~root"), "'~root'");
        assert_eq!(quoted("\u{1b}[2J\u{7}x"), "'[2Jx'");
        let copied = Copied::new("list", "this list").command(["task", "list", "--search", "a 'b'"]);
        assert_eq!(copied.command.as_deref(), Some(r"tandem task list --search 'a '\''b'\'''"));
        assert_eq!((copied.summary(), copied.command_id()), ("As command", "copy-list-command".to_owned()));
    }
}
