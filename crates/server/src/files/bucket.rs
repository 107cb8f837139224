//! A bucket of an S3-compatible store as the place of files. Whatever is asked of it is answered or given up within
//! a bounded time, and what is told of a failure never holds what the store sent along: that may quote a key.

use std::fmt;
use std::time::Duration;

use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, GetOptions, GetRange, MultipartUpload, ObjectStore as _,
    ObjectStoreExt as _, RetryConfig,
};
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::{Error, Listed, Pieces};
use crate::config::Config;

/// How long the store may take for one step: an answer, a piece of a file, the taking of a part.
const PATIENCE: Duration = Duration::from_secs(20);
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// What fails in passing is tried again, for so long and so often.
const RETRIES: RetryConfig = RetryConfig {
    backoff: BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(1),
        base: 2.,
    },
    max_retries: 2,
    retry_timeout: Duration::from_secs(10),
};
/// How many bytes of a file are sent, and held in memory, at once; the store takes no less than 5 MiB.
const PART: u64 = 8 * 1024 * 1024;
/// How many files are sent at once; further ones wait.
const UPLOADS_MAX: usize = 8;
/// The object that tells whose files these are.
const OWNER: &str = "tandem-hub";

/// A bucket, or what lies in it below a prefix.
pub(super) struct Bucket {
    store: AmazonS3,
    name: String,
    prefix: Path,
    uploads: Semaphore,
}

/// Without the store's own insides: they hold the credentials.
impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.prefix.is_root() { "" } else { "/" };
        write!(f, "s3://{}{slash}{}", self.name, self.prefix)
    }
}

impl Bucket {
    /// The bucket that the settings name; region and credentials come from the environment.
    pub(super) fn of(config: &Config) -> Result<Self, Error> {
        let mut builder = AmazonS3Builder::from_env().with_bucket_name(&config.files_bucket);
        if !config.files_endpoint.is_empty() {
            builder = builder.with_endpoint(config.files_endpoint.trim_end_matches('/'));
        }
        let endpoint = builder.get_config_value(&AmazonS3ConfigKey::Endpoint).unwrap_or_default();
        // A download takes as long as its reader does, so no request has a limit as a whole; each step has.
        let options = ClientOptions::new()
            .with_allow_http(endpoint.starts_with("http://"))
            .with_connect_timeout(CONNECT_PATIENCE)
            .with_timeout_disabled();
        let built = builder.with_client_options(options).with_retry(RETRIES).build();
        let prefix = Path::from(config.files_prefix.as_str());
        let bucket = |store| Self {
            store,
            name: config.files_bucket.clone(),
            prefix,
            uploads: Semaphore::new(UPLOADS_MAX),
        };
        built.map(bucket).map_err(failed)
    }

    fn at(&self, name: &str) -> Path {
        name.split('/').fold(self.prefix.clone(), |path, part| path.join(part))
    }

    /// Makes sure that the bucket can be used and that these files are `owner`'s: those that its database does not
    /// name are removed sooner or later.
    pub(super) async fn claim(&self, owner: &str) -> Result<(), Error> {
        self.is_empty().await?;
        let mark = self.at(OWNER);
        match within(async { self.store.get(&mark).await?.bytes().await }).await {
            Ok(found) if found == owner.as_bytes() => Ok(()),
            Ok(_) => Err(Error::Bucket("there lie the files of another hub".into())),
            Err(Error::Missing) => within(self.store.put(&mark, owner.to_owned().into())).await.map(drop),
            Err(error) => Err(error),
        }
    }

    /// Whether nothing lies in it.
    pub(super) async fn is_empty(&self) -> Result<bool, Error> {
        Ok(within(self.store.list(Some(&self.prefix)).try_next()).await?.is_none())
    }

    /// Everything in it: names, and since when.
    pub(super) fn list(&self) -> Listed {
        let prefix = self.prefix.clone();
        let listed = steps(self.store.list(Some(&self.prefix)));
        let named = listed.map_ok(move |object| {
            let parts = object.location.prefix_match(&prefix).into_iter().flatten();
            let name = parts.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/");
            (name, object.last_modified.into())
        });
        named.boxed()
    }

    /// Reads an object, or a part of it: where it begins, and how long it is.
    pub(super) async fn read(&self, name: &str, part: Option<(u64, u64)>) -> Result<Pieces, Error> {
        let range = part.map(|(from, length)| GetRange::Bounded(from..from + length));
        let options = GetOptions { range, ..GetOptions::default() };
        let found = within(self.store.get_opts(&self.at(name), options)).await?;
        Ok(steps(found.into_stream()).map_err(std::io::Error::other).boxed())
    }

    /// Puts a file of so many bytes into the bucket, where it appears whole or not at all.
    pub(super) async fn put(&self, name: &str, mut from: File, size: u64) -> Result<(), Error> {
        let room = timeout(PATIENCE, self.uploads.acquire()).await;
        let Ok(Ok(_room)) = room else {
            return Err(Error::Bucket("too many files wait for the store".into()));
        };
        let at = self.at(name);
        if size <= PART {
            let bytes = next_part(&mut from, size).await?;
            return within(self.store.put(&at, bytes.into())).await.map(drop);
        }
        let mut upload = within(self.store.put_multipart(&at)).await?;
        let sent = send_parts(upload.as_mut(), &mut from, size).await;
        if sent.is_err() {
            // Parts without an end are seen by nobody; if this fails, they stay until the store removes them.
            let _ = within(upload.abort()).await;
        }
        sent
    }

    /// Removes objects; tells how many of them are gone. One that was not there is.
    pub(super) async fn remove(&self, names: Vec<String>) -> u64 {
        let (mut gone, count) = (0, names.len() as u64);
        let paths: Vec<_> = names.iter().map(|name| Ok(self.at(name))).collect();
        let mut removed = self.store.delete_stream(stream::iter(paths).boxed());
        loop {
            match within(removed.try_next()).await {
                Ok(Some(_)) | Err(Error::Missing) => gone += 1,
                Ok(None) => return gone,
                Err(error) => {
                    tracing::warn!(%error, left = count - gone, "could not remove files; they are swept later");
                    return gone;
                }
            }
        }
    }
}

async fn next_part(from: &mut File, left: u64) -> std::io::Result<Vec<u8>> {
    let mut part = vec![0; usize::try_from(left.min(PART)).unwrap_or_default()];
    from.read_exact(&mut part).await?;
    Ok(part)
}

async fn send_parts(upload: &mut dyn MultipartUpload, from: &mut File, size: u64) -> Result<(), Error> {
    let mut left = size;
    while left > 0 {
        let part = next_part(from, left).await?;
        left -= part.len() as u64;
        within(upload.put_part(part.into())).await?;
    }
    within(upload.complete()).await.map(drop)
}

/// What a store sends, each step in time.
fn steps<T: Send + 'static>(
    sent: BoxStream<'static, object_store::Result<T>>,
) -> BoxStream<'static, Result<T, Error>> {
    let next = |mut sent: BoxStream<'static, object_store::Result<T>>| async move {
        let next = within(sent.try_next()).await?;
        Ok(next.map(|next| (next, sent)))
    };
    stream::try_unfold(sent, next).boxed()
}

async fn within<T>(asked: impl Future<Output = object_store::Result<T>>) -> Result<T, Error> {
    match timeout(PATIENCE, asked).await {
        Ok(answered) => answered.map_err(failed),
        Err(_) => Err(Error::Bucket(format!("the store did not answer within {} s", PATIENCE.as_secs()))),
    }
}

fn failed(error: object_store::Error) -> Error {
    let text = error.to_string();
    let (said, sent) = text.split_once('<').unwrap_or((&text, ""));
    let code = sent.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    match (error, code) {
        (object_store::Error::NotFound { .. }, code) if code.is_none_or(|(code, _)| code == "NoSuchKey") => {
            Error::Missing
        }
        (_, Some((code, _))) => Error::Bucket(format!("{said}{code}")),
        (_, None) => Error::Bucket(said.to_owned()),
    }
}
