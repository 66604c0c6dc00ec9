//! Contenders verified, then timed in interleaved rounds.

use std::time::Duration;

use super::contenders::{CONTENDERS, Contender, Requests, Tools};
use linerate_candidates::thread_time;

/// Blocks decoded before each timed pass: the last ones of the previous pass.
const WARMUP_BLOCKS: usize = 4096;

/// The times of one contender.
pub(crate) struct Times {
    pub(crate) contender: Contender,
    /// CPU time of the thread for all blocks, for each round.
    pub(crate) rounds: Vec<Duration>,
}

/// Decodes every block with every contender once, and compares.
pub(crate) fn check<'a>(
    of: impl Fn(&Contender) -> &'a Requests<'a>,
    tools: &mut Tools<'_>,
) -> Result<(), String> {
    for contender in &CONTENDERS {
        let requests = of(contender);
        let mut seen = 0;
        let mut on_content = |i: usize, content: &[u8]| {
            seen += 1;
            if content == requests.work.content(i) { Ok(()) } else { Err("other content came out".into()) }
        };
        let done = requests.pass(contender, 0, tools, &mut on_content);
        let message = |what: String| {
            let calls = contender.calls.name(0);
            format!("{} {} {calls}: {what}", contender.library.name(), contender.mode)
        };
        done.map_err(message)?;
        if seen != requests.work.len() {
            return Err(message(format!("{seen} of {} blocks came out", requests.work.len())));
        }
    }
    Ok(())
}

/// Times `rounds` passes of every contender. Within a round contenders alternate, in rotating order.
pub(crate) fn time<'a>(
    of: impl Fn(&Contender) -> &'a Requests<'a>,
    tools: &mut Tools<'_>,
    rounds: usize,
    mut progress: impl FnMut(usize),
) -> Result<Vec<Times>, String> {
    let mut times = CONTENDERS.map(|contender| Times { contender, rounds: Vec::with_capacity(rounds) });
    let count = times.len();
    for round in 0..rounds {
        progress(round);
        for i in 0..count {
            let Times { contender, rounds } = &mut times[(i + round) % count];
            let requests = of(contender);
            let mut pass = |first| requests.pass(contender, first, tools, &mut |_, _| Ok(()));
            pass(requests.work.len().saturating_sub(WARMUP_BLOCKS))?;
            let begun = thread_time();
            pass(0)?;
            rounds.push(thread_time() - begun);
        }
    }
    Ok(times.into())
}
