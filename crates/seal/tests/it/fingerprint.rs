//! Fingerprints: what people compare.

use std::collections::BTreeSet;

use aws_lc_rs::digest::{SHA256, digest};
use tandem_seal::{PublicKey, WORDS};

use crate::cast::{key, vectors};

#[test]
fn the_words_are_256_short_ones_that_cannot_be_confused() {
    assert_eq!(WORDS.iter().collect::<BTreeSet<_>>().len(), 256);
    assert_eq!(WORDS.iter().map(|word| &word[..word.len().min(4)]).collect::<BTreeSet<_>>().len(), 256);
    assert!(WORDS.is_sorted());
    for word in WORDS {
        assert!((3..=6).contains(&word.len()), "{word}");
        assert!(word.bytes().all(|letter| letter.is_ascii_lowercase()), "{word}");
    }
}

#[test]
fn the_words_never_change() {
    let hash: String = digest(&SHA256, WORDS.join(" ").as_bytes())
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(hash, "a4a2187297d91f5e62f0568e09176e98c2d30356397acd8e3969906f45bfd129");
}

#[test]
fn a_fingerprint_is_the_hash_of_the_public_key() {
    for (name, made) in vectors("keys")["keys"].as_object().unwrap() {
        let key = PublicKey::from_pem(made["public"].as_str().unwrap()).unwrap();
        let fingerprint = key.fingerprint();
        assert_eq!(fingerprint.hex(), made["fingerprint"].as_str().unwrap(), "{name}");
        assert_eq!(fingerprint.to_string(), fingerprint.hex());
        let words: Vec<&str> =
            fingerprint.bytes()[..8].iter().map(|byte| WORDS[usize::from(*byte)]).collect();
        assert_eq!(words.len(), 8);
        assert_eq!(fingerprint.words(), words.join(" "), "{name}");
    }
    assert_eq!(
        key("ana").public().fingerprint().words(),
        "piano hazel sunset hammer puddle attic olive flame"
    );
}
