//! What the packages for other languages have sealed is opened. The other direction is theirs: they open the shared vectors.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tandem_seal::{Description, Envelope, File, Message, Sealed};

use crate::cast::{Cast, TASK};
use crate::foreign::python;

fn sdk() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk").canonicalize().unwrap()
}

/// Asks a program for one sealed content per request.
fn sealed(command: &mut Command, requests: &[Value]) -> Vec<Sealed> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines: String = requests.iter().map(|request| format!("{request}\n")).collect();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let sealed: Vec<Sealed> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(sealed.len(), requests.len());
    sealed
}

fn opens<E: Envelope>(value: &Value, sealed: &Sealed, sender: &str, cast: &Cast) {
    let sender = if sender == "ana" { &cast.ana } else { &cast.bob };
    for me in [("agent_ana", &cast.ana), ("agent_bob", &cast.bob)] {
        let found = E::open(TASK, sealed, me, sender.public()).unwrap();
        assert_eq!(serde_json::to_value(found).unwrap(), *value);
    }
}

fn check(command: &mut Command) {
    let cast = Cast::new();
    let values = [
        ("description", json!({ "title": "Grün ✓", "description": "a\n\"b\" \\ \u{1F511}" })),
        ("message", json!({ "contentType": "text", "body": "für dich" })),
        ("message", json!({ "contentType": "json", "body": "{\"a\": 1}" })),
        ("file", json!({ "filename": "büro.bin", "mimeType": "image/png", "data": "AAECAwT/" })),
    ];
    let mut requests = Vec::new();
    for sender in ["ana", "bob"] {
        for (kind, value) in &values {
            requests.push(json!({ "taskId": TASK, "sender": sender, "kind": kind, "value": value }));
        }
    }
    for (request, sealed) in requests.iter().zip(sealed(command, &requests)) {
        let (value, sender) = (&request["value"], request["sender"].as_str().unwrap());
        match request["kind"].as_str().unwrap() {
            "description" => opens::<Description>(value, &sealed, sender, &cast),
            "message" => opens::<Message>(value, &sealed, sender, &cast),
            _ => opens::<File>(value, &sealed, sender, &cast),
        }
    }
}

#[test]
fn what_the_python_package_sealed_opens() {
    let mut command = Command::new(python());
    check(
        command.args(["-B", "-m", "tests.seals"]).env("PYTHONPATH", "src").current_dir(sdk().join("python")),
    );
}

#[test]
fn what_the_typescript_package_sealed_opens() {
    let package = sdk().join("typescript");
    assert!(package.join("dist").exists(), "run scripts/foreign-clients first; ./check does");
    check(Command::new("node").arg("suite/seals.mjs").current_dir(package));
}
