//! Files in an S3-compatible bucket. Every step has a timeout, and error messages never contain the response of the
//! service, which may quote a key.

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

use super::{ByteStream, Error, Listing};
use crate::config::Config;

/// Timeout of one step: a response, a chunk of a download, a part of an upload.
const STEP_TIMEOUT: Duration = Duration::from_secs(20);
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// Retries of temporary errors.
const RETRIES: RetryConfig = RetryConfig {
    backoff: BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(1),
        base: 2.,
    },
    max_retries: 2,
    retry_timeout: Duration::from_secs(10),
};
/// Part size of an upload, held in memory. The service requires at least 5 MiB.
const PART: u64 = 8 * 1024 * 1024;
/// Concurrent uploads; others wait.
const UPLOADS_MAX: usize = 8;
/// The object that names the hub to which the bucket belongs.
const OWNER: &str = "tandem-hub";

/// A bucket, or a prefix in a bucket.
pub(super) struct Bucket {
    store: AmazonS3,
    name: String,
    prefix: Path,
    uploads: Semaphore,
}

/// The store is not printed, because it contains the credentials.
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
    /// The bucket in the settings. Region and credentials come from the environment.
    pub(super) fn of(config: &Config) -> Result<Self, Error> {
        let mut builder = AmazonS3Builder::from_env().with_bucket_name(&config.files_bucket);
        if !config.files_endpoint.is_empty() {
            builder = builder.with_endpoint(config.files_endpoint.trim_end_matches('/'));
        }
        let endpoint = builder.get_config_value(&AmazonS3ConfigKey::Endpoint).unwrap_or_default();
        // Requests have no total timeout, because a download lasts as long as its reader; each step has one.
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

    /// Checks access to the bucket and that it belongs to `owner`. A hub removes files that its database does not
    /// know, so a bucket must not be shared.
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

    /// Whether the bucket is empty.
    pub(super) async fn is_empty(&self) -> Result<bool, Error> {
        Ok(within(self.store.list(Some(&self.prefix)).try_next()).await?.is_none())
    }

    /// Lists all objects: name and modification time.
    pub(super) fn list(&self) -> Listing {
        let prefix = self.prefix.clone();
        let listed = steps(self.store.list(Some(&self.prefix)));
        let named = listed.map_ok(move |object| {
            let parts = object.location.prefix_match(&prefix).into_iter().flatten();
            let name = parts.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/");
            (name, object.last_modified.into())
        });
        named.boxed()
    }

    /// Reads an object or a range of it (offset and length).
    pub(super) async fn read(&self, name: &str, part: Option<(u64, u64)>) -> Result<ByteStream, Error> {
        let range = part.map(|(from, length)| GetRange::Bounded(from..from + length));
        let options = GetOptions { range, ..GetOptions::default() };
        let found = within(self.store.get_opts(&self.at(name), options)).await?;
        Ok(steps(found.into_stream()).map_err(std::io::Error::other).boxed())
    }

    /// Uploads a file. It appears as a whole or not at all.
    pub(super) async fn put(&self, name: &str, mut from: File, size: u64) -> Result<(), Error> {
        let room = timeout(STEP_TIMEOUT, self.uploads.acquire()).await;
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
            // Unfinished parts are invisible; if this fails, the service removes them later.
            let _ = within(upload.abort()).await;
        }
        sent
    }

    /// Removes objects. Returns how many no longer exist, including those that did not exist before.
    pub(super) async fn remove(&self, names: Vec<String>) -> u64 {
        let (mut done, count) = (0, names.len() as u64);
        let paths: Vec<_> = names.iter().map(|name| Ok(self.at(name))).collect();
        let mut removed = self.store.delete_stream(stream::iter(paths).boxed());
        loop {
            match within(removed.try_next()).await {
                Ok(Some(_)) | Err(Error::Missing) => done += 1,
                Ok(None) => return done,
                Err(error) => {
                    tracing::warn!(%error, left = count - done, "could not delete files; the sweep will retry");
                    return done;
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

/// Applies the step timeout to a stream.
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
    match timeout(STEP_TIMEOUT, asked).await {
        Ok(answered) => answered.map_err(failed),
        Err(_) => Err(Error::Bucket(format!("the store did not answer within {} s", STEP_TIMEOUT.as_secs()))),
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
