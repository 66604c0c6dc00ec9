//! Options with which other programs call `gzip`: `-S`, `--rsyncable`, and `-dcf` as in `zcat -f`
//! and `zgrep`.

use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::{DAMAGED, Folder, Run, USAGE, WARNED};

#[test]
fn a_given_suffix_is_added_and_removed_beside_the_known_ones() {
    let folder = Folder::new();
    folder.write("a", b"content");
    folder.write("d/b", b"more");
    folder.gzip(&["-S", ".xx", "a"]).ok();
    folder.gzip(&["-rS.xx", "d"]).ok();
    assert!(folder.has("a.xx") && folder.has("d/b.xx") && folder.names() == ["a.xx", "d"]);
    folder.gzip(&["-S.xx", "a.xx"]).fails(WARNED, "linerate: a.xx: skipped: it has the suffix .xx already");
    assert_eq!(folder.gzip(&["-d", "a.xx"]).status, Some(WARNED), "without -S it is unknown");
    folder.gzip(&["-dS", ".XX", "a.xx"]).ok();
    folder.gzip(&["-drS.xx", "d"]).ok();
    assert_eq!((folder.names(), folder.read("d/b")), (vec!["a".into(), "d".into()], b"more".to_vec()));
    folder.gzip(&["a"]).ok();
    folder.gzip(&["-dS.xx", "a.gz"]).ok();
    assert_eq!(folder.read("a"), b"content");
    for wrong in ["", "d/.gz"] {
        assert_eq!(folder.gzip(&["-S", wrong, "a"]).status, Some(USAGE), "{wrong:?}");
    }
}

#[test]
fn a_file_and_its_output_with_a_given_suffix_are_compressed_one_after_the_other() {
    let folder = Folder::new();
    folder.write("a", b"content");
    let run = folder.gzip(&["-kS.xx", "-p4", "a", "a.xx"]);
    run.fails(WARNED, "linerate: a.xx: skipped: it has the suffix .xx already");
    assert_eq!(folder.names(), ["a", "a.xx"]);
}

#[test]
fn plain_input_is_passed_through_by_dcf_and_is_an_error_without_f() {
    let folder = Folder::new();
    let packed = folder.gzip_with(&[], b"packed\n").ok().stdout;
    // "x^" is also a valid zlib header.
    for plain in [&b"plain\n"[..], b"x^2 + y^2\n", b"", b"\x1f", b"x", &sample(300_000)] {
        folder.write("plain", plain);
        assert!(folder.gzip(&["-dcf", "plain"]).ok().stdout == plain);
        assert!(folder.gzip_with(&["-df"], plain).ok().stdout == plain, "to standard output, as with -c");
        assert_eq!(folder.gzip(&["-dc", "plain"]).status, Some(DAMAGED));
        // Data after a member is copied, as gzip 1.12 does.
        let both = [&packed, plain].concat();
        assert!(folder.gzip_with(&["-dcf"], &both).ok().stdout == [b"packed\n", plain].concat());
    }
    folder.write("a.gz", &packed);
    folder.write("plain", b"plain\n");
    assert_eq!(folder.gzip(&["-dcf", "plain", "a.gz", "plain"]).ok().stdout, b"plain\npacked\nplain\n");
    assert_eq!(folder.gzip(&["-tf", "plain"]).status, Some(DAMAGED));
    // Truncated gzip data does not count as plain input.
    for len in 2..packed.len() {
        assert_eq!(folder.gzip_with(&["-dcf"], &packed[..len]).status, Some(DAMAGED), "{len}");
    }
    let zlib = folder.gzip_with(&["--format=zlib"], b"content").ok().stdout;
    folder.write("b.zz", &zlib);
    assert_eq!(folder.gzip(&["-dcf", "b.zz"]).ok().stdout, b"content");
    assert_eq!(folder.gzip_with(&["-dcf", "--format=zlib"], &zlib).ok().stdout, b"content");
    assert_eq!(folder.gzip_with(&["-dcf", "--max-output=3"], b"plain").status, Some(4));
}

/// `zgrep` calls the `gzip` in `PATH`.
#[cfg(unix)]
#[test]
fn zgrep_finds_lines_of_plain_and_compressed_files() {
    use std::os::unix::fs::PermissionsExt;
    if !linerate_testkit::tools::has_program("zgrep") {
        return;
    }
    let folder = Folder::new();
    folder.write("plain", b"one\ntwo\n");
    folder.write("b", b"two\nthree\n");
    folder.gzip(&["b"]).ok();
    let program = folder.command(&[]).get_program().to_owned();
    let shim = format!("#!/bin/sh\nexec '{}' gzip \"$@\"\n", program.display());
    let shim = folder.write("bin/gzip", shim.as_bytes());
    std::fs::set_permissions(shim, PermissionsExt::from_mode(0o755)).expect("a program");
    let script = "PATH=$PWD/bin:$PATH; zgrep -c two plain b.gz; zgrep three plain b.gz; zgrep four plain b.gz || echo none";
    let mut shell = std::process::Command::new("sh");
    let run = Run::of(shell.args(["-c", script]).current_dir(folder.path("")), b"").ok();
    assert_eq!(String::from_utf8_lossy(&run.stdout), "plain:1\nb.gz:1\nb.gz:three\nnone\n");
}

#[test]
fn the_first_byte_of_another_member_at_the_end_is_a_truncation() {
    let folder = Folder::new();
    for format in ["gzip", "bgzf"] {
        let format = format!("--format={format}");
        let packed = [folder.gzip_with(&[&format], b"content").ok().stdout, vec![0x1f]].concat();
        folder.write("a.gz", &packed);
        let line =
            format!("linerate: a.gz: the input ends inside the gzip header (at byte {})", packed.len());
        for args in [&["-dc"][..], &["-t"], &["-dcp4"], &["-d"]] {
            folder.gzip(&[args, &["a.gz"]].concat()).fails(DAMAGED, &line);
        }
        assert_eq!(folder.names(), ["a.gz"]);
    }
}

#[test]
fn an_insertion_into_a_file_changes_little_of_its_rsyncable_output_on_any_number_of_threads() {
    let folder = Folder::new();
    let old = sample(4_000_000);
    let new = [&old[..1_000_000], b"inserted", &old[1_000_000..]].concat();
    for more in [&["-2"][..], &["-6"], &["--format=bgzf"], &["--format=zlib", "-b8K"]] {
        let packed = |data: &[u8], threads| {
            let args = [&["--rsyncable", threads][..], more].concat();
            folder.gzip_with(&args, data).ok().stdout
        };
        let (a, b) = (packed(&old, "-p1"), packed(&new, "-p3"));
        assert!(b == packed(&new, "-p1"), "{more:?}");
        assert!(folder.gzip_with(&["-d"], &b).ok().stdout == new, "{more:?}");
        let same = |pairs: &mut dyn Iterator<Item = (&u8, &u8)>| pairs.take_while(|(a, b)| a == b).count();
        // The last 8 bytes, in gzip the checksum and the length, may differ anyway.
        let (a, b) = (&a[..a.len() - 8], &b[..b.len() - 8]);
        let kept = same(&mut a.iter().zip(b)) + same(&mut a.iter().rev().zip(b.iter().rev()));
        assert!(kept + 150_000 > a.len(), "{more:?}: {kept} of {}", a.len());
    }
}
