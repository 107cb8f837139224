//! What `scripts/package` makes can be installed, runs, and can be removed.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::backup::Shelf;
use crate::serve::Process;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}

/// Packs the program of this build, without the symbols that make it large.
fn packages(folder: &Path) -> Vec<PathBuf> {
    let program = folder.join("tandem");
    run(Command::new("strip").arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_tandem")));
    let packed = run(Command::new(root().join("scripts/package"))
        .arg("--out")
        .arg(folder.join("packages"))
        .arg("--binary")
        .arg(program));
    let packed = String::from_utf8(packed.stdout).unwrap();
    packed.lines().map(PathBuf::from).collect()
}

/// Everything below a folder that is no folder itself.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

fn install(home: &Path, arguments: &[&str]) -> Output {
    Command::new("sh")
        .arg(root().join("scripts/install.sh"))
        .args(arguments)
        .env("HOME", home)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The script installs what it has verified, over an earlier version too, and removes all of it.
fn a_user_installs_and_removes(tarball: &Path, folder: &Path) {
    let home = folder.join("home");
    std::fs::create_dir(&home).unwrap();
    let tarball = tarball.to_str().unwrap();
    for _ in 0..2 {
        let installed = install(&home, &[tarball]);
        assert!(installed.status.success(), "{installed:?}");
        let program = home.join(".local/bin/tandem");
        let version = run(Command::new(&program).arg("--version"));
        assert_eq!(version.stdout, format!("tandem {}\n", env!("CARGO_PKG_VERSION")).into_bytes());
    }
    let installed = files(&home);
    for name in ["man/man1/tandem.1.gz", "completions/tandem", "_tandem", "tandem.fish"] {
        assert!(installed.iter().any(|file| file.ends_with(name)), "{name}: {installed:?}");
    }
    assert!(!installed.iter().any(|file| file.to_string_lossy().contains(".new")), "{installed:?}");
    let removed = install(&home, &["--uninstall"]);
    assert!(removed.status.success(), "{removed:?}");
    assert_eq!(files(&home), Vec::<PathBuf>::new());
    assert_eq!(install(&home, &["--uninstall"]).status.code(), Some(1));
}

/// A tarball that differs in one byte, one without a checksum, and an address without TLS are refused before anything
/// is written.
fn nothing_is_installed_unverified(tarball: &Path, folder: &Path) {
    let home = folder.join("careful");
    std::fs::create_dir(&home).unwrap();
    let changed = folder.join("changed.tar.gz");
    let mut bytes = std::fs::read(tarball).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&changed, bytes).unwrap();
    let path = changed.to_str().unwrap();
    let sum = std::fs::read_to_string(
        tarball.with_file_name(format!("{}.sha256", tarball.file_name().unwrap().to_str().unwrap())),
    )
    .unwrap();
    let sum = sum.split_whitespace().next().unwrap();
    for arguments in [&[path][..], &[path, "--sha256", sum], &["http://127.0.0.1:1/tandem.tar.gz"]] {
        let refused = install(&home, arguments);
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}: {refused:?}");
        assert_eq!(files(&home), Vec::<PathBuf>::new(), "{arguments:?}");
    }
    let upper = sum.to_uppercase();
    let installed = install(&home, &[tarball.to_str().unwrap(), "--sha256", &upper]);
    assert!(installed.status.success(), "{installed:?}");
}

/// The hub of the package starts with the settings of the package, which are those of a person from then on.
fn the_system_package_serves(package: &Path, folder: &Path) {
    let tree = folder.join("tree");
    run(Command::new("dpkg-deb").arg("-x").arg(package).arg(&tree));
    let control = folder.join("control");
    run(Command::new("dpkg-deb").arg("-e").arg(package).arg(&control));
    let read = |name: &str| std::fs::read_to_string(control.join(name)).unwrap();
    assert_eq!(read("conffiles").trim(), "/etc/tandem/tandem.toml");
    for script in ["postinst", "prerm", "postrm"] {
        run(Command::new("sh").arg("-n").arg(control.join(script)));
    }
    let settings = tree.join("etc/tandem/tandem.toml");
    assert_eq!(settings.metadata().unwrap().permissions().mode() & 0o777, 0o640);

    let unit = std::fs::read_to_string(tree.join("usr/lib/systemd/system/tandem.service")).unwrap();
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let mut words = start.split(' ');
    let program = words.next().unwrap();
    let mut hub = Command::new(tree.join(program.trim_start_matches('/')));
    for word in words {
        match word.strip_prefix("/etc/") {
            Some(file) => hub.arg(tree.join("etc").join(file)),
            None => hub.arg(word),
        };
    }
    // A test has no /var/lib/tandem, and the usual port may be taken.
    hub.arg("--data").arg(folder.join("data")).args(["--listen", "127.0.0.1:0"]);
    hub.stdout(Stdio::piped()).stderr(Stdio::piped());
    Process::start(hub).stop();
}

#[test]
fn packages_are_installed_verified_and_removed() {
    let shelf = Shelf::new();
    let folder = shelf.file("packed");
    std::fs::create_dir(&folder).unwrap();
    let packages = packages(&folder);
    let named = |ending: &str| {
        packages
            .iter()
            .find(|file| file.to_string_lossy().ends_with(ending))
            .unwrap_or_else(|| panic!("{ending}"))
    };
    for package in &packages {
        run(Command::new("sha256sum")
            .arg("--check")
            .arg(format!("{}.sha256", package.file_name().unwrap().to_str().unwrap()))
            .current_dir(package.parent().unwrap()));
    }
    a_user_installs_and_removes(named(".tar.gz"), &folder);
    nothing_is_installed_unverified(named(".tar.gz"), &folder);
    the_system_package_serves(named(".deb"), &folder);
    // Every RPM begins with these bytes; nothing on a Debian machine reads more of it.
    assert_eq!(std::fs::read(named(".rpm")).unwrap()[..4], [0xed, 0xab, 0xee, 0xdb]);
}
