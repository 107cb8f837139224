//! `tandem serve`: flags, start-up lines and the stop signal. Everything else is in `hub` and `server`.

use std::io::IsTerminal as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use tandem_hub::ops::sign_ins;
use tandem_hub::start::Started;
use tandem_hub::token::TokenPlace;
use tandem_hub::webhooks::address::Resolver;
use tandem_hub::{Clock, Config};
use tandem_server::{GRACE, Server};
use tokio::signal::unix::{SignalKind, signal};

use crate::descriptors;
use crate::output::{self, report, say};

/// Arguments of `tandem serve`. Each setting can also come from `TANDEM_*` or from tandem.toml.
#[derive(Debug, Default, Args)]
#[command(after_help = MORE)]
pub(crate) struct Arguments {
    /// Address to listen on, or a port on this machine [default: 127.0.0.1:3000]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// The data folder [default: ./tandem-data]
    #[arg(long, value_name = "FOLDER")]
    data: Option<String>,
    /// sqlite:PATH or postgres://user:password@host/name [default: SQLite in the data folder]
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// Bus of several nodes on one database: nats://HOST, or none for slow wake-ups
    #[arg(long, value_name = "URL")]
    bus: Option<String>,
    /// Where other nodes reach this one [default: the address it listens on]
    #[arg(long, value_name = "HOST:PORT")]
    advertise: Option<String>,
    /// A folder for files that all nodes mount [default: files are in the data folder]
    #[arg(long, value_name = "FOLDER")]
    shared_files: Option<String>,
    /// The public URL of this hub
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// The operator's token, at least 16 characters [default: generated, in the data folder]
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
  tandem serve --listen 3001                       another port
  tandem serve --listen 0.0.0.0:8080 --public-url https://hub.example.com
  tandem serve --database postgres://tandem@db/tandem --set rate_limit_max=0
  tandem serve --database postgres://tandem@db/tandem --bus nats://nats --advertise 10.0.0.5:3000
                                                   one of several nodes; see docs/scaling.md
  tandem serve --example-config > tandem.toml      a settings file with all defaults

Flags override TANDEM_* variables, which override tandem.toml.
TANDEM_LOG sets the log level: info (default), debug, warn, tandem_server=debug, ...
SIGTERM or Ctrl-C stops the hub after the current requests are answered.";

/// Shifts the clock of a hub, for fault tests whose nodes disagree about the time.
const CLOCK_OFFSET: &str = "TANDEM_TEST_CLOCK_OFFSET_MS";

impl Arguments {
    fn flags(&self) -> Vec<(String, String)> {
        let named = [
            ("listen", &self.listen),
            ("data", &self.data),
            ("database", &self.database),
            ("bus", &self.bus),
            ("advertise", &self.advertise),
            ("shared_files", &self.shared_files),
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

/// The clock of the hub: that of the system, unless a fault test shifts it.
fn clock() -> anyhow::Result<Clock> {
    let Some(text) = std::env::var_os(CLOCK_OFFSET) else { return Ok(Clock::System) };
    let ms = text.to_str().and_then(|text| text.parse().ok());
    let ms = ms.with_context(|| format!("{CLOCK_OFFSET} is {text:?}, not a whole number of milliseconds"))?;
    report!(
        "tandem: warning: {CLOCK_OFFSET} is set, so the clock of this hub is {ms} ms off; only tests want that"
    );
    Ok(Clock::Shifted(ms))
}

/// Names environment variables that look like settings and are none.
fn report_unknown_variables() {
    let variables = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    for (name, meant) in Config::unknown_variables(variables) {
        let hint = match meant {
            Some(meant) => format!("did you mean {meant}?"),
            None => "see tandem serve --example-config".into(),
        };
        report!("tandem: {name} is set, but it is not a setting; {hint}");
    }
}

/// Prints how agents, the operator and other nodes reach the hub.
fn say_how_to_reach(started: &Started, address: SocketAddr, url: &str) {
    let config = &started.hub.config;
    say!("MCP          {url}/mcp    with an agent's API key as bearer token");
    say!("Register     tandem register NAME --hub {url}");
    match &started.token {
        TokenPlace::Setting => {}
        TokenPlace::File(file) => say!("Operator     token in {}", file.display()),
        TokenPlace::OtherNode => {
            say!(
                "Operator     the token is that of the other nodes: in the file admin-token in the data folder of"
            );
            say!("             the node that was started first, or in their setting admin_token");
        }
    }
    if started.hub.cluster.topology.is_clustered() {
        let cluster = &started.hub.cluster;
        say!("Node         {}, reached by other nodes at {}", cluster.id(), cluster.address(address));
    }
    if address.ip().is_unspecified() && config.public_address().is_none() {
        say!("Network      other machines use this machine's IP address");
        say!("             MCP under a host name needs the setting mcp_hosts or public_url");
    }
    if !address.ip().is_loopback() {
        say!("Warning      the hub serves plain HTTP to the network; put a TLS proxy in front of it");
    }
}

/// Runs a hub until it receives SIGTERM or Ctrl-C.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.example_config {
        return Ok(output::result(tandem_hub::config::EXAMPLE)?);
    }
    let mut config = arguments.settings()?;
    let _last_lines = tandem_server::logs::init();
    report_unknown_variables();
    let clock = clock()?;
    let too_few_files = descriptors::make_room(&mut config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let started = tandem_hub::start::open(config, clock, Resolver::system()).await?;
        let config = &started.hub.config;
        let listener = tandem_server::listen(config).await?;
        let address = listener.local_addr()?;
        let url =
            config.public_address().map_or_else(|| format!("http://{}", reachable(address)), Into::into);
        say!(
            "tandem {} · data {} · {}",
            env!("CARGO_PKG_VERSION"),
            config.data.display(),
            started.hub.totals.database
        );
        say!("Listening    http://{address}");
        say!("Dashboard    {url}/app    reference {url}/docs");
        // A service's output is stored in a log, where a link that signs somebody in does not belong.
        if std::io::stdout().is_terminal() {
            let link = sign_ins::new_setup_link(&started.hub).await?;
            say!("Sign in      {url}{}   once, within 30 minutes", link.path.as_str());
        } else {
            say!("Sign in      `tandem setup-link` prints a link for the operator");
        }
        say_how_to_reach(&started, address, &url);
        if let Some(warning) = too_few_files {
            say!("Warning      {warning}");
        }
        say!("Ctrl-C stops the hub.");
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let draining = Duration::from_secs(config.drain_seconds.into());
        let stop = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            report!("tandem: stopping after the current requests");
            std::thread::spawn(move || exit_late(GRACE + draining));
        };
        Server::new(started).run(listener, stop).await;
        Ok(())
    });
    // Blocking work that is left, such as reading a file from a slow disk, does not hold up the exit.
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

/// Ends the process if it does not end by itself, for example because the database does not answer. Everything that
/// was answered is stored.
#[expect(
    clippy::disallowed_methods,
    reason = "a thread of its own that only waits for the end of the process"
)]
fn exit_late(after: Duration) {
    std::thread::sleep(after);
    report!("tandem: some work did not stop in time");
    std::process::exit(1);
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
