//! Every fault is told of the field that it is in.

use serde::Deserialize;
use serde_json::{Value, json};
use tandem_app::Invalid;

use super::{Object, from_pairs};
use crate::http::unknown::UnknownNames;

#[derive(Debug, PartialEq, Deserialize)]
struct Inner {
    size: u8,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Outer {
    name: String,
    count: Option<u32>,
    #[serde(default)]
    is_open: bool,
    inner: Option<Inner>,
    free: Option<Value>,
}

fn read(json: &str) -> Result<Outer, (String, String)> {
    Object::parse(json.as_bytes()).and_then(|object| object.read(&mut UnknownNames::default())).map_err(first)
}

/// The first field that is wrong, and why.
fn first(invalid: Invalid) -> (String, String) {
    let (field, why) = invalid.0.into_iter().next().unwrap();
    (field, why.concat())
}

#[test]
fn a_field_is_named_with_what_is_wrong() {
    for (json, field, why) in [
        ("{", "body", "is not valid JSON (at line 1 column 1)"),
        ("[]", "body", "must be a JSON object"),
        ("{}", "name", "is required"),
        (r#"{"name": 1}"#, "name", "must be text, not 1"),
        (r#"{"name": "a", "count": -1}"#, "count", "is out of range"),
        (r#"{"name": "a", "count": 1.5}"#, "count", "must be a whole number, not 1.5"),
        (r#"{"name": "a", "count": 18446744073709551615}"#, "count", "is out of range"),
        (r#"{"name": "a", "inner": {"size": "big"}}"#, "inner", "must be a whole number, not text"),
        (r#"{"name": "a", "inner": [1]}"#, "inner", "must be an object, not a list"),
        (r#"{"name": "a", "inner": {}}"#, "size", "is required"),
    ] {
        assert_eq!(read(json).unwrap_err(), (field.to_owned(), why.to_owned()), "{json}");
    }
    for whole in ["60", "60.0", "6e1", "-0", "-0.0"] {
        let json = format!(r#"{{"name": "a", "count": {whole}}}"#);
        assert_eq!(read(&json).unwrap().count, Some(if whole.starts_with('6') { 60 } else { 0 }), "{whole}");
    }
    for long in ["9223372036854775808", "1e300", "-1e300", "1e17"] {
        let json = format!(r#"{{"name": "a", "count": {long}}}"#);
        assert_eq!(read(&json).unwrap_err().1, "is out of range", "{long}");
    }
    assert!(Object::parse(b"{\"unknown\": \"\xff\"}").is_err());
}

#[test]
fn a_field_may_not_be_there_twice() {
    let twice = read(r#"{"name": "a", "name": "b"}"#).unwrap_err();
    assert_eq!(twice, ("body".to_owned(), "names a field twice".to_owned()));
    let inside = read(r#"{"name": "a", "inner": {"size": 1, "size": 2}}"#).unwrap_err();
    assert_eq!(inside, ("inner".to_owned(), "names a field twice".to_owned()));
    // What nobody reads, and what nobody has defined, may say anything.
    assert!(read(r#"{"name": "a", "x": 1, "x": 2, "free": {"y": 1, "y": 2}}"#).is_ok());
}

#[test]
fn json_of_any_form_stays_as_it_was() {
    let free = json!({"a": [null, true, -1, u64::MAX, 1.5, "text"], "b": {}});
    let read = read(&json!({"name": "a", "free": free}).to_string()).unwrap();
    assert_eq!(read.free, Some(free));
}

#[test]
fn a_query_says_everything_as_text() {
    let pairs = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        from_pairs::<Outer>(pairs, &mut UnknownNames::default()).map_err(first)
    };
    let read = pairs(&[("name", "5"), ("count", "5"), ("is_open", "1")]).unwrap();
    assert_eq!((read.name.as_str(), read.count, read.is_open), ("5", Some(5), true));
    let wrong = pairs(&[("name", "a"), ("is_open", "yes")]).unwrap_err();
    assert_eq!(wrong, ("is_open".to_owned(), "must be true or false".to_owned()));
}

#[test]
fn fields_that_a_type_does_not_have_are_named() {
    let said = |json: &str| {
        let mut unknown = UnknownNames::default();
        Object::parse(json.as_bytes()).unwrap().read::<Outer>(&mut unknown).unwrap();
        unknown.sentences()
    };
    assert!(said(r#"{"name": "a", "free": {"any": {"thing": 1}}, "inner": null}"#).is_empty());
    assert_eq!(
        said(r#"{"name": "a", "cuont": {"name": 1}, "inner": {"size": 1, "siez": [{}]}, "": 1}"#),
        [
            "cuont is not known and was ignored; did you mean count?",
            "siez is not known and was ignored; did you mean size?",
            " is not known and was ignored",
        ]
    );
    let long = format!(r#"{{"name": "a", "{}": 1}}"#, "\u{e9}\\n".repeat(500));
    assert_eq!(said(&long), [format!("{} is not known and was ignored", "?".repeat(40))]);
    let many: String = (0..500).map(|number| format!(r#", "x{number}": 1"#)).collect();
    assert_eq!(said(&format!(r#"{{"name": "a"{many}}}"#)).len(), 5);
}
