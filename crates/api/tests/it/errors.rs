//! The table of error codes.

use std::collections::BTreeSet;

use serde_json::json;
use tandem_api::error::{Code, ErrorBody};

#[test]
fn each_code_has_a_word_of_its_own() {
    let words: BTreeSet<&str> = Code::ALL.iter().map(|code| code.word()).collect();
    assert_eq!(words.len(), Code::ALL.len());
    for code in Code::ALL {
        assert_eq!(code.word().parse(), Ok(*code));
        assert!((400..600).contains(&code.status()), "{code}");
        assert!(!code.meaning().is_empty() && !code.meaning().ends_with('.'), "{code}");
        assert!(code.hint().is_none_or(|hint| hint.ends_with('.')), "{code}");
        assert_eq!(serde_json::to_value(code).unwrap(), json!(code.word()));
    }
}

#[test]
fn a_client_survives_a_code_that_it_does_not_know() {
    let body: ErrorBody = serde_json::from_value(json!({ "error": "No", "code": "brand_new" })).unwrap();
    assert_eq!(body.code, Code::Unknown);
    assert!(!Code::ALL.contains(&Code::Unknown));
}

#[test]
fn an_error_may_have_a_hint_of_its_own_that_is_not_on_the_wire() {
    let mut body = ErrorBody::new(Code::NotFound, "No such pairing code");
    assert_eq!(body.hint(), Code::NotFound.hint());
    body.hint = Some("Ask for another.");
    assert_eq!(body.hint(), Some("Ask for another."));
    let wire = serde_json::to_value(&body).unwrap();
    assert_eq!(wire, json!({ "error": "No such pairing code", "code": "not_found" }));
}
