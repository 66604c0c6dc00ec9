//! The errors, warnings and notes of the command line, in one list to read: `tests/messages.txt`.
//!
//! The list is a transcript. Each line that begins with `$ ` is run in a folder with the files of
//! [`folder`]. Below it are the lines of standard error and the exit status. To add a message, add
//! its `$ ` line; `LINERATE_UPDATE=1 cargo test -p linerate --test it messages` writes the rest.

use std::fs;
use std::path::Path;

use linerate_testkit::program::{Folder, Run};
use linerate_testkit::testdata::testdata;

/// Files of `testdata`, and their names in the folder.
const COPIED: [(&str, &str); 32] = [
    ("gzip/two-members.gz", "words.gz"),
    ("gzip/two-members.gz.gzidx", "words.gz.gzidx"),
    ("zstd/checksum-single.zst", "a.zst"),
    ("zstd/errors/checksum-wrong.zst", "checksum.zst"),
    ("zstd/errors/block-type-3.zst", "block-type.zst"),
    ("zstd/errors/garbage-after-the-frame.zst", "garbage.zst"),
    ("zstd/errors/id-of-no-dictionary.zst", "dictionary.zst"),
    ("zstd/errors/match-before-the-start.zst", "distance.zst"),
    ("zstd/block-of-the-window.zst", "window.zst"),
    ("rice-v2/sound-i16.rice", "sound.rice"),
    ("rice-v2/sound-i16.raw", "sound.raw"),
    ("rice/nab_m8_seg7000.chunk0.bin", "nab.drc"),
    ("rice/nab_m8_seg7000.raw.npy", "nab.npy"),
    ("rice/hpge_u16_m64_chunk4.raw.npy", "hpge.npy"),
    ("nx/vectors/names.nx", "names.nx"),
    ("nx/single-1-byte.nx", "one.nx"),
    ("nx/vectors/j-hash.nx", "hash.nx"),
    ("nx/vectors/j-block-cut.nx", "block.nx"),
    ("nx/vectors/c-unknown-version.nx", "version.nx"),
    ("nx/vectors/d-codec-7.nx", "codec.nx"),
    ("nx/vectors/c-header-past-the-end.nx", "header.nx"),
    ("nx/over-4-gib.nx", "large.nx"),
    ("nx/damaged-by-its-writer.nx", "writer.nx"),
    ("dict/records-1.lrb", "records.blocks"),
    ("dict/compressed-1.lrp", "all.pack"),
    ("dict/7-xxh3-zstd-no-dictionary-came.sst", "few.sst"),
    ("sst/5-xxh3-bzip2.sst", "bzip2.sst"),
    ("sst/5-history.sst", "history.sst"),
    ("gateway/hello.msgs", "hello.msgs"),
    ("gateway/hello.zlib", "hello.zlib"),
    ("gateway/hello.zst", "hello.zst"),
    ("gateway/sample.zst", "sample.zst"),
];

/// A folder with whole files, and with damaged copies of them.
fn folder() -> Folder {
    let folder = Folder::new();
    for (from, name) in COPIED {
        folder.write(name, &fs::read(testdata().join(from)).unwrap_or_else(|e| panic!("{from}: {e}")));
    }
    folder.write("notes.txt", "a line of notes\n".repeat(100).as_bytes());
    folder.write("empty", b"");
    folder.write("full/file", b"content");
    folder.write("rows.json", b"{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"name\":\"c\"}\n");
    folder.write("twice.json", b"{\"id\":\"a\"}\n{\"id\":\"a\"}\n");
    folder.write("text.json", b"{\"id\":\"a\"}\nnot JSON\n");
    folder.write("preset.zz", &[0x78, 0x20, 1, 2, 3, 4]);
    folder.write("pair", b"content");
    fs::hard_link(folder.path("pair"), folder.path("other")).expect("a link");
    std::os::unix::fs::symlink("pair", folder.path("link")).expect("a link");
    for name in ["odd/CON", "case/a", "case/A", "windows/what?"] {
        folder.write(name, b"content");
    }
    for side in ["side-1", "side-2"] {
        folder.write(&format!("{side}/a"), side.as_bytes());
        folder.nx(&["pack", side, "-o", &format!("{side}.nx")]).ok();
    }
    for name in [
        "words.gz",
        "a.zst",
        "sound.rice",
        "nab.drc",
        "names.nx",
        "records.blocks",
        "all.pack",
        "history.sst",
        "sample.zst",
    ] {
        let whole = folder.read(name);
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 0x10;
        folder.write(&format!("flipped-{name}"), &flipped);
        folder.write(&format!("cut-{name}"), &whole[..whole.len() / 2]);
        folder.write(&format!("short-{name}"), &whole[..3]);
    }
    let words = folder.read("words.gz");
    folder.write("garbage.gz", &[&words[..], b"garbage"].concat());
    folder.write("trailer.gz", &words[..words.len() - 3]);
    let mut checksum = words;
    let at = checksum.len() - 8;
    checksum[at] ^= 1;
    folder.write("checksum.gz", &checksum);
    folder
}

/// The words of a command line, and the file after `<`.
fn parsed(line: &str) -> (Vec<String>, Option<String>) {
    let (line, input) = match line.split_once(" < ") {
        Some((line, input)) => (line, Some(input.to_owned())),
        None => (line, None),
    };
    // Every other part is between quotation marks.
    let mut words = Vec::new();
    for (i, part) in line.split('\'').enumerate() {
        match i % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    (words, input)
}

/// Runs a line. Returns what it prints on standard error, without the usage that clap adds to an
/// error in the command line, and its exit status.
fn printed(folder: &Folder, line: &str) -> String {
    let (words, input) = parsed(line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(words[0], "linerate", "{line}");
    let mut command = folder.command(&words[1..]);
    command.env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE").env_remove("ZSTD_CLEVEL");
    let run = Run::of(&mut command, &input.map(|name| folder.read(&name)).unwrap_or_default());
    let message = run.stderr.split("\n\nUsage: ").next().unwrap_or_default().trim_end();
    assert!(!message.is_empty(), "{line}: prints no message");
    format!("{message}\nexit {}\n", run.status.expect("no signal"))
}

/// The list with what every command prints now. Lines that begin with `#` are kept as titles.
fn transcript(list: &str) -> String {
    let folder = folder();
    let mut all = String::new();
    for line in list.lines().filter(|line| line.starts_with('#') || line.starts_with("$ ")) {
        let title = line.strip_prefix("$ ").map(|command| printed(&folder, command)).unwrap_or_default();
        all.push_str(&format!("{line}\n{title}\n"));
    }
    all
}

#[test]
fn every_message_of_the_list_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages.txt");
    let listed = fs::read_to_string(&path).expect("the list");
    let now = transcript(&listed);
    if std::env::var_os("LINERATE_UPDATE").is_some() {
        fs::write(&path, &now).expect("the list is written");
        return;
    }
    let changed = listed.lines().zip(now.lines()).find(|(was, is)| was != is);
    assert_eq!(changed, None, "the list and the message now; LINERATE_UPDATE=1 writes the list anew");
    assert_eq!(listed.lines().count(), now.lines().count());
}
