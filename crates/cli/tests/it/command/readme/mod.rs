//! The terminal session of the README, typed as it stands into two terminals: the page shows what the program prints, and
//! the picture shows what is on the page.

mod picture;
mod session;
pub mod terminal;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use rstest::rstest;

use self::picture::Frame;
use self::session::{Moment, Names, Step};
use self::terminal::{Line, Running, Style, plain};
use crate::harness::{Db, Place};
use crate::serve::{self, Process};

/// The address of a hub without configuration, which the page shows.
const USUAL_ADDRESS: &str = "127.0.0.1:3000";
/// Set by `scripts/record`: write the picture instead of comparing it.
const RECORD: &str = "TANDEM_RECORD";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Two terminals of one user.
struct Desk {
    home: PathBuf,
    address: String,
    /// What each terminal has exported.
    exported: HashMap<String, Vec<(String, String)>>,
    /// The commands that have not ended yet, by the number of their step.
    running: HashMap<usize, Running>,
    names: Names,
    /// Whether the machine was so slow that a time is not "now".
    slow: bool,
}

impl Desk {
    fn command(&self, step: &Step) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_tandem")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sh");
        command
            .args(["-c", &self.names.in_this_run(&step.command)])
            .current_dir(&self.home)
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", format!("{}:{path}", program.display()))
            .env("TERM", "xterm-256color")
            .env("TANDEM_HUB", format!("http://{}", self.address))
            .envs(self.exported.get(&step.terminal).into_iter().flatten().cloned());
        command
    }

    /// Types a command and returns what it prints, up to what the page shows before another terminal goes on.
    fn type_in(&mut self, number: usize, step: &Step) -> Vec<Line> {
        if let Some((name, value)) =
            step.command.strip_prefix("export ").and_then(|rest| rest.split_once('='))
        {
            let exported = self.exported.entry(step.terminal.clone()).or_default();
            exported.push((name.to_owned(), value.to_owned()));
            return Vec::new();
        }
        let mut running = Running::start(self.command(step));
        if step.parts.len() == 1 {
            return self.finish(running, step);
        }
        let expected = &step.parts[0];
        let mut shown = running.read_until(|lines| lines.len() > expected.len());
        shown.truncate(expected.len());
        self.running.insert(number, running);
        self.compare(step, expected, shown)
    }

    /// Waits for the end of a command that was running, and returns what it printed since.
    fn go_on(&mut self, number: usize, step: &Step) -> Vec<Line> {
        let running = self.running.remove(&number).expect("a command that runs");
        self.finish(running, step).split_off(step.parts[0].len())
    }

    fn finish(&mut self, running: Running, step: &Step) -> Vec<Line> {
        let (succeeded, mut shown) = running.end();
        shown.pop_if(|last| last.is_empty());
        assert!(succeeded, "{} fails:\n{}", step.command, plain(&shown).join("\n"));
        self.compare(step, &step.parts.concat(), shown)
    }

    /// Compares with the page. Returns what was printed, with the names of the page.
    fn compare(&mut self, step: &Step, expected: &[String], mut shown: Vec<Line>) -> Vec<Line> {
        let mut expected = expected.to_vec();
        for (text, _) in shown.iter_mut().flatten() {
            *text = text.replace(&self.address, USUAL_ADDRESS);
        }
        if plain(&shown).iter().any(|line| has_age(line)) {
            self.slow = true;
            expected.iter_mut().for_each(|line| *line = without_times(line));
            shown.iter_mut().flatten().for_each(|(text, _)| *text = without_times(text));
        }
        if let Err(difference) = self.names.compare(&expected, &plain(&shown)) {
            panic!("README.md and `{}` differ:\n{difference}", step.command);
        }
        for (text, _) in shown.iter_mut().flatten() {
            *text = self.names.on_page(text);
        }
        shown
    }
}

/// Whether a time is shown that is not "now", such as `7s ago`.
fn has_age(line: &str) -> bool {
    line.match_indices("s ago").any(|(at, _)| line[..at].ends_with(|c: char| c.is_ascii_digit()))
}

/// A line in which every time is "now" and columns have no width.
fn without_times(line: &str) -> String {
    let mut words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    while let Some(at) = words.iter().position(|word| *word == "ago").filter(|at| *at > 0) {
        words.splice(at - 1..=at, ["now"]);
    }
    words.join(" ")
}

#[rstest]
fn the_session_of_the_readme_and_its_picture_are_what_the_program_prints(#[values(Db::Sqlite)] db: Db) {
    let page = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (steps, moments) = session::parse(&page);
    assert!(steps.len() > 10, "the session was not found");
    let place = Place::new(db);
    let hub = Process::start(serve::command(&place));
    let home = place.folder.join("home");
    std::fs::create_dir_all(&home).unwrap();
    let (address, names) = (hub.client.address.to_string(), Names::default());
    let mut desk =
        Desk { home, address, exported: HashMap::new(), running: HashMap::new(), names, slow: false };
    let mut frames = Vec::new();
    for moment in moments {
        let (number, typed) = match moment {
            Moment::Typed(number) => (number, true),
            Moment::Continued(number) => (number, false),
        };
        let step = &steps[number];
        let printed = if typed { desk.type_in(number, step) } else { desk.go_on(number, step) };
        let prompt = (format!("{}$ ", step.terminal), Style { dim: true, ..Style::default() });
        let typed =
            typed.then(|| vec![prompt, (step.command.clone(), Style { bold: true, ..Style::default() })]);
        frames.push(Frame { terminal: step.terminal.clone(), typed, printed });
    }
    assert!(desk.running.is_empty(), "the page does not show the end of a command");
    compare_picture(&picture::draw(&frames), desk.slow);
}

fn compare_picture(drawn: &str, slow: bool) {
    let file = root().join("docs/first-five-minutes.svg");
    if std::env::var_os(RECORD).is_some() {
        assert!(!slow, "the machine was too slow for a good picture; try again");
        std::fs::write(file, drawn).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(file).unwrap_or_default();
    let same = if slow { without_times(&committed) == without_times(drawn) } else { committed == drawn };
    assert!(same, "docs/first-five-minutes.svg is not what the program prints now: run scripts/record");
    assert!(committed.len() < 60_000, "{} bytes", committed.len());
}

#[test]
fn a_difference_between_the_page_and_the_program_is_found() {
    let lines = |text: &str| text.lines().map(ToOwned::to_owned).collect::<Vec<_>>();
    let page = lines("task_1  to bob  now\nPairing code  BLUE-TIGER-4231");
    let compare = |printed: &str| Names::default().compare(&page, &lines(printed));
    assert_eq!(compare("task_abc  to bob  now\nPairing code  RED-FOX-0001"), Ok(()));
    for wrong in [
        "task_abc  to bob  now",
        "task_abc  to bob now\nPairing code  RED-FOX-0001",
        "file_abc  to bob  now\nPairing code  RED-FOX-0001",
        "task_abc  to bob  now\nPairing code  red-fox-0001",
        "task_abc  to bob  now\nPairing code  RED-FOX-0001\nmore",
    ] {
        assert!(compare(wrong).is_err(), "{wrong}");
    }
    // One name of the page is one thing.
    let mut names = Names::default();
    assert!(names.compare(&lines("task_1\ntask_1"), &lines("task_a\ntask_b")).is_err());
    let mut names = Names::default();
    assert!(names.compare(&lines("task_1\ntask_2"), &lines("task_a\ntask_a")).is_err());
}
