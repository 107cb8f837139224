//! The commands of the suite.

use anyhow::{Context as _, bail};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tandem_client::{Client, Method};

use crate::{Driver, profile, streams, tasks};

/// A field of a command.
pub(crate) fn text<'a>(request: &'a Value, field: &str) -> anyhow::Result<&'a str> {
    request[field].as_str().with_context(|| format!("{field} is missing in {request}"))
}

/// A wire type, or an id, from its JSON.
pub(crate) fn wire<T: DeserializeOwned>(json: Value) -> anyhow::Result<T> {
    Ok(serde_json::from_value(json)?)
}

/// An id in a field.
pub(crate) fn id<T: DeserializeOwned>(request: &Value, field: &str) -> anyhow::Result<T> {
    wire(request[field].clone())
}

pub(crate) async fn run(driver: &Driver, request: &Value) -> anyhow::Result<Value> {
    match text(request, "do")? {
        "register" => return profile::register(driver, request).await,
        "open" => return profile::open(driver, text(request, "profile")?),
        "key" => return profile::key(),
        "rotate" => return profile::rotate().await,
        "follow" => return streams::follow(driver, request).await,
        "read" => return streams::read(driver, request).await,
        "summary" => return streams::summary(driver, request).await,
        "unfollow" => return streams::unfollow(driver, request).await,
        _ => {}
    }
    let client = driver.client()?;
    match text(request, "do")? {
        "pair" => pair(&client, request).await,
        "call" => call(&client, request).await,
        "send" => tasks::send(&client, request).await,
        "view" => tasks::view(&client, request).await,
        "say" => tasks::say(&client, request).await,
        "upload" => tasks::upload(&client, request).await,
        "messages" => tasks::messages(&client, request).await,
        "files" => tasks::files(&client, request).await,
        "status" => tasks::set_status(&client, request, text(request, "status")?).await,
        "take" => tasks::set_status(&client, request, "working").await,
        "reply" => tasks::reply(&client, request).await,
        "result" => tasks::result(&client, request).await,
        "pin" => {
            let key = client.keyring()?.pins()?.get(&id(request, "agent")?)?;
            Ok(json!({ "fingerprint": key.map(|key| key.fingerprint().hex()) }))
        }
        "accept" => {
            let agent = id(request, "agent")?;
            let found = client.presented_key(&agent).await?;
            client.keyring()?.pins()?.accept(&agent, &found, None)?;
            Ok(json!({}))
        }
        other => bail!("there is no command {other}"),
    }
}

async fn pair(client: &Client, request: &Value) -> anyhow::Result<Value> {
    if request["code"].is_null() {
        return Ok(json!({ "code": client.create_pairing_code().await?.code }));
    }
    let redeemed = client.redeem_pairing_code(&wire(json!({ "code": request["code"] }))?).await?;
    Ok(json!({ "agentId": redeemed.agent_id }))
}

/// Any route. The suite names its method and its path.
async fn call(client: &Client, request: &Value) -> anyhow::Result<Value> {
    let method: Method = text(request, "method")?.parse()?;
    let body = Some(&request["body"]).filter(|body| !body.is_null());
    let answer = client.request(method, text(request, "route")?, body).await?;
    Ok(serde_json::from_slice(&answer)?)
}
