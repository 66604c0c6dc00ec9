//! Hand-made frames. Every valid construct decodes to its known content, in libzstd too, and every
//! invalid one is an error.
//!
//! `testdata/zstd` has the frames for other decoders; `LINERATE_UPDATE=1` writes them.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;

use linerate_testkit::testdata::testdata;
use linerate_testkit::zstd::frame::{Frame, Literals, SINGLE};
use linerate_testkit::zstd::oracle::Oracle;
use linerate_testkit::zstd::vectors::{Vector, bad, dictionaries, dictionary, good, is_kept};
use linerate_zstd::{Dictionary, Options};
use twox_hash::XxHash64;

use crate::common::check::Checker;
use crate::common::ours::{self, Pieces, magicless};

/// Output capacity for invalid frames.
const MOST: usize = if cfg!(miri) { 1 << 12 } else { 1 << 20 };
const WINDOW_LOG: u32 = 27;
/// Largest number of bytes of content, or of a damaged frame. Miri takes thousands of times as
/// long, and gets short ones.
const MOST_CONTENT: usize = if cfg!(miri) { 300 } else { 1 << 30 };

fn dictionary_bytes(vector: &Vector) -> Vec<u8> {
    vector.dictionary.map(|name| dictionary(name).bytes()).unwrap_or_default()
}

#[test]
fn every_valid_frame_decodes_to_its_content() {
    let mut checker = Checker::default();
    for vector in good() {
        let options = if vector.magicless { magicless() } else { Options::new() };
        let content = vector.content.as_ref().expect("known");
        if content.len() <= MOST_CONTENT {
            checker.check_with(&vector.name, options, &vector.bytes, &dictionary_bytes(&vector), content);
        }
    }
    assert!(checker.frames > if cfg!(miri) { 50 } else { 500 });
}

#[test]
#[cfg_attr(miri, ignore = "libzstd is C")]
fn libzstd_decodes_every_valid_frame() {
    let mut oracle = Oracle::default();
    for vector in good() {
        let content = vector.content.as_ref().expect("known");
        let dictionary = dictionary_bytes(&vector);
        if vector.magicless {
            let whole = oracle.magicless(&vector.bytes, &dictionary, content.len());
            assert!(whole.as_ref() == Ok(content), "{}: {:?}", vector.name, whole.err());
            continue;
        }
        for got in oracle.both(&vector.bytes, &dictionary, WINDOW_LOG, content.len()) {
            assert!(got.as_ref() == Ok(content), "{}: {:?}", vector.name, got.err());
        }
    }
}

/// libzstd rejects an invalid frame in one shot or streamed; Linerate rejects it both ways.
#[test]
fn every_invalid_frame_is_an_error() {
    let mut oracle = (!cfg!(miri)).then(Oracle::default);
    for vector in bad() {
        let bytes = dictionary_bytes(&vector);
        if let Some(oracle) = &mut oracle {
            let theirs = oracle.both(&vector.bytes, &bytes, WINDOW_LOG, MOST);
            assert!(theirs.iter().any(Result::is_err), "{}: libzstd decodes it", vector.name);
        } else if vector.bytes.len() > MOST_CONTENT {
            continue;
        }
        let digested = vector.dictionary.map(|_| Dictionary::new(&bytes).expect("a good dictionary"));
        for (kernels, mut scratch) in ours::scratches() {
            let got = ours::whole(Options::new(), &mut scratch, digested.as_ref(), &vector.bytes, MOST);
            let e = got.map(|bytes| bytes.len()).expect_err(&format!("{}, {kernels}", vector.name));
            assert!(e.offset <= vector.bytes.len() as u64, "{}, {kernels}: {e}", vector.name);
            for mut pieces in [Pieces::Whole, Pieces::Each(1, 1 << 17), Pieces::Each(7, 11)] {
                let got = ours::stream(
                    Options::new(),
                    &mut scratch,
                    digested.as_ref(),
                    &vector.bytes,
                    MOST,
                    &mut pieces,
                );
                assert!(got.is_err(), "{}, {kernels} in pieces", vector.name);
            }
        }
    }
}

/// The frame is a single segment without content, in a compressed block. libzstd rejects it because
/// the block is larger than the content, but the format's authors list it as valid, and their tool
/// decodes it.
#[test]
fn empty_compressed_block_of_an_empty_frame_is_valid() {
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 0x15, 0, 0, 0, 0];
    Checker::default().check("empty block", &frame, &[], &[]);
    let made = Frame::new(linerate_testkit::zstd::frame::Header { size_flag: 0, ..SINGLE })
        .plain(Literals::Raw(0, vec![]), &[]);
    assert_eq!(made.bytes(), frame);
}

/// Some versions of libzstd refuse these valid frames, which its `doc/decompressor_errata.md`
/// lists.
#[test]
#[cfg_attr(miri, ignore = "libzstd is C")]
fn frames_of_the_errata_of_libzstd_decode() {
    let frames: [&[u8]; 3] = [
        // A compressed block without literals and sequences.
        b"\x28\xb5\x2f\xfd\x20\0\x15\0\0\0\0",
        // An RLE block of 128 KiB before another block.
        b"\x28\xb5\x2f\xfd\xa0\x01\0\x02\0\x02\0\x10\0\x0b\0\0\0",
        // A table of two bytes and a bitstream of one at the end of a block.
        b"\x28\xb5\x2f\xfd\x20\x27\xc5\0\0\x80\xf3\xf1\xf0\xec\xeb\xc6\xc5\xc7\xf0\x9d\x43\0\0\0\xe0\xe0\x06\x58\
          \x01\0\x60\x3e\x52",
    ];
    let mut checker = Checker::default();
    for (frame, size) in frames.into_iter().zip([0, 131_073, 39]) {
        let content = if size == 0 {
            Vec::new() // which libzstd 1.5.7 refuses in a frame of one segment
        } else {
            Oracle::default().both(frame, &[], WINDOW_LOG, size)[0].clone().expect("libzstd decodes it")
        };
        assert_eq!(content.len(), size);
        checker.check("errata", frame, &[], &content);
    }
}

/// The committed files equal the generated ones.
#[test]
#[cfg_attr(miri, ignore = "the files are for other decoders")]
fn committed_files_match_the_generator() {
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut list = String::from("name,dictionary,magicless,bytes,content_bytes,content_xxh64\n");
    for vector in good().into_iter().filter(is_kept) {
        let content = vector.content.expect("known");
        let hash = XxHash64::oneshot(0, &content);
        let (name, dictionary) = (&vector.name, vector.dictionary.unwrap_or_default());
        let (bytes, magicless) = (vector.bytes.len(), u8::from(vector.magicless));
        writeln!(list, "{name},{dictionary},{magicless},{bytes},{},{hash:016x}", content.len()).unwrap();
        files.insert(format!("{name}.zst"), vector.bytes);
    }
    for vector in bad().into_iter().filter(is_kept) {
        files.insert(format!("errors/{}.zst", vector.name), vector.bytes);
    }
    for (name, dictionary) in dictionaries() {
        files.insert(format!("{name}.dict"), dictionary.bytes());
    }
    files.insert("contents.csv".into(), list.into_bytes());
    let folder = testdata().join("zstd");
    if env::var_os("LINERATE_UPDATE").is_some() {
        fs::create_dir_all(folder.join("errors")).unwrap();
        files.iter().for_each(|(name, bytes)| fs::write(folder.join(name), bytes).unwrap());
    }
    for (name, bytes) in &files {
        let there = fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(there == *bytes, "{name} differs; LINERATE_UPDATE=1 writes it anew");
    }
    let there = linerate_testkit::testdata::files_below(&folder).len();
    assert_eq!(
        there,
        files.len() + usize::from(folder.join("README.md").exists()),
        "files that the generator does not make"
    );
}
