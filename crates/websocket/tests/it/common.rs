//! A pair of sockets in memory that transfer few bytes at a time, and payloads.

#![allow(dead_code, reason = "each test program uses a part")]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Result, Write};
use std::rc::Rc;

/// One end of a connection. It reads and writes at most `most` bytes at a time, and every second
/// call would block.
pub(crate) struct End {
    pub(crate) incoming: Rc<RefCell<VecDeque<u8>>>,
    pub(crate) outgoing: Rc<RefCell<VecDeque<u8>>>,
    most: usize,
    calls: usize,
}

/// Both ends of a connection.
pub(crate) fn pair(most: usize) -> (End, End) {
    let (one, other) = (Rc::default(), Rc::default());
    let end = |incoming: &Rc<_>, outgoing: &Rc<_>| End {
        incoming: Rc::clone(incoming),
        outgoing: Rc::clone(outgoing),
        most,
        calls: 0,
    };
    (end(&one, &other), end(&other, &one))
}

impl End {
    fn blocks(&mut self) -> bool {
        self.calls += 1;
        self.calls.is_multiple_of(2)
    }
}

impl Read for End {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize> {
        let n = buf.len().min(self.most).min(self.incoming.borrow().len());
        if self.blocks() || n == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        for (to, from) in buf.iter_mut().zip(self.incoming.borrow_mut().drain(..n)) {
            *to = from;
        }
        Ok(n)
    }
}

impl Write for End {
    fn write(&mut self, buf: &[u8]) -> Result<usize> {
        if self.blocks() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let n = buf.len().min(self.most);
        self.outgoing.borrow_mut().extend(&buf[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Incompressible bytes.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// A message of a chat.
pub(crate) fn chat(i: usize) -> String {
    format!(
        "{{\"type\":\"message\",\"channel\":\"general\",\"user\":\"u{}\",\"text\":\"this is number {i}\",\"ts\":{}}}",
        i % 7,
        1_790_000_000 + 13 * i
    )
}
