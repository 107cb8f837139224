//! `tandem backup` and `tandem restore`: what they take, and what they say meanwhile.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use tandem_server::Clock;
use tandem_server::backup::{self, Progress};

use crate::settings::Place;

/// How often a line tells how far it is.
const TELL_EVERY: Duration = Duration::from_secs(5);
const REDRAW_EVERY: Duration = Duration::from_millis(100);

/// What `tandem backup` takes.
#[derive(Debug, Args)]
#[command(after_help = BACKUP_HELP)]
pub(crate) struct Arguments {
    /// The file to write; one that is there is never written over
    file: PathBuf,
    #[command(flatten)]
    place: Place,
}

const BACKUP_HELP: &str = "\
Examples:
  tandem backup hub.tar                            the hub in ./tandem-data
  tandem backup /backups/hub-$(date +%F).tar --data /var/lib/tandem
  tandem backup hub.tar --data /var/lib/tandem --database postgres://tandem@db/tandem
  tar -tf hub.tar                                  what is in it: manifest.json, tables/, files/

The hub may run meanwhile; the backup shows one moment of it. It is a plain tar for either kind of
database: restore it into SQLite or PostgreSQL, whichever it came from. Files in a bucket are in it, too.

The file holds the hub's secrets: the hashes of all keys, the secrets of webhooks, and every message and
file. Only its owner can read it (mode 0600); keep it that way, and encrypt it before it leaves the machine.
Not in it: the operator's token and tandem.toml.";

/// What `tandem restore` takes.
#[derive(Debug, Args)]
#[command(after_help = RESTORE_HELP)]
pub(crate) struct RestoreArguments {
    /// The file that `tandem backup` wrote
    file: PathBuf,
    #[command(flatten)]
    place: Place,
}

const RESTORE_HELP: &str = "\
Examples:
  tandem restore hub.tar                           into ./tandem-data, which must be empty
  tandem restore hub.tar --data ./new              beside the old one
  tandem restore hub.tar --data ./new --database postgres://tandem@db/empty
  tandem serve --data ./new                        then start the hub on it

All of the file is checked before anything is written. The database, the data folder and the bucket (if
files_bucket is set) must be empty; if they are not, nothing is changed. Files go where the settings say.
Should a restore break off half-way, `tandem serve` refuses what is there.
Never let the old hub and the restored one run side by side: agents would be told different things.";

/// Writes a backup.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let config = arguments.place.settings()?;
    let mut line = Line::new();
    let done = backup::backup(&config, &Clock::System, &arguments.file, &mut |progress| line.tell(progress));
    line.clear();
    let done = done?;
    let (rows, files, bytes) = (done.rows, done.files, done.bytes);
    println!("{}: {rows} rows and {files} files in {bytes} bytes", arguments.file.display());
    if done.gone > 0 {
        println!("{} files were deleted meanwhile and are not in it", done.gone);
    }
    println!("It holds the hub's secrets; only you can read it.");
    Ok(())
}

/// Puts a backup back.
pub(crate) fn restore(arguments: &RestoreArguments) -> anyhow::Result<()> {
    let config = arguments.place.settings()?;
    let mut line = Line::new();
    let done = backup::restore(&config, &Clock::System, &arguments.file, &mut |progress| line.tell(progress));
    line.clear();
    let done = done?;
    println!("restored {} rows and {} files; tandem serve starts the hub on them", done.rows, done.files);
    Ok(())
}

/// One line on standard error: rewritten on a terminal, repeated now and then elsewhere.
struct Line {
    terminal: bool,
    told: Instant,
}

impl Line {
    fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), told: Instant::now() }
    }

    fn tell(&mut self, progress: Progress<'_>) {
        let pause = if self.terminal { REDRAW_EVERY } else { TELL_EVERY };
        if self.told.elapsed() < pause {
            return;
        }
        self.told = Instant::now();
        let Progress { what, done, total } = progress;
        if self.terminal {
            eprint!("\r\x1b[K{what} {done}/{total}");
        } else {
            eprintln!("{what} {done}/{total}");
        }
    }

    fn clear(&self) {
        if self.terminal {
            eprint!("\r\x1b[K");
        }
    }
}
