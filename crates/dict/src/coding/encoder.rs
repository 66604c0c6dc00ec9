//! [`Encoder`]: compresses blocks with the dictionaries of a store.

use std::collections::VecDeque;

use linerate_core::{Error, Kind, Result};
use twox_hash::XxHash64;
use zstd_safe::{CCtx, CDict, get_error_name};

use crate::id::Id;
use crate::store::Store;

/// Maximum number of digested dictionaries that an encoder keeps. Each takes 50 KiB to 2 MiB,
/// depending on the level.
const CACHED: usize = 4;

/// Bit of the frame's descriptor, the byte after the magic number, that announces a checksum (RFC
/// 8878, section 3.1.1.1.1).
const CHECKSUM_FLAG: u8 = 1 << 2;

/// Size of a checksum, in bytes.
const CHECKSUM_SIZE: usize = 4;

/// Compresses blocks, through libzstd. Each thread needs one.
pub struct Encoder {
    store: Store,
    context: CCtx<'static>,
    level: i32,
    checksum: bool,
    /// Digested dictionaries, the most recently used first.
    prepared: VecDeque<(Id, CDict<'static>)>,
}

const fn refused(what: &'static str) -> Error {
    Error::new(Kind::BadArgument, 0, what)
}

impl Encoder {
    /// Creates an encoder at level 3, without checksums.
    pub fn new(store: &Store) -> Self {
        Encoder {
            store: store.clone(),
            context: CCtx::create(),
            level: 3,
            checksum: false,
            prepared: VecDeque::new(),
        }
    }

    /// Sets the libzstd compression level, -7 to 22.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] if `level` is not -7 to 22.
    pub fn level(mut self, level: i32) -> Result<Self> {
        if !(-7..=zstd_safe::max_c_level()).contains(&level) {
            return Err(refused("the compression level is not between -7 and 22"));
        }
        self.level = level;
        self.prepared.clear();
        Ok(self)
    }

    /// Sets whether each frame ends with a checksum of its content. The checksum takes 4 bytes, and
    /// detects decoding with a wrong dictionary. Default: no.
    #[must_use]
    pub fn checksum(self, checksum: bool) -> Self {
        Encoder { checksum, ..self }
    }

    /// Returns the maximum compressed length of `len` bytes.
    pub fn bound(len: usize) -> usize {
        zstd_safe::compress_bound(len)
    }

    /// Compresses one block into `dst`, and returns its compressed length in bytes.
    ///
    /// # Errors
    /// Returns the errors of [`Store::bytes`], [`Kind::OutputTooSmall`] if the result does not fit
    /// `dst`, and [`Kind::Limit`] if memory is exhausted.
    pub fn encode(&mut self, id: Id, block: &[u8], dst: &mut [u8]) -> Result<usize> {
        self.prepare(id)?;
        let checksum_size = if self.checksum { CHECKSUM_SIZE } else { 0 };
        let capacity = dst.len().saturating_sub(checksum_size);
        let frame = &mut dst[..capacity];
        let len = match self.prepared.front().filter(|_| id != Id::NONE) {
            Some((_, dictionary)) => self.context.compress_using_cdict(frame, block, dictionary),
            None => self.context.compress(frame, block, self.level),
        }
        .map_err(|code| match get_error_name(code) {
            "Destination buffer is too small" => {
                Error::new(Kind::OutputTooSmall, 0, "the output buffer is too small for the compressed block")
            }
            _ => Error::new(Kind::Limit, 0, "libzstd could not compress the block"),
        })?;
        if self.checksum {
            append_checksum(&mut dst[..len + CHECKSUM_SIZE], block);
        }
        Ok(len + checksum_size)
    }

    /// Moves the digested dictionary to the front, after digesting it if necessary.
    fn prepare(&mut self, id: Id) -> Result<()> {
        if id == Id::NONE {
            return Ok(());
        }
        if !self.store.contains(id) {
            self.prepared.retain(|(prepared, _)| *prepared != id);
        }
        let at = self.prepared.iter().position(|(prepared, _)| *prepared == id);
        if let Some(found) = at.and_then(|at| self.prepared.remove(at)) {
            self.prepared.push_front(found);
            return Ok(());
        }
        let bytes = self.store.bytes(id)?;
        let dictionary = CDict::try_create(&bytes, self.level).ok_or(Error::new(
            Kind::Limit,
            0,
            "libzstd could not digest a dictionary",
        ))?;
        self.prepared.truncate(CACHED - 1);
        self.prepared.push_front((id, dictionary));
        Ok(())
    }
}

/// Writes the checksum of `content` into the last bytes of `frame`, after a frame of libzstd that
/// has none. libzstd writes a checksum itself only if the context digests the dictionary for itself
/// alone, or borrows it for as long as the context lives. Large blocks then compress worse, because
/// the tables have the size that suits the dictionary.
fn append_checksum(frame: &mut [u8], content: &[u8]) {
    let (frame, checksum) = frame.split_at_mut(frame.len() - CHECKSUM_SIZE);
    frame[4] |= CHECKSUM_FLAG;
    checksum.copy_from_slice(&(XxHash64::oneshot(0, content) as u32).to_le_bytes());
}
