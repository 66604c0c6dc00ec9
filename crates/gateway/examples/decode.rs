//! Decodes connections from files, for profilers: `decode MODE ROUNDS FILE...`
//!
//! MODE is `plain`; `json` or `etf`, which check each payload; or `peek-json` or `peek-etf`, which
//! read only the envelope. A file has messages, each preceded by its length in four bytes, as
//! `linerate gateway` reads them; the messages are those of a zlib stream if the file's name ends
//! with `.zlib`, else of a zstd stream. The program prints for each file the number of messages,
//! payload bytes and events, over all rounds. To count instructions, run
//! `valgrind --tool=callgrind target/release/examples/decode json 1 FILE.zst`.

use std::fs::File;
use std::io::BufReader;

use linerate_gateway::{Checks, Encoding, Envelope, Limits, Messages, Scratch, Session, Transport};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().expect("mode");
    let rounds: usize = arguments.next().and_then(|n| n.parse().ok()).expect("rounds");
    let (checks, peek) = match mode.as_str() {
        "plain" => (Checks::NONE, None),
        "json" => (Checks::complete(Encoding::Json).sequence(true), None),
        "etf" => (Checks::complete(Encoding::Etf).sequence(true), None),
        "peek-json" => (Checks::NONE, Some(Encoding::Json)),
        "peek-etf" => (Checks::NONE, Some(Encoding::Etf)),
        _ => panic!("not one of plain, json, etf, peek-json, peek-etf: {mode}"),
    };
    let mut scratch = Scratch::new();
    for path in arguments {
        let file = BufReader::new(File::open(&path).expect("a file"));
        let frames: Vec<Vec<u8>> = Messages::new(file).collect::<Result<_, _>>().expect("messages");
        let transport = if path.ends_with(".zlib") { Transport::Zlib } else { Transport::Zstd };
        let mut session = Session::new(transport, Limits::new()).checks(checks);
        let (mut messages, mut bytes, mut events) = (0u64, 0, 0u64);
        for _ in 0..rounds {
            session.reset();
            for frame in &frames {
                let message = session.message(frame, &mut scratch).expect("valid").expect("complete");
                bytes += message.payload.len();
                let peeked = peek.map(|encoding| Envelope::peek(message.payload, encoding).expect("valid"));
                let envelope = message.envelope.or(peeked);
                events += u64::from(envelope.is_some_and(|envelope| envelope.event.is_some()));
                messages += 1;
            }
        }
        println!("{path}: {messages} messages, {bytes} bytes, {events} events");
    }
}
