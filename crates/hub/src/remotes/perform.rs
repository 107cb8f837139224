//! Does what is next for one task: sends, asks or cancels, and has what follows written.

use std::sync::Arc;
use std::time::Instant;

use tandem_api::a2a::{SendMessageResponse, Task};
use tandem_app::Error;
use tandem_app::keys::{KeyHash, random_byte};
use tandem_app::remotes::{self, Act, Batch, Failure, Observed, Work};
use tandem_core::remotes::Remote;
use tandem_core::{Now, Refusal};
use tandem_store::Tx;
use tokio::sync::mpsc;

use super::call::{Peer, Trouble};
use super::observed::{see, without_artifacts, words};
use super::outgoing::{Unsendable, outgoing};
use super::streams::StreamJob;
use super::turn::recorded;
use crate::{Address, Caller, Hub};

/// Does the work of one turn.
pub(super) struct Performer<'a> {
    hub: &'a Hub,
    remote: Arc<Remote>,
    key_hash: KeyHash,
    end_by: Instant,
    opened: mpsc::Sender<StreamJob>,
}

impl<'a> Performer<'a> {
    pub(super) fn new(hub: &'a Hub, batch: &Batch, end_by: Instant, opened: mpsc::Sender<StreamJob>) -> Self {
        Self { hub, remote: Arc::new(batch.remote.clone()), key_hash: batch.key_hash, end_by, opened }
    }

    fn peer(&self) -> Peer<'_> {
        Peer { hub: self.hub, remote: &self.remote, end_by: self.end_by }
    }

    /// The remote as a caller of operations. Nobody has its key, and it calls from nowhere.
    fn caller(&self) -> Caller {
        let here = Address::new(std::net::Ipv4Addr::LOCALHOST.into());
        Caller::new(self.remote.agent.clone(), self.key_hash, here)
    }

    /// Whether the other side tells us of changes.
    fn is_pushed(&self, work: &Work) -> bool {
        self.remote.card.interface.pushes && work.row.push_path.is_some()
    }

    pub(super) async fn perform(&self, work: Work) {
        let work = Arc::new(work);
        if let Err(error) = Box::pin(self.try_perform(&work)).await {
            // It is done again when its time is over.
            let task = work.row.task.as_str();
            tracing::warn!(%error, task, "could not record what became of a task for a remote agent");
        }
    }

    async fn try_perform(&self, work: &Arc<Work>) -> Result<(), Error> {
        if let Some(superseded) = &work.superseded {
            // Best effort: the new attempt does not wait for the old one.
            let _ = self.peer().cancel(superseded).await;
        }
        match &work.act {
            Act::Start { .. } | Act::Message { .. } => self.send(work).await,
            Act::Ask => self.ask(work).await,
            Act::Cancel => self.cancel(work).await,
        }
    }

    /// Has a use case write what follows.
    async fn write<T: Send + 'static>(
        &self,
        work: &Arc<Work>,
        use_case: impl Fn(&mut Tx<'_>, &str, &Work, &Now) -> Result<T, Error> + Clone + Send + Sync + 'static,
    ) -> Result<T, Error> {
        recorded(|| {
            let (use_case, work) = (use_case.clone(), Arc::clone(work));
            let holder = self.hub.webhooks.holder.clone();
            self.hub.db.write(move |tx, now| use_case(tx, &holder, &work, now))
        })
        .await
    }

    async fn send(&self, work: &Arc<Work>) -> Result<(), Error> {
        let outgoing = match outgoing(self.hub, &self.remote, work).await {
            Ok(Some(outgoing)) => outgoing,
            Ok(None) => return Ok(()),
            Err(Unsendable::Never(why)) => {
                return self
                    .write(work, move |tx, by, work, now| remotes::reject(tx, by, work, &why, now))
                    .await;
            }
            Err(Unsendable::Later(why)) => {
                let failure = Failure { why, retry_after_ms: None, is_unclear: false };
                return self.postpone(work, failure).await;
            }
        };
        match self.peer().send(&outgoing.request, outgoing.headers).await {
            Ok(got) => match got.value {
                SendMessageResponse::Task(task) => self.take_answer(work, task).await,
                SendMessageResponse::Message(message) => {
                    let said = message.parts.clone();
                    match words(&message, said) {
                        Some(words) => {
                            let write = move |tx: &mut Tx<'_>, by: &str, work: &Work, now: &Now| {
                                remotes::apply_message(tx, by, work, &words, now)
                            };
                            self.settle(work, self.write(work, write).await).await
                        }
                        None => self.refuse(work, "the remote agent's answer is empty".to_owned()).await,
                    }
                }
            },
            Err(Trouble::Later(failure)) => self.postpone(work, failure).await,
            Err(Trouble::NotFound) => self.write(work, remotes::forgotten).await,
            Err(Trouble::Refused(why)) => self.explain(work, why).await,
        }
    }

    /// The other side has taken a message.
    async fn take_answer(&self, work: &Arc<Work>, task: Task) -> Result<(), Error> {
        let foreign = (task.id.clone(), task.context_id.clone());
        let noted = self.write(work, move |tx, by, work, now| {
            remotes::note_sent(tx, by, work, (&foreign.0, foreign.1.as_deref()), now)
        });
        if noted.await? { self.apply(work, task).await } else { Ok(()) }
    }

    /// A message was refused. If the task has ended on the other side, that is why; else the refusal is its end here.
    async fn explain(&self, work: &Arc<Work>, why: String) -> Result<(), Error> {
        if let (Act::Message { .. }, Some(id), false) = (&work.act, &work.row.foreign_id, work.row.is_ended)
            && let Ok(got) = self.peer().get(id).await
            && got.value.status.state.is_end()
        {
            return self.apply(work, got.value).await;
        }
        self.refuse(work, why).await
    }

    async fn refuse(&self, work: &Arc<Work>, why: String) -> Result<(), Error> {
        self.write(work, move |tx, by, work, now| remotes::refuse(tx, by, work, &why, now)).await
    }

    async fn ask(&self, work: &Arc<Work>) -> Result<(), Error> {
        let Some(id) = &work.row.foreign_id else { return Ok(()) };
        match self.peer().get(id).await {
            // Another task is no answer.
            Ok(got) if got.value.id != *id => {
                let why = "the answer is about another task".to_owned();
                self.postpone(work, Failure { why, retry_after_ms: None, is_unclear: false }).await
            }
            Ok(got) => self.apply(work, got.value).await,
            Err(Trouble::NotFound) => self.write(work, remotes::forgotten).await,
            Err(Trouble::Later(failure)) => self.postpone(work, failure).await,
            Err(Trouble::Refused(why)) => {
                self.postpone(work, Failure { why, retry_after_ms: None, is_unclear: false }).await
            }
        }
    }

    async fn cancel(&self, work: &Arc<Work>) -> Result<(), Error> {
        let Some(id) = &work.row.foreign_id else { return Ok(()) };
        match self.peer().cancel(id).await {
            Ok(_) | Err(Trouble::NotFound | Trouble::Refused(_)) => {
                self.write(work, remotes::cancelled).await
            }
            Err(Trouble::Later(failure)) => self.postpone(work, failure).await,
        }
    }

    async fn postpone(&self, work: &Arc<Work>, failure: Failure) -> Result<(), Error> {
        let jitter = f64::from(random_byte()) / 255.0;
        self.write(work, move |tx, by, work, now| remotes::postpone(tx, by, work, (&failure, jitter), now))
            .await
    }

    /// Carries out what the other side says about the task, and opens a stream if it goes on.
    async fn apply(&self, work: &Arc<Work>, task: Task) -> Result<(), Error> {
        let goes_on = !task.status.state.is_end();
        let seen = match see(self.hub, &self.caller(), task, &work.row.artifacts).await {
            Ok(seen) => seen,
            Err(error) => {
                let why = format!("an answer could not be taken: {error}");
                return self.postpone(work, Failure { why, retry_after_ms: None, is_unclear: false }).await;
            }
        };
        let applied = self.write_applied(work, seen.observed.clone()).await;
        if let Err(error) = applied {
            if !matches!(error, Error::Store(_)) {
                seen.files.discard(self.hub).await;
            }
            return self.settle_without(work, &seen.observed, error).await;
        }
        let is_streamed = self.remote.card.interface.streams && !self.is_pushed(work);
        if goes_on && is_streamed && self.write(work, remotes::open_stream).await? {
            self.open(work).await?;
        }
        Ok(())
    }

    async fn write_applied(&self, work: &Arc<Work>, observed: Observed) -> Result<(), Error> {
        let is_pushed = self.is_pushed(work);
        let observed = Arc::new(observed);
        self.write(work, move |tx, by, work, now| remotes::apply(tx, by, work, (&observed, is_pushed), now))
            .await
    }

    /// What was handed over cannot be taken: the rest is.
    async fn settle_without(&self, work: &Arc<Work>, observed: &Observed, error: Error) -> Result<(), Error> {
        let waits = is_budget(&error) || matches!(error, Error::Store(_));
        if waits || observed.artifacts.is_empty() {
            return self.settle(work, Err(error)).await;
        }
        let lean = without_artifacts(observed, &error.to_string());
        let written = self.write_applied(work, lean).await;
        self.settle(work, written).await
    }

    /// A rule did not let the target's move: it is tried again with the next question.
    async fn settle(&self, work: &Arc<Work>, written: Result<(), Error>) -> Result<(), Error> {
        match written {
            Err(Error::Store(error)) => Err(Error::Store(error)),
            Err(error) => {
                let why = format!("what the remote agent says cannot be carried out: {error}");
                self.postpone(work, Failure { why, retry_after_ms: None, is_unclear: false }).await
            }
            Ok(()) => Ok(()),
        }
    }

    async fn open(&self, work: &Arc<Work>) -> Result<(), Error> {
        let task = work.row.task.clone();
        let current = self.hub.db.read(move |tx, _| remotes::foreign_id(tx, &task)).await?;
        let Some(foreign) = current else { return Ok(()) };
        let job = StreamJob { remote: Arc::clone(&self.remote), task: work.row.task.clone(), foreign };
        if let Err(full) = self.opened.try_send(job) {
            // There are too many: it is asked instead.
            let task = full.into_inner().task;
            self.hub.db.write(move |tx, now| remotes::close_stream(tx, &task, true, now)).await?;
        }
        Ok(())
    }
}

/// The initiator can change that.
fn is_budget(error: &Error) -> bool {
    match error {
        Error::OnTask { error, .. } => is_budget(error),
        Error::Refused(Refusal::MessageBudget(_)) => true,
        _ => false,
    }
}
