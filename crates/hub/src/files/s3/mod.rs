//! A client for the few requests of the S3 API that files need. Temporary failures are retried. Errors quote nothing of
//! an answer but its error code, because the rest may contain a key.

mod connections;
mod download;
mod failure;
mod settings;
mod signature;
#[cfg(test)]
mod tests;
mod xml;

use std::collections::BTreeMap;
use std::env;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, ETAG, USER_AGENT};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::Error;
use crate::clock::Clock;
use connections::{Connections, innermost};
use download::Download;
pub(super) use failure::Failure;
use failure::Retries;
use signature::{Credentials, Signed};
pub(super) use xml::Page;

/// Bytes of an answer that is held in memory: a listing has 1,000 keys of 1,024 bytes, with entities.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of an answer that is an error.
const ERROR_BYTES_MAX: usize = 64 * 1024;
/// What is percent-encoded in a value.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// What is percent-encoded in a key.
const ENCODED_IN_KEY: &AsciiSet = &ENCODED.remove(b'/');

/// One bucket.
pub(super) struct S3 {
    connections: Connections,
    credentials: Credentials,
    /// The path of the bucket.
    root: String,
}

/// A request, before it is signed.
struct Call<'a> {
    method: Method,
    /// Empty for the bucket itself.
    key: &'a str,
    /// In the order of the names.
    query: &'a [(&'a str, &'a str)],
    /// The range of bytes that is asked for, as a header.
    range: Option<String>,
    body: Bytes,
}

impl<'a> Call<'a> {
    fn new(method: Method, key: &'a str, query: &'a [(&'a str, &'a str)]) -> Self {
        Self { method, key, query, range: None, body: Bytes::new() }
    }

    fn with_body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }
}

struct Answer {
    headers: HeaderMap,
    text: String,
}

impl S3 {
    /// The bucket with this name. `endpoint` is empty for that of the environment.
    pub(super) fn of(bucket: &str, endpoint: &str) -> Result<Self, Error> {
        let (endpoint, credentials) = settings::read(endpoint, |name| env::var(name).ok())?;
        let root = format!("{}/{bucket}", endpoint.path);
        Ok(Self { connections: Connections::to(endpoint), credentials, root })
    }

    /// Lists the objects whose key starts with this prefix, from where the page before ended.
    pub(super) async fn list(&self, prefix: &str, from: Option<&str>) -> Result<Page, Failure> {
        let mut query = vec![("list-type", "2"), ("prefix", prefix)];
        if let Some(from) = from {
            query.insert(0, ("continuation-token", from));
        }
        let call = Call::new(Method::GET, "", &query);
        let answer = self.ask(&call).await?;
        // A page that leads to itself would never end.
        let page = xml::page(&answer.text).filter(|page| page.next.is_none() || page.next.as_deref() != from);
        page.ok_or_else(|| self.unexpected(&call, "was not answered with a listing"))
    }

    /// Reads an object or a range of it (offset and length).
    pub(super) async fn get(
        self: &Arc<Self>,
        key: &str,
        part: Option<(u64, u64)>,
    ) -> Result<Download, Failure> {
        Download::start(Arc::clone(self), key, part).await
    }

    /// Writes an object.
    pub(super) async fn put(&self, key: &str, bytes: impl Into<Bytes>) -> Result<(), Failure> {
        self.ask(&Call::new(Method::PUT, key, &[]).with_body(bytes)).await.map(drop)
    }

    pub(super) async fn delete(&self, key: &str) -> Result<(), Failure> {
        self.ask(&Call::new(Method::DELETE, key, &[])).await.map(drop)
    }

    /// Starts an upload in parts and returns its id.
    pub(super) async fn start_upload(&self, key: &str) -> Result<String, Failure> {
        let call = Call::new(Method::POST, key, &[("uploads", "")]);
        let id = xml::text_of(&self.ask(&call).await?.text, "UploadId");
        id.ok_or_else(|| self.unexpected(&call, "was not answered with an id"))
    }

    /// Uploads a part and returns its tag. The first part has number 1.
    pub(super) async fn put_part(
        &self,
        key: &str,
        upload: &str,
        number: usize,
        bytes: impl Into<Bytes>,
    ) -> Result<String, Failure> {
        let number = number.to_string();
        let query = [("partNumber", number.as_str()), ("uploadId", upload)];
        let call = Call::new(Method::PUT, key, &query).with_body(bytes);
        let answer = self.ask(&call).await?;
        let tag = answer.headers.get(ETAG).and_then(|tag| tag.to_str().ok()).map(ToOwned::to_owned);
        tag.ok_or_else(|| self.unexpected(&call, "was not answered with a tag"))
    }

    /// Makes an object of this size of the parts with these tags.
    pub(super) async fn complete_upload(
        self: &Arc<Self>,
        key: &str,
        upload: &str,
        tags: &[String],
        size: u64,
    ) -> Result<(), Failure> {
        let query = [("uploadId", upload)];
        let call = Call::new(Method::POST, key, &query).with_body(xml::parts(tags));
        match self.ask(&call).await {
            Ok(answer) if answer.text.contains("<CompleteMultipartUploadResult") => Ok(()),
            Ok(_) => Err(self.unexpected(&call, "was not answered with an object")),
            // The upload is over if the answer to an earlier attempt was lost. Then the object has its last byte.
            Err(failure) if failure.has_code("NoSuchUpload") => {
                let last = self.get(key, Some((size.saturating_sub(1), 1))).await;
                last.map(drop).map_err(|_| failure)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Discards the parts of an upload.
    pub(super) async fn abort_upload(&self, key: &str, upload: &str) -> Result<(), Failure> {
        self.ask(&Call::new(Method::DELETE, key, &[("uploadId", upload)])).await.map(drop)
    }

    /// Sends a request and reads the answer.
    async fn ask(&self, call: &Call<'_>) -> Result<Answer, Failure> {
        let mut retries = Retries::default();
        loop {
            let (head, body) = self.send(call, &mut retries).await?.into_parts();
            let failure = match self.read(call, body, ANSWER_BYTES_MAX).await {
                // The service sends the status of a long request before it knows whether it succeeds.
                Ok(text) if text.contains("<Error>") => {
                    Failure::refused(self.name_of(call), head.status, &text)
                }
                Ok(text) => return Ok(Answer { headers: head.headers, text }),
                Err(lost) => lost,
            };
            if !failure.is_temporary() || !retries.wait().await {
                return Err(failure);
            }
        }
    }

    /// Sends a request until it succeeds, or fails for good. The body of the answer is left to read.
    async fn send(&self, call: &Call<'_>, retries: &mut Retries) -> Result<Response<Incoming>, Failure> {
        let request = self.request(call)?;
        loop {
            let failure = match self.connections.send(request.clone()).await {
                Ok(response) if response.status().is_success() => return Ok(response),
                Ok(response) => {
                    let status = response.status();
                    match self.read(call, response.into_body(), ERROR_BYTES_MAX).await {
                        Ok(text) if call.key.is_empty() => {
                            Failure::refused(self.name_of(call), status, &text)
                        }
                        Ok(text) => Failure::refused(self.name_of(call), status, &text).of_object(),
                        Err(lost) => lost,
                    }
                }
                Err(cause) => Failure::Lost { request: self.name_of(call), cause },
            };
            if !failure.is_temporary() || !retries.wait().await {
                return Err(failure);
            }
        }
    }

    async fn read(&self, call: &Call<'_>, body: Incoming, bytes_max: usize) -> Result<String, Failure> {
        match Limited::new(body, bytes_max).collect().await {
            Ok(read) => Ok(String::from_utf8_lossy(&read.to_bytes()).into_owned()),
            Err(error) => {
                Err(Failure::Lost { request: self.name_of(call), cause: innermost(error.as_ref()) })
            }
        }
    }

    /// Signs a request.
    fn request(&self, call: &Call<'_>) -> Result<Request<Full<Bytes>>, Failure> {
        let path = self.path_of(call.key);
        let query = query_of(call.query);
        let mut headers = BTreeMap::from([("host", self.connections.endpoint.authority.clone())]);
        headers.extend(call.range.clone().map(|range| ("range", range)));
        // The service compares with its own clock, so this is the real time.
        let now = jiff::Timestamp::from_millisecond(Clock::System.now().0).unwrap_or_default();
        let signed = Signed { method: call.method.as_str(), path: &path, query: &query, headers };
        let headers = self.credentials.sign(signed, &call.body, now);
        let target = if query.is_empty() { path } else { format!("{path}?{query}") };
        let mut request = Request::builder()
            .method(call.method.clone())
            .uri(target)
            .header(USER_AGENT, concat!("Tandem/", env!("CARGO_PKG_VERSION")));
        if [Method::PUT, Method::POST].contains(&call.method) {
            request = request.header(CONTENT_LENGTH, call.body.len());
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        // The cause is left out: it is a credential that cannot be a header.
        request
            .body(Full::from(call.body.clone()))
            .map_err(|_| self.unexpected(call, "cannot be sent with these credentials"))
    }

    fn path_of(&self, key: &str) -> String {
        match key {
            "" => self.root.clone(),
            _ => format!("{}/{}", self.root, utf8_percent_encode(key, ENCODED_IN_KEY)),
        }
    }

    fn name_of(&self, call: &Call<'_>) -> String {
        let scheme = if self.connections.endpoint.tls { "https" } else { "http" };
        let authority = &self.connections.endpoint.authority;
        format!("{} {scheme}://{authority}{}", call.method, self.path_of(call.key))
    }

    fn unexpected(&self, call: &Call<'_>, what: &str) -> Failure {
        Failure::Unexpected(format!("{} {what}", self.name_of(call)))
    }
}

/// A query as it is sent and signed.
fn query_of(pairs: &[(&str, &str)]) -> String {
    let pair = |(name, value): &(&str, &str)| {
        format!("{}={}", utf8_percent_encode(name, ENCODED), utf8_percent_encode(value, ENCODED))
    };
    pairs.iter().map(pair).collect::<Vec<_>>().join("&")
}
