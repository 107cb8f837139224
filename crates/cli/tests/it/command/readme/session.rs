//! The terminal session of the README: what is typed, and what must be on the screen.

use std::collections::HashMap;

/// A command in one of the terminals.
#[derive(Debug)]
pub struct Step {
    /// The name in front of the prompt.
    pub terminal: String,
    pub command: String,
    /// What it prints, in the order of the page: the first part, and what follows in a later block of its terminal.
    pub parts: Vec<Vec<String>>,
}

/// A moment of the session.
#[derive(Debug, Clone, Copy)]
pub enum Moment {
    /// The command of this step is typed. Its first part appears.
    Typed(usize),
    /// The command of this step prints the rest and ends.
    Continued(usize),
}

/// The session of a page: the blocks marked as `console`, each of one terminal. A line `NAME$ COMMAND` is typed. A block
/// that does not begin with one goes on with the command that still runs in that terminal.
pub fn parse(page: &str) -> (Vec<Step>, Vec<Moment>) {
    let (mut steps, mut moments) = (Vec::<Step>::new(), Vec::new());
    for block in page.split("```console\n").skip(1).map(|block| block.split("```").next().unwrap()) {
        let terminal = block.lines().find_map(|line| Some(typed(line)?.0)).expect("a prompt in each block");
        let running = steps.iter().rposition(|step| step.terminal == terminal);
        let mut current = None;
        for line in block.lines() {
            if let Some((name, command)) = typed(line) {
                assert_eq!(name, terminal, "a block shows one terminal");
                moments.push(Moment::Typed(steps.len()));
                current = Some(steps.len());
                steps.push(Step { terminal: name.into(), command: command.into(), parts: vec![Vec::new()] });
                continue;
            }
            let step = *current.get_or_insert_with(|| {
                let step = running.expect("a command that goes on");
                steps[step].parts.push(Vec::new());
                moments.push(Moment::Continued(step));
                step
            });
            steps[step].parts.last_mut().unwrap().push(line.to_owned());
        }
    }
    (steps, moments)
}

fn typed(line: &str) -> Option<(&str, &str)> {
    let (name, command) = line.split_once("$ ")?;
    (!name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase())).then_some((name, command))
}

/// The ids, codes and fingerprints of the page, and what they are in this run.
#[derive(Debug, Default)]
pub struct Names {
    real: HashMap<String, String>,
    page: HashMap<String, String>,
}

impl Names {
    /// A command of the page, with the names of this run.
    pub fn in_this_run(&self, text: &str) -> String {
        replace(text, &self.real)
    }

    /// Something printed in this run, with the names of the page.
    pub fn on_page(&self, text: &str) -> String {
        replace(text, &self.page)
    }

    /// Compares lines of the page with what was printed, and learns the names.
    pub fn compare(&mut self, expected: &[String], printed: &[String]) -> Result<(), String> {
        for (number, expected) in expected.iter().enumerate() {
            let printed = printed.get(number).map_or("", String::as_str);
            let (wanted, got) = (tokens(expected), tokens(printed));
            let same = wanted.len() == got.len()
                && wanted.iter().zip(&got).all(|(wanted, got)| wanted == got || self.learn(wanted, got));
            if !same {
                return Err(format!("expected {expected:?}\n printed {printed:?}"));
            }
        }
        match printed.get(expected.len()) {
            Some(more) => Err(format!("printed {more:?}, which is not on the page")),
            None => Ok(()),
        }
    }

    /// Whether two texts are names of the same kind, and always mean each other.
    fn learn(&mut self, page: &str, real: &str) -> bool {
        let (Some(kind), Some(other)) = (kind(page), kind(real)) else { return false };
        let known = self.real.entry(page.to_owned()).or_insert_with(|| real.to_owned()) == real;
        kind == other && known && self.page.entry(real.to_owned()).or_insert_with(|| page.to_owned()) == page
    }
}

fn replace(text: &str, names: &HashMap<String, String>) -> String {
    let replaced = tokens(text).into_iter().map(|token| names.get(token).map_or(token, String::as_str));
    replaced.collect()
}

/// The kind of a name that differs from run to run.
fn kind(text: &str) -> Option<&'static str> {
    if let Some(kind) = ["agent_", "task_", "file_"].into_iter().find(|kind| text.starts_with(kind)) {
        return Some(kind);
    }
    let parts: Vec<&str> = text.split('-').collect();
    let is_upper = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_uppercase());
    match parts.as_slice() {
        [one, two, number] if is_upper(one) && is_upper(two) && number.parse::<u16>().is_ok() => Some("code"),
        _ if text.split(' ').count() == 8 && text.chars().all(|c| c.is_ascii_lowercase() || c == ' ') => {
            Some("fingerprint")
        }
        _ => None,
    }
}

/// A line in pieces: words, what stands between them, and the words of a fingerprint as one.
fn tokens(line: &str) -> Vec<&str> {
    if let Some(at) = line.find("Fingerprint  ").map(|at| at + "Fingerprint  ".len()) {
        return vec![&line[..at], &line[at..]];
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let (token, after) = rest.split_at(end);
        found.push(token);
        rest = after;
    }
    found
}
