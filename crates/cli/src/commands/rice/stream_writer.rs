//! An array to a v2 file: streams one after another, each a piece of whole rows.

use linerate_rice::Options;
use linerate_rice::v2::{self, Element, StreamOptions};

use super::dtype::Word;
use super::input::Input;
use super::piece::{PIECE, Put, differs, engine_error, reserve};
use crate::ui::error::CliError;

/// Samples per stream: whole rows, or whole segments where a row is longer than a piece.
fn piece_of(settings: &StreamOptions, bytes_each: u64) -> u64 {
    let most = PIECE / bytes_each;
    let row = settings.row_len().map(|row| u64::from(row.get())).filter(|&row| row <= most);
    let unit = row.unwrap_or(settings.segment_len().into());
    (most / unit).max(1) * unit
}

/// Encodes an array as streams and returns their number. With `verify`, each is decoded and
/// compared.
pub(crate) fn encode<T: Word + Element>(
    input: &mut Input,
    settings: &StreamOptions,
    exec: Options,
    verify: bool,
    put: Put<'_>,
) -> Result<u64, CliError> {
    let most = piece_of(settings, size_of::<T>() as u64);
    let (mut piece, mut stream, mut back) = (Vec::<T>::new(), Vec::new(), Vec::<T>::new());
    let mut streams = 0;
    // An array without samples is a stream too: it has a type and may have rows.
    while input.next(most, &mut piece)? || streams == 0 {
        reserve(&mut stream, v2::bound::<T>(settings, piece.len()))?;
        let len = v2::encode_into(settings, &piece, &mut stream, exec).map_err(engine_error(0))?;
        let stream = &stream[..len];
        if verify {
            reserve(&mut back, piece.len())?;
            let decoded = v2::decode_into(stream, &mut back, exec);
            if decoded != Ok(piece.len()) || back[..piece.len()] != *piece {
                return Err(differs());
            }
        }
        put(stream, input.at())?;
        streams += 1;
    }
    Ok(streams)
}
