//! Keys: generating, writing, reading, refusing.

use std::path::PathBuf;

use tandem_seal::{Error, PrivateKey, PublicKey, open, seal};

use crate::cast::{Cast, TASK, key, vectors};

/// A new empty folder for one test.
fn folder(test: &str) -> PathBuf {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("seal-{test}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_new_key_is_saved_once_and_works_after_loading() {
    let folder = folder("new-key");
    let (secret, open_half) = (folder.join("ana.key"), folder.join("ana.pub"));
    let made = PrivateKey::generate().unwrap();
    assert_eq!(made.public().modulus_len(), 512);
    made.save(&secret).unwrap();
    made.public().save(&open_half).unwrap();

    let ana = PrivateKey::load(&secret).unwrap();
    let ana_public = PublicKey::load(&open_half).unwrap();
    assert_eq!(ana.public(), &ana_public);
    assert_eq!(ana.to_pem().unwrap(), made.to_pem().unwrap());
    let bob = key("bob");
    let pair = [("ana", &ana_public), ("bob", bob.public())];
    let sealed = seal(TASK, &made, pair, b"hello").unwrap();
    assert_eq!(open(TASK, &sealed, ("ana", &ana), &ana_public).unwrap(), b"hello");
    assert_eq!(open(TASK, &sealed, ("bob", &bob), &ana_public).unwrap(), b"hello");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_file_that_is_there_is_not_written_over() {
    let folder = folder("no-overwrite");
    let path = folder.join("key");
    std::fs::write(&path, "precious").unwrap();
    let bob = key("bob");
    for refused in [bob.save(&path), bob.public().save(&path)] {
        let Err(Error::File { cause, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(cause.kind(), std::io::ErrorKind::AlreadyExists);
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_private_key_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = folder("exposed");
    let path = folder.join("bob.key");
    key("bob").save(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    for mode in [0o640, 0o604, 0o660, 0o620, 0o644, 0o601] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let refused = PrivateKey::load(&path).unwrap_err();
        assert!(matches!(refused, Error::Exposed { mode: seen, .. } if seen == mode), "{refused:?}");
        assert!(refused.to_string().contains(&format!("mode {mode:o}")), "{refused}");
    }
    for mode in [0o600, 0o400] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        PrivateKey::load(&path).unwrap();
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn pem_is_written_as_others_write_it() {
    for (name, made) in vectors("keys")["keys"].as_object().unwrap() {
        let (private, public) = (made["private"].as_str().unwrap(), made["public"].as_str().unwrap());
        let key = PrivateKey::from_pem(private).unwrap();
        assert_eq!(key.to_pem().unwrap(), private, "{name}");
        assert_eq!(key.public().to_pem(), public, "{name}");
        let half = PublicKey::from_pem(public).unwrap();
        assert_eq!(&half, key.public());
        assert_eq!(&PublicKey::from_der(half.der()).unwrap(), key.public());
        assert_eq!(&PublicKey::from_pem(&public.replace('\n', "\r\n")).unwrap(), key.public());
    }
}

#[test]
fn keys_of_other_kinds_and_lengths_are_refused() {
    let made = vectors("keys");
    for (why, pem) in made["acceptedPublic"].as_object().unwrap() {
        assert!(PublicKey::from_pem(pem.as_str().unwrap()).is_ok(), "{why}");
    }
    for (why, pem) in made["refusedPublic"].as_object().unwrap() {
        let refused = PublicKey::from_pem(pem.as_str().unwrap());
        assert!(matches!(refused, Err(Error::Key { kind: "public", .. })), "{why}: {refused:?}");
    }
    for (why, pem) in made["refusedPrivate"].as_object().unwrap() {
        let refused = PrivateKey::from_pem(pem.as_str().unwrap());
        assert!(matches!(refused, Err(Error::Key { kind: "private", .. })), "{why}: {refused:?}");
    }
    for nonsense in
        ["", "hello", "-----BEGIN PUBLIC KEY-----", "-----BEGIN PUBLIC KEY----------END PUBLIC KEY-----"]
    {
        assert!(PublicKey::from_pem(nonsense).is_err(), "{nonsense}");
        assert!(PrivateKey::from_pem(&nonsense.replace("PUBLIC", "PRIVATE")).is_err(), "{nonsense}");
    }
}

#[test]
fn a_private_key_does_not_show_itself() {
    let cast = Cast::new();
    let shown = format!("{:?}", cast.bob);
    assert!(shown.contains(&cast.bob.public().fingerprint().hex()), "{shown}");
    assert!(shown.len() < 200, "{shown}");
}
