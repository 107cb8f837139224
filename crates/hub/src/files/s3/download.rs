//! An object that is being read. A lost connection is replaced by one for the rest of the bytes.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG};
use http::{HeaderMap, HeaderName, Method, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use super::{Call, Failure, Retries, S3, innermost};

/// An object or a range of it.
pub(in crate::files) struct Download {
    s3: Arc<S3>,
    key: String,
    body: Incoming,
    /// Names the version of the object. Without one, the rest could be that of another version.
    tag: Option<String>,
    /// The bytes that are still to come, if their number is known.
    left: Option<Range<u64>>,
    retries: Retries,
}

impl Download {
    pub(super) async fn start(s3: Arc<S3>, key: &str, part: Option<(u64, u64)>) -> Result<Self, Failure> {
        let mut retries = Retries::default();
        let asked = part.map(|(from, length)| from..from + length);
        let response = open(&s3, key, asked.as_ref(), &mut retries).await?;
        let size = || text(response.headers(), CONTENT_LENGTH)?.parse().ok();
        let left = asked.or_else(|| Some(0..size()?));
        let tag = text(response.headers(), ETAG).map(ToOwned::to_owned);
        Ok(Self { s3, key: key.to_owned(), tag, left, body: response.into_body(), retries })
    }

    /// The next bytes; `None` at the end.
    pub(in crate::files) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        loop {
            let cause = match self.body.frame().await {
                Some(Ok(frame)) => {
                    let Ok(bytes) = frame.into_data() else { continue };
                    self.retries = Retries::default();
                    if let Some(left) = &mut self.left {
                        left.start += bytes.len() as u64;
                        if left.start > left.end {
                            let call = Call::new(Method::GET, &self.key, &[]);
                            return Err(self.s3.unexpected(&call, "was answered with too many bytes"));
                        }
                    }
                    return Ok(Some(bytes));
                }
                Some(Err(error)) => innermost(&error),
                None if self.left.as_ref().is_none_or(Range::is_empty) => return Ok(None),
                None => "the answer ended too early".to_owned(),
            };
            self.resume(cause).await?;
        }
    }

    /// Asks for the rest of the bytes after a failure.
    async fn resume(&mut self, cause: String) -> Result<(), Failure> {
        let call = Call::new(Method::GET, &self.key, &[]);
        let lost = Failure::Lost { request: self.s3.name_of(&call), cause };
        let (Some(left), Some(tag)) = (&self.left, &self.tag) else { return Err(lost) };
        if left.is_empty() || !self.retries.wait().await {
            return Err(lost);
        }
        let response = open(&self.s3, &self.key, Some(left), &mut self.retries).await?;
        if text(response.headers(), ETAG) != Some(tag) {
            return Err(lost);
        }
        self.body = response.into_body();
        Ok(())
    }
}

async fn open(
    s3: &S3,
    key: &str,
    range: Option<&Range<u64>>,
    retries: &mut Retries,
) -> Result<Response<Incoming>, Failure> {
    let mut call = Call::new(Method::GET, key, &[]);
    call.range = range.map(|bytes| format!("bytes={}-{}", bytes.start, bytes.end.saturating_sub(1)));
    let response = s3.send(&call, retries).await?;
    if let Some(bytes) = range {
        let sent = format!("bytes {}-{}/", bytes.start, bytes.end.saturating_sub(1));
        let found = text(response.headers(), CONTENT_RANGE).is_some_and(|found| found.starts_with(&sent));
        if response.status() != StatusCode::PARTIAL_CONTENT || !found {
            return Err(s3.unexpected(&call, "was not answered with the range that was asked for"));
        }
    } else if response.status() == StatusCode::PARTIAL_CONTENT {
        return Err(s3.unexpected(&call, "was answered with a part of the object"));
    }
    Ok(response)
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}
