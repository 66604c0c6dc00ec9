//! State shared by the threads of a server.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::payloads;
use crate::report::Report;
use crate::script::Script;
use crate::sessions::{Content, ExtraEvent, SessionId, Sessions};

/// Longest wait of a call before it checks whether the server stops, as long as there are few
/// connections.
pub(crate) const TICK: Duration = Duration::from_millis(25);
/// Largest number of connections of which each wakes up once per [`TICK`]. If there are more, each
/// wakes up less often, so that thousands of idle connections cost next to nothing.
const CONNECTIONS_PER_TICK: usize = 100;

/// State shared by the threads of a server.
pub(crate) struct ServerState {
    pub(crate) script: Script,
    /// Address that clients connect to.
    pub(crate) url: String,
    pub(crate) sessions: Sessions,
    report: Mutex<Report>,
    stopping: AtomicBool,
    /// Number of websockets opened so far.
    pub(crate) connections: AtomicU64,
    /// Number of clients that are connected now.
    pub(crate) clients: AtomicUsize,
}

impl ServerState {
    pub(crate) fn new(script: Script, url: String, salt: u64) -> Self {
        ServerState {
            url,
            sessions: Sessions::new(&script, salt),
            report: Mutex::default(),
            stopping: AtomicBool::new(false),
            connections: AtomicU64::new(0),
            clients: AtomicUsize::new(0),
            script,
        }
    }

    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Longest wait of a connection before it checks whether the server stops or another connection
    /// has resumed its session.
    pub(crate) fn tick(&self) -> Duration {
        let clients = self.clients.load(Ordering::Relaxed);
        TICK * u32::try_from(clients.div_ceil(CONNECTIONS_PER_TICK)).unwrap_or(u32::MAX).max(1)
    }

    /// Updates the report.
    pub(crate) fn count(&self, count: impl FnOnce(&mut Report)) {
        count(&mut self.report.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn report(&self) -> Report {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the payload of an event of a session, in JSON.
    pub(crate) fn payload(&self, id: SessionId, sequence: u64, content: Content) -> Vec<u8> {
        match content {
            Content::Event(index) => self.script.events.payload(index, sequence).unwrap_or_default(),
            Content::Extra(ExtraEvent::Resumed) => payloads::resumed(sequence).to_string().into_bytes(),
            Content::Extra(ExtraEvent::Members(request)) => {
                request.answer(sequence, &self.script.events).to_string().into_bytes()
            }
            Content::Ready => {
                let (name, shard) = (self.sessions.name(id), self.sessions.shard(id));
                payloads::ready(self.script.events.ready(), &name, &self.url, shard).to_string().into_bytes()
            }
        }
    }
}
