//! Sealing and opening: both participants can read the content, and nobody else can.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tandem_seal::{Error, Sealed, from_stored, open, seal, to_stored, verify};

use crate::cast::{Cast, TASK};

const WORDS: &[u8] = b"the bridge at noon";

/// The same base64 with one bit of one byte flipped.
fn turned(text: &str, place: usize) -> String {
    let mut bytes = STANDARD.decode(text).unwrap();
    bytes[place] ^= 1;
    STANDARD.encode(bytes)
}

#[test]
fn both_participants_open_what_either_sealed() {
    let cast = Cast::new();
    let long = vec![7; 300_000];
    for plaintext in [b"x", WORDS, "grün ✓".as_bytes(), &[0, 255, 0], &long] {
        for sender in [&cast.ana, &cast.bob] {
            let sealed = seal(TASK, sender, cast.pair(), plaintext).unwrap();
            assert_eq!(sealed.keys.keys().collect::<Vec<_>>(), ["agent_ana", "agent_bob"]);
            assert_eq!(STANDARD.decode(&sealed.content).unwrap().len(), 12 + plaintext.len() + 16);
            for me in [("agent_ana", &cast.ana), ("agent_bob", &cast.bob)] {
                assert_eq!(open(TASK, &sealed, me, sender.public()).unwrap(), plaintext);
            }
        }
    }
}

#[test]
fn no_two_seals_are_alike() {
    let cast = Cast::new();
    let one = seal(TASK, &cast.bob, cast.pair(), WORDS).unwrap();
    let two = seal(TASK, &cast.bob, cast.pair(), WORDS).unwrap();
    assert_ne!(one.content[..16], two.content[..16], "the IV is new each time");
    assert_ne!(one.content[16..], two.content[16..]);
    assert_ne!(one.keys["agent_ana"], two.keys["agent_ana"]);
    assert_ne!(one.signature, two.signature);
}

#[test]
fn whatever_is_changed_is_refused() {
    let cast = Cast::new();
    let sealed = seal(TASK, &cast.ana, cast.pair(), WORDS).unwrap();
    let bob_opens = |sealed: &Sealed| open(TASK, sealed, ("agent_bob", &cast.bob), cast.ana.public());
    assert!(bob_opens(&sealed).is_ok());

    for place in 0..12 + WORDS.len() + 16 {
        let changed = Sealed { content: turned(&sealed.content, place), ..sealed.clone() };
        assert!(matches!(bob_opens(&changed), Err(Error::Signature(_))), "content, byte {place}");
    }
    for place in (0..512).step_by(37).chain([511]) {
        let changed = Sealed { signature: turned(&sealed.signature, place), ..sealed.clone() };
        assert!(matches!(bob_opens(&changed), Err(Error::Signature(_))), "signature, byte {place}");
    }
    for place in (0..256).step_by(37).chain([255]) {
        let mut changed = sealed.clone();
        changed.keys.insert("agent_bob".into(), turned(&sealed.keys["agent_bob"], place));
        assert!(matches!(bob_opens(&changed), Err(Error::Closed)), "wrapped key, byte {place}");
    }
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let cast = Cast::new();
    let one = seal(TASK, &cast.ana, cast.pair(), WORDS).unwrap();
    let two = seal(TASK, &cast.ana, cast.pair(), WORDS).unwrap();
    let bob_opens = |sealed: &Sealed| open(TASK, sealed, ("agent_bob", &cast.bob), cast.ana.public());

    let content = Sealed { content: two.content.clone(), ..one.clone() };
    assert!(matches!(bob_opens(&content), Err(Error::Signature(_))));
    let keys = Sealed { keys: two.keys.clone(), ..one.clone() };
    assert!(matches!(bob_opens(&keys), Err(Error::Closed)));
    let mut swapped = one.clone();
    swapped.keys.insert("agent_bob".into(), one.keys["agent_ana"].clone());
    assert!(matches!(bob_opens(&swapped), Err(Error::Closed)));

    let mut fewer = one.clone();
    fewer.keys.remove("agent_ana");
    assert!(matches!(bob_opens(&fewer), Err(Error::Keys(_))));
    let mut more = one.clone();
    more.keys.insert("agent_cyd".into(), one.keys["agent_ana"].clone());
    assert!(matches!(bob_opens(&more), Err(Error::Keys(_))));
    let mut loose = one.clone();
    loose.keys.insert("agent_bob".into(), format!("{}\n", one.keys["agent_bob"]));
    assert!(matches!(bob_opens(&loose), Err(Error::Keys(_))));
    let mut empty = one.clone();
    empty.keys.insert("agent_bob".into(), String::new());
    assert!(matches!(bob_opens(&empty), Err(Error::Closed)));
}

#[test]
fn the_key_of_the_other_participant_is_not_covered() {
    let cast = Cast::new();
    let mut sealed = seal(TASK, &cast.ana, cast.pair(), WORDS).unwrap();
    sealed.keys.insert("agent_ana".into(), turned(&sealed.keys["agent_ana"], 100));
    let opened = open(TASK, &sealed, ("agent_bob", &cast.bob), cast.ana.public());
    assert_eq!(opened.unwrap(), WORDS, "only who holds that key can know that it is spoilt");
}

#[test]
fn another_task_another_sender_and_another_reader_are_refused() {
    let cast = Cast::new();
    let sealed = seal(TASK, &cast.ana, cast.pair(), WORDS).unwrap();
    let bob = ("agent_bob", &cast.bob);
    for task in ["task_8c1f0e5e", "task_8c1f0e5", "task_8c1f0e5d ", "Task_8c1f0e5d", ""] {
        assert!(matches!(open(task, &sealed, bob, cast.ana.public()), Err(Error::Signature(_))), "{task}");
    }
    for sender in [cast.bob.public(), cast.cyd.public()] {
        assert!(matches!(open(TASK, &sealed, bob, sender), Err(Error::Signature(_))));
    }
    let cyd = open(TASK, &sealed, ("agent_cyd", &cast.cyd), cast.ana.public());
    assert!(matches!(cyd, Err(Error::NotForYou)));
    let posing = open(TASK, &sealed, ("agent_bob", &cast.cyd), cast.ana.public());
    assert!(matches!(posing, Err(Error::Closed)));
}

#[test]
fn the_bound_between_task_and_content_cannot_be_moved() {
    let cast = Cast::new();
    let sealed = seal(TASK, &cast.ana, cast.pair(), WORDS).unwrap();
    let (head, tail) = sealed.content.split_at(4);
    let moved = Sealed { content: tail.to_owned(), ..sealed.clone() };
    let task = format!("{TASK}{head}");
    assert!(verify(cast.ana.public(), &task, tail, &moved.signature), "the same bytes are signed");
    let opened = open(&task, &moved, ("agent_bob", &cast.bob), cast.ana.public());
    assert!(matches!(opened, Err(Error::Closed)), "but nothing opens");
}

#[test]
fn nothing_is_sealed_for_the_wrong_pair_or_out_of_nothing() {
    let cast = Cast::new();
    let twice = [("agent_ana", cast.ana.public()), ("agent_ana", cast.bob.public())];
    assert!(matches!(seal(TASK, &cast.ana, twice, WORDS), Err(Error::Keys(_))));
    assert!(matches!(seal(TASK, &cast.cyd, cast.pair(), WORDS), Err(Error::Keys(_))));
    assert!(matches!(seal(TASK, &cast.ana, cast.pair(), b""), Err(Error::Content(_))));
}

#[test]
fn signatures_are_checked_without_a_private_key() {
    let cast = Cast::new();
    let sealed = seal(TASK, &cast.ana, cast.pair(), WORDS).unwrap();
    let ana = cast.ana.public();
    assert!(verify(ana, TASK, &sealed.content, &sealed.signature));
    assert!(!verify(cast.bob.public(), TASK, &sealed.content, &sealed.signature));
    assert!(!verify(ana, "task_2", &sealed.content, &sealed.signature));
    assert!(!verify(ana, TASK, &sealed.content[4..], &sealed.signature));
    assert!(!verify(ana, TASK, &sealed.content, &turned(&sealed.signature, 0)));
    for shape in ["", "====", "AAAA", " ", &format!("{}\n", sealed.signature)] {
        assert!(!verify(ana, TASK, &sealed.content, shape), "{shape:?}");
    }
}

#[test]
fn stored_bytes_become_the_same_content_again() {
    let cast = Cast::new();
    let sealed = seal(TASK, &cast.ana, cast.pair(), WORDS).unwrap();
    let stored = to_stored(&sealed.content).unwrap();
    assert_eq!(stored.len(), 12 + WORDS.len() + 16);
    assert_eq!(from_stored(&stored), sealed.content);
    assert!(matches!(to_stored("not base64!"), Err(Error::Content(_))));
    assert!(matches!(to_stored(""), Err(Error::Content(_))));
}
