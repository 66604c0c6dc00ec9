//! Measures `websocket-broadcast`: messages that are sent to many connections, each compressed once
//! or for every connection, without sockets, in CPU time of one thread.

use std::io::Write;
use std::sync::Arc;

use linerate_candidates::thread_time;
use linerate_gateway_sim::traffic::Random;
use linerate_websocket::{Agreement, DeflateStream, Direction, Options, Prepared, Role};

use crate::harness::{Contender, Rounds, measure as harness, message, row};
use crate::records::Measurement;

/// Base-2 logarithm of the window in bytes.
const BITS: u8 = 11;
/// Minimum number of frames sent in a turn, that is in one timed run of a contender: messages times
/// listeners. Fewer would take too little time to measure.
const SENT: usize = 20_000;
/// Minimum number of messages in a turn: more than a window holds, so that no message matches the
/// same message of the turn before.
const MESSAGES: usize = 16;
/// Name of the contender that others are compared with.
const BASE: &str = "compressed for each";

/// A socket that counts and discards everything.
#[derive(Default)]
struct Sink(usize);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

type Listener = DeflateStream<Sink>;

/// Sends one message to all listeners.
type Send = fn(&str, &mut [Listener]) -> Result<(), String>;

/// The contenders: name, whether later messages may refer to prepared ones, and the function that
/// sends.
const CONTENDERS: [(&str, bool, Send); 3] =
    [(BASE, true, to_each), ("prepared", true, to_all), ("prepared, forgotten", false, to_all)];

/// Names of the contenders.
pub(super) fn names() -> impl Iterator<Item = String> {
    CONTENDERS.into_iter().map(|(name, ..)| name.to_owned())
}

/// Writes an uncompressed frame to each listener, which compresses it, as websocket libraries do.
fn to_each(text: &str, listeners: &mut [Listener]) -> Result<(), String> {
    for listener in listeners {
        let frame = [&[0x81, 126][..], &(text.len() as u16).to_be_bytes(), text.as_bytes()].concat();
        listener.write_all(&frame).and_then(|()| listener.flush()).map_err(message)?;
    }
    Ok(())
}

fn to_all(text: &str, listeners: &mut [Listener]) -> Result<(), String> {
    let prepared = Prepared::text(text);
    for listener in listeners {
        listener.queue(&prepared).map_err(message)?;
        listener.flush().map_err(message)?;
    }
    Ok(())
}

/// Measures several numbers of listeners with messages of several sizes.
pub(super) fn measure(rounds: usize, quick: bool) -> Result<Vec<Measurement>, String> {
    let mut all = Vec::new();
    for size in [256, 512, 2048] {
        for count in [1, 100, if quick { 1_000 } else { 10_000 }] {
            all.extend(measure_one(size, count, rounds)?);
        }
    }
    Ok(all)
}

fn measure_one(size: usize, count: usize, rounds: usize) -> Result<Vec<Measurement>, String> {
    let mut random = Random::stream(1, 0);
    let mut number = 0;
    let mut text = || {
        let mut text = String::new();
        while text.len() < size {
            number += 1;
            text += &super::chat(&mut random, number);
        }
        text.truncate(size);
        text
    };
    let messages: Arc<[String]> = (0..SENT.div_ceil(count).max(MESSAGES)).map(|_| text()).collect();
    let mut timed = Vec::new();
    for (name, remember_prepared, send) in CONTENDERS {
        let direction = Direction::window_bits(BITS);
        let agreement = Some(Agreement { server: direction, client: direction });
        let options = Options { remember_prepared, ..Options::window_bits(BITS) };
        let open = |_| DeflateStream::agreed(Sink::default(), Role::Server, options.clone(), agreement);
        let mut listeners = (0..count).map(open).collect::<Result<Vec<_>, _>>().map_err(message)?;
        messages.iter().take(8).try_for_each(|text| send(text, &mut listeners))?;
        let held: usize = listeners.iter().map(Listener::memory).sum();
        let row = row("websocket-broadcast", &format!("chat, {size} bytes"), name)
            .param("listeners", count)
            .param("window_bits", u64::from(BITS))
            .size("state", held / count);
        let sent = count * messages.len();
        let messages = Arc::clone(&messages);
        let turn = move |_| {
            let begun = thread_time();
            messages.iter().try_for_each(|text| send(text, &mut listeners))?;
            Ok::<_, String>(thread_time() - begun)
        };
        timed.push(Contender::new(row, turn).units(sent).base(0, BASE).by_cost());
    }
    harness(timed, Rounds::warm(rounds))
}
