//! Where a bucket is and who asks for it: the settings of the hub and the `AWS_*` variables of its environment.

use http::Uri;

use super::signature::Credentials;
use crate::delivery::webhooks::address::port_of;
use crate::files::Error;

const DEFAULT_REGION: &str = "us-east-1";

/// The address of an S3 service.
pub(super) struct Endpoint {
    pub(super) tls: bool,
    /// Host name or literal address, without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// The `Host` header.
    pub(super) authority: String,
    /// The path before the bucket, without a slash at its end.
    pub(super) path: String,
}

impl Endpoint {
    /// Requests are encrypted unless the address says `http`.
    pub(super) fn parse(url: &str) -> Result<Self, Error> {
        // The address is not quoted, because it may contain a password.
        let wrong = || {
            Error::Bucket(
                "the endpoint must start with http:// or https://, name a host and a valid port, and contain no \
                 credentials"
                    .into(),
            )
        };
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong()),
        };
        let authority = uri.authority().filter(|found| !found.as_str().contains('@')).ok_or_else(wrong)?;
        let port = port_of(authority, if tls { 443 } else { 80 }).ok_or_else(wrong)?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let path = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { tls, host, port, authority: authority.to_string(), path })
    }
}

/// Reads the address and the credentials. `endpoint` is the one in the hub's settings, or empty; `variable` reads the
/// environment.
pub(super) fn read(
    endpoint: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(Endpoint, Credentials), Error> {
    let first =
        |names: &[&str]| names.iter().find_map(|name| variable(name).filter(|value| !value.is_empty()));
    let region = first(&["AWS_REGION", "AWS_DEFAULT_REGION"]).unwrap_or_else(|| DEFAULT_REGION.to_owned());
    let endpoint = Some(endpoint.to_owned())
        .filter(|url| !url.is_empty())
        .or_else(|| first(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"]))
        .unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
    let endpoint = Endpoint::parse(&endpoint)?;
    let (Some(key_id), Some(secret)) = (first(&["AWS_ACCESS_KEY_ID"]), first(&["AWS_SECRET_ACCESS_KEY"]))
    else {
        return Err(Error::Bucket(
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must both be set; roles of a machine, a container or a web \
             identity are not supported"
                .into(),
        ));
    };
    // Versions that read it stored files encrypted by it; ignoring it would silently end that.
    if first(&["AWS_SERVER_SIDE_ENCRYPTION"]).is_some() {
        return Err(Error::Bucket(
            "AWS_SERVER_SIDE_ENCRYPTION is not supported: set the default encryption of the bucket".into(),
        ));
    }
    Ok((endpoint, Credentials { key_id, secret, token: first(&["AWS_SESSION_TOKEN"]), region }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "secret")];

    fn read_from(endpoint: &str, environment: &[(&str, &str)]) -> Result<(Endpoint, Credentials), String> {
        let variable = |name: &str| {
            environment.iter().find(|(found, _)| *found == name).map(|(_, value)| (*value).to_owned())
        };
        read(endpoint, variable).map_err(|error| error.to_string())
    }

    fn with_keys<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        [&KEYS, more].concat()
    }

    #[test]
    fn without_an_endpoint_the_region_names_amazons() {
        for (region, environment) in [
            ("us-east-1", &[][..]),
            ("eu-west-1", &[("AWS_DEFAULT_REGION", "eu-west-1")]),
            ("eu-north-1", &[("AWS_DEFAULT_REGION", "eu-west-1"), ("AWS_REGION", "eu-north-1")]),
        ] {
            let (endpoint, credentials) = read_from("", &with_keys(environment)).unwrap();
            assert_eq!(endpoint.authority, format!("s3.{region}.amazonaws.com"));
            assert_eq!((endpoint.tls, endpoint.port, endpoint.path.as_str()), (true, 443, ""));
            assert_eq!((credentials.region.as_str(), credentials.token), (region, None));
        }
    }

    #[test]
    fn the_most_specific_endpoint_counts() {
        let environment = [
            ("AWS_ENDPOINT", "http://c"),
            ("AWS_ENDPOINT_URL", "http://b"),
            ("AWS_ENDPOINT_URL_S3", "http://a"),
            ("AWS_SESSION_TOKEN", "token"),
        ];
        for (host, own, skipped) in [("own", "http://own", 0), ("a", "", 0), ("b", "", 1), ("c", "", 2)] {
            let environment = with_keys(&environment[..3 - skipped]);
            assert_eq!(read_from(own, &environment).unwrap().0.host, host);
        }
        assert_eq!(read_from("", &with_keys(&environment)).unwrap().1.token.as_deref(), Some("token"));
    }

    #[test]
    fn an_endpoint_has_a_scheme_a_host_and_no_password() {
        let endpoint = Endpoint::parse("http://[::1]:9000/store/").unwrap();
        assert_eq!((endpoint.tls, endpoint.host.as_str(), endpoint.port), (false, "::1", 9000));
        assert_eq!((endpoint.authority.as_str(), endpoint.path.as_str()), ("[::1]:9000", "/store"));
        for wrong in ["store.example", "ftp://store", "http://", "http://store:0", "https://me:pass@store"] {
            let error = Endpoint::parse(wrong).err().unwrap().to_string();
            assert!(error.contains("endpoint") && !error.contains("pass@"), "{wrong}: {error}");
        }
    }

    #[test]
    fn what_is_not_supported_is_said() {
        for environment in [&[][..], &KEYS[..1], &KEYS[1..], &[KEYS[0], ("AWS_SECRET_ACCESS_KEY", "")]] {
            let error = read_from("", environment).err().unwrap();
            assert!(error.contains("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"), "{error}");
        }
        let error = read_from("", &with_keys(&[("AWS_SERVER_SIDE_ENCRYPTION", "aws:kms")])).err().unwrap();
        assert!(error.contains("default encryption"), "{error}");
    }
}
