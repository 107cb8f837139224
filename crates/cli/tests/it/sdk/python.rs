//! The Python package: generated files are current, types and style are clean, its tests pass, the page's examples run, and the
//! built wheel works in a fresh environment.

use std::path::Path;
use std::process::{Command, Output};

use super::folder;
use crate::foreign::installed;

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// A program of the environment with the foreign clients, in the folder of the package.
fn program(name: &str) -> Command {
    let mut command = Command::new(installed().join("venv/bin").join(name));
    command.current_dir(folder().join("python")).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("TANDEM_BIN", env!("CARGO_BIN_EXE_tandem")).env("PYTHONPATH", "src");
    command
}

#[test]
fn generated_files_are_current() {
    run(program("python").args(["../generate.py", "--check"]));
}

/// What is written by hand stays small enough to read in an evening.
#[test]
fn the_package_has_no_more_lines_than_were_agreed() {
    let counted = run(program("python").arg("tests/count_lines.py"));
    let lines: usize = String::from_utf8(counted.stdout).unwrap().trim().parse().unwrap();
    assert!(lines <= LINES_MAX, "{lines} lines of code");
}

/// Lines of code, without blank lines, comments and documentation.
const LINES_MAX: usize = 2_060;

#[test]
fn types_and_style_are_clean() {
    let cache = std::env::temp_dir().join(format!("tandem-mypy-{}", std::process::id()));
    run(program("mypy").arg("--cache-dir").arg(&cache));
    let _ = std::fs::remove_dir_all(cache);
    for style in [["check", "--no-cache"].as_slice(), &["format", "--check", "--no-cache"]] {
        run(program("ruff").args(style).args([
            "--config",
            "pyproject.toml",
            ".",
            "../generate.py",
            "../suite",
        ]));
    }
    let pyright = installed().join("node_modules/pyright/index.js");
    let python = installed().join("venv/bin/python");
    let mut command = Command::new("node");
    run(command.arg(pyright).arg("--pythonpath").arg(python).current_dir(folder().join("python")));
}

#[test]
fn its_own_tests_pass() {
    run(program("python").args(["-m", "unittest", "discover", "-s", "tests", "-t", "."]));
}

/// Every block of the page is run, against a hub.
#[test]
fn the_examples_of_the_page_work() {
    run(program("python").args(["-m", "tests.page", "../../docs/python.md"]));
}

/// The wheel alone, in an environment without the package's sources.
#[test]
fn the_built_wheel_works_in_a_fresh_environment() {
    let place = std::env::temp_dir().join(format!("tandem-wheel-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&place);
    run(program("python").args(["-m", "build", "--no-isolation", "--outdir"]).arg(&place));
    let file = |ending: &str| {
        let mut found = std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path());
        found.find(|path| path.to_string_lossy().ends_with(ending)).unwrap()
    };
    assert!(file(".tar.gz").exists());
    let fresh = place.join("fresh");
    run(program("python").args(["-m", "venv"]).arg(&fresh));
    let mut pip = Command::new(fresh.join("bin/pip"));
    run(pip
        .args(["install", "-q", "--no-index", "--no-deps", "--disable-pip-version-check"])
        .arg(file(".whl")));
    // Its dependencies are the installed ones: a test fetches nothing.
    let packages = run(program("python")
        .args(["-c", "import httpx, pathlib; print(pathlib.Path(httpx.__file__).parents[1])"]));
    let site = run(Command::new(fresh.join("bin/python"))
        .args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]));
    let site = String::from_utf8(site.stdout).unwrap();
    std::fs::write(Path::new(site.trim()).join("dependencies.pth"), packages.stdout).unwrap();
    let mut tried = Command::new(fresh.join("bin/python"));
    tried
        .args(["-I", "-B"])
        .arg(folder().join("python/tests/installed.py"))
        .env("TANDEM_BIN", env!("CARGO_BIN_EXE_tandem"));
    run(tried.current_dir(&place));
    std::fs::remove_dir_all(place).unwrap();
}
