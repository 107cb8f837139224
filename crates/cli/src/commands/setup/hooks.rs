//! The hooks that show news to a tool's model, and wake it where the tool can be woken.

use serde_json::{Value, json};

use super::edit_json::{self, Made, Refusal, Step};
use super::tools::HookFile;

/// Seconds that a waiting hook may live. It ends earlier when something arrives or the session ends.
const WAIT_SECONDS: u32 = 24 * 60 * 60;

/// Replaces the shell by the hook.
const EXEC: &str = "exec ";

/// The hooks of a tool: an event, and the element for its list.
pub(super) fn wanted(tool: &str, hooks: HookFile, program: &str, agent: &str) -> Vec<(&'static str, Value)> {
    let command = format!("{} hook --agent {} --tool {tool}", quoted(program), quoted(agent));
    let show = json!({ "type": "command", "command": command, "timeout": hooks.timeout });
    let wait = json!({
        "type": "command",
        // Without a shell in between, what the tool does to its hook reaches the hook.
        "command": format!("{EXEC}{command} --wait"),
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

/// The commands of hooks, each with its event. That is how one is recognised later.
pub(super) fn commands(wanted: &[(&'static str, Value)]) -> Vec<(String, String)> {
    let command = |group: &Value| group["hooks"][0]["command"].as_str().unwrap_or_default().to_owned();
    wanted.iter().map(|(event, group)| ((*event).to_owned(), command(group))).collect()
}

/// Adds the hooks that are missing. Those that setup has written before, and those of a program that has moved, get the new
/// command; what a person has added to them stays.
pub(super) fn add(
    text: &str,
    hooks: HookFile,
    wanted: &[(&'static str, Value)],
    known: &[(String, String)],
    made: &mut Made,
) -> Result<String, Refusal> {
    let mut text = text.to_owned();
    for place in ours(&edit_json::value(&text, hooks.dialect)?, known) {
        let file = edit_json::value(&text, hooks.dialect)?;
        let Some(command) = place.hook(&file)["command"].as_str() else { continue };
        let is_known = place.is_one_of(known, &file);
        let same_kind = wanted.iter().find(|(event, group)| {
            *event == place.event
                && waits(group["hooks"][0]["command"].as_str().unwrap_or_default()) == waits(command)
        });
        match same_kind.map(|(_, group)| &group["hooks"][0]) {
            Some(new) if new["command"] == command => text = completed(&text, hooks, &place, &file, new)?,
            Some(new) if !has(&file, &place.event, new) && (is_known || is_same_call(command, new)) => {
                text = completed(&text, hooks, &place, &file, new)?;
            }
            _ if is_known => text = cut(&text, hooks, made, &place)?,
            _ => {}
        }
    }
    for (event, group) in wanted {
        if !has(&edit_json::value(&text, hooks.dialect)?, event, &group["hooks"][0]) {
            text = edit_json::append(&text, hooks.dialect, &["hooks", event], group, made)?;
        }
    }
    Ok(text)
}

/// Takes out the hooks that setup has written.
pub(super) fn remove(
    text: &str,
    hooks: HookFile,
    known: &[(String, String)],
    made: &Made,
) -> Result<String, Refusal> {
    let mut text = text.to_owned();
    let file = edit_json::value(&text, hooks.dialect)?;
    for place in ours(&file, known) {
        if place.is_one_of(known, &file) {
            text = cut(&text, hooks, made, &place)?;
        }
    }
    Ok(text)
}

pub(super) fn complete(file: &Value, wanted: &[(&'static str, Value)]) -> bool {
    wanted.iter().all(|(event, group)| has(file, event, &group["hooks"][0]))
}

/// Whether a file has hooks that run this program.
pub(super) fn any(file: &Value, known: &[(String, String)]) -> bool {
    !ours(file, known).is_empty()
}

/// Whether a file has a hook that setup has written.
pub(super) fn has_known(file: &Value, known: &[(String, String)]) -> bool {
    ours(file, known).iter().any(|place| place.is_one_of(known, file))
}

/// Whether a file has a hook: its command, and every field of it, whatever a person has set there.
fn has(file: &Value, event: &str, wanted: &Value) -> bool {
    let groups = file["hooks"][event].as_array().into_iter().flatten();
    let fields: Vec<&String> = wanted.as_object().into_iter().flatten().map(|(name, _)| name).collect();
    groups.flat_map(|group| group["hooks"].as_array().into_iter().flatten()).any(|hook| {
        hook["command"] == wanted["command"] && fields.iter().all(|name| hook.get(name.as_str()).is_some())
    })
}

struct Place {
    event: String,
    /// The number of the group, and the number in the group.
    group: usize,
    number: usize,
}

impl Place {
    fn hook<'a>(&self, file: &'a Value) -> &'a Value {
        &file["hooks"][&self.event][self.group]["hooks"][self.number]
    }

    fn is_one_of(&self, known: &[(String, String)], file: &Value) -> bool {
        let command = &self.hook(file)["command"];
        known.iter().any(|(event, one)| *event == self.event && command == one)
    }

    fn group_path(&self) -> Vec<Step> {
        let mut path = edit_json::keys(&["hooks", &self.event]);
        path.push(Step::At(self.group));
        path
    }

    fn path(&self) -> Vec<Step> {
        let mut path = self.group_path();
        path.extend([Step::Key("hooks".to_owned()), Step::At(self.number)]);
        path
    }
}

/// Where hooks are that run this program, whatever its file is called if setup has written them; the last ones first, so
/// that the others stay where they are if one is cut out.
fn ours(file: &Value, known: &[(String, String)]) -> Vec<Place> {
    let mut found = Vec::new();
    let is_ours = |command: &str| is_ours(command) || known.iter().any(|(_, one)| one == command);
    for (event, groups) in file["hooks"].as_object().into_iter().flatten() {
        for (group_number, group) in groups.as_array().into_iter().flatten().enumerate() {
            for (number, hook) in group["hooks"].as_array().into_iter().flatten().enumerate() {
                if hook["command"].as_str().is_some_and(is_ours) {
                    found.push(Place { event: event.clone(), group: group_number, number });
                }
            }
        }
    }
    found.reverse();
    found
}

fn is_ours(command: &str) -> bool {
    let Some((program, rest)) = command.split_once(" hook --agent ") else { return false };
    let program = program.strip_prefix(EXEC).unwrap_or(program).trim_matches('\'');
    rest.contains(" --tool ")
        && std::path::Path::new(program).file_stem().is_some_and(|stem| stem == "tandem")
}

/// Whether a command is the wanted one, with another path of the program.
fn is_same_call(command: &str, wanted: &Value) -> bool {
    let call = |command: &str| command.split_once(" hook --agent ").map(|(_, rest)| rest.to_owned());
    wanted["command"].as_str().is_some_and(|wanted| call(wanted) == call(command))
}

fn waits(command: &str) -> bool {
    command.ends_with(" --wait")
}

/// Gives a hook its command and the fields that it does not have. Fields that are there may be a person's choice.
fn completed(
    text: &str,
    hooks: HookFile,
    place: &Place,
    file: &Value,
    new: &Value,
) -> Result<String, Refusal> {
    let (mut text, hook) = (text.to_owned(), place.hook(file));
    for (name, value) in new.as_object().into_iter().flatten() {
        let is_set = match name.as_str() {
            "command" => hook.get(name) == Some(value),
            _ => hook.get(name).is_some(),
        };
        if !is_set {
            text = edit_json::set_in(&text, hooks.dialect, &place.path(), name, value)?;
        }
    }
    Ok(text)
}

/// Takes out a hook, and its group if that has nothing else: neither another hook nor a field that a person has added.
fn cut(text: &str, hooks: HookFile, made: &Made, place: &Place) -> Result<String, Refusal> {
    let file = edit_json::value(text, hooks.dialect)?;
    let group = &file["hooks"][&place.event][place.group];
    let is_alone = group["hooks"].as_array().is_some_and(|all| all.len() == 1)
        && group.as_object().is_some_and(|fields| fields.len() == 1);
    let path = if is_alone { place.group_path() } else { place.path() };
    edit_json::remove(text, hooks.dialect, &path, made)
}
