//! TLS: its implementation, and the certificates that are trusted.

use std::env;

use reqwest::{Certificate, Client, ClientBuilder};
use webpki_root_certs::TLS_SERVER_ROOT_CERTS;

/// Variables of the environment that name certificates.
const NAMED: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// Chooses the implementation for the process. No client for HTTP can be made before; a second time changes nothing.
pub(crate) fn choose() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A client for HTTP with these options. It trusts the certificates of the platform, and those of Mozilla's list on a machine that
/// has none, such as a container with nothing but this program.
///
/// # Errors
/// The options cannot be used, or the environment names certificates (`SSL_CERT_FILE`, `SSL_CERT_DIR`) and none can be read: who
/// names certificates trusts no others.
pub fn client(options: impl Fn(ClientBuilder) -> ClientBuilder) -> reqwest::Result<Client> {
    choose();
    options(Client::builder()).build().or_else(|error| {
        let roots = built_in().ok_or(error)?;
        options(Client::builder()).tls_certs_merge(roots).build()
    })
}

/// Mozilla's list, unless the environment names certificates.
pub(crate) fn built_in() -> Option<Vec<Certificate>> {
    let is_named = NAMED.iter().any(|name| env::var_os(name).is_some());
    let list = TLS_SERVER_ROOT_CERTS.iter().map(|der| Certificate::from_der(der));
    if is_named {
        None
    } else {
        list.collect::<Result<_, _>>().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_certificate_of_the_list_can_be_used() {
        choose();
        let all = TLS_SERVER_ROOT_CERTS.iter().map(|der| Certificate::from_der(der));
        let all: Vec<Certificate> = all.collect::<Result<_, _>>().unwrap();
        assert!(all.len() > 100, "{}", all.len());
        Client::builder().tls_certs_only(all).build().unwrap();
    }
}
