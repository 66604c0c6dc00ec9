//! Arrays in forms that are accepted, and in forms that are refused.

use super::data::{DAMAGED, FAILED, USAGE, npy, npy_text, samples, wave};
use linerate_testkit::program::Folder;

fn encode(folder: &Folder, file: &[u8]) -> linerate_testkit::program::Run {
    folder.rice_with(&["encode", "--v1", "-q"], file)
}

#[test]
fn npy_headers_of_every_version_are_read() {
    let folder = Folder::new();
    let data = wave(100);
    let text = "{'descr': '<i2', 'fortran_order': False, 'shape': (10, 10), } \n";
    let version = |n: u8| {
        let mut file = b"\x93NUMPY".to_vec();
        file.extend([n, 0]);
        match n {
            1 => file.extend((text.len() as u16).to_le_bytes()),
            _ => file.extend((text.len() as u32).to_le_bytes()),
        }
        [&file, text.as_bytes(), &data].concat()
    };
    let first = encode(&folder, &version(1)).ok().stdout;
    for n in [2, 3] {
        assert!(encode(&folder, &version(n)).ok().stdout == first, "version {n}");
    }
    let line = "linerate: stdin: an .npy file of a version other than 1.0 to 3.0 (at byte 6)";
    encode(&folder, &version(4)).fails(DAMAGED, line);
    // The data is not aligned in the file.
    assert_eq!((12 + text.len()) % 2, 1);
    folder.write("odd.npy", &version(2));
    folder.rice(&["encode", "--v1", "-q", "--segment", "all", "odd.npy"]).ok();
    folder.rice(&["tune", "odd.npy"]).ok();
    folder.rice(&["verify", "--v1", "--m", "2", "odd.drc"]).fails(DAMAGED, &stderr_of(&folder, "odd.drc"));
}

/// The message of `verify` with m = 2 about a chunk of another m.
fn stderr_of(folder: &Folder, name: &str) -> String {
    let run = folder.rice(&["verify", "--v1", "--m", "2", name]);
    assert!(run.stderr.starts_with(&format!("linerate: {name}: ")), "{}", run.stderr);
    run.stderr.trim_end().to_owned()
}

#[test]
fn input_that_is_no_array_is_an_error_with_its_offset() {
    let folder = Folder::new();
    let data = wave(6);
    let header = |descr: &str, order: &str, shape: &str| {
        npy_text(&format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"), &data)
    };
    for (file, line) in [
        (
            header(">i2", "False", "(6,)"),
            "the samples are big-endian (at byte 20); numpy's astype makes them little-endian: '<i2', ...",
        ),
        (
            header("<f4", "False", "(3,)"),
            "the samples are not of type '<i2', '<u2', '<i4' or '<u4' (at byte 20); numpy's astype converts them",
        ),
        (
            header("<i2", "True", "(2, 3)"),
            "the array is in Fortran order (at byte 44); numpy.ascontiguousarray makes one in C order",
        ),
        (header("<i4", "False", "(3,)"), "a v1 chunk holds 16-bit samples, and these have 32"),
        (header("<i2", "False", "(7,)"), "the input ends inside the array (at byte 140)"),
        (header("<i2", "False", "(5,)"), "bytes follow the array (at byte 138)"),
        (
            header("<i2", "False", "(4294967296, 4294967296)"),
            "the shape has more samples than a file can hold (at byte 60)",
        ),
        (header("<i2", "False", "(4000000000,)"), "the input ends inside the array (at byte 140)"),
        (header("<i2", "False", "(5000000000,)"), "a v1 chunk holds at most 4294967295 samples"),
        (header("<i2", "False", "()"), "the array has no axis: it is a single number (at byte 60)"),
        (header("<i2", "False", "[6]"), "the .npy header cannot be understood (at byte 60)"),
        (b"hello, world".to_vec(), "it is no .npy or WAV file; raw samples need --dtype"),
        (Vec::new(), "it is no .npy or WAV file; raw samples need --dtype"),
    ] {
        encode(&folder, &file).fails(DAMAGED, &format!("linerate: stdin: {line}"));
        folder.write("a.npy", &file);
        let run = folder.rice(&["encode", "--v1", "a.npy"]);
        assert_eq!(run.status, Some(DAMAGED), "{}", run.stderr);
        assert_eq!(folder.names(), ["a.npy"], "no output is left");
    }
}

#[test]
fn npy_header_truncated_at_every_byte_is_an_error() {
    let folder = Folder::new();
    let file = npy("<i2", "(6,)", &wave(6));
    for len in 6..file.len() {
        let run = encode(&folder, &file[..len]);
        let what = if len < 128 { "inside the .npy header" } else { "inside the array" };
        // An odd byte is half a sample.
        let what = if len > 128 && len % 2 == 1 { "inside a sample" } else { what };
        run.fails(DAMAGED, &format!("linerate: stdin: the input ends {what} (at byte {len})"));
    }
}

#[test]
fn raw_arrays_are_encoded_with_dtype_and_shape_options() {
    let folder = Folder::new();
    let data = wave(60);
    folder.write("a.raw", &data);
    let of_npy = encode(&folder, &npy("<u2", "(3, 20)", &data)).ok().stdout;
    for shape in ["3,20", "-1,20"] {
        folder.rice(&["encode", "--v1", "-fq", "--dtype", "u16", "--shape", shape, "a.raw"]).ok();
        assert!(folder.read("a.raw.drc") == of_npy, "{shape}");
    }
    let failing = |options: &[&str], status: i32, what: &str| {
        let run = folder.rice(&[&["encode", "--v1", "-f"], options, &["a.raw"]].concat());
        assert_eq!(run.status, Some(status), "{}", run.stderr);
        assert!(run.stderr.contains(what), "{}", run.stderr);
    };
    failing(&["--dtype", "i16", "--shape", "3,21"], DAMAGED, "the input ends inside the array (at byte 120)");
    failing(&["--dtype", "i16", "--shape", "3,19"], DAMAGED, "bytes follow the array (at byte 114)");
    failing(&["--dtype", "i16", "--shape", "-1,7"], DAMAGED, "the input ends inside a row of the shape");
    failing(&["--dtype", "i32"], USAGE, "a v1 chunk holds 16-bit samples");
    failing(&["--dtype", "f32"], USAGE, "invalid value 'f32'");
    failing(&["--shape", "3,20"], USAGE, "--dtype");
    failing(&["--dtype", "i16", "--shape", "4294967296,4294967296"], USAGE, "too many samples");
    let odd = folder.rice_with(&["encode", "--v1", "--dtype=i16", "--shape=2"], &data[..3]);
    odd.fails(DAMAGED, "linerate: stdin: the input ends inside a sample (at byte 3)");
    folder.write("a.npy", &npy("<i2", "(60,)", &data));
    let run = folder.rice(&["encode", "--v1", "--dtype", "i16", "a.npy"]);
    run.fails(DAMAGED, "linerate: a.npy: it is an .npy file, which states its type; leave out --dtype");
}

#[test]
fn shape_option_restores_the_shape() {
    let folder = Folder::new();
    let file = npy("<i2", "(2, 3, 10)", &wave(60));
    folder.write("a.npy", &file);
    folder.rice(&["encode", "--v1", "-q", "--m", "16", "--segment", "row", "a.npy"]).ok();
    let decode = |options: &[&str]| {
        folder.rice(&[&["decode", "--cd-values", "16,10", "-fo", "b.npy", "a.drc"], options].concat())
    };
    decode(&["--shape", "2,3,10"]).ok();
    assert!(folder.read("b.npy") == file);
    decode(&["--shape", "-1,10", "--dtype", "u16"]).ok();
    assert!(folder.read("b.npy") == npy("<u2", "(6, 10)", samples(&file)));
    decode(&[]).ok();
    assert!(folder.read("b.npy") == npy("<i2", "(60,)", samples(&file)));
    let line = "linerate: a.drc: its 60 samples do not have the shape 7,10";
    decode(&["--shape", "7,10"]).fails(FAILED, line);
}

#[test]
fn empty_array_round_trips() {
    let folder = Folder::new();
    for shape in ["(0,)", "(0, 7)", "(5, 0)"] {
        let file = npy("<i2", shape, b"");
        folder.write("a.npy", &file);
        folder.rice(&["encode", "--v1", "-fq", "--verify", "a.npy"]).ok();
        assert_eq!(folder.read("a.drc"), [0; 4], "{shape}");
        folder.rice(&["tune", "a.npy"]).ok();
        folder.rice(&["info", "--v1", "a.drc"]).ok();
        folder
            .rice(&["decode", "--v1", "-fo", "b.npy", "--shape", shape.trim_matches(['(', ')']), "a.drc"])
            .ok();
        assert!(folder.read("b.npy") == file, "{shape}");
    }
}
