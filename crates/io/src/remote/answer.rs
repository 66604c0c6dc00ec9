//! What a server says of the range that it sends.

use core::ops::Range;

use ureq::http::HeaderMap;
#[cfg(feature = "s3")]
use ureq::http::header::RANGE;
use ureq::http::header::{CONTENT_ENCODING, CONTENT_RANGE, ETAG, HeaderName, LAST_MODIFIED};

use super::fault::Fault;

/// What tells one version of a file from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// Bytes of the whole file.
    pub(super) len: u64,
    /// The `ETag` or, without one, the time of the last change, as the server writes them.
    mark: Option<Vec<u8>>,
    /// Whether it is an `ETag`.
    tagged: bool,
}

#[cfg(feature = "s3")]
impl Known {
    /// The `ETag`, where there is one that tells bytes apart.
    pub(super) fn tag(&self) -> Option<&str> {
        let mark = self.mark.as_deref().filter(|mark| self.tagged && !mark.starts_with(b"W/"))?;
        core::str::from_utf8(mark).ok()
    }
}

/// The range that follows, and of which file.
pub(super) fn read(headers: &HeaderMap) -> Result<(Range<u64>, Known), Fault> {
    let text = |name: HeaderName| headers.get(name).map(|value| value.as_bytes());
    if text(CONTENT_ENCODING).is_some_and(|coding| !coding.eq_ignore_ascii_case(b"identity")) {
        return Err(Fault::corrupt("the server compresses what it sends, which leaves no ranges"));
    }
    let said = text(CONTENT_RANGE).ok_or(Fault::corrupt("the server does not say which range it sends"))?;
    let (range, len) = content_range(said).ok_or(Fault::corrupt("the server's Content-Range is no range"))?;
    let len = len.ok_or(Fault::io("the server does not say how long the file is"))?;
    if range.end > len {
        return Err(Fault::corrupt("the server's Content-Range ends after the file"));
    }
    let (tag, time) = (text(ETAG), text(LAST_MODIFIED));
    let mark = tag.or(time).map(<[u8]>::to_vec);
    Ok((range, Known { len, mark, tagged: tag.is_some() }))
}

/// Reads `bytes FIRST-LAST/LENGTH`; the length may be `*`.
fn content_range(said: &[u8]) -> Option<(Range<u64>, Option<u64>)> {
    let said = core::str::from_utf8(said).ok()?;
    let (unit, said) = said.trim().split_once(' ')?;
    let (range, len) = said.trim().split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, end) = (number(first)?, number(last)?.checked_add(1)?);
    let len = match len {
        "*" => None,
        len => Some(number(len)?),
    };
    (unit.eq_ignore_ascii_case("bytes") && first < end).then_some((first..end, len))
}

/// How many bytes a request asks for.
#[cfg(feature = "s3")]
pub(super) fn wanted(headers: &HeaderMap) -> u64 {
    let said = headers.get(RANGE).and_then(|said| said.to_str().ok()?.strip_prefix("bytes="));
    let ends = said.and_then(|said| said.split_once('-'));
    ends.and_then(|(first, last)| number(last)?.checked_sub(number(first)?)).map_or(0, |len| len + 1)
}

/// Digits and nothing else: `parse` alone would take a sign.
fn number(digits: &str) -> Option<u64> {
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        assert_eq!(content_range(b"bytes 0-4095/10000"), Some((0..4096, Some(10_000))));
        assert_eq!(content_range(b" Bytes  7-7/* "), Some((7..8, None)));
        let most = format!("bytes 0-{}/{}", u64::MAX - 1, u64::MAX);
        assert_eq!(content_range(most.as_bytes()), Some((0..u64::MAX, Some(u64::MAX))));
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for said in [
            "",
            "bytes",
            "bytes */10",
            "bytes 5-4/10",
            "bytes 0-/10",
            "bytes -5/10",
            "bytes +0-5/10",
            "bytes 0-5",
            "bytes 0-5/",
            "bytes 0-5/x",
            "items 0-5/10",
            "bytes 0-18446744073709551615/*",
            "bytes 0-18446744073709551616/*",
        ] {
            assert_eq!(content_range(said.as_bytes()), None, "{said}");
        }
        assert_eq!(content_range(b"bytes 0-\xff/9"), None);
    }
}
