//! Links to the program by the names of other programs: called as `gunzip`, it behaves as
//! `linerate gzip -d`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Names of links, and the arguments that each puts before its caller's arguments. `pigz` is
/// missing because its `-b` counts KiB, but `-b` of `linerate gzip` counts bytes. `unpigz` has
/// `-p0`: its callers want threads, most often for a pipe, which is decompressed on one thread
/// without `-p`.
const LINKS: [(&str, &[&str]); 7] = [
    ("gzip", &["gzip"]),
    ("gunzip", &["gzip", "-d"]),
    ("unpigz", &["gzip", "-d", "-p0"]),
    ("zcat", &["gzip", "-dc"]),
    ("zstd", &["zstd"]),
    ("unzstd", &["zstd", "-d"]),
    ("zstdcat", &["zstd", "-dcf"]),
];

/// Returns the command line that a link stands for: `linerate`, the link's own arguments, then its
/// caller's arguments. The folder and the extension of the first word do not matter. A command line
/// that begins with another name is unchanged.
pub(crate) fn follow(mut arguments: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    let called = arguments.next();
    let name = called.as_ref().and_then(|called| Path::new(called).file_stem()).and_then(OsStr::to_str);
    let link = LINKS.iter().find(|(link, _)| name == Some(*link));
    // The help shows the first word of the command line as the program's name.
    let program = if link.is_some() { Some("linerate".into()) } else { called };
    let before = link.map_or(&[][..], |(_, before)| before).iter().map(OsString::from);
    program.into_iter().chain(before).chain(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stand_for_subcommands_and_other_names_for_nothing() {
        for (line, wanted) in [
            ("unpigz -d -c", "linerate gzip -d -p0 -d -c"),
            ("/usr/local/bin/zcat a.gz", "linerate gzip -dc a.gz"),
            ("unzstd.exe a", "linerate zstd -d a"),
            ("linerate gzip unpigz", "linerate gzip unpigz"),
            ("/opt/gzip/linerate -V", "/opt/gzip/linerate -V"),
            ("pigz a", "pigz a"),
        ] {
            let followed: Vec<OsString> = follow(line.split(' ').map(OsString::from)).collect();
            assert_eq!(followed.join(" ".as_ref()).to_str(), Some(wanted));
        }
        assert_eq!(follow(std::iter::empty()).count(), 0);
    }
}
