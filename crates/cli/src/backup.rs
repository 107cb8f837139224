//! `tandem backup` and `tandem restore`: arguments, progress and output.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use tandem_hub::Clock;
use tandem_hub::backup::{self, Progress};
use tandem_hub::config::redact_database;

use crate::output::{self, report, say};
use crate::settings::Place;

/// Interval of the progress lines when the output is not a terminal.
const REPORT_EVERY: Duration = Duration::from_secs(5);
const REDRAW_EVERY: Duration = Duration::from_millis(100);

/// Arguments of `tandem backup`.
#[derive(Debug, Args)]
#[command(after_help = BACKUP_HELP)]
pub(crate) struct Arguments {
    /// The file to write; an existing file is never overwritten
    file: PathBuf,
    #[command(flatten)]
    place: Place,
}

const BACKUP_HELP: &str = "\
Examples:
  tandem backup hub.tar                            the hub in ./tandem-data
  tandem backup /backups/hub-$(date +%F).tar --data /var/lib/tandem
  tandem backup hub.tar --data /var/lib/tandem --database postgres://tandem@db/tandem
  tar -tf hub.tar                                  list its content: manifest.json, tables/, files/

The hub may be running; the backup is a consistent snapshot. It is a plain tar file for either kind of
database: restore it into SQLite or PostgreSQL, whichever it came from. It also contains files in a bucket.

The file contains secrets: the hashes of all keys, the secrets of webhooks, and every message and
file. Only its owner can read it (mode 0600). Encrypt it before it leaves the machine.
It does not contain the operator's token and tandem.toml.";

/// Arguments of `tandem restore`.
#[derive(Debug, Args)]
#[command(after_help = RESTORE_HELP)]
pub(crate) struct RestoreArguments {
    /// A file written by `tandem backup`
    file: PathBuf,
    #[command(flatten)]
    place: Place,
}

const RESTORE_HELP: &str = "\
Examples:
  tandem restore hub.tar                           into ./tandem-data, which must be empty
  tandem restore hub.tar --data ./new              into another data folder
  tandem restore hub.tar --data ./new --database postgres://tandem@db/empty
  tandem serve --data ./new                        then start the hub with it

The whole file is verified before anything is written. The database, the data folder and the bucket (if
files_bucket is set) must be empty; otherwise nothing is changed. Files are stored as the settings say.
If a restore is interrupted, `tandem serve` refuses to start with the incomplete data.
Never run the old hub and the restored one at the same time: agents would receive different events.";

/// Writes a backup.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let config = arguments.place.settings()?;
    let mut line = Line::new();
    let done =
        backup::backup(&config, &Clock::System, &arguments.file, &mut |progress| line.report(progress));
    line.clear();
    let done = done?;
    let (rows, files, bytes) = (done.rows, done.files, done.bytes);
    say!("{}: {rows} rows and {files} files in {bytes} bytes", arguments.file.display());
    if done.deleted_files > 0 {
        say!("{} files were deleted during the backup and are not in it", done.deleted_files);
    }
    say!("It contains secrets; only you can read it.");
    Ok(())
}

pub(crate) fn restore(arguments: &RestoreArguments) -> anyhow::Result<()> {
    let config = arguments.place.settings()?;
    let mut line = Line::new();
    let done =
        backup::restore(&config, &Clock::System, &arguments.file, &mut |progress| line.report(progress));
    line.clear();
    let done = done?;
    say!("restored {} rows and {} files; start the hub with:", done.rows, done.files);
    let database = config.database.as_deref().map(|url| format!(" --database {}", redact_database(url)));
    say!("  tandem serve --data {}{}", config.data.display(), database.unwrap_or_default());
    Ok(())
}

/// Progress on standard error: one line that is redrawn on a terminal, a new line from time to time elsewhere.
struct Line {
    terminal: bool,
    reported: Instant,
}

impl Line {
    fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), reported: Instant::now() }
    }

    fn report(&mut self, progress: Progress<'_>) {
        let pause = if self.terminal { REDRAW_EVERY } else { REPORT_EVERY };
        if self.reported.elapsed() < pause {
            return;
        }
        self.reported = Instant::now();
        let Progress { what, done, total } = progress;
        if self.terminal {
            output::progress(&format!("\r\x1b[K{what} {done}/{total}"));
        } else {
            report!("{what} {done}/{total}");
        }
    }

    fn clear(&self) {
        if self.terminal {
            output::progress("\r\x1b[K");
        }
    }
}
