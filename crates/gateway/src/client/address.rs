//! The address of a gateway.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use linerate_core::{Error, Kind};

use crate::Transport;

/// Timeout for connecting, and afterwards for each read and write.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The address of a gateway, and the transport compression to ask it for.
///
/// ```
/// use linerate_gateway::Transport;
/// use linerate_gateway::client::Address;
/// let address = Address::parse("wss://gateway.example/?v=10", Some(Transport::Zstd))?;
/// assert_eq!(address.url(), "wss://gateway.example/?v=10&compress=zstd-stream");
/// assert_eq!((address.host(), address.is_secure()), ("gateway.example", true));
/// # Ok::<(), linerate_gateway::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    url: String,
    is_secure: bool,
    /// `HOST:PORT`, with the port of the scheme if the address has none.
    authority: String,
    transport: Transport,
}

impl Address {
    /// Reads `ws://HOST:PORT/PATH?compress=NAME`, or the same with `wss://`. The port is 80 by
    /// default, or 443 with `wss://`. If `compress` is missing and `transport` is a stream, adds
    /// `compress` to the query. Feeds use the other transports, and each feed has its own way of
    /// choosing the compression; `url` must then contain this choice already.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] if the address has another form or an unknown `compress`, if
    /// neither it nor `transport` names a transport, or if they name different ones.
    pub fn parse(url: &str, transport: Option<Transport>) -> Result<Address, Error> {
        let bad = |message| Error::new(Kind::BadArgument, 0, message);
        let (is_secure, rest) = match url.split_once("://") {
            Some(("ws", rest)) => (false, rest),
            Some(("wss", rest)) => (true, rest),
            _ => return Err(bad("an address begins with ws:// or wss://")),
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (host, path) = rest.split_at(end);
        if host.is_empty() || host.contains('@') {
            return Err(bad("the address names no host"));
        }
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let port = if is_secure { 443 } else { 80 };
        let authority = if has_port { host.to_owned() } else { format!("{host}:{port}") };
        let query = path.split_once('?').map_or("", |(_, query)| query);
        let named = query.split('&').find_map(|pair| pair.strip_prefix("compress="));
        let (path, transport) = match (named.map(str::parse::<Transport>).transpose()?, transport) {
            (Some(named), Some(asked)) if named != asked => {
                return Err(bad("compress= in the address names another transport than the one asked for"));
            }
            (Some(named), _) => (path.to_owned(), named),
            (None, Some(asked)) if asked.is_stream() => (with_query(path, asked), asked),
            (None, Some(asked)) => (path.to_owned(), asked),
            (None, None) => {
                return Err(bad("the address lacks compress=zlib-stream or compress=zstd-stream"));
            }
        };
        let path = if path.starts_with('/') { path } else { format!("/{path}") };
        let scheme = if is_secure { "wss" } else { "ws" };
        Ok(Address { url: format!("{scheme}://{host}{path}"), is_secure, authority, transport })
    }

    /// The whole address. For streams its query names the transport.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The name or IP address of the host, which TLS compares with the certificate. An IPv6 address
    /// has its brackets.
    pub fn host(&self) -> &str {
        self.authority.rsplit_once(':').map_or(&*self.authority, |(host, _)| host)
    }

    /// Whether the connection has to be encrypted.
    pub fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// The transport compression to ask the gateway for.
    pub fn transport(&self) -> Transport {
        self.transport
    }

    /// Connects by TCP to the first address of the host that answers. Connecting to each, and later
    /// each read and write, may take 10 seconds. For a secure address, the caller adds TLS.
    ///
    /// # Errors
    /// Returns the error of resolving the name, of connecting to the last of its addresses, or of
    /// setting options of the socket, and [`io::ErrorKind::NotFound`] for a name without addresses.
    pub fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in self.authority.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, TIMEOUT) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(TIMEOUT))?;
                    stream.set_write_timeout(Some(TIMEOUT))?;
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

fn with_query(path: &str, transport: Transport) -> String {
    let separator = if path.contains('?') { '&' } else { '?' };
    format!("{path}{separator}compress={transport}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_has_the_transport_of_its_query_or_gets_one() {
        let parsed = |url, asked| Address::parse(url, asked).map(|a| (a.url, a.authority, a.transport));
        let (zlib, zstd) = (Transport::Zlib, Transport::Zstd);
        let url = "ws://127.0.0.1:9000/?v=10&compress=zstd-stream";
        assert_eq!(parsed(url, None), Ok((url.into(), "127.0.0.1:9000".into(), zstd)));
        let made = "ws://gateway/?compress=zlib-stream";
        assert_eq!(parsed("ws://gateway", Some(zlib)), Ok((made.into(), "gateway:80".into(), zlib)));
        assert_eq!(parsed("ws://gateway/?compress=zlib-stream", Some(zlib)).unwrap().0, made);
        assert_eq!(
            parsed("ws://[::1]:8/?a=b", Some(zlib)).unwrap().0,
            "ws://[::1]:8/?a=b&compress=zlib-stream"
        );
        let made = "wss://gateway/?compress=zstd-stream";
        assert_eq!(parsed("wss://gateway", Some(zstd)), Ok((made.into(), "gateway:443".into(), zstd)));
        assert_eq!(parsed("wss://gateway:80", Some(zstd)).unwrap().1, "gateway:80");
    }

    #[test]
    fn other_schemes_missing_hosts_and_missing_or_contradicting_transports_are_a_bad_argument() {
        for (url, asked) in [
            ("http://gateway/?compress=zlib-stream", None),
            ("ws:///", Some(Transport::Zlib)),
            ("ws://you@gateway/", Some(Transport::Zlib)),
            ("ws://gateway/", None),
            ("ws://gateway/?compress=lz4", None),
            ("ws://gateway/?compress=zlib-stream", Some(Transport::Zstd)),
        ] {
            assert_eq!(Address::parse(url, asked).unwrap_err().kind, Kind::BadArgument, "{url}");
        }
    }
}
