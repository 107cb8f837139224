//! `tandem completion` and `tandem man`: what shells and manual readers need.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, Command, ValueEnum};
use clap_complete::env::{Bash, EnvCompleter, Fish, Powershell, Zsh};

use crate::exit::{Failure, Outcome};
use crate::terminal::print;

/// Arguments of `tandem completion`.
#[derive(Debug, Args)]
#[command(after_help = "\
Agents, tasks and profiles are completed too; the shell asks this program, which asks the hub.

Examples:
  echo 'source <(tandem completion bash)' >> ~/.bashrc
  tandem completion fish > ~/.config/fish/completions/tandem.fish")]
pub(crate) struct CompletionArguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

/// Arguments of `tandem man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem man | man -l -
  tandem man --dir ~/.local/share/man/man1      all pages, such as tandem-send(1)")]
pub(crate) struct ManArguments {
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

/// Prints the script that a shell loads.
pub(crate) fn completion(arguments: &CompletionArguments) -> Outcome {
    let completer: &dyn EnvCompleter = match arguments.shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
        Shell::Powershell => &Powershell,
    };
    let mut script = Vec::new();
    completer.write_registration("COMPLETE", "tandem", "tandem", "tandem", &mut script)?;
    let mut out = std::io::stdout();
    out.write_all(&script)?;
    Ok(())
}

/// Writes manual pages.
pub(crate) fn man(arguments: &ManArguments, command: Command) -> Outcome {
    let Some(folder) = &arguments.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        return print(&String::from_utf8_lossy(&page));
    };
    let failed =
        |cause: std::io::Error| Failure::refused(format!("cannot write to {}: {cause}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(command, folder).map_err(failed)
}
