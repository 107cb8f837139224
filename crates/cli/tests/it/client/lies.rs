//! A hub that lies: lists without an end, a log that does not advance, a file that is longer than it says.

use std::time::Duration;

use rstest::rstest;
use serde_json::json;
use tandem_api::tasks::PageQuery;
use tandem_client::{DownloadOptions, Error, Followed, Notice, Transport};

use super::server::{Answer, Server, json_answer};
use super::stream::next;
use crate::backup::Shelf;
use crate::command::Cli;
use crate::harness::{Db, Harness, PATIENCE, eventually};

/// An empty page that leads to another one.
fn page(cursor: &str) -> Answer {
    let link = format!("link: </connections?cursor={cursor}>; rel=\"next\"\r\n");
    json_answer("200 OK", &link, json!([]))
}

async fn same_cursor() -> Server {
    Server::answering(|_, _| page("again")).await
}

async fn new_cursors() -> Server {
    Server::answering(|number, _| page(&number.to_string())).await
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cursor_that_does_not_advance_is_an_error() {
    let server = same_cursor().await;
    let mut query = PageQuery::default();
    query.cursor = server.client().connections(&query).await.unwrap().next;
    let error = server.client().connections(&query).await.unwrap_err();
    assert!(matches!(error, Error::EndlessList), "{error}");
    let error = server.client().presented_key(&"bob".parse().unwrap()).await.unwrap_err();
    assert!(matches!(error, Error::EndlessList) && server.count() == 4, "{error}");
    let cli = Cli::at(&format!("http://{}", server.address));
    for command in
        [&["connections", "--all"][..], &["agents"], &["send", "bob", "Hello"], &["blocks", "--all"]]
    {
        let mut command = cli.command(command);
        let ran = tokio::time::timeout(PATIENCE, command.env("TANDEM_KEY", "tdm_x").output()).await;
        let ran = ran.unwrap_or_else(|_| panic!("{command:?} does not end")).unwrap();
        let said = String::from_utf8(ran.stderr).unwrap();
        assert!(ran.status.code() == Some(1) && said.contains("without an end"), "{command:?}: {said}");
    }
}

/// Two pages that lead to each other are read once each, and not until the number of pages is too large.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_that_lead_to_each_other_are_noticed() {
    let server = Server::answering(|number, _| page(["left", "right"][number % 2])).await;
    let error = server.client().presented_key(&"bob".parse().unwrap()).await.unwrap_err();
    assert!(matches!(error, Error::EndlessList) && server.count() == 3, "{error}: {}", server.count());
}

/// The key of another agent is looked for in all connections and in all members of all networks.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_without_an_end_is_given_up() {
    let server = new_cursors().await;
    let error = server.client().presented_key(&"bob".parse().unwrap()).await.unwrap_err();
    assert!(matches!(error, Error::EndlessList), "{error}");
    let server = Server::answering(|number, head| match head {
        head if head.contains("/members") => page(&number.to_string()),
        head if head.starts_with("get /networks") => {
            let network = json!({
                "id": "net_1", "name": "n", "description": null, "ownerAgentId": "ada", "ownerAgentName": "Ada",
                "role": "member", "memberCount": 1, "createdAt": "2030-01-01T00:00:00.000Z",
            });
            json_answer("200 OK", "", json!([network]))
        }
        _ => json_answer("200 OK", "", json!([])),
    })
    .await;
    let error = server.client().presented_key(&"bob".parse().unwrap()).await.unwrap_err();
    assert!(matches!(error, Error::EndlessList), "{error}");
    // The list of a command.
    let server = new_cursors().await;
    let cli = Cli::at(&format!("http://{}", server.address));
    let mut command = cli.command(&["blocks", "--all"]);
    let ran = tokio::time::timeout(PATIENCE * 3, command.env("TANDEM_KEY", "tdm_x").output()).await;
    let said = String::from_utf8(ran.unwrap().unwrap().stderr).unwrap();
    assert!(said.contains("without an end"), "{said}");
}

/// A beginning that is unique among the newest tasks may not be unique.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_beginning_of_an_id_is_not_enough_among_too_many_tasks() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.get(&format!("/tasks/{}", ada.task(&bob).await)).await.ok(200);
    let id = task["id"].as_str().unwrap().to_owned();
    let pages_of = async |pages: usize| {
        let task = task.clone();
        Server::answering(move |_, head| {
            if !head.starts_with("get /tasks?") {
                return json_answer("404 Not Found", "", json!({ "error": "no", "code": "not_found" }));
            }
            let cursor = head.split("cursor=").nth(1).unwrap_or("1");
            let digits: String = cursor.chars().take_while(char::is_ascii_digit).collect();
            let number: usize = digits.parse().unwrap();
            let mut items = vec![task.clone(); 500];
            let copies = items.iter_mut().enumerate().skip(usize::from(number == 1));
            copies.for_each(|(at, item)| item["id"] = json!(format!("other-{number}-{at}")));
            let link = match number < pages {
                true => format!("link: </tasks?cursor={}>; rel=\"next\"\r\n", number + 1),
                false => String::new(),
            };
            json_answer("200 OK", &link, json!(items))
        })
        .await
    };
    let show = async |server: &Server, word: &str| {
        let cli = Cli::at(&format!("http://{}", server.address));
        let ran = cli.command(&["task", "show", word]).env("TANDEM_KEY", "tdm_x").output().await.unwrap();
        (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
    };
    let (few, many) = (pages_of(3).await, pages_of(usize::MAX).await);
    let begun = &id[..id.len() - 1];
    let (code, said) = show(&few, "none").await;
    assert!(code == Some(3) && said.contains("there is no task \"none\""), "{said}");
    // It is found, and is asked for by its whole id.
    let (code, said) = show(&few, begun).await;
    assert!(code == Some(3) && !said.contains("there is no task"), "{said}");
    for word in ["none", begun] {
        let (code, said) = show(&many, word).await;
        assert!(code == Some(2) && said.contains("Give the whole id"), "{word}: {said}");
    }
    assert_eq!(many.count(), 2 * (1 + 10), "5,000 tasks are looked at");
}

/// After every connection the stream compares the log with what it remembers.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_does_not_advance_is_no_log() {
    let log = |events: &[i64], cursor: i64, has_more: bool| {
        let view = |id: &i64| {
            json!({ "id": id, "type": "task.updated", "taskId": null, "fromAgentId": null,
                "data": { "type": "task.updated" }, "createdAt": "2030-01-01T00:00:00.000Z" })
        };
        let events: Vec<_> = events.iter().map(view).collect();
        json_answer("200 OK", "", json!({ "events": events, "cursor": cursor, "hasMore": has_more }))
    };
    let server = Server::answering(move |number, _| match number {
        0 => log(&[], 5, false),
        _ => log(&[5], 5, true),
    })
    .await;
    let mut stream = server.client().follow(Some(5)).only(Transport::LongPoll);
    let cause = loop {
        match next(&mut stream).await {
            Followed::Notice(Notice::Lost { cause, .. }) => break cause,
            Followed::Notice(Notice::Connected { .. }) => {}
            other => panic!("{other:?}"),
        }
    };
    assert!(cause.contains("does not advance"), "{cause}");
}

/// A hub that answers at once instead of waiting for events.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_does_not_wait_is_not_asked_without_a_pause() {
    let server = Server::answering(|_, _| {
        json_answer("200 OK", "", json!({ "events": [], "cursor": 5, "hasMore": false }))
    })
    .await;
    let mut stream = server.client().follow(Some(5)).only(Transport::LongPoll);
    let reading = tokio::spawn(async move { while stream.next().await.is_ok() {} });
    eventually(async || (server.count() >= 2).then_some(())).await;
    let before = server.count();
    assert!(tokio::time::timeout(Duration::from_secs(1), reading).await.is_err(), "the stream goes on");
    let asked = server.count() - before;
    assert!(asked < 10, "{asked} requests in a second");
}

#[rstest]
#[case::longer("0-9/10", 100_000, "more than the 10 bytes")]
#[case::another_part("5-9/10", 5, "another part")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_not_what_it_says_is_not_kept(
    #[case] range: &str,
    #[case] bytes: usize,
    #[case] why: &str,
) {
    let head =
        format!("HTTP/1.1 206 Partial\r\ncontent-range: bytes {range}\r\ncontent-length: {bytes}\r\n\r\n");
    let server = Server::start(&[Answer::Send(head + &"x".repeat(bytes))]).await;
    let (client, folder) = (server.client().with_patience(Duration::from_secs(1)), Shelf::new());
    let (file, to) = ("file_1".parse().unwrap(), folder.file("a"));
    let error = client.download(&file, &to, DownloadOptions::default(), |_, _| {}).await.unwrap_err();
    assert!(matches!(&error, Error::NotAHub { detail, .. } if detail.contains(why)), "{error}");
    assert_eq!((server.count(), folder.file("").read_dir().unwrap().count()), (1, 0));
    let error = client.download_bytes(&file, 1_000_000).await.unwrap_err();
    assert!(matches!(&error, Error::NotAHub { .. }), "{error}");
}

/// Otherwise a download that is interrupted again and again could write any number of bytes.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_does_not_grow_while_it_is_downloaded() {
    let begun = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345";
    let grown = "HTTP/1.1 206 Partial\r\ncontent-range: bytes 5-9/20\r\ncontent-length: 5\r\n\r\n67890";
    let server = Server::start(&[Answer::Cut(begun.into()), Answer::Send(grown.into())]).await;
    let (client, folder) = (server.client(), Shelf::new());
    let (file, to) = ("file_1".parse().unwrap(), folder.file("a"));
    let download = client.download(&file, &to, DownloadOptions::default(), |_, _| {});
    let error = tokio::time::timeout(PATIENCE, download).await.unwrap().unwrap_err();
    assert!(matches!(&error, Error::NotAHub { detail, .. } if detail.contains("size")), "{error}");
    assert_eq!(folder.file("").read_dir().unwrap().count(), 0);
}
