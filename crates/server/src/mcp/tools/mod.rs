//! The tools. Each has a name, a schema and a call of the operation that REST also calls.

mod account;
mod directory;
pub(crate) mod files;
mod gate;
mod networks;
pub(crate) mod news;
pub(crate) mod pairing;
pub(crate) mod talk;
pub(crate) mod tasks;

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use tandem_api::tasks::TaskView;
use utoipa::ToSchema;

use crate::mcp::call::{Args, Call};
use crate::mcp::reply::ToolResult;
use crate::mcp::schema;

/// The fields of a task in the output schemas of tools that change one.
const TASK_FIELDS: [&str; 13] = [
    "id",
    "title",
    "status",
    "statusReason",
    "nextStatuses",
    "requiresReview",
    "initiatorAgentId",
    "targetAgentId",
    "approvalStatus",
    "attempt",
    "expiresAt",
    "createdAt",
    "updatedAt",
];

type Run = Arc<dyn Fn(Call, Args) -> Pin<Box<dyn Future<Output = ToolResult> + Send>> + Send + Sync>;

/// What a tool does, for its annotations.
#[derive(Debug, Clone, Copy)]
enum ToolKind {
    /// Reads only.
    Read,
    /// Adds something.
    Create,
    /// Changes something; a repetition has no further effect.
    Update,
    Delete,
    /// Replaces something; each repetition has an effect.
    Replace,
}

impl ToolKind {
    fn hints(self) -> ToolAnnotations {
        let (read_only, destructive, idempotent) = match self {
            Self::Read => (true, false, true),
            Self::Create => (false, false, false),
            Self::Update => (false, false, true),
            Self::Delete => (false, true, true),
            Self::Replace => (false, true, false),
        };
        // Tools reach agents of other owners, so the world is open.
        ToolAnnotations::from_raw(None, Some(read_only), Some(destructive), Some(idempotent), Some(true))
    }
}

/// A tool: its description and its function.
#[derive(Clone)]
pub(crate) struct Entry {
    tool: Tool,
    kind: ToolKind,
    core: bool,
    waits: bool,
    run: Run,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("tool", &self.tool.name).finish_non_exhaustive()
    }
}

impl Entry {
    fn new<F: Future<Output = ToolResult> + Send + 'static>(
        name: &'static str,
        kind: ToolKind,
        about: &'static str,
        run: impl Fn(Call, Args) -> F + Send + Sync + 'static,
    ) -> Self {
        let mut tool = Tool::new(name, about, schema::nothing());
        tool.annotations = Some(kind.hints());
        Self {
            tool,
            kind,
            core: false,
            waits: false,
            run: Arc::new(move |call, args| Box::pin(run(call, args))),
        }
    }

    /// The arguments are the fields of this type.
    fn input<T: ToSchema>(mut self) -> Self {
        self.tool.input_schema = Arc::new(schema::arguments::<T>());
        self
    }

    /// Removes arguments.
    fn without_input(mut self, names: &[&str]) -> Self {
        self.change_input(|input| schema::remove(input, names));
        self
    }

    /// Adds a required id argument. Its name says what it is.
    fn id(self, name: &str) -> Self {
        self.field(name, json!({"type": "string"}), true)
    }

    /// Adds an argument.
    fn field(mut self, name: &str, field: Value, required: bool) -> Self {
        self.change_input(|input| schema::add(input, name, field, required));
        self
    }

    fn change_input(&mut self, change: impl FnOnce(&mut JsonObject)) {
        change(Arc::make_mut(&mut self.tool.input_schema));
    }

    /// The result has this type.
    fn output<T: ToSchema>(mut self) -> Self {
        self.tool.output_schema = Some(Arc::new(schema::answer::<T>()));
        self
    }

    /// The result is a task. `get_task` and `list_tasks` describe all its fields; here the most important ones do, because
    /// a dozen tools return one.
    fn output_task(mut self) -> Self {
        let mut task = schema::answer::<TaskView>();
        schema::keep(&mut task, &TASK_FIELDS);
        self.tool.output_schema = Some(Arc::new(task));
        self
    }

    /// Adds a field to the result.
    fn output_field(mut self, name: &str, field: Value) -> Self {
        if let Some(output) = &mut self.tool.output_schema {
            schema::add(Arc::make_mut(output), name, field, true);
        }
        self
    }

    /// The result is a list of this type.
    fn output_list<T: ToSchema>(mut self, name: &str) -> Self {
        let item = schema::answer::<T>();
        self.tool.output_schema = Some(Arc::new(schema::list_of(name, item)));
        self
    }

    /// Marks a tool that waits for events, and stops when its client disconnects.
    fn waits(mut self) -> Self {
        self.waits = true;
        self
    }

    /// Adds the tool to the core set.
    fn core(mut self) -> Self {
        self.core = true;
        self
    }
}

/// Paging arguments.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "its schema is what it is for; it is read as the query of REST")]
struct Page {
    /// Page size
    #[schema(nullable = false)]
    limit: Option<i64>,
    /// nextCursor of the previous page
    #[schema(nullable = false)]
    cursor: Option<String>,
}

/// Which tools a client sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSet {
    Full,
    /// About a dozen tools: enough to pair, receive, work, answer and ask.
    Core,
}

impl ToolSet {
    /// The set in the query of `/mcp`.
    pub(crate) fn of_query(query: Option<&str>) -> Self {
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        let core = pairs.into_iter().any(|(name, value)| name == "tools" && value == "core");
        if core { Self::Core } else { Self::Full }
    }

    fn holds(self, entry: &Entry) -> bool {
        self == Self::Full || entry.core
    }
}

/// All tools in order, with an index by name.
#[derive(Debug)]
struct Table {
    entries: Vec<Entry>,
    places: HashMap<&'static str, usize>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let topics = [
        news::entries(),
        pairing::entries(),
        tasks::entries(),
        gate::entries(),
        talk::entries(),
        files::entries(),
        networks::entries(),
        directory::entries(),
        account::entries(),
    ];
    let entries = topics.concat();
    let name = |entry: &Entry| match entry.tool.name {
        std::borrow::Cow::Borrowed(name) => name,
        std::borrow::Cow::Owned(_) => "",
    };
    let places = entries.iter().enumerate().map(|(place, entry)| (name(entry), place)).collect();
    Table { entries, places }
});

/// The tools of a set, in a fixed order.
#[must_use]
pub fn list(set: ToolSet) -> Vec<Tool> {
    TABLE.entries.iter().filter(|entry| set.holds(entry)).map(|entry| entry.tool.clone()).collect()
}

pub(crate) fn find(set: ToolSet, name: &str) -> Option<&'static Entry> {
    let place = TABLE.places.get(name)?;
    TABLE.entries.get(*place).filter(|entry| set.holds(entry))
}

/// Whether a tool waits for events, so that its arguments stay in memory.
pub(crate) fn waits(name: &str) -> bool {
    find(ToolSet::Full, name).is_some_and(|entry| entry.waits)
}

impl Entry {
    pub(crate) fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Whether the tool writes; such a call must run to completion.
    pub(crate) fn writes(&self) -> bool {
        !matches!(self.kind, ToolKind::Read) && !self.waits
    }

    pub(crate) async fn call(&self, call: Call, args: Args) -> ToolResult {
        (self.run)(call, args).await
    }
}
