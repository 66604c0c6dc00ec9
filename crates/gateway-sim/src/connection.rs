//! The gateway protocol on one client's websocket, beginning with HELLO.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::members::MemberRequest;
use crate::payloads;
use crate::script::{InjectedFault, Script};
use crate::sessions::{DetachReason, ResumeError, SessionId};
use crate::socket::{CloseReason, Socket, deadline_in};
use crate::state::ServerState;
use crate::wire_format::{WireFormat, damage};

/// Maximum number of shards of a client.
const MAX_SHARDS: u64 = 1 << 16;
/// Supported versions of the protocol.
const VERSIONS: std::ops::RangeInclusive<u64> = 6..=10;

/// Opcode of a guild members request.
const REQUEST_GUILD_MEMBERS: u64 = 8;
/// Opcodes of commands. Those for presence, voice and sounds get no answer.
const COMMANDS: [u64; 4] = [3, 4, REQUEST_GUILD_MEMBERS, 31];

pub(crate) struct Connection {
    state: Arc<ServerState>,
    /// Number of the connection, unique on the server.
    number: u64,
    socket: Socket,
    format: WireFormat,
    session: Option<SessionId>,
    /// Time at which the next event is to be sent.
    next_event_at: Instant,
    /// Time by which the client must send IDENTIFY or RESUME if it has no session, close the
    /// connection if it was asked to reconnect, and otherwise send any message.
    client_deadline: Instant,
    /// Whether the client was asked to reconnect (opcode 7).
    reconnect_requested: bool,
    /// Start of the minute in which `messages` are counted.
    rate_window: Instant,
    messages: u32,
}

impl Connection {
    pub(crate) fn new(state: Arc<ServerState>, number: u64, socket: Socket, format: WireFormat) -> Self {
        let now = Instant::now();
        let client_deadline = deadline_in(state.script.limits.timeout);
        Connection {
            state,
            number,
            socket,
            format,
            session: None,
            next_event_at: now,
            client_deadline,
            reconnect_requested: false,
            rate_window: now,
            messages: 0,
        }
    }

    /// Serves the client until either side closes the connection.
    pub(crate) fn run(mut self, version: Option<u64>) {
        let reason = match self.serve(version) {
            Ok(never) => match never {},
            Err(reason) => reason,
        };
        let detach = match reason {
            CloseReason::ByClient(Some(1000 | 1001)) => DetachReason::EndedByClient,
            CloseReason::ByServer(4004 | 4007 | 4009..=4014, _) => DetachReason::EndedByServer,
            _ => DetachReason::Resumable,
        };
        self.state.count(|report| match reason {
            CloseReason::ByClient(Some(code)) => *report.closed_by_clients.entry(code).or_default() += 1,
            CloseReason::ByServer(code, _) => *report.closed_by_server.entry(code).or_default() += 1,
            CloseReason::ByClient(None) | CloseReason::Abort => {}
        });
        self.socket.end(reason);
        if let Some(id) = self.session {
            self.state.sessions.detach(id, self.number, detach);
        }
    }

    fn serve(&mut self, version: Option<u64>) -> Result<std::convert::Infallible, CloseReason> {
        self.send_control(&payloads::hello(self.state.script.heartbeat_interval))?;
        if !version.is_none_or(|version| VERSIONS.contains(&version)) {
            return Err(CloseReason::ByServer(4012, "unknown protocol version"));
        }
        loop {
            if self.state.is_stopping() {
                return Err(CloseReason::ByServer(1001, "the server stops"));
            }
            if let Some(message) = self.socket.receive(self.wait())? {
                self.handle_message(&message)?;
            }
            if Instant::now() >= self.client_deadline {
                return Err(match self.reconnect_requested {
                    true => CloseReason::ByServer(4000, "the client did not reconnect"),
                    false => CloseReason::ByServer(4009, "nothing received before the timeout"),
                });
            }
            if self.session.is_some() && !self.reconnect_requested && Instant::now() >= self.next_event_at {
                self.send_next()?;
            }
        }
    }

    /// How long to wait for the client's next message.
    fn wait(&self) -> Duration {
        let deadline = match self.session {
            Some(_) if !self.reconnect_requested => self.next_event_at.min(self.client_deadline),
            _ => self.client_deadline,
        };
        deadline.saturating_duration_since(Instant::now()).min(self.state.tick())
    }

    /// Requires a message of the client within `timeout`.
    fn set_client_deadline(&mut self, timeout: Duration) {
        self.client_deadline = deadline_in(timeout);
    }

    /// Requires any message within three heartbeat intervals, or the timeout if that is longer,
    /// since heartbeats may be late on slow machines.
    fn expect_heartbeat(&mut self) {
        let Script { heartbeat_interval, limits, .. } = &self.state.script;
        self.set_client_deadline(heartbeat_interval.saturating_mul(3).max(limits.timeout));
    }

    fn handle_message(&mut self, message: &[u8]) -> Result<(), CloseReason> {
        self.check_rate_limit()?;
        let message = self.format.decode(message).ok_or(invalid_message())?;
        let data = &message["d"];
        if self.session.is_some() && !self.reconnect_requested {
            self.expect_heartbeat();
        }
        match message["op"].as_u64().ok_or(invalid_message())? {
            1 => self.heartbeat(),
            2 | 6 if self.session.is_some() => {
                Err(CloseReason::ByServer(4005, "the connection has a session already"))
            }
            2 => self.identify(data),
            6 => self.resume(data),
            op if !COMMANDS.contains(&op) => Err(CloseReason::ByServer(4001, "unknown opcode")),
            op => self.command(op, data),
        }
    }

    fn command(&mut self, op: u64, data: &Value) -> Result<(), CloseReason> {
        let id = self.session.ok_or(CloseReason::ByServer(4003, "the connection has no session yet"))?;
        self.state.count(|report| report.commands += 1);
        if op == REQUEST_GUILD_MEMBERS
            && let Some(request) = MemberRequest::read(data, &self.state.script.events)
        {
            self.state.sessions.request_members(id, request);
            self.next_event_at = self.next_event_at.min(deadline_in(self.state.script.pause));
        }
        Ok(())
    }

    /// Counts a message of the client. Fails if the client sent too many within a minute.
    fn check_rate_limit(&mut self) -> Result<(), CloseReason> {
        if self.rate_window.elapsed() >= Duration::from_secs(60) {
            (self.rate_window, self.messages) = (Instant::now(), 0);
        }
        self.messages += 1;
        if self.messages > self.state.script.limits.messages_per_minute {
            return Err(CloseReason::ByServer(4008, "too many messages per minute"));
        }
        Ok(())
    }

    fn heartbeat(&mut self) -> Result<(), CloseReason> {
        self.state.count(|report| report.heartbeats += 1);
        let max = self.state.script.unacknowledged;
        if self.session.is_some_and(|id| self.state.sessions.ignores_heartbeat(id, max)) {
            return Ok(());
        }
        self.send_control(&payloads::acknowledgement())
    }

    fn identify(&mut self, data: &Value) -> Result<(), CloseReason> {
        if data["token"].as_str().is_none_or(str::is_empty) {
            return Err(CloseReason::ByServer(4004, "missing token"));
        }
        let shard = shard(&data["shard"]).ok_or(CloseReason::ByServer(4010, "invalid shard"))?;
        let begun = self.state.sessions.begin(shard, self.number);
        self.session = Some(begun.ok_or(CloseReason::ByServer(4000, "too many sessions"))?);
        self.state.count(|report| report.identifies += 1);
        self.begin();
        Ok(())
    }

    fn resume(&mut self, data: &Value) -> Result<(), CloseReason> {
        let (Some(name), Some(sequence)) = (data["session_id"].as_str(), data["seq"].as_u64()) else {
            return Err(invalid_message());
        };
        match self.state.sessions.resume(name, sequence, self.number) {
            Ok(id) => {
                self.session = Some(id);
                self.state.count(|report| report.resumes += 1);
                self.begin();
                Ok(())
            }
            Err(ResumeError::SequenceTooHigh) => {
                Err(CloseReason::ByServer(4007, "the sequence number is above the last one sent"))
            }
            Err(ResumeError::UnknownSession) => {
                self.state.count(|report| report.invalid += 1);
                self.invalidate()
            }
        }
    }

    /// Starts sending events.
    fn begin(&mut self) {
        self.next_event_at = Instant::now();
        self.expect_heartbeat();
    }

    /// Ends the session. The client may begin another session on this connection.
    fn invalidate(&mut self) -> Result<(), CloseReason> {
        if let Some(id) = self.session.take() {
            self.state.sessions.detach(id, self.number, DetachReason::EndedByServer);
        }
        self.set_client_deadline(self.state.script.limits.timeout);
        self.send_control(&payloads::invalid_session())
    }

    /// Sends the next event, if one is left, and injects the faults scripted for it.
    fn send_next(&mut self) -> Result<(), CloseReason> {
        let Some(id) = self.session else { return Ok(()) };
        let next = self.state.sessions.next(id, self.number);
        let next = next.map_err(|_| CloseReason::ByServer(4000, "another connection resumed the session"))?;
        let Some((sequence, content)) = next else {
            self.next_event_at = Instant::now() + self.state.tick();
            return Ok(());
        };
        let faults = self.state.sessions.faults(id, sequence);
        self.state.count(|report| {
            report.events += 1;
            report.faults += faults.len() as u64;
        });
        self.next_event_at = deadline_in(self.state.script.pause);
        let payload = self.state.payload(id, sequence, content);
        self.send(&payload, &faults)?;
        faults.iter().try_for_each(|fault| self.inject(*fault))
    }

    /// Injects a fault that follows an event.
    fn inject(&mut self, fault: InjectedFault) -> Result<(), CloseReason> {
        match fault {
            InjectedFault::Close(code) => Err(CloseReason::ByServer(code, "scripted close")),
            InjectedFault::Disconnect => Err(CloseReason::Abort),
            InjectedFault::Invalidate => self.invalidate(),
            InjectedFault::Reconnect => {
                self.reconnect_requested = true;
                self.set_client_deadline(self.state.script.limits.timeout);
                self.send_control(&payloads::reconnect())
            }
            InjectedFault::Flip(_) | InjectedFault::Truncate | InjectedFault::Drop => Ok(()),
        }
    }

    fn send_control(&mut self, payload: &Value) -> Result<(), CloseReason> {
        self.send(payload.to_string().as_bytes(), &[])
    }

    fn send(&mut self, payload: &[u8], faults: &[InjectedFault]) -> Result<(), CloseReason> {
        let no_memory = |_| CloseReason::ByServer(4000, "out of memory");
        let payload = self.format.encode(payload);
        let mut wire = self.format.compress(&payload).map_err(no_memory)?;
        damage(&mut wire, faults);
        self.state.count(|report| {
            report.messages += 1;
            report.bytes += payload.len() as u64;
            report.compressed += wire.len() as u64;
        });
        self.format.messages(&wire).into_iter().try_for_each(|message| self.socket.send(message))
    }
}

fn invalid_message() -> CloseReason {
    CloseReason::ByServer(4002, "invalid message")
}

/// Reads shard id and shard count of IDENTIFY. Default: shard 0 of 1. Returns `None` if they are
/// invalid.
fn shard(value: &Value) -> Option<[u64; 2]> {
    if value.is_null() {
        return Some([0, 1]);
    }
    match &value.as_array()?[..] {
        [id, count] => Some([id.as_u64()?, count.as_u64()?]).filter(|[id, n]| id < n && *n <= MAX_SHARDS),
        _ => None,
    }
}
