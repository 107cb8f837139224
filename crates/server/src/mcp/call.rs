//! A tool call: the caller and the arguments.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::Value;
use tandem_app::Invalid;
use tandem_core::{AgentId, Id, TaskId};
use tandem_hub::ops::parse_id;
use tandem_hub::{Caller, Error, Hub};

use crate::http::explain::Object;
use crate::http::unknown::UnknownNames;
use crate::mcp::sessions::{SessionId, Sessions};
use crate::mcp::{ClientDisconnect, fence};

/// The largest integer that a float represents exactly.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// The context of a tool call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) hub: Hub,
    pub(crate) caller: Caller,
    pub(crate) sessions: Arc<Sessions>,
    /// The session, in protocol revisions that have sessions.
    pub(crate) session: Option<SessionId>,
    pub(crate) disconnect: ClientDisconnect,
}

/// The arguments of a tool call.
#[derive(Debug, Default)]
pub struct Args(pub JsonObject);

impl Call {
    pub(crate) fn me(&self) -> &AgentId {
        &self.caller.agent
    }

    /// The task in the arguments, and the other arguments parsed. If they are invalid, the error carries the state of
    /// the task.
    pub(crate) async fn on_task<T: Deserialize<'static>>(
        &self,
        mut args: Args,
    ) -> Result<(TaskId, T), Error> {
        let task = args.id("taskId", "task")?;
        let input = self.hub.on_task(&self.caller, &task, args.read()).await?;
        Ok((task, input))
    }
}

impl Args {
    /// Refuses arguments without this one.
    pub(crate) fn require(&self, name: &str, why: &str) -> Result<(), Invalid> {
        if self.0.contains_key(name) { Ok(()) } else { Err(Invalid::field(name, why)) }
    }

    /// Normalises arguments: an id may come back inside its fence, and integers may be written as floats.
    #[must_use]
    pub fn new(mut arguments: JsonObject) -> Self {
        for (name, value) in &mut arguments {
            if let Value::String(id) = value
                && fence::is_id(name)
            {
                *id = fence::unfenced(id).to_owned();
            }
            if let Some(number) = value.as_f64().filter(|number| number.fract() == 0.0)
                && !value.is_i64()
                && number.abs() < WHOLE_MAX
            {
                #[expect(clippy::cast_possible_truncation, reason = "within what a fraction holds exactly")]
                let whole = number as i64;
                *value = whole.into();
            }
        }
        Self(arguments)
    }

    /// The arguments that this tool does not have. They are ignored, as the fields of a request are.
    pub(crate) fn unknown_to(&self, tool: &Tool) -> UnknownNames {
        let mut unknown = UnknownNames::default();
        let known = tool.input_schema.get("properties").and_then(Value::as_object);
        for name in self.0.keys().filter(|name| !known.is_some_and(|known| known.contains_key(*name))) {
            unknown.add(name, known.into_iter().flatten().map(|(known, _)| known.as_str()));
        }
        unknown
    }

    /// A required text argument.
    pub fn take(&mut self, name: &str) -> Result<String, Error> {
        match self.0.shift_remove(name) {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(Invalid::field(name, "must be a text").into()),
            None => Err(Invalid::field(name, "is required").into()),
        }
    }

    /// A required id argument.
    pub fn id<T>(&mut self, name: &str, what: &'static str) -> Result<Id<T>, Error> {
        parse_id(&self.take(name)?, what)
    }

    /// An optional boolean argument; false if it is missing.
    pub fn flag(&mut self, name: &str) -> Result<bool, Error> {
        match self.0.shift_remove(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(Invalid::field(name, "must be true or false").into()),
        }
    }

    /// Renames arguments to the names of the REST fields.
    pub(crate) fn renamed(mut self, names: &[(&str, &str)]) -> Self {
        for (here, there) in names {
            if let Some(value) = self.0.shift_remove(*here) {
                self.0.insert((*there).to_owned(), value);
            }
        }
        self
    }

    /// Parses all arguments. Errors name the invalid ones.
    pub fn read<T: Deserialize<'static>>(self) -> Result<T, Error> {
        Ok(Object::from(self.0).read(&mut UnknownNames::default())?)
    }
}

/// Renames the fields of an error to the names of the tool's arguments.
pub(crate) fn with_tool_names(mut error: Error, names: &[(&str, &str)]) -> Error {
    if let Some(details) = error.body.details.take() {
        let here = |field: String| {
            let known = names.iter().find(|(_, there)| *there == field).map(|(here, _)| (*here).to_owned());
            known.unwrap_or(field)
        };
        return Invalid(details.into_iter().map(|(field, why)| (here(field), why)).collect()).into();
    }
    error
}
