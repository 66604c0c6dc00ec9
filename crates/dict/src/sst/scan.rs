//! [`Scan`]: iterates over entries in order.

use std::ops::Range;

use linerate_core::Result;

use super::block::{self, Cursor, Layout, Position};
use super::entry::Entry;
use super::open::Sst;
use super::reader::{BlockPosition, Loaded, Reader};

/// Iterates over the entries of a file in order: all versions of a key, the newest first, including
/// deletions. Range deletions are separate (see [`Sst::range_deletions`]).
pub struct Scan<'a> {
    reader: &'a mut Reader,
    sst: &'a Sst,
    position: BlockPosition,
    block: Option<Open<'a>>,
    key: Vec<u8>,
    /// The first key to look for, until it is found.
    start: Option<&'a [u8]>,
    done: bool,
}

/// The current block.
#[derive(Clone, Copy)]
struct Open<'a> {
    loaded: Loaded<'a>,
    /// Offset of the block in the file.
    offset: u64,
    /// Position in the block.
    position: Position,
}

impl Reader {
    /// Iterates over all entries of a file, even if their order is unknown.
    pub fn scan<'a>(&'a mut self, sst: &'a Sst) -> Scan<'a> {
        let position = BlockPosition::default();
        Scan { reader: self, sst, position, block: None, key: Vec::new(), start: None, done: false }
    }

    /// Iterates over the entries with `key` and the keys after it in the order of the file.
    ///
    /// # Errors
    /// Returns the errors of [`get`](Self::get).
    pub fn scan_from<'a>(&'a mut self, sst: &'a Sst, key: &'a [u8]) -> Result<Scan<'a>> {
        let found = self.locate(sst, key, u64::MAX)?;
        let mut scan = self.scan(sst);
        match found {
            Some((handle, position)) => {
                (scan.position, scan.start) = (position, Some(key));
                scan.enter(handle)?;
            }
            None => scan.done = true,
        }
        Ok(scan)
    }
}

impl<'a> Scan<'a> {
    /// Returns the next entry, or `None` at the end and after an error.
    ///
    /// # Errors
    /// Returns the errors of [`Reader::get`].
    pub fn next_entry(&mut self) -> Result<Option<Entry<'_>>> {
        if self.done {
            return Ok(None);
        }
        self.done = true;
        let Some((open, position)) = self.step()? else { return Ok(None) };
        let value = &open.loaded.content(&self.reader.content)[position];
        let entry = Entry::new(&self.key, value).map_err(|e| e.shifted(open.offset))?;
        self.done = false;
        Ok(Some(entry))
    }

    /// Advances to the next entry. Returns its block, and the range of its value there.
    fn step(&mut self) -> Result<Option<(Open<'a>, Range<usize>)>> {
        loop {
            if let Some(open) = &mut self.block {
                let content = open.loaded.content(&self.reader.content);
                let layout = Layout::parse(content).map_err(|e| e.shifted(open.offset))?;
                let mut cursor = Cursor::from(&layout, open.position);
                let next = match self.start {
                    Some(start) => {
                        let found = block::seek(&layout, self.sst.order, start, u64::MAX, &mut self.key);
                        found.map(|(found, value)| {
                            cursor = found;
                            value
                        })
                    }
                    None => cursor.next(&mut self.key),
                };
                open.position = cursor.position;
                if let Some(value) = next.map_err(|e| e.shifted(open.offset))? {
                    self.start = None;
                    return Ok(Some((*open, cursor.value_range(value))));
                }
            }
            match self.reader.next_block(self.sst, &mut self.position)? {
                Some(handle) => self.enter(handle)?,
                None => return Ok(None),
            }
        }
    }

    fn enter(&mut self, handle: super::handle::Handle) -> Result<()> {
        let loaded = self.reader.load(self.sst, handle, self.sst.dictionary.as_ref())?;
        self.block = Some(Open { loaded, offset: handle.offset, position: Position::default() });
        self.key.clear();
        Ok(())
    }
}
