//! Compression of blocks with the dictionaries of a store.

use std::collections::VecDeque;

use linerate_core::{Error, Kind, Result};
use zstd_safe::{CCtx, CParameter, ResetDirective, get_error_name};

use crate::id::Id;
use crate::store::Store;

/// Contexts kept, each with a digested dictionary: 100 KiB to 2 MiB, depending on the level.
const CACHED: usize = 4;

/// Compresses blocks, through libzstd. Needs one per thread.
pub struct Encoder {
    store: Store,
    level: i32,
    checksum: bool,
    /// Most recently used first.
    contexts: VecDeque<(Id, CCtx<'static>)>,
}

const fn refused(what: &'static str) -> Error {
    Error::new(Kind::BadArgument, 0, what)
}

impl Encoder {
    /// Creates an encoder at level 3, without checksums.
    pub fn new(store: &Store) -> Self {
        Encoder { store: store.clone(), level: 3, checksum: false, contexts: VecDeque::new() }
    }

    /// Sets the libzstd compression level, -7 to 22.
    ///
    /// # Errors
    /// [`Kind::BadArgument`] for another level.
    pub fn level(mut self, level: i32) -> Result<Self> {
        if !(-7..=zstd_safe::max_c_level()).contains(&level) {
            return Err(refused("the compression level is not one of -7 to 22"));
        }
        self.level = level;
        self.contexts.clear();
        Ok(self)
    }

    /// Sets whether each frame ends with a checksum of its content. It takes 4 bytes, and detects decoding
    /// with a wrong dictionary.
    ///
    /// # Errors
    /// None known from libzstd.
    pub fn checksum(mut self, checksum: bool) -> Result<Self> {
        self.checksum = checksum;
        self.contexts.clear();
        Ok(self)
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
        let context = self.context(id)?;
        // After an error the context is still inside the previous block.
        context.reset(ResetDirective::SessionOnly).map_err(|_| refused("libzstd could not be reset"))?;
        context.compress2(dst, block).map_err(|code| match get_error_name(code) {
            "Destination buffer is too small" => {
                Error::new(Kind::OutputTooSmall, 0, "the output buffer is too small for the compressed block")
            }
            _ => Error::new(Kind::Limit, 0, "libzstd could not compress a block"),
        })
    }

    /// The context of a dictionary, moved to the front, or a new one.
    fn context(&mut self, id: Id) -> Result<&mut CCtx<'static>> {
        if id != Id::NONE && !self.store.contains(id) {
            self.contexts.retain(|(kept, _)| *kept != id);
        }
        let at = self.contexts.iter().position(|(kept, _)| *kept == id);
        let entry = match at.and_then(|at| self.contexts.remove(at)) {
            Some(found) => found,
            None => (id, self.digest(id)?),
        };
        self.contexts.truncate(CACHED - 1);
        self.contexts.push_front(entry);
        Ok(&mut self.contexts[0].1)
    }

    fn digest(&self, id: Id) -> Result<CCtx<'static>> {
        const NO_MEMORY: Error = Error::new(Kind::Limit, 0, "libzstd could not digest a dictionary");
        let mut context = CCtx::try_create().ok_or(NO_MEMORY)?;
        for parameter in [CParameter::CompressionLevel(self.level), CParameter::ChecksumFlag(self.checksum)] {
            context.set_parameter(parameter).map_err(|_| refused("libzstd rejected a parameter"))?;
        }
        if id != Id::NONE {
            context.load_dictionary(&self.store.bytes(id)?).map_err(|_| NO_MEMORY)?;
        }
        Ok(context)
    }
}
