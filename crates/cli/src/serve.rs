//! `tandem serve`.

use std::path::PathBuf;

use clap::Args;
use tandem_server::{Clock, Config};
use tokio::signal::unix::{SignalKind, signal};

/// What `tandem serve` takes. Each setting can also come from `TANDEM_*` or from tandem.toml.
#[derive(Debug, Default, Args)]
#[command(after_help = MORE)]
pub(crate) struct Arguments {
    /// Where to listen [default: 127.0.0.1:3000]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// The data folder [default: ./tandem-data]
    #[arg(long, value_name = "FOLDER")]
    data: Option<String>,
    /// sqlite:PATH or postgres://user:password@host/name [default: SQLite in the data folder]
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// The address under which others reach this hub
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// The operator's token, at least 16 characters [default: made, and kept in the data folder]
    #[arg(long, value_name = "TOKEN")]
    admin_token: Option<String>,
    /// The settings file [default: ./tandem.toml, if there is one]
    #[arg(long, value_name = "FILE", env = "TANDEM_CONFIG")]
    config: Option<PathBuf>,
    /// Any setting by its name, such as --set rate_limit_max=0; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = crate::settings::name_and_value)]
    set: Vec<(String, String)>,
    /// Print every setting with its meaning and default, and exit
    #[arg(long)]
    example_config: bool,
    /// Offer what the MCP conformance suite asks for beside the hub's own tools
    #[arg(long, hide = true)]
    mcp_fixtures: bool,
}

const MORE: &str = "\
Settings are taken from flags, then from TANDEM_* variables, then from tandem.toml.
TANDEM_LOG chooses what is logged: info (default), debug, warn, tandem_server=debug, ...
SIGTERM or Ctrl-C stops cleanly: requests under way are answered first.";

impl Arguments {
    fn flags(&self) -> Vec<(String, String)> {
        let named = [
            ("listen", &self.listen),
            ("data", &self.data),
            ("database", &self.database),
            ("public_url", &self.public_url),
            ("admin_token", &self.admin_token),
        ];
        let mut flags = self.set.clone();
        flags.extend(named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?))));
        flags
    }

    fn settings(&self) -> anyhow::Result<Config> {
        let config = crate::settings::load(&self.flags(), self.config.as_deref())?;
        Ok(Config { mcp_fixtures: self.mcp_fixtures, ..config })
    }
}

/// Runs a hub until it is told to stop.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.example_config {
        print!("{}", tandem_server::config::EXAMPLE);
        return Ok(());
    }
    let config = arguments.settings()?;
    tandem_server::logs::init();
    for name in Config::unknown_variables(std::env::vars().map(|(name, _)| name)) {
        eprintln!("tandem: {name} is set, but there is no such setting; see tandem serve --example-config");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let started = tandem_server::open(config, Clock::System).await?;
        let config = &started.hub.config;
        let listener = tandem_server::listen(config).await?;
        let address = listener.local_addr()?;
        let url = config.public_address().map_or_else(|| format!("http://{address}"), Into::into);
        println!("tandem {} · data {} · {}", env!("CARGO_PKG_VERSION"), config.data.display(), started.hub.database);
        println!("Listening    http://{address}");
        println!("First page   {url}/       reference {url}/docs");
        println!("MCP          {url}/mcp    with an agent's key as Bearer token");
        println!("Register     curl -s {url}/agents -H 'Content-Type: application/json' -d '{{\"name\":\"my agent\"}}'");
        if let Some(file) = &started.token_file {
            println!("Operator     token in {}", file.display());
        }
        if !address.ip().is_loopback() {
            println!("Warning      this is plain HTTP, open to the network; put a proxy that speaks TLS in front");
        }
        println!("Ctrl-C stops cleanly.");
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let stop = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            eprintln!("tandem: stopping; requests under way are answered first");
        };
        tandem_server::run(started, listener, stop).await;
        Ok(())
    })
}
