//! The two agents of the demo: registered once, found again later, and connected.

use tandem_api::connections::{PatchConnection, RedeemCode};
use tandem_api::error::Code;
use tandem_api::tasks::PageQuery;
use tandem_client::Client;
use tandem_core::events::EventKind;
use tandem_core::{AgentId, Rule};

use super::story::Stage;
use crate::commands::scripted_agent;
use crate::exit::{Failure, Outcome};
use crate::profiles::{Profile, Profiles};

#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) profile: &'static str,
    does: &'static str,
}

pub(super) const ADA: Part =
    Part { name: "Demo Ada", profile: "demo-ada", does: "plans trips and delegates the sums" };
pub(super) const BOB: Part = Part { name: "Demo Bob", profile: "demo-bob", does: "adds up numbers" };

/// An agent on stage.
#[derive(Debug)]
pub(super) struct Actor {
    pub(super) part: Part,
    pub(super) id: AgentId,
    pub(super) client: Client,
}

/// Both agents, connected; Bob's owner decides which of Ada's tasks come in.
#[derive(Debug)]
pub(super) struct Cast {
    pub(super) ada: Actor,
    pub(super) bob: Actor,
}

impl Cast {
    /// Registers the agents or finds them, and connects them. Without profiles nothing is stored.
    pub(super) async fn assemble(
        hub: &Client,
        profiles: Option<&Profiles>,
        stage: &mut Stage<'_>,
    ) -> Outcome<Self> {
        let ada = enter(hub, ADA, profiles, stage).await?;
        let bob = enter(hub, BOB, profiles, stage).await?;
        let cast = Self { ada, bob };
        cast.connect(stage).await?;
        Ok(cast)
    }

    async fn connect(&self, stage: &mut Stage<'_>) -> Outcome {
        let page = PageQuery { limit: Some(1_000), cursor: None };
        let known = self.bob.client.connections(&page).await?.items;
        let known = known.into_iter().find(|connection| connection.connected.agent_id == self.ada.id);
        let (connection, approval) = match known {
            Some(known) => {
                stage.step(BOB.name, "is still connected with Ada").await?;
                (known.connected.connection_id, known.approval)
            }
            None => {
                let code = self.ada.client.create_pairing_code().await?.code;
                let what = format!("makes a pairing code for Bob's owner: {}", code.as_str());
                stage.step(ADA.name, &what).await?;
                let code = code.as_str().to_owned().try_into();
                let code = RedeemCode { code: code.map_err(|unfit| Failure::refused(format!("{unfit}")))? };
                let redeemed = self.bob.client.redeem_pairing_code(&code);
                let connected = stage.told(&self.ada, EventKind::AgentConnected, redeemed).await?;
                stage.step(BOB.name, "enters the code: now the two can work together").await?;
                (connected.connection_id, None)
            }
        };
        if approval != Some(Rule::Require) {
            let change =
                PatchConnection { approval: Some(Some(Rule::Require)), ..PatchConnection::default() };
            self.bob.client.change_connection(&connection, &change).await?;
        }
        stage.step("Bob's owner", "wants to approve each task of Ada before Bob sees it").await
    }
}

/// Finds an agent by its profile, or registers it.
async fn enter(
    hub: &Client,
    part: Part,
    profiles: Option<&Profiles>,
    stage: &mut Stage<'_>,
) -> Outcome<Actor> {
    let stored = match profiles {
        Some(profiles) => profiles.load(part.profile)?,
        None => None,
    };
    if let Some(stored) = stored {
        let client = hub.clone().with_key(&stored.api_key);
        match client.profile().await {
            Ok(_) => {
                stage.step(part.name, &format!("is here again: {}", stored.agent_id)).await?;
                return Ok(Actor { part, id: stored.agent_id, client });
            }
            // The hub was emptied since.
            Err(error) if error.code() == Some(Code::Unauthorized) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let (registered, key) = scripted_agent::register(hub, part.name, part.does).await?;
    let id = registered.id;
    let client = hub.clone().with_key(key.as_str());
    if let Some(profiles) = profiles {
        profiles.save(&Profile {
            name: part.profile.to_owned(),
            hub: hub.hub().to_string(),
            agent_id: id.clone(),
            agent_name: part.name.to_owned(),
            api_key: key.into(),
            next_api_key: None,
        })?;
    }
    stage.step(part.name, &format!("registers, and {}: {id}", part.does)).await?;
    Ok(Actor { part, id, client })
}
