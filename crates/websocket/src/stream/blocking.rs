//! [`Read`] and [`Write`], over blocking and non-blocking sockets.

use std::io::{ErrorKind, Read, Result, Write};

use super::{DeflateStream, invalid};
use crate::codec::PIECE;

impl<S: Write> DeflateStream<S> {
    fn send_pending(&mut self) -> Result<()> {
        while !self.link.pending().is_empty() {
            match self.stream.write(self.link.pending()) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => self.link.sent(n),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl<S: Read + Write> Read for DeflateStream<S> {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize> {
        // The caller's buffer first takes the bytes that the peer sent, and then the decoded ones.
        let mut n = 0;
        while !buf.is_empty() {
            if let Err(error) = self.link.receive(&mut buf[..n]) {
                // The close frame is sent only if the socket takes it now; an error here would hide
                // the first one.
                let _: Result<()> = self.send_pending().and_then(|()| self.stream.flush());
                return Err(invalid(error));
            }
            let ready = self.link.ready();
            if !ready.is_empty() {
                let n = ready.len().min(buf.len());
                buf[..n].copy_from_slice(&ready[..n]);
                self.link.consume(n);
                return Ok(n);
            }
            n = self.stream.read(buf)?;
            if n == 0 {
                break;
            }
        }
        Ok(0)
    }
}

impl<S: Write> Write for DeflateStream<S> {
    fn write(&mut self, buf: &[u8]) -> Result<usize> {
        self.send_pending()?;
        let taken = &buf[..buf.len().min(PIECE)];
        self.link.send(taken).map_err(invalid)?;
        match self.send_pending() {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(taken.len()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.send_pending()?;
        self.stream.flush()
    }
}
