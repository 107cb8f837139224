//! A stream of one task: the task as it stands, then each of its steps. A client that lost it goes on behind the last step
//! that it got.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use futures_util::stream::unfold;
use tandem_api::a2a::{Reason, StreamResponse};
use tandem_api::agents::Presence;
use tandem_core::TaskId;
use tandem_core::a2a::TaskState;
use tandem_hub::Error;
use tandem_hub::bus::{EndReason, Transport};
use tandem_hub::ops::a2a::{self, Wanted};
use tokio::time::timeout;
use tracing::{Instrument as _, Span};

use super::bells::Bells;
use super::call::Call;
use super::failure::Failure;
use super::framing::Framing;
use super::waits::{SIGN_OF_LIFE, STEPS_AT_ONCE};
use crate::http::json;

/// When a stream ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ends {
    /// When the task has ended.
    AtTheEnd,
    /// And when it waits for the client, since a step after this one.
    WhenAnswered { after_step: i64 },
}

impl Ends {
    /// Whether a stream is over that has shown the task up to a step.
    fn is_over(self, state: Option<TaskState>, step: i64) -> bool {
        match (self, state) {
            (_, None) => true,
            (Self::WhenAnswered { after_step }, Some(TaskState::InputRequired)) => step > after_step,
            (_, Some(state)) => state.is_end(),
        }
    }
}

/// A stream of one task.
#[derive(Debug)]
pub(super) struct TaskStream {
    call: Call,
    task: TaskId,
    seen: Presence,
    ends: Ends,
    bells: Bells,
    /// The task as it stands, as the first event.
    first: Option<String>,
    /// The last step that was shown.
    step: i64,
    is_over: bool,
}

impl TaskStream {
    /// Opens a stream. It listens before it reads the task, so that no step is lost between the two.
    pub(super) async fn open(
        call: Call,
        task: TaskId,
        wanted: Wanted,
        seen: Presence,
        ends: Ends,
    ) -> Result<Self, Failure> {
        let mut bells = Bells::listen(&call, Transport::TaskStream)?;
        call.hub.access.check(&call.caller).await?;
        bells.mark_seen();
        let found = a2a::get(&call.hub, &call.caller, &call.host, &task, wanted).await?;
        let (state, steps) = (found.state, found.task.steps());
        if let Some(step) = call.wishes.after_step {
            let is_over = step >= steps && ends.is_over(Some(state), steps);
            return Ok(Self { call, task, seen, ends, bells, first: None, step, is_over });
        }
        if matches!(ends, Ends::AtTheEnd) && state.is_end() {
            let why = "The task has ended: get it, or send the id of the last event that you got";
            return Err(Failure::new(Reason::UnsupportedOperation, why));
        }
        let mut shown = call.shown(seen);
        let first = json(&StreamResponse::Task(shown.task(found).await));
        let is_over = ends.is_over(Some(state), steps);
        Ok(Self { call, task, seen, ends, bells, first: Some(first), step: steps, is_over })
    }

    /// The body of the response.
    pub(super) fn into_body(self, framing: Framing) -> Body {
        let span = Span::current();
        let chunks = unfold(Some((self, framing)), move |state| {
            let advancing = advance(state).instrument(span.clone());
            async move { advancing.await.map(|(chunk, next)| (Ok::<_, Infallible>(Bytes::from(chunk)), next)) }
        });
        Body::from_stream(chunks)
    }

    /// The events after the last one; nothing if there are none yet.
    async fn read(&mut self, framing: &Framing) -> Result<String, Error> {
        self.bells.mark_seen();
        let Call { hub, caller, host, .. } = &self.call;
        let found = a2a::steps(hub, caller, host, &self.task, self.step, STEPS_AT_ONCE).await?;
        let mut shown = self.call.shown(self.seen);
        shown.set_files(found.files);
        let mut events = String::new();
        for step in found.steps {
            self.step = step.step;
            if let Some(event) = shown.step(&found.task, step).await {
                events.push_str(&framing.event(self.step, json(&event)));
            }
        }
        if !found.has_more {
            self.is_over = self.ends.is_over(found.task.state(), self.step);
        }
        Ok(events)
    }

    /// The next piece of the stream; `None` at its end.
    async fn next(&mut self, framing: &Framing) -> Option<String> {
        if let Some(first) = self.first.take() {
            return Some(framing.event(self.step, first));
        }
        loop {
            match self.bells.ended() {
                _ if self.is_over => return None,
                None => {}
                Some(EndReason::Stopping) => return self.last(": the hub restarts\nretry: 1000\n\n"),
                Some(EndReason::KeyEnded | EndReason::SignedOut) => {
                    return self.last(": the key is no longer valid\n\n");
                }
            }
            match self.read(framing).await {
                Ok(events) if !events.is_empty() => return Some(events),
                Ok(_) if self.is_over => return None,
                Ok(_) => {}
                Err(error) if error.is_internal() => return self.last(": the hub cannot read the task\n\n"),
                // It was deleted, or given to another agent.
                Err(_) => return None,
            }
            if timeout(SIGN_OF_LIFE, self.bells.rung()).await.is_err() {
                return Some(": still here\n\n".to_owned());
            }
        }
    }

    fn last(&mut self, comment: &str) -> Option<String> {
        self.is_over = true;
        Some(comment.to_owned())
    }
}

type Streaming = Option<(TaskStream, Framing)>;

async fn advance(state: Streaming) -> Option<(String, Streaming)> {
    let (mut stream, framing) = state?;
    let chunk = stream.next(&framing).await?;
    Some((chunk, Some((stream, framing))))
}
