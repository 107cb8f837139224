//! Compresses what is read over a network: pages, the files that they load, and long JSON.
//!
//! A page carries a token that no other site may learn, next to text that others choose, so its compressed length says
//! something about both. The cookies of the dashboard are never sent with a request from another site, so nobody else can
//! ask for such pages and measure them.

use std::io::Write as _;
use std::sync::OnceLock;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;

/// Less fits into one packet.
const BYTES_MIN: u64 = 1_400;
/// More would hold up others of the same thread for more than a few milliseconds.
const BYTES_MAX: u64 = 512 * 1024;
const KINDS: [&str; 2] = ["text/html", "application/json"];

/// A text that stays the same while the hub runs. It is compressed once.
#[derive(Debug)]
pub(crate) struct Constant {
    kind: &'static str,
    text: &'static str,
    gzip: OnceLock<Bytes>,
}

impl Constant {
    pub(crate) const fn new(kind: &'static str, text: &'static str) -> Self {
        Self { kind, text, gzip: OnceLock::new() }
    }

    pub(crate) const fn text(&self) -> &'static str {
        self.text
    }

    /// The text for a client that has sent these headers.
    pub(crate) fn response(&self, headers: &HeaderMap) -> Response {
        let mut response = if is_accepted(headers) {
            let gzip = self.gzip.get_or_init(|| gzip(self.text.as_bytes(), Compression::best()).into());
            marked(gzip.clone().into_response())
        } else {
            self.text.into_response()
        };
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        response
    }
}

/// Compresses the body of a response if it is worth it. A refusal may still get another body, and stays as it is.
pub(crate) async fn compress(response: Response) -> Response {
    if !response.status().is_success() {
        return response;
    }
    let length = response.body().size_hint().exact();
    if !length.is_some_and(|length| (BYTES_MIN..=BYTES_MAX).contains(&length)) || !is_text(response.headers())
    {
        return response;
    }
    let (parts, body) = response.into_parts();
    // The body is in memory, so nothing is waited for.
    let Ok(body) = body.collect().await else { return Response::from_parts(parts, Body::empty()) };
    let packed = gzip(&body.to_bytes(), Compression::fast());
    let mut response = marked(Response::from_parts(parts, Body::from(packed)));
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

/// Whether a client takes compressed answers.
pub(crate) fn is_accepted(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    accepted.flat_map(|line| line.split(',')).any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, ""));
        let is_refused = weight.trim().strip_prefix("q=").is_some_and(|q| q.trim().parse() == Ok(0.0));
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

fn is_text(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    !headers.contains_key(header::CONTENT_ENCODING) && KINDS.iter().any(|text| kind.starts_with(text))
}

fn marked(mut response: Response) -> Response {
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response
}

fn gzip(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::with_capacity(bytes.len() / 3), level);
    #[expect(clippy::expect_used, reason = "writing into a vector does not fail")]
    packed.write_all(bytes).and_then(|()| packed.finish()).expect("a vector takes everything")
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use axum::http::StatusCode;
    use flate2::read::GzDecoder;
    use futures_util::FutureExt as _;

    use super::*;

    fn sent(value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(value))])
    }

    #[test]
    fn only_clients_that_name_gzip_get_it() {
        for yes in ["gzip", "br, GZIP;q=0.5", "deflate,gzip", "gzip;q=1"] {
            assert!(is_accepted(&sent(yes)), "{yes}");
        }
        for no in ["", "br", "gzip;q=0", "gzip; q=0.0", "x-gzip", "identity"] {
            assert!(!is_accepted(&sent(no)), "{no}");
        }
        assert!(!is_accepted(&HeaderMap::new()));
    }

    #[test]
    fn what_is_packed_is_the_same_text() {
        static LONG: Constant = Constant::new("text/css", include_str!("../../static/app/app.css"));
        let body = |headers: &HeaderMap| {
            let response = LONG.response(headers);
            let body = response.into_body().collect().now_or_never().unwrap().unwrap();
            body.to_bytes()
        };
        let (plain, packed) = (body(&HeaderMap::new()), body(&sent("gzip")));
        let mut unpacked = String::new();
        GzDecoder::new(&*packed).read_to_string(&mut unpacked).unwrap();
        assert!(unpacked.as_bytes() == plain && plain == LONG.text().as_bytes());
        assert!(packed.len() * 3 < plain.len(), "{} of {} bytes", packed.len(), plain.len());
    }

    #[tokio::test]
    async fn short_long_streamed_and_binary_bodies_stay_as_they_are() {
        let json = |length: u64| {
            let body = "x".repeat(usize::try_from(length).unwrap());
            ([(header::CONTENT_TYPE, "application/json")], body).into_response()
        };
        let is_packed =
            async |response| compress(response).await.headers().contains_key(header::CONTENT_ENCODING);
        assert!(is_packed(json(BYTES_MIN)).await && is_packed(json(BYTES_MAX)).await);
        assert!(!is_packed(json(BYTES_MIN - 1)).await && !is_packed(json(BYTES_MAX + 1)).await);
        let refused = (StatusCode::BAD_REQUEST, json(BYTES_MAX)).into_response();
        assert!(!is_packed(refused).await);
        let binary = ([(header::CONTENT_TYPE, "application/octet-stream")], "x".repeat(9_000));
        assert!(!is_packed(binary.into_response()).await);
        let stream =
            Body::from_stream(futures_util::stream::iter([Ok::<_, std::io::Error>("x".repeat(9_000))]));
        assert!(!is_packed(([(header::CONTENT_TYPE, "text/html")], stream).into_response()).await);
    }
}
