//! Options that every measurement but the first has: where its hub keeps its data, and where the figures go.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;

use super::Plan;
use super::load::Span;
use super::tandem::Tandem;

/// Where the measured hub keeps its data, and where the figures go.
#[derive(Debug, Args)]
pub(super) struct Place {
    /// The database of the measured hub, empty [default: SQLite in a temporary folder]
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// Where to create the temporary data folders
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Where to write every figure as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    tandem: Tandem,
}

impl Place {
    pub(super) fn plan(&self, span: Span, agents: usize, set: Vec<String>) -> anyhow::Result<Plan> {
        Ok(Plan {
            span,
            connections: Vec::new(),
            agents,
            growth: Vec::new(),
            database: self.database.clone(),
            postgres: None,
            set,
            folder: self.folder.as_ref().map(std::path::absolute).transpose()?,
            tandem: self.tandem.clone(),
        })
    }

    /// Prints the table, and writes the figures to the file if one is named.
    pub(super) fn report(&self, table: &str, figures: &impl Serialize) -> anyhow::Result<()> {
        print!("{table}");
        if let Some(path) = &self.json {
            std::fs::write(path, serde_json::to_string_pretty(figures)?)
                .with_context(|| format!("cannot write {}", path.display()))?;
            println!("Figures: {}", path.display());
        }
        Ok(())
    }
}
