//! What the two agents do, printed as it happens.

use std::future::Future;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use tandem_api::files::{UploadFile, UploadedFile};
use tandem_api::messages::SendMessage;
use tandem_api::tasks::{ApproveTask, CreateTask, PageQuery, PatchTask, ReplyTask, TaskView};
use tandem_client::{Client, Error, Followed, HubUrl, Notice};
use tandem_core::events::EventKind;
use tandem_core::text::Unfit;
use tandem_core::{FileId, Status, TaskId};

use super::cast::{ADA, Actor, BOB, Cast};
use crate::commands::session::USUAL_HUB;
use crate::exit::{Failure, Outcome};
use crate::terminal::{Terminal, text};

/// How long an event may take.
const EVENT_MAX: Duration = Duration::from_secs(20);
/// Far more than the files of this story.
const FILE_BYTES_MAX: usize = 64 * 1024;
const COSTS: &str = "train,84\nhotel,120\nmeals,46\n";
const SUMMARY: &str = "train,84\nhotel,120\nmeals,46\ntotal,250\n";

/// Prints the steps.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    terminal: &'a Terminal,
    pause: Duration,
    started: Instant,
    /// Who was told by an event, and how long that took: belongs to the next step.
    told: Option<(&'static str, &'static str, Duration)>,
}

/// One step, for `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Step<'a> {
    at_ms: u128,
    who: &'a str,
    what: &'a str,
    /// The agent that got an event about it.
    told: Option<&'static str>,
    event: Option<&'static str>,
    delivery_ms: Option<f64>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(terminal: &'a Terminal, pause: Duration) -> Self {
        Self { terminal, pause, started: Instant::now(), told: None }
    }

    pub(super) fn title(&self, hub: &HubUrl) -> Outcome {
        if self.terminal.json {
            return Ok(());
        }
        let title =
            format!("Two agents of two owners, at work on {hub}. No model takes part; the hub is real.");
        self.terminal.line(&format!("{}\n", self.terminal.bold(&title)))
    }

    /// Prints a step, with the event that it caused, and pauses.
    pub(super) async fn step(&mut self, who: &str, what: &str) -> Outcome {
        let told = self.told.take();
        let at = self.started.elapsed();
        let step = Step {
            at_ms: at.as_millis(),
            who,
            what,
            told: told.map(|(who, ..)| who),
            event: told.map(|(_, event, _)| event),
            delivery_ms: told.map(|(_, _, took)| took.as_secs_f64() * 1_000.0),
        };
        self.terminal.result(&step, |terminal| {
            terminal.line(&format!("{:>5.1} s  {who:<11}  {}", at.as_secs_f64(), text::line(what)))?;
            let Some((who, event, took)) = told else { return Ok(()) };
            let ms = took.as_secs_f64() * 1_000.0;
            terminal.line(&terminal.dim(&format!("{:22}{who} got {event} after {ms:.1} ms", "")))
        })?;
        tokio::time::sleep(self.pause).await;
        Ok(())
    }

    /// Does something and waits for the event that it causes. The time is from the start of the request until the other
    /// agent has the event.
    pub(super) async fn told<T>(
        &mut self,
        actor: &Actor,
        event: EventKind,
        action: impl Future<Output = Result<T, Error>>,
    ) -> Outcome<T> {
        let mut events = actor.client.follow(None);
        // From its connection on, it has new events only, none of an earlier step.
        let connected = async {
            while !matches!(events.next().await?, Followed::Notice(Notice::Connected { .. })) {}
            Ok::<_, Error>(())
        };
        tokio::time::timeout(EVENT_MAX, connected)
            .await
            .map_err(|_| Failure::timed_out("no event stream could be opened"))??;
        let started = Instant::now();
        let heard = async {
            while events.next_event().await?.kind.as_str() != event.as_str() {}
            Ok(started.elapsed())
        };
        let both = async { tokio::try_join!(action, heard) };
        let (done, took) = tokio::time::timeout(EVENT_MAX, both)
            .await
            .map_err(|_| Failure::timed_out(format!("{} never came", event.as_str())))??;
        self.told = Some((actor.part.name, event.as_str(), took));
        Ok(done)
    }
}

/// Plays the story: a task through its whole life.
pub(super) async fn play(cast: &Cast, stage: &mut Stage<'_>) -> Outcome {
    let task = send_task(cast, stage).await?;
    approve(cast, stage, &task).await?;
    ask_and_answer(cast, stage, &task).await?;
    deliver(cast, stage, &task).await
}

async fn send_task(cast: &Cast, stage: &mut Stage<'_>) -> Outcome<TaskId> {
    let mut task = CreateTask::new(cast.bob.id.to_string().try_into().map_err(unfit)?, {
        "Add up the costs of our trip".to_owned().try_into().map_err(unfit)?
    });
    task.description =
        Some("The costs are in the file. Please add a total.".to_owned().try_into().map_err(unfit)?);
    task.requires_review = Some(true);
    let ada = cast.ada.client.clone();
    let sent = stage.told(&cast.bob, EventKind::TaskApprovalRequired, ada.create_task(&task)).await?;
    stage.step(ADA.name, "sends Bob a task: \"Add up the costs of our trip\"").await?;
    Ok(sent.id)
}

async fn approve(cast: &Cast, stage: &mut Stage<'_>, task: &TaskId) -> Outcome {
    stage.step("the hub", "holds the task until Bob's owner has decided").await?;
    let bob = cast.bob.client.clone();
    stage.told(&cast.bob, EventKind::TaskCreated, bob.approve(task, &ApproveTask::default())).await?;
    stage.step("Bob's owner", "approves: the task comes in").await?;
    let file = upload(&cast.ada.client, task, "costs.csv", COSTS);
    stage.told(&cast.bob, EventKind::MessageCreated, file).await?;
    stage.step(ADA.name, "adds the file costs.csv").await?;
    stage.told(&cast.ada, EventKind::TaskUpdated, set(&bob, task, Status::Working)).await?;
    stage.step(BOB.name, "starts to work").await?;
    let messages = bob.messages(task, &PageQuery::default()).await?.items;
    let file =
        messages.iter().find(|message| message.content_type == tandem_core::messages::ContentType::File);
    let missing = || Failure::refused("the file of the task is not there");
    let file = file.ok_or_else(missing)?;
    let bytes = download(&bob, &file.content.as_str().parse().map_err(|_| missing())?).await?;
    stage.step(BOB.name, &format!("downloads the file: {} bytes", bytes.len())).await
}

async fn ask_and_answer(cast: &Cast, stage: &mut Stage<'_>, task: &TaskId) -> Outcome {
    let (ada, bob) = (cast.ada.client.clone(), cast.bob.client.clone());
    let question = say(&bob, task, "Are the meals for one person or for two?");
    stage.told(&cast.ada, EventKind::MessageCreated, question).await?;
    stage.step(BOB.name, "asks: \"Are the meals for one person or for two?\"").await?;
    stage.told(&cast.ada, EventKind::TaskUpdated, set(&bob, task, Status::InputRequired)).await?;
    stage.step(BOB.name, "waits: the task is input-required").await?;
    let answer = say(&ada, task, "For two. Leave them as they are.");
    stage.told(&cast.bob, EventKind::MessageCreated, answer).await?;
    stage.step(ADA.name, "answers: \"For two. Leave them as they are.\"").await?;
    if bob.task(task).await?.status == Status::InputRequired {
        set(&bob, task, Status::Working).await?;
    }
    stage.step(BOB.name, "goes on").await
}

async fn deliver(cast: &Cast, stage: &mut Stage<'_>, task: &TaskId) -> Outcome {
    let (ada, bob) = (cast.ada.client.clone(), cast.bob.client.clone());
    let upload = upload(&bob, task, "summary.csv", SUMMARY);
    let file = stage.told(&cast.ada, EventKind::MessageCreated, upload).await?;
    stage.step(BOB.name, "uploads summary.csv").await?;
    let result = ReplyTask::new("The trip costs 250 euros in total.".to_owned().try_into().map_err(unfit)?);
    stage.told(&cast.ada, EventKind::TaskUpdated, bob.reply(task, &result)).await?;
    stage.step(BOB.name, "delivers the result: \"The trip costs 250 euros in total.\"").await?;
    let bytes = download(&ada, &file.id).await?;
    if bytes != SUMMARY.as_bytes() {
        return Err(Failure::refused("the file arrived with other content"));
    }
    stage
        .step(ADA.name, &format!("downloads the file ({} bytes) and reviews the result", bytes.len()))
        .await?;
    stage.told(&cast.bob, EventKind::TaskUpdated, set(&ada, task, Status::Completed)).await?;
    stage.step(ADA.name, &format!("accepts it: {task} is completed")).await
}

/// What to try next. `kept_on` is the hub where the agents still are.
pub(super) fn next_steps(terminal: &Terminal, kept_on: Option<&HubUrl>) -> Outcome {
    if terminal.json || terminal.quiet {
        return Ok(());
    }
    let register = match kept_on.map(ToString::to_string) {
        Some(hub) if hub != USUAL_HUB => format!("tandem register my-agent --hub {hub}"),
        _ => "tandem register my-agent".to_owned(),
    };
    let steps: &[(&str, &str)] = if kept_on.is_some() {
        &[
            ("tandem task list --agent demo-bob", "the task, as Bob sees it"),
            (&register, "an agent of your own"),
            ("tandem pair", "connect it with somebody else's"),
            ("tandem demo --clear", "remove the two again"),
        ]
    } else {
        &[
            ("tandem serve", "a hub that stays"),
            ("tandem register my-agent", "an agent of your own, in another terminal"),
            ("tandem pair", "connect it with somebody else's"),
        ]
    };
    terminal.line(&format!("\n{}", terminal.bold("Try it yourself")))?;
    steps.iter().try_for_each(|(command, what)| terminal.line(&format!("  {command:<36} {what}")))
}

async fn set(client: &Client, task: &TaskId, status: Status) -> Result<TaskView, Error> {
    client.change_task(task, &PatchTask { status: Some(status), ..PatchTask::default() }).await
}

async fn say(client: &Client, task: &TaskId, words: &'static str) -> Result<(), Error> {
    // Our own words are short enough for a message.
    let Ok(content) = words.to_owned().try_into() else { return Ok(()) };
    client.send_message(task, &SendMessage::new(content)).await.map(drop)
}

async fn upload(
    client: &Client,
    task: &TaskId,
    name: &'static str,
    content: &str,
) -> Result<UploadedFile, Error> {
    let file = UploadFile {
        filename: name.to_owned(),
        mime_type: "text/csv".to_owned(),
        base64_content: STANDARD.encode(content).into(),
        encrypted_keys: None,
        sender_signature: None,
    };
    client.upload_json(task, &file).await
}

async fn download(client: &Client, file: &FileId) -> Outcome<Vec<u8>> {
    Ok(client.download_bytes(file, FILE_BYTES_MAX).await?.0.to_vec())
}

fn unfit(unfit: Unfit) -> Failure {
    Failure::refused(unfit.to_string())
}
