//! Recognizes URLs among file names.

/// Returns whether `name` begins with `http://`, `https://` or `s3://`, ignoring case. Reading such
/// a URL takes the feature `remote`, and for `s3://` the feature `s3`.
pub fn is_url(name: &str) -> bool {
    begins(name, "http://") || begins(name, "https://") || is_s3_url(name)
}

/// Returns whether `name` begins with `s3://`, ignoring case.
pub fn is_s3_url(name: &str) -> bool {
    begins(name, "s3://")
}

fn begins(name: &str, scheme: &str) -> bool {
    name.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_recognized_and_paths_are_not() {
        for url in ["http://a/b.nx", "https://a", "HTTPS://a/b?c=d", "http://"] {
            assert!(is_url(url) && !is_s3_url(url), "{url}");
        }
        for url in ["s3://a/b", "S3://", "s3://é"] {
            assert!(is_url(url) && is_s3_url(url), "{url}");
        }
        for path in
            ["", "http", "http:/a", "a.nx", "./http://a", "ftp://a/b", "s3:/a/b", "é://", "httpsé", "s3:"]
        {
            assert!(!is_url(path), "{path}");
        }
    }
}
