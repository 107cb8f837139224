//! Resolves host names by DNS without a thread per query, so that slow name servers hold up nothing else.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::system_conf::read_system_conf;

/// Time limit of a query to one name server, and how often it is sent.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
const QUERY_TRIES: usize = 2;
/// Concurrent queries to one name server over TCP; more than there are concurrent lookups.
const QUERIES_MAX: usize = 2_048;

/// The name servers and the hosts file of the system. Both are read again when they have changed.
pub struct Dns {
    hosts_file: PathBuf,
    /// The only name server; those of the system if there is none.
    server: Option<SocketAddr>,
    current: Mutex<Option<(Stamp, Arc<Settings>)>>,
}

/// When the files were changed last.
type Stamp = [Option<SystemTime>; 2];

struct Settings {
    hosts: HashMap<String, Vec<IpAddr>>,
    servers: TokioResolver,
}

impl fmt::Debug for Dns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dns").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Dns {
    /// With the settings of the system.
    #[must_use]
    pub fn system() -> Self {
        Self { hosts_file: "/etc/hosts".into(), server: None, current: Mutex::default() }
    }

    /// With other settings, in tests.
    #[must_use]
    pub fn with(server: SocketAddr, hosts_file: PathBuf) -> Self {
        Self { hosts_file, server: Some(server), current: Mutex::default() }
    }

    pub(crate) async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, String> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let settings = self.settings()?;
        if let Some(addresses) = settings.hosts.get(&host) {
            return Ok(addresses.clone());
        }
        if host == "localhost" || host.ends_with(".localhost") {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        let found = settings.servers.lookup_ip(host.as_str()).await.map_err(|error| error.to_string())?;
        Ok(found.iter().collect())
    }

    fn settings(&self) -> Result<Arc<Settings>, String> {
        let changed_at = |file: &PathBuf| std::fs::metadata(file).and_then(|file| file.modified()).ok();
        let stamp = [changed_at(&self.hosts_file), changed_at(&"/etc/resolv.conf".into())];
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, settings)) = &*current
            && *of == stamp
        {
            return Ok(Arc::clone(settings));
        }
        let hosts = parse_hosts(&std::fs::read(&self.hosts_file).unwrap_or_default());
        let settings = Arc::new(Settings { hosts, servers: self.servers()? });
        *current = Some((stamp, Arc::clone(&settings)));
        Ok(settings)
    }

    fn servers(&self) -> Result<TokioResolver, String> {
        let (config, mut options) = match self.server {
            Some(server) => (only(server), ResolverOpts::default()),
            // Without settings, the usual default: a name server on this machine.
            None => read_system_conf()
                .unwrap_or_else(|_| (only(([127, 0, 0, 1], 53).into()), ResolverOpts::default())),
        };
        (options.timeout, options.attempts) = (QUERY_TIMEOUT, QUERY_TRIES);
        // All addresses count: if one of them is not allowed, none is used.
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.use_hosts_file = ResolveHosts::Never;
        // Every attempt asks again; caching is the name server's business.
        options.cache_size = 0;
        options.max_active_requests = QUERIES_MAX;
        let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        *builder.options_mut() = options;
        builder.build().map_err(|error| error.to_string())
    }
}

fn only(server: SocketAddr) -> ResolverConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = server.port();
        connection
    });
    let server = NameServerConfig::new(server.ip(), true, connections.to_vec());
    ResolverConfig::from_parts(None, Vec::new(), vec![server])
}

/// Reads a hosts file: an address and its names on each line, and comments after `#`.
fn parse_hosts(file: &[u8]) -> HashMap<String, Vec<IpAddr>> {
    let mut hosts: HashMap<String, Vec<IpAddr>> = HashMap::new();
    for line in String::from_utf8_lossy(file).lines() {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        if let Some(address) = words.next().and_then(|word| word.parse::<IpAddr>().ok()) {
            for name in words {
                hosts.entry(name.to_ascii_lowercase()).or_default().push(address);
            }
        }
    }
    hosts
}
