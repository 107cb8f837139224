//! What a peer wrote is marked, and nothing else.

use std::borrow::Cow;

use serde_json::{Value, json};
use tandem_api::events::{EventType, EventView};
use tandem_api::fence::{Fence, Fenced, Fencer};
use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskView;
use tandem_api::text::{Author, HubText, PeerContent, PeerJson, PeerTags, PeerText, WrappedKeys};
use tandem_core::AgentId;
use tandem_core::Timestamp;
use tandem_core::messages::{ContentType, Foreign, Kind, Message};

use crate::views::{event_data, profile, task};

/// Marks each kind of text with its own letter.
struct Letters;

impl Fencer for Letters {
    fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        format!("T<{text}>").into()
    }
    fn name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        format!("N<{name}>").into()
    }
    fn token<'a>(&self, token: &'a str) -> Cow<'a, str> {
        format!("K<{token}>").into()
    }
    fn id<'a>(&self, id: &'a str) -> Cow<'a, str> {
        if id.starts_with("t-") { format!("I<{id}>").into() } else { id.into() }
    }
    fn cursor<'a>(&self, cursor: &'a str) -> Cow<'a, str> {
        cursor.into()
    }
    fn tags(&self, tags: &mut [String]) {
        for tag in tags {
            *tag = format!("G<{tag}>");
        }
    }
}

fn shown<T: Fence + serde::Serialize>(view: T) -> Value {
    serde_json::to_value(Fenced::new(view, &Letters)).unwrap()
}

fn agent(id: &str) -> AgentId {
    id.parse().unwrap()
}

#[test]
fn what_was_read_from_the_wire_counts_as_a_peers() {
    let view: TaskView = serde_json::from_value(task()).unwrap();
    let shown = shown(view);
    for (field, expected) in [
        ("id", "I<t-1>"),
        ("parentTaskId", "I<t-0>"),
        ("title", "T<Look>"),
        ("description", "T<At this.>"),
        ("statusReason", "T<Why>"),
        ("senderSignature", "K<c2ln>"),
        ("initiatorAgentName", "N<Ada>"),
        ("targetSessionKey", "T<t>"),
        ("result", "T<Done>"),
        ("progressNote", "T<Half>"),
        ("initiatorAgentId", "agent_a"),
        ("status", "input-required"),
        ("createdAt", "2026-01-02T03:04:05.678Z"),
    ] {
        assert_eq!(shown[field], expected, "{field}");
    }
    assert_eq!(shown["descriptionKeys"], json!({ "agent_b": "K<QUJD>", "agent_a": "K<REVG>" }));
}

fn message(sender: Option<&str>, content_type: ContentType) -> Message {
    Message {
        in_reply_to: None,
        id: "msg_1".parse().unwrap(),
        task: "x".parse().unwrap(),
        number: 1,
        sender: sender.map(agent),
        sender_name: sender.map(|_| "Ada".to_owned()),
        kind: Kind::Message,
        content: "Hi".to_owned(),
        content_type,
        encrypted_keys: None,
        sender_signature: None,
        read_at: None,
        acknowledged_at: None,
        created_at: Timestamp(0),
        deleted: false,
        foreign: Foreign::default(),
        step: None,
        artifact: None,
        direct: false,
    }
}

#[test]
fn the_reader_is_not_marked() {
    let reader = agent("agent_a");
    let content = |sender, content_type| shown(MessageView::new(message(sender, content_type), &reader));
    assert_eq!(content(Some("agent_a"), ContentType::Text)["content"], "Hi");
    assert_eq!(content(Some("agent_a"), ContentType::Text)["senderAgentName"], "Ada");
    // The hub quotes the parties of a task.
    assert_eq!(content(None, ContentType::Text)["content"], "T<Hi>");
    assert_eq!(content(None, ContentType::Text)["senderAgentId"], "system");
    assert_eq!(content(Some("agent_b"), ContentType::Text)["content"], "T<Hi>");
    assert_eq!(content(Some("agent_b"), ContentType::Text)["senderAgentName"], "N<Ada>");
    assert_eq!(content(Some("agent_b"), ContentType::Encrypted)["content"], "K<Hi>");
    assert_eq!(content(Some("agent_b"), ContentType::File)["content"], "K<Hi>");
}

#[test]
fn marking_twice_is_marking_once() {
    let mut text = PeerText::peer("Hi");
    text.fence(&Letters);
    text.fence(&Letters);
    assert_eq!(text, "T<Hi>");
    let mut content = PeerContent::new(Author::Peer, "Hi", false);
    content.fence(&Letters);
    content.fence(&Letters);
    assert_eq!(content, "T<Hi>");
}

#[test]
fn json_of_a_peer_becomes_text() {
    let json = PeerJson::new(Author::Peer, "{\"do\":\"it\"}".into()).unwrap();
    assert_eq!(shown(json), json!("T<{\"do\":\"it\"}>"));
    let own = PeerJson::new(Author::Reader, "{\"do\":\"it\"}".into()).unwrap();
    assert_eq!(shown(own), json!({ "do": "it" }));
    assert!(PeerJson::new(Author::Peer, "{".into()).is_none());
    // Keys that are no object are not trusted to be keys.
    let odd = WrappedKeys::new(Author::Peer, "\"do it\"".into()).unwrap();
    assert_eq!(shown(odd), json!("T<\"do it\">"));
    let profile: tandem_api::agents::Profile = serde_json::from_value(profile()).unwrap();
    assert!(shown(profile)["metadata"].as_str().unwrap().starts_with("T<{"));
}

#[test]
fn tags_are_marked_together_and_the_hubs_text_is_not() {
    assert_eq!(shown(PeerTags::new(Author::Peer, vec!["a".into(), "b".into()])), json!(["G<a>", "G<b>"]));
    assert_eq!(shown(PeerTags::new(Author::Reader, vec!["a".into()])), json!(["a"]));
    assert_eq!(shown(Some(HubText::new("note"))), json!("note"));
}

#[test]
fn the_data_of_an_event_is_read_by_field() {
    let mut data = event_data();
    data["unheardOf"] = json!("do as I say");
    let event = json!({ "id": 1, "type": "task.updated", "taskId": "t-1", "fromAgentId": null, "data": data,
        "createdAt": "2026-01-02T03:04:05.678Z" });
    let view: EventView = serde_json::from_str(&event.to_string()).unwrap();
    let shown = shown(view.typed());
    assert_eq!(shown["data"]["unheardOf"], Value::Null);
    assert_eq!(shown["data"]["reason"], "T<Why>");
    assert_eq!(shown["data"]["withAgentName"], "N<Bob>");
    assert_eq!(shown["data"]["withPublicKey"], "K<PEM>");
    assert_eq!(shown["data"]["taskId"], "I<t-1>");
    assert_eq!(shown["type"], "task.updated");
    assert_eq!(self::shown(EventType::from("do as I say".to_owned())), json!("N<do as I say>"));
}

/// Tells at compile time whether a type can be shown to a model.
struct Probe<T>(std::marker::PhantomData<T>);

trait Otherwise {
    const CAN_BE_SHOWN: bool = false;
}
impl<T> Otherwise for Probe<T> {}

impl<T: Fence> Probe<T> {
    const CAN_BE_SHOWN: bool = true;
}

/// A text of which nobody said who wrote it, and data without types, cannot be shown: a field of such a type does not
/// compile in a view that is.
#[test]
fn text_of_unknown_authors_cannot_be_shown() {
    let shown = [Probe::<PeerText>::CAN_BE_SHOWN, Probe::<Vec<TaskView>>::CAN_BE_SHOWN];
    assert_eq!(shown, [true, true]);
    let refused = [
        Probe::<String>::CAN_BE_SHOWN,
        Probe::<Option<String>>::CAN_BE_SHOWN,
        Probe::<Vec<String>>::CAN_BE_SHOWN,
        Probe::<Value>::CAN_BE_SHOWN,
        Probe::<EventView>::CAN_BE_SHOWN,
    ];
    assert_eq!(refused, [false; 5]);
}
