//! Content sealed by another implementation: valid content opens, and each invalid one is refused for its reason.

use tandem_seal::{Description, Envelope as _, Error, File, Message, Sealed, check_sealed, open, verify};

use crate::cast::{Cast, TASK, vectors};

#[test]
fn what_python_sealed_opens_for_both() {
    let cast = Cast::new();
    let made = vectors("sealed");
    assert_eq!(made["taskId"], TASK);
    let mut count = 0;
    for vector in made["opened"].as_array().unwrap() {
        let sealed: Sealed = serde_json::from_value(vector["sealed"].clone()).unwrap();
        let sender = if vector["sender"] == "ana" { cast.ana.public() } else { cast.bob.public() };
        let plaintext = vector["plaintext"].as_str().unwrap();
        check_sealed(&sealed.content, &sealed.keys, ["agent_ana", "agent_bob"], [512, 256]).unwrap();
        assert!(verify(sender, TASK, &sealed.content, &sealed.signature));
        for me in [("agent_ana", &cast.ana), ("agent_bob", &cast.bob)] {
            assert_eq!(open(TASK, &sealed, me, sender).unwrap(), plaintext.as_bytes());
            let again = match vector["kind"].as_str().unwrap() {
                "description" => {
                    serde_json::to_string(&Description::open(TASK, &sealed, me, sender).unwrap())
                }
                "message" => serde_json::to_string(&Message::open(TASK, &sealed, me, sender).unwrap()),
                "file" => serde_json::to_string(&File::open(TASK, &sealed, me, sender).unwrap()),
                _ => Ok(plaintext.to_owned()),
            };
            assert_eq!(again.unwrap(), plaintext, "the same JSON, to the byte");
        }
        count += 1;
    }
    assert_eq!(count, 5);
}

#[test]
fn what_python_sealed_wrongly_is_refused() {
    let cast = Cast::new();
    let made = vectors("sealed");
    let refused = made["refused"].as_array().unwrap();
    assert_eq!(refused.len(), 15);
    for vector in refused {
        let sealed: Sealed = serde_json::from_value(vector["sealed"].clone()).unwrap();
        for me in [("agent_ana", &cast.ana), ("agent_bob", &cast.bob)] {
            let why = open(TASK, &sealed, me, cast.ana.public()).unwrap_err();
            let error = match why {
                Error::Signature(_) => "signature",
                Error::Content(_) => "content",
                Error::Closed => "closed",
                _ => "another",
            };
            assert_eq!(vector["error"], error, "{}", vector["why"]);
        }
    }
}
