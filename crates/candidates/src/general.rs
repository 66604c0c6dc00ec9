//! Shuffles bytes and compresses with zstd, for comparison with codecs made for arrays. No command
//! of Linerate does this.

use linerate_plan::Measurement;
use zstd_safe::{CCtx, DCtx, get_error_name};

use super::pieces::Candidate;

/// Makes a candidate that compresses each piece to a zstd frame of its own with libzstd. It has no
/// command. The caller shuffles the pieces.
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

/// Shuffles bytes as the shuffle filters of HDF5 and Blosc do: puts the first byte of every sample
/// first, then the second byte of every sample, and so on. `width` is the number of bytes of a
/// sample, at least 1. With samples of three bytes, `abcabc` becomes `aabbcc`.
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
    fn zstd_restores_its_pieces() {
        let pieces = [b"one two one two".repeat(100), vec![], b"three".to_vec()];
        let found = zstd(&pieces, 3, "zstd 3".into()).check().expect("equal").measurement;
        assert_eq!(found.content, 1505);
        assert!(found.compressed < 200 && found.command.is_none(), "{found:?}");
    }
}
