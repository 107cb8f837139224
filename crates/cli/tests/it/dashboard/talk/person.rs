//! A person at a browser: signed in for an agent, with the forms of pages.

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;

use crate::dashboard::text;
use crate::harness::{Agent, Client, Harness, Reply};

/// Somebody who is signed in.
#[derive(Debug, Clone)]
pub struct Person {
    pub(super) client: Client,
    pub cookie: String,
    pub agent: String,
}

/// A page as text.
#[derive(Debug)]
pub struct Seen {
    pub status: u16,
    pub html: String,
    pub reply: Reply,
}

impl Seen {
    fn of(reply: Reply) -> Self {
        Self { status: reply.status, html: text(&reply), reply }
    }

    #[track_caller]
    pub fn has(&self, part: &str) -> &Self {
        assert!(self.html.contains(part), "no {part} in {}", self.html);
        self
    }

    #[track_caller]
    pub fn lacks(&self, part: &str) -> &Self {
        assert!(!self.html.contains(part), "{part} in {}", self.html);
        self
    }

    /// The value that forms of this page carry.
    #[track_caller]
    pub fn csrf(&self) -> String {
        self.hidden("csrf")
    }

    /// The value of a hidden field.
    #[track_caller]
    pub fn hidden(&self, name: &str) -> String {
        let mark = format!("name=\"{name}\" value=\"");
        let rest =
            self.html.split(&mark).nth(1).unwrap_or_else(|| panic!("no field {name} in {}", self.html));
        rest.split('"').next().unwrap().to_owned()
    }

    /// The address of a form's action, if the page has such a form.
    pub fn has_form(&self, action: &str) -> bool {
        self.html.contains(&format!("action=\"{action}\""))
    }
}

/// Fields as a browser sends them.
fn encoded(fields: &[(&str, &str)]) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    let text = |text: &str| text.bytes().map(byte).collect::<String>();
    fields.iter().map(|(name, value)| format!("{}={}", text(name), text(value))).collect::<Vec<_>>().join("&")
}

impl Person {
    pub async fn sign_in(hub: &Harness, agent: &Agent) -> Self {
        let body = encoded(&[("key", &agent.key)]);
        let request =
            Request::post("/app/sign-in").header("content-type", "application/x-www-form-urlencoded");
        let request = request.header("host", hub.client.address.to_string());
        let reply = hub.client.raw(request.body(Full::from(body)).unwrap()).await;
        assert_eq!(reply.status, 303, "{reply:?}");
        let cookie = reply.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        Self { client: hub.client.clone(), cookie, agent: agent.id.clone() }
    }

    /// The path of a page of the agent.
    pub fn path(&self, rest: &str) -> String {
        format!("/app/{}{rest}", self.agent)
    }

    pub async fn get(&self, rest: &str) -> Seen {
        let request = Request::get(self.path(rest)).header("cookie", &self.cookie);
        Seen::of(self.client.raw(request.body(Full::default()).unwrap()).await)
    }

    /// Sends bytes to a page.
    pub async fn send(&self, rest: &str, content_type: &str, body: impl Into<Bytes>) -> Seen {
        let request = Request::post(self.path(rest)).header("cookie", &self.cookie);
        let request = request.header("content-type", content_type).body(Full::new(body.into())).unwrap();
        Seen::of(self.client.raw(request).await)
    }

    /// Sends a form as it is.
    pub async fn post_raw(&self, rest: &str, fields: &[(&str, &str)]) -> Seen {
        self.send(rest, "application/x-www-form-urlencoded", encoded(fields)).await
    }

    /// Sends a form of a page.
    pub async fn post(&self, rest: &str, fields: &[(&str, &str)]) -> Seen {
        let csrf = self.get("/approvals").await.csrf();
        let mut all = vec![("csrf", csrf.as_str())];
        all.extend_from_slice(fields);
        self.post_raw(rest, &all).await
    }

    /// Sends a form that must succeed; gives the page that follows.
    #[track_caller]
    pub fn done(&self, seen: &Seen, word: &str) {
        assert_eq!(seen.status, 303, "{}", seen.html);
        let location = seen.reply.header("location").unwrap();
        assert!(location.contains(&format!("?done={word}")), "{location}");
    }
}
