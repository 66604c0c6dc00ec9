//! Decides which responses may be compressed (RFC 9110, RFC 9111).

use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderMap};
use http::{Method, StatusCode, response};

use crate::media::is_compressible;

/// An extension of a response that keeps it from being compressed. Use it where a response holds a
/// secret together with text that somebody else chose: its compressed length would tell about the
/// secret (the attack called BREACH).
///
/// ```
/// use axum::Extension;
/// use axum::response::IntoResponse;
/// use linerate_http::NoCompression;
///
/// async fn form(token: String, query: String) -> impl IntoResponse {
///     (Extension(NoCompression), format!("<input value={token}> no results for {query}"))
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoCompression;

/// Fields that hold a digest of the content, which would be wrong for the compressed content (RFC
/// 9530, sections 2 and 3).
const DIGESTS: [&str; 4] = ["content-digest", "repr-digest", "digest", "content-md5"];

/// Whether and how the layer may change a response, before the client's preference is considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Eligibility {
    /// The response is passed on unchanged.
    Never,
    /// The response is a 304. It has no content, but may have an `ETag` (RFC 9110, section 15.4.5).
    /// If the client accepts a coding, the `ETag` is made weak, as in the response that the client
    /// has.
    Validator,
    /// The response is compressed if the client accepts that.
    Content,
}

/// Decides about a response to a request with `method`. `length` is the length of the content, if
/// it is known; content of fewer than `min_size` bytes, or none, is not compressed.
pub(crate) fn eligibility(
    method: &Method,
    response: &response::Parts,
    length: Option<u64>,
    min_size: u64,
) -> Eligibility {
    let (status, headers) = (response.status, &response.headers);
    let has_no_content = status.is_informational()
        || matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT)
        || *method == Method::CONNECT && status.is_success();
    let is_part = status == StatusCode::PARTIAL_CONTENT || headers.contains_key(CONTENT_RANGE);
    let is_fixed = headers.contains_key(CONTENT_ENCODING)
        || DIGESTS.iter().any(|name| headers.contains_key(*name))
        || has_no_transform(headers)
        || response.extensions.get::<NoCompression>().is_some();
    if has_no_content || is_part || is_fixed {
        return Eligibility::Never;
    }
    let content_type = headers.get(CONTENT_TYPE);
    if status == StatusCode::NOT_MODIFIED {
        // A 304 usually has no `Content-Type`.
        let may_be = content_type.is_none() || is_compressible(content_type);
        return if may_be { Eligibility::Validator } else { Eligibility::Never };
    }
    let is_long_enough = length.is_none_or(|length| length >= min_size.max(1));
    if is_long_enough && is_compressible(content_type) { Eligibility::Content } else { Eligibility::Never }
}

/// The length of the content that `Content-Length` states; `None` if it is malformed or missing. The
/// field has digits only (RFC 9110, section 8.6); `parse` alone would accept a sign.
pub(crate) fn content_length(headers: &HeaderMap) -> Option<u64> {
    let digits = headers.get(CONTENT_LENGTH)?.to_str().ok()?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Whether `Cache-Control` has `no-transform` (RFC 9111, section 5.2.2.6).
fn has_no_transform(headers: &HeaderMap) -> bool {
    let values = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|name| name.trim().eq_ignore_ascii_case("no-transform"))
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, Response};

    use super::*;

    fn decide(status: u16, headers: &[(&'static str, &str)], length: Option<u64>) -> Eligibility {
        let mut response = Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(*name, HeaderValue::from_str(value).expect("a field value"));
        }
        let (parts, ()) = response.body(()).expect("a response").into_parts();
        eligibility(&Method::GET, &parts, length, 1024)
    }

    const HTML: (&str, &str) = ("content-type", "text/html");

    #[test]
    fn text_of_unknown_or_sufficient_length_is_eligible() {
        for length in [None, Some(1024), Some(1 << 40)] {
            assert_eq!(decide(200, &[HTML], length), Eligibility::Content);
            assert_eq!(decide(404, &[HTML], length), Eligibility::Content);
        }
        for length in [0, 1, 1023] {
            assert_eq!(decide(200, &[HTML], Some(length)), Eligibility::Never);
        }
    }

    #[test]
    fn with_a_minimum_of_0_only_empty_content_is_too_short() {
        let (parts, ()) = Response::builder()
            .header("content-type", "text/html")
            .body(())
            .expect("a response")
            .into_parts();
        assert_eq!(eligibility(&Method::GET, &parts, Some(1), 0), Eligibility::Content);
        assert_eq!(eligibility(&Method::GET, &parts, Some(0), 0), Eligibility::Never);
    }

    #[test]
    fn responses_without_content_are_not_eligible() {
        for status in [101, 103, 204, 205] {
            assert_eq!(decide(status, &[HTML], None), Eligibility::Never, "{status}");
        }
        let (parts, ()) = Response::builder()
            .header("content-type", "text/html")
            .body(())
            .expect("a response")
            .into_parts();
        assert_eq!(eligibility(&Method::CONNECT, &parts, None, 0), Eligibility::Never);
    }

    #[test]
    fn parts_of_content_are_not_eligible() {
        assert_eq!(decide(206, &[HTML], None), Eligibility::Never);
        assert_eq!(decide(200, &[HTML, ("content-range", "bytes 0-9/20")], None), Eligibility::Never);
    }

    #[test]
    fn coded_digested_and_no_transform_content_is_not_eligible() {
        for field in [
            ("content-encoding", "br"),
            ("content-encoding", "identity"),
            ("cache-control", "no-transform"),
            ("cache-control", "public, max-age=3600, No-Transform"),
            ("content-digest", "sha-256=:AA==:"),
            ("repr-digest", "sha-256=:AA==:"),
            ("content-md5", "AA=="),
            ("digest", "sha-256=AA=="),
        ] {
            assert_eq!(decide(200, &[HTML, field], None), Eligibility::Never, "{field:?}");
        }
        assert_eq!(
            decide(200, &[HTML, ("cache-control", "no-transforms, private")], None),
            Eligibility::Content
        );
    }

    #[test]
    fn type_decides_about_content_and_validators() {
        let png = ("content-type", "image/png");
        assert_eq!(decide(200, &[], None), Eligibility::Never);
        assert_eq!(decide(200, &[png], None), Eligibility::Never);
        assert_eq!(decide(304, &[], None), Eligibility::Validator);
        assert_eq!(decide(304, &[HTML], None), Eligibility::Validator);
        assert_eq!(decide(304, &[png], None), Eligibility::Never);
        assert_eq!(decide(304, &[("content-encoding", "br")], None), Eligibility::Never);
    }

    #[test]
    fn extension_opts_out() {
        let mut response =
            Response::builder().header("content-type", "text/html").body(()).expect("a response");
        response.extensions_mut().insert(NoCompression);
        let (parts, ()) = response.into_parts();
        assert_eq!(eligibility(&Method::GET, &parts, None, 0), Eligibility::Never);
    }

    #[test]
    fn malformed_length_is_unknown() {
        for (value, expected) in [("12", Some(12)), ("+12", None), ("-1", None), ("x", None), ("", None)] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_LENGTH, HeaderValue::from_static(value));
            assert_eq!(content_length(&headers), expected);
        }
    }
}
