//! The document in the repository is the one that the types and handlers describe.

use std::path::Path;

use serde::Serialize as _;
use serde_json::ser::PrettyFormatter;
use serde_json::{Serializer, Value};

fn text(document: &Value) -> String {
    let mut text = Vec::new();
    // The program contains this text, and a space is enough to read it by.
    let mut out = Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(b" "));
    document.serialize(&mut out).unwrap();
    String::from_utf8(text).unwrap() + "\n"
}

#[test]
fn the_openapi_document_is_the_agreed_one() {
    let made = text(&crate::rest::document());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    if std::env::var_os("TANDEM_WRITE_DOCUMENT").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap();
    assert!(
        found == made,
        "docs/openapi.json is out of date: run TANDEM_WRITE_DOCUMENT=1 cargo nextest run -p tandem-server openapi"
    );
}

/// A body or an answer without an example would be the only one.
#[test]
fn every_request_and_answer_has_an_example() {
    let document = crate::rest::document();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let answers = operation["responses"].as_object().unwrap().iter();
            let answers = answers.filter(|(status, _)| status.starts_with('2')).map(|(_, answer)| answer);
            for body in answers.chain(operation.get("requestBody")) {
                let json = &body["content"]["application/json"];
                let is_described =
                    json["schema"]["$ref"].is_string() || json["schema"]["items"]["$ref"].is_string();
                assert!(
                    !is_described || json.get("example").is_some(),
                    "{method} {path}: {}",
                    json["schema"]
                );
            }
        }
    }
}
