//! Sessions, which outlive their connections: what each was sent, so that it can be sent again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::members::Asked;
use super::script::{Bounds, Script, Trouble};

/// What one session is sent at most besides the events of the script. A session that has more is not
/// resumed, and not answered.
const MOST_EXTRAS: usize = 1000;

/// A session's number. Its text is what clients get to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SessionId(u64);

/// What belongs to a sequence number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Ready,
    Event(usize),
    Extra(Extra),
}

/// An event that is not the script's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Extra {
    Resumed,
    Members(Arc<Asked>),
}

/// Why a session is not resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// There is none of that name any more.
    Unknown,
    /// It never came that far.
    Sequence,
}

struct Session {
    shard: [u64; 2],
    /// The connection that has it, until that is gone.
    connection: Option<u64>,
    /// Since when none has it.
    left: Instant,
    /// The sequence number that comes next on the connection.
    next: u64,
    /// The highest one that was given away, on whatever connection.
    highest: u64,
    /// Whether the server ended it. It stays for a while all the same, since its client is expected back.
    ended: bool,
    /// What went to those that are not of the script.
    extras: BTreeMap<u64, Extra>,
}

#[derive(Default)]
struct Table {
    sessions: BTreeMap<SessionId, Session>,
    /// How many there ever were.
    begun: u64,
    /// Troubles that came, by shard and place in the script.
    troubled: BTreeSet<(u64, usize)>,
    /// Heartbeats that were left without an answer, by shard.
    unanswered: BTreeMap<u64, u64>,
}

/// The sessions of a server.
pub(super) struct Sessions {
    table: Mutex<Table>,
    bounds: Bounds,
    /// What distinguishes names of sessions from those of other servers.
    salt: u64,
    /// Events of each session.
    events: usize,
    /// What goes wrong, and at which sequence numbers.
    troubles: Vec<(u64, Trouble)>,
}

impl Sessions {
    pub(super) fn new(script: &Script, salt: u64) -> Self {
        let (events, troubles) = (script.events.len(), script.troubles.clone());
        Sessions { table: Mutex::default(), bounds: script.bounds, salt, events, troubles }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What clients call a session.
    pub(super) fn name(&self, id: SessionId) -> String {
        format!("{:016x}{:016x}", self.salt, id.0)
    }

    /// Which shard a session is of, and of how many.
    pub(super) fn shard(&self, id: SessionId) -> [u64; 2] {
        self.table().sessions.get(&id).map_or([0, 1], |session| session.shard)
    }

    fn id(&self, name: &str) -> Option<SessionId> {
        let id = u64::from_str_radix(name.get(16..)?, 16).ok().map(SessionId)?;
        (self.name(id) == name).then_some(id)
    }

    /// A new session; `None` if there is no room.
    pub(super) fn begin(&self, shard: [u64; 2], connection: u64) -> Option<SessionId> {
        let mut table = self.table();
        self.forget(&mut table);
        table.sessions.retain(|_, s| !(s.ended && s.shard == shard));
        if table.sessions.len() >= self.bounds.sessions {
            let idle = table.sessions.iter().filter(|(_, s)| s.connection.is_none());
            let oldest = idle.min_by_key(|(_, s)| s.left).map(|(id, _)| *id)?;
            table.sessions.remove(&oldest);
        }
        let id = SessionId(table.begun);
        table.begun += 1;
        let session = Session {
            shard,
            connection: Some(connection),
            left: Instant::now(),
            next: 1,
            highest: 0,
            ended: false,
            extras: BTreeMap::new(),
        };
        table.sessions.insert(id, session);
        Some(id)
    }

    /// Gives a session to another connection, which goes on behind `sequence`. A connection that still has
    /// it loses it.
    pub(super) fn resume(&self, name: &str, sequence: u64, connection: u64) -> Result<SessionId, Refusal> {
        let id = self.id(name).ok_or(Refusal::Unknown)?;
        let mut table = self.table();
        self.forget(&mut table);
        let session = table.sessions.get_mut(&id).ok_or(Refusal::Unknown)?;
        if session.highest == 0 || session.ended || session.extras.len() >= MOST_EXTRAS {
            return Err(Refusal::Unknown);
        }
        if sequence > session.highest {
            return Err(Refusal::Sequence);
        }
        session.add(Extra::Resumed);
        session.next = sequence + 1;
        session.connection = Some(connection);
        // What went wrong behind the next event was sent ahead, and the client did not get to see it.
        let shard = session.shard[0];
        table.troubled.retain(|&(of, place)| of != shard || self.troubles[place].0 <= sequence + 1);
        Ok(id)
    }

    /// The next sequence number and what belongs to it. `Ok(None)` if all was sent, an error if another
    /// connection has the session.
    pub(super) fn next(&self, id: SessionId, connection: u64) -> Result<Option<(u64, Content)>, Lost> {
        let mut table = self.table();
        let session = table.sessions.get_mut(&id).filter(|s| s.connection == Some(connection)).ok_or(Lost)?;
        let sequence = session.next;
        let content = session.content(sequence);
        if matches!(content, Content::Event(index) if index >= self.events) {
            return Ok(None);
        }
        session.next += 1;
        session.highest = session.highest.max(sequence);
        Ok(Some((sequence, content)))
    }

    /// Lets members be sent that the client asked for.
    pub(super) fn ask(&self, id: SessionId, asked: Asked) {
        if let Some(session) = self.table().sessions.get_mut(&id)
            && session.highest > 0
            && session.extras.len() < MOST_EXTRAS
        {
            session.add(Extra::Members(Arc::new(asked)));
        }
    }

    /// The session has no connection any more.
    pub(super) fn leave(&self, id: SessionId, connection: u64, how: Left) {
        let mut table = self.table();
        if let Some(session) = table.sessions.get_mut(&id)
            && session.connection == Some(connection)
        {
            (session.connection, session.left) = (None, Instant::now());
            session.ended = how == Left::EndedByServer;
            if how == Left::EndedByClient {
                table.sessions.remove(&id);
            }
        }
    }

    fn forget(&self, table: &mut Table) {
        table.sessions.retain(|_, s| s.connection.is_some() || s.left.elapsed() < self.bounds.resume);
    }

    /// Whether there were sessions, and none is left.
    pub(super) fn are_over(&self) -> bool {
        let mut table = self.table();
        self.forget(&mut table);
        table.begun > 0 && table.sessions.is_empty()
    }

    /// The troubles at a sequence number that did not come yet. They count as having come then.
    pub(super) fn troubles(&self, id: SessionId, sequence: u64) -> Vec<Trouble> {
        if self.troubles.is_empty() {
            return Vec::new();
        }
        let mut table = self.table();
        let Some([shard, _]) = table.sessions.get(&id).map(|s| s.shard) else { return Vec::new() };
        let here = self.troubles.iter().enumerate().filter(|(_, (at, _))| *at == sequence);
        here.filter(|(place, _)| table.troubled.insert((shard, *place))).map(|(_, (_, what))| *what).collect()
    }

    /// Whether a heartbeat is to be left without an answer, of which each shard has `most`.
    pub(super) fn ignores_heartbeat(&self, id: SessionId, most: u64) -> bool {
        let mut table = self.table();
        let Some([shard, _]) = table.sessions.get(&id).map(|s| s.shard) else { return false };
        let unanswered = table.unanswered.entry(shard).or_default();
        let ignored = *unanswered < most;
        *unanswered += u64::from(ignored);
        ignored
    }
}

/// How a session comes to be without a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// It can be resumed.
    Resumable,
    EndedByServer,
    EndedByClient,
}

/// Another connection has the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lost;

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

    /// Gives the next number that no event has to something else.
    fn add(&mut self, extra: Extra) {
        self.highest += 1;
        self.extras.insert(self.highest, extra);
    }
}
