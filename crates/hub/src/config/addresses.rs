//! Settings that name addresses: where to listen, which proxies to trust, which web pages may call.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

/// The port of a hub, unless the setting names another.
const PORT: u16 = 3000;

pub(super) fn listen<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_listen(text.trim()).ok_or_else(|| {
        serde::de::Error::custom(format!(
            "{text:?} is not an address to listen on; write an IP address and a port, such as 127.0.0.1:3000, or a \
             port alone, which means this machine only"
        ))
    })
}

/// An address with a port, or one of them. A port alone and `localhost` mean the loopback address: nothing is
/// reachable from other machines unless the setting says so.
fn parse_listen(text: &str) -> Option<SocketAddr> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Some(address);
    }
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    if let Ok(ip) = text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        return Some(SocketAddr::new(ip, PORT));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host, port),
        None if text.bytes().all(|b| b.is_ascii_digit()) => ("", text),
        None => (text, "3000"),
    };
    let port = port.parse().ok().filter(|_| !port.starts_with('+'))?;
    (host.is_empty() || host.eq_ignore_ascii_case("localhost")).then(|| SocketAddr::new(local, port))
}

/// A list of IP addresses and networks, such as `10.0.0.0/8, 127.0.0.1`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AddressRanges(Vec<AddressRange>);

impl AddressRanges {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub fn contains(&self, ip: IpAddr) -> bool {
        self.0.iter().any(|range| range.contains(ip))
    }
}

impl TryFrom<String> for AddressRanges {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        items(&text).map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl From<AddressRanges> for String {
    fn from(ranges: AddressRanges) -> Self {
        ranges.0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }
}

/// The addresses whose first `bits` bits are those of `ip`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AddressRange {
    ip: IpAddr,
    bits: u32,
}

impl AddressRange {
    fn contains(self, ip: IpAddr) -> bool {
        match (self.ip, ip.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(32 - self.bits).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(128 - self.bits).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl FromStr for AddressRange {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is neither an IP address nor a network such as 10.0.0.0/8");
        let (ip, bits) = text.split_once('/').map_or((text, None), |(ip, bits)| (ip, Some(bits)));
        let ip = ip.parse::<IpAddr>().map_err(|_| wrong())?.to_canonical();
        let bits_max = if ip.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => bits_max,
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= bits_max).ok_or_else(wrong)?,
        };
        Ok(Self { ip, bits })
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.bits)
    }
}

/// A list of web origins, such as `https://app.example.com, http://localhost:5173`; `*` means every origin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Origins(Vec<String>);

impl Origins {
    /// Whether the list contains this origin, as a browser writes it.
    #[must_use]
    pub fn contains(&self, origin: &str) -> bool {
        self.0.iter().any(|allowed| allowed == "*" || allowed.eq_ignore_ascii_case(origin))
    }
}

impl TryFrom<String> for Origins {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        items(&text).map(parse_origin).collect::<Result<_, _>>().map(Self)
    }
}

impl From<Origins> for String {
    fn from(origins: Origins) -> Self {
        origins.0.join(", ")
    }
}

fn parse_origin(text: &str) -> Result<String, String> {
    let bare = text.trim_end_matches('/');
    let host = bare.strip_prefix("https://").or_else(|| bare.strip_prefix("http://"));
    if text == "*" || host.is_some_and(|host| !host.is_empty() && !host.contains(['/', '@', '?', '#', '*'])) {
        return Ok(bare.to_ascii_lowercase());
    }
    Err(format!("{text:?} is not an origin such as https://app.example.com; a single * means every origin"))
}

fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}
