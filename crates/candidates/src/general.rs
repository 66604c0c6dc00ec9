//! General codecs, to compare with those made for a shape. They have no commands.

use linerate_deflate::{Format, Level, Scratch, compress, compress_bound};
use linerate_plan::Measurement;
use zlib_rs::{Inflate, InflateFlush};
use zstd_safe::{CCtx, DCtx, get_error_name};

use super::pieces::Candidate;

/// libzstd, with a frame for each piece.
pub(super) fn zstd(pieces: &[Vec<u8>], level: i32, settings: String) -> Candidate<'_, u8> {
    Candidate {
        measurement: Measurement { engine: "zstd".into(), settings, ..Measurement::default() },
        pieces,
        encode: Box::new(move |pieces, out| {
            let (mut context, mut frame) = (CCtx::create(), Vec::new());
            for piece in pieces {
                frame.clear();
                frame.reserve(zstd_safe::compress_bound(piece.len()));
                context.compress(&mut frame, piece, level).map_err(get_error_name)?;
                out(&frame);
            }
            Ok(())
        }),
        decode: Box::new(move |frames, out| {
            let (mut context, mut content) = (DCtx::create(), Vec::new());
            for (i, frame) in frames.iter().enumerate() {
                content.clear();
                content.reserve(pieces[i].len());
                context.decompress(&mut content, frame).map_err(get_error_name)?;
                out(i, &content);
            }
            Ok(())
        }),
    }
}

/// Deflate at one of our levels; zlib-rs decodes.
pub(super) fn deflate(pieces: &[Vec<u8>], level: Level) -> Candidate<'_, u8> {
    let longest = pieces.iter().map(Vec::len).max().unwrap_or(0);
    let settings = format!("deflate {}", level as u8);
    Candidate {
        measurement: Measurement { engine: "deflate".into(), settings, ..Measurement::default() },
        pieces,
        encode: Box::new(move |pieces, out| {
            let (mut scratch, mut bytes) = (Scratch::boxed(), vec![0; compress_bound(longest)]);
            for piece in pieces {
                let n = compress(Format::Zlib, level, &mut *scratch, piece, &mut bytes);
                out(&bytes[..n.map_err(|e| e.to_string())?]);
            }
            Ok(())
        }),
        decode: Box::new(move |compressed, out| {
            // One extra byte lets the decoder reach the end of the stream.
            let mut content = vec![0; longest + 1];
            for (i, bytes) in compressed.iter().enumerate() {
                let mut inflate = Inflate::new(true, 15);
                inflate
                    .decompress(bytes, &mut content, InflateFlush::Finish)
                    .map_err(|e| format!("zlib-rs: {e:?}"))?;
                out(i, &content[..inflate.total_out() as usize]);
            }
            Ok(())
        }),
    }
}

/// Puts bytes at the same position of each sample together, as the shuffle filter of HDF5 and Blosc
/// does: `abcabc` in samples of three bytes becomes `aabbcc`.
pub(super) fn shuffle(bytes: &[u8], width: usize) -> Vec<u8> {
    (0..width).flat_map(|at| bytes.iter().skip(at).step_by(width).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffle_puts_equal_places_together() {
        assert_eq!(shuffle(b"abcabcabc", 3), b"aaabbbccc");
        assert_eq!(shuffle(b"", 2), b"");
    }

    #[test]
    fn general_codecs_restore_their_pieces() {
        let pieces = [b"one two one two".repeat(100), vec![], b"three".to_vec()];
        let all = [zstd(&pieces, 3, "zstd 3".into()), deflate(&pieces, Level::High)];
        for candidate in all {
            let found = candidate.check().expect("equal").measurement;
            assert_eq!(found.content, 1505);
            assert!(found.compressed < 200 && found.command.is_none(), "{found:?}");
        }
    }
}
