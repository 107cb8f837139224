//! One function for each operation of A2A, for both bindings: read the parameters, call an operation of the hub, write the
//! answer.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde_json::value::RawValue;
use tandem_api::a2a::{
    CancelTaskRequest, Content, GetExtendedAgentCardRequest, GetTaskRequest, ListTasksRequest,
    ListTasksResponse, Reason, SendMessageConfiguration, SendMessageRequest, SubscribeToTaskRequest, Wrong,
    parse, proto,
};
use tandem_app::idempotency::Key;
use tandem_app::keys;
use tandem_core::text::ContextId;
use tandem_core::{TaskId, Timestamp};
use tandem_hub::ops::a2a::{self, ListTasks, Sent, Shown, Wanted};
use tandem_hub::ops::cards;

use super::call::{Call, too_large};
use super::failure::Failure;
use super::incoming::{incoming, uses_extension};
use super::operation::Operation;
use super::pushes;
use super::streams::{Ends, TaskStream};
use super::waits::{self, Wait};
use crate::http::json;

/// Messages of a history, unless the client asks for another number.
const HISTORY_DEFAULT: i64 = 100;
/// Tasks on a page, unless the client asks for another number, and at most.
const PAGE_DEFAULT: i32 = 50;
const PAGE_MAX: i32 = 100;

/// What an operation gives.
pub(super) enum Answer {
    /// All of it.
    Whole(String),
    /// Nothing yet: the agent has to answer.
    Wait(Box<Wait>),
    Stream(Box<TaskStream>),
}

/// What an operation gives, and what its response says beside it.
pub(super) struct Performed {
    pub(super) answer: Answer,
    /// Whether it is the answer of an earlier request.
    pub(super) was_replayed: bool,
    /// Whether the hub's extension had a say in it.
    pub(super) extension: bool,
}

/// Performs an operation. `is_large` says that the request is larger than one without a file may be.
pub(super) async fn perform(
    call: Call,
    operation: Operation,
    params: &RawValue,
    is_large: bool,
) -> Result<Performed, Failure> {
    if is_large && !matches!(operation, Operation::SendMessage | Operation::SendStreamingMessage) {
        return Err(too_large());
    }
    let extension = call.wishes.extension;
    let whole = |json| Performed { answer: Answer::Whole(json), was_replayed: false, extension };
    Ok(match operation {
        Operation::SendMessage => return send(call, params, is_large).await,
        Operation::SendStreamingMessage => return send_streaming(call, params, is_large).await,
        Operation::SubscribeToTask => {
            let answer = Answer::Stream(Box::new(subscribe(call, params).await?));
            Performed { answer, was_replayed: false, extension }
        }
        Operation::GetTask => whole(get(&call, params).await?),
        Operation::ListTasks => whole(list(&call, params).await?),
        Operation::CancelTask => whole(cancel(&call, params).await?),
        Operation::GetExtendedAgentCard => whole(extended_card(&call, params).await?),
        Operation::CreatePushConfig => whole(pushes::create(&call, params).await?),
        Operation::GetPushConfig => whole(pushes::get(&call, params).await?),
        Operation::ListPushConfigs => whole(pushes::list(&call, params).await?),
        Operation::DeletePushConfig => whole(pushes::delete(&call, params).await?),
    })
}

/// A tenant may be named, and can only be the agent of the address.
pub(super) fn check_tenant(call: &Call, tenant: Option<&String>) -> Result<(), Failure> {
    match tenant {
        Some(tenant) if tenant != call.host.as_str() => {
            Err(Failure::field("tenant", "must be empty, or the id of the agent in the address"))
        }
        _ => Ok(()),
    }
}

/// An id that cannot be one is as good as that of no task.
pub(super) fn task_id(id: &str) -> Result<TaskId, Failure> {
    let none = |_| Failure::new(Reason::TaskNotFound, "There is no such task, or you may not see it");
    id.parse().map_err(none)
}

fn wanted(history_length: Option<i32>, artifacts: bool) -> Wanted {
    Wanted { history: history_length.map_or(HISTORY_DEFAULT, i64::from), artifacts }
}

/// A message that was sent, and how it is to be answered.
struct Delivered {
    call: Call,
    sent: Sent,
    config: SendMessageConfiguration,
    seen: tandem_api::agents::Presence,
}

impl Delivered {
    fn shown(&self) -> Shown<'_> {
        self.call.shown(self.seen)
    }

    fn wanted(&self) -> Wanted {
        wanted(self.config.history_length, true)
    }

    fn performed(self, answer: Answer) -> Performed {
        let (was_replayed, extension) = (self.call.caller.was_replayed(), self.call.wishes.extension);
        Performed { answer, was_replayed, extension }
    }
}

/// Sends the message of either kind of call.
async fn deliver(mut call: Call, params: &RawValue, is_large: bool) -> Result<Delivered, Failure> {
    let request: SendMessageRequest = parse(params)?;
    check_tenant(&call, request.tenant.as_ref())?;
    let mut config = request.configuration.unwrap_or_default();
    if is_large && !request.message.parts.iter().any(|part| matches!(part.content, Content::Raw(_))) {
        return Err(too_large());
    }
    call.wishes.extension = uses_extension(&call.wishes, &request.message);
    let push = config.task_push_notification_config.take().map(|wanted| pushes::new(&call, wanted));
    let accepted = std::mem::take(&mut config.accepted_output_modes);
    let message = incoming(request.message, accepted, push, &call.wishes)?;
    let seen = cards::called(&call.hub, &call.caller, &call.host).await?;
    let key = idempotency_key(&call, params)?;
    call.caller = call.caller.with_idempotency_key(key);
    let sent = a2a::send(&call.hub, &call.caller, &call.host, message).await?;
    Ok(Delivered { call, sent, config, seen })
}

/// The key of a request, whichever binding it comes by: only its message counts, because JSON-RPC numbers each request anew.
fn idempotency_key(call: &Call, params: &RawValue) -> Result<Option<Key>, Wrong> {
    let Some(key) = call.wishes.idempotency_key.clone() else { return Ok(None) };
    let message = proto::Object::read(params)?.value("message")?.map_or("", RawValue::get);
    let about = format!("A2A {}\n", call.host);
    let request_hash = keys::sha256(&[about.as_bytes(), message.as_bytes()].concat());
    Ok(Some(Key { key, request_hash }))
}

async fn send(call: Call, params: &RawValue, is_large: bool) -> Result<Performed, Failure> {
    let delivered = deliver(call, params, is_large).await?;
    let seconds = match delivered.config.return_immediately {
        true => 0,
        false => waits::seconds(&delivered.call, &delivered.seen),
    };
    let waiting = match seconds {
        0 => None,
        seconds => {
            Wait::begin(&delivered.call, &delivered.sent, delivered.wanted(), delivered.seen, seconds).await?
        }
    };
    let answer = match waiting {
        Some(wait) => Answer::Wait(Box::new(wait)),
        None => {
            let wants_answer = !delivered.config.return_immediately;
            let found = a2a::get(
                &delivered.call.hub,
                &delivered.call.caller,
                &delivered.call.host,
                &delivered.sent.task,
                delivered.wanted(),
            )
            .await?;
            Answer::Whole(waits::answer(&mut delivered.shown(), found, wants_answer).await)
        }
    };
    Ok(delivered.performed(answer))
}

async fn send_streaming(call: Call, params: &RawValue, is_large: bool) -> Result<Performed, Failure> {
    let delivered = deliver(call, params, is_large).await?;
    let ends = Ends::WhenAnswered { after_step: delivered.sent.step };
    let stream = TaskStream::open(
        delivered.call.clone(),
        delivered.sent.task.clone(),
        delivered.wanted(),
        delivered.seen,
        ends,
    )
    .await?;
    Ok(delivered.performed(Answer::Stream(Box::new(stream))))
}

async fn subscribe(call: Call, params: &RawValue) -> Result<TaskStream, Failure> {
    let request: SubscribeToTaskRequest = parse(params)?;
    check_tenant(&call, request.tenant.as_ref())?;
    let seen = cards::called(&call.hub, &call.caller, &call.host).await?;
    TaskStream::open(call, task_id(&request.id)?, wanted(None, true), seen, Ends::AtTheEnd).await
}

async fn get(call: &Call, params: &RawValue) -> Result<String, Failure> {
    let request: GetTaskRequest = parse(params)?;
    check_tenant(call, request.tenant.as_ref())?;
    let seen = cards::called(&call.hub, &call.caller, &call.host).await?;
    let wanted = wanted(request.history_length, true);
    let found = a2a::get(&call.hub, &call.caller, &call.host, &task_id(&request.id)?, wanted).await?;
    let mut shown = call.shown(seen);
    Ok(json(&shown.task(found).await))
}

async fn cancel(call: &Call, params: &RawValue) -> Result<String, Failure> {
    let request: CancelTaskRequest = parse(params)?;
    check_tenant(call, request.tenant.as_ref())?;
    let seen = cards::called(&call.hub, &call.caller, &call.host).await?;
    let task = task_id(&request.id)?;
    let cancelled = a2a::cancel(&call.hub, &call.caller, &call.host, &task, None).await;
    cancelled.map_err(|error| Failure::of_cancel(&error))?;
    let found = a2a::get(&call.hub, &call.caller, &call.host, &task, wanted(None, true)).await?;
    let mut shown = call.shown(seen);
    Ok(json(&shown.task(found).await))
}

async fn extended_card(call: &Call, params: &RawValue) -> Result<String, Failure> {
    let request: GetExtendedAgentCardRequest = parse(params)?;
    check_tenant(call, request.tenant.as_ref())?;
    Ok(json(&cards::extended(&call.hub, &call.caller, &call.host, &call.base).await?.card))
}

async fn list(call: &Call, params: &RawValue) -> Result<String, Failure> {
    let request: ListTasksRequest = parse(params)?;
    check_tenant(call, request.tenant.as_ref())?;
    let seen = cards::called(&call.hub, &call.caller, &call.host).await?;
    let page_size = request.page_size.unwrap_or(PAGE_DEFAULT);
    if !(1..=PAGE_MAX).contains(&page_size) {
        return Err(Failure::field("pageSize", &format!("must be from 1 to {PAGE_MAX}")));
    }
    let filters = Filters::of(call, &request);
    let before = request.page_token.as_deref().map(|token| filters.place(token)).transpose()?;
    let context = request.context_id.map(ContextId::try_from).transpose();
    let query = ListTasks {
        context: context.map_err(|unfit| Failure::field("contextId", &unfit.to_string()))?,
        states: request.status.into_iter().collect(),
        status_from: request.status_timestamp_after,
        before,
        limit: page_size.into(),
        wanted: wanted(request.history_length, request.include_artifacts),
    };
    let found = a2a::list(&call.hub, &call.caller, &call.host, query).await?;
    let mut tasks = Vec::with_capacity(found.tasks.len());
    let mut shown = call.shown(seen);
    for task in found.tasks {
        tasks.push(shown.task(task).await);
    }
    Ok(json(&ListTasksResponse {
        tasks,
        next_page_token: found.next.map_or_else(String::new, |place| filters.token(&place)),
        page_size,
        total_size: i32::try_from(found.total).unwrap_or(i32::MAX),
    }))
}

/// What a page token belongs to: it leads nowhere in a list with other filters.
struct Filters(String);

#[derive(Serialize)]
struct FiltersText<'a>(&'a str, &'a Option<String>, Option<&'a str>, Option<Timestamp>);

impl Filters {
    fn of(call: &Call, request: &ListTasksRequest) -> Self {
        let state = request.status.map(|state| state.as_str());
        let filters =
            FiltersText(call.host.as_str(), &request.context_id, state, request.status_timestamp_after);
        Self(keys::hex(&keys::sha256(json(&filters).as_bytes())[..8]))
    }

    fn token(&self, place: &(Timestamp, TaskId)) -> String {
        URL_SAFE_NO_PAD.encode(format!("{}.{}.{}", self.0, place.0.0, place.1))
    }

    fn place(&self, token: &str) -> Result<(Timestamp, TaskId), Failure> {
        let decoded = URL_SAFE_NO_PAD.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let place = decoded.as_deref().and_then(|text| {
            let (filters, rest) = text.split_once('.')?;
            let (at, task) = rest.split_once('.')?;
            (filters == self.0).then_some(())?;
            Some((Timestamp(at.parse().ok()?), task.parse().ok()?))
        });
        place.ok_or_else(|| Failure::field("pageToken", "is not one of this list"))
    }
}
