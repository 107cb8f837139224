//! Refuses connections before a request is read: without a slot or memory for it, the hub does not wait for one.

use std::io::Write as _;
use std::time::Duration;

use axum::http::StatusCode;
use tandem_hub::Error;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::http::{json, request_id};

/// How long a refused client may take to read the response.
const LINGER: Duration = Duration::from_secs(1);

/// A whole response, for a connection that is closed after it.
pub(crate) fn response(error: &Error) -> String {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    let retry = error.retry_after_seconds.unwrap_or(1);
    let (id, body) = (request_id::new(), json(&error.body));
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nretry-after: {retry}\r\n\
         api-version: v1\r\nx-request-id: {id}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Refuses a connection and closes it.
pub(crate) async fn refuse(mut stream: TcpStream, error: Error) {
    let refusing = async {
        stream.write_all(response(&error).as_bytes()).await?;
        stream.shutdown().await?;
        // Closing a connection with unread bytes resets it, and the client might not see the response.
        let mut unread = [0; 1024];
        while stream.read(&mut unread).await? > 0 {}
        Ok::<_, std::io::Error>(())
    };
    let _ = tokio::time::timeout(LINGER, refusing).await;
}

/// Refuses a connection without waiting for the client, which may miss the response.
pub(crate) fn refuse_now(stream: TcpStream, error: &Error) {
    if let Ok(mut stream) = stream.into_std() {
        let _ = stream.write_all(response(error).as_bytes());
    }
}
