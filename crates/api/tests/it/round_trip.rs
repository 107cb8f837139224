//! Every wire type writes what it has read, in the same order.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tandem_core::Timestamp;

use crate::{a2a, requests, views};

/// A wire type with examples: the first with every field, the others with fewer.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) examples: Vec<Value>,
    pub(crate) again: fn(&str) -> String,
}

/// Reads a value from JSON and writes it again; the value as text and as a tree must read the same, and both writers must
/// agree.
pub(crate) fn again<T: Serialize + DeserializeOwned>(json: &str) -> String {
    let value: T = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    let first = serde_json::to_string(&value).unwrap();
    let tree: T = serde_json::from_value(serde_json::from_str(&first).unwrap()).unwrap();
    assert_eq!(serde_json::to_string(&tree).unwrap(), first);
    assert_eq!(tandem_api::json::to_string(&value).unwrap(), first);
    first
}

/// Cases: a type, then its examples.
macro_rules! cases {
    ($($name:ty: $($example:expr),+;)+) => {
        vec![$($crate::round_trip::Case {
            name: stringify!($name),
            examples: vec![$(($example).clone()),+],
            again: $crate::round_trip::again::<$name>,
        }),+]
    };
}
pub(crate) use cases;

#[test]
fn every_wire_type_writes_what_it_has_read() {
    for case in requests::cases().into_iter().chain(views::cases()) {
        for example in case.examples {
            let json = example.to_string();
            assert_eq!((case.again)(&json), json, "{}", case.name);
        }
    }
}

/// The examples of the OpenAPI document.
#[test]
fn the_examples_are_in_their_file() {
    let cases = requests::cases().into_iter().chain(views::cases());
    let examples: BTreeMap<&str, Value> = cases.map(|case| (case.name, case.examples[0].clone())).collect();
    let made = serde_json::to_string_pretty(&examples).unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples.json");
    if std::env::var_os("TANDEM_WRITE_DOCUMENT").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap();
    assert!(
        found == made,
        "crates/api/examples.json is out of date: run TANDEM_WRITE_DOCUMENT=1 cargo nextest run -p tandem-api examples"
    );
}

/// The structs of the crate that are written to JSON.
fn wire_structs(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            wire_structs(&path, found);
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        for item in source
            .split("#[derive(")
            .skip(1)
            .filter(|item| item.split(')').next().is_some_and(|derives| derives.contains("Serialize")))
        {
            let declared = item.split("pub ").nth(1).unwrap_or_default();
            if let Some(rest) = declared.strip_prefix("struct ")
                && rest.contains('{')
                && rest.find('{') < rest.find(';').or(Some(usize::MAX))
            {
                found.insert(rest.split(['<', ' ']).next().unwrap_or_default().to_owned());
            }
        }
    }
}

#[test]
fn every_wire_type_has_an_example() {
    let mut declared = BTreeSet::new();
    wire_structs(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut declared);
    // It writes itself, and no derive says so.
    declared.insert("EventView".to_owned());
    let tested: BTreeSet<String> = requests::cases()
        .into_iter()
        .chain(views::cases())
        .chain(a2a::cases())
        .map(|case| case.name.to_owned())
        .collect();
    assert!(declared.len() > 70, "{declared:?}");
    assert_eq!(declared, tested);
}

/// Our own text of a time against what a library reads in it: every day of a thousand years, each at another time of the day,
/// and the edges.
#[test]
fn a_time_reads_as_it_was_written() {
    const DAY_MS: i64 = 86_400_000;
    let days = (0..366_000).map(|day| day * DAY_MS + day * 236_701 % DAY_MS);
    let edges = [-1, 0, 1, 951_782_399_999, 951_782_400_000, 253_402_199_999_999, 253_402_200_000_000];
    for ms in days.chain(edges) {
        let text = serde_json::to_string(&Timestamp(ms)).unwrap();
        assert_eq!(text, format!("\"{}\"", Timestamp(ms)));
        assert_eq!((text.len(), &text[24..]), (26, "Z\""), "{text}");
        assert_eq!(serde_json::from_str::<Timestamp>(&text).unwrap(), Timestamp(ms), "{text}");
    }
}
