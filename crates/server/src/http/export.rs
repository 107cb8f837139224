//! The export of an agent as one JSON document that is written while it is read.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use serde::Serialize;
use serde_json::Value;
use tandem_api::export::ExportedFile;
use tandem_hub::ops::export::{self, Section};
use tandem_hub::{Caller, Error, Hub};

use crate::http::json;

/// The export as a body that is written while it is read.
pub(crate) async fn stream(hub: &Hub, caller: &Caller) -> Result<Response, Error> {
    let sections = export::start(hub, caller).await?;
    let body = futures_util::stream::unfold(
        (sections, Document::default()),
        |(mut sections, mut document)| async move {
            let piece = document.add(sections.recv().await?);
            Some((Ok::<_, std::convert::Infallible>(Bytes::from(piece)), (sections, document)))
        },
    );
    Ok(document(Body::from_stream(body)))
}

pub(crate) fn document(body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The arrays of the document, in their order.
const ARRAYS: [&str; 7] = ["connections", "tasks", "messages", "files", "decisions", "blocks", "events"];

/// How much of the document has been written.
#[derive(Debug, Default)]
struct Document {
    /// How many arrays have been begun.
    begun: usize,
    /// Whether the last of them has an item.
    has_items: bool,
}

impl Document {
    /// The text of the next section.
    fn add(&mut self, section: Section) -> String {
        match section {
            Section::Agent(profile) => format!("{{\"agent\":{}", json(&profile)),
            Section::Connections(items) => self.items("connections", &items),
            Section::Tasks(items) => self.items("tasks", &items),
            Section::Messages(items) => self.items("messages", &items),
            Section::File(file) => self.items("files", &[file]),
            Section::FileBegins(file) => {
                let begins = self.begin("files");
                format!("{begins}{}{},\"base64Content\":\"", self.comma(), without_content(&file))
            }
            Section::FileBytes(base64) => base64,
            Section::FileEnds { complete } => format!("\",\"contentOmitted\":{}}}", !complete),
            Section::Decisions(items) => self.items("decisions", &items),
            Section::Blocks(items) => self.items("blocks", &items),
            Section::Events(items) => self.items("events", &items),
            Section::Complete => {
                let begins = self.begin("events");
                format!("{begins}],\"__exportComplete\":true}}")
            }
        }
    }

    fn items<T: Serialize>(&mut self, array: &str, items: &[T]) -> String {
        let mut text = self.begin(array);
        for item in items {
            text.push_str(self.comma());
            text.push_str(&json(item));
        }
        text
    }

    /// Ends the arrays before this one and begins it, unless that was done already.
    fn begin(&mut self, array: &str) -> String {
        let mut text = String::new();
        while !ARRAYS[..self.begun].contains(&array) {
            let Some(next) = ARRAYS.get(self.begun) else { break };
            let end = if self.begun == 0 { "" } else { "]" };
            text.push_str(&format!("{end},\"{next}\":["));
            self.begun += 1;
            self.has_items = false;
        }
        text
    }

    fn comma(&mut self) -> &'static str {
        if std::mem::replace(&mut self.has_items, true) { "," } else { "" }
    }
}

/// A file as the beginning of an object, to which its bytes can be added.
fn without_content(file: &ExportedFile) -> String {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(file) else { return "{".to_owned() };
    fields.retain(|name, _| !["base64Content", "contentOmitted"].contains(&name.as_str()));
    let mut text = json(&fields);
    text.pop();
    text
}
