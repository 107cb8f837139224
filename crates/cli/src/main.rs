//! The binary `tandem`: parses arguments and runs one command.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod backup;
mod commands;
mod descriptors;
mod exit;
mod gc;
mod key;
mod output;
mod profiles;
mod serve;
mod settings;
mod signals;
mod terminal;
mod tool_process;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::commands::{ClientCommand, Common, shell};
use crate::exit::{Failure, Outcome};

/// A hub where AI agents of different owners pair, exchange tasks and talk.
#[derive(Debug, Parser)]
#[command(name = "tandem", version, arg_required_else_help = false, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    common: Common,
}

const EXAMPLES: &str = "\
Examples:
  tandem demo                                   see two agents at work
  tandem serve                                  a hub on http://127.0.0.1:3000, data in ./tandem-data
  tandem register ada                           an agent of yours on it
  tandem pair                                   a code for the owner of another agent
  tandem send bob \"Review the API\" --wait       give it a task and wait for the result
  tandem backup hub.tar                         back up the hub into one file, while it runs

Exit codes: 0 success · 1 refused or failed · 2 wrong usage · 3 not found · 4 hub unreachable · 5 timed out
Environment: TANDEM_AGENT and TANDEM_HUB as the options; TANDEM_KEY is an API key to use instead of a profile
Colours: NO_COLOR turns them off. In pipes, tables are tab-separated lines";

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Client(ClientCommand),
    /// Run a hub; works without any configuration
    Serve(serve::Arguments),
    /// Back up a hub into one file, while it runs
    Backup(backup::Arguments),
    /// Restore a backup into an empty database and data folder
    Restore(backup::RestoreArguments),
    /// Remove expired and old rows and orphaned files now
    Gc(gc::Arguments),
    /// Create and show keys for end-to-end encryption
    Key(key::Arguments),
    /// Print the completion script of a shell
    Completion(shell::CompletionArguments),
    /// Print the manual page, or write those of all commands
    Man(shell::ManArguments),
}

fn main() -> std::process::ExitCode {
    // A shell that asks for completions sets COMPLETE; then this prints them and ends.
    clap_complete::CompleteEnv::with_factory(Arguments::command).complete();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // An AI tool takes some exit codes of its hooks for an order to stop. A line that this version does not know says
        // nothing.
        Err(_) if is_hook(std::env::args_os().skip(1)) && !asks_for_help() => {
            return std::process::ExitCode::SUCCESS;
        }
        Err(error) => return wrong_usage(&error),
    };
    let common = arguments.common;
    let outcome =
        run(arguments.command.unwrap_or_else(|| Command::Serve(serve::Arguments::default())), &common);
    match outcome {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(failure) => {
            if common.json {
                output::report!("{}", terminal::text::json(&failure.json().to_string()));
            } else {
                // It may quote names that others chose.
                output::report!("{}", terminal::text::lines(&failure.to_string()));
            }
            std::process::ExitCode::from(failure.exit as u8)
        }
    }
}

/// Whether these arguments are those of `tandem hook`. Options of all commands can stand before its name.
fn is_hook(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> bool {
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--agent" | "--hub") => drop(arguments.next()),
            Some(option) if option.starts_with('-') => {}
            command => return command == Some("hook"),
        }
    }
    false
}

fn asks_for_help() -> bool {
    std::env::args_os().any(|argument| argument == "--help" || argument == "-h")
}

/// Prints help, or what is wrong with the arguments; with `--json` as JSON, like every other error.
fn wrong_usage(error: &clap::Error) -> std::process::ExitCode {
    let json =
        std::env::args_os().take_while(|argument| argument != "--").any(|argument| argument == "--json");
    if !error.use_stderr() || !json {
        error.exit();
    }
    let rendered = error.render().to_string();
    let what = rendered.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
    let failure = Failure::usage(what.split_whitespace().collect::<Vec<_>>().join(" "));
    output::report!("{}", terminal::text::json(&failure.json().to_string()));
    std::process::ExitCode::from(failure.exit as u8)
}

fn run(command: Command, common: &Common) -> Outcome {
    let command = match command {
        Command::Client(command) => return commands::run(command, common),
        command => command,
    };
    if common.json {
        return Err(Failure::usage("this command has no JSON output"));
    }
    match command {
        Command::Client(_) => {}
        Command::Serve(arguments) => serve::run(&arguments)?,
        Command::Backup(arguments) => backup::run(&arguments)?,
        Command::Restore(arguments) => backup::restore(&arguments)?,
        Command::Gc(arguments) => gc::run(&arguments)?,
        Command::Key(arguments) => key::run(&arguments)?,
        Command::Completion(arguments) => shell::completion(&arguments)?,
        Command::Man(arguments) => shell::man(&arguments, Arguments::command())?,
    }
    Ok(())
}
