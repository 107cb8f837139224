//! Delivers what a worker said: files, then a reply or a question. Each step can be repeated without being done twice.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use tandem_api::error::Code;
use tandem_api::messages::SendMessage;
use tandem_api::tasks::{PatchTask, ReplyOutcome, ReplyTask, TaskView};
use tandem_client::{Client, Error, Upload};
use tandem_core::Status;
use tandem_core::files::FILE_BYTES_MAX;
use tandem_core::text::{Body, Reason};

use super::super::media_type::mime_type_of;
use super::journal::{Entry, Phase, ResultKind, WorkResult};
use super::out_folder::open_listed;
use super::output::{OUTPUT_FILE, said};
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
        let is_said = !is_first && self.is_said(view, entry, result).await?;
        let (mut entry, mut result) = (entry.clone(), result.clone());
        if !is_said {
            result.refused = self.send_files(view, &entry, &result).await?;
        }
        if !result.refused.is_empty() {
            entry = Entry { keeps_folder: true, phase: Phase::Ready { result: result.clone() }, ..entry };
            // The text that is sent has to be known in case it is sent again.
            self.write_down(&entry);
        }
        let result = &result;
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
            Err(error) if error.is_temporary() => Err(error.into()),
            Err(error) if error.code() != Some(Code::IdempotencyConflict) => {
                self.refused(view, &entry, &error).await
            }
            _ => self.delivered(view, &entry, result),
        }
    }

    /// Sends the files of a result. Returns the names of those that cannot be sent, each with the reason.
    async fn send_files(&self, view: &TaskView, entry: &Entry, result: &WorkResult) -> Outcome<Vec<String>> {
        let mut refused = Vec::new();
        let left =
            result.files.iter().enumerate().map(|(number, file)| (format!("file{number}"), file, None));
        let output = result.output.iter().map(|file| ("output".to_owned(), file, Some(OUTPUT_FILE)));
        for (key, file, name) in left.chain(output) {
            let client = self.client.clone().with_idempotency_key(format!("{}-{key}", entry.key));
            match send_file(&client, view, file, name).await {
                Err(error) if error.is_temporary() => return Err(error.into()),
                Err(error) if error.code() != Some(Code::IdempotencyConflict) => {
                    let why = text::line(&error.to_string());
                    self.session.terminal.warn(&format!("{}: {why}", view.id));
                    let name = name.or_else(|| file.file_name()?.to_str()).unwrap_or("file");
                    // Other errors can name places on this machine.
                    let why = match &error {
                        Error::Refused(refusal) => text::line(&refusal.body.error),
                        _ => "it could not be read".to_owned(),
                    };
                    refused.push(format!("{} ({why})", text::line(name)));
                }
                _ => {}
            }
        }
        Ok(refused)
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
            return Ok(self.finish_with(entry));
        }
        self.journal.save(&Entry { phase: Phase::Waiting, ..entry.clone() })?;
        // There may be an answer already.
        Ok(Next::Again)
    }

    /// The hub did not take a result.
    async fn refused(&self, view: &TaskView, entry: &Entry, error: &Error) -> Outcome<Next> {
        let now = match self.client.task(&view.id).await {
            Err(error) if error.is_not_found() => return Ok(self.finish_with(entry)),
            now => now?,
        };
        if now.status.is_terminal() {
            return Ok(self.finish_with(entry));
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

fn body(view: &TaskView, result: &WorkResult) -> Outcome<Body> {
    Body::try_from(said(view, result)).map_err(|why| Failure::refused(format!("the result {why}")))
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
        ..ReplyTask::new(body(view, result)?)
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
        && let Err(error) = client.say(view, SendMessage::new(body(view, result)?)).await
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

/// Sends a file that the worker has left, or with a name, one of the runner's own.
async fn send_file(client: &Client, view: &TaskView, file: &Path, name: Option<&str>) -> Result<(), Error> {
    let failed = |cause| Error::File { what: format!("cannot read {}", file.display()), cause };
    let mut opened = match name {
        Some(_) => File::open(file),
        None => open_listed(file),
    }
    .map_err(failed)?;
    let name = name.or_else(|| file.file_name()?.to_str()).unwrap_or("file").to_owned();
    let mime_type = mime_type_of(&opened, Path::new(&name));
    if client.is_encrypted(view)? {
        let reading = tokio::task::spawn_blocking(move || {
            let mut bytes = Vec::new();
            // It may be growing. One byte too many is refused below.
            (&mut opened).take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map(|_| bytes)
        });
        let bytes = reading.await.map_err(std::io::Error::other).flatten().map_err(failed)?;
        client.upload_sealed(view, &name, mime_type, bytes).await?;
    } else {
        let upload = Upload { path: file.to_owned(), filename: name, mime_type: mime_type.to_owned() };
        client.upload_opened(&view.id, opened, &upload, |_| {}).await?;
    }
    Ok(())
}
