//! The OpenAPI document as other people's tools see it: a linter finds nothing, and clients that generators write from it bring a
//! task there and back.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::{installed, script};
use crate::harness::{Agent, Db, Harness};

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json").canonicalize().unwrap()
}

/// A folder for what a generator writes.
struct Generated(PathBuf);

impl Generated {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("tandem-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn take(&self, file: &str) {
        std::fs::copy(script("generated").join(file), self.0.join(file)).unwrap();
    }

    /// Runs a program in the folder, as two agents of a hub. Returns what it said.
    async fn run(
        &self,
        program: impl AsRef<OsStr>,
        arguments: &[&OsStr],
        agents: Option<(&Agent, &Agent)>,
    ) -> String {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.0).env("PYTHONDONTWRITEBYTECODE", "1").kill_on_drop(true);
        command.env("REDOCLY_TELEMETRY", "off").env("CI", "1");
        if let Some((ada, bob)) = agents {
            command.env("URL", format!("http://{}", ada.client.address));
            command.env("ADA_KEY", &ada.key).env("BOB_KEY", &bob.key).env("BOB", bob.id.as_str());
        }
        let output = command.output().await.unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{said}");
        said
    }
}

impl Drop for Generated {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn words<'a>(words: &'a [&'a str]) -> Vec<&'a OsStr> {
    words.iter().map(|word| OsStr::new(*word)).collect()
}

fn tool(name: &str) -> PathBuf {
    installed().join("node_modules/.bin").join(name)
}

#[tokio::test]
async fn a_linter_finds_nothing_in_the_document() {
    let folder = Generated::new("redocly");
    let lint = [OsStr::new("lint"), OsStr::new("--format=json"), OsStr::new("--extends=recommended-strict")];
    let path = document();
    let all = [&lint[..], &[path.as_os_str()]].concat();
    let said = folder.run(tool("redocly"), &all, None).await;
    assert!(said.contains("\"errors\": 0") && said.contains("\"warnings\": 0"), "{said}");
}

#[tokio::test]
async fn a_client_of_openapi_typescript_brings_a_task_there_and_back() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let folder = Generated::new("openapi-typescript");
    folder.take("drive.ts");
    std::fs::create_dir(folder.0.join("node_modules")).unwrap();
    let ours = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../sdk/typescript/node_modules")
        .canonicalize()
        .unwrap();
    for (from, name) in [
        (&installed().join("node_modules"), "openapi-fetch"),
        (&installed().join("node_modules"), "openapi-typescript-helpers"),
        (&ours, "@types"),
    ] {
        std::os::unix::fs::symlink(from.join(name), folder.0.join("node_modules").join(name)).unwrap();
    }
    let path = document();
    let types = [path.as_os_str(), OsStr::new("--output"), OsStr::new("openapi.d.ts")];
    folder.run(ours.join(".bin/openapi-typescript"), &types, None).await;
    let strict = words(&[
        "--strict",
        "--noEmit",
        "--exactOptionalPropertyTypes",
        "--noUncheckedIndexedAccess",
        "--target",
        "es2022",
        "--module",
        "nodenext",
        "--skipLibCheck",
        "false",
        "--types",
        "node",
        "drive.ts",
    ]);
    std::fs::write(folder.0.join("package.json"), "{\"type\":\"module\"}").unwrap();
    folder.run(ours.join(".bin/tsc"), &strict, None).await;
    let node = installed().join("node_modules/node/bin/node");
    let said = folder.run(node, &words(&["--no-warnings", "drive.ts"]), Some((&ada, &bob))).await;
    assert_eq!(said.trim(), "completed: 4");
}

#[tokio::test]
async fn a_client_of_openapi_python_client_brings_a_task_there_and_back() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let folder = Generated::new("openapi-python");
    let tools = installed().join("venv/bin");
    folder.take("drive.py");
    folder.take("openapi-python-client.yaml");
    let path = document();
    let generate = words(&["generate", "--meta", "none", "--config", "openapi-python-client.yaml", "--path"]);
    let generate = [&generate[..], &[path.as_os_str()]].concat();
    let said = folder.run(tools.join("openapi-python-client"), &generate, None).await;
    assert!(!said.contains("Warning") && !said.contains("WARNING"), "{said}");
    let said = folder.run(tools.join("python"), &words(&["drive.py"]), Some((&ada, &bob))).await;
    assert_eq!(said.trim(), "completed: 4");
    let strict = words(&["--strict", "--no-incremental", "--cache-dir", "/dev/null", "drive.py"]);
    folder.run(tools.join("mypy"), &strict, None).await;
}
