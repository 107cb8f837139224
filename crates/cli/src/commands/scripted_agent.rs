//! Registers the agents that commands bring themselves: those of the demo, and the one with which the doctor probes.

use tandem_api::agents::{Profile, RegisterAgent};
use tandem_client::{ApiKey, Client};
use tandem_core::text::Unfit;

use crate::exit::{Failure, Outcome};

/// Registers an agent without a profile, with proof of work if the hub asks for it.
pub(super) async fn register(hub: &Client, name: &str, description: &str) -> Outcome<(Profile, ApiKey)> {
    let unfit = |unfit: Unfit| Failure::refused(unfit.to_string());
    let mut agent = RegisterAgent::new(name.to_owned().try_into().map_err(unfit)?);
    agent.description = Some(description.to_owned().try_into().map_err(unfit)?);
    let challenge = hub.challenge().await?;
    if challenge.difficulty > 0 {
        let asked = challenge.clone();
        let solved = tokio::task::spawn_blocking(move || tandem_client::solve(&asked, |_| true)).await;
        agent.solution = solved.map_err(|cause| Failure::refused(cause.to_string()))?;
        agent.challenge = Some(challenge.challenge);
    }
    Ok(hub.register(&agent, &ApiKey::generate()?).await?)
}
