//! Data blocks by themselves.

use linerate_core::Result;

use super::block::{Layout, Walk};
use super::compression::Compression;
use super::entry::Entry;
use super::handle::Handle;
use super::open::Sst;
use super::reader::{Place, Reader, stored_len};

/// A data block, decoded.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    pub(super) handle: Handle,
    pub(super) compression: Compression,
    pub(super) content: &'a [u8],
}

/// The entries of a block, one after the other.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    handle: Handle,
    walk: Walk<'a>,
    key: Vec<u8>,
}

impl<'a> Block<'a> {
    /// Where it stands.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// How it is stored.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Its bytes: entries and their restarts.
    pub fn content(&self) -> &'a [u8] {
        self.content
    }

    /// Its entries.
    ///
    /// # Errors
    /// [`Kind::Corrupt`](crate::Kind::Corrupt) if it does not end as a block.
    pub fn entries(&self) -> Result<Entries<'a>> {
        let layout = Layout::parse(self.content).map_err(|e| e.shifted(self.handle.offset))?;
        Ok(Entries { handle: self.handle, walk: Walk::new(&layout), key: Vec::new() })
    }
}

impl Entries<'_> {
    /// The next one; none at the end.
    ///
    /// # Errors
    /// [`Kind::Corrupt`](crate::Kind::Corrupt) if the bytes are no entry; what follows is unspecified.
    pub fn next_entry(&mut self) -> Result<Option<Entry<'_>>> {
        let at = self.handle.offset;
        let Some(value) = self.walk.next(&mut self.key).map_err(|e| e.shifted(at))? else { return Ok(None) };
        Entry::new(&self.key, value).map(Some).map_err(|e| e.shifted(at))
    }
}

impl Reader {
    /// Where the data blocks of a file stand, in the order of their keys.
    ///
    /// # Errors
    /// As [`get`](Self::get), if the index is damaged.
    pub fn blocks(&mut self, sst: &Sst) -> Result<Vec<Handle>> {
        let (mut all, mut place) = (Vec::new(), Place::default());
        while let Some(handle) = self.next_block(sst, &mut place)? {
            all.push(handle);
        }
        Ok(all)
    }

    /// Decodes one data block.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn decode_block<'a>(&'a mut self, sst: &'a Sst, handle: Handle) -> Result<Block<'a>> {
        let compression = self.compression(sst, handle)?;
        let content = self.load(sst, handle, sst.dictionary.as_ref())?.content(&self.content);
        Ok(Block { handle, compression, content })
    }

    /// How a block is stored, by the byte behind it.
    pub(super) fn compression(&self, sst: &Sst, handle: Handle) -> Result<Compression> {
        stored_len(sst, handle)?;
        let [number] = sst.input.array(handle.offset + handle.size)?;
        Ok(Compression::of_number(number))
    }
}
