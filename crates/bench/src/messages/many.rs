//! Measures many open connections: decodes their messages in rotation, so that the state of each
//! connection is cold; and their memory.

use std::cell::RefCell;

use linerate_candidates::footprint;

use super::decoders::{Contender as Entry, Decoder, Shared};
use super::input::{Connection, Input};
use super::{based, blank, other_threads, spent};
use crate::harness::{Clock, Contender, Rounds, measure as harness, progress};
use crate::kernel::os::{resident, trim_heap};
use crate::records::Measurement;

/// Minimum number of live messages that each connection decodes before the clock starts: enough to
/// fill every window. Some connections decode up to almost twice as many. If the connection with
/// fewest live events has fewer than 300, the minimum is a third of its live events. As on real
/// connections, a large message precedes the live ones if the input has a large message.
const WARMUP_MESSAGES: usize = 100;
/// Maximum number of messages that each connection decodes in a round.
const MESSAGES_PER_ROUND: usize = 8;

/// Which messages each connection decodes: some before the clock starts, from `warm` up to almost
/// twice as many, then `turns` in each round.
struct Plan<'i> {
    input: &'i Input,
    connections: usize,
    rounds: usize,
    warm: usize,
    turns: usize,
}

impl<'i> Plan<'i> {
    /// Plans no more messages than the connection with fewest live events has. Returns `None` if
    /// these are too few for warming up and a message in each round, or if `connections` is 0.
    fn new(input: &'i Input, connections: usize, rounds: usize) -> Option<Self> {
        let live = |one: &Connection| one.payloads.len() - one.live;
        let live = input.connections.iter().map(live).min()?;
        let warm = WARMUP_MESSAGES.min(live / 3);
        let turns = MESSAGES_PER_ROUND.min((live - 2 * warm) / rounds.max(1));
        (connections > 0 && turns > 0 && warm > 0).then_some(Plan { input, connections, rounds, warm, turns })
    }

    fn connection(&self, i: usize) -> &'i Connection {
        &self.input.connections[i % self.input.connections.len()]
    }

    /// Number of live messages that connection `i` decodes before the clock starts. It varies, so
    /// that connections decoded one after the other decode different messages.
    fn warmup(&self, i: usize) -> usize {
        self.warm + i * 7 % self.warm
    }

    /// Mean number of payload bytes that all connections together decode in a round.
    fn bytes(&self) -> usize {
        let timed = |i: usize| {
            let connection = self.connection(i);
            let first = connection.live + self.warmup(i);
            connection.payloads[first..first + self.rounds * self.turns].iter().map(Vec::len).sum::<usize>()
        };
        (0..self.connections).map(timed).sum::<usize>() / self.rounds
    }

    fn open(
        &self,
        entry: &Entry,
        count: usize,
        shared: &mut Shared,
    ) -> Result<Vec<Box<dyn Decoder>>, String> {
        let one = |i: usize| {
            let (mut decoder, connection) = ((entry.open)(shared)?, self.connection(i));
            let live = &connection.live_frames(entry.transport)[..self.warmup(i)];
            let large = connection.large_frame(entry.transport);
            for frame in large.into_iter().chain(live.iter().map(Vec::as_slice)) {
                decoder.message(frame, shared)?;
            }
            Ok(decoder)
        };
        (0..count).map(one).collect()
    }
}

/// Opens all connections of every contender and measures their memory, then times rounds, one
/// message at a time for each connection in rotation.
pub(super) fn measure(
    input: &Input,
    entries: &[&Entry],
    connections: usize,
    rounds: usize,
    shared: &RefCell<Shared>,
) -> Result<Vec<Measurement>, String> {
    let Some(plan) = Plan::new(input, connections, rounds) else { return Ok(Vec::new()) };
    let transport = entries[0].transport;
    let live = input.connections.iter().flat_map(|one| &one.payloads[one.live..]);
    let frames = input.connections.iter().flat_map(|one| one.live_frames(transport));
    let ratio = live.map(Vec::len).sum::<usize>() as f64 / frames.map(Vec::len).sum::<usize>().max(1) as f64;
    let mut contenders = Vec::new();
    for entry in entries {
        progress(&format!("{}: {connections} connections", entry.name));
        // A connection that is not measured is opened first, to allocate the thread's scratch.
        plan.open(entry, 1, &mut shared.borrow_mut())?;
        trim_heap();
        let before = resident();
        let (opened, heap) = footprint(|| plan.open(entry, connections, &mut shared.borrow_mut()));
        let mut opened = opened?;
        let grown = before.zip(resident()).map(|(before, after)| after.saturating_sub(before));
        let told = opened.iter().map(|one| one.reported_memory()).sum::<Option<usize>>();
        let measurement = blank(input, entry, "many", connections, connections * plan.turns, ratio)
            .size("heap", heap.map(|bytes| bytes / connections))
            .size("resident", grown.map(|bytes| bytes / connections))
            .size("told", told.map(|bytes| bytes / connections));
        let (plan, mut round) = (&plan, 0);
        let turn = move |_| {
            let shared = &mut shared.borrow_mut();
            let (others, dropped) = (other_threads(), shared.dropped());
            let ((), time) = Clock::Thread.time(|| {
                for turn in 0..plan.turns {
                    for (i, decoder) in opened.iter_mut().enumerate() {
                        let frames = plan.connection(i).live_frames(transport);
                        let frame = &frames[plan.warmup(i) + round * plan.turns + turn];
                        std::hint::black_box(decoder.message(frame, shared)?);
                    }
                }
                Ok(())
            })?;
            round += 1;
            let counting = other_threads().saturating_sub(others);
            let dropped = if entry.is_recorded() { shared.dropped() - dropped } else { 0 };
            spent(entry, time, counting, connections * plan.turns, dropped)
        };
        contenders
            .push(Contender::new(measurement, turn).bytes(plan.bytes()).units(connections * plan.turns));
    }
    let found = harness(based(contenders.into_iter(), entries), Rounds::parts(rounds, 1));
    shared.borrow_mut().stop_recording()?;
    found
}
