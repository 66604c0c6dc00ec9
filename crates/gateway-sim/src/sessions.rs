//! The table of sessions. A session outlives its connections and keeps what was sent, so that it
//! can be sent again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::members::MemberRequest;
use crate::script::{ClientLimits, InjectedFault, Script};

/// Maximum number of events of a session besides READY and the script's. A session with so many
/// cannot be resumed, and its requests for guild members are not answered.
const MAX_EXTRA_EVENTS: usize = 1000;

/// The number of a session. Clients get it as text: [`Sessions::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionId(u64);

/// What the event at a given sequence number is: READY, the event of the script with this index, or
/// one that is not in the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Ready,
    Event(usize),
    Extra(ExtraEvent),
}

/// An event that is not in the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExtraEvent {
    Resumed,
    Members(Arc<MemberRequest>),
}

/// Why a session cannot be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResumeError {
    /// No session has this name, or the session of this name cannot be resumed: the server ended
    /// it, READY was not sent yet, or the session has [`MAX_EXTRA_EVENTS`].
    UnknownSession,
    /// The sequence number is above the highest one assigned.
    SequenceTooHigh,
}

struct Session {
    shard: [u64; 2],
    /// The attached connection, if any.
    connection: Option<u64>,
    /// Time since which no connection is attached, if none is.
    detached_at: Instant,
    /// Sequence number of the event to send next. After a resume, the events from here to `highest`
    /// are sent again.
    next: u64,
    /// Highest sequence number assigned, on any connection.
    highest: u64,
    /// Whether the server ended the session. It is then kept for a while, since its client is
    /// expected to reconnect.
    ended: bool,
    /// Events that are not in the script, by sequence number.
    extras: BTreeMap<u64, ExtraEvent>,
}

#[derive(Default)]
struct Table {
    sessions: BTreeMap<SessionId, Session>,
    /// Number of sessions ever created.
    created: u64,
    /// Faults already injected, by shard and index in the script.
    injected: BTreeSet<(u64, usize)>,
    /// Number of heartbeats deliberately left without acknowledgement, by shard.
    unanswered: BTreeMap<u64, u64>,
}

/// The sessions of a server.
pub(crate) struct Sessions {
    table: Mutex<Table>,
    limits: ClientLimits,
    /// Part of the session names that differs between servers.
    salt: u64,
    /// Number of scripted events.
    events: usize,
    /// The faults to inject, each with the sequence number of its event, in the script's order.
    faults: Vec<(u64, InjectedFault)>,
}

impl Sessions {
    pub(crate) fn new(script: &Script, salt: u64) -> Self {
        let (events, faults) = (script.events.len(), script.faults.clone());
        Sessions { table: Mutex::default(), limits: script.limits, salt, events, faults }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The `session_id` that clients get.
    pub(crate) fn name(&self, id: SessionId) -> String {
        format!("{:016x}{:016x}", self.salt, id.0)
    }

    /// Shard id and shard count of a session.
    pub(crate) fn shard(&self, id: SessionId) -> [u64; 2] {
        self.table().sessions.get(&id).map_or([0, 1], |session| session.shard)
    }

    fn id(&self, name: &str) -> Option<SessionId> {
        let id = u64::from_str_radix(name.get(16..)?, 16).ok().map(SessionId)?;
        (self.name(id) == name).then_some(id)
    }

    /// Creates a session, and removes those that have expired or that the server ended on this
    /// shard. If the table is full, evicts the session that has been without a connection for
    /// longest; returns `None` if all have connections.
    pub(crate) fn begin(&self, shard: [u64; 2], connection: u64) -> Option<SessionId> {
        let mut table = self.table();
        self.expire(&mut table);
        table.sessions.retain(|_, s| !(s.ended && s.shard == shard));
        if table.sessions.len() >= self.limits.sessions {
            let idle = table.sessions.iter().filter(|(_, s)| s.connection.is_none());
            let oldest = idle.min_by_key(|(_, s)| s.detached_at).map(|(id, _)| *id)?;
            table.sessions.remove(&oldest);
        }
        let id = SessionId(table.created);
        table.created += 1;
        let session = Session {
            shard,
            connection: Some(connection),
            detached_at: Instant::now(),
            next: 1,
            highest: 0,
            ended: false,
            extras: BTreeMap::new(),
        };
        table.sessions.insert(id, session);
        Some(id)
    }

    /// Attaches a session to another connection, which continues after `sequence`. Detaches a
    /// connection that still has the session.
    pub(crate) fn resume(
        &self,
        name: &str,
        sequence: u64,
        connection: u64,
    ) -> Result<SessionId, ResumeError> {
        let id = self.id(name).ok_or(ResumeError::UnknownSession)?;
        let mut table = self.table();
        self.expire(&mut table);
        let session = table.sessions.get_mut(&id).ok_or(ResumeError::UnknownSession)?;
        if session.highest == 0 || session.ended || session.extras.len() >= MAX_EXTRA_EVENTS {
            return Err(ResumeError::UnknownSession);
        }
        if sequence > session.highest {
            return Err(ResumeError::SequenceTooHigh);
        }
        session.add(ExtraEvent::Resumed);
        session.next = sequence + 1;
        session.connection = Some(connection);
        // Faults after the next event were sent but not received, so they are injected again.
        let shard = session.shard[0];
        table.injected.retain(|&(of, index)| of != shard || self.faults[index].0 <= sequence + 1);
        Ok(id)
    }

    /// Returns the next sequence number and its event, or `None` if all were sent. Fails if another
    /// connection has taken the session over.
    pub(crate) fn next(&self, id: SessionId, connection: u64) -> Result<Option<(u64, Content)>, TakenOver> {
        let mut table = self.table();
        let session =
            table.sessions.get_mut(&id).filter(|s| s.connection == Some(connection)).ok_or(TakenOver)?;
        let sequence = session.next;
        let content = session.content(sequence);
        if matches!(content, Content::Event(index) if index >= self.events) {
            return Ok(None);
        }
        session.next += 1;
        session.highest = session.highest.max(sequence);
        Ok(Some((sequence, content)))
    }

    /// Queues the answer to a guild members request, unless READY was not sent yet or the session
    /// has [`MAX_EXTRA_EVENTS`].
    pub(crate) fn request_members(&self, id: SessionId, request: MemberRequest) {
        if let Some(session) = self.table().sessions.get_mut(&id)
            && session.highest > 0
            && session.extras.len() < MAX_EXTRA_EVENTS
        {
            session.add(ExtraEvent::Members(Arc::new(request)));
        }
    }

    /// Detaches a session from `connection`, unless another connection has taken the session over.
    /// Removes a session that its client ended.
    pub(crate) fn detach(&self, id: SessionId, connection: u64, reason: DetachReason) {
        let mut table = self.table();
        if let Some(session) = table.sessions.get_mut(&id)
            && session.connection == Some(connection)
        {
            (session.connection, session.detached_at) = (None, Instant::now());
            session.ended = reason == DetachReason::EndedByServer;
            if reason == DetachReason::EndedByClient {
                table.sessions.remove(&id);
            }
        }
    }

    /// Removes sessions that have had no connection for the whole resume timeout.
    fn expire(&self, table: &mut Table) {
        table
            .sessions
            .retain(|_, s| s.connection.is_some() || s.detached_at.elapsed() < self.limits.resume_timeout);
    }

    /// Whether there have been sessions and none is left.
    pub(crate) fn all_ended(&self) -> bool {
        let mut table = self.table();
        self.expire(&mut table);
        table.created > 0 && table.sessions.is_empty()
    }

    /// Returns the faults at a sequence number that were not yet injected, and marks them as
    /// injected.
    pub(crate) fn faults(&self, id: SessionId, sequence: u64) -> Vec<InjectedFault> {
        if self.faults.is_empty() {
            return Vec::new();
        }
        let mut table = self.table();
        let Some([shard, _]) = table.sessions.get(&id).map(|s| s.shard) else { return Vec::new() };
        let here = self.faults.iter().enumerate().filter(|(_, (at, _))| *at == sequence);
        here.filter(|(index, _)| table.injected.insert((shard, *index)))
            .map(|(_, (_, fault))| *fault)
            .collect()
    }

    /// Whether to leave a heartbeat unacknowledged, which happens to the first `max` of each shard.
    /// Counts it if so.
    pub(crate) fn ignores_heartbeat(&self, id: SessionId, max: u64) -> bool {
        let mut table = self.table();
        let Some([shard, _]) = table.sessions.get(&id).map(|s| s.shard) else { return false };
        let unanswered = table.unanswered.entry(shard).or_default();
        let ignored = *unanswered < max;
        *unanswered += u64::from(ignored);
        ignored
    }
}

/// Why a session is detached from its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DetachReason {
    /// The connection ended; the session can be resumed.
    Resumable,
    EndedByServer,
    EndedByClient,
}

/// Another connection has taken the session over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TakenOver;

impl Session {
    fn content(&self, sequence: u64) -> Content {
        if sequence == 1 {
            return Content::Ready;
        }
        match self.extras.get(&sequence) {
            Some(extra) => Content::Extra(extra.clone()),
            None => Content::Event((sequence - 2) as usize - self.extras.range(..sequence).count()),
        }
    }

    /// Assigns the next sequence number to an event that is not in the script.
    fn add(&mut self, extra: ExtraEvent) {
        self.highest += 1;
        self.extras.insert(self.highest, extra);
    }
}
