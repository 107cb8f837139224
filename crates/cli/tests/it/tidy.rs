//! The house rules that a program can check.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

const FILE_LINES_MAX: usize = 400;
/// Wider than rustfmt sets code, because long strings and attributes are left as they are.
const LINE_CHARS_MAX: usize = 130;
const TEMPLATE_CHARS_MAX: usize = 140;
const FUNCTION_LINES_MAX: usize = 70;
const BANNED_NAMES: [&str; 5] = ["util", "utils", "helpers", "common", "misc"];
const BANNED_TYPES: [&str; 4] = ["Manager", "Service", "Helper", "Processor"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn sources(folder: &Path, kind: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, kind, found);
        } else if path.extension().is_some_and(|ending| ending == kind) {
            found.push(path);
        }
    }
}

fn all() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    sources(&root().join("crates"), "rs", &mut found);
    assert!(found.len() > 40, "the sources were not found");
    found.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests")
}

/// `Task::change_status` asks the table of moves; whoever wrote a status beside it would not.
#[test]
fn a_status_changes_in_one_place() {
    for (path, text) in all() {
        let is_of_tasks = ["crates/app/src", "crates/store/src"]
            .iter()
            .any(|crate_of| path.starts_with(root().join(crate_of)));
        let writes = text.lines().any(|line| line.contains("task.status = "));
        assert!(!is_of_tasks || is_test(&path) || !writes, "{} sets a status", path.display());
    }
}

#[test]
fn every_file_says_why_it_exists_and_stays_small() {
    for (path, text) in all() {
        assert!(text.starts_with("//! "), "{} does not open with //!", path.display());
        let lines = text.lines().count();
        assert!(is_test(&path) || lines <= FILE_LINES_MAX, "{} has {lines} lines", path.display());
        for (number, line) in text.lines().enumerate() {
            let chars = line.chars().count();
            assert!(
                is_test(&path) || chars <= LINE_CHARS_MAX,
                "{}:{} has {chars} characters",
                path.display(),
                number + 1
            );
        }
        let stem = path.file_stem().unwrap().to_str().unwrap();
        assert!(!BANNED_NAMES.contains(&stem), "{} has a name that says nothing", path.display());
    }
}

#[test]
fn templates_are_broken_into_lines_like_code() {
    let mut templates = Vec::new();
    sources(&root().join("crates/server/templates"), "html", &mut templates);
    assert!(templates.len() > 30, "the templates were not found");
    for path in templates {
        for (number, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
            let chars = line.chars().count();
            assert!(chars <= TEMPLATE_CHARS_MAX, "{}:{} has {chars} characters", path.display(), number + 1);
        }
    }
}

#[test]
fn functions_fit_on_a_screen() {
    for (path, text) in all() {
        let lines: Vec<&str> = text.lines().collect();
        for (start, line) in lines.iter().enumerate().filter(|_| !is_test(&path)) {
            let code = line.trim_start();
            let head = code.split("fn ").next().unwrap_or_default();
            let begins = code.contains("fn ")
                && head.split_whitespace().all(|word| {
                    word.starts_with("pub")
                        || ["const", "async", "unsafe", "extern"].contains(&word)
                        || word.ends_with(')')
                });
            if !begins || code.starts_with("//") {
                continue;
            }
            let indent = line.len() - code.len();
            let close = format!("{}}}", " ".repeat(indent));
            let length = lines[start..].iter().position(|line| *line == close).unwrap_or(0);
            assert!(length <= FUNCTION_LINES_MAX, "{}:{} has {length} lines", path.display(), start + 1);
        }
    }
}

/// Everything a crate of this workspace is built with, directly or through others.
fn built_with(metadata: &Value, name: &str) -> BTreeSet<String> {
    let packages = metadata["packages"].as_array().unwrap();
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let name_of = |id: &Value| packages.iter().find(|package| package["id"] == *id).unwrap()["name"].clone();
    let start = packages.iter().find(|package| package["name"] == name).unwrap()["id"].clone();
    let (mut found, mut left) = (BTreeSet::new(), vec![start]);
    while let Some(id) = left.pop() {
        let node = nodes.iter().find(|node| node["id"] == id).unwrap();
        for dependency in node["deps"].as_array().unwrap() {
            // Neither for tests nor for build scripts.
            let kinds = dependency["dep_kinds"].as_array().unwrap();
            let is_normal = kinds.iter().any(|kind| kind["kind"].is_null());
            if is_normal && found.insert(name_of(&dependency["pkg"]).as_str().unwrap().to_owned()) {
                left.push(dependency["pkg"].clone());
            }
        }
    }
    found
}

/// A crate whose own tests are switched off would leave them out without a word.
#[test]
fn every_unit_test_is_run() {
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let manifest: toml::Table =
            toml::from_str(&std::fs::read_to_string(folder.join("Cargo.toml")).unwrap()).unwrap();
        let is_off = manifest
            .get("lib")
            .and_then(|lib| lib.get("test"))
            .is_some_and(|test| test.as_bool() == Some(false));
        let mut found = Vec::new();
        sources(&folder.join("src"), "rs", &mut found);
        let tests = found.iter().find(|path| std::fs::read_to_string(path).unwrap().contains("#[cfg(test)]"));
        assert!(!(is_off && tests.is_some()), "{} is not run", tests.unwrap().display());
    }
}

#[test]
fn each_crate_is_built_with_only_what_it_may() {
    // Only what this machine builds is here; crates for other systems were never fetched.
    let rustc = std::process::Command::new("rustc").arg("-vV").output().unwrap().stdout;
    let rustc = String::from_utf8(rustc).unwrap();
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let cargo = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", host])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    let metadata: Value = serde_json::from_slice(&cargo.stdout).unwrap();
    let http = ["axum", "rmcp", "tandem-server"];
    let database = ["rusqlite", "tokio-postgres"];
    let walls = [
        ("tandem-core", [&http[..], &database, &["tokio", "tandem-store", "tandem-hub"]].concat()),
        ("tandem-disk", [&http[..], &database, &["tokio", "tandem-core"]].concat()),
        ("tandem-seal", [&http[..], &database, &["tokio", "tandem-store"]].concat()),
        ("tandem-api", [&http[..], &database, &["tokio", "tandem-store", "tandem-app"]].concat()),
        ("tandem-store", [&http[..], &["hyper", "tandem-app", "tandem-api", "tandem-hub"]].concat()),
        ("tandem-app", [&http[..], &["hyper", "tandem-api", "tandem-hub"]].concat()),
        ("tandem-hub", http.to_vec()),
    ];
    for (name, banned) in walls {
        let known = built_with(&metadata, name);
        assert!(!known.is_empty(), "{name} was not found");
        for word in banned {
            assert!(!known.contains(word), "{name} is built with {word}");
        }
    }
    // A surface that cannot name the store calls operations, and nothing below them.
    let packages = metadata["packages"].as_array().unwrap();
    let server = packages.iter().find(|package| package["name"] == "tandem-server").unwrap();
    let direct = server["dependencies"].as_array().unwrap();
    assert!(
        direct.iter().all(|dependency| dependency["name"] != "tandem-store"),
        "the server names the store"
    );
    for product in ["tandem", "tandem-server", "tandem-hub"] {
        for harness in ["tandem-bench", "tandem-torture"] {
            assert!(!built_with(&metadata, product).contains(harness), "{product} is built with {harness}");
        }
    }
}

#[test]
fn names_and_sql_are_where_they_belong() {
    for (path, text) in all() {
        let inside = path.strip_prefix(root().join("crates")).unwrap().to_path_buf();
        let name = inside.components().next().unwrap().as_os_str().to_str().unwrap().to_owned();
        let code: String =
            text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        let sql = ["\"select ", "\"insert ", "\"update ", "\"delete from"];
        let speaks_sql = sql.iter().any(|start| code.contains(start));
        let may = ["store", "bench"].contains(&name.as_str());
        assert!(may || is_test(&path) || !speaks_sql, "{} speaks SQL", path.display());
        for word in BANNED_TYPES {
            let declared = ["struct", "enum", "trait"].iter().any(|kind| {
                code.lines()
                    .any(|line| line.contains(&format!("{kind} ")) && line.contains(&format!("{word} ")))
            });
            assert!(!declared, "{} declares a {word}", path.display());
        }
    }
}

#[test]
fn sql_keeps_to_what_both_databases_take() {
    let banned = [
        " for update",
        " ilike ",
        " now()",
        " boolean",
        " serial ",
        "jsonb",
        "::text ",
        "::bigint",
        " autoincrement",
    ];
    // Here are the texts for PostgreSQL alone.
    let postgres = ["statement", "plan/tests"].map(|folder| root().join("crates/store/src").join(folder));
    let in_store = all().into_iter().filter(|(path, _)| path.starts_with(root().join("crates/store")));
    for (path, text) in in_store.filter(|(path, _)| !postgres.iter().any(|folder| path.starts_with(folder))) {
        for word in banned {
            assert!(!text.contains(word), "{} says {word:?}", path.display());
        }
        // Parameters are written `?1`, and nothing else may look like one: PostgreSQL gets `$` for every `?`.
        let dollars = text.match_indices('$').map(|(at, _)| &text[at + 1..]);
        let numbered = dollars.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())).count();
        assert_eq!(numbered, 0, "{} numbers parameters by $", path.display());
    }
    for entry in std::fs::read_dir(root().join("crates/store/migrations")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap().to_lowercase();
        for word in banned {
            assert!(!text.contains(word), "a migration says {word:?}");
        }
    }
}

/// What two surfaces need is in `http`; `http` puts them together and they do not know each other.
#[test]
fn surfaces_do_not_import_each_other() {
    const SURFACES: [&str; 5] = ["a2a", "mcp", "push", "rest", "web"];
    // One document describes the routes of both, and the page of the reference prints it.
    const KNOWN: [(&str, &str); 2] = [("rest", "push"), ("web", "rest")];
    let folder = root().join("crates/server/src");
    for surface in SURFACES {
        let mut files = Vec::new();
        sources(&folder.join(surface), "rs", &mut files);
        for path in files {
            let text = std::fs::read_to_string(&path).unwrap();
            for other in
                SURFACES.iter().filter(|other| **other != surface && !KNOWN.contains(&(surface, **other)))
            {
                assert!(!text.contains(&format!("crate::{other}::")), "{} imports {other}", path.display());
            }
        }
    }
}
