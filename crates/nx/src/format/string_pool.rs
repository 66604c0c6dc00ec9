//! The string pool: the NUL-terminated paths of all files in one zstd frame.

use linerate_core::{Error, Kind, Result};
use linerate_zstd::Format;
#[cfg(feature = "pack")]
use zstd_safe::{CCtx, CParameter};

use crate::block::memory::no_memory;
use crate::format::frame::{self, FrameError, window_limit};
#[cfg(feature = "pack")]
use crate::format::header::MAX_POOL;
use crate::format::limits::Limits;

/// zstd level at which pools are compressed.
#[cfg(feature = "pack")]
pub(crate) const POOL_LEVEL: i32 = 16;

/// The paths of an archive, by index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StringPool {
    text: String,
    /// The end of each path, which is the position of its NUL.
    ends: Vec<u32>,
}

impl StringPool {
    /// The number of paths.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no path.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the path of an index.
    pub(crate) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)? as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize + 1 };
        Some(&self.text[start..end])
    }

    /// All paths, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i).unwrap_or_default())
    }

    /// Whether the paths are in strictly ascending byte order.
    pub fn is_sorted(&self) -> bool {
        (1..self.len()).all(|i| self.get(i - 1) < self.get(i))
    }

    /// Decompresses and parses a pool of `files` paths. An archive without files may have an empty
    /// pool.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Corrupt`] if the frame is damaged, lacks a whole header or is followed by
    /// other bytes, or if its content is not UTF-8 or not exactly `files` paths that each end with
    /// a NUL; [`Kind::Truncated`] if the frame ends early; [`Kind::Limit`] if it decompresses to
    /// more than [`Limits::pool`] bytes or to 4 GiB, a path has more than [`Limits::path`] bytes,
    /// the window is above [`Limits::window_log`], or memory runs out; [`Kind::BadArgument`] if
    /// that limit is itself too large. Offsets are in `compressed`.
    pub fn parse(compressed: &[u8], files: u32, limits: &Limits) -> Result<StringPool> {
        if files == 0 && compressed.is_empty() {
            return Ok(StringPool::default());
        }
        let bytes = decompress(compressed, limits)?;
        // Stops at one path more than there are files: a pool of NULs would have as many ends as
        // bytes.
        let ends = memchr::memchr_iter(0, &bytes).take((files as usize).saturating_add(1));
        let ends: Vec<u32> = ends.map(|end| end as u32).collect();
        if ends.len() != files as usize {
            return Err(Error::corrupt("the pool does not have as many paths as there are files"));
        }
        if bytes.last().is_some_and(|last| *last != 0) {
            return Err(Error::corrupt("the pool ends within a path"));
        }
        let mut start = 0;
        for &end in &ends {
            if u64::from(end - start) > limits.path {
                return Err(Error::new(Kind::Limit, 0, "a path longer than the limit"));
            }
            start = end + 1;
        }
        let text =
            String::from_utf8(bytes).map_err(|_| Error::corrupt("the pool has a path that is not UTF-8"))?;
        Ok(StringPool { text, ends })
    }

    /// Compresses paths, in the given order, into one zstd frame with its content size. Needs the
    /// feature `pack`.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::BadArgument`] for a path with a NUL, and [`Kind::Limit`] if the compressed
    /// pool is larger than 2^24 - 1 bytes or zstd gets no memory.
    #[cfg(feature = "pack")]
    pub fn encode<'a>(paths: impl IntoIterator<Item = &'a str>) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        for path in paths {
            if path.contains('\0') {
                return Err(Error::new(Kind::BadArgument, 0, "a path with a NUL in it"));
            }
            text.extend_from_slice(path.as_bytes());
            text.push(0);
        }
        let no_memory = Error::new(Kind::Limit, 0, "not enough memory to compress the paths");
        let mut context = CCtx::try_create().ok_or(no_memory)?;
        let mut out = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
        context
            .set_parameter(CParameter::CompressionLevel(POOL_LEVEL))
            .and_then(|_| context.compress2(&mut out, &text))
            .map_err(|_| no_memory)?;
        if out.len() > MAX_POOL as usize {
            return Err(Error::new(Kind::Limit, 0, "the format holds 16777215 bytes of compressed paths"));
        }
        Ok(out)
    }
}

/// Decompresses `compressed`, which must be exactly one frame.
fn decompress(compressed: &[u8], limits: &Limits) -> Result<Vec<u8>> {
    // Ends of paths are stored in 32 bits. On 32-bit targets, a buffer has at most `isize::MAX`
    // bytes.
    let max = limits.pool.min(u64::from(u32::MAX) - 1).min(isize::MAX as u64 - 1) as usize;
    let window = window_limit(limits.window_log)?;
    let (out, len) = frame::decompress(compressed, Format::Standard, max, window).map_err(|error| {
        let (kind, at, what) = match error {
            FrameError::Damaged(at) => (Kind::Corrupt, at, "the pool is damaged"),
            FrameError::CutOff => {
                (Kind::Truncated, compressed.len() as u64, "the archive's pool ends within its frame")
            }
            FrameError::Window => (Kind::Limit, 0, "the pool has a zstd window beyond the limit"),
            FrameError::TooLong => (Kind::Limit, 0, "the paths are larger than the limit"),
            FrameError::NoMemory => return no_memory(0),
        };
        Error::new(kind, at, what)
    })?;
    if len != compressed.len() {
        return Err(Error::new(Kind::Corrupt, len as u64, "bytes after the frame of the pool"));
    }
    Ok(out)
}

#[cfg(all(test, feature = "pack"))]
mod tests {
    use super::*;

    fn parse(compressed: &[u8], files: u32) -> Result<StringPool> {
        StringPool::parse(compressed, files, &Limits::default())
    }

    fn frame(text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
        zstd_safe::compress(&mut out, text, 3).unwrap();
        out
    }

    #[test]
    fn worked_example_is_parsed() {
        let pool = parse(&[0x28, 0xB5, 0x2F, 0xFD, 0x20, 2, 0x11, 0, 0, b'a', 0], 1).unwrap();
        assert_eq!(pool.iter().collect::<Vec<_>>(), ["a"]);
        assert_eq!(pool.get(1), None);
    }

    #[test]
    fn paths_round_trip() {
        let many: Vec<String> = (0..30_000).map(|i| format!("folder {}/файл {i}.dds", i / 100)).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for paths in [&many[..], &["", "日本語", "a b"], &[]] {
            let compressed = StringPool::encode(paths.iter().copied()).unwrap();
            assert!(zstd_safe::get_frame_content_size(&compressed).unwrap().is_some());
            let pool = parse(&compressed, paths.len() as u32).unwrap();
            assert_eq!(pool.iter().collect::<Vec<_>>(), paths);
        }
        assert!(parse(&[], 0).unwrap().is_empty());
    }

    #[test]
    fn is_sorted_tells_strict_byte_order() {
        let sorted = |paths: &[&str]| {
            parse(&StringPool::encode(paths.iter().copied()).unwrap(), paths.len() as u32)
                .unwrap()
                .is_sorted()
        };
        assert!(sorted(&["A", "a", "b/c", "é"]) && sorted(&[]));
        assert!(!sorted(&["b", "a"]) && !sorted(&["a", "a"]));
    }

    #[test]
    fn wrong_path_count_or_bad_text_is_an_error() {
        let kind = |text: &[u8], files| parse(&frame(text), files).unwrap_err().kind;
        assert_eq!(kind(b"a\0b\0", 1), Kind::Corrupt);
        assert_eq!(kind(b"a\0b\0", 3), Kind::Corrupt);
        assert_eq!(kind(b"a\0b", 1), Kind::Corrupt);
        assert_eq!(kind(b"a", 0), Kind::Corrupt);
        assert_eq!(kind(b"\xff\0", 1), Kind::Corrupt);
        assert_eq!(kind(b"\xc3\0\xa9\0", 2), Kind::Corrupt, "a character across a NUL");
        assert_eq!(parse(&[], 1).unwrap_err().kind, Kind::Corrupt);
    }

    #[test]
    fn trailing_bytes_a_second_frame_or_truncation_is_an_error() {
        let whole = frame(b"a\0b\0");
        assert!(parse(&whole, 2).is_ok());
        assert_eq!(parse(&[&whole[..], &[0]].concat(), 2).unwrap_err().kind, Kind::Corrupt);
        assert_eq!(parse(&[&whole[..], &whole[..]].concat(), 4).unwrap_err().kind, Kind::Corrupt);
        for len in 0..whole.len() {
            assert!(parse(&whole[..len], 2).is_err(), "{len} bytes");
        }
    }

    #[test]
    fn decompressed_pool_above_the_limit_is_an_error() {
        let zeros = vec![0; 1 << 20];
        let compressed = frame(&zeros);
        let limits = |pool| Limits { pool, ..Limits::default() };
        assert_eq!(
            StringPool::parse(&compressed, 1 << 20, &limits((1 << 20) - 1)).unwrap_err().kind,
            Kind::Limit
        );
        assert!(StringPool::parse(&compressed, 1 << 20, &limits(1 << 20)).is_ok());
    }

    #[test]
    fn path_longer_than_the_limit_is_an_error() {
        let long = "n".repeat(100);
        let compressed = StringPool::encode(["a", &long, "b"]).unwrap();
        let parse = |path| StringPool::parse(&compressed, 3, &Limits { path, ..Limits::default() });
        assert_eq!(parse(99).unwrap_err().kind, Kind::Limit);
        assert_eq!(parse(100).unwrap().get(1), Some(&*long));
        // Fewer than 2000 compressed bytes exceed the default limit.
        let enormous = StringPool::encode([&*"n".repeat((16 << 20) + 1)]).unwrap();
        assert!(enormous.len() < 2000);
        let error = StringPool::parse(&enormous, 1, &Limits::default()).unwrap_err();
        assert_eq!((error.kind, error.message), (Kind::Limit, "a path longer than the limit"));
        assert!(StringPool::parse(&enormous, 1, &Limits::none()).is_ok());
    }
}
