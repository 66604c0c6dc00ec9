//! Decides whether the content of a media type is worth compressing.

use http::HeaderValue;

/// Types that are mostly compressed already, or whose content is unknown. `*` stands for any
/// ending.
const SKIPPED: &[&str] = &[
    "audio/*",
    "video/*",
    "image/*",
    "font/woff",
    "font/woff2",
    "application/font-woff*",
    "application/grpc*",
    "application/gzip",
    "application/java-archive",
    "application/octet-stream",
    "application/pdf",
    "application/vnd.android.package-archive",
    "application/vnd.oasis.opendocument*",
    "application/vnd.openxmlformats-officedocument*",
    "application/vnd.rar",
    "application/x-7z-compressed",
    "application/x-bzip*",
    "application/x-gzip",
    "application/x-rar-compressed",
    "application/x-xz",
    "application/x-zip-compressed",
    "application/x-zstd",
    "application/zip",
    "application/zstd",
    // A sequence of images.
    "multipart/x-mixed-replace",
];

/// Exceptions to [`SKIPPED`].
const COMPRESSED: &[&str] =
    &["application/grpc-web-text*", "image/bmp", "image/svg+xml", "image/vnd.microsoft.icon", "image/x-icon"];

/// Suffixes of types that are compressed already (RFC 6839; RFC 8460; RFC 8878).
const SKIPPED_SUFFIXES: &[&str] = &["+zip", "+gzip", "+zstd"];

/// The type and subtype of a `Content-Type`, without parameters. Empty if the value is not ASCII.
fn essence(value: &HeaderValue) -> &str {
    let text = value.to_str().unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim()
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

fn is_in(rows: &[&str], essence: &str) -> bool {
    rows.iter().any(|row| match row.strip_suffix('*') {
        Some(prefix) => starts_with(essence, prefix),
        None => row.eq_ignore_ascii_case(essence),
    })
}

/// Whether content of this type is worth compressing. Content without a type may be anything, like
/// `application/octet-stream` (RFC 9110, section 8.3), so it counts as not worth it.
pub(crate) fn is_compressible(content_type: Option<&HeaderValue>) -> bool {
    let essence = content_type.map_or("", essence);
    let ends_in = |suffix: &&str| {
        essence
            .len()
            .checked_sub(suffix.len())
            .is_some_and(|at| essence.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(suffix)))
    };
    !essence.is_empty()
        && (is_in(COMPRESSED, essence) || !is_in(SKIPPED, essence) && !SKIPPED_SUFFIXES.iter().any(ends_in))
}

/// Whether the content is server-sent events.
pub(crate) fn is_event_stream(content_type: Option<&HeaderValue>) -> bool {
    content_type.is_some_and(|value| essence(value).eq_ignore_ascii_case("text/event-stream"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compressible(value: &'static str) -> bool {
        is_compressible(Some(&HeaderValue::from_static(value)))
    }

    #[test]
    fn text_and_structured_data_are_compressible() {
        for value in [
            "text/html; charset=utf-8",
            "TEXT/HTML",
            "text/event-stream",
            "application/json",
            "application/problem+json",
            "application/wasm",
            "image/svg+xml",
            "Image/X-Icon",
            "font/ttf",
            "application/grpc-web-text+proto",
            "multipart/mixed; boundary=x",
        ] {
            assert!(compressible(value), "{value}");
        }
    }

    #[test]
    fn compressed_and_unknown_content_is_not_compressible() {
        for value in [
            "image/png",
            "IMAGE/PNG",
            "video/mp4",
            "audio/ogg; codecs=opus",
            "font/woff2",
            "application/zip",
            "application/epub+zip",
            "application/tlsrpt+GZIP",
            "application/octet-stream",
            "application/grpc",
            "application/grpc+proto",
            "application/grpc-web",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "",
            " ; charset=utf-8",
        ] {
            assert!(!compressible(value), "{value}");
        }
        assert!(!is_compressible(None));
        assert!(!is_compressible(Some(&HeaderValue::from_bytes(b"text/\xe9").expect("opaque bytes"))));
    }

    #[test]
    fn event_streams_are_recognised_with_parameters() {
        for (value, expected) in
            [("text/event-stream", true), ("Text/Event-Stream;charset=utf-8", true), ("text/events", false)]
        {
            assert_eq!(is_event_stream(Some(&HeaderValue::from_static(value))), expected, "{value}");
        }
        assert!(!is_event_stream(None));
    }
}
