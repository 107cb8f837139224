//! Envelopes: the JSON inside, exactly as the contract specifies it.

use tandem_seal::{
    ContentType, Description, Envelope, Error, File, Message, from_stored, open, seal, to_stored,
};

use crate::cast::{Cast, TASK};

fn message(content_type: ContentType, body: &str) -> Message {
    Message { content_type, body: body.to_owned() }
}

#[test]
fn the_json_inside_is_the_contracts() {
    let description = Description { title: "A".into(), description: "B \"c\"".into() };
    assert_eq!(serde_json::to_string(&description).unwrap(), r#"{"title":"A","description":"B \"c\""}"#);
    let text = message(ContentType::Text, "hi");
    assert_eq!(serde_json::to_string(&text).unwrap(), r#"{"contentType":"text","body":"hi"}"#);
    let json = message(ContentType::Json, "[1]");
    assert_eq!(serde_json::to_string(&json).unwrap(), r#"{"contentType":"json","body":"[1]"}"#);
    let file = File { filename: "a.bin".into(), mime_type: "image/png".into(), data: vec![0, 255] };
    let expected = r#"{"filename":"a.bin","mimeType":"image/png","data":"AP8="}"#;
    assert_eq!(serde_json::to_string(&file).unwrap(), expected);
}

#[test]
fn each_is_sealed_and_opened_and_is_not_taken_for_another() {
    let cast = Cast::new();
    let ana = cast.ana.public();
    let bob = ("agent_bob", &cast.bob);
    let description = Description { title: "Ü".into(), description: String::new() };
    let sealed = description.seal(TASK, &cast.ana, cast.pair()).unwrap();
    assert_eq!(Description::open(TASK, &sealed, bob, ana).unwrap(), description);
    assert!(matches!(Message::open(TASK, &sealed, bob, ana), Err(Error::Envelope("message"))));
    assert!(matches!(File::open(TASK, &sealed, bob, ana), Err(Error::Envelope("file"))));

    let said = message(ContentType::Json, "{}");
    let sealed = said.seal(TASK, &cast.ana, cast.pair()).unwrap();
    assert_eq!(Message::open(TASK, &sealed, bob, ana).unwrap(), said);
    assert!(matches!(Description::open(TASK, &sealed, bob, ana), Err(Error::Envelope("description"))));
    assert!(matches!(Message::open("task_2", &sealed, bob, ana), Err(Error::Signature(_))));
}

#[test]
fn a_file_goes_through_the_hub_as_bytes() {
    let cast = Cast::new();
    let file = File { filename: "../a b".into(), mime_type: "x/y".into(), data: (0..=255).collect() };
    let mut sealed = file.seal(TASK, &cast.bob, cast.pair()).unwrap();
    let stored = to_stored(&sealed.content).unwrap();
    sealed.content = from_stored(&stored);
    let opened = File::open(TASK, &sealed, ("agent_ana", &cast.ana), cast.bob.public()).unwrap();
    assert_eq!(opened, file);
}

#[test]
fn what_does_not_fit_an_envelope_is_refused() {
    let cast = Cast::new();
    let ana = cast.ana.public();
    let bob = ("agent_bob", &cast.bob);
    let seal = |json: &str| seal(TASK, &cast.ana, cast.pair(), json.as_bytes()).unwrap();
    for json in ["x", "{}", r#"{"contentType":"html","body":""}"#, r#"{"contentType":"text","body":1}"#] {
        assert!(matches!(Message::open(TASK, &seal(json), bob, ana), Err(Error::Envelope(_))), "{json}");
    }
    for data in ["AP8", "AP8=\\n", "A-8="] {
        let json = format!(r#"{{"filename":"a","mimeType":"b","data":"{data}"}}"#);
        assert!(matches!(File::open(TASK, &seal(&json), bob, ana), Err(Error::Envelope(_))), "{data}");
    }
    let more = seal(r#"{"contentType":"text","body":"hi","more":1}"#);
    assert_eq!(Message::open(TASK, &more, bob, ana).unwrap(), message(ContentType::Text, "hi"));
    assert!(open(TASK, &seal("x"), bob, ana).is_ok());
}
