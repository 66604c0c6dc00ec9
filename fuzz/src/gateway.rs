//! Connections of any bytes in any frames.

use linerate_gateway::{Checks, Encoding, Kind, Limits, Scratch, Session, Transport};
use zlib_rs::{Inflate, InflateFlush};

/// The longest payload that is let through.
const LIMIT: usize = 1 << 18;
/// Sessions hold no more than this beside the compressed bytes that wait.
const MEMORY: usize = 2 << 20;

/// The first byte chooses transport and checks; then each byte is the length of a frame, or, with its
/// top bit, of one 64 times as long.
///
/// # Panics
/// If a payload is above the limit, an error goes away, or a session holds too much.
pub fn gateway(data: &[u8]) {
    let Some((&choice, mut rest)) = data.split_first() else { return };
    let transport = Transport::ALL[usize::from(choice & 1)];
    let checks = match choice >> 1 & 3 {
        0 => Checks::NONE,
        1 => Checks::complete(Encoding::Json).with_sequence(),
        _ => Checks::complete(Encoding::Etf).with_sequence(),
    };
    let mut scratch = Scratch::new();
    let limits = Limits::new().with_max_message(LIMIT);
    let mut session = Session::new(transport, limits).with_checks(checks).with_recent(4, 1000);
    while let Some((&len, after)) = rest.split_first() {
        let len = if len < 128 { usize::from(len) } else { 64 * usize::from(len & 127) };
        let (frame, after) = after.split_at(len.min(after.len()));
        rest = after;
        match session.message(frame, &mut scratch) {
            Ok(Some(message)) => assert!(message.payload.len() <= LIMIT),
            Ok(None) => assert_eq!(transport, Transport::Zlib),
            Err(fault) => {
                assert!(fault.error.at <= session.consumed() + data.len() as u64);
                assert_eq!(session.message(frame, &mut scratch), Err(fault));
                session.reset();
                assert!(session.fault().is_none() && session.messages() == 0);
            }
        }
        assert!(session.memory() <= MEMORY + data.len() && scratch.memory() <= MEMORY);
    }
}

/// A zlib stream of these bytes up to the end of a message: the verdict of zlib-rs, and the same bytes.
///
/// # Panics
/// If they differ.
pub fn gateway_zlib(data: &[u8]) {
    let frame = [&[0x78, 0x9c], data, &[0, 0, 0xff, 0xff]].concat();
    let mut inflate = Inflate::new(true, 15);
    let mut expected = vec![0; LIMIT + 1];
    let verdict = inflate.decompress(&frame, &mut expected, InflateFlush::NoFlush);
    let len = inflate.total_out() as usize;
    let mut scratch = Scratch::new();
    let limits = Limits::new().with_max_message(LIMIT);
    match Session::new(Transport::Zlib, limits).message(&frame, &mut scratch) {
        Ok(Some(message)) => {
            assert!(verdict.is_ok());
            assert_eq!(message.payload, &expected[..len]);
        }
        Ok(None) => assert!(verdict.is_ok() || len > LIMIT),
        Err(fault) if fault.kind() == Kind::Limit => assert!(len > LIMIT || verdict.is_err()),
        // Gateways never end their streams.
        Err(fault) if fault.error.what == "the zlib stream ends" => {}
        // A code for code lengths without any code is an error at once here, and in zlib-rs when all
        // lengths were read.
        Err(_) => assert!(
            verdict.is_err() || inflate.decompress(&[0; 64], &mut expected, InflateFlush::NoFlush).is_err()
        ),
    }
}
