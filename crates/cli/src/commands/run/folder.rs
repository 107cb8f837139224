//! The working folder of one run: `in/` with the files of the task, `out/` for files to send back.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tandem_api::actor::Actor;
use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskView;
use tandem_client::{Client, DownloadOptions, is_encrypted};
use tandem_core::{AgentId, FileId};

use super::super::file::plain_name;
use super::super::task_view::file_of;
use crate::exit::Outcome;
use crate::profiles::create_private;

/// Files of a task that are downloaded, and files that are sent back.
const FILES_IN_MAX: usize = 100;
const FILES_OUT_MAX: usize = 20;
/// The largest file of a hub.
const FILE_BYTES_MAX: u64 = 50 * 1024 * 1024;

/// The folder of a run.
#[derive(Debug)]
pub(super) struct Folder(pub(super) PathBuf);

/// A file of the task, as the worker is told of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileIn {
    id: FileId,
    /// Where it is, relative to the folder; null if it could not be downloaded.
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Folder {
    /// Makes an empty folder for this user only. What an earlier run left in it is removed.
    pub(super) fn prepare(path: PathBuf) -> Outcome<Self> {
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        create_private(&path.join("in"))?;
        create_private(&path.join("out"))?;
        Ok(Self(path))
    }

    /// Downloads the files that the other side has attached.
    pub(super) async fn fetch(
        &self,
        client: &Client,
        me: &AgentId,
        task: &TaskView,
        messages: &[MessageView],
    ) -> Outcome<Vec<FileIn>> {
        let is_foreign = |message: &&MessageView| !matches!(&message.sender_agent_id, Actor::Agent(sender) if sender == me);
        let announced =
            messages.iter().filter(is_foreign).filter_map(|message| Some((file_of(message)?, message)));
        let mut files = Vec::new();
        for (id, message) in announced.take(FILES_IN_MAX) {
            let fetched = match is_encrypted(task)? {
                true => self.fetch_sealed(client, task, message, &id).await,
                false => self.fetch_plain(client, &id).await,
            };
            files.push(match fetched {
                Ok(name) => FileIn { id, path: Some(format!("in/{name}")), error: None },
                // A file can be deleted by its sender. The worker decides whether it can do without it.
                Err(why) if !super::is_passing(&why) => {
                    FileIn { id, path: None, error: Some(why.to_string()) }
                }
                Err(why) => return Err(why.into()),
            });
        }
        Ok(files)
    }

    async fn fetch_plain(&self, client: &Client, id: &FileId) -> Result<String, tandem_client::Error> {
        let info = client.file_info(id).await?;
        let name = self.free_name(info.filename.as_deref(), id);
        let to = self.0.join("in").join(&name);
        client.download(id, &to, DownloadOptions::default(), |_, _| {}).await?;
        Ok(name)
    }

    async fn fetch_sealed(
        &self,
        client: &Client,
        task: &TaskView,
        message: &MessageView,
        id: &FileId,
    ) -> Result<String, tandem_client::Error> {
        let opened = client.download_sealed(task, message).await?;
        let name = self.free_name(Some(&opened.filename), id);
        let to = self.0.join("in").join(&name);
        let failed =
            |cause| tandem_client::Error::File { what: format!("cannot write {}", to.display()), cause };
        fs::write(&to, &opened.bytes).map_err(failed)?;
        Ok(name)
    }

    /// A name that no file has yet.
    fn free_name(&self, given: Option<&str>, id: &FileId) -> String {
        let name = given.and_then(plain_name).unwrap_or_else(|| id.to_string());
        let is_free = self.0.join("in").join(&name).symlink_metadata().is_err();
        if is_free && !is_read_as_instructions(&name) { name } else { format!("{id}-{name}") }
    }

    /// The folder for files to send, unless the worker has put something else in its place: a link could lead anywhere.
    pub(super) fn out(&self) -> Option<PathBuf> {
        let out = self.0.join("out");
        out.symlink_metadata().is_ok_and(|found| found.is_dir()).then_some(out)
    }

    /// The files that the worker has left to be sent, by name, and how many are not sent: too many, too large, or no
    /// regular files. A link could point to anything on this machine.
    pub(super) fn leavings(&self) -> (Vec<PathBuf>, usize) {
        let Some(Ok(entries)) = self.out().map(fs::read_dir) else { return (Vec::new(), 0) };
        let mut all: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        let count = all.len();
        all.retain(|path| is_sendable(path));
        all.sort();
        all.truncate(FILES_OUT_MAX);
        let left_out = count - all.len();
        (all, left_out)
    }
}

/// Whether an AI tool takes a file of this name for instructions of its owner.
fn is_read_as_instructions(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let known = ["claude", "gemini", "agents", "agent", "copilot-instructions"];
    name.starts_with('.')
        || known.iter().any(|stem| name.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.')))
}

fn is_sendable(path: &Path) -> bool {
    let has_name = path.file_name().and_then(|name| name.to_str()).is_some();
    has_name && path.symlink_metadata().is_ok_and(|file| file.is_file() && file.len() <= FILE_BYTES_MAX)
}
