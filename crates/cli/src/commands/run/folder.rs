//! The working folder of one run: `in/` with the files of the task, `out/` for files to send back.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tandem_api::actor::Actor;
use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskView;
use tandem_client::{Client, DownloadOptions, Error};
use tandem_core::{AgentId, FileId};
use tandem_disk::{USUAL, write_new};

use super::super::autoloaded_files::is_autoloaded;
use super::super::file::plain_name;
use super::super::task_view::file_of;
use super::out_folder::OUT;
use super::task::new_key;
use crate::exit::Outcome;
use crate::profiles::create_private;

/// Files of a task that are downloaded, and their bytes: a sender must not fill the disk.
const FILES_IN_MAX: usize = 100;
const BYTES_IN_MAX: u64 = 1024 * 1024 * 1024;
/// How the names of folders begin that are about to be removed.
const DISCARDED: &str = ".discarded-";
/// How often the folder of a task is kept. Its sender can let it run any number of times.
const KEPT_MAX: u32 = 100;

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
        discard(&path)?;
        create_private(&path.join("in"))?;
        create_private(&path.join(OUT))?;
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
        let (mut files, mut left) = (Vec::new(), BYTES_IN_MAX);
        for (id, message) in announced.take(FILES_IN_MAX) {
            let fetched = match client.is_encrypted(task)? {
                true => self.fetch_sealed(client, task, message, &id, &mut left).await,
                false => self.fetch_plain(client, &id, &mut left).await,
            };
            files.push(match fetched {
                Ok(name) => FileIn { id, path: Some(format!("in/{name}")), error: None },
                // A file can be deleted by its sender. The worker decides whether it can do without it.
                Err(why) if !why.is_temporary() => FileIn { id, path: None, error: Some(why.to_string()) },
                Err(why) => return Err(why.into()),
            });
        }
        Ok(files)
    }

    async fn fetch_plain(&self, client: &Client, id: &FileId, left: &mut u64) -> Result<String, Error> {
        let info = client.file_info(id).await?;
        take(left, info.size_bytes)?;
        let name = self.free_name(info.filename.as_deref(), id);
        let to = self.0.join("in").join(&name);
        let got = client.download(id, &to, DownloadOptions::default(), |_, _| {}).await?;
        // The hub may send more than it has said before.
        take(left, got.size_bytes.saturating_sub(info.size_bytes))
            .inspect_err(|_| drop(fs::remove_file(&to)))?;
        Ok(name)
    }

    async fn fetch_sealed(
        &self,
        client: &Client,
        task: &TaskView,
        message: &MessageView,
        id: &FileId,
        left: &mut u64,
    ) -> Result<String, Error> {
        let opened = client.download_sealed(task, message).await?;
        take(left, opened.bytes.len() as u64)?;
        let name = self.free_name(Some(&opened.filename), id);
        let to = self.0.join("in").join(&name);
        let failed = |cause| Error::File { what: format!("cannot write {}", to.display()), cause };
        // Never through a link, and in the place of no other file: a sender can name one like the id of another.
        write_new(&to, &opened.bytes, USUAL).map_err(failed)?;
        Ok(name)
    }

    /// A name that no file has yet.
    fn free_name(&self, given: Option<&str>, id: &FileId) -> String {
        let name = given.and_then(plain_name).unwrap_or_else(|| id.to_string());
        let is_free = self.0.join("in").join(&name).symlink_metadata().is_err();
        if is_free && !is_autoloaded(&name) { name } else { format!("{id}-{name}") }
    }
}

/// Takes bytes from what is left for files.
fn take(left: &mut u64, size: u64) -> Result<(), Error> {
    match left.checked_sub(size) {
        Some(less) => {
            *left = less;
            Ok(())
        }
        None => Err(Error::TooLarge { size, max: *left }),
    }
}

/// Removes a folder. It is out of the way at once, whatever a worker has put into it; its content is removed beside the
/// other work, as far as that is possible.
pub(super) fn discard(path: &Path) -> Outcome {
    let aside = path.with_file_name(format!("{DISCARDED}{}", new_key()?));
    match fs::rename(path, &aside) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
        Ok(()) => {
            drop(tokio::task::spawn_blocking(move || remove(&aside)));
            Ok(())
        }
    }
}

/// Gives a folder a name of its own, under which no later run of its task finds it. Returns that; `None` if there is no folder.
pub(super) fn keep(path: &Path) -> std::io::Result<Option<PathBuf>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let places = (1..=KEPT_MAX).map(|number| path.with_file_name(format!("{name}.kept-{number}")));
    let free = places.into_iter().find(|place| place.symlink_metadata().is_err());
    let free = free.ok_or_else(|| std::io::Error::other("it was kept too often"))?;
    match fs::rename(path, &free) {
        Ok(()) => Ok(Some(free)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes what a runner that was killed had no time to remove.
pub(super) fn sweep(base: &Path) {
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    let is_discarded = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(DISCARDED);
    let left: Vec<PathBuf> = entries.filter(is_discarded).map(|entry| entry.path()).collect();
    if !left.is_empty() {
        drop(tokio::task::spawn_blocking(move || left.iter().for_each(|path| remove(path))));
    }
}

fn remove(path: &Path) {
    if !path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        let _ = fs::remove_file(path);
    } else if fs::remove_dir_all(path).is_err() {
        // Package managers leave folders that nobody may write to.
        let _ = std::process::Command::new("chmod").args(["-R", "u+rwx", "--"]).arg(path).output();
        let _ = fs::remove_dir_all(path);
    }
}
