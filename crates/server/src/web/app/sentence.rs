//! What an event says to a person: a sentence with the title of its task. The row's JSON has the rest.

use serde_json::{Map, Value};
use tandem_api::events::EventView;
use tandem_core::events::EventKind;
use tandem_core::{Status, TaskId};
use tandem_hub::ops::events::Titles;

use super::tasks::row::cut;
use super::words;

/// Characters of a title or a reason in a sentence.
const QUOTE_CHARS: usize = 80;

/// An event as a sentence. Names, titles and reasons are in quotation marks, whatever they say.
pub(crate) fn sentence(event: &EventView, data: &Map<String, Value>, titles: &Titles) -> String {
    let text = |name: &str| data.get(name).and_then(Value::as_str);
    let quoted = |text: &str| words::quoted(&cut(text, QUOTE_CHARS));
    let title = |task: &TaskId| titles.get(task).map(|title| quoted(title));
    let task = event.task_id.as_ref().and_then(title).unwrap_or_else(|| "a task".to_owned());
    let from = text("fromAgentName").map_or_else(|| "Somebody".to_owned(), quoted);
    let Some(kind) = EventKind::named(event.kind.as_str()) else { return event.kind.as_str().to_owned() };
    match kind {
        EventKind::TaskUpdated => {
            let status = text("status").and_then(|word| word.parse::<Status>().ok());
            let word = status.map_or("changed", |status| words::status(status, None).word);
            let reason = text("reason").map_or_else(String::new, |reason| format!(": {}", quoted(reason)));
            format!("{task} is now {word}{reason}")
        }
        EventKind::AgentConnected if text("withAgentName").is_some() => {
            format!("{} is connected", quoted(text("withAgentName").unwrap_or_default()))
        }
        _ => filled(kind.sentence(), &from, &task),
    }
}

/// The sentence of an event type with the sender and the task in their places. What these say is not read again.
fn filled(sentence: &str, from: &str, task: &str) -> String {
    let (mut filled, mut rest) = (String::new(), sentence);
    while let Some((before, after)) = rest.split_once('{') {
        let (place, tail) = after.split_once('}').unwrap_or((after, ""));
        filled.push_str(before);
        filled.push_str(if place == "from" { from } else { task });
        rest = tail;
    }
    filled + rest
}
