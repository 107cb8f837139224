//! The hooks that show news to a tool's model, and wake it where the tool can be woken.

use serde_json::{Value, json};

use super::edit_json::{self, Made, Refusal, Step};
use super::tools::HookFile;

/// Seconds that a waiting hook may live. It ends earlier when something arrives or the session ends.
const WAIT_SECONDS: u32 = 24 * 60 * 60;

/// The hooks of a tool: an event, and the element for its list.
pub(super) fn wanted(tool: &str, hooks: HookFile, program: &str, agent: &str) -> Vec<(&'static str, Value)> {
    let command = format!("{} hook --agent {} --tool {tool}", quoted(program), quoted(agent));
    let show = json!({ "type": "command", "command": command, "timeout": hooks.timeout });
    let wait = json!({
        "type": "command",
        "command": format!("{command} --wait"),
        "timeout": WAIT_SECONDS,
        "asyncRewake": true,
    });
    let group = |hook: &Value| json!({ "hooks": [hook] });
    let shows = hooks.events.iter().map(|event| (*event, group(&show)));
    let waits = hooks.waking.iter().map(|event| (*event, group(&wait)));
    shows.chain(waits).collect()
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Adds the hooks that are missing; those of another path or agent are replaced.
pub(super) fn add(
    text: &str,
    hooks: HookFile,
    wanted: &[(&'static str, Value)],
    made: &mut Made,
) -> Result<String, Refusal> {
    let mut text = text.to_owned();
    let is_wanted = |event: &str, hook: &Value| {
        wanted.iter().any(|(other, group)| *other == event && group["hooks"][0] == *hook)
    };
    text = cut(&text, hooks, made, |event, hook| !is_wanted(event, hook))?;
    for (event, group) in wanted {
        if !has(&edit_json::value(&text, hooks.dialect)?, event, &group["hooks"][0]) {
            text = edit_json::append(&text, hooks.dialect, &["hooks", event], group, made)?;
        }
    }
    Ok(text)
}

/// Takes our hooks out.
pub(super) fn remove(text: &str, hooks: HookFile, made: &Made) -> Result<String, Refusal> {
    cut(text, hooks, made, |_, _| true)
}

/// Whether all hooks are in a file.
pub(super) fn complete(file: &Value, wanted: &[(&'static str, Value)]) -> bool {
    wanted.iter().all(|(event, group)| has(file, event, &group["hooks"][0]))
}

/// Whether a file has any of our hooks.
pub(super) fn any(file: &Value) -> bool {
    !ours(file).is_empty()
}

fn has(file: &Value, event: &str, wanted: &Value) -> bool {
    let groups = file["hooks"][event].as_array().into_iter().flatten();
    groups.flat_map(|group| group["hooks"].as_array().into_iter().flatten()).any(|hook| hook == wanted)
}

/// Where our hooks are: event, number of the group, number in the group; the last ones first.
fn ours(file: &Value) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for (event, groups) in file["hooks"].as_object().into_iter().flatten() {
        for (group_number, group) in groups.as_array().into_iter().flatten().enumerate() {
            for (number, hook) in group["hooks"].as_array().into_iter().flatten().enumerate() {
                if hook["command"].as_str().is_some_and(is_ours) {
                    found.push((event.clone(), group_number, number));
                }
            }
        }
    }
    found.reverse();
    found
}

fn is_ours(command: &str) -> bool {
    let Some((program, rest)) = command.split_once(" hook --agent ") else { return false };
    let program = program.trim_matches('\'');
    rest.contains(" --tool ")
        && std::path::Path::new(program).file_stem().is_some_and(|stem| stem == "tandem")
}

fn cut(
    text: &str,
    hooks: HookFile,
    made: &Made,
    is_cut: impl Fn(&str, &Value) -> bool,
) -> Result<String, Refusal> {
    let mut text = text.to_owned();
    let file = edit_json::value(&text, hooks.dialect)?;
    for (event, group, number) in ours(&file) {
        let hook = &file["hooks"][&event][group]["hooks"][number];
        if !is_cut(&event, hook) {
            continue;
        }
        let mut path = edit_json::keys(&["hooks", &event]);
        path.push(Step::At(group));
        // A group of which nothing else is left goes as a whole. Groups are visited from the last to the first.
        let now = edit_json::value(&text, hooks.dialect)?;
        let rest = now["hooks"][&event][group]["hooks"].as_array().map_or(0, Vec::len);
        if rest > 1 {
            path.extend([Step::Key("hooks".to_owned()), Step::At(number)]);
        }
        text = edit_json::remove(&text, hooks.dialect, &path, made)?;
    }
    Ok(text)
}
