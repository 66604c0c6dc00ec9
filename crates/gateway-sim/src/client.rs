//! A client of a gateway with heartbeats and RESUME.

use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use linerate_gateway::{Checks, Encoding, Envelope, Limits, Scratch, Session, SessionError, Transport};
use serde_json::{Value, json};
use tungstenite::protocol::CloseFrame;
use tungstenite::{Message, WebSocket};

/// Number of consecutive connections or attempts to connect, without new events, after which the
/// client gives up.
const ATTEMPTS: u32 = 5;
/// Timeout for each read of the handshake and for sending a message. Also the heartbeat interval,
/// until HELLO names one.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Close code with which the client keeps its session, to resume it.
const WILL_RESUME: u16 = 4000;

/// Counts of what a client did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientCounts {
    /// Number of connections opened, including connections that resumed a session.
    pub connections: u32,
    /// Number of IDENTIFY messages sent.
    pub identifies: u32,
    /// Number of RESUME messages sent.
    pub resumes: u32,
    /// Number of events received, including READY and RESUMED.
    pub events: u64,
    /// Number of heartbeats sent.
    pub heartbeats: u64,
    /// Number of acknowledgements of heartbeats received.
    pub acknowledgements: u64,
    /// Errors of the decompressor, in order.
    pub errors: Vec<SessionError>,
}

/// A client of one shard. It identifies itself, sends heartbeats, decompresses with a [`Session`],
/// and resumes its session after an error or a lost connection.
pub struct Client {
    url: String,
    transport: Transport,
    session: Session,
    scratch: Scratch,
    /// The session to resume, with the sequence number of its last event.
    resume: Option<Resume>,
    counts: ClientCounts,
}

struct Resume {
    url: String,
    id: String,
    sequence: u64,
}

/// Why a connection ended.
enum End {
    /// The caller's event handler wants no more events.
    Done,
    /// The connection is lost or was given up. The next connection resumes the session, if the
    /// client has a session.
    Lost,
    /// The gateway rejects this client.
    Rejected(String),
}

impl From<tungstenite::Error> for End {
    fn from(_: tungstenite::Error) -> Self {
        End::Lost
    }
}

/// The socket of a connection and the state of its heartbeats.
struct Connection {
    socket: WebSocket<TcpStream>,
    /// Time of the next heartbeat, and the interval between heartbeats.
    due: Instant,
    interval: Duration,
    /// Whether the last heartbeat was acknowledged.
    acknowledged: bool,
}

impl Client {
    /// Creates a client of the gateway at a `ws://` address. Payloads are JSON.
    pub fn new(url: &str, transport: Transport) -> Self {
        let checks = Checks::complete(Encoding::Json).sequence(true);
        Client {
            url: url.to_owned(),
            transport,
            session: Session::new(transport, Limits::new()).checks(checks),
            scratch: Scratch::new(),
            resume: None,
            counts: ClientCounts::default(),
        }
    }

    /// Counts since the client was created.
    pub fn counts(&self) -> &ClientCounts {
        &self.counts
    }

    /// Calls `each` for every event until `each` breaks. Reconnects after an error or a lost
    /// connection.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Other`] if the address does not begin with `ws://`, if the gateway
    /// rejects the client, or if five connections in a row fail or bring no event.
    pub fn run(&mut self, mut each: impl FnMut(&Envelope<'_>, &[u8]) -> ControlFlow<()>) -> io::Result<()> {
        let mut fruitless = 0;
        while fruitless < ATTEMPTS {
            let before = self.counts.events;
            match self.connect(&mut each) {
                Err(End::Rejected(reason)) => return Err(io::Error::other(reason)),
                Ok(End::Done) => return Ok(()),
                _ => fruitless = if self.counts.events > before { 0 } else { fruitless + 1 },
            }
        }
        Err(io::Error::other(format!("{ATTEMPTS} connections brought no event")))
    }

    /// Runs one connection to its end.
    fn connect(
        &mut self,
        each: &mut impl FnMut(&Envelope<'_>, &[u8]) -> ControlFlow<()>,
    ) -> Result<End, End> {
        let base = self.resume.as_ref().map_or(&self.url, |resume| &resume.url);
        let mut connection = Connection::open(base, self.transport)?;
        self.counts.connections += 1;
        // Every connection has a new stream, even one that resumes a session.
        self.session.reset();
        if let Some(resume) = &self.resume {
            self.session.resume_after(resume.sequence);
        }
        let end = match self.serve(&mut connection, each) {
            Ok(never) => match never {},
            Err(end) => end,
        };
        connection.close(if matches!(end, End::Done) { 1000 } else { WILL_RESUME });
        Ok(end)
    }

    fn serve(
        &mut self,
        connection: &mut Connection,
        each: &mut impl FnMut(&Envelope<'_>, &[u8]) -> ControlFlow<()>,
    ) -> Result<std::convert::Infallible, End> {
        loop {
            connection.beat(self.resume.as_ref().map(|resume| resume.sequence), &mut self.counts)?;
            let Some(frame) = connection.receive()? else { continue };
            let message = match self.session.message(&frame, &mut self.scratch) {
                Ok(Some(message)) => message,
                Ok(None) => continue,
                Err(error) => {
                    self.counts.errors.push(error);
                    return Err(End::Lost);
                }
            };
            let (envelope, payload) = (message.envelope.unwrap_or_default(), message.payload);
            match envelope.op {
                Some(0) => {
                    self.counts.events += 1;
                    note(&mut self.resume, &envelope, payload);
                    if each(&envelope, payload).is_break() {
                        return Err(End::Done);
                    }
                }
                Some(1) => {
                    let sequence = self.resume.as_ref().map(|resume| resume.sequence);
                    connection.send_heartbeat(sequence, &mut self.counts)?;
                }
                Some(7) => return Err(End::Lost),
                Some(9) => {
                    // `d` may be true, which allows the session to be resumed; this client always
                    // begins a new one.
                    self.resume = None;
                    return Err(End::Lost);
                }
                Some(10) => {
                    connection.begin(payload);
                    connection.send(&match &self.resume {
                        Some(resume) => resume.payload(),
                        None => identify(),
                    })?;
                    let begun = match self.resume {
                        Some(_) => &mut self.counts.resumes,
                        None => &mut self.counts.identifies,
                    };
                    *begun += 1;
                }
                Some(11) => {
                    self.counts.acknowledgements += 1;
                    connection.acknowledged = true;
                }
                _ => {}
            }
        }
    }
}

impl Resume {
    fn payload(&self) -> Value {
        json!({ "op": 6, "d": { "token": "test", "session_id": self.id, "seq": self.sequence } })
    }
}

fn identify() -> Value {
    let properties = json!({ "os": std::env::consts::OS, "browser": "linerate", "device": "linerate" });
    json!({ "op": 2, "d": { "token": "test", "intents": 0, "properties": properties } })
}

/// Updates the session and the sequence number with which a RESUME would continue.
fn note(resume: &mut Option<Resume>, envelope: &Envelope<'_>, payload: &[u8]) {
    let sequence = envelope.sequence.unwrap_or(0);
    if envelope.event == Some("READY") {
        let ready: Value = serde_json::from_slice(payload).unwrap_or_default();
        let text = |name: &str| ready["d"][name].as_str().unwrap_or_default().to_owned();
        *resume = Some(Resume { url: text("resume_gateway_url"), id: text("session_id"), sequence });
    } else if let Some(resume) = resume {
        resume.sequence = sequence;
    }
}

impl Connection {
    fn open(base: &str, transport: Transport) -> Result<Connection, End> {
        let address =
            base.strip_prefix("ws://").ok_or(End::Rejected(format!("{base} is not a ws:// address")))?;
        let address = address.trim_end_matches('/');
        let stream = TcpStream::connect(address).map_err(|_| End::Lost)?;
        stream.set_nodelay(true).map_err(|_| End::Lost)?;
        stream.set_read_timeout(Some(TIMEOUT)).map_err(|_| End::Lost)?;
        stream.set_write_timeout(Some(TIMEOUT)).map_err(|_| End::Lost)?;
        let url = format!("ws://{address}/?v=10&encoding=json&compress={transport}");
        let (socket, _) = tungstenite::client::client(url, stream).map_err(|e| match e {
            tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer)) => {
                End::Rejected(format!("the gateway answers {}", answer.status()))
            }
            _ => End::Lost,
        })?;
        let interval = TIMEOUT;
        Ok(Connection { socket, due: Instant::now() + interval, interval, acknowledged: true })
    }

    /// Reads the heartbeat interval of HELLO and schedules the first heartbeat.
    fn begin(&mut self, hello: &[u8]) {
        let hello: Value = serde_json::from_slice(hello).unwrap_or_default();
        let interval = hello["d"]["heartbeat_interval"].as_u64().filter(|&ms| ms > 0);
        self.interval = interval.map_or(TIMEOUT, Duration::from_millis);
        // The first heartbeat is due earlier. Clients of live services wait for a random part of
        // the interval, so that they do not all send at the same time; this one takes half of it.
        self.due = Instant::now() + self.interval / 2;
    }

    /// Sends a heartbeat if one is due. If the last one was not acknowledged, the connection counts
    /// as lost.
    fn beat(&mut self, sequence: Option<u64>, counts: &mut ClientCounts) -> Result<(), End> {
        if Instant::now() < self.due {
            return Ok(());
        }
        if !self.acknowledged {
            return Err(End::Lost);
        }
        self.send_heartbeat(sequence, counts)
    }

    /// Sends a heartbeat and schedules the next one.
    fn send_heartbeat(&mut self, sequence: Option<u64>, counts: &mut ClientCounts) -> Result<(), End> {
        self.due = Instant::now() + self.interval;
        self.acknowledged = false;
        counts.heartbeats += 1;
        self.send(&json!({ "op": 1, "d": sequence }))
    }

    fn send(&mut self, payload: &Value) -> Result<(), End> {
        Ok(self.socket.send(Message::text(payload.to_string()))?)
    }

    /// Returns the content of the next binary websocket message, or `None` if the next heartbeat is
    /// due first or another kind of message arrives.
    fn receive(&mut self) -> Result<Option<Vec<u8>>, End> {
        let wait = self.due.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        self.socket.get_ref().set_read_timeout(Some(wait)).map_err(|_| End::Lost)?;
        match self.socket.read() {
            Ok(Message::Binary(frame)) => Ok(Some(frame.to_vec())),
            Ok(Message::Close(Some(CloseFrame { code, reason }))) => match u16::from(code) {
                // The token, shard, version or intents are invalid, so a retry does not help.
                4004 | 4010..=4014 => Err(End::Rejected(format!("{reason} ({code})"))),
                _ => Err(End::Lost),
            },
            Ok(Message::Close(None)) => Err(End::Lost),
            Ok(_) => Ok(None),
            Err(tungstenite::Error::Io(e))
                if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
            {
                Ok(None)
            }
            Err(_) => Err(End::Lost),
        }
    }

    /// Sends a close frame, and reads until the gateway ends the connection or is silent for a
    /// second. Ignores errors.
    fn close(&mut self, code: u16) {
        let frame = CloseFrame { code: code.into(), reason: "".into() };
        let _ = self.socket.close(Some(frame));
        let _ = self.socket.get_ref().set_read_timeout(Some(Duration::from_secs(1)));
        while self.socket.read().is_ok() {}
    }
}
