//! `tandem serve`: flags, start-up lines and the stop signal. Everything else is in `hub` and `server`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use tandem_hub::webhooks::address::Resolver;
use tandem_hub::{Clock, Config};
use tandem_server::Server;
use tokio::signal::unix::{SignalKind, signal};

/// Arguments of `tandem serve`. Each setting can also come from `TANDEM_*` or from tandem.toml.
#[derive(Debug, Default, Args)]
#[command(after_help = MORE)]
pub(crate) struct Arguments {
    /// Address to listen on [default: 127.0.0.1:3000]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// The data folder [default: ./tandem-data]
    #[arg(long, value_name = "FOLDER")]
    data: Option<String>,
    /// sqlite:PATH or postgres://user:password@host/name [default: SQLite in the data folder]
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// The public URL of this hub
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// The operator's token, at least 16 characters [default: generated and stored in the data folder]
    #[arg(long, value_name = "TOKEN")]
    admin_token: Option<String>,
    /// The settings file [default: ./tandem.toml, if it exists]
    #[arg(long, value_name = "FILE", env = "TANDEM_CONFIG")]
    config: Option<PathBuf>,
    /// Any setting by its name, such as --set rate_limit_max=0; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = crate::settings::name_and_value)]
    set: Vec<(String, String)>,
    /// Print every setting with its meaning and default, and exit
    #[arg(long)]
    example_config: bool,
}

const MORE: &str = "\
Examples:
  tandem serve                                     a hub on http://127.0.0.1:3000, data in ./tandem-data
  tandem serve --listen 0.0.0.0:8080 --public-url https://hub.example.com
  tandem serve --database postgres://tandem@db/tandem --set rate_limit_max=0
  tandem serve --example-config > tandem.toml      a settings file with all defaults

Flags override TANDEM_* variables, which override tandem.toml.
TANDEM_LOG sets the log level: info (default), debug, warn, tandem_server=debug, ...
SIGTERM or Ctrl-C stops the hub after the current requests are answered.";

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
        crate::settings::load(&self.flags(), self.config.as_deref())
    }
}

/// Runs a hub until it receives SIGTERM or Ctrl-C.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.example_config {
        print!("{}", tandem_hub::config::EXAMPLE);
        return Ok(());
    }
    let config = arguments.settings()?;
    tandem_server::logs::init();
    for name in Config::unknown_variables(std::env::vars().map(|(name, _)| name)) {
        eprintln!("tandem: {name} is set, but it is not a setting; see tandem serve --example-config");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let started = tandem_hub::start::open(config, Clock::System, Resolver::System).await?;
        let config = &started.hub.config;
        let listener = tandem_server::listen(config).await?;
        let address = listener.local_addr()?;
        let url = config.public_address().map_or_else(|| format!("http://{}", reachable(address)), Into::into);
        println!("tandem {} · data {} · {}", env!("CARGO_PKG_VERSION"), config.data.display(), started.hub.totals.database);
        println!("Listening    http://{address}");
        println!("Start page   {url}/       reference {url}/docs");
        println!("MCP          {url}/mcp    with an agent's API key as bearer token");
        println!("Register     curl -s {url}/agents -H 'Content-Type: application/json' -d '{{\"name\":\"my agent\"}}'");
        if let Some(file) = &started.token_file {
            println!("Operator     token in {}", file.display());
        }
        if address.ip().is_unspecified() && config.public_address().is_none() {
            println!("Network      other machines use this machine's IP address");
            println!("             MCP under a host name needs the setting mcp_hosts or public_url");
        }
        if !address.ip().is_loopback() {
            println!("Warning      the hub serves plain HTTP to the network; put a TLS proxy in front of it");
        }
        println!("Ctrl-C stops the hub.");
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let stop = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            eprintln!("tandem: stopping after the current requests");
        };
        Server::new(started).run(listener, stop).await;
        Ok(())
    })
}

/// An address that this machine can connect to, for a hub that listens on all of them.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}
