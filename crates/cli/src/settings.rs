//! Loading the settings, for every command that works on a hub's data.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use tandem_hub::Config;

/// Flags that select a hub. The settings are loaded as by `tandem serve`.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The data folder [default: ./tandem-data]
    #[arg(long, value_name = "FOLDER")]
    data: Option<String>,
    /// sqlite:PATH or postgres://user:password@host/name [default: SQLite in the data folder]
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// The settings file [default: ./tandem.toml, if it exists]
    #[arg(long, value_name = "FILE", env = "TANDEM_CONFIG")]
    config: Option<PathBuf>,
    /// Any setting by its name; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = name_and_value)]
    set: Vec<(String, String)>,
}

impl Place {
    pub(crate) fn settings(&self) -> anyhow::Result<Config> {
        let named = [("data", &self.data), ("database", &self.database)];
        let mut flags = self.set.clone();
        flags.extend(named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?))));
        load(&flags, self.config.as_deref())
    }
}

/// Loads the settings from flags, the environment and the given file or ./tandem.toml.
pub(crate) fn load(flags: &[(String, String)], file: Option<&Path>) -> anyhow::Result<Config> {
    let usual = Path::new("tandem.toml");
    let file = file.or_else(|| usual.exists().then_some(usual));
    let unreadable = |(name, value): &(OsString, OsString)| {
        name.to_string_lossy().starts_with("TANDEM_") && value.to_str().is_none()
    };
    if let Some((name, _)) = std::env::vars_os().find(unreadable) {
        anyhow::bail!("{}: must be valid UTF-8", name.to_string_lossy());
    }
    Ok(Config::load(flags, |name| std::env::var(name).ok(), file)?)
}

pub(crate) fn name_and_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim().replace('-', "_"), value.to_owned()))
}
