//! `tandem file`: files of tasks, and the files that other commands send.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use tandem_api::files::UploadedFile;
use tandem_api::messages::MessageView;
use tandem_api::tasks::{PageQuery, TaskView};
use tandem_client::{DownloadOptions, NewFile, Trust, Upload};
use tandem_core::FileId;
use tandem_core::messages::ContentType;

use super::autoloaded_files::is_autoloaded;
use super::complete::tasks;
use super::media_type::mime_type;
use super::pages::Extent;
use super::task_view::{file_infos, file_of, is_sealed};
use super::{Common, Session};
use crate::exit::{Failure, Outcome};
use crate::signals;
use crate::terminal::table::Table;
use crate::terminal::{self, progress, text, time};

/// Bytes of the name of a downloaded file. File systems take 255.
const NAME_BYTES_MAX: usize = 240;

/// The largest file of a hub.
pub(crate) const FILE_BYTES_MAX: usize = 50 * 1024 * 1024;

/// Arguments of `tandem file`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem file up @ report.pdf             send a file on the last task
  tandem file list @
  tandem file down file_01k2abc           into the current folder, under its own name
  tandem file down file_01k2abc -o - | less
  tandem file down file_01k2abc --task @  a file of an encrypted task")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: FileCommand,
}

#[derive(Debug, Subcommand)]
enum FileCommand {
    /// Send files on a task
    #[command(after_help = "Examples:\n  tandem file up @ report.pdf data.csv")]
    Up {
        /// The task: id, beginning of an id, or @
        #[arg(value_name = "TASK", add = tasks())]
        task: String,
        /// The files
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Download a file
    #[command(after_help = "\
Examples:
  tandem file down file_01k2abc
  tandem file down file_01k2abc -o - | less
  tandem file down file_01k2abc --task @      a file of an encrypted task")]
    Down(Down),
    /// List the files of a task
    #[command(
        after_help = "Examples:\n  tandem file list @\n  tandem file list 01k2 --json | jq -r .content"
    )]
    List {
        /// The task: id, beginning of an id, or @
        #[arg(value_name = "TASK", add = tasks())]
        task: String,
    },
    /// Delete a file that you sent
    #[command(after_help = "Examples:\n  tandem file delete file_01k2abc")]
    Delete {
        /// The file's id
        #[arg(value_name = "FILE_ID")]
        file: FileId,
    },
}

#[derive(Debug, Args)]
struct Down {
    /// The file's id, from `tandem task show` or `tandem file list`
    #[arg(value_name = "FILE_ID")]
    file: FileId,
    /// Where to write it; - is standard output [default: its own name, in this folder]
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    overwrite: bool,
    /// The task it belongs to, for encrypted files [default: the last one]
    #[arg(long, value_name = "TASK", add = tasks())]
    task: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    Session::run(common, async |session| match &arguments.command {
        FileCommand::Up { task, files } => {
            check_files(files)?;
            let task = session.client.task(&session.task_id(task).await?).await?;
            session.remember(&task.id);
            check_types(files, session.client.is_encrypted(&task)?)?;
            for uploaded in upload_all(&session, &task, files).await? {
                session.terminal.result(&uploaded, |terminal| terminal.line(&sent_line(&uploaded)))?;
            }
            Ok(())
        }
        // A download that ends early removes what it has written.
        FileCommand::Down(down) => signals::or_dropped(download(&session, down)).await?,
        FileCommand::List { task } => list(&session, task).await,
        FileCommand::Delete { file } => {
            let deleted = session.client.delete_file(file).await?;
            session.terminal.result(&deleted, |terminal| terminal.done(&format!("Deleted {file}.")))
        }
    })
}

/// Refuses files that cannot be read or are too large, before anything is sent.
pub(crate) fn check_files(files: &[PathBuf]) -> Outcome {
    for path in files {
        let unreadable =
            |cause: std::io::Error| Failure::usage(format!("cannot read {}: {cause}", path.display()));
        // Before it is opened: a pipe would wait for somebody who writes to it.
        let metadata = path.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(Failure::usage(format!(
                "{} is not a regular file; write what it gives into one first",
                path.display()
            )));
        }
        if metadata.len() > FILE_BYTES_MAX as u64 {
            return Err(Failure::usage(format!(
                "{} has {}, but the hub takes files of up to {}",
                path.display(),
                time::bytes(metadata.len()),
                time::bytes(FILE_BYTES_MAX as u64)
            )));
        }
        File::open(path).map_err(unreadable)?;
    }
    Ok(())
}

/// Refuses files of a type that the hub does not take on a plain task, before anything is sent.
pub(crate) fn check_types(files: &[PathBuf], encrypted: bool) -> Outcome {
    let refused = |path: &&PathBuf| !encrypted && !tandem_core::files::is_allowed(mime_type(path));
    let Some(path) = files.iter().find(refused) else { return Ok(()) };
    let what = "a plain task takes only images, PDF, JSON, CSV and plain text";
    Err(Failure::usage(format!("{} is of another type: {what}", path.display()))
        .next("An encrypted task takes any file: `tandem send --encrypt`."))
}

/// Sends files on a task, each with a progress bar. On an encrypted task they are sealed first.
pub(crate) async fn upload_all(
    session: &Session,
    task: &TaskView,
    files: &[PathBuf],
) -> Outcome<Vec<UploadedFile>> {
    let mut uploaded = Vec::new();
    for path in files {
        let name = file_name(path)?;
        let mime_type = mime_type(path);
        if session.client.is_encrypted(task)? {
            let mut bytes = Vec::new();
            // It may have grown since it was checked.
            File::open(path)?.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
            let spinner =
                progress::spinner(&session.terminal, &format!("Sealing and sending {}", text::line(&name)));
            uploaded.push(session.client.upload_sealed(task, &name, mime_type, bytes).await?);
            spinner.finish_and_clear();
        } else {
            let size = tokio::fs::metadata(path).await?.len();
            let bar = progress::bytes(&session.terminal, &text::line(&name), size);
            let upload = Upload { path: path.clone(), filename: name, mime_type: mime_type.to_owned() };
            uploaded.push(session.client.upload(&task.id, &upload, |sent| bar.set_position(sent)).await?);
            bar.finish_and_clear();
        }
    }
    Ok(uploaded)
}

/// A file that was sent, in one line.
pub(crate) fn sent_line(file: &UploadedFile) -> String {
    format!("{}  {}", file.id, text::line(file.filename.as_str()))
}

fn file_name(path: &Path) -> Outcome<String> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.map(ToOwned::to_owned)
        .ok_or_else(|| Failure::usage(format!("the name of {} is not valid UTF-8", path.display())))
}

/// The messages of a task that carry files, oldest first.
async fn file_messages(session: &Session, task: &TaskView) -> Outcome<Vec<MessageView>> {
    let (client, id) = (&session.client, &task.id);
    let all =
        Extent::whole().read(|query: PageQuery| async move { client.messages(id, &query).await }).await?;
    let mut files: Vec<MessageView> =
        all.items.into_iter().filter(|message| file_of(message).is_some()).collect();
    files.sort_by_key(|message| message.created_at);
    client.name_senders(task, &mut files);
    Ok(files)
}

async fn list(session: &Session, named: &str) -> Outcome {
    let task = session.client.task(&session.task_id(named).await?).await?;
    session.remember(&task.id);
    let files = file_messages(session, &task).await?;
    if session.terminal.json {
        return files.iter().try_for_each(|message| session.terminal.json_line(message));
    }
    let infos = file_infos(&session.client, &files, usize::MAX).await;
    let is_sealed_task = is_sealed(&session.client, &task);
    let mut table = Table::new(&["file", "name", "type", "size", "from", "sent"], 1);
    for (message, info) in files.iter().zip(&infos) {
        let name = info.as_ref().and_then(|info| info.filename.as_deref());
        let is_sealed = message.content_type == ContentType::Encrypted;
        // Nobody but the hub can have put a plain file on an encrypted task.
        let name = if is_sealed_task && !is_sealed { Some("(NOT encrypted)") } else { name };
        let mime_type = info.as_ref().and_then(|info| info.mime_type.as_deref());
        table.row([
            message.content.as_str(),
            if is_sealed { "(encrypted)" } else { name.unwrap_or("?") },
            if is_sealed { "" } else { mime_type.unwrap_or("?") },
            &info.as_ref().map_or("?".to_owned(), |info| time::bytes(info.size_bytes)),
            message.sender_agent_name.as_ref().map_or("", |name| name.as_str()),
            &time::relative(message.created_at, time::now()),
        ]);
    }
    table.print(&session.terminal, "This task has no files.")?;
    if is_sealed_task && !files.is_empty() {
        session.terminal.note(&format!("Download one with: tandem file down FILE_ID --task {}", task.id));
    }
    Ok(())
}

async fn download(session: &Session, down: &Down) -> Outcome {
    let Some(named) = &down.task else { return download_of_any_task(session, down).await };
    let task = session.client.task(&session.task_id(named).await?).await?;
    if !is_sealed(&session.client, &task) {
        return download_plain(session, down).await;
    }
    let message = find_announcement(session, &task, &down.file).await?.ok_or_else(|| {
        Failure::not_found(format!("task {} has no file {}", task.id, down.file))
            .next("`tandem file list TASK` shows its files.")
    })?;
    download_sealed(session, down, &task, &message).await
}

async fn find_announcement(
    session: &Session,
    task: &TaskView,
    file: &FileId,
) -> Outcome<Option<MessageView>> {
    let files = file_messages(session, task).await?;
    Ok(files.into_iter().find(|message| message.content.as_str() == file.as_str()))
}

async fn download_sealed(session: &Session, down: &Down, task: &TaskView, message: &MessageView) -> Outcome {
    let spinner = progress::spinner(&session.terminal, "Downloading and opening");
    let opened = session.client.download_sealed(task, message).await?;
    spinner.finish_and_clear();
    write_opened(session, down, &opened.filename, &opened.bytes).await
}

/// Downloads a file without a task's name. Stored bytes do not show whether they are encrypted, and the hub could lie about
/// it; so the last task is asked first, to which the file usually belongs.
async fn download_of_any_task(session: &Session, down: &Down) -> Outcome {
    if let Some(last) = session.state().last_task() {
        let task = session.client.task(last).await.ok();
        let may_be_sealed = session.client.is_known_encrypted(last)?
            || task.as_ref().is_some_and(|task| is_sealed(&session.client, task));
        let message = match &task {
            Some(task) => find_announcement(session, task, &down.file).await.ok().flatten(),
            None => None,
        };
        match (&task, &message) {
            (Some(task), Some(message)) if may_be_sealed => {
                return download_sealed(session, down, task, message).await;
            }
            (_, Some(_)) => return download_plain(session, down).await,
            // The hub may hide the message, so that its own bytes are taken for the file.
            (_, None) if may_be_sealed => {
                let what = "the last task is encrypted, and the hub does not show this file on it";
                let next = format!("Name its task: `tandem file down {} --task TASK`.", down.file);
                return Err(Failure::refused(what).next(next));
            }
            _ => {}
        }
    }
    download_plain(session, down).await?;
    if session.client.keyring().is_ok() {
        session.terminal.note(&format!(
            "It came as the hub stores it. A file of an encrypted task is only verified with its task: \
             `tandem file down {} --task TASK`.",
            down.file
        ));
    }
    Ok(())
}

/// Downloads a file as the hub stores it. An encrypted one is of no use like that.
async fn download_plain(session: &Session, down: &Down) -> Outcome {
    let is_sealed = |name: Option<&str>| name == Some(tandem_seal::CLEAR_FILENAME);
    if down.output.as_deref() == Some(Path::new("-")) {
        let (bytes, got) = session.client.download_bytes(&down.file, FILE_BYTES_MAX).await?;
        if is_sealed(got.filename.as_deref()) {
            return Err(is_encrypted_file(down));
        }
        return terminal::print_bytes(&bytes);
    }
    let info = session.client.file_info(&down.file).await?;
    if is_sealed(info.filename.as_deref()) {
        return Err(is_encrypted_file(down));
    }
    let own_name = info.filename.as_deref().and_then(plain_name).unwrap_or_else(|| down.file.to_string());
    let path = target(down, &own_name)?;
    let bar = progress::bytes(&session.terminal, &text::line(&own_name), info.size_bytes);
    let options = DownloadOptions { overwrite: down.overwrite };
    let show = |done: u64, _| bar.set_position(done);
    let got = session.client.download(&down.file, &path, options, show).await?;
    bar.finish_and_clear();
    saved(session, &path, &own_name, got.size_bytes, &Trust::Plain)
}

fn is_encrypted_file(down: &Down) -> Failure {
    Failure::refused("the file is encrypted")
        .next(format!("Name its task: `tandem file down {} --task TASK`.", down.file))
}

/// Where a file goes: a place that is free, unless it may be overwritten.
fn target(down: &Down, own_name: &str) -> Outcome<PathBuf> {
    // The other agent has chosen this name. A person may choose it too.
    if down.output.is_none() && is_autoloaded(own_name) {
        let name = text::line(own_name);
        return Err(Failure::refused(format!("{name} is a name because of which tools read or run a file"))
            .next("Give another name with -o PATH, or the same one if you know what is in it."));
    }
    let path = down.output.clone().unwrap_or_else(|| PathBuf::from(own_name));
    if path.symlink_metadata().is_ok() && !down.overwrite {
        return Err(Failure::refused(format!("{} exists already", path.display()))
            .next("Give --overwrite, or another name with -o PATH."));
    }
    Ok(path)
}

/// A file name from elsewhere: no folders, no hidden file, no option of a command, nothing that a terminal interprets,
/// and not too long for a file system.
pub(crate) fn plain_name(name: &str) -> Option<String> {
    let last = name.rsplit(['/', '\\']).next()?;
    let safe: String = last.chars().filter(|c| !text::is_unsafe(*c)).collect();
    let plain = safe.trim().trim_start_matches(['.', '-', ' ']);
    let mut end = plain.len().min(NAME_BYTES_MAX);
    while !plain.is_char_boundary(end) {
        end -= 1;
    }
    (end > 0).then(|| plain[..end].to_owned())
}

async fn write_opened(session: &Session, down: &Down, name: &str, bytes: &[u8]) -> Outcome {
    if down.output.as_deref() == Some(Path::new("-")) {
        return terminal::print_bytes(bytes);
    }
    let name = plain_name(name).unwrap_or_else(|| down.file.to_string());
    let path = target(down, &name)?;
    let mut file = NewFile::create(&path, down.overwrite).await?;
    file.write(bytes).await?;
    file.finish().await?;
    saved(session, &path, &name, bytes.len() as u64, &Trust::Verified)
}

fn saved(session: &Session, path: &Path, name: &str, bytes: u64, trust: &Trust) -> Outcome {
    let shown = path.display().to_string();
    let view = serde_json::json!({
        "path": shown, "filename": name, "sizeBytes": bytes, "trust": trust.as_str(),
    });
    session
        .terminal
        .result(&view, |terminal| terminal.line(&format!("{}  {}", text::line(&shown), time::bytes(bytes))))
}
