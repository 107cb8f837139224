//! Files in an S3-compatible bucket. Every step has a timeout, and error messages never contain the response of the
//! service, which may quote a key.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::s3::{Failure, S3};
use super::{ByteStream, Error, Listing};
use crate::config::Config;

/// Timeout of one step: a response, a chunk of a download, a part of an upload.
const STEP_TIMEOUT: Duration = Duration::from_secs(20);
/// Part size of an upload, held in memory. The service requires at least 5 MiB.
pub(super) const PART: u64 = 8 * 1024 * 1024;
/// Concurrent uploads; others wait.
const UPLOADS_MAX: usize = 8;
/// Concurrent deletions of one removal.
const DELETIONS_MAX: usize = 8;
/// The object that names the hub to which the bucket belongs.
const OWNER: &str = "tandem-hub";

/// A bucket, or a prefix in a bucket.
pub(super) struct Bucket {
    s3: Arc<S3>,
    name: String,
    /// Empty, or with a slash at its end.
    prefix: String,
    uploads: Semaphore,
}

/// The client is not printed, because it contains the credentials.
impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", format!("s3://{}/{}", self.name, self.prefix).trim_end_matches('/'))
    }
}

impl Bucket {
    /// The bucket in the settings. Region and credentials come from the environment.
    pub(super) fn of(config: &Config) -> Result<Self, Error> {
        let s3 = S3::of(&config.files_bucket, &config.files_endpoint)?;
        Ok(Self::new(s3, &config.files_bucket, &config.files_prefix))
    }

    pub(super) fn new(s3: S3, name: &str, prefix: &str) -> Self {
        let slash = if prefix.is_empty() { "" } else { "/" };
        Self {
            s3: Arc::new(s3),
            name: name.to_owned(),
            prefix: format!("{prefix}{slash}"),
            uploads: Semaphore::new(UPLOADS_MAX),
        }
    }

    fn key(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Checks access to the bucket and that it belongs to `owner`. A hub removes files that its database does not
    /// know, so a bucket must not be shared.
    pub(super) async fn claim(&self, owner: &str) -> Result<(), Error> {
        self.is_empty().await?;
        let key = self.key(OWNER);
        let mut mark = match within(self.s3.get(&key, None)).await {
            Err(Error::Missing) => return within(self.s3.put(&key, owner.to_owned())).await,
            found => found?,
        };
        let mut found = Vec::new();
        // An object that is longer is not the mark of this hub.
        while found.len() <= owner.len()
            && let Some(bytes) = within(mark.next()).await?
        {
            found.extend_from_slice(&bytes);
        }
        if found != owner.as_bytes() {
            return Err(Error::Bucket("there lie the files of another hub".into()));
        }
        Ok(())
    }

    pub(super) async fn is_empty(&self) -> Result<bool, Error> {
        Ok(self.list().try_next().await?.is_none())
    }

    /// Lists all objects: name and modification time.
    pub(super) fn list(&self) -> Listing {
        let (s3, prefix) = (Arc::clone(&self.s3), self.prefix.clone());
        // The state is where the next page starts, if there is one; the first starts nowhere.
        let pages = stream::try_unfold(Some(None::<String>), move |from| {
            let (s3, prefix) = (Arc::clone(&s3), prefix.clone());
            async move {
                let Some(from) = from else { return Ok(None) };
                let page = within(s3.list(&prefix, from.as_deref())).await?;
                let named = page
                    .objects
                    .into_iter()
                    .filter_map(move |(key, since)| Some(Ok((key.strip_prefix(&prefix)?.to_owned(), since))));
                Ok::<_, Error>(Some((stream::iter(named), page.next.map(Some))))
            }
        });
        pages.try_flatten().boxed()
    }

    /// Reads an object or a range of it (offset and length).
    pub(super) async fn read(&self, name: &str, part: Option<(u64, u64)>) -> Result<ByteStream, Error> {
        let download = within(self.s3.get(&self.key(name), part)).await?;
        let chunks = stream::try_unfold(download, |mut download| async move {
            let chunk = within(download.next()).await.map_err(std::io::Error::other)?;
            Ok(chunk.map(|chunk| (chunk, download)))
        });
        Ok(chunks.boxed())
    }

    /// Uploads a file. It appears as a whole or not at all.
    pub(super) async fn put(&self, name: &str, mut from: File, size: u64) -> Result<(), Error> {
        let room = timeout(STEP_TIMEOUT, self.uploads.acquire()).await;
        let Ok(Ok(_room)) = room else {
            return Err(Error::Bucket("too many files wait for the store".into()));
        };
        let key = self.key(name);
        if size <= PART {
            let bytes = next_part(&mut from, size).await?;
            return within(self.s3.put(&key, bytes)).await;
        }
        let upload = within(self.s3.start_upload(&key)).await?;
        let sent = self.send_parts(&key, &upload, &mut from, size).await;
        if sent.is_err() {
            // Unfinished parts are invisible. If this fails, they stay until a lifecycle rule of the bucket removes them.
            let _ = within(self.s3.abort_upload(&key, &upload)).await;
        }
        sent
    }

    async fn send_parts(&self, key: &str, upload: &str, from: &mut File, size: u64) -> Result<(), Error> {
        let (mut left, mut tags) = (size, Vec::new());
        while left > 0 {
            let part = next_part(from, left).await?;
            left -= part.len() as u64;
            tags.push(within(self.s3.put_part(key, upload, tags.len() + 1, part)).await?);
        }
        within(self.s3.complete_upload(key, upload, &tags, size)).await
    }

    /// Removes objects. Returns how many no longer exist, including those that did not exist before.
    pub(super) async fn remove(&self, names: Vec<String>) -> u64 {
        let (mut done, count) = (0, names.len() as u64);
        let delete = |name: String| async move { within(self.s3.delete(&self.key(&name))).await };
        let mut removed = stream::iter(names.into_iter().map(delete)).buffer_unordered(DELETIONS_MAX);
        while let Some(result) = removed.next().await {
            match result {
                Ok(()) | Err(Error::Missing) => done += 1,
                Err(error) => {
                    tracing::warn!(%error, left = count - done, "could not delete files; the sweep will retry");
                    return done;
                }
            }
        }
        done
    }
}

async fn next_part(from: &mut File, left: u64) -> std::io::Result<Vec<u8>> {
    let mut part = vec![0; usize::try_from(left.min(PART)).unwrap_or_default()];
    from.read_exact(&mut part).await?;
    Ok(part)
}

async fn within<T>(asked: impl Future<Output = Result<T, Failure>>) -> Result<T, Error> {
    match timeout(STEP_TIMEOUT, asked).await {
        Ok(answered) => answered.map_err(Into::into),
        Err(_) => Err(Error::Bucket(format!("the store did not answer within {} s", STEP_TIMEOUT.as_secs()))),
    }
}
