//! The operations on push configs. What authenticates a push never comes back.

use serde_json::value::RawValue;
use tandem_api::a2a::{
    AuthenticationInfo, ListPushConfigsRequest, ListPushConfigsResponse, PushConfig, PushConfigRequest,
    Wrong, parse,
};
use tandem_core::pushes::{PushConfig as Stored, PushReceiver};
use tandem_hub::ops::a2a::{self, NewPush};
use tandem_hub::ops::cards;

use super::call::Call;
use super::failure::Failure;
use super::perform::{check_tenant, task_id};
use crate::http::json;

/// What a client wants pushed, as the operations take it.
pub(super) fn new(call: &Call, wanted: PushConfig) -> NewPush {
    let PushConfig { id, url, token, authentication, .. } = wanted;
    let (scheme, credentials) =
        authentication.map_or((None, None), |given| (Some(given.scheme), given.credentials));
    NewPush {
        id,
        receiver: PushReceiver { url, token, scheme, credentials },
        extension: call.wishes.extension,
        base: call.base.clone(),
    }
}

fn shown(config: Stored) -> PushConfig {
    let PushReceiver { url, token, scheme, .. } = config.receiver;
    PushConfig {
        tenant: None,
        id: Some(config.id),
        task_id: Some(config.task.to_string()),
        url,
        token,
        authentication: scheme.map(|scheme| AuthenticationInfo { scheme, credentials: None }),
    }
}

pub(super) async fn create(call: &Call, params: &RawValue) -> Result<String, Failure> {
    let wanted: PushConfig = parse(params)?;
    check_tenant(call, wanted.tenant.as_ref())?;
    let task = wanted.task_id.clone().ok_or_else(|| Wrong::field("taskId", "is required"))?;
    cards::called(&call.hub, &call.caller, &call.host).await?;
    let new = new(call, wanted);
    let set = a2a::set_push(&call.hub, &call.caller, &call.host, &task_id(&task)?, new).await?;
    Ok(json(&shown(set)))
}

pub(super) async fn get(call: &Call, params: &RawValue) -> Result<String, Failure> {
    let request: PushConfigRequest = parse(params)?;
    check_tenant(call, request.tenant.as_ref())?;
    cards::called(&call.hub, &call.caller, &call.host).await?;
    let task = task_id(&request.task_id)?;
    Ok(json(&shown(a2a::push(&call.hub, &call.caller, &call.host, &task, &request.id).await?)))
}

pub(super) async fn list(call: &Call, params: &RawValue) -> Result<String, Failure> {
    let request: ListPushConfigsRequest = parse(params)?;
    check_tenant(call, request.tenant.as_ref())?;
    cards::called(&call.hub, &call.caller, &call.host).await?;
    let found = a2a::list_pushes(&call.hub, &call.caller, &call.host, &task_id(&request.task_id)?).await?;
    Ok(json(&ListPushConfigsResponse { configs: found.into_iter().map(shown).collect() }))
}

pub(super) async fn delete(call: &Call, params: &RawValue) -> Result<String, Failure> {
    let request: PushConfigRequest = parse(params)?;
    check_tenant(call, request.tenant.as_ref())?;
    cards::called(&call.hub, &call.caller, &call.host).await?;
    let task = task_id(&request.task_id)?;
    a2a::remove_push(&call.hub, &call.caller, &call.host, &task, &request.id).await?;
    Ok("{}".to_owned())
}
