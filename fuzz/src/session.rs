//! Deflate sessions: zlib, with a window of exactly the session's size, decodes each message.

use std::sync::Arc;

use linerate_core::Tier;
use linerate_deflate::session::{Dictionary, Session, SessionOptions, message_bound};
use linerate_deflate::{Format, Level, Scratch};
use linerate_testkit::sys::zlib_window::ZlibWindow;

use crate::program::{Program, Step};

/// Sends the content of each `Encode` step of a program as a message.
///
/// # Panics
/// If zlib refuses a message (as it does for a match beyond the window) or decodes it to other bytes, if
/// a message exceeds its bound, or if the output depends on the CPU.
pub fn deflate_session(data: &[u8]) {
    let (choice, data) = data.split_at(data.len().min(2));
    let choice = |i: usize| choice.get(i).copied().unwrap_or(0);
    let program = Program::read(data);
    let bits: u8 = [0, 8, 9, 10, 11, 12, 13, 14, 15][usize::from(choice(0) % 9)];
    let format = if choice(1) & 8 != 0 { Format::Zlib } else { Format::Deflate };
    let level = Level::ALL[usize::from(choice(0) / 9) % Level::ALL.len()];
    let takeover = choice(1) & 1 != 0;
    let keep_tail = choice(1) & 2 != 0;
    let mut options = SessionOptions::new(format).level(level).window_bits(bits).takeover(takeover);
    options = options.keep_tail(keep_tail).keep_index(choice(1) & 4 != 0);
    let mut dictionary: &[u8] = &[];
    if choice(1) & 16 != 0 && takeover && bits != 0 {
        dictionary = &program.plain[..program.plain.len() / 3];
        options = options.dictionary(Arc::new(Dictionary::new(dictionary)));
    }
    let sent = send(&program, &options, program.tier);
    assert!(sent == send(&program, &options, Tier::Scalar), "the output depends on the CPU");
    let window_bits = if bits == 0 { 15 } else { i32::from(bits) };
    let mut decoder =
        ZlibWindow::new(if format == Format::Zlib { window_bits } else { -window_bits }, dictionary);
    for (mut bytes, message) in sent.into_iter().zip(messages(&program)) {
        assert!(bytes.len() <= message_bound(message.len()), "{} bytes", bytes.len());
        if !keep_tail {
            bytes.extend([0, 0, 0xff, 0xff]);
        }
        let plain = decoder.take(&bytes).expect("zlib takes it");
        assert!(plain == message, "another message comes out");
    }
}

fn messages(program: &Program) -> Vec<&[u8]> {
    let mut at = 0;
    let ends = program.steps.iter().filter_map(|step| match *step {
        Step::Encode { end, .. } => Some(end),
        Step::Flush | Step::Level(_) => None,
    });
    ends.map(|end| &program.plain[std::mem::replace(&mut at, end)..end]).collect()
}

fn send(program: &Program, options: &SessionOptions, tier: Tier) -> Vec<Vec<u8>> {
    let mut session = Session::new(options.clone()).expect("valid options");
    let mut scratch = Scratch::boxed();
    scratch.set_tier(tier);
    let one = |message: &[u8]| {
        let mut out = vec![0; message_bound(message.len())];
        let n = session.message(&mut scratch, message, &mut out).expect("room of message_bound");
        out.truncate(n);
        out
    };
    messages(program).into_iter().map(one).collect()
}
