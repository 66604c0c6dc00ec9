//! Files are restored at every level and in every format, with several block sizes and options.

use linerate_testkit::data::{self, mixed as sample};
use linerate_testkit::program::Folder;

#[test]
fn every_level_and_format_round_trips() {
    let folder = Folder::new();
    let data = sample(700_000);
    let mut sizes = Vec::new();
    for format in ["gzip", "zlib", "deflate", "bgzf"] {
        for level in 0..=9 {
            let args = [&format!("-{level}"), "--format", format];
            let packed = folder.gzip_with(&args, &data).ok().stdout;
            sizes.push(packed.len());
            let unpacked = folder.gzip_with(&["-d", "--format", format], &packed).ok().stdout;
            assert!(unpacked == data, "{format} {level}");
        }
        let gzip = std::mem::take(&mut sizes);
        assert!(gzip[0] > data.len(), "-0 stores");
        assert!(gzip[2] < data.len() && gzip[..4].is_sorted_by(|a, b| a >= b), "{format}: {gzip:?}");
        // A third of this data is random letters, which have no matches, so levels 4 to 9 are only
        // expected to give smaller files than -1.
        assert!(gzip[4..].iter().all(|&size| size < gzip[1]), "{format}: {gzip:?}");
    }
}

#[test]
fn level_9_is_smaller_than_6_on_any_number_of_threads() {
    let folder = Folder::new();
    let data = data::json_rows(1, 4000);
    let packed = |args: &[&str]| folder.gzip_with(args, &data).ok().stdout;
    let best = packed(&["-9", "-b100K", "-p1"]);
    assert!(best.len() < packed(&["-6", "-b100K"]).len());
    assert!(best == packed(&["--best", "-b100K", "-p3"]));
    assert!(folder.gzip_with(&["-d"], &best).ok().stdout == data);
}

#[test]
fn default_is_gzip_at_level_2() {
    let folder = Folder::new();
    let data = sample(100_000);
    let default = folder.gzip_with(&[], &data).ok().stdout;
    let explicit = folder.gzip_with(&["-2", "--format", "gzip", "-b", "512K"], &data).ok().stdout;
    assert!(default == explicit);
}

#[test]
fn block_sizes_and_history_round_trip() {
    let folder = Folder::new();
    for (block, len) in [("1", 5000), ("999", 300_000), ("4K", 300_000), ("64k", 300_000), ("1M", 300_000)] {
        let data = sample(len);
        for history in [&[][..], &["--history"]] {
            let args = [&["-b", block][..], history].concat();
            let packed = folder.gzip_with(&args, &data).ok().stdout;
            assert!(folder.gzip_with(&["-d"], &packed).ok().stdout == data, "{args:?}");
        }
    }
}

#[test]
fn history_makes_small_blocks_smaller() {
    let folder = Folder::new();
    let data = b"a line like any other line, with a number 17 in it\n".repeat(5000);
    let size = |args: &[&str]| folder.gzip_with(args, &data).ok().stdout.len();
    assert!(size(&["-2", "-b1K", "--history"]) < size(&["-2", "-b1K"]));
}

#[test]
fn output_is_the_same_for_any_threads() {
    let folder = Folder::new();
    let data = sample(3_000_000);
    for more in [&["-2"][..], &["-1b16K"], &["-2", "--history", "-b", "64K"], &["--format=bgzf"]] {
        let run = |threads: &str| folder.gzip_with(&[&[threads][..], more].concat(), &data).ok().stdout;
        let one = run("-p1");
        assert!(one == run("-p2"), "{more:?}");
        assert!(one == run("-p5"), "{more:?}");
        assert!(one == run("-p0"), "{more:?}");
        assert!(folder.gzip_with(&["-dc"], &one).ok().stdout == data);
    }
}

#[test]
fn combined_short_options_are_parsed() {
    let folder = Folder::new();
    folder.write("a", &sample(50_000));
    folder.write("a.gz", b"in the way");
    folder.gzip(&["-1kfn", "a"]).ok();
    let fast = folder.read("a.gz");
    assert_eq!(fast[3], 0, "no name because of -n");
    assert!(folder.has("a"), "kept because of -k");
    assert!(folder.gzip(&["-1nc", "a"]).ok().stdout == fast);
    assert!(folder.gzip(&["-3nc", "a"]).ok().stdout != fast);
    assert!(folder.gzip(&["-13nc", "a"]).ok().stdout == folder.gzip(&["-3nc", "a"]).ok().stdout);
    assert!(folder.gzip(&["-31nc", "a"]).ok().stdout == fast, "the last level wins");
    assert!(folder.gzip(&["-dcp2", "a.gz"]).ok().stdout == folder.read("a"));
}

#[test]
fn empty_input_round_trips() {
    let folder = Folder::new();
    for format in ["gzip", "zlib", "deflate", "bgzf"] {
        let packed = folder.gzip_with(&["-p3", "--format", format], b"").ok().stdout;
        assert_eq!(folder.gzip_with(&["-d", "--format", format], &packed).ok().stdout, b"");
    }
}

#[test]
fn bgzf_output_follows_its_specification() {
    let folder = Folder::new();
    let data = sample(400_000);
    let packed = folder.gzip_with(&["--format", "bgzf", "-p2"], &data).ok().stdout;
    let (mut at, mut sizes) = (0, Vec::new());
    while at < packed.len() {
        let header = &packed[at..at + 18];
        assert_eq!(header[..4], [0x1f, 0x8b, 8, 4]);
        assert_eq!(header[10..16], [6, 0, b'B', b'C', 2, 0]);
        let len = usize::from(u16::from_le_bytes([header[16], header[17]])) + 1;
        let block = &packed[at..at + len];
        let decoded = folder.gzip_with(&["-d"], block).ok().stdout;
        assert_eq!(block[len - 4..], (decoded.len() as u32).to_le_bytes());
        sizes.push(decoded.len());
        at += len;
    }
    let end = [31, 139, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, 66, 67, 2, 0, 27, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert!(packed.ends_with(&end));
    assert_eq!(sizes.pop(), Some(0));
    assert_eq!(sizes.pop(), Some(400_000 % 65_280));
    assert!(sizes.iter().all(|&size| size == 65_280));
}

#[test]
fn file_and_pipe_compress_to_the_same_bytes() {
    let folder = Folder::new();
    for len in [0, 1, 32_767, 32_768, 32_769, 131_071, 131_073, 524_287, 524_288, 524_289] {
        let data = sample(len);
        folder.write("a", &data);
        for options in [&["-n"][..], &["-n", "--format=bgzf"], &["-n", "--history", "-b20K"]] {
            let from_file = folder.gzip(&[&["-c"], options, &["a"]].concat()).ok().stdout;
            assert!(from_file == folder.gzip_with(options, &data).ok().stdout, "{len} {options:?}");
        }
    }
}
