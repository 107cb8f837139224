//! The client against a server that answers as it is told.

use std::sync::{Arc, Mutex};

use futures_util::TryStreamExt as _;
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::connections::Connections;
use super::settings::Endpoint;
use super::signature::Credentials;
use super::*;
use crate::files::bucket::{Bucket, PART};

const SECRET: &str = "a-secret-that-nobody-may-see";
const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\netag: \"1\"\r\n\r\n";
/// The server reads the request and closes the connection.
const CLOSE: &str = "";

/// The heads of the requests so far, in lower case.
type Heads = Arc<Mutex<Vec<String>>>;

fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn error(status: &str, code: &str) -> String {
    answer(status, &format!("<Error><Code>{code}</Code><Message>quoted-key {SECRET}</Message></Error>"))
}

/// A client of a server that accepts these connections, and none after them. Each gives its answers and is closed.
async fn client(connections: &[&[&str]]) -> (Arc<S3>, Heads) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    let owned = |answers: &&[&str]| answers.iter().map(ToString::to_string).collect::<Vec<_>>();
    let script: Vec<_> = connections.iter().map(owned).collect();
    let heads = Heads::default();
    let seen = Arc::clone(&heads);
    tokio::spawn(async move {
        for answers in script {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(serve(stream, answers, Arc::clone(&seen)));
        }
    });
    let (key_id, region) = ("quoted-key".to_owned(), "us-east-1".to_owned());
    let credentials = Credentials { key_id, secret: SECRET.into(), token: Some(SECRET.into()), region };
    let s3 = S3 { connections: Connections::to(endpoint), credentials, root: "/files".into() };
    (Arc::new(s3), heads)
}

async fn bucket(connections: &[&[&str]]) -> (Bucket, Heads) {
    let (s3, heads) = client(connections).await;
    (Bucket::new(Arc::into_inner(s3).unwrap(), "files", "hubs/one"), heads)
}

async fn serve(stream: TcpStream, answers: Vec<String>, heads: Heads) {
    let mut stream = BufReader::new(stream);
    for answer in answers {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let Ok(byte) = stream.read_u8().await else { return };
            head.push(byte);
        }
        let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        stream.read_exact(&mut body).await.unwrap();
        heads.lock().unwrap().push(head);
        let _ = stream.write_all(answer.as_bytes()).await;
    }
}

fn requests(heads: &Heads) -> usize {
    heads.lock().unwrap().len()
}

async fn read(mut download: Download) -> Result<String, Failure> {
    let mut all = Vec::new();
    while let Some(bytes) = download.next().await? {
        all.extend_from_slice(&bytes);
    }
    Ok(String::from_utf8(all).unwrap())
}

#[tokio::test]
async fn a_kept_connection_that_was_closed_is_replaced() {
    let (s3, heads) = client(&[&[OK, CLOSE], &[OK, OK]]).await;
    for _ in 0..3 {
        s3.put("a", "bytes").await.unwrap();
    }
    assert_eq!(requests(&heads), 4);
}

#[tokio::test]
async fn a_lost_connection_does_not_end_the_download_on_another() {
    let object = "0123456789".repeat(1_000_000);
    let (s3, _) = client(&[&[&answer("200 OK", &object)], &[CLOSE], &[OK]]).await;
    let download = s3.get("a", None).await.unwrap();
    s3.put("b", "").await.unwrap();
    assert!(read(download).await.unwrap() == object);
}

#[tokio::test]
async fn temporary_failures_are_retried_twice() {
    let (slow, failed) = (error("503 Slow Down", "SlowDown"), error("500 Internal Server Error", "x"));
    let broken = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf";
    let (s3, heads) = client(&[&[&slow, &failed, OK, broken], &[&slow, &slow]]).await;
    s3.put("a", "bytes").await.unwrap();
    assert!(s3.delete("a").await.unwrap_err().to_string().ends_with("503 Service Unavailable, SlowDown"));
    assert_eq!(requests(&heads), 6);
}

#[tokio::test]
async fn a_refusal_is_final_and_says_only_its_code() {
    let (s3, heads) = client(&[&[&error("403 Forbidden", "AccessDenied"), &error("400 No", SECRET)]]).await;
    let refused = s3.put("a", "bytes").await.unwrap_err();
    assert!(refused.to_string().ends_with("403 Forbidden, AccessDenied"), "{refused}");
    let odd = s3.put("a", "bytes").await.unwrap_err();
    let text = format!("{refused} {refused:?} {odd} {odd:?}");
    assert!(!text.contains(SECRET) && !text.contains("quoted-key"), "{text}");
    assert_eq!(requests(&heads), 2);
}

#[tokio::test]
async fn a_missing_object_is_not_a_missing_bucket() {
    let (key, no_bucket) = (error("404 Not Found", "NoSuchKey"), error("404 Not Found", "NoSuchBucket"));
    let no_service = answer("404 Not Found", "");
    let (bucket, _) = bucket(&[&[&key, &key, &no_bucket, &no_service]]).await;
    assert!(matches!(bucket.read("a", None).await, Err(Error::Missing)));
    assert_eq!(bucket.remove(vec!["a".into()]).await, 1);
    for _ in 0..2 {
        assert!(matches!(bucket.read("a", None).await, Err(Error::Bucket(_))));
    }
    assert_eq!(format!("{bucket:?}"), "s3://files/hubs/one");
}

#[tokio::test]
async fn an_upload_that_fails_at_its_end_is_aborted() {
    let started = answer("200 OK", "<R><UploadId>7&amp;8</UploadId></R>");
    let late = error("200 OK", "InvalidPart");
    let (bucket, heads) = bucket(&[&[&started, OK, OK, &late, OK]]).await;
    let zeros = File::open("/dev/zero").await.unwrap();
    let failed = bucket.put("a", zeros, PART + 1).await.unwrap_err().to_string();
    assert!(failed.ends_with("200 OK, InvalidPart"), "{failed}");
    let heads = heads.lock().unwrap();
    let lines: Vec<_> = heads.iter().map(|head| head.split(" http/").next().unwrap()).collect();
    assert_eq!((lines.len(), lines[0]), (5, "post /files/hubs/one/a?uploads="));
    assert_eq!(lines[2], "put /files/hubs/one/a?partnumber=2&uploadid=7%268");
    assert_eq!(lines[4], "delete /files/hubs/one/a?uploadid=7%268");
}

#[tokio::test]
async fn a_late_temporary_error_is_retried() {
    let done = answer("200 OK", "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>");
    let (s3, _) = client(&[&[&error("200 OK", "InternalError"), &done, OK]]).await;
    s3.complete_upload("a", "7", &["\"1\"".into()], 1).await.unwrap();
    s3.complete_upload("a", "7", &["\"1\"".into()], 1).await.unwrap_err();
}

#[tokio::test]
async fn an_upload_whose_end_was_not_heard_of_has_succeeded() {
    let over = error("404 Not Found", "NoSuchUpload");
    let last = answer("206 Partial Content\r\ncontent-range: bytes 9-9/10", "9");
    let (s3, heads) = client(&[&[CLOSE], &[&over, &last, &over, &error("404 Not Found", "NoSuchKey")]]).await;
    s3.complete_upload("a", "7", &["\"1\"".into()], 10).await.unwrap();
    assert!(heads.lock().unwrap()[2].contains("range: bytes=9-9\r\n"));
    let gone = s3.complete_upload("a", "7", &["\"1\"".into()], 10).await.unwrap_err();
    assert!(gone.has_code("NoSuchUpload"), "{gone}");
}

#[tokio::test]
async fn a_broken_download_continues_with_the_same_version() {
    let half = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\netag: \"1\"\r\n\r\n01234";
    let rest = answer("206 Partial Content\r\ncontent-range: bytes 5-9/10\r\netag: \"1\"", "56789");
    let (s3, heads) = client(&[&[half], &[&rest]]).await;
    assert_eq!(read(s3.get("a", None).await.unwrap()).await.unwrap(), "0123456789");
    assert!(heads.lock().unwrap()[1].contains("range: bytes=5-9\r\n"));
    let (s3, _) = client(&[&[half], &[&rest.replace("\"1\"", "\"2\"")]]).await;
    read(s3.get("a", None).await.unwrap()).await.unwrap_err();
}

#[tokio::test]
async fn only_the_range_that_was_asked_for_is_taken() {
    let part =
        |range: &str, body: &str| answer(&format!("206 Part\r\ncontent-range: bytes {range}/10"), body);
    for wrong in [answer("200 OK", "0123456789"), part("1-3", "123"), part("2-3", "23")] {
        let (s3, _) = client(&[&[&wrong]]).await;
        assert!(s3.get("a", Some((2, 3))).await.is_err(), "{wrong}");
    }
    let (s3, _) = client(&[&[&part("0-3", "0123")]]).await;
    assert!(s3.get("a", None).await.is_err(), "a part is not the whole");
    let (s3, _) = client(&[&[&part("2-4", "234"), &part("2-4", "2345")]]).await;
    assert_eq!(read(s3.get("a", Some((2, 3))).await.unwrap()).await.unwrap(), "234");
    read(s3.get("a", Some((2, 3))).await.unwrap()).await.unwrap_err();
}

#[tokio::test]
async fn a_listing_continues_until_its_last_page() {
    let page = |name: &str, next: &str| {
        let body = format!(
            "<ListBucketResult><IsTruncated>{}</IsTruncated><NextContinuationToken>{next}</NextContinuationToken>\
             <Contents><Key>hubs/one/{name}</Key><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>\
             </ListBucketResult>",
            !next.is_empty()
        );
        answer("200 OK", &body)
    };
    let (first, last) = (page("a", "x+y"), page("b", ""));
    let (bucket, heads) = bucket(&[&[&first, &last, &first, &first]]).await;
    let names: Vec<_> = bucket.list().map_ok(|(name, _)| name).try_collect().await.unwrap();
    assert_eq!(names, ["a", "b"]);
    let query = "continuation-token=x%2by&list-type=2&prefix=hubs%2fone%2f";
    assert!(heads.lock().unwrap()[1].contains(query));
    bucket.list().map_ok(drop).try_collect::<Vec<()>>().await.unwrap_err();
}
