//! Rules that let a tool's model use the tools of Tandem that read and answer, without a question to its user each time. They
//! are written only if the user says so: a model that was woken otherwise stops at the first question.

use serde_json::{Value, json};

use super::edit_json::{self, Dialect, Made, Refusal, Step};
use super::edit_toml::{self, Field};
use super::tools::{self, ENTRY, Facts, Tool};
use crate::commands::input;
use crate::exit::Outcome;

/// Tools that read what waits, and that answer it. None of them gives another agent anything that it has not asked for: they
/// make no tasks and connections, approve nothing, and touch no files.
pub(super) const TOOLS: [&str; 6] =
    ["check_updates", "wait_for_updates", "get_task", "send_message", "send_reply", "update_task_status"];

/// Where a tool keeps such rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In `permissions.allow` of the file that also has the hooks.
    Settings,
    /// In the field `tools` of the entry.
    Entry,
    /// A rule in a file of its own.
    Policy(tools::Place),
}

/// The list of a policy file, and what tells the rule of setup from those of a person.
const RULES: &str = "rule";
/// Below those that a person gives its own rules, and above those of the tool.
const PRIORITY: i64 = 100;
/// Not the mode in which the model only makes plans.
const MODES: [&str; 3] = ["default", "autoEdit", "yolo"];

const LIST: [&str; 2] = ["permissions", "allow"];

fn rules() -> impl Iterator<Item = String> {
    TOOLS.iter().map(|tool| format!("mcp__{ENTRY}__{tool}"))
}

/// Adds the rules that are missing. Notes those in `added`, which are taken back later; the others are the user's own.
pub(super) fn add(
    text: &str,
    dialect: Dialect,
    added: &mut Vec<String>,
    made: &mut Made,
) -> Result<String, Refusal> {
    let mut text = text.to_owned();
    for rule in rules() {
        if position(&edit_json::value(&text, dialect)?, &rule).is_none() {
            text = edit_json::append(&text, dialect, &LIST, &json!(rule), made)?;
            if !added.contains(&rule) {
                added.push(rule);
            }
        }
    }
    Ok(text)
}

/// Takes out the rules that setup has added.
pub(super) fn remove(text: &str, dialect: Dialect, added: &[String], made: &Made) -> Result<String, Refusal> {
    let mut text = text.to_owned();
    for rule in added.iter().rev() {
        if let Some(at) = position(&edit_json::value(&text, dialect)?, rule) {
            let mut path = edit_json::keys(&LIST);
            path.push(Step::At(at));
            text = edit_json::remove(&text, dialect, &path, made)?;
        }
    }
    Ok(text)
}

/// Whether a file has one of the rules that setup has added.
pub(super) fn any(file: &Value, added: &[String]) -> bool {
    added.iter().any(|rule| position(file, rule).is_some())
}

fn position(file: &Value, rule: &str) -> Option<usize> {
    file[LIST[0]][LIST[1]].as_array()?.iter().rposition(|one| one == rule)
}

/// The rules as a field of an entry.
pub(super) fn field() -> (&'static str, Field) {
    let approve = || vec![("approval_mode".to_owned(), "approve".to_owned())];
    ("tools", Field::Tables(TOOLS.iter().map(|tool| ((*tool).to_owned(), approve())).collect()))
}

/// The rule of a policy file.
fn rule() -> edit_toml::Fields {
    let list = |words: &[&str]| Field::List(words.iter().map(|word| (*word).to_owned()).collect());
    vec![
        ("mcpName", Field::Text(ENTRY.to_owned())),
        ("toolName", list(&TOOLS)),
        ("decision", Field::Text("allow".to_owned())),
        ("priority", Field::Number(PRIORITY)),
        ("modes", list(&MODES)),
    ]
}

/// Adds the rule to a policy file. The second result is the appended text; none if the rule is there.
pub(super) fn add_policy(text: &str) -> Result<(String, Option<String>), Refusal> {
    if edit_toml::has_element(text, RULES, &rule())? {
        return Ok((text.to_owned(), None));
    }
    edit_toml::append_element(text, RULES, &rule()).map(|(text, block)| (text, Some(block)))
}

/// Takes the rule out of a policy file, unless a person has changed it.
pub(super) fn remove_policy(text: &str, block: Option<&str>) -> Result<String, Refusal> {
    edit_toml::remove_element(text, RULES, &rule(), block)
}

/// Whether a policy file has the rule.
pub(super) fn has_policy(text: &str) -> bool {
    edit_toml::has_element(text, RULES, &rule()).unwrap_or(false)
}

/// Asks a person whether the models of tools may use these without a question. The changes show each rule.
pub(super) fn offer(tools: &[Tool]) -> Outcome<bool> {
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool.facts())
        .filter(|facts| facts.allow.is_some())
        .map(|facts| facts.name)
        .collect();
    if names.is_empty() {
        return Ok(false);
    }
    input::ask(&format!(
        "Before a model uses a tool, you are asked by {}: a model that was woken waits for you. Let it read and answer without \
         asking ({})?",
        names.join(" and "),
        TOOLS.join(", ")
    ))
}

/// What a person should know about a tool that asks.
pub(super) fn note(facts: &Facts) -> Option<String> {
    let (name, id) = (facts.name, facts.id);
    facts.allow.map(|_| {
        format!(
            "{name} asks before its model uses a tool of Tandem, so the first task waits for a person. `tandem setup --tool {id} \
             --allow-tools` lets the model read and answer."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_comes_and_goes_and_those_of_the_user_stay() {
        let own = "# mine\n[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 900\n";
        for text in ["", own, own.trim_end(), &own.replace('\n', "\r\n")] {
            let (with, block) = add_policy(text).unwrap();
            assert!(has_policy(&with) && !has_policy(text), "{with}");
            assert!(toml::from_str::<toml::Table>(&with).is_ok(), "{with}");
            assert_eq!(add_policy(&with).unwrap(), (with.clone(), None), "once");
            assert_eq!(remove_policy(&with, block.as_deref()).unwrap(), text, "with the appended text");
            let moved = with.replace(" = ", "  =  ");
            let without = remove_policy(&moved, block.as_deref()).unwrap();
            assert!(!has_policy(&without) && without.contains("deny") == text.contains("deny"), "{without}");
            let changed = with.replace("priority = 100", "priority = 200");
            assert_eq!(remove_policy(&changed, block.as_deref()).unwrap(), changed, "it is a person's now");
        }
        for unfit in ["rule = 7\n", "[rule]\nx = 1\n", "rule = [{ toolName = \"x\" }]\n", "[[rule]\n"] {
            assert!(add_policy(unfit).is_err(), "{unfit}");
        }
    }

    #[test]
    fn rules_come_and_go_and_those_of_the_user_stay() {
        for own in [
            "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls:*)\",\n      \"mcp__tandem__get_task\"\n    ]\n  }\n}\n",
            "{\n  \"model\": \"opus\"\n}\n",
            "{\n  \"permissions\": {\n    \"deny\": [\"Read(secret)\"]\n  }\n}\n",
            "",
        ] {
            let (mut added, mut made) = (Vec::new(), Made::default());
            let with = add(own, Dialect::Strict, &mut added, &mut made).unwrap();
            let value = edit_json::value(&with, Dialect::Strict).unwrap();
            assert!(rules().all(|rule| position(&value, &rule).is_some()), "{with}");
            assert_eq!(add(&with, Dialect::Strict, &mut added, &mut made).unwrap(), with, "once");
            assert_eq!(added.contains(&"mcp__tandem__get_task".to_owned()), !own.contains("get_task"));
            let without = remove(&with, Dialect::Strict, &added, &made).unwrap();
            let blank = own.is_empty() && without.trim() == "{}";
            assert!(without == own || blank, "{without}");
        }
    }
}
