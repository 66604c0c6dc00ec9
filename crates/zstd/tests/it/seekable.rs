//! Files of many frames are read at any position, by a seek table or by a pass, and decoded by
//! several threads.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use linerate_testkit::data::{Noise, json_rows, mixed};
use linerate_testkit::zstd::encoder::{compress, compress_flushed, level};
use linerate_testkit::zstd::frame::skippable;
use linerate_zstd::seekable::{Index, Reader};
use linerate_zstd::{Dictionary, Kind, Options, ParallelDecoder};
use twox_hash::XxHash64;
use zstd_safe::CParameter;

use crate::common::inner;

/// Makes a frame of each part. Every second one states the size of its content, if `sizes`.
fn frames(parts: &[&[u8]], sizes: bool) -> Vec<Vec<u8>> {
    let parameters = [level(3), CParameter::ChecksumFlag(true)];
    let frame = |(i, part): (usize, &&[u8])| match sizes && i % 2 == 0 {
        true => compress(part, &[], &parameters),
        false => compress_flushed(&[part], &[], &parameters),
    };
    parts.iter().enumerate().map(frame).collect()
}

/// Makes a seek table (contrib/seekable_format): a row for each frame, with checksums or without.
fn table(parts: &[&[u8]], frames: &[Vec<u8>], checksums: bool) -> Vec<u8> {
    let mut body = Vec::new();
    for (part, frame) in parts.iter().zip(frames) {
        body.extend((frame.len() as u32).to_le_bytes());
        body.extend((part.len() as u32).to_le_bytes());
        if checksums {
            body.extend((XxHash64::oneshot(0, part) as u32).to_le_bytes());
        }
    }
    body.extend((frames.len() as u32).to_le_bytes());
    body.push(u8::from(checksums) << 7);
    body.extend(0x8f92_eab1_u32.to_le_bytes());
    skippable(14, &body)
}

fn content() -> Vec<u8> {
    [json_rows(1, 60), mixed(9000), json_rows(2, 20)].concat()
}

#[test]
fn random_reads_give_the_content_at_their_position() {
    let content = content();
    let parts: Vec<&[u8]> = content.chunks(1500).collect();
    for (sizes, checksums) in [(false, Some(true)), (false, Some(false)), (true, None), (false, None)] {
        let frames = frames(&parts, sizes);
        let mut file = frames.concat();
        if let Some(checksums) = checksums {
            file.extend(table(&parts, &frames, checksums));
        }
        let mut reader = Reader::new(Cursor::new(file)).unwrap();
        assert_eq!(reader.len(), content.len() as u64);
        assert_eq!(reader.index().entries().len(), frames.len());
        assert_eq!(reader.index().entries()[0].checksum.is_some(), checksums == Some(true));
        let mut noise = Noise::new(1);
        for _ in 0..300 {
            let at = noise.below(content.len() + 10);
            let len = noise.below(4000);
            reader.seek(SeekFrom::Start(at as u64)).unwrap();
            let mut found = Vec::new();
            (&mut reader).take(len as u64).read_to_end(&mut found).unwrap();
            let at = at.min(content.len());
            assert!(found == content[at..content.len().min(at + len)], "{len} bytes at {at}");
        }
        let mut all = Vec::new();
        reader.rewind().unwrap();
        reader.read_to_end(&mut all).unwrap();
        assert!(all == content);
    }
}

#[test]
fn seeking_is_relative_to_start_end_and_position() {
    let file = compress(b"0123456789", &[], &[]);
    let mut reader = Reader::new(Cursor::new(file)).unwrap();
    assert_eq!(reader.seek(SeekFrom::End(-4)).unwrap(), 6);
    let mut two = [0; 2];
    reader.read_exact(&mut two).unwrap();
    assert_eq!(&two, b"67");
    assert_eq!(reader.seek(SeekFrom::Current(-3)).unwrap(), 5);
    assert_eq!(reader.seek(SeekFrom::Start(99)).unwrap(), 99);
    assert_eq!(reader.read(&mut two).unwrap(), 0);
    assert_eq!(reader.seek(SeekFrom::End(-11)).unwrap_err().kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn empty_frames_and_skippable_frames_have_no_content() {
    let frame = |content: &[u8]| compress(content, &[], &[]);
    let file =
        [frame(b""), frame(b"abc"), skippable(1, b"..."), frame(b""), frame(b"de"), frame(b"")].concat();
    let mut reader = Reader::new(Cursor::new(file)).unwrap();
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "abcde");
    assert!(Reader::new(Cursor::new(Vec::new())).unwrap().is_empty());
}

#[test]
fn a_scanned_index_is_that_of_the_seek_table() {
    let content = content();
    let parts: Vec<&[u8]> = content.chunks(3000).collect();
    let frames = frames(&parts, true);
    let file = [frames.concat(), table(&parts, &frames, false)].concat();
    let from_table = Index::from_seek_table(&mut Cursor::new(&file)).unwrap().unwrap();
    let scanned = Index::scan(&mut Cursor::new(&file), Options::new(), None).unwrap();
    // The table itself is a frame without content.
    assert_eq!(scanned.entries()[..parts.len()], *from_table.entries());
    assert_eq!((scanned.len(), scanned.compressed_len()), (content.len() as u64, file.len() as u64));
}

#[test]
fn flipped_bits_of_a_seek_table_are_errors_or_change_nothing() {
    let content = content();
    let parts: Vec<&[u8]> = content.chunks(4000).collect();
    let frames = frames(&parts, false);
    let table = table(&parts, &frames, true);
    let (mut errors, mut sound) = (0, 0);
    for bit in 0..8 * table.len() {
        let mut table = table.clone();
        table[bit / 8] ^= 1 << (bit % 8);
        let file = Cursor::new([frames.concat(), table].concat());
        let mut out = Vec::new();
        match Reader::new(file).and_then(|mut reader| reader.read_to_end(&mut out)) {
            Ok(_) => sound += 1,
            Err(e) => {
                errors += 1;
                assert_ne!(inner(&e).kind, Kind::Read, "bit {bit}: {e}");
            }
        }
        assert!(content.starts_with(&out), "bit {bit}");
    }
    assert!(errors > sound, "{errors} and {sound}");
}

#[test]
fn truncated_files_are_errors() {
    let content = content();
    let parts: Vec<&[u8]> = content.chunks(4000).collect();
    let frames = frames(&parts, true);
    let all = [frames.concat(), table(&parts, &frames, true)].concat();
    let whole: Vec<usize> =
        frames.iter().scan(0, |sum, f| Some(std::mem::replace(sum, *sum + f.len()))).collect();
    for len in 0..all.len() {
        let result = Reader::new(Cursor::new(&all[..len]));
        let is_whole = whole.contains(&len) || len == frames.concat().len();
        assert_eq!(result.is_ok(), is_whole, "{len} bytes");
        if let Err(e) = result {
            assert_eq!(inner(&e).kind, Kind::Truncated, "{len} bytes: {e}");
        }
    }
}

#[test]
fn a_frame_above_the_limit_is_an_error_before_it_is_read() {
    let bomb = compress(&vec![0; 3 << 20], &[], &[]);
    let mut reader = Reader::new(Cursor::new(bomb)).unwrap().max_frame(1 << 20);
    assert_eq!(inner(&reader.read(&mut [0; 9]).unwrap_err()).kind, Kind::Limit);
    let mut reader = reader.max_frame(3 << 20);
    assert_eq!(reader.read(&mut [0; 9]).unwrap(), 9);
}

#[test]
fn damaged_content_is_an_error_of_its_frame_alone() {
    let content = content();
    let parts: Vec<&[u8]> = content.chunks(4000).collect();
    let frames = frames(&parts, true);
    let mut file = [frames.concat(), table(&parts, &frames, true)].concat();
    let second = frames[0].len() as u64;
    file[second as usize + frames[1].len() - 1] ^= 1;
    let mut reader = Reader::new(Cursor::new(&file)).unwrap();
    let mut out = Vec::new();
    let error = inner(&reader.read_to_end(&mut out).unwrap_err());
    assert_eq!(error.kind, Kind::Corrupt);
    assert!(error.offset >= second && error.offset < second + frames[1].len() as u64, "{error}");
    assert!(out == parts[0]);
    reader.seek(SeekFrom::Start(8000)).unwrap();
    out.clear();
    reader.read_to_end(&mut out).unwrap();
    assert!(out == content[8000..]);
    for threads in [1, 3] {
        let decoder = ParallelDecoder::new().threads(threads);
        assert_eq!(decoder.decode(&file, content.len()), Err(error), "{threads} threads");
    }
}

#[test]
fn dictionaries_are_used_for_every_frame() {
    let content = content();
    let dictionary = json_rows(9, 10);
    let frames: Vec<u8> = content.chunks(2000).flat_map(|part| compress(part, &dictionary, &[])).collect();
    let dictionary = Dictionary::new(&dictionary).unwrap();
    let index = Index::scan(&mut Cursor::new(&frames), Options::new(), Some(&dictionary)).unwrap();
    let mut reader = Reader::with_index(Cursor::new(&frames), index).dictionary(&dictionary);
    let mut out = Vec::new();
    reader.read_to_end(&mut out).unwrap();
    assert!(out == content);
    let parallel = ParallelDecoder::new().threads(2).dictionary(&dictionary);
    assert_eq!(parallel.decode(&frames, content.len()), Ok(content));
}

#[test]
fn every_number_of_threads_gives_the_same_content() {
    let content = content();
    let parts: Vec<&[u8]> = content.chunks(700).collect();
    for sizes in [true, false] {
        let frames = frames(&parts, sizes);
        let plain = frames.concat();
        let seekable = [&plain[..], &table(&parts, &frames, true)].concat();
        for file in [&plain, &seekable] {
            for threads in [0, 1, 2, 3, 100] {
                let decoder = ParallelDecoder::new().threads(threads);
                assert_eq!(decoder.decode(file, content.len()).as_ref(), Ok(&content), "{threads} threads");
                let error = decoder.decode(file, content.len() - 1).unwrap_err();
                assert_eq!(error.kind, Kind::Limit);
            }
        }
    }
    assert_eq!(ParallelDecoder::new().decode(&[], 0), Ok(Vec::new()));
}
