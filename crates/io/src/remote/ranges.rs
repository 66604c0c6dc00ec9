//! A file on a server as a source, with its first bytes at hand.

use std::io;

use linerate_core::{Error, Kind, Result};

use super::answer::Known;
use super::link::Link;

use crate::read_at::ReadAt;

/// Bytes that opening a file asks for, and that are kept: most headers and footers of small files.
const FIRST_READ: usize = 4096;

/// A file on a server, and what was learnt of it when it was opened.
#[derive(Debug)]
pub(super) struct Ranges {
    link: Link,
    known: Known,
    first: Vec<u8>,
}

impl Ranges {
    /// Asks for the first bytes.
    pub(super) fn open(link: Link) -> Result<Ranges> {
        let (mut first, mut known) = (vec![0; FIRST_READ], None);
        let len = link.fetch(0, &mut first, &mut known)?;
        first.truncate(len);
        let known = known.ok_or(Error::new(Kind::Truncated, 0, "the file is empty"))?;
        Ok(Ranges { link, known, first })
    }
}

impl ReadAt for Ranges {
    fn len(&self) -> u64 {
        self.known.len
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(out.len() as u64).filter(|end| *end <= self.known.len);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        if end <= self.first.len() as u64 {
            // Both are at most `FIRST_READ`.
            out.copy_from_slice(&self.first[offset as usize..end as usize]);
            return Ok(());
        }
        self.link.fetch(offset, out, &mut Some(self.known.clone()))?;
        Ok(())
    }

    fn coalesce_limit(&self) -> u64 {
        self.link.options().coalesce_limit
    }
}
