//! Very many connections that live at once and take turns, and what each of them holds.

use std::time::Duration;

use super::decoders::{Contender, Decoder, Shared};
use super::input::Input;
use crate::kernel::os::{footprint, resident, thread_time, trim_heap};

/// Messages that a connection has had at least, and at most as many more, when the clock starts: enough to
/// fill every history. Before them it has had one large message, as every connection begins with.
const WARM: usize = 100;
/// Messages of each connection in a round.
const TURNS: usize = 8;

/// What came of one contender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Many {
    /// CPU time for each round.
    pub(crate) rounds: Vec<Duration>,
    /// Bytes for each connection: on the heap, resident, and as the decoder says.
    pub(crate) heap: Option<usize>,
    pub(crate) resident: Option<usize>,
    pub(crate) told: Option<usize>,
}

/// Which messages the connections get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) connections: usize,
    pub(crate) rounds: usize,
    warm: usize,
    turns: usize,
}

impl Plan {
    /// As many messages as there are; `None` if there are too few for a round of one message each.
    pub(crate) fn new(input: &Input, connections: usize, rounds: usize) -> Option<Plan> {
        let live = |one: &super::input::Connection| one.payloads.len() - one.live;
        let live = input.connections.iter().map(live).min()?;
        let warm = WARM.min(live / 3);
        let turns = TURNS.min((live - 2 * warm) / rounds.max(1));
        (connections > 0 && turns > 0 && warm > 0).then_some(Plan { connections, rounds, warm, turns })
    }

    /// How many messages a connection has had when the clock starts. They differ, so that neighbours do
    /// not get the same message.
    fn had(&self, connection: usize) -> usize {
        self.warm + connection * 7 % self.warm
    }

    /// Messages of a round, and bytes of payload in the mean.
    pub(crate) fn round(&self, input: &Input) -> (usize, usize) {
        let mut bytes = 0;
        for i in 0..self.connections {
            let connection = &input.connections[i % input.connections.len()];
            let first = connection.live + self.had(i);
            let timed = &connection.payloads[first..first + self.rounds * self.turns];
            bytes += timed.iter().map(Vec::len).sum::<usize>();
        }
        (self.connections * self.turns, bytes / self.rounds)
    }
}

/// Opens all connections of every contender, measures what they hold, and lets them take turns: in each
/// round one contender after the other, another one first each time, and of each one connection after the
/// other, message by message.
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
        // Once, so that what the thread holds is there.
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
            told: opened.iter().map(|one| one.told()).sum::<Option<usize>>().map(|b| b / plan.connections),
        });
        all.push(opened);
    }
    for round in 0..plan.rounds {
        progress(&format!("round {} of {}", round + 1, plan.rounds));
        for i in 0..contenders.len() {
            let who = (i + round) % contenders.len();
            let begun = thread_time();
            turns(input, contenders[who], plan, round, &mut all[who], shared)?;
            outcome[who].rounds.push(thread_time() - begun);
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
        let live = &connection.live_frames(contender.transport)[..plan.had(i)];
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
            let frame = &frames[plan.had(i) + round * plan.turns + turn];
            std::hint::black_box(decoder.message(frame, shared)?);
        }
    }
    Ok(())
}
