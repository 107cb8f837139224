//! What the hub refuses is in its OpenAPI document: every refusal that a test gets by REST is looked up there.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;

use super::Reply;

/// Codes by method and path, as the document lists them.
struct Operation {
    method: String,
    path: Vec<String>,
    codes: BTreeSet<String>,
}

static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let document: Value = serde_json::from_str(tandem_server::rest::DOCUMENT).unwrap();
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let answers = operation["responses"].as_object().unwrap().values();
            let named = answers.filter_map(|answer| answer["$ref"].as_str()?.rsplit('/').next());
            let shared = &document["components"]["responses"];
            let codes = named.flat_map(|name| shared[name]["x-codes"].as_array().into_iter().flatten());
            all.push(Operation {
                method: method.to_uppercase(),
                path: path.split('/').map(Into::into).collect(),
                codes: codes.map(|code| code.as_str().unwrap().to_owned()).collect(),
            });
        }
    }
    all
});

/// What any request may be refused with before it is looked at, whatever its route.
const OF_ALL: [&str; 4] = ["too_large", "foreign_origin", "foreign_host", "method_not_allowed"];

fn find(method: &str, path: &str) -> Option<&'static Operation> {
    let path = path.trim_start_matches('/');
    let path = path.strip_prefix("api/v1/").unwrap_or(path);
    let parts: Vec<&str> = std::iter::once("").chain(path.split('/')).collect();
    let fits = |known: &&Operation| {
        let same = known.path.iter().zip(&parts).all(|(known, part)| known.starts_with('{') || known == part);
        known.method == method && known.path.len() == parts.len() && same
    };
    // A word of the path goes before a parameter.
    OPERATIONS
        .iter()
        .filter(fits)
        .min_by_key(|known| known.path.iter().filter(|part| part.starts_with('{')).count())
}

/// Asserts that a refusal is documented.
pub(super) fn check(method: &str, path: &str, reply: &Reply) {
    if !(400..500).contains(&reply.status) || path.starts_with("/mcp") {
        return;
    }
    let (Some(operation), Ok(body)) = (find(method, path), serde_json::from_slice::<Value>(&reply.bytes))
    else {
        return;
    };
    let code = body["code"].as_str().unwrap_or_default();
    assert!(
        OF_ALL.contains(&code) || operation.codes.contains(code),
        "{method} {path} was refused with {code}, which docs/openapi.json does not say of it"
    );
}
