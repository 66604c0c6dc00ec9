//! Which names of files are URLs.

/// Whether `name` is that of a file on a server: it begins with `http://`, `https://` or
/// `s3://`, in whatever case. The feature `remote` brings the source that reads the first two, the
/// feature `s3` that of the last.
pub fn is_url(name: &str) -> bool {
    begins(name, "http://") || begins(name, "https://") || is_s3_url(name)
}

/// Whether `name` is that of a file in a bucket: it begins with `s3://`, in whatever case.
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
    fn urls_are_told_from_paths() {
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
