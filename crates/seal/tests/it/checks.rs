//! The checks of the hub: the form of sealed content, and which part is wrong.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tandem_seal::{Error, check_sealed, check_signature, seal};

use crate::cast::{Cast, TASK};

const PAIR: [&str; 2] = ["ana", "bob"];
const LENGTHS: [usize; 2] = [512, 256];

fn keys(of: &[(&str, usize)]) -> BTreeMap<String, String> {
    of.iter().map(|(agent, length)| ((*agent).to_owned(), STANDARD.encode(vec![1; *length]))).collect()
}

fn content(length: usize) -> String {
    STANDARD.encode(vec![0; length])
}

#[test]
fn what_was_sealed_passes() {
    let cast = Cast::new();
    let sealed = seal(TASK, &cast.ana, cast.pair(), b"x").unwrap();
    check_sealed(&sealed.content, &sealed.keys, ["agent_ana", "agent_bob"], [512, 256]).unwrap();
    check_sealed(&sealed.content, &sealed.keys, ["agent_bob", "agent_ana"], [256, 512]).unwrap();
    check_signature(&sealed.signature, 512).unwrap();
}

#[test]
fn content_is_strict_base64_of_29_bytes_or_more() {
    let good = keys(&[("ana", 512), ("bob", 256)]);
    let check = |content: &str| check_sealed(content, &good, PAIR, LENGTHS);
    for length in [29, 30, 31, 1000] {
        check(&content(length)).unwrap();
    }
    for length in [0, 1, 12, 28] {
        assert!(matches!(check(&content(length)), Err(Error::Content(_))), "{length}");
    }
    let padded = content(29);
    assert!(padded.ends_with('='));
    let loose = [
        padded.trim_end_matches('=').to_owned(),
        format!("{padded}="),
        format!("{padded}\n"),
        format!(" {padded}"),
        format!("{}\r\n{}", &padded[..8], &padded[8..]),
        padded.replacen('A', "-", 1),
        padded.replacen('A', "_", 1),
        padded.replace("AAA=", "AAB="),
        format!("{padded}{padded}"),
    ];
    for text in loose {
        assert!(matches!(check(&text), Err(Error::Content(_))), "{text:?}");
    }
}

#[test]
fn keys_are_those_of_the_two_each_as_long_as_its_modulus() {
    let content = content(40);
    let check = |keys: &BTreeMap<String, String>| check_sealed(&content, keys, PAIR, LENGTHS);
    check(&keys(&[("ana", 512), ("bob", 256)])).unwrap();
    let wrong: [&[(&str, usize)]; 9] = [
        &[],
        &[("ana", 512)],
        &[("ana", 512), ("cyd", 256)],
        &[("ana", 512), ("bob", 256), ("cyd", 256)],
        &[("ana", 512), ("Bob", 256)],
        &[("ana", 256), ("bob", 512)],
        &[("ana", 512), ("bob", 255)],
        &[("ana", 513), ("bob", 256)],
        &[("ana", 512), ("bob", 0)],
    ];
    for keys_of in wrong {
        assert!(matches!(check(&keys(keys_of)), Err(Error::Keys(_))), "{keys_of:?}");
    }
    let mut loose = keys(&[("ana", 512), ("bob", 256)]);
    loose.insert("bob".into(), format!("{}\n", loose["bob"]));
    assert!(matches!(check(&loose), Err(Error::Keys(_))));
    let strangers = check_sealed(&content, &keys(&[("ana", 512), ("cyd", 512)]), ["ana", "ana"], [512, 512]);
    assert!(matches!(strangers, Err(Error::Keys(_))));
}

#[test]
fn a_signature_is_as_long_as_the_senders_modulus() {
    let of = |length: usize| STANDARD.encode(vec![2; length]);
    check_signature(&of(256), 256).unwrap();
    for (text, length) in [(of(255), 256), (of(256), 512), (of(0), 256), (format!("{}\n", of(256)), 256)] {
        assert!(matches!(check_signature(&text, length), Err(Error::Signature(_))), "{length}");
    }
}
