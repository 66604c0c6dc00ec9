//! The connection below a websocket: TCP, or TLS over TCP.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::Path;

#[cfg(feature = "remote")]
use super::tls::{self, Tls};
use crate::ui::error::CliError;

pub(super) enum Stream {
    Plain(TcpStream),
    #[cfg(feature = "remote")]
    Tls(Box<Tls>),
}

impl Stream {
    /// Negotiates TLS with the named server. Trusts the certificates of a file or, without one, the
    /// built-in certificates.
    #[cfg(feature = "remote")]
    pub(super) fn encrypted(
        socket: TcpStream,
        host: &str,
        trusted: Option<&Path>,
    ) -> Result<Stream, CliError> {
        let tls = tls::connect(socket, host, tls::trusted(trusted)?)?;
        Ok(Stream::Tls(Box::new(tls)))
    }

    #[cfg(not(feature = "remote"))]
    pub(super) fn encrypted(_: TcpStream, _: &str, _: Option<&Path>) -> Result<Stream, CliError> {
        let what =
            "this program cannot connect to wss:// addresses: it was built without the feature `remote`";
        Err(CliError::Refused(what.into()))
    }

    /// The TCP socket. Its timeouts hold for the stream, encrypted or not.
    pub(super) fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(socket) => socket,
            #[cfg(feature = "remote")]
            Stream::Tls(tls) => tls.get_ref(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(into),
            #[cfg(feature = "remote")]
            Stream::Tls(tls) => tls.read(into),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.write(from),
            #[cfg(feature = "remote")]
            Stream::Tls(tls) => tls.write(from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(socket) => socket.flush(),
            #[cfg(feature = "remote")]
            Stream::Tls(tls) => tls.flush(),
        }
    }
}
