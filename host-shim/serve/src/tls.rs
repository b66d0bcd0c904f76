//! The certificate of the service.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// A certificate with its chain, and its key.
pub struct Identity {
    config: RwLock<Arc<ServerConfig>>,
}

/// Why a certificate cannot be used.
#[derive(Debug)]
pub struct IdentityError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for IdentityError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot use `{}`: {}", self.file.display(), self.reason)
    }
}

impl std::error::Error for IdentityError {}

impl Identity {
    /// From two files of PEM: the certificate, with those that lead from it to one that clients know, and its key.
    ///
    /// # Errors
    /// A file cannot be read, or the key is not that of the certificate.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, IdentityError> {
        let fault = |file: &Path, reason: String| IdentityError {
            file: file.to_owned(),
            reason,
        };
        let chain: Result<Vec<CertificateDer<'static>>, _> =
            CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
        let chain = chain.map_err(|error| fault(certificate, error.to_string()))?;
        if chain.is_empty() {
            return Err(fault(certificate, "it holds no certificate".to_owned()));
        }
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| fault(key, error.to_string()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, secret));
        let mut config = config.map_err(|error| fault(certificate, error.to_string()))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self {
            config: RwLock::new(Arc::new(config)),
        })
    }

    /// Shows another certificate in place of this one, from the next connection on.
    pub fn replace(&self, other: Self) {
        let other = other.config.into_inner().unwrap_or_else(PoisonError::into_inner);
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = other;
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let config = self.config.read().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(Arc::clone(&config))
    }
}
