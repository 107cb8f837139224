//! TLS for connections that the hub opens: to receivers of webhooks and to a bucket.

use std::sync::{Arc, OnceLock};

use tokio_rustls::TlsConnector;

/// Reading the system's certificates is slow, so it is done once, when first needed.
pub(crate) fn connector() -> TlsConnector {
    static CONNECTOR: OnceLock<TlsConnector> = OnceLock::new();
    let connect = || {
        let mut roots = rustls::RootCertStore::empty();
        // Skip certificates that cannot be parsed.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let config = rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        TlsConnector::from(Arc::new(config))
    };
    CONNECTOR.get_or_init(connect).clone()
}
