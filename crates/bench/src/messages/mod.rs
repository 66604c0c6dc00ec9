//! The shape "messages": compressed gateway connections decoded message by message.

#[cfg(feature = "command")]
pub mod args;
#[cfg(feature = "command")]
pub mod day;
mod decoders;
#[cfg(feature = "plot")]
pub(crate) mod draw;
mod encoding;
mod input;
mod many;
mod rounds;
pub mod row;
mod table;

use std::time::Duration;

use linerate_gateway::Transport;

use self::decoders::{CONTENDERS, Contender, Shared, base};
pub use self::input::{Connection, Input};
use self::many::{Many, Plan};
use self::rounds::Times;
use self::row::Row;
pub use self::table::table;
use crate::stats;

/// Options of a measurement.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// The transports.
    pub transports: Vec<Transport>,
    /// Passes of each contender over everything.
    pub rounds: usize,
    /// Whether to encode short messages instead, by one connection each.
    pub encode: bool,
    /// Connections open at once; 0 leaves the shape "many" out.
    pub connections: usize,
}

/// Decodes the connections with every contender: rows of the shapes "whole", "live" and "many" for each
/// transport. The last one is left out where connections have too few live events. Or encodes: rows of the shape
/// "encode".
///
/// # Errors
/// A sentence: a contender's message, or a decoded payload that differs.
pub fn measure(
    input: &Input,
    options: &BenchOptions,
    mut progress: impl FnMut(&str),
) -> Result<Vec<Row>, String> {
    if options.encode {
        return encoding::measure(input, options.rounds, progress);
    }
    let mut shared = Shared::new(input.longest());
    let mut rows = Vec::new();
    for &transport in &options.transports {
        let contenders: Vec<&Contender> =
            CONTENDERS.iter().filter(|contender| contender.transport == transport).collect();
        progress(&format!("{transport}: checking"));
        rounds::check(input, &contenders, &mut shared)?;
        let on_round = |round| progress(&format!("{transport}: round {} of {}", round + 1, options.rounds));
        let times = rounds::time(input, &contenders, options.rounds, &mut shared, on_round)?;
        rows.extend(Report { input, transport, contenders: &contenders }.whole_and_live(&times));
        if let Some(plan) = Plan::new(input, options.connections, options.rounds) {
            let on_step = |what: &str| progress(&format!("{transport}, many connections: {what}"));
            let many = many::measure(input, &contenders, &plan, &mut shared, on_step)?;
            rows.extend(Report { input, transport, contenders: &contenders }.many(&plan, &many));
        }
    }
    Ok(rows)
}

/// Turns times into rows.
struct Report<'a> {
    input: &'a Input,
    transport: Transport,
    contenders: &'a [&'a Contender],
}

impl Report<'_> {
    fn whole_and_live(&self, times: &[Times]) -> Vec<Row> {
        let all = &self.input.connections;
        let from = |skip: fn(&Connection) -> usize| {
            let payloads = || all.iter().flat_map(move |one| &one.payloads[skip(one)..]);
            let frames = all.iter().flat_map(move |one| &one.frames(self.transport)[skip(one)..]);
            let compressed: usize = frames.map(Vec::len).sum();
            (payloads().count(), payloads().map(Vec::len).sum::<usize>(), compressed)
        };
        let mut rows = Vec::new();
        for (measure, (messages, bytes, compressed), of) in [
            ("whole", from(|_| 0), (|times| &times.whole) as fn(&Times) -> &Vec<Duration>),
            ("live", from(|one| one.live), |times| &times.live),
        ] {
            let rounds: Vec<&[Duration]> = times.iter().map(|times| of(times).as_slice()).collect();
            if messages > 0 {
                let ratio = bytes as f64 / compressed.max(1) as f64;
                rows.extend(self.rows(measure, all.len(), messages, bytes, ratio, &rounds));
            }
        }
        rows
    }

    fn many(&self, plan: &Plan, many: &[Many]) -> Vec<Row> {
        let (messages, bytes) = plan.round(self.input);
        let live = self.input.connections.iter().flat_map(|one| &one.payloads[one.live..]);
        let payload: usize = live.map(Vec::len).sum();
        let frames = self.input.connections.iter().flat_map(|one| one.live_frames(self.transport));
        let ratio = payload as f64 / frames.map(Vec::len).sum::<usize>().max(1) as f64;
        let rounds: Vec<&[Duration]> = many.iter().map(|one| one.rounds.as_slice()).collect();
        let mut rows = self.rows("many", plan.connections, messages, bytes, ratio, &rounds);
        for (row, many) in rows.iter_mut().zip(many) {
            row.heap_bytes = many.heap;
            row.resident_bytes = many.resident;
            row.reported_bytes = many.reported;
        }
        rows
    }

    /// A row for each contender.
    fn rows(
        &self,
        measure: &str,
        connections: usize,
        messages: usize,
        bytes: usize,
        ratio: f64,
        rounds: &[&[Duration]],
    ) -> Vec<Row> {
        let base = base(self.transport);
        let of_base = self.contenders.iter().position(|c| c.name == base).unwrap_or(0);
        let one = |i: usize| {
            let contender = self.contenders[i];
            let times = rounds[of_base].iter().zip(rounds[i]);
            let times = times.map(|(base, own)| base.as_secs_f64() / own.as_secs_f64()).collect();
            let median = stats::median(rounds[i]).unwrap_or_default();
            Row {
                measure: measure.into(),
                transport: self.transport.name().into(),
                contender: contender.name.into(),
                version: (contender.version)(),
                connections,
                messages,
                payload_bytes: bytes,
                ratio: Some(ratio),
                rounds: rounds[i].len(),
                best_mbs: stats::best(rounds[i]).map(|time| stats::speed(bytes, time)),
                median_mbs: Some(stats::speed(bytes, median)),
                median_ns: Some(median.as_secs_f64() * 1e9 / messages as f64),
                base: base.into(),
                speed_vs_base: Some(stats::middle(times)),
                ..Row::blank(&self.input.name)
            }
        };
        (0..self.contenders.len()).map(one).collect()
    }
}
