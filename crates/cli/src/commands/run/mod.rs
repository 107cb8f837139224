//! `tandem run`: starts a program for each task that arrives.
//!
//! Every task ends exactly once, whatever is killed in between: the program, the runner, or the hub. The journal says
//! what the runner has done, the hub says what has arrived there.

mod answer;
mod folder;
mod input;
mod install;
mod journal;
mod listing;
mod lock;
mod out_folder;
mod output;
mod processes;
mod queue;
mod recipe;
mod serve;
mod sources;
mod task;
mod work;
mod worker;
mod worker_home;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::session::block_on;
use super::setup::detect::is_program;
use super::{Common, Session};
use crate::exit::{Failure, Outcome};
use crate::terminal::time;
use recipe::Recipe;

/// Defaults that a service need not name.
const CONCURRENCY: u16 = 1;
const TIMEOUT: &str = "30m";
const OUTPUT_MAX: &str = "1MB";
const TRIES: u32 = 2;
const GRACE: &str = "30s";
/// The largest `--output-max`: the largest file of a hub.
const OUTPUT_BYTES_MAX: usize = 50 * 1024 * 1024;

/// Arguments of `tandem run`.
#[derive(Debug, Args)]
#[command(after_help = "\
The command gets the task as JSON on standard input and its id, title and sender in TANDEM_TASK_ID, TANDEM_TASK_TITLE,
TANDEM_FROM_AGENT_ID and TANDEM_FROM_AGENT_NAME. It runs in a folder of its own, with attached files in in/. What it
prints is the result; files that it leaves in out/ are sent along. Exit code 10 makes it a question to the sender, any
other one but 0 a failure. A line `::progress 40 half of it` on standard error reports progress.

Examples:
  tandem run --agent bob --from ada -- ./review.sh
  tandem run --agent bob --from ada --recipe claude
  tandem run --agent bob --from ada --recipe claude --install     as a service of your user")]
pub(crate) struct Arguments {
    /// Take tasks from this agent: id, alias or whole name; may be repeated
    #[arg(long, value_name = "AGENT", value_delimiter = ',')]
    from: Vec<String>,
    /// Take tasks from every agent that is connected
    #[arg(long, conflicts_with = "from")]
    from_anyone_connected: bool,
    /// Tasks that are worked on at the same time
    #[arg(long, value_name = "N", default_value_t = CONCURRENCY, value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: u16,
    /// Time limit for one run of the command
    #[arg(long, value_name = "TIME", default_value = TIMEOUT, value_parser = time::duration)]
    timeout: Duration,
    /// What the command may print, such as 500kB or 2MB
    #[arg(long, value_name = "SIZE", default_value = OUTPUT_MAX, value_parser = size)]
    output_max: usize,
    /// Where the tasks' folders are made [default: the state folder]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Keep the folders of tasks that have ended
    #[arg(long)]
    keep_folders: bool,
    /// How often the command is started for a task, if it is killed
    #[arg(long, value_name = "N", default_value_t = TRIES, value_parser = clap::value_parser!(u32).range(1..=100))]
    tries: u32,
    /// Send the last lines of standard error along with a failure
    #[arg(long)]
    share_errors: bool,
    /// Time for running commands to finish at a stop
    #[arg(long, value_name = "TIME", default_value = GRACE, value_parser = time::duration)]
    grace: Duration,
    /// Use the command line of this AI tool
    #[arg(long, value_enum, value_name = "TOOL")]
    recipe: Option<Recipe>,
    /// Write a service of your user that runs this
    #[arg(long)]
    install: bool,
    /// Only print what --install writes, or the command of --recipe
    #[arg(long)]
    print: bool,
    /// Remove the service of this agent
    #[arg(long, conflicts_with_all = ["install", "print"])]
    remove: bool,
    /// The command; with --recipe, more arguments for it
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<OsString>,
}

/// What a runner needs to know of its arguments.
#[derive(Debug)]
struct Options {
    command: CommandLine,
    concurrency: usize,
    timeout: Duration,
    output_max: usize,
    keep_folders: bool,
    tries: u32,
    share_errors: bool,
    grace: Duration,
}

/// What is started for each task.
#[derive(Debug)]
struct CommandLine {
    /// With a recipe, the command gets a prompt instead of JSON.
    recipe: Option<Recipe>,
    /// The command; with a recipe, more arguments for it.
    words: Vec<OsString>,
}

impl CommandLine {
    /// Program and arguments. Those of a recipe can change with the owner's configuration of the tool.
    fn current(&self) -> Outcome<Vec<OsString>> {
        let mut command = self.recipe.map(Recipe::command).transpose()?.unwrap_or_default();
        command.extend(self.words.iter().cloned());
        Ok(command)
    }
}

/// Why a worker is ended before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// It is not.
    No,
    /// The task has ended, or belongs to somebody else now.
    Ended,
    Shutdown,
}

/// Runs `tandem run`.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    if arguments.remove {
        return install::remove(common);
    }
    let command_line = command_line(arguments)?;
    let command = command_line.current()?;
    if arguments.print && !arguments.install {
        if arguments.recipe.is_none() {
            return Err(Failure::usage("--print belongs to --install or --recipe"));
        }
        let words: Vec<String> =
            command.iter().map(|word| install::quoted(&word.to_string_lossy())).collect();
        return common.terminal().line(&words.join(" "));
    }
    if arguments.from.is_empty() && !arguments.from_anyone_connected {
        return Err(Failure::usage("whose tasks should it take? Without --from it takes none").next(
            "Give --from AGENT for each agent whose tasks may start the command, or --from-anyone-connected.",
        ));
    }
    check_command(&command)?;
    if arguments.install {
        return install::run(common, arguments);
    }
    let session = Session::open(common)?;
    let local = tokio::task::LocalSet::new();
    block_on(local.run_until(Box::pin(serve::run(session, arguments, command_line))))
}

fn command_line(arguments: &Arguments) -> Outcome<CommandLine> {
    let (recipe, mut words) = (arguments.recipe, arguments.command.clone());
    // A worker starts in a folder of its own, in which ./review.sh would be another file.
    let program = words.first_mut().filter(|_| recipe.is_none());
    if let Some(program) = program.filter(|program| Path::new(program).components().count() > 1) {
        *program = std::path::absolute(&*program)?.into_os_string();
    }
    if recipe.is_none() && words.is_empty() {
        return Err(Failure::usage("there is no command to start").next(
            "Give it after --, such as `tandem run --from ada -- ./review.sh`, or use --recipe TOOL.",
        ));
    }
    Ok(CommandLine { recipe, words })
}

/// Refuses a command that does not exist, before a task is taken.
fn check_command(command: &[OsString]) -> Outcome {
    let Some(program) = command.first().map(Path::new) else { return Ok(()) };
    let is_there = match program.components().count() {
        1 => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|folder| is_program(&folder.join(program)))
        }
        _ => is_program(program),
    };
    if is_there {
        return Ok(());
    }
    if program.is_file() {
        let what = format!("{} is not executable", program.display());
        return Err(Failure::refused(what).next(format!("Run: chmod +x {}", program.display())));
    }
    Err(Failure::not_found(format!("there is no command {}", program.display())))
}

/// Parses `500`, `500kB`, `2MB` or `1GB`.
fn size(text: &str) -> Result<usize, String> {
    let wrong = || format!("{text:?} is not a size from 1 to 50MB: give bytes, or a number with kB or MB");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        _ => return Err(wrong()),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(factor));
    bytes.filter(|bytes| (1..=OUTPUT_BYTES_MAX).contains(bytes)).ok_or_else(wrong)
}
