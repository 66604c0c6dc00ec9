//! Counts the memory of an idle connection by an allocator of its own, so this file is a program of
//! its own.

use std::io::{Cursor, Read, Write};

use linerate_testkit::sys::counting::{Counting, held};
use linerate_websocket::{Agreement, DeflateStream, Direction, Options, Role};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A socket that returns what was written to it.
#[derive(Default)]
struct Echo(Cursor<Vec<u8>>);

impl Read for Echo {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.0.read(buf)?;
        if n == 0 {
            self.0 = Cursor::default();
        }
        Ok(n)
    }
}

impl Write for Echo {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        self.0.get_mut().extend_from_slice(buf);
        Ok(buf.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Sends frames of messages and receives them.
fn talk(stream: &mut DeflateStream<Echo>) {
    for i in 0..200_u32 {
        let text = format!("{{\"op\":0,\"s\":{i},\"t\":\"PRESENCE_UPDATE\"}}").repeat(3);
        let frame = [&[0x81, text.len() as u8][..], text.as_bytes()].concat();
        stream.write_all(&frame).expect("in memory");
        let mut got = vec![0; frame.len()];
        stream.read_exact(&mut got).expect("in memory");
        assert_eq!(got, frame);
        assert_eq!(stream.read(&mut got).expect("in memory"), 0);
    }
}

#[test]
fn an_idle_connection_holds_two_windows_an_index_and_a_thousand_bytes() {
    let connect = |bits| {
        let direction = Direction::window_bits(bits);
        let agreement = Agreement { server: direction, client: direction };
        DeflateStream::agreed(Echo::default(), Role::Server, Options::default(), Some(agreement))
            .expect("a stream")
    };
    // The first run also allocates the working memory of the thread.
    talk(&mut connect(8));
    for bits in 8..=15 {
        let before = held();
        let mut stream = Box::new(connect(bits));
        talk(&mut stream);
        let held = held().wrapping_sub(before).wrapping_sub(size_of::<Echo>());
        assert_eq!(held, stream.memory(), "{bits} bits");
        let window = 1 << bits;
        assert!(held <= 2 * window + (2 * window).min(8 << 10) + 1_100, "{bits} bits: {held} bytes");
        assert!(bits != 10 || held <= 6_000, "{held} bytes");
    }
}
