//! `tandem`: the one binary.

mod bench;
mod key;
mod serve;

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
  tandem bench                                  what this machine can do";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a hub; works without any configuration
    Serve(serve::Arguments),
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
