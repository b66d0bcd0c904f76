//! The implementation of TLS.

/// Chooses it for the process. No client for HTTP can be made before; a second time changes nothing.
pub(crate) fn choose() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
