//! The dashboard without a browser: a person who signs in, reads pages and sends forms.

mod browser;
mod figures;
mod fragments;
mod net;
mod net_more;
mod sessions;
mod talk;
mod work;

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::harness::{Agent, Client, Harness, PATIENCE, Reply};

/// Somebody with a browser in which one agent or more are signed in.
#[derive(Debug, Clone)]
pub struct Person {
    client: Client,
    cookie: String,
    /// The path of the first agent's pages.
    pub base: String,
}

impl Person {
    /// Signs in with an agent's key.
    pub async fn sign_in(hub: &Harness, agent: &Agent) -> Self {
        let mut person = Self::sign_in_with(hub, &agent.key).await;
        person.base = format!("/app/{}", agent.id);
        person
    }

    /// Signs in with an agent's key or the operator's token.
    pub async fn sign_in_with(hub: &Harness, key: &str) -> Self {
        let reply = Self::stranger(hub).post("/app/sign-in", &[("key", key)]).await;
        assert_eq!(reply.status, 303, "{}", text(&reply));
        Self::with_cookie_of(hub, &reply)
    }

    /// Somebody who is not signed in.
    pub fn stranger(hub: &Harness) -> Self {
        Self { client: hub.client.clone(), cookie: String::new(), base: "/app/admin".into() }
    }

    /// Somebody whose browser got this answer.
    #[track_caller]
    pub fn with_cookie_of(hub: &Harness, reply: &Reply) -> Self {
        let cookie = reply.header("set-cookie").expect("a session").split(';').next().unwrap().to_owned();
        Self { cookie, ..Self::stranger(hub) }
    }

    /// Signs another agent in, in the same browser.
    pub async fn also(&self, hub: &Harness, agent: &Agent) -> Self {
        let reply = self.post("/app/sign-in", &[("key", &agent.key)]).await;
        assert_eq!(reply.status, 303, "{}", text(&reply));
        Self { base: self.base.clone(), ..Self::with_cookie_of(hub, &reply) }
    }

    /// Opens a stream.
    pub async fn open(&self, path: &str) -> Stream {
        let mut stream = TcpStream::connect(self.client.address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\ncookie: {}\r\n\r\n", self.cookie);
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut opened = Stream(BufReader::new(stream));
        assert!(opened.until("\r\n\r\n").await.starts_with("HTTP/1.1 200"));
        opened
    }

    /// Sends a form without its last byte.
    pub async fn begin(&self, path: &str, fields: &[(&str, &str)]) -> Begun {
        let pair = |(name, value): &(&str, &str)| format!("{}={}", encoded(name), encoded(value));
        let mut body = fields.iter().map(pair).collect::<Vec<_>>().join("&");
        let mut stream = TcpStream::connect(self.client.address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ncookie: {}\r\nconnection: close\r\ncontent-length: {}\r\n\
             content-type: application/x-www-form-urlencoded\r\n\r\n",
            self.cookie,
            body.len()
        );
        let last = body.pop().unwrap();
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        Begun { stream, last }
    }

    pub async fn get(&self, path: &str) -> Reply {
        let mut request = Request::get(path).header("host", self.client.address.to_string());
        if !self.cookie.is_empty() {
            request = request.header("cookie", &self.cookie);
        }
        self.client.raw(request.body(Full::default()).unwrap()).await
    }

    /// Asks for what has changed of a page, as its script does. `path` is below the agent's.
    pub async fn refresh(&self, path: &str, known: &str) -> Reply {
        let request = Request::get(format!("{}{path}", self.base))
            .header("host", self.client.address.to_string())
            .header("cookie", &self.cookie)
            .header("x-live", known);
        self.client.raw(request.body(Full::default()).unwrap()).await
    }

    /// Reads a page of the agent. `path` is below the agent's; it is "" for Home.
    #[track_caller]
    pub fn page(&self, path: &str) -> impl Future<Output = String> {
        let path = format!("{}{path}", self.base);
        async move {
            let reply = self.get(&path).await;
            assert_eq!(reply.status, 200, "{path}: {}", text(&reply));
            assert!(reply.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
            text(&reply)
        }
    }

    /// Sends a form with the hidden fields of the page that it is on. Both paths are below the agent's.
    pub async fn submit(&self, page: &str, action: &str, fields: &[(&str, &str)]) -> Reply {
        let html = self.page(page).await;
        let (csrf, once) = (hidden(&html, "csrf"), hidden(&html, "once"));
        let mut all = vec![("csrf", &*csrf)];
        all.extend(Some(("once", &*once)).filter(|once| !once.1.is_empty()));
        all.extend(fields);
        self.post(&format!("{}{action}", self.base), &all).await
    }

    /// Sends fields as a form.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let pair = |(name, value): &(&str, &str)| format!("{}={}", encoded(name), encoded(value));
        let body = fields.iter().map(pair).collect::<Vec<_>>().join("&");
        let mut request = Request::post(path).header("host", self.client.address.to_string());
        request = request.header("content-type", "application/x-www-form-urlencoded");
        if !self.cookie.is_empty() {
            request = request.header("cookie", &self.cookie);
        }
        self.client.raw(request.body(Full::new(Bytes::from(body))).unwrap()).await
    }
}

/// A form of which the last byte is missing.
pub struct Begun {
    stream: TcpStream,
    last: char,
}

impl Begun {
    /// Sends it and reads the answer.
    pub async fn finish(mut self) -> String {
        self.stream.write_all(self.last.to_string().as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        tokio::time::timeout(PATIENCE, self.stream.read_to_end(&mut answer)).await.unwrap().unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// An open stream of events.
pub struct Stream(BufReader<TcpStream>);

impl Stream {
    /// What arrives until a text is there.
    pub async fn until(&mut self, wanted: &str) -> String {
        let mut all = String::new();
        while !all.contains(wanted) {
            let read = tokio::time::timeout(PATIENCE, self.0.read_line(&mut all)).await;
            assert!(read.expect("it comes in time").unwrap() > 0, "no {wanted:?} in {all}");
        }
        all
    }
}

/// A text as a value in a form or a query.
pub fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// The body of an answer as one line: how a template is broken into lines is nobody's business.
pub fn text(reply: &Reply) -> String {
    let body = String::from_utf8_lossy(&reply.bytes);
    body.lines().map(str::trim).fold(String::new(), |all, line| {
        let is_in_text = !all.is_empty() && !all.ends_with('>') && !line.starts_with('<');
        all + if is_in_text { " " } else { "" } + line
    })
}

/// The value of the first hidden field with this name; empty if there is none.
pub fn hidden(html: &str, name: &str) -> String {
    let start = format!("<input type=\"hidden\" name=\"{name}\" value=\"");
    let value = html.split(&start).nth(1).and_then(|rest| rest.split('"').next());
    value.unwrap_or_default().to_owned()
}

/// What stands between two texts.
#[track_caller]
pub fn between<'a>(html: &'a str, start: &str, end: &str) -> &'a str {
    let rest = html.split_once(start).unwrap_or_else(|| panic!("no {start} in {html}")).1;
    rest.split_once(end).unwrap_or_else(|| panic!("no {end} after {start}")).0
}

/// What people read: the page without its tags.
pub fn words(html: &str) -> String {
    let mut text = String::new();
    for part in html.split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, after)| after));
        text.push(' ');
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
