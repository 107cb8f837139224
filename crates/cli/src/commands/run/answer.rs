//! Delivers what a worker said: files, then a reply or a question. Each step can be repeated without being done twice.

use tandem_api::error::Code;
use tandem_api::messages::SendMessage;
use tandem_api::tasks::{PatchTask, ReplyOutcome, ReplyTask, TaskView};
use tandem_client::{Client, Error, Upload, is_encrypted};
use tandem_core::Status;
use tandem_core::text::{Body, Reason};

use super::super::media_type::mime_type;
use super::is_passing;
use super::journal::{Entry, Phase, ResultKind, WorkResult};
use super::task::{Next, Runner};
use crate::exit::{Failure, Outcome};
use crate::terminal::text;

/// Characters of a reason that the hub takes.
const REASON_CHARS_MAX: usize = 1_000;

impl Runner {
    /// Delivers a result. `is_first` says that nothing of it was sent before.
    pub(super) async fn answer(
        &self,
        view: &TaskView,
        entry: &Entry,
        result: &WorkResult,
        is_first: bool,
    ) -> Outcome<Next> {
        // The hub keeps idempotency keys for a day by its own clock, which can jump; the thread stays.
        let is_said = !is_first && self.is_said(view, entry, result.kind).await?;
        if !is_said {
            for (number, file) in result.files.iter().enumerate() {
                let client = self.client.clone().with_idempotency_key(format!("{}-file{number}", entry.key));
                match send_file(&client, view, file).await {
                    Err(error) if is_passing(&error) => return Err(error.into()),
                    Err(error) if error.code() != Some(Code::IdempotencyConflict) => {
                        self.session.terminal.warn(&format!(
                            "{}: {}",
                            view.id,
                            text::line(&error.to_string())
                        ));
                    }
                    _ => {}
                }
            }
        }
        let client = self.client.clone().with_idempotency_key(format!("{}-answer", entry.key));
        let sent = match result.kind {
            ResultKind::Question => ask(&client, view, result, is_said).await?,
            ResultKind::Completed if !is_said => {
                reply(&client, view, result, ReplyOutcome::Completed).await?
            }
            ResultKind::Failed if !is_said => reply(&client, view, result, ReplyOutcome::Failed).await?,
            ResultKind::Completed | ResultKind::Failed => Ok(()),
        };
        match sent {
            Err(error) if is_passing(&error) => Err(error.into()),
            Err(error) if error.code() != Some(Code::IdempotencyConflict) => self.refused(view, &error).await,
            _ => self.delivered(view, entry, result),
        }
    }

    /// A result is with the hub.
    fn delivered(&self, view: &TaskView, entry: &Entry, result: &WorkResult) -> Outcome<Next> {
        let word = match result.kind {
            ResultKind::Completed => "completed",
            ResultKind::Failed => "failed",
            ResultKind::Question => "asked",
        };
        self.session.terminal.note(&format!("{}: {word}.", view.id));
        let is_over = match result.kind {
            ResultKind::Completed => !view.requires_review,
            ResultKind::Failed => true,
            ResultKind::Question => false,
        };
        if is_over {
            return Ok(self.finish(&view.id));
        }
        self.journal.save(&Entry { phase: Phase::Waiting, ..entry.clone() })?;
        // There may be an answer already.
        Ok(Next::Again)
    }

    /// The hub did not take a result.
    async fn refused(&self, view: &TaskView, error: &Error) -> Outcome<Next> {
        let now = match self.client.task(&view.id).await {
            Err(error) if error.is_not_found() => return Ok(self.finish(&view.id)),
            now => now?,
        };
        if now.status.is_terminal() {
            return Ok(self.finish(&view.id));
        }
        if now.status != view.status || now.attempt != view.attempt || !self.is_ours(&now) {
            return Ok(Next::Again);
        }
        self.session.terminal.warn(&format!("{}: {}", view.id, text::line(&error.to_string())));
        let reason: String =
            format!("The result could not be delivered: {error}").chars().take(REASON_CHARS_MAX).collect();
        let change = PatchTask {
            status: Some(Status::Failed),
            reason: Reason::try_from(reason).ok(),
            expected_status: Some(now.status),
            ..PatchTask::default()
        };
        self.client.change_task(&view.id, &change).await?;
        Ok(Next::Again)
    }
}

fn body(text: &str) -> Outcome<Body> {
    Body::try_from(text.to_owned()).map_err(|why| Failure::refused(format!("the result {why}")))
}

async fn reply(
    client: &Client,
    view: &TaskView,
    result: &WorkResult,
    outcome: ReplyOutcome,
) -> Outcome<Result<(), Error>> {
    let reply = ReplyTask {
        outcome: Some(outcome),
        expected_status: Some(view.status),
        ..ReplyTask::new(body(&result.text)?)
    };
    Ok(client.deliver(view, reply).await.map(|_| ()))
}

/// Asks the initiator, and waits for it.
async fn ask(
    client: &Client,
    view: &TaskView,
    result: &WorkResult,
    is_said: bool,
) -> Outcome<Result<(), Error>> {
    if !is_said
        && let Err(error) = client.say(view, SendMessage::new(body(&result.text)?)).await
        && error.code() != Some(Code::IdempotencyConflict)
    {
        return Ok(Err(error));
    }
    if view.status != Status::Working {
        return Ok(Ok(()));
    }
    let change = PatchTask {
        status: Some(Status::InputRequired),
        expected_status: Some(Status::Working),
        ..PatchTask::default()
    };
    Ok(client.change_task(&view.id, &change).await.map(|_| ()))
}

async fn send_file(client: &Client, view: &TaskView, file: &std::path::Path) -> Result<(), Error> {
    let failed = |cause| Error::File { what: format!("cannot read {}", file.display()), cause };
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or("file").to_owned();
    let mime_type = mime_type(file);
    if is_encrypted(view)? {
        let bytes = tokio::fs::read(file).await.map_err(failed)?;
        client.upload_sealed(view, &name, mime_type, bytes).await?;
    } else {
        let upload = Upload { path: file.to_owned(), filename: name, mime_type: mime_type.to_owned() };
        client.upload(&view.id, &upload, |_| {}).await?;
    }
    Ok(())
}
