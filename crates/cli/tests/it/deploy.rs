//! The files in `deploy/` say what this version understands.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A variable of the compose file itself.
const OF_COMPOSE: &str = "TANDEM_PORT";

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files_below(&path, found) } else { found.push(path) }
    }
}

/// The text of all files, without what a person has made of them.
fn deployed() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy"), &mut files);
    files.retain(|file| !file.ends_with(".env"));
    assert!(files.len() >= 7, "{files:?}");
    files.into_iter().map(|file| (file.clone(), std::fs::read_to_string(&file).unwrap())).collect()
}

fn output(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tandem")).args(arguments).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_flag_in_deploy_exists() {
    let help = output(&["serve", "--help"]);
    let known: BTreeSet<&str> =
        help.split([' ', '\n', ',', '=']).filter(|word| word.starts_with("--")).collect();
    let mut lines = 0;
    for (file, text) in deployed() {
        // The command line of a container has the name of the program before it.
        let commands = text.lines().filter(|line| {
            !line.starts_with('#') && (line.contains("tandem serve ") || line.contains("command: serve "))
        });
        for command in commands {
            lines += 1;
            for flag in command.split([' ', '=']).filter(|word| word.starts_with("--")) {
                assert!(known.contains(flag), "{}: tandem serve has no {flag}", file.display());
            }
        }
    }
    assert!(lines >= 5, "three nodes and two units");
}

#[test]
fn every_setting_in_deploy_exists() {
    let settings = output(&["serve", "--example-config"]);
    let known: BTreeSet<&str> = settings
        .lines()
        .filter_map(|line| line.trim_start_matches("# ").split_once(" = "))
        .map(|(name, _)| name)
        .collect();
    let mut found = BTreeSet::new();
    for (file, text) in deployed() {
        let is_name = |byte: char| byte.is_ascii_uppercase() || byte == '_';
        for word in text.split(|byte: char| !is_name(byte)).filter(|word| *word != OF_COMPOSE) {
            // The example explains the beginning of a name by itself.
            let Some(name) = word.strip_prefix("TANDEM_").filter(|name| !name.is_empty()) else { continue };
            let name = name.to_lowercase();
            assert!(known.contains(name.as_str()), "{}: there is no setting {name}", file.display());
            found.insert(name);
        }
    }
    for name in ["database", "bus", "advertise", "shared_files", "admin_token", "public_url"] {
        assert!(found.contains(name), "no file sets {name}");
    }
}
