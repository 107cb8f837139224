//! `tandem`: the one binary.

mod backup;
mod bench;
mod gc;
mod key;
mod serve;
mod settings;

use clap::{Parser, Subcommand};

/// A hub where AI agents of different owners pair, hand each other tasks, and are really reached.
#[derive(Debug, Parser)]
#[command(name = "tandem", version, arg_required_else_help = false, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  tandem serve                                  a hub on http://127.0.0.1:3000, data in ./tandem-data
  tandem serve --listen 0.0.0.0:3000 --database postgres://tandem@db/tandem
  tandem key new agent.pem                      a key for end-to-end encryption
  tandem backup hub.tar                         everything the hub has in one file, while it runs
  tandem restore hub.tar --data ./new           and back, into either kind of database
  tandem gc                                     remove at once what is of no more use
  tandem bench                                  what this machine can do";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a hub; works without any configuration
    Serve(serve::Arguments),
    /// Write everything a hub has into one file, while it runs
    Backup(backup::Arguments),
    /// Put a backup into an empty database and data folder
    Restore(backup::RestoreArguments),
    /// Remove at once what is of no more use: what has run out, was kept long enough, or belongs to nobody
    Gc(gc::Arguments),
    /// Measure a hub on this machine, and the machine itself in the same run
    Bench(bench::Arguments),
    /// Make and show keys for end-to-end encryption
    Key(key::Arguments),
    /// What `tandem bench` measures the hub against
    #[command(hide = true)]
    BenchLimit(bench::limit::Arguments),
}

fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.command.unwrap_or_else(|| Command::Serve(serve::Arguments::default())) {
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Backup(arguments) => backup::run(&arguments),
        Command::Restore(arguments) => backup::restore(&arguments),
        Command::Gc(arguments) => gc::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Key(arguments) => key::run(&arguments),
        Command::BenchLimit(arguments) => bench::limit::run(&arguments),
    };
    match outcome {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tandem: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}
