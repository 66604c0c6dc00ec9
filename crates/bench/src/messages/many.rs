//! Many open connections decoded in rotation, so that each one's state is cold, and their memory.

use std::time::Duration;

use super::decoders::{Contender, Decoder, Shared};
use super::input::Input;
use crate::kernel::os::{resident, trim_heap};
use linerate_candidates::{footprint, thread_time};

/// Messages decoded per connection before the clock starts (up to twice as many): enough to fill every
/// history. One large message precedes them, as on every real connection.
const WARMUP_MESSAGES: usize = 100;
/// Messages of each connection in a round.
const MESSAGES_PER_ROUND: usize = 8;

/// Results of one contender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Many {
    /// CPU time for each round.
    pub(crate) rounds: Vec<Duration>,
    /// Bytes for each connection: on the heap, resident, and as reported by the decoder.
    pub(crate) heap: Option<usize>,
    pub(crate) resident: Option<usize>,
    pub(crate) reported: Option<usize>,
}

/// The messages of each connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) connections: usize,
    pub(crate) rounds: usize,
    warm: usize,
    turns: usize,
}

impl Plan {
    /// Plans as many messages as the input has; `None` if fewer than one per round.
    pub(crate) fn new(input: &Input, connections: usize, rounds: usize) -> Option<Plan> {
        let live = |one: &super::input::Connection| one.payloads.len() - one.live;
        let live = input.connections.iter().map(live).min()?;
        let warm = WARMUP_MESSAGES.min(live / 3);
        let turns = MESSAGES_PER_ROUND.min((live - 2 * warm) / rounds.max(1));
        (connections > 0 && turns > 0 && warm > 0).then_some(Plan { connections, rounds, warm, turns })
    }

    /// Messages of a connection before the clock starts. The number varies, so that neighbours decode
    /// different messages.
    fn warmup(&self, connection: usize) -> usize {
        self.warm + connection * 7 % self.warm
    }

    /// Messages of a round, and bytes of payload in the mean.
    pub(crate) fn round(&self, input: &Input) -> (usize, usize) {
        let mut bytes = 0;
        for i in 0..self.connections {
            let connection = &input.connections[i % input.connections.len()];
            let first = connection.live + self.warmup(i);
            let timed = &connection.payloads[first..first + self.rounds * self.turns];
            bytes += timed.iter().map(Vec::len).sum::<usize>();
        }
        (self.connections * self.turns, bytes / self.rounds)
    }
}

/// Opens all connections of every contender, measures their memory, then times rounds: contenders in
/// rotating order, within each the connections in rotation, one message at a time.
pub(crate) fn measure(
    input: &Input,
    contenders: &[&Contender],
    plan: &Plan,
    shared: &mut Shared,
    mut progress: impl FnMut(&str),
) -> Result<Vec<Many>, String> {
    let mut all = Vec::with_capacity(contenders.len());
    let mut outcome = Vec::with_capacity(contenders.len());
    for contender in contenders {
        progress(&format!("{}: {} connections", contender.name, plan.connections));
        // Once, so that the thread's scratch is allocated.
        open(input, contender, &Plan { connections: 1, ..*plan }, shared)?;
        trim_heap();
        let before = resident();
        let (opened, heap) = footprint(|| open(input, contender, plan, shared));
        let opened = opened?;
        let grown = before.zip(resident()).map(|(before, after)| after.saturating_sub(before));
        outcome.push(Many {
            rounds: Vec::new(),
            heap: heap.map(|bytes| bytes / plan.connections),
            resident: grown.map(|bytes| bytes / plan.connections),
            reported: opened
                .iter()
                .map(|one| one.reported_memory())
                .sum::<Option<usize>>()
                .map(|b| b / plan.connections),
        });
        all.push(opened);
    }
    for round in 0..plan.rounds {
        progress(&format!("round {} of {}", round + 1, plan.rounds));
        for i in 0..contenders.len() {
            let index = (i + round) % contenders.len();
            let begun = thread_time();
            turns(input, contenders[index], plan, round, &mut all[index], shared)?;
            outcome[index].rounds.push(thread_time() - begun);
        }
    }
    Ok(outcome)
}

fn open(
    input: &Input,
    contender: &Contender,
    plan: &Plan,
    shared: &mut Shared,
) -> Result<Vec<Box<dyn Decoder>>, String> {
    let mut opened = Vec::with_capacity(plan.connections);
    for i in 0..plan.connections {
        let mut decoder = (contender.open)()?;
        let connection = &input.connections[i % input.connections.len()];
        let live = &connection.live_frames(contender.transport)[..plan.warmup(i)];
        let frames =
            connection.large_frame(contender.transport).into_iter().chain(live.iter().map(Vec::as_slice));
        for frame in frames {
            decoder.message(frame, shared)?;
        }
        opened.push(decoder);
    }
    Ok(opened)
}

fn turns(
    input: &Input,
    contender: &Contender,
    plan: &Plan,
    round: usize,
    all: &mut [Box<dyn Decoder>],
    shared: &mut Shared,
) -> Result<(), String> {
    for turn in 0..plan.turns {
        for (i, decoder) in all.iter_mut().enumerate() {
            let connection = &input.connections[i % input.connections.len()];
            let frames = connection.live_frames(contender.transport);
            let frame = &frames[plan.warmup(i) + round * plan.turns + turn];
            std::hint::black_box(decoder.message(frame, shared)?);
        }
    }
    Ok(())
}
