//! Access to single data blocks.

use linerate_core::Result;

use super::block::{Cursor, Layout};
use super::compression::Compression;
use super::entry::Entry;
use super::handle::Handle;
use super::open::Sst;
use super::reader::{BlockPosition, Reader, stored_len};

/// A decoded data block.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    pub(super) handle: Handle,
    pub(super) compression: Compression,
    pub(super) content: &'a [u8],
}

/// Iterator over the entries of a block.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    handle: Handle,
    cursor: Cursor<'a>,
    key: Vec<u8>,
}

impl<'a> Block<'a> {
    /// Returns the handle of the block.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// Returns the compression of the block.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Returns the content of the block: entries and restart points.
    pub fn content(&self) -> &'a [u8] {
        self.content
    }

    /// Returns the entries of the block.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`](crate::Kind::Corrupt) for an invalid end of the block, and
    /// [`Kind::Unsupported`](crate::Kind::Unsupported) for an unknown layout.
    pub fn entries(&self) -> Result<Entries<'a>> {
        let layout = Layout::parse(self.content).map_err(|e| e.shifted(self.handle.offset))?;
        Ok(Entries { handle: self.handle, cursor: Cursor::new(&layout), key: Vec::new() })
    }
}

impl Entries<'_> {
    /// Returns the next entry, or `None` at the end.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`](crate::Kind::Corrupt) for an invalid entry. Further results are
    /// unspecified.
    pub fn next_entry(&mut self) -> Result<Option<Entry<'_>>> {
        let at = self.handle.offset;
        let Some(value) = self.cursor.next(&mut self.key).map_err(|e| e.shifted(at))? else {
            return Ok(None);
        };
        Entry::new(&self.key, value).map(Some).map_err(|e| e.shifted(at))
    }
}

impl Reader {
    /// Returns the handles of all data blocks, in key order.
    ///
    /// # Errors
    /// Returns the errors of [`get`](Self::get), if the index is damaged.
    pub fn blocks(&mut self, sst: &Sst) -> Result<Vec<Handle>> {
        let (mut all, mut position) = (Vec::new(), BlockPosition::default());
        while let Some(handle) = self.next_block(sst, &mut position)? {
            all.push(handle);
        }
        Ok(all)
    }

    /// Decodes one data block.
    ///
    /// # Errors
    /// Returns the errors of [`get`](Self::get).
    pub fn decode_block<'a>(&'a mut self, sst: &'a Sst, handle: Handle) -> Result<Block<'a>> {
        let compression = self.block_compression(sst, handle)?;
        let content = self.load(sst, handle, sst.dictionary.as_ref())?.content(&self.content);
        Ok(Block { handle, compression, content })
    }

    /// Returns the compression of a block, from its trailer.
    ///
    /// # Errors
    /// Returns [`Kind::Corrupt`](crate::Kind::Corrupt) if the block is not within the file, and
    /// [`Kind::Read`](crate::Kind::Read) if the file cannot be read.
    pub fn block_compression(&self, sst: &Sst, handle: Handle) -> Result<Compression> {
        stored_len(sst, handle)?;
        let [number] = sst.input.array(handle.offset + handle.size)?;
        Ok(Compression::from_number(number))
    }
}
