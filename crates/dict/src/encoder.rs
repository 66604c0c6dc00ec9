//! Compression of blocks with the dictionaries of a store.

use std::collections::VecDeque;

use linerate_core::{Error, Kind, Result};
use zstd_safe::{CCtx, CDict, CParameter, ResetDirective, get_error_name};

use crate::id::Id;
use crate::store::Store;

/// Digested dictionaries kept: each takes 100 KiB to 1 MiB, depending on the level.
const CACHED: usize = 4;

/// Compresses blocks, through libzstd. Needs one per thread.
pub struct Encoder {
    store: Store,
    context: CCtx<'static>,
    level: i32,
    /// Most recently used first.
    prepared: VecDeque<(Id, CDict<'static>)>,
}

const fn refused(what: &'static str) -> Error {
    Error::new(Kind::BadArgument, 0, what)
}

impl Encoder {
    /// Creates an encoder at level 3, without checksums.
    pub fn new(store: &Store) -> Self {
        Encoder { store: store.clone(), context: CCtx::create(), level: 3, prepared: VecDeque::new() }
    }

    /// Sets the libzstd compression level, -7 to 22.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] for another level.
    pub fn level(mut self, level: i32) -> Result<Self> {
        if !(-7..=zstd_safe::max_c_level()).contains(&level) {
            return Err(refused("the compression level is not one of -7 to 22"));
        }
        self.set(CParameter::CompressionLevel(level))?;
        self.level = level;
        self.prepared.clear();
        Ok(self)
    }

    /// Sets whether each frame ends with a checksum of its content. It takes 4 bytes, and detects decoding
    /// with a wrong dictionary.
    ///
    /// # Errors
    /// None known from libzstd.
    pub fn checksum(mut self, checksum: bool) -> Result<Self> {
        self.set(CParameter::ChecksumFlag(checksum))?;
        Ok(self)
    }

    fn set(&mut self, parameter: CParameter) -> Result<()> {
        self.context.set_parameter(parameter).map_err(|_| refused("libzstd rejected a parameter"))?;
        Ok(())
    }

    /// Maximum compressed length of `len` bytes.
    pub fn bound(len: usize) -> usize {
        zstd_safe::compress_bound(len)
    }

    /// Compresses one block into `dst` and returns its length in bytes.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] for an unknown ID, [`Kind::OutputTooSmall`], [`Kind::Limit`] if memory is
    /// exhausted.
    pub fn encode(&mut self, id: Id, block: &[u8], dst: &mut [u8]) -> Result<usize> {
        self.prepare(id)?;
        // After an error the context is still inside the previous block.
        self.context.reset(ResetDirective::SessionOnly).map_err(|_| refused("libzstd could not be reset"))?;
        match self.prepared.front().filter(|_| id != Id::NONE) {
            Some((_, dictionary)) => self.context.ref_cdict(dictionary),
            None => self.context.disable_dictionary(),
        }
        .map_err(|_| refused("libzstd rejected a dictionary"))?;
        self.context.compress2(dst, block).map_err(|code| match get_error_name(code) {
            "Destination buffer is too small" => {
                Error::new(Kind::OutputTooSmall, 0, "the output buffer is too small for the compressed block")
            }
            _ => Error::new(Kind::Limit, 0, "libzstd could not compress a block"),
        })
    }

    /// Moves the digested dictionary to the front, or digests it.
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
