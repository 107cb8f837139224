//! Live tests in both directions against another implementation: Python's `cryptography`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tandem_seal::{Envelope as _, Message, PrivateKey, Sealed, open, seal};

use crate::cast::{Cast, TASK};

/// A Python with `cryptography`: from `TANDEM_TEST_PYTHON`, or from the installed foreign clients.
pub(crate) fn python() -> PathBuf {
    let named = std::env::var_os("TANDEM_TEST_PYTHON").map(PathBuf::from);
    let python = named.unwrap_or_else(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        target.join("foreign/venv/bin/python")
    });
    let able = Command::new(&python).args(["-c", "import cryptography"]).stderr(Stdio::null()).status();
    assert!(
        able.is_ok_and(|status| status.success()),
        "{} is no Python with `cryptography`: run scripts/foreign-clients first (./check does), or name one in \
         TANDEM_TEST_PYTHON",
        python.display()
    );
    python
}

fn ask(request: Value) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign/seal.py");
    let mut child = Command::new(python())
        .arg("-B")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(request.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Opens sealed content with Python, as this reader.
fn opened(sealed: &Sealed, agent: &str, key: &PrivateKey, sender: &PrivateKey) -> Vec<u8> {
    let answer = ask(json!({
        "do": "open",
        "taskId": TASK,
        "sealed": sealed,
        "agent": agent,
        "key": key.to_pem().unwrap(),
        "sender": sender.public().to_pem(),
    }));
    STANDARD.decode(answer["plaintext"].as_str().unwrap()).unwrap()
}

#[test]
fn python_opens_what_we_sealed() {
    let cast = Cast::new();
    let readers = [("agent_ana", &cast.ana), ("agent_bob", &cast.bob)];
    for sender in [&cast.ana, &cast.bob] {
        let sealed = seal(TASK, sender, cast.pair(), "grün ✓".as_bytes()).unwrap();
        for (agent, key) in readers {
            assert_eq!(opened(&sealed, agent, key, sender), "grün ✓".as_bytes());
        }
    }
    let said = Message { content_type: tandem_seal::ContentType::Text, body: "ja".into() };
    let sealed = said.seal(TASK, &cast.bob, cast.pair()).unwrap();
    let json = opened(&sealed, "agent_ana", &cast.ana, &cast.bob);
    assert_eq!(json, br#"{"contentType":"text","body":"ja"}"#);
}

#[test]
fn we_open_what_python_sealed() {
    let cast = Cast::new();
    let long: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    for plaintext in [b"x".as_slice(), "grün ✓".as_bytes(), &long] {
        for sender in [&cast.ana, &cast.bob] {
            let answer = ask(json!({
                "do": "seal",
                "taskId": TASK,
                "sender": sender.to_pem().unwrap(),
                "recipients": {
                    "agent_ana": cast.ana.public().to_pem(),
                    "agent_bob": cast.bob.public().to_pem(),
                },
                "plaintext": STANDARD.encode(plaintext),
            }));
            let sealed: Sealed = serde_json::from_value(answer).unwrap();
            for me in [("agent_ana", &cast.ana), ("agent_bob", &cast.bob)] {
                assert_eq!(open(TASK, &sealed, me, sender.public()).unwrap(), plaintext);
            }
        }
    }
}
