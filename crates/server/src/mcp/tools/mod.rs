//! The tools: each a name, a schema and a thin call of what REST calls.

mod account;
mod directory;
mod files;
mod gate;
mod networks;
mod news;
mod pairing;
mod talk;
mod tasks;

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::mcp::call::{Args, Call, Replied};
use crate::mcp::schema;

type Run = Arc<dyn Fn(Call, Args) -> Pin<Box<dyn Future<Output = Replied> + Send>> + Send + Sync>;

/// What calling a tool does to the world.
#[derive(Debug, Clone, Copy)]
enum Does {
    /// It only looks.
    Look,
    /// It adds something.
    Add,
    /// It changes something, and a second time changes nothing.
    Set,
    /// It takes something away for good.
    Destroy,
    /// It puts another thing into the place of one, each time.
    Replace,
}

impl Does {
    fn hints(self) -> ToolAnnotations {
        let (read_only, destructive, idempotent) = match self {
            Self::Look => (true, false, true),
            Self::Add => (false, false, false),
            Self::Set => (false, false, true),
            Self::Destroy => (false, true, true),
            Self::Replace => (false, true, false),
        };
        // Other owners' agents are at the other end.
        ToolAnnotations::from_raw(None, Some(read_only), Some(destructive), Some(idempotent), Some(true))
    }
}

/// A tool, and what it does.
#[derive(Clone)]
pub(crate) struct Entry {
    tool: Tool,
    core: bool,
    run: Run,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("tool", &self.tool.name).finish_non_exhaustive()
    }
}

impl Entry {
    fn new<F: Future<Output = Replied> + Send + 'static>(
        name: &'static str,
        does: Does,
        about: &'static str,
        run: impl Fn(Call, Args) -> F + Send + Sync + 'static,
    ) -> Self {
        let mut tool = Tool::new(name, about, schema::nothing());
        tool.annotations = Some(does.hints());
        Self { tool, core: false, run: Arc::new(move |call, args| Box::pin(run(call, args))) }
    }

    /// Takes the fields of a request.
    fn takes<T: ToSchema>(mut self) -> Self {
        self.tool.input_schema = Arc::new(schema::arguments::<T>());
        self
    }

    /// But not these.
    fn without(mut self, names: &[&str]) -> Self {
        self.change_input(|input| schema::remove(input, names));
        self
    }

    /// Takes the id of something, too.
    fn id(self, name: &str, about: &str) -> Self {
        self.field(name, json!({"type": "string", "description": about}), true)
    }

    /// Takes another field, too.
    fn field(mut self, name: &str, field: Value, required: bool) -> Self {
        self.change_input(|input| schema::add(input, name, field, required));
        self
    }

    fn change_input(&mut self, change: impl FnOnce(&mut JsonObject)) {
        change(Arc::make_mut(&mut self.tool.input_schema));
    }

    /// Answers with this.
    fn gives<T: ToSchema>(mut self) -> Self {
        self.tool.output_schema = Some(Arc::new(schema::answer::<T>()));
        self
    }

    /// Answers with this as well.
    fn gives_also(mut self, name: &str, field: Value) -> Self {
        if let Some(output) = &mut self.tool.output_schema {
            schema::add(Arc::make_mut(output), name, field, true);
        }
        self
    }

    /// Answers with a list of these.
    fn lists<T: ToSchema>(mut self, name: &str) -> Self {
        let item = schema::answer::<T>();
        self.tool.output_schema = Some(Arc::new(schema::list_of(name, item)));
        self
    }

    /// Belongs to the dozen that suffice.
    fn core(mut self) -> Self {
        self.core = true;
        self
    }
}

/// Which part of a list.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "its schema is what it is for; it is read as the query of REST")]
struct Page {
    /// How many at most
    limit: Option<i64>,
    /// nextCursor of the page before
    cursor: Option<String>,
}

/// Which tools a client wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    /// All of them.
    Full,
    /// The dozen that suffice to pair, receive, work, answer and ask.
    Core,
}

impl Set {
    /// What the query of `/mcp` asks for.
    pub(crate) fn of_query(query: Option<&str>) -> Self {
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        let core = pairs.into_iter().any(|(name, value)| name == "tools" && value == "core");
        if core { Self::Core } else { Self::Full }
    }

    fn holds(self, entry: &Entry) -> bool {
        self == Self::Full || entry.core
    }
}

/// All tools in their order, and where each is.
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

/// The tools of a set, in an order that never changes.
pub(crate) fn list(set: Set) -> Vec<Tool> {
    TABLE.entries.iter().filter(|entry| set.holds(entry)).map(|entry| entry.tool.clone()).collect()
}

/// A tool by its name.
pub(crate) fn find(set: Set, name: &str) -> Option<&'static Entry> {
    let place = TABLE.places.get(name)?;
    TABLE.entries.get(*place).filter(|entry| set.holds(entry))
}

impl Entry {
    pub(crate) fn tool(&self) -> &Tool {
        &self.tool
    }

    pub(crate) async fn call(&self, call: Call, args: Args) -> Replied {
        (self.run)(call, args).await
    }
}
