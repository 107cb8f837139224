//! Which `tandem` is started. It is a program of its own, which cargo does not build together with this one.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;

/// The option that names the `tandem` to start.
#[derive(Debug, Clone, Args)]
pub struct Tandem {
    /// The tandem to start [default: the file tandem beside this program]
    #[arg(id = "tandem", long = "tandem", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Tandem {
    /// The path of the program, absolute because it is started in other folders.
    ///
    /// # Errors
    ///
    /// If there is no such file, with the command that builds it.
    pub fn path(&self) -> anyhow::Result<PathBuf> {
        let path = match &self.file {
            Some(file) => std::path::absolute(file)?,
            None => std::env::current_exe().context("cannot find this program")?.with_file_name("tandem"),
        };
        if !path.is_file() {
            let build = if cfg!(debug_assertions) { "cargo build" } else { "cargo build --release" };
            bail!(
                "there is no {}; `{build}` builds tandem, and --tandem FILE names another one",
                path.display()
            );
        }
        Ok(path)
    }
}
