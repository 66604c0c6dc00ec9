//! Reads the headers of range responses.

use core::ops::Range;

use ureq::http::HeaderMap;
#[cfg(feature = "s3")]
use ureq::http::header::RANGE;
use ureq::http::header::{CONTENT_ENCODING, CONTENT_RANGE, ETAG, HeaderName, LAST_MODIFIED};

use super::request_error::RequestError;

/// Identity of one version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileVersion {
    /// Length of the whole file in bytes.
    pub(super) len: u64,
    /// `ETag` or, without one, `Last-Modified`, verbatim. `None` if the server sends neither.
    validator: Option<Vec<u8>>,
    /// Whether the validator is an `ETag`.
    is_etag: bool,
}

impl FileVersion {
    /// Returns the `ETag`, if it is a strong validator (RFC 9110, section 8.8.1) and valid UTF-8.
    pub(super) fn strong_etag(&self) -> Option<&str> {
        let validator =
            self.validator.as_deref().filter(|validator| self.is_etag && !validator.starts_with(b"W/"))?;
        core::str::from_utf8(validator).ok()
    }

    /// Returns the `Last-Modified`, if there is no `ETag` and it is valid UTF-8.
    pub(super) fn last_modified(&self) -> Option<&str> {
        let validator = self.validator.as_deref().filter(|_| !self.is_etag)?;
        core::str::from_utf8(validator).ok()
    }
}

/// Parses the range of the body and the version of the file.
pub(super) fn read(headers: &HeaderMap) -> Result<(Range<u64>, FileVersion), RequestError> {
    let text = |name: HeaderName| headers.get(name).map(|value| value.as_bytes());
    if text(CONTENT_ENCODING).is_some_and(|coding| !coding.eq_ignore_ascii_case(b"identity")) {
        return Err(RequestError::corrupt("the server compresses what it sends, which leaves no ranges"));
    }
    let header =
        text(CONTENT_RANGE).ok_or(RequestError::corrupt("the server does not say which range it sends"))?;
    let (range, len) =
        content_range(header).ok_or(RequestError::corrupt("the server's Content-Range is no range"))?;
    let len = len.ok_or(RequestError::io("the server does not say how long the file is"))?;
    if range.end > len {
        return Err(RequestError::corrupt("the server's Content-Range ends after the file"));
    }
    let (tag, time) = (text(ETAG), text(LAST_MODIFIED));
    let validator = tag.or(time).map(<[u8]>::to_vec);
    Ok((range, FileVersion { len, validator, is_etag: tag.is_some() }))
}

/// Parses `bytes FIRST-LAST/LENGTH`; the length may be `*`.
fn content_range(header: &[u8]) -> Option<(Range<u64>, Option<u64>)> {
    let header = core::str::from_utf8(header).ok()?;
    let (unit, header) = header.trim().split_once(' ')?;
    let (range, len) = header.trim().split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, end) = (number(first)?, number(last)?.checked_add(1)?);
    let len = match len {
        "*" => None,
        len => Some(number(len)?),
    };
    (unit.eq_ignore_ascii_case("bytes") && first < end).then_some((first..end, len))
}

/// Returns the length in bytes of the range that a request asks for, or 0 if it asks for none of
/// the form `bytes=FIRST-LAST`.
#[cfg(feature = "s3")]
pub(super) fn wanted(headers: &HeaderMap) -> u64 {
    let header = headers.get(RANGE).and_then(|header| header.to_str().ok()?.strip_prefix("bytes="));
    let ends = header.and_then(|header| header.split_once('-'));
    ends.and_then(|(first, last)| number(last)?.checked_sub(number(first)?)).map_or(0, |len| len + 1)
}

/// Parses digits only; `parse` alone would accept a sign.
pub(super) fn number(digits: &str) -> Option<u64> {
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_content_ranges_are_parsed() {
        assert_eq!(content_range(b"bytes 0-4095/10000"), Some((0..4096, Some(10_000))));
        assert_eq!(content_range(b" Bytes  7-7/* "), Some((7..8, None)));
        let most = format!("bytes 0-{}/{}", u64::MAX - 1, u64::MAX);
        assert_eq!(content_range(most.as_bytes()), Some((0..u64::MAX, Some(u64::MAX))));
    }

    #[test]
    fn invalid_content_ranges_are_an_error() {
        for header in [
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
            assert_eq!(content_range(header.as_bytes()), None, "{header}");
        }
        assert_eq!(content_range(b"bytes 0-\xff/9"), None);
    }
}
