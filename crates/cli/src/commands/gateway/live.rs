//! A live connection to a gateway, recorded as messages arrive.

use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use linerate_gateway::{Encoding, Envelope, Transport};
use serde_json::Value;
use tungstenite::{Error, Message, WebSocket};

use super::recording_writer::{RecordingWriter, now};
use super::stream::Stream;
use crate::ui::error::CliError;
use crate::ui::signals::CancelToken;

/// Timeout of reads and writes while connecting.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Interval at which signals, limits and heartbeats are checked.
const TICK: Duration = Duration::from_millis(100);
const HELLO: u64 = 10;
const HEARTBEAT: u64 = 1;

/// The address of a gateway, and the transport compression it is asked for.
#[derive(Debug)]
pub(super) struct Address {
    url: String,
    /// Whether the connection is encrypted.
    secure: bool,
    /// Host and port.
    place: String,
    pub(super) transport: Transport,
}

impl Address {
    /// Reads `ws://HOST:PORT/PATH?compress=NAME`, or `wss://`. Without `compress` it is the one that was told.
    pub(super) fn parse(url: &str, told: Option<Transport>) -> Result<Address, String> {
        let (secure, rest) = match url.split_once("://") {
            Some(("ws", rest)) => (false, rest),
            Some(("wss", rest)) => (true, rest),
            _ => return Err(format!("{url}: an address begins with ws:// or wss://")),
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (host, path) = rest.split_at(end);
        if host.is_empty() || host.contains('@') {
            return Err(format!("{url}: it names no host"));
        }
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let port = if secure { 443 } else { 80 };
        let place = if has_port { host.to_owned() } else { format!("{host}:{port}") };
        let query = path.split_once('?').map_or("", |(_, query)| query);
        let said = query.split('&').find_map(|pair| pair.strip_prefix("compress="));
        let said =
            said.map(str::parse::<Transport>).transpose().map_err(|e| format!("{url}: {}", e.message))?;
        let (path, transport) = match (said, told) {
            (Some(said), Some(told)) if said != told => {
                return Err(format!("{url}: it asks for {said}, and --transport says {told}"));
            }
            (Some(said), _) => (path.to_owned(), said),
            (None, Some(told)) => (with_query(path, told), told),
            (None, None) => {
                return Err(format!("{url}: it lacks compress=zlib-stream or compress=zstd-stream"));
            }
        };
        let path = if path.starts_with('/') { path } else { format!("/{path}") };
        let scheme = if secure { "wss" } else { "ws" };
        Ok(Address { url: format!("{scheme}://{host}{path}"), secure, place, transport })
    }

    /// Whether the connection is encrypted.
    pub(super) fn is_secure(&self) -> bool {
        self.secure
    }

    fn connect(&self, trusted: Option<&Path>) -> Result<Stream, CliError> {
        let socket = connect(&self.place).map_err(CliError::io("cannot connect"))?;
        socket.set_nodelay(true).map_err(CliError::io("cannot connect"))?;
        let host = self.place.rsplit_once(':').map_or(&*self.place, |(host, _)| host);
        if self.secure { Stream::encrypted(socket, host, trusted) } else { Ok(Stream::Plain(socket)) }
    }
}

fn with_query(path: &str, transport: Transport) -> String {
    let joint = if path.contains('?') { '&' } else { '?' };
    format!("{path}{joint}compress={transport}")
}

/// When to end, and the messages to send.
pub(super) struct Plan {
    pub(super) messages: Option<u64>,
    pub(super) duration: Option<Duration>,
    /// Messages sent after HELLO.
    pub(super) lines: Vec<String>,
    /// The file of the certificates that are trusted, instead of those built in.
    pub(super) trusted: Option<PathBuf>,
}

pub(super) struct Connection {
    socket: WebSocket<Stream>,
    /// The time between two heartbeats, and when the next one is due.
    heartbeat: Option<(Duration, Instant)>,
    sequence: Option<u64>,
}

impl Connection {
    pub(super) fn open(address: &Address, plan: &Plan) -> Result<Connection, CliError> {
        let stream = address.connect(plan.trusted.as_deref())?;
        let (socket, _) = tungstenite::client(&address.url, stream)
            .map_err(|error| CliError::Refused(format!("no gateway answers: {error}")))?;
        let ready = socket.get_ref().socket().set_read_timeout(Some(TICK));
        ready.map_err(CliError::io("cannot connect"))?;
        Ok(Connection { socket, heartbeat: None, sequence: None })
    }

    /// Records until the plan, the gateway or a signal ends it; returns the reason.
    pub(super) fn record<W: Write>(
        &mut self,
        plan: &Plan,
        writer: &mut RecordingWriter<W>,
    ) -> Result<String, CliError> {
        let writing = || CliError::io("cannot write the recording");
        let cancel = CancelToken::on_signal();
        let begun = Instant::now();
        loop {
            if cancel.is_cancelled() {
                return Ok(self.leave("interrupted"));
            }
            if plan.duration.is_some_and(|most| begun.elapsed() >= most) {
                return Ok(self.leave("time"));
            }
            self.beat()?;
            let wire = match self.socket.read() {
                Ok(Message::Binary(wire)) => wire,
                Ok(Message::Close(why)) => {
                    let _ = self.socket.flush();
                    return Ok(why.map_or_else(|| "closed".into(), |why| format!("closed, {}", why.code)));
                }
                Ok(_) => continue,
                Err(Error::Io(error)) if is_silence(&error) => continue,
                Err(Error::ConnectionClosed | Error::AlreadyClosed) => return Ok("closed".into()),
                Err(error) => return Err(CliError::Refused(format!("the connection was lost: {error}"))),
            };
            let payload = writer.frame(now(), wire.into()).map_err(writing())?;
            let is_hello = payload.is_some_and(|payload| self.hear(payload));
            if is_hello {
                plan.lines.iter().try_for_each(|line| self.say(line.clone()))?;
            }
            if plan.messages.is_some_and(|most| writer.messages >= most) {
                return Ok(self.leave("messages"));
            }
        }
    }

    /// Takes from a payload what heartbeats need; returns whether it is HELLO.
    fn hear(&mut self, payload: &[u8]) -> bool {
        let Ok(envelope) = Envelope::read(payload, Encoding::Json) else { return false };
        self.sequence = envelope.sequence.or(self.sequence);
        if envelope.op != Some(HELLO) {
            return false;
        }
        let hello: Value = serde_json::from_slice(payload).unwrap_or_default();
        if let Some(milliseconds) = hello["d"]["heartbeat_interval"].as_u64().filter(|&ms| ms > 0) {
            let interval = Duration::from_millis(milliseconds);
            self.heartbeat = Some((interval, Instant::now() + interval));
        }
        true
    }

    /// Sends a heartbeat if one is due.
    fn beat(&mut self) -> Result<(), CliError> {
        let Some((interval, due)) = self.heartbeat.filter(|(_, due)| *due <= Instant::now()) else {
            return Ok(());
        };
        self.heartbeat = Some((interval, due + interval));
        let sequence = self.sequence.map_or_else(|| "null".into(), |s| s.to_string());
        self.say(format!(r#"{{"op":{HEARTBEAT},"d":{sequence}}}"#))
    }

    fn say(&mut self, text: String) -> Result<(), CliError> {
        let lost = |error| CliError::Refused(format!("the connection was lost: {error}"));
        self.socket.send(Message::text(text)).map_err(lost)
    }

    /// Closes the connection from this side.
    fn leave(&mut self, why: &str) -> String {
        let _ = self.socket.close(None);
        let _ = self.socket.flush();
        why.to_owned()
    }
}

fn connect(place: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in place.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(stream) => {
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Whether nothing came for a while.
fn is_silence(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_the_transport() {
        let parsed = |url, told| Address::parse(url, told).map(|a| (a.url, a.place, a.transport));
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
        for (url, told) in [
            ("http://gateway/?compress=zlib-stream", None),
            ("ws:///", Some(zlib)),
            ("ws://you@gateway/", Some(zlib)),
            ("ws://gateway/", None),
            ("ws://gateway/?compress=gzip", None),
            ("ws://gateway/?compress=zlib-stream", Some(zstd)),
        ] {
            assert!(Address::parse(url, told).is_err(), "{url}");
        }
    }
}
