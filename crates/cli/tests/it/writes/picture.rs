//! All rows of the database, and how two pictures of them differ.

use std::collections::{BTreeMap, HashMap};

use tandem_core::Status;
use tandem_store::Database;
use tandem_store::dump::{Snapshot, TABLES, Value};

use super::{Operation, Prepared};
use crate::harness::Harness;

/// What the hub writes by itself, at a time of its own choosing.
const BY_THE_HUB: [&str; 13] = [
    "last_seen_at",
    "pushed_at",
    "fetched_at",
    "events_fetched",
    "webhook_cursor",
    "webhook_next_at",
    "webhook_lease_until",
    "webhook_lease_holder",
    "webhook_leased",
    "webhook_interrupted",
    "webhook_failing_since",
    "lease_until",
    "stalled_at",
];

/// What the hub writes after a tool has shown news to a model, unless the client has hung up meanwhile.
const AFTER_NEWS: [&str; 3] = ["surfaced_at", "surfaced_by", "wake"];
/// The tools that do so.
const NEWS_TOOLS: [&str; 2] = ["check_updates", "wait_for_updates"];

type Key = (&'static str, Vec<String>);
pub type Row = BTreeMap<String, Value<'static>>;

/// All rows, by table and primary key.
#[derive(Debug, Clone, Default)]
pub struct Picture {
    rows: BTreeMap<Key, Row>,
}

fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Int(number) => number.to_string(),
        Value::Text(text) => text.to_string(),
        Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
    }
}

/// A value without what differs from one scene to the next.
fn masked(value: &Value<'_>) -> String {
    match value {
        Value::Text(text)
            if !text.bytes().all(|byte| byte.is_ascii_lowercase() || b"._ -".contains(&byte)) =>
        {
            "...".into()
        }
        other => shown(other),
    }
}

fn is_id(text: &str) -> bool {
    let prefixes = ["agent_", "conn_", "whd_", "file_", "msg_", "net_", "task_"];
    text.len() > 20 && prefixes.iter().any(|prefix| text.starts_with(prefix))
}

impl Operation {
    fn shows_news(&self) -> bool {
        matches!(self, Self::Tool(name, _) if NEWS_TOOLS.contains(&name.as_str()))
    }
}

impl Picture {
    /// As the database is now.
    pub async fn take(hub: &Harness) -> Self {
        let database = match &hub.place.database {
            Some(url) => Database::Postgres(url.clone()),
            None => Database::Sqlite(hub.place.folder.join("tandem.db")),
        };
        tokio::task::spawn_blocking(move || Self::read(&database)).await.unwrap()
    }

    /// The values of a column.
    pub fn texts(&self, table: &str, column: &str) -> Vec<String> {
        let rows = self.rows.iter().filter(|((name, _), _)| *name == table);
        rows.map(|(_, row)| shown(&row[column])).collect()
    }

    fn read(database: &Database) -> Self {
        let mut snapshot = Snapshot::take(database).unwrap();
        let mut rows = BTreeMap::new();
        for table in TABLES {
            let columns = snapshot.columns(table).unwrap();
            let taken = snapshot.pages(table, |page| {
                for values in page {
                    let row: Row = columns.iter().cloned().zip(values).collect();
                    let key = table.key.iter().map(|column| shown(&row[*column])).collect();
                    rows.insert((table.name, key), row);
                }
                Ok::<_, tandem_store::Error>(())
            });
            taken.unwrap();
        }
        Self { rows }
    }

    pub fn of_table(&self, table: &str) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |(key, _)| key.0 == table).map(|(_, row)| row)
    }

    pub fn row(&self, table: &'static str, key: &str) -> Option<&Row> {
        self.rows.get(&(table, vec![key.to_owned()]))
    }

    /// What became of each row in a later picture, in words that are the same in every scene.
    fn changes<'a>(
        &'a self,
        later: &'a Self,
        left_out: &'a [&str],
    ) -> impl Iterator<Item = (&'a Row, String)> {
        let is_left_out = |name: &str| BY_THE_HUB.contains(&name) || left_out.contains(&name);
        let gone = self.rows.iter().filter(|(key, _)| !later.rows.contains_key(*key));
        let gone = gone.map(|(key, row)| (row, format!("- {}", key.0)));
        let changed = later.rows.iter().filter_map(move |(key, row)| {
            let all = |row: &Row| {
                let kept = row.iter().filter(|(name, _)| !is_left_out(name.as_str()));
                kept.map(|(name, value)| format!(" {name}={}", masked(value))).collect::<String>()
            };
            let Some(before) = self.rows.get(key) else {
                return Some((row, format!("+ {}{}", key.0, all(row))));
            };
            let differs = |(name, value): &(&String, &Value<'static>)| {
                !is_left_out(name.as_str()) && before[*name] != **value
            };
            let changes = row.iter().filter(differs);
            let changes: String = changes
                .map(|(name, value)| format!(" {name}={}->{}", masked(&before[name]), masked(value)))
                .collect();
            (!changes.is_empty()).then(|| (row, format!("~ {}{changes}", key.0)))
        });
        // Deliveries are made by workers, and looked at apart. An ended key names nobody; its agent's row shows the change.
        let is_apart =
            |change: &str| ["deliveries", "ended_keys"].iter().any(|table| change[2..].starts_with(table));
        gone.chain(changed).filter(move |(_, change)| !is_apart(change))
    }

    /// What became of everything.
    pub fn all_changes(&self, later: &Self) -> Vec<String> {
        let with_ids =
            |row: &Row| row.values().map(shown).filter(|text| is_id(text)).collect::<Vec<_>>().join(" ");
        self.changes(later, &[]).map(|(row, change)| format!("{change} ({})", with_ids(row))).collect()
    }

    /// What became of each scene.
    pub fn changes_by_scene(&self, later: &Self, scenes: &[Prepared]) -> Vec<Vec<String>> {
        let mut owners = HashMap::new();
        for (number, scene) in scenes.iter().enumerate() {
            owners.extend(scene.agents.iter().map(|agent| (agent.id.clone(), number)));
            owners.insert(scene.marker.clone(), number);
        }
        // Each row names something that another row, or the scene, has named.
        for _ in 0..3 {
            for row in self.rows.values().chain(later.rows.values()) {
                let texts = || {
                    row.values()
                        .filter_map(|value| if let Value::Text(text) = value { Some(text) } else { None })
                };
                let Some(owner) = texts().find_map(|text| owners.get(text.as_ref()).copied()) else {
                    continue;
                };
                owners.extend(texts().filter(|text| is_id(text)).map(|text| (text.to_string(), owner)));
            }
        }
        let mut changes = vec![Vec::new(); scenes.len()];
        for (left_out, of_news) in [(&[][..], false), (&AFTER_NEWS, true)] {
            for (row, change) in self.changes(later, left_out) {
                let owner = row.values().find_map(|value| owners.get(&shown(value)));
                let owner = *owner.unwrap_or_else(|| panic!("a row of nobody: {change} {row:?}"));
                if scenes[owner].operation.shows_news() == of_news {
                    changes[owner].push(change);
                }
            }
        }
        for changes in &mut changes {
            changes.sort();
            // A longer name has more terms.
            changes.dedup_by(|next, last| next == last && next.contains(" directory_terms "));
        }
        changes
    }

    /// What rows count is what there is.
    pub fn check_counters(&self) {
        let count = |table: &str, test: &dyn Fn(&Row) -> bool| {
            i64::try_from(self.of_table(table).filter(|row| test(row)).count()).unwrap()
        };
        let live = |row: &Row| {
            let status = Status::ALL.into_iter().find(|status| status.as_str() == shown(&row["status"]));
            status.expect("a status").is_live()
        };
        let parties = |row: &Row, one: &Value<'_>, other: &Value<'_>| {
            let (initiator, target) = (&row["initiator_id"], &row["target_id"]);
            (initiator, target) == (one, other) || (initiator, target) == (other, one)
        };
        for pair in self.of_table("pairs") {
            let tasks =
                count("tasks", &|task| live(task) && parties(task, &pair["low_id"], &pair["high_id"]));
            assert_eq!(pair["live_tasks"], Value::Int(tasks), "{pair:?}");
        }
        for task in self.of_table("tasks") {
            let of_task = |row: &Row| row["task_id"] == task["id"];
            assert_eq!(task["message_count"], Value::Int(count("messages", &of_task)), "{task:?}");
            assert_eq!(task["log_count"], Value::Int(count("task_log", &of_task)), "{task:?}");
        }
        for network in self.of_table("networks") {
            let of_network = |row: &Row| row["network_id"] == network["id"];
            assert_eq!(
                network["member_count"],
                Value::Int(count("network_members", &of_network)),
                "{network:?}"
            );
            assert_eq!(
                network["message_count"],
                Value::Int(count("network_messages", &of_network)),
                "{network:?}"
            );
        }
        for agent in self.of_table("agents") {
            let own = self.of_table("files").filter(|file| file["uploader_id"] == agent["id"]);
            let bytes: i64 =
                own.map(|file| if let Value::Int(size) = file["size_bytes"] { size } else { 0 }).sum();
            assert_eq!(agent["file_bytes"], Value::Int(bytes), "{agent:?}");
        }
    }
}
