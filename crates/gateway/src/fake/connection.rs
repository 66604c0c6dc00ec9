//! One client's websocket, from HELLO on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::line::{Line, damage};
use super::members::Asked;
use super::payloads;
use super::script::{Script, Trouble};
use super::server::Shared;
use super::sessions::{Content, Extra, Left, Refusal, SessionId};
use super::socket::{End, Socket, after};

/// Shards that a client may have.
const MOST_SHARDS: u64 = 1 << 16;
/// The versions of the protocol that are spoken.
const VERSIONS: std::ops::RangeInclusive<u64> = 6..=10;

/// Opcode 8 asks for members; presence, voice and sounds need no answer.
const MEMBERS: u64 = 8;
const COMMANDS: [u64; 4] = [3, 4, MEMBERS, 31];

pub(super) struct Connection {
    shared: Arc<Shared>,
    /// Tells it from the server's other connections.
    number: u64,
    socket: Socket,
    line: Line,
    session: Option<SessionId>,
    /// When the next event is to be sent.
    due: Instant,
    /// When the client must have sent what it has to: an IDENTIFY, a heartbeat, or that it closes.
    patient_until: Instant,
    /// Whether the client was asked to connect anew.
    leaving: bool,
    /// The minute in which messages are counted.
    minute: Instant,
    messages: u32,
}

impl Connection {
    pub(super) fn new(shared: Arc<Shared>, number: u64, socket: Socket, line: Line) -> Self {
        let now = Instant::now();
        let patient_until = after(shared.script.bounds.patience);
        Connection {
            shared,
            number,
            socket,
            line,
            session: None,
            due: now,
            patient_until,
            leaving: false,
            minute: now,
            messages: 0,
        }
    }

    /// Speaks with the client until one of them ends it.
    pub(super) fn run(mut self, version: Option<u64>) {
        let end = match self.speak(version) {
            Ok(never) => match never {},
            Err(end) => end,
        };
        let left = match end {
            End::Client(Some(1000 | 1001)) => Left::EndedByClient,
            End::Server(4004 | 4007 | 4009..=4014, _) => Left::EndedByServer,
            _ => Left::Resumable,
        };
        self.shared.count(|report| match end {
            End::Client(Some(code)) => *report.closed_by_clients.entry(code).or_default() += 1,
            End::Server(code, _) => *report.closed_by_server.entry(code).or_default() += 1,
            End::Client(None) | End::Cut => {}
        });
        self.socket.end(end);
        if let Some(id) = self.session {
            self.shared.sessions.leave(id, self.number, left);
        }
    }

    fn speak(&mut self, version: Option<u64>) -> Result<std::convert::Infallible, End> {
        self.control(&payloads::hello(self.shared.script.heartbeat_interval))?;
        if !version.is_none_or(|version| VERSIONS.contains(&version)) {
            return Err(End::Server(4012, "the version of the protocol is not known"));
        }
        loop {
            if self.shared.is_over() {
                return Err(End::Server(1001, "the server stops"));
            }
            if let Some(message) = self.socket.receive(self.wait())? {
                self.take(&message)?;
            }
            if Instant::now() >= self.patient_until {
                return Err(match self.leaving {
                    true => End::Server(4000, "the client did not connect anew"),
                    false => End::Server(4009, "nothing came in time"),
                });
            }
            if self.session.is_some() && !self.leaving && Instant::now() >= self.due {
                self.send_next()?;
            }
        }
    }

    /// How long to wait for the client.
    fn wait(&self) -> Duration {
        let until = match self.session {
            Some(_) if !self.leaving => self.due.min(self.patient_until),
            _ => self.patient_until,
        };
        until.saturating_duration_since(Instant::now()).min(self.shared.tick())
    }

    /// Expects something of the client within a time.
    fn expect_within(&mut self, time: Duration) {
        self.patient_until = after(time);
    }

    /// Expects anything at all: three heartbeats may be lost, and machines may be slow.
    fn expect_heartbeat(&mut self) {
        let Script { heartbeat_interval, bounds, .. } = &self.shared.script;
        self.expect_within(heartbeat_interval.saturating_mul(3).max(bounds.patience));
    }

    fn take(&mut self, message: &[u8]) -> Result<(), End> {
        self.count_message()?;
        let message = self.line.decode(message).ok_or(no_message())?;
        let data = &message["d"];
        if self.session.is_some() && !self.leaving {
            self.expect_heartbeat();
        }
        match message["op"].as_u64().ok_or(no_message())? {
            1 => self.heartbeat(),
            2 | 6 if self.session.is_some() => Err(End::Server(4005, "there is a session already")),
            2 => self.identify(data),
            6 => self.resume(data),
            op if !COMMANDS.contains(&op) => Err(End::Server(4001, "the opcode is not known")),
            op => self.command(op, data),
        }
    }

    fn command(&mut self, op: u64, data: &Value) -> Result<(), End> {
        let id = self.session.ok_or(End::Server(4003, "there is no session yet"))?;
        self.shared.count(|report| report.commands += 1);
        if op == MEMBERS
            && let Some(asked) = Asked::read(data, &self.shared.script.events)
        {
            self.shared.sessions.ask(id, asked);
            self.due = self.due.min(after(self.shared.script.pause));
        }
        Ok(())
    }

    /// Counts a message of the client against its minute.
    fn count_message(&mut self) -> Result<(), End> {
        if self.minute.elapsed() >= Duration::from_secs(60) {
            (self.minute, self.messages) = (Instant::now(), 0);
        }
        self.messages += 1;
        if self.messages > self.shared.script.bounds.messages_per_minute {
            return Err(End::Server(4008, "too many messages within a minute"));
        }
        Ok(())
    }

    fn heartbeat(&mut self) -> Result<(), End> {
        self.shared.count(|report| report.heartbeats += 1);
        let most = self.shared.script.unacknowledged;
        if self.session.is_some_and(|id| self.shared.sessions.ignores_heartbeat(id, most)) {
            return Ok(());
        }
        self.control(&payloads::acknowledgement())
    }

    fn identify(&mut self, data: &Value) -> Result<(), End> {
        if data["token"].as_str().is_none_or(str::is_empty) {
            return Err(End::Server(4004, "there is no token"));
        }
        let shard = shard(&data["shard"]).ok_or(End::Server(4010, "there is no such shard"))?;
        let begun = self.shared.sessions.begin(shard, self.number);
        self.session = Some(begun.ok_or(End::Server(4000, "there are too many sessions"))?);
        self.shared.count(|report| report.identifies += 1);
        self.begin();
        Ok(())
    }

    fn resume(&mut self, data: &Value) -> Result<(), End> {
        let (Some(name), Some(sequence)) = (data["session_id"].as_str(), data["seq"].as_u64()) else {
            return Err(no_message());
        };
        match self.shared.sessions.resume(name, sequence, self.number) {
            Ok(id) => {
                self.session = Some(id);
                self.shared.count(|report| report.resumes += 1);
                self.begin();
                Ok(())
            }
            Err(Refusal::Sequence) => Err(End::Server(4007, "the session did not come that far")),
            Err(Refusal::Unknown) => {
                self.shared.count(|report| report.invalid += 1);
                self.invalidate()
            }
        }
    }

    /// Begins to send events.
    fn begin(&mut self) {
        self.due = Instant::now();
        self.expect_heartbeat();
    }

    /// Ends the session. The client may begin another on this connection.
    fn invalidate(&mut self) -> Result<(), End> {
        if let Some(id) = self.session.take() {
            self.shared.sessions.leave(id, self.number, Left::EndedByServer);
        }
        self.expect_within(self.shared.script.bounds.patience);
        self.control(&payloads::invalid_session())
    }

    /// Sends the next event, and makes the trouble that belongs to it.
    fn send_next(&mut self) -> Result<(), End> {
        let Some(id) = self.session else { return Ok(()) };
        let next = self.shared.sessions.next(id, self.number);
        let next = next.map_err(|_| End::Server(4000, "another connection resumed the session"))?;
        let Some((sequence, content)) = next else {
            self.due = Instant::now() + self.shared.tick();
            return Ok(());
        };
        let troubles = self.shared.sessions.troubles(id, sequence);
        self.shared.count(|report| {
            report.events += 1;
            report.troubles += troubles.len() as u64;
        });
        self.due = after(self.shared.script.pause);
        let payload = self.shared.payload(id, sequence, content);
        self.send(&payload, &troubles)?;
        troubles.iter().try_for_each(|trouble| self.make(*trouble))
    }

    /// Makes the trouble that comes behind an event.
    fn make(&mut self, trouble: Trouble) -> Result<(), End> {
        match trouble {
            Trouble::Close(code) => Err(End::Server(code, "as the script says")),
            Trouble::Disconnect => Err(End::Cut),
            Trouble::Invalidate => self.invalidate(),
            Trouble::Reconnect => {
                self.leaving = true;
                self.expect_within(self.shared.script.bounds.patience);
                self.control(&payloads::reconnect())
            }
            Trouble::Flip(_) | Trouble::Truncate | Trouble::Drop => Ok(()),
        }
    }

    fn control(&mut self, payload: &Value) -> Result<(), End> {
        self.send(payload.to_string().as_bytes(), &[])
    }

    fn send(&mut self, payload: &[u8], troubles: &[Trouble]) -> Result<(), End> {
        let no_memory = |_| End::Server(4000, "there is no memory");
        let payload = self.line.encode(payload);
        let mut wire = self.line.pack(&payload).map_err(no_memory)?;
        damage(&mut wire, troubles);
        self.shared.count(|report| {
            report.messages += 1;
            report.bytes += payload.len() as u64;
            report.compressed += wire.len() as u64;
        });
        self.line.messages(&wire).into_iter().try_for_each(|message| self.socket.send(message))
    }
}

fn no_message() -> End {
    End::Server(4002, "this is no message")
}

/// The shard that a client says it is, and of how many; the only one if it says nothing.
fn shard(said: &Value) -> Option<[u64; 2]> {
    if said.is_null() {
        return Some([0, 1]);
    }
    match &said.as_array()?[..] {
        [id, count] => Some([id.as_u64()?, count.as_u64()?]).filter(|[id, n]| id < n && *n <= MOST_SHARDS),
        _ => None,
    }
}

/// The payload of a session's sequence number.
impl Shared {
    fn payload(&self, id: SessionId, sequence: u64, content: Content) -> Vec<u8> {
        match content {
            Content::Event(index) => self.script.events.payload(index, sequence).unwrap_or_default(),
            Content::Extra(Extra::Resumed) => payloads::resumed(sequence).to_string().into_bytes(),
            Content::Extra(Extra::Members(asked)) => {
                asked.answer(sequence, &self.script.events).to_string().into_bytes()
            }
            Content::Ready => {
                let (name, shard) = (self.sessions.name(id), self.sessions.shard(id));
                payloads::ready(self.script.events.ready(), &name, &self.url, shard).to_string().into_bytes()
            }
        }
    }
}
