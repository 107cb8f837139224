//! The writer of answers writes what `serde_json` writes.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use tandem_api::json::to_string;

#[derive(Serialize)]
enum Kind {
    Unit,
    New(i64),
    Pair(bool, char),
    Fields { a: Option<&'static str>, b: () },
}

#[derive(Serialize)]
struct Tuple(u8, i16);

#[derive(Serialize)]
struct All<'a> {
    texts: Vec<String>,
    kinds: Vec<Kind>,
    numbers: (i64, i64, u64, f64, f64, f32),
    raw: Vec<&'a RawValue>,
    after: &'static str,
    by_number: BTreeMap<i64, Tuple>,
    by_text: BTreeMap<String, Option<bool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nothing: Option<i64>,
    value: serde_json::Value,
    empty: [Vec<i64>; 2],
}

#[test]
fn it_writes_what_serde_json_writes() {
    let mut texts: Vec<String> = (0..300).map(|n| char::from_u32(n).unwrap_or('x').to_string()).collect();
    // Every place in a group of eight bytes, and in the rest behind it.
    texts.extend((0..20).map(|n| format!("{}\u{1}\"{}", "a".repeat(n), "é\\ü".repeat(n))));
    texts.push("🦀 plain text of more than eight bytes, with ümläute".into());
    let raw = RawValue::from_string("{\"a\": [1, \"\\n\"]}".into()).unwrap();
    let all = All {
        texts,
        kinds: vec![
            Kind::Unit,
            Kind::New(-1),
            Kind::Pair(true, '"'),
            Kind::Fields { a: None, b: () },
            Kind::Fields { a: Some("x"), b: () },
        ],
        numbers: (i64::MIN, i64::MAX, u64::MAX, 0.1, f64::NAN, 3.5),
        raw: vec![&raw, &raw],
        after: "a \"text\"",
        by_number: BTreeMap::from([(-3, Tuple(0, -7)), (20, Tuple(255, 10))]),
        by_text: BTreeMap::from([("\n".into(), Some(true)), (String::new(), None)]),
        nothing: None,
        value: json!({ "a": [null, 1, -2.5, "x\t", { "b": {} }], "c": 1e300 }),
        empty: Default::default(),
    };
    assert_eq!(to_string(&all).unwrap(), serde_json::to_string(&all).unwrap());
}

#[test]
fn a_key_that_is_no_text_is_refused() {
    assert!(to_string(&BTreeMap::from([(vec![1], 1)])).is_err());
}
