//! Which names of archives are URLs.

/// Whether `name` is that of an archive on a server: it begins with `http://` or `https://`, in
/// whatever case. The feature `remote` brings the source that reads those.
pub fn is_url(name: &str) -> bool {
    let begins =
        |scheme: &str| name.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    begins("http://") || begins("https://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_from_paths() {
        for url in ["http://a/b.nx", "https://a", "HTTPS://a/b?c=d", "http://"] {
            assert!(is_url(url), "{url}");
        }
        for path in ["", "http", "http:/a", "a.nx", "./http://a", "ftp://a/b", "s3://a/b", "é://", "httpsé"]
        {
            assert!(!is_url(path), "{path}");
        }
    }
}
