//! The agent's profile: the command line makes it and replaces its key; here it is only read.

use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use tandem_client::{Client, Keyring};
use tandem_core::AgentId;
use tokio::process::Command;

use crate::Driver;

#[derive(Deserialize)]
struct Profile {
    hub: String,
    agent_id: AgentId,
    agent_name: String,
    api_key: String,
    next_api_key: Option<String>,
}

fn file(name: &str, suffix: &str) -> anyhow::Result<PathBuf> {
    let folder = std::env::var_os("XDG_CONFIG_HOME").context("XDG_CONFIG_HOME is not set")?;
    Ok(PathBuf::from(folder).join(format!("tandem/agents/{name}.{suffix}")))
}

fn load(name: &str) -> anyhow::Result<Profile> {
    Ok(toml::from_str(&std::fs::read_to_string(file(name, "toml")?)?)?)
}

/// Runs the command line as the user of this driver.
async fn tandem(arguments: &[&str]) -> anyhow::Result<Value> {
    let program = std::env::var_os("TANDEM_BIN").context("TANDEM_BIN is not set")?;
    let output = Command::new(program).args(arguments).arg("--json").output().await?;
    ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

pub(crate) async fn register(driver: &Driver, request: &Value) -> anyhow::Result<Value> {
    let text = |field: &str| request[field].as_str().unwrap_or_default();
    let profile = text("profile");
    let mut arguments = vec!["register", text("name"), "--hub", text("url"), "--as", profile];
    if request["encrypted"] != true {
        arguments.push("--no-encryption");
    }
    let made = tandem(&arguments).await?;
    open(driver, profile)?;
    Ok(json!({ "agentId": made["agentId"], "fingerprint": made["fingerprint"] }))
}

pub(crate) fn open(driver: &Driver, name: &str) -> anyhow::Result<Value> {
    let profile = load(name)?;
    let stored = name.to_owned();
    let mut client =
        Client::new(profile.hub.parse()?)?.with_key(&profile.api_key).with_key_source(move || {
            let profile = load(&stored).ok()?;
            Some(profile.next_api_key.unwrap_or(profile.api_key))
        });
    let key = file(name, "pem")?;
    if key.exists() {
        let keyring = Keyring::in_files(profile.agent_id.clone(), key, file(name, "pins")?);
        client = client.with_keyring(keyring.named(&profile.agent_name));
    }
    driver.set_client(client);
    Ok(json!({ "agentId": profile.agent_id }))
}

pub(crate) fn key() -> anyhow::Result<Value> {
    Ok(json!({ "key": load("agent")?.api_key }))
}

pub(crate) async fn rotate() -> anyhow::Result<Value> {
    tandem(&["rotate", "--agent", "agent"]).await?;
    key()
}
