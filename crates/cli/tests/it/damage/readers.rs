//! Commands that read, with truncated input and with flipped bits.

use std::fs;

use linerate_testkit::damage::{Outcome, flips, rounds, truncations};
use linerate_testkit::program::{DAMAGED, FAILED, Folder, LIMIT, Run, WARNED, files_below};

use super::sources::plant;

/// A command that reads `damaged` and writes to standard output, or to the folder `out`.
struct Reader {
    name: &'static str,
    file: &'static str,
    args: &'static [&'static str],
    /// Whether input that is accepted must decode to the undamaged content. Only formats whose
    /// checksums cover all of it can promise that.
    checked: bool,
}

const fn reader(name: &'static str, file: &'static str, args: &'static [&'static str]) -> Reader {
    Reader { name, file, args, checked: true }
}

const ZLIB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/gateway/sample.zlib");
const ZSTD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/gateway/sample.zst");
const SST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/sst/7-xxh3-zstd-trained.sst");

const READERS: [Reader; 13] = [
    reader("gzip -d", "made/text.gz", &["gzip", "-dc", "damaged"]),
    reader("gzip -d of zlib", "made/text.zz", &["gzip", "-dc", "--format=zlib", "damaged"]),
    reader("gzip -d of BGZF", "made/text.bgz", &["gzip", "-dc", "--format=bgzf", "damaged"]),
    reader("zstd -d", "made/text.zst", &["zstd", "-dc", "damaged"]),
    Reader {
        checked: false,
        ..reader("rice decode v1", "made/wave.drc", &["rice", "decode", "--m=8", "--raw", "-o-", "damaged"])
    },
    reader("rice decode v2", "made/wave.rice", &["rice", "decode", "--raw", "-o-", "damaged"]),
    reader("nx extract", "made/tree.nx", &["nx", "extract", "-q", "damaged", "-o", "out"]),
    reader("nx extract of R3A", "made/tree.r3a", &["nx", "extract", "-q", "damaged", "-o", "out"]),
    reader("dict pack extract", "made/a.pack", &["dict", "pack", "extract", "-q", "damaged", "-o", "out"]),
    reader("dict scan", "made/rows.blocks", &["dict", "scan", "damaged"]),
    Reader { checked: false, ..reader("dict sst ls", SST, &["dict", "sst", "ls", "--values", "damaged"]) },
    Reader {
        checked: false,
        ..reader("gateway replay of zlib", ZLIB, &["gateway", "replay", "-q", "damaged"])
    },
    Reader {
        checked: false,
        ..reader("gateway replay of zstd", ZSTD, &["gateway", "replay", "-q", "damaged"])
    },
];

impl Reader {
    /// Runs the command on these bytes. Returns whether it refused them.
    fn refuses(&self, folder: &Folder, bytes: &[u8], whole: &[Vec<u8>]) -> bool {
        folder.write("damaged", bytes);
        let _ = fs::remove_dir_all(folder.path("out"));
        let run = Run::of(&mut folder.command(self.args), b"");
        let status = run.status.unwrap_or_else(|| panic!("{}: a signal ended it", self.name));
        assert!(
            [0, FAILED, DAMAGED, LIMIT, WARNED].contains(&status),
            "{}: {status} {}",
            self.name,
            run.stderr
        );
        assert!(!run.stderr.contains("panicked"), "{}: {}", self.name, run.stderr);
        let files = if folder.has("out") { files_below(&folder.path("out")) } else { Default::default() };
        // Every file in `out` has the content of a file of the undamaged archive, unless the format
        // cannot promise that.
        assert!(!self.checked || files.values().all(|content| whole.contains(content)), "{}", self.name);
        let refused = status != 0;
        if !refused && self.checked {
            assert!(whole[0] == run.stdout && whole.len() == 1 + files.len(), "{}: other content", self.name);
        }
        refused
    }

    fn try_damage(&self, folder: &Folder, outcome: &mut Outcome) {
        let path = if self.file.starts_with("made/") { folder.path(self.file) } else { self.file.into() };
        let bytes = fs::read(path).expect("a file");
        folder.write("damaged", &bytes);
        let _ = fs::remove_dir_all(folder.path("out"));
        let run = Run::of(&mut folder.command(self.args), b"");
        assert_eq!(run.status, Some(0), "{}: {}", self.name, run.stderr);
        let mut whole = vec![run.stdout];
        if folder.has("out") {
            whole.extend(files_below(&folder.path("out")).into_values());
        }
        for len in truncations(&bytes, rounds(4)) {
            outcome.truncations += 1;
            outcome.truncations_refused += usize::from(self.refuses(folder, &bytes[..len], &whole));
        }
        for damaged in flips(&bytes, rounds(4)) {
            outcome.flips += 1;
            outcome.flips_refused += usize::from(self.refuses(folder, &damaged, &whole));
        }
    }
}

#[test]
fn damaged_input_is_refused_or_gives_the_content() {
    let folder = plant(60_000);
    for reader in READERS {
        let mut outcome = Outcome::default();
        reader.try_damage(&folder, &mut outcome);
        assert!(outcome.truncations_refused > 0, "{}: no truncation was refused", reader.name);
        outcome.record("reader", reader.name);
    }
}
