//! Finds out, from the headers of frames and blocks alone, whether a file begins with a frame that
//! may be held in memory and is followed by another. If so, threads decode whole frames in parallel
//! from the first one on.

use std::io::{self, Read, Seek, SeekFrom};

use linerate_zstd::{Format, FrameHeader, Header};

use super::parallel::MAX_FRAME;
use super::walk::{Block, MAX_HEADER, SKIPPABLE_HEADER};

/// Maximum number of headers that are read, of frames and of blocks. The largest frame that is held
/// in memory has 256 blocks of the usual size of 128 KiB.
const MAX_HEADERS: u32 = 2048;

/// Whether the next frame of a file is small enough to be held in memory and another frame follows
/// it; skippable frames do not count. The only frame of a file, and a large frame, are better
/// decoded while they are read. Also returns false if the headers are damaged or cannot be read.
/// Keeps the position in the file.
///
/// # Errors
/// The error of seeking back to that position.
pub(super) fn begins_with_small_frames(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let Ok(at) = file.stream_position() else { return Ok(false) };
    let result = two_frames(file, at);
    file.seek(SeekFrom::Start(at))?;
    Ok(result.unwrap_or(false))
}

/// Whether two frames follow offset `at`, of which the first is small. Returns `None` if it is not,
/// if a header cannot be read, or if there are too many headers.
fn two_frames(file: &mut (impl Read + Seek), mut at: u64) -> Option<bool> {
    let (mut has_frame, mut left) = (false, MAX_HEADERS);
    loop {
        left = left.checked_sub(1)?;
        let mut bytes = [0; MAX_HEADER];
        let count = read(file, at, &mut bytes)?;
        match Header::parse(&bytes[..count], Format::Standard) {
            Ok(Header::Skippable { len, .. }) => at += SKIPPABLE_HEADER + u64::from(len),
            Ok(Header::Frame(_)) if has_frame => return Some(true),
            Ok(Header::Frame(frame)) => {
                at = end_of_small(file, at, &frame, &mut left)?;
                has_frame = true;
            }
            Err(_) => return Some(false),
        }
    }
}

/// Returns the offset at which the frame at offset `begin` ends. Returns `None` if the frame is too
/// large to be held in memory, has more than `left` blocks, is cut off within a block header or has
/// one of the reserved type, or cannot be read. Lowers `left` by the number of its blocks.
fn end_of_small(
    file: &mut (impl Read + Seek),
    begin: u64,
    frame: &FrameHeader,
    left: &mut u32,
) -> Option<u64> {
    let mut at = begin + frame.len as u64;
    let mut held = frame.content_size.unwrap_or(0);
    loop {
        *left = left.checked_sub(1)?;
        let mut bytes = [0; 3];
        if held.max(at - begin) > MAX_FRAME || read(file, at, &mut bytes)? < bytes.len() {
            return None;
        }
        let block = Block::parse(bytes)?;
        at += 3 + block.stored;
        if frame.content_size.is_none() {
            held += block.content;
        }
        if block.is_last {
            at += if frame.checksum { 4 } else { 0 };
            return (held.max(at - begin) <= MAX_FRAME).then_some(at);
        }
    }
}

/// Fills `bytes` from offset `at` of a file. Returns the number of bytes read, which is smaller
/// only at the end of the file, or `None` after an error.
fn read(file: &mut (impl Read + Seek), at: u64, bytes: &mut [u8]) -> Option<usize> {
    file.seek(SeekFrom::Start(at)).ok()?;
    let mut count = 0;
    while count < bytes.len() {
        match file.read(&mut bytes[count..]) {
            Ok(0) => break,
            Ok(n) => count += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A frame of `count` runs of 128 KiB each, without a content size.
    fn frame(count: usize) -> Vec<u8> {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3];
        for i in 1..=count {
            let block = (128_u32 << 10) << 3 | 1 << 1 | u32::from(i == count);
            frame.extend_from_slice(&block.to_le_bytes()[..3]);
            frame.push(7);
        }
        frame
    }

    #[test]
    fn two_frames_are_found_and_the_file_stays_where_it_is() {
        let skippable = [&[0x55, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let (small, large) = (frame(256), frame(257));
        for (parts, wanted) in [
            (&[&small[..]][..], false),
            (&[&small, &small], true),
            (&[&skippable, &small, &skippable], false),
            (&[&skippable, &small, &skippable, &small], true),
            (&[&large, &small], false),
            (&[&small, &large], true),
            (&[&small, b"garbage"], false),
            (&[&small[..100]], false),
            (&[&skippable[..9]], false),
            (&[&skippable.repeat(3000), &small, &small], false),
            (&[], false),
        ] {
            let mut file = Cursor::new([b"before", &parts.concat()[..]].concat());
            file.set_position(6);
            assert_eq!(begins_with_small_frames(&mut file).ok(), Some(wanted), "{} parts", parts.len());
            assert_eq!(file.position(), 6);
        }
    }
}
