//! Arrays are processed in pieces, so that they may be larger than memory.

use std::io::ErrorKind;

use linerate_rice::Error;

use crate::ui::error::CliError;

/// Raw bytes in a piece, unless a segment is longer. Where a v2 file is divided into streams
/// follows from it, so it does not depend on the machine.
pub(crate) const PIECE: u64 = 16 << 20;

/// The same in 16-bit samples.
pub(crate) const PIECE_SAMPLES: u64 = PIECE / 2;

/// Takes encoded bytes, with the number of input bytes used so far.
pub(crate) type Put<'a> = &'a mut dyn FnMut(&[u8], u64) -> Result<(), CliError>;

/// How the engine's errors become ours: `at` is the offset of the engine's byte 0.
pub(crate) fn engine_error(at: u64) -> impl Fn(Error) -> CliError {
    move |e| CliError::data(e.kind, at.saturating_add(e.offset), e.message)
}

/// Makes `buffer` at least `len` long.
pub(crate) fn reserve<T: Copy + Default>(buffer: &mut Vec<T>, len: usize) -> Result<(), CliError> {
    if buffer.len() < len {
        buffer.try_reserve_exact(len - buffer.len()).map_err(|_| no_memory())?;
        buffer.resize(len, T::default());
    }
    Ok(())
}

pub(crate) fn differs() -> CliError {
    CliError::Refused("what was encoded does not decode to the input: nothing is kept".into())
}

pub(crate) fn no_memory() -> CliError {
    CliError::io("cannot work on this")(ErrorKind::OutOfMemory.into())
}
