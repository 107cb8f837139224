//! A call that waits for the agent. The message is committed before; whatever becomes of the wait, the answer is the task
//! as it stands. A space now and then, which JSON allows before a value, keeps clients from giving up.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream::unfold;
use tandem_api::a2a::SendMessageResponse;
use tandem_api::agents::Presence;
use tandem_core::agents::Reach;
use tandem_core::{Approval, TaskId};
use tandem_hub::Error;
use tandem_hub::bus::{EndReason, Transport};
use tandem_hub::ops::a2a::{self, Sent, Shown, Snapshot, Step, Wanted, What};
use tokio::time::{Instant, sleep_until};
use tracing::{Instrument as _, Span};

use super::bells::Bells;
use super::call::Call;
use super::failure::Failure;
use super::framing::Framing;
use crate::http::json;

/// How long a call waits for an agent that nothing leads to at present.
const SECONDS_AWAY: u32 = 2;
/// How often a client hears that the call goes on. Some give up after five seconds of silence.
pub(super) const SIGN_OF_LIFE: Duration = Duration::from_secs(4);
/// Steps that are read at once.
pub(super) const STEPS_AT_ONCE: i64 = 100;

/// How many seconds a call waits for its agent.
pub(super) fn seconds(call: &Call, seen: &Presence) -> u32 {
    let wanted = call.wishes.wait_seconds.unwrap_or(call.hub.config.a2a_wait_seconds);
    let is_live = seen.online
        || matches!(
            seen.reach,
            Reach::Channel | Reach::Runner | Reach::Socket | Reach::Stream | Reach::Webhook | Reach::A2a
        );
    if is_live { wanted } else { wanted.min(SECONDS_AWAY) }
}

/// The answer to a message: the task, or the agent's words alone.
pub(super) async fn answer(shown: &mut Shown<'_>, found: Snapshot, wants_answer: bool) -> String {
    json(&match found.direct.clone().filter(|_| wants_answer) {
        Some(reply) => SendMessageResponse::Message(shown.direct(&found, &reply).await),
        None => SendMessageResponse::Task(shown.task(found).await),
    })
}

/// A call that waits.
#[derive(Debug)]
pub(super) struct Wait {
    call: Call,
    task: TaskId,
    wanted: Wanted,
    seen: Presence,
    /// The last step that is known.
    after: i64,
    bells: Bells,
    until: Instant,
}

impl Wait {
    /// Begins to wait; `None` if there is nothing to wait for, or no room for one more.
    pub(super) async fn begin(
        call: &Call,
        sent: &Sent,
        wanted: Wanted,
        seen: Presence,
        seconds: u32,
    ) -> Result<Option<Self>, Error> {
        let Ok(bells) = Bells::listen(call, Transport::Wait) else { return Ok(None) };
        let mut wait = Self {
            call: call.clone(),
            task: sent.task.clone(),
            wanted,
            seen,
            after: sent.step,
            bells,
            until: Instant::now() + Duration::from_secs(seconds.into()),
        };
        let is_held = match wait.look().await? {
            Standing::Answered => return Ok(None),
            Standing::Open { is_held } => is_held,
        };
        if is_held {
            wait.until = wait.until.min(Instant::now() + Duration::from_secs(SECONDS_AWAY.into()));
        }
        Ok(Some(wait))
    }

    /// Reads what has happened since.
    async fn look(&mut self) -> Result<Standing, Error> {
        self.bells.mark_seen();
        loop {
            let Call { hub, caller, host, .. } = &self.call;
            let found = a2a::steps(hub, caller, host, &self.task, self.after, STEPS_AT_ONCE).await?;
            let is_answer = |step: &Step| {
                matches!(step.what, What::Status { .. })
                    && (step.state.is_end() || step.state.is_interruption())
            };
            let is_over = found.task.state().is_none_or(|state| state.is_end());
            if is_over || found.steps.iter().any(is_answer) {
                return Ok(Standing::Answered);
            }
            self.after = found.steps.last().map_or(self.after, |step| step.step);
            if !found.has_more {
                return Ok(Standing::Open { is_held: found.task.gate.approval == Some(Approval::Pending) });
            }
        }
    }

    /// Waits until there is something to send.
    async fn next(&mut self) -> Next {
        let sign = Instant::now() + SIGN_OF_LIFE;
        loop {
            match self.bells.ended() {
                Some(EndReason::Stopping) => return Next::Answer,
                Some(EndReason::KeyEnded | EndReason::SignedOut) => {
                    return Next::Failed(Error::unauthorized());
                }
                None => {}
            }
            tokio::select! {
                biased;
                () = sleep_until(self.until) => return Next::Answer,
                () = self.bells.rung() => {}
                () = sleep_until(sign) => return Next::Sign,
            }
            match self.look().await {
                Ok(Standing::Answered) => return Next::Answer,
                Ok(Standing::Open { .. }) => {}
                Err(error) => return Next::Failed(error),
            }
        }
    }

    /// The answer, as it is at the end of the wait.
    async fn answered(self, framing: &Framing) -> String {
        let Call { hub, caller, host, .. } = &self.call;
        match a2a::get(hub, caller, host, &self.task, self.wanted).await {
            Ok(found) => {
                let mut shown = self.call.shown(self.seen);
                framing.result(answer(&mut shown, found, true).await)
            }
            Err(error) => framing.failure(&Failure::of(&error)),
        }
    }

    /// The body of the response. It is a stream, so that the wait ends when the client goes away.
    pub(super) fn into_body(self, framing: Framing) -> Body {
        let span = Span::current();
        let chunks = unfold(Some((self, framing)), move |state| {
            let advancing = advance(state).instrument(span.clone());
            async move { advancing.await.map(|(chunk, next)| (Ok::<_, Infallible>(Bytes::from(chunk)), next)) }
        });
        Body::from_stream(chunks)
    }
}

/// Where a task stands for a call that waits.
enum Standing {
    Answered,
    Open {
        /// Whether the agent's gate holds it.
        is_held: bool,
    },
}

enum Next {
    Sign,
    Answer,
    Failed(Error),
}

type WaitState = Option<(Wait, Framing)>;

async fn advance(state: WaitState) -> Option<(String, WaitState)> {
    let (mut wait, framing) = state?;
    match wait.next().await {
        Next::Sign => Some((" ".to_owned(), Some((wait, framing)))),
        Next::Answer => Some((wait.answered(&framing).await, None)),
        Next::Failed(error) => Some((framing.failure(&Failure::of(&error)), None)),
    }
}
