//! Whole connections one after the other, contenders interleaved.

use std::time::Duration;

use super::decoders::{Contender, Decoder, Shared};
use super::input::{Connection, Input};
use linerate_candidates::thread_time;

/// The times of one contender, a value for each round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    /// All messages of all connections.
    pub(crate) whole: Vec<Duration>,
    /// The messages after the guilds.
    pub(crate) live: Vec<Duration>,
}

/// Decodes every message with every contender once, and compares.
pub(crate) fn check(input: &Input, contenders: &[&Contender], shared: &mut Shared) -> Result<(), String> {
    for contender in contenders {
        for connection in &input.connections {
            let whole = connection.frames(contender.transport).iter().zip(&connection.payloads);
            same(contender, whole, shared)?;
            same(contender, connection.turns(contender.transport), shared)?;
        }
    }
    Ok(())
}

fn same<'a>(
    contender: &Contender,
    messages: impl Iterator<Item = (&'a Vec<u8>, &'a Vec<u8>)>,
    shared: &mut Shared,
) -> Result<(), String> {
    let mut decoder = (contender.open)()?;
    for (i, (frame, payload)) in messages.enumerate() {
        let message = |what: &str| format!("{} {}: message {i}: {what}", contender.name, contender.transport);
        let decoded = decoder.message(frame, shared).map_err(|e| message(&e))?;
        if decoded != *payload {
            return Err(message("another payload came out"));
        }
    }
    Ok(())
}

/// Times every contender over all connections, `rounds` times. Contenders alternate after each connection,
/// in rotating order.
pub(crate) fn time(
    input: &Input,
    contenders: &[&Contender],
    rounds: usize,
    shared: &mut Shared,
    mut progress: impl FnMut(usize),
) -> Result<Vec<Times>, String> {
    let mut times = vec![Times::default(); contenders.len()];
    for round in 0..rounds {
        progress(round);
        let mut sums = vec![(Duration::ZERO, Duration::ZERO); contenders.len()];
        for (turn, connection) in input.connections.iter().enumerate() {
            for i in 0..contenders.len() {
                let index = (i + turn + round) % contenders.len();
                let (whole, live) = one(contenders[index], connection, shared)?;
                sums[index].0 += whole;
                sums[index].1 += live;
            }
        }
        for (times, (whole, live)) in times.iter_mut().zip(sums) {
            times.whole.push(whole);
            times.live.push(live);
        }
    }
    Ok(times)
}

/// The time of a connection, and of the live part of it.
fn one(
    contender: &Contender,
    connection: &Connection,
    shared: &mut Shared,
) -> Result<(Duration, Duration), String> {
    let mut decoder = (contender.open)()?;
    let (startup, live) = connection.frames(contender.transport).split_at(connection.live);
    let begun = thread_time();
    all(&mut *decoder, startup, shared)?;
    let between = thread_time();
    all(&mut *decoder, live, shared)?;
    let ended = thread_time();
    Ok((ended - begun, ended - between))
}

fn all(decoder: &mut dyn Decoder, frames: &[Vec<u8>], shared: &mut Shared) -> Result<(), String> {
    for frame in frames {
        std::hint::black_box(decoder.message(frame, shared)?);
    }
    Ok(())
}
