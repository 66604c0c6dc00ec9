//! Encrypted connections to gateways, with rustls. Certificates are checked against Mozilla's list,
//! which is built in, or against those of a file.

use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::ui::error::CliError;

pub(super) type Tls = StreamOwned<ClientConnection, TcpStream>;

/// The trusted certificates: those of a PEM file or, without one, the built-in ones.
pub(super) fn trusted(file: Option<&Path>) -> Result<RootCertStore, CliError> {
    let Some(file) = file else {
        return Ok(webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect());
    };
    let refused = |what: String| CliError::Refused(format!("{}: {what}", file.display()));
    let pem = std::fs::read(file).map_err(CliError::io_at("cannot read", file))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| refused(format!("it is no PEM file: {error}")))?;
        roots.add(certificate).map_err(|error| refused(format!("a certificate is damaged: {error}")))?;
    }
    if roots.is_empty() {
        return Err(refused("it contains no certificates in PEM form".into()));
    }
    Ok(roots)
}

/// Negotiates an encrypted connection with the named server.
///
/// # Errors
/// [`CliError::Refused`] says why the server is not trusted, or what else failed;
/// [`CliError::Io`] if the socket fails during the handshake.
pub(super) fn connect(mut socket: TcpStream, host: &str, trusted: RootCertStore) -> Result<Tls, CliError> {
    let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
        .map_err(|_| CliError::Refused(format!("`{host}` is not a valid server name")))?;
    let failed = |error| CliError::Refused(format!("no TLS connection to {host}: {error}"));
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    let mut connection = ClientConnection::new(Arc::new(config), name).map_err(failed)?;
    while connection.is_handshaking() {
        connection.complete_io(&mut socket).map_err(|error| refused(host, error))?;
    }
    Ok(StreamOwned::new(connection, socket))
}

fn refused(host: &str, error: io::Error) -> CliError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(why)) => {
            CliError::Refused(format!("{host} is not trusted: {}", reason(why)))
        }
        Some(other) => CliError::Refused(format!("no TLS connection to {host}: {other}")),
        None => CliError::io("cannot connect")(error),
    }
}

fn reason(why: &CertificateError) -> String {
    use CertificateError as E;
    match why {
        E::UnknownIssuer => "no trusted authority signed its certificate; \
            --cacert FILE trusts the certificates of a file"
            .into(),
        E::NotValidForName | E::NotValidForNameContext { .. } => "its certificate is for another name".into(),
        E::Expired | E::ExpiredContext { .. } => "its certificate has expired".into(),
        E::NotValidYet | E::NotValidYetContext { .. } => "its certificate is not valid yet".into(),
        other => format!("its certificate is not accepted: {other}"),
    }
}
