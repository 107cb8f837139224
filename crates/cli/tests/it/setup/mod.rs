//! `tandem setup` in homes of its own: what it writes into the files of AI tools, and that it takes exactly that back.

mod drift;
mod files;
mod golden;
mod hostile;
mod interrupted;
mod own;
mod real;
mod run;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::command::Cli;

/// A home without any AI tool, where commands use the usual folders.
fn home() -> Cli {
    let mut cli = Cli::at("http://127.0.0.1:1");
    let bin = cli.home.join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::create_dir(cli.home.join("work")).unwrap();
    let variables =
        [("XDG_CONFIG_HOME", ""), ("XDG_STATE_HOME", ""), ("USER", "ada"), ("PATH", bin.to_str().unwrap())];
    cli.variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    cli
}

/// A profile, so that no hub is asked for an agent.
fn profile(cli: &Cli, name: &str) {
    let folder = cli.home.join(".config/tandem/agents");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{name}.toml"));
    let text = format!(
        "hub = \"http://127.0.0.1:1\"\nagent_id = \"agent_{name}\"\nagent_name = \"{name}\"\napi_key = \"key-of-{name}\"\n"
    );
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// A home with a profile for a tool and one file with a text.
fn home_with(tool: &str, file: &str, text: &str) -> (Cli, PathBuf) {
    let cli = home();
    profile(&cli, &format!("ada-{tool}"));
    let file = cli.home.join(file);
    write(&file, text);
    (cli, file)
}

fn write(file: &Path, text: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|why| panic!("{}: {why}", file.display()))
}

/// A program on the home's `PATH`.
fn program(cli: &Cli, name: &str, script: &str) {
    let file = cli.home.join("bin").join(name);
    std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// All files and folders of a home but those of Tandem, with their contents.
fn contents(cli: &Cli) -> Vec<(PathBuf, Option<String>)> {
    fn walk(folder: &Path, found: &mut Vec<(PathBuf, Option<String>)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(".config/tandem") {
                continue;
            }
            match path.is_dir() {
                true => {
                    found.push((path.clone(), None));
                    walk(&path, found);
                }
                false => found.push((path.clone(), Some(read(&path)))),
            }
        }
    }
    let mut found = Vec::new();
    walk(&cli.home, &mut found);
    found.sort();
    found
}
