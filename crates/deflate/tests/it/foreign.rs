//! Decoders of other projects take the output of every level, window, split and flush: zlib,
//! libdeflate and zlib-rs, the decoders of Go, Java and Node, and zlib-ng if its Python package is
//! installed.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use linerate_deflate::session::{Session, SessionOptions, message_bound};
use linerate_deflate::{Format, Level, Scratch, Stream, bound, finish_bound, flush_bound};
use linerate_testkit::tools::require;

use crate::common::data::{self, Noise};
use crate::common::decoders::assert_decodes;

/// Returns a gzip stream made by calls of `chunk` bytes.
fn stream(scratch: &mut Scratch, level: Level, plain: &[u8], chunk: usize, flush: bool) -> Vec<u8> {
    let mut stream = Stream::new(Format::Gzip, level);
    let mut out = vec![0; bound(chunk) + flush_bound() + finish_bound()];
    let mut all = Vec::new();
    for piece in plain.chunks(chunk) {
        let mut n = stream.encode(&mut *scratch, piece, &mut out, true).expect("capacity");
        if flush {
            n += stream.flush(&mut out[n..]).expect("capacity");
        }
        all.extend_from_slice(&out[..n]);
    }
    let n = stream.finish(&mut out).expect("capacity");
    all.extend_from_slice(&out[..n]);
    all
}

/// Returns a session in gzip's format with messages of `len` bytes.
fn session(scratch: &mut Scratch, level: Level, bits: u8, plain: &[u8], len: usize) -> Vec<u8> {
    let options = SessionOptions::new(Format::Gzip).level(level).window_bits(bits);
    let mut session = Session::new(options).expect("valid options");
    let mut out = vec![0; message_bound(len) + finish_bound()];
    let mut all = Vec::new();
    for message in plain.chunks(len) {
        let n = session.message(scratch, message, &mut out).expect("capacity");
        all.extend_from_slice(&out[..n]);
    }
    let n = session.finish(&mut out).expect("capacity");
    all.extend_from_slice(&out[..n]);
    all
}

/// Returns a plain text, and streams of every kind that decode to it with their names.
fn streams() -> (Vec<u8>, Vec<(String, Vec<u8>)>) {
    let noise = &mut Noise::new(1);
    let mut plain = data::mixture(noise, 30_000);
    plain.extend(data::text(noise, 30_000));
    plain.extend_from_within(10_000..40_000);
    let mut scratch = Scratch::boxed();
    let mut streams = Vec::new();
    for level in Level::ALL {
        for chunk in [700, 3_000, 16_384, plain.len()] {
            for flush in [false, true] {
                let name = format!("level{}-{chunk}-{flush}", level as u8);
                streams.push((name, stream(&mut scratch, level, &plain, chunk, flush)));
            }
        }
        for bits in 8..=15 {
            for len in [300, 40_000] {
                let name = format!("w{bits:02}-level{}-{len}", level as u8);
                streams.push((name, session(&mut scratch, level, bits, &plain, len)));
            }
        }
    }
    (plain, streams)
}

#[test]
fn zlib_libdeflate_and_zlib_rs_decode_every_level_window_split_and_flush() {
    require(linerate_testkit::deflate::HAS_C, "zlib and libdeflate are not compiled in");
    let (plain, streams) = streams();
    for (name, bytes) in streams {
        let caught = std::panic::catch_unwind(|| assert_decodes(Format::Gzip, &bytes, &plain));
        assert!(caught.is_ok(), "{name}");
    }
}

#[test]
fn go_java_node_and_zlib_ng_decode_every_level_window_split_and_flush() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("foreign");
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).expect("a folder");
    let (plain, streams) = streams();
    fs::write(folder.join("plain"), plain).expect("a file");
    for (name, bytes) in &streams {
        fs::write(folder.join(format!("{name}.gz")), bytes).expect("a file");
    }
    let source = |name: &str| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/foreign").join(name);
    for (program, probe, arguments, file) in [
        ("go", &["version"][..], &["run"][..], "decode.go"),
        ("java", &["--version"], &[], "Decode.java"),
        ("node", &["--version"], &[], "decode.js"),
        ("python3", &["-c", "import zlib_ng"], &[], "decode.py"),
    ] {
        let found = Command::new(program).args(probe).output().is_ok_and(|output| output.status.success());
        let optional = program == "python3";
        if !found && optional || !require(found, &format!("{program} is not installed")) {
            continue;
        }
        let mut command = Command::new(program);
        let output = command.args(arguments).arg(source(file)).arg(&folder).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout);
        let count = streams.len().to_string();
        assert_eq!(said.trim(), count, "{program}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
