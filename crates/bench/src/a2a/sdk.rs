//! Servers of the official Python SDK.

use std::path::Path;

use anyhow::Context as _;

use super::super::process::{Process, Scratch};

const SCRIPT: &str = include_str!("sdk_server.py");

/// Starts a server with its tasks in memory, or in SQLite.
pub(super) async fn start(
    python: &Path,
    name: &str,
    parent: Option<&Path>,
) -> anyhow::Result<(Process, Scratch)> {
    let folder = Scratch::new(parent, "a2a-sdk")?;
    let script = folder.path().join("server.py");
    std::fs::write(&script, SCRIPT).with_context(|| format!("cannot write {}", script.display()))?;
    let store = match name {
        "memory" => name.to_owned(),
        _ => folder.path().join("tasks.db").display().to_string(),
    };
    // Not resolved: the environment of a virtual one is found by the name of its Python.
    let python = std::path::absolute(python)?;
    let arguments = [script.display().to_string(), store];
    Ok((Process::start(&python, &arguments, folder.path()).await?, folder))
}
