//! Compares reading by an index with decoding from the beginning, for files of several encoders.

use std::io::{Cursor, Read, Seek, SeekFrom};
use std::sync::OnceLock;

use linerate_core::{Error, Kind};
use linerate_testkit::data::Noise;
use zlib_rs::DeflateFlush;

use super::decode::{Sizes, decode_in};
use super::sparse_window::SparseWindow;
use super::*;
use crate::Format;
use crate::parallel::Totals;
use crate::read::Decoder;
use crate::test_data::{compress, text};

/// Compresses a member with zlib-rs, with a flush of this kind after every `every` bytes.
fn member(level: i32, data: &[u8], every: usize, flush: DeflateFlush) -> Vec<u8> {
    compress(Format::Gzip, level, data, every, flush)
}

fn gzip(level: i32, data: &[u8]) -> Vec<u8> {
    member(level, data, usize::MAX, DeflateFlush::NoFlush)
}

/// Name, a file with at most a megabyte of content, and the content.
type File = (&'static str, Vec<u8>, Vec<u8>);

fn files() -> &'static [File] {
    static FILES: OnceLock<Vec<File>> = OnceLock::new();
    FILES.get_or_init(make)
}

fn named(name: &str) -> (Vec<u8>, &'static [u8]) {
    let (_, file, content) = files().iter().find(|file| file.0 == name).expect("a file of this name");
    (file.clone(), content)
}

fn make() -> Vec<File> {
    let mut noise = Noise::new(1);
    let text = text(&mut noise, 250_000);
    let random: Vec<u8> = (0..200_000).map(|_| noise.below(256) as u8).collect();
    let copies: Vec<u8> = (0..300_000).map(|i| random[i % 32_000] ^ u8::from(i % 5000 == 0)).collect();
    let parts = |len: usize| text.chunks(len).flat_map(|part| gzip(6, part)).collect::<Vec<u8>>();
    let with_empty: Vec<u8> =
        text.chunks(100_000).flat_map(|part| [gzip(6, b""), gzip(9, part), gzip(0, b"")].concat()).collect();
    let levels =
        text.chunks(50_000).zip([0, 1, 6, 9, 3]).flat_map(|(part, level)| gzip(level, part)).collect();
    vec![
        ("level 1", gzip(1, &text), text.clone()),
        ("level 9", gzip(9, &text), text.clone()),
        ("stored", gzip(0, &random), random.clone()),
        ("noise", gzip(6, &random), random),
        ("copies", gzip(9, &copies), copies),
        ("small blocks", member(6, &text, 3000, DeflateFlush::SyncFlush), text.clone()),
        ("independent blocks", member(6, &text, 70_000, DeflateFlush::FullFlush), text.clone()),
        ("zeros", gzip(9, &vec![0; 1_000_000]), vec![0; 1_000_000]),
        ("members of 7,000 bytes", parts(7000), text.clone()),
        ("members of 150,000 bytes", parts(150_000), text.clone()),
        ("empty members", with_empty, text.clone()),
        ("levels", levels, text.clone()),
        ("empty", gzip(6, b""), Vec::new()),
        ("garbage", [gzip(6, &text), b"garbage".to_vec()].concat(), text.clone()),
        ("garbage of a byte", [gzip(6, &text), b"g".to_vec()].concat(), text.clone()),
        ("garbage like a member", [gzip(6, &text), b"\x1fgarbage".to_vec()].concat(), text.clone()),
        ("padding", [gzip(6, &text), vec![0; 5000]].concat(), text),
    ]
}

const CLOSE: Options = Options::new().spacing(0);

fn failure(error: &std::io::Error) -> Kind {
    error
        .get_ref()
        .and_then(|source| source.downcast_ref::<Error>())
        .map(|e| e.kind)
        .expect("errors of our own")
}

/// Reads at random positions, and then to the end.
#[track_caller]
fn assert_content(name: &str, reader: &mut Reader<Cursor<&[u8]>>, content: &[u8], rounds: usize) {
    let mut noise = Noise::new(content.len() as u64);
    for _ in 0..rounds {
        let at = noise.below(content.len() + 2);
        let most = [10, 5000, 100_000][noise.below(3)];
        let len = noise.below(most);
        let wanted = content.get(at..).unwrap_or_default();
        let wanted = &wanted[..wanted.len().min(len)];
        let mut found = vec![0; len];
        let n = reader.read_at(at as u64, &mut found).unwrap();
        assert!(found[..n] == *wanted, "{name}: {len} bytes at {at}");
    }
    let at = content.len() / 3;
    assert_eq!(reader.seek(SeekFrom::End(at as i64 - content.len() as i64)).unwrap(), at as u64);
    let mut found = Vec::new();
    reader.read_to_end(&mut found).unwrap();
    assert!(found == content[at..], "{name}: the end");
}

#[test]
fn content_is_read_at_any_offset_by_an_index() {
    for (name, file, content) in files() {
        let mut decoded = Vec::new();
        let mut builder = Builder::new(&file[..], &CLOSE);
        builder.read_to_end(&mut decoded).unwrap();
        let index = builder.finish().unwrap();
        assert!(decoded == *content, "{name}");
        assert_eq!(
            (index.len(), index.compressed_len()),
            (content.len() as u64, file.len() as u64),
            "{name}"
        );
        let gaps = index.points().windows(2).map(|two| two[1].offset() - two[0].offset());
        assert!(gaps.clone().all(|gap| gap >= 65_536), "{name}");
        assert!(["zeros", "empty"].contains(name) || index.points().len() >= 2, "{name}");
        let mut reader = Reader::with_index(Cursor::new(&file[..]), index).unwrap();
        assert_content(name, &mut reader, content, 30);
    }
}

#[test]
fn content_is_read_at_any_offset_while_the_index_is_made() {
    for (name, file, content) in files() {
        let mut reader = Reader::new(Cursor::new(&file[..]), &CLOSE).unwrap();
        assert_content(name, &mut reader, content, 20);
        let built = Index::build(&file[..], &CLOSE).unwrap();
        assert!(*reader.index() == built, "{name}");
    }
}

#[test]
fn input_cut_anywhere_makes_the_same_index() {
    for (name, file, _) in files().iter().skip(4).step_by(3) {
        let whole = Index::build(&file[..], &CLOSE).unwrap();
        for capacity in [1, 7, 1000] {
            let reader = std::io::BufReader::with_capacity(capacity, &file[..]);
            let mut builder = Builder::with_buffer(reader, &CLOSE);
            let mut piece = [0; 777];
            while builder.read(&mut piece).unwrap() > 0 {}
            assert!(builder.finish().unwrap() == whole, "{name}");
        }
    }
}

#[test]
fn windows_keep_what_matches_refer_to_and_little_else() {
    let (file, _) = named("independent blocks");
    let index = Index::build(&file[..], &CLOSE).unwrap();
    // After a full flush no match refers to anything before it.
    assert!(index.points().len() > 2 && index.memory() < 20_000, "{}", index.memory());
    let (file, _) = named("level 9");
    let thin = Index::build(&file[..], &CLOSE).unwrap();
    let windows: usize = thin.points().iter().map(|p| p.window.as_ref().map_or(0, |w| w.len())).sum();
    assert!(thin.memory() < windows, "{} of {windows}", thin.memory());
}

fn gzidx(index: &Index) -> Vec<u8> {
    let mut file = Vec::new();
    index.write_gzidx(&mut file).unwrap();
    file
}

#[test]
fn index_files_are_read_as_they_were_written() {
    for (name, file, content) in files() {
        let index = Index::build(&file[..], &CLOSE).unwrap();
        let written = gzidx(&index);
        let read = Index::read_gzidx(&written[..]).unwrap();
        assert_eq!((read.len(), read.compressed_len()), (index.len(), index.compressed_len()), "{name}");
        assert!(gzidx(&read).len() <= written.len(), "{name}");
        let mut reader = Reader::with_index(Cursor::new(&file[..]), read).unwrap();
        assert_content(name, &mut reader, content, 10);
    }
}

#[test]
fn only_the_points_of_a_range_are_read_from_an_index_file() {
    let (file, content) = named("level 1");
    let written = gzidx(&Index::build(&file[..], &CLOSE).unwrap());
    let (at, len) = (content.len() / 2, 1000);
    let index = Index::read_gzidx_range(Cursor::new(&written), at as u64..(at + len) as u64).unwrap();
    assert_eq!(index.points().len(), 1);
    let mut found = vec![0; len];
    Reader::with_index(Cursor::new(&file[..]), index).unwrap().read_at(at as u64, &mut found).unwrap();
    assert_eq!(found, content[at..at + len]);
}

#[test]
fn truncated_index_files_are_errors() {
    let (file, _) = named("level 1");
    let written = gzidx(&Index::build(&file[..], &CLOSE).unwrap());
    for len in (0..200).chain((200..written.len()).step_by(4999)) {
        assert_eq!(Index::read_gzidx(&written[..len]).unwrap_err().kind, Kind::Truncated, "{len}");
    }
}

/// Wrong indexes give errors or wrong bytes, but never a panic.
#[test]
fn index_files_with_any_bit_flipped_are_read_or_refused() {
    let (file, content) = named("members of 150,000 bytes");
    let mut written = gzidx(&Index::build(&file[..], &CLOSE).unwrap());
    let count = u32::from_le_bytes(written[31..35].try_into().unwrap()) as usize;
    let mut refused = 0;
    for bit in 0..8 * (35 + 18 * count) {
        written[bit / 8] ^= 1 << (bit % 8);
        let reader = Index::read_gzidx(&written[..]).and_then(|index| {
            Reader::with_index(Cursor::new(&file[..]), index).map_err(|_| Error::new(Kind::Corrupt, 0, ""))
        });
        match reader {
            Ok(mut reader) => {
                let mut found = vec![0; 500];
                let at = content.len() / 2;
                // Reading from a member verifies the points that it passes, so only the window of
                // the second point can be wrong.
                let _ = reader.read_at(at as u64, &mut found);
            }
            Err(_) => refused += 1,
        }
        written[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn damage_after_a_point_is_an_error_and_other_positions_are_read() {
    let (mut file, content) = named("members of 150,000 bytes");
    let index = Index::build(&file[..], &CLOSE).unwrap();
    let at = index.points().last().unwrap().bit() as usize / 8 + 10;
    file[at..at + 50].fill(0xff);
    let mut reader = Reader::with_index(Cursor::new(&file[..]), index).unwrap();
    let mut found = vec![0; content.len()];
    assert_eq!(failure(&reader.read_at(0, &mut found).unwrap_err()), Kind::Corrupt);
    assert_eq!(reader.read_at(70_000, &mut found[..5000]).unwrap(), 5000);
    assert_eq!(found[..5000], content[70_000..75_000]);
}

#[test]
fn members_are_verified_up_to_the_last_trailer() {
    for damaged in [8, 4] {
        let (mut file, _) = named("level 1");
        let index = Index::build(&file[..], &CLOSE).unwrap();
        let at = file.len() - damaged;
        file[at] ^= 1;
        let mut reader = Reader::with_index(Cursor::new(&file[..]), index).unwrap();
        assert_eq!(failure(&reader.read_to_end(&mut Vec::new()).unwrap_err()), Kind::Corrupt);
        assert_eq!(failure(&Index::build(&file[..], &CLOSE).unwrap_err()), Kind::Corrupt);
    }
}

#[test]
fn truncated_files_fail_as_from_the_beginning() {
    let (file, _) = named("members of 150,000 bytes");
    for len in (0..file.len()).step_by(file.len() / 40) {
        let mut content = Vec::new();
        let one = Decoder::new(&file[..len], Format::Gzip).read_to_end(&mut content);
        let mut found = Vec::new();
        let built = Builder::new(&file[..len], &CLOSE).read_to_end(&mut found);
        assert_eq!((one.map_err(|e| failure(&e)), content), (built.map_err(|e| failure(&e)), found));
    }
}

#[test]
fn indexes_of_other_files_are_refused() {
    let (file, _) = named("level 1");
    let index = Index::build(&file[..], &CLOSE).unwrap();
    let refused = Reader::with_index(Cursor::new(&file[1..]), index).map(drop).unwrap_err();
    assert_eq!(failure(&refused), Kind::BadArgument);
    let unfinished = Reader::new(Cursor::new(&file[..]), &CLOSE).unwrap().index().clone();
    assert!(!unfinished.is_complete());
    assert_eq!(failure(&unfinished.write_gzidx(std::io::sink()).unwrap_err()), Kind::BadArgument);
}

/// Reads from `at` to the end in small parts, and returns the content read before the error.
#[track_caller]
fn read_until_refused(file: &[u8], index: Index, at: usize) -> Vec<u8> {
    let mut reader = Reader::with_index(Cursor::new(file), index).unwrap();
    reader.seek(SeekFrom::Start(at as u64)).unwrap();
    let mut found = Vec::new();
    let error = reader.read_to_end(&mut found).unwrap_err();
    assert!(error.to_string().contains("the index does not belong to this file"), "{error}");
    found
}

#[test]
fn wrong_point_is_an_error_only_when_it_is_reached() {
    for name in ["level 1", "levels", "copies"] {
        let (file, content) = named(name);
        let right = Index::build(&file[..], &CLOSE).unwrap();
        let last = right.points().iter().rposition(|point| !point.is_member()).unwrap();
        let changes: [&dyn Fn(&mut Point); 5] = [
            &|point| point.bit -= 1,
            &|point| point.bit += 1,
            &|point| point.bit += 8,
            &|point| point.window = None,
            &|point| {
                let mut bytes = point.window.as_ref().unwrap().to_vec();
                let byte = bytes.iter_mut().find(|byte| **byte != 0).unwrap();
                *byte = byte.wrapping_add(1).max(1);
                point.window = Some(SparseWindow::new(&bytes));
            },
        ];
        for change in changes {
            let mut index = right.clone();
            change(&mut index.points[last]);
            let end = right.points[last].offset as usize;
            for at in [0, end - 10] {
                assert!(read_until_refused(&file, index.clone(), at) == content[at..end], "{name}");
            }
        }
    }
}

#[test]
fn index_of_another_file_of_the_same_size_is_refused_at_the_next_point() {
    let contents = [9, 10].map(|seed| text(&mut Noise::new(seed), 300_000));
    let mut files = contents.each_ref().map(|content| gzip(1, content));
    let len = files.iter().map(Vec::len).max().unwrap();
    // Zeros after the last member are padding.
    files.iter_mut().for_each(|file| file.resize(len, 0));
    let index = Index::build(&files[0][..], &CLOSE).unwrap();
    let end = index.points()[1].offset() as usize;
    assert!(read_until_refused(&files[1], index.clone(), 0) == contents[1][..end]);
    // Between two points content cannot be compared with anything.
    let mut reader = Reader::with_index(Cursor::new(&files[0][..]), index).unwrap();
    assert_eq!(reader.read_at(end as u64, &mut [0; 100]).unwrap(), 100);
}

/// The content, and the end of the members or the kind and offset of the error.
type Outcome = (Vec<u8>, Result<u64, (Kind, u64)>);

fn outcome(result: std::io::Result<Totals>) -> Result<u64, (Kind, u64)> {
    let ours = |e: &std::io::Error| *e.get_ref().and_then(|source| source.downcast_ref::<Error>()).unwrap();
    result.map(|totals| totals.bytes_in).map_err(|e| (ours(&e).kind, ours(&e).offset))
}

fn alone(file: &[u8]) -> Outcome {
    let mut content = Vec::new();
    let result = decode(file, &Index::default(), &mut content, 1);
    (content, outcome(result))
}

#[track_caller]
fn assert_as_alone(case: &str, file: &[u8], index: &Index, threads: usize, sizes: Sizes) {
    let mut content = Vec::new();
    let result = decode_in(file, index, into(&mut content), threads, sizes);
    let one = alone(file);
    assert_eq!(outcome(result), one.1, "{case}");
    assert!(content == one.0, "{case}: other content");
}

fn into(content: &mut Vec<u8>) -> impl FnMut(&[u8], Totals) -> std::io::Result<()> {
    let mut last = 0;
    move |part, before| {
        assert_eq!(before.bytes_out, content.len() as u64);
        assert!(before.bytes_in >= last && !part.is_empty());
        last = before.bytes_in;
        content.extend_from_slice(part);
        Ok(())
    }
}

const SMALL: Sizes = Sizes { chunk: 1, piece: 1 << 20, share: 1 << 20 };

#[test]
fn content_is_decoded_on_several_threads_in_pieces_of_any_size() {
    for (name, file, content) in files() {
        let index = Index::build(&file[..], &CLOSE).unwrap();
        let mut decoded = Vec::new();
        decode_in(&file[..], &index, into(&mut decoded), 2, SMALL).unwrap();
        assert!(decoded == *content, "{name}");
        for (chunk, piece, share) in [(1, 1 << 20, 40_000), (100_000, 10_000, 1 << 20), (1, 700, 900)] {
            assert_as_alone(name, file, &index, 2, Sizes { chunk, piece, share });
        }
    }
}

#[test]
fn chunks_are_taken_from_workers() {
    for name in ["level 9", "stored", "small blocks", "members of 7,000 bytes", "empty members", "levels"] {
        let (file, _) = named(name);
        let index = Index::build(&file[..], &CLOSE).unwrap();
        let hits = super::decode::hits(&file[..], &index, SMALL);
        // The first piece has only the header.
        assert!(hits[1..].iter().all(|is_hit| *is_hit) && hits.len() > 2, "{name}: {hits:?}");
    }
}

#[test]
fn damaged_files_end_as_on_one_thread() {
    let mut noise = Noise::new(7);
    for (name, file, _) in files() {
        let (mut file, index) = (file.clone(), Index::build(&file[..], &CLOSE).unwrap());
        for _ in 0..3 {
            let at = noise.below(file.len());
            let before = std::mem::replace(&mut file[at], noise.below(256) as u8);
            assert_as_alone(name, &file, &index, 2, SMALL);
            file[at] = before;
            assert_as_alone(name, &file[..at], &index, 2, SMALL);
        }
    }
}

#[test]
fn wrong_indexes_change_nothing() {
    let (file, content) = named("levels");
    let right = Index::build(&file[..], &CLOSE).unwrap();
    let window = |index: &mut Index, change: &dyn Fn(&mut Vec<u8>)| {
        for point in &mut index.points {
            let mut bytes = point.window.as_ref().map(|window| window.to_vec()).unwrap_or_default();
            change(&mut bytes);
            point.window = point.window.take().map(|_| SparseWindow::new(&bytes));
        }
    };
    let changes: [&dyn Fn(&mut Index); 8] = [
        &|index| index.points.iter_mut().for_each(|point| point.bit += 1),
        &|index| index.points.iter_mut().for_each(|point| point.offset += 1),
        &|index| window(index, &|bytes| bytes.iter_mut().for_each(|byte| *byte ^= 1)),
        &|index| window(index, &|bytes| bytes.fill(0)),
        &|index| window(index, &|bytes| bytes.truncate(500)),
        &|index| index.points.iter_mut().for_each(|point| point.window = None),
        &|index| index.points.retain(|point| point.offset() > 0),
        &|index| *index = Index::build(&named("level 9").0[..], &CLOSE).unwrap(),
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut index = right.clone();
        change(&mut index);
        let mut decoded = Vec::new();
        decode_in(&file[..], &index, into(&mut decoded), 2, SMALL).unwrap();
        assert!(decoded == content, "change {i}");
    }
}

#[test]
fn put_gets_offsets_and_its_error_ends_decoding() {
    let (file, content) = named("small blocks");
    let index = Index::build(&file[..], &CLOSE).unwrap();
    for threads in [1, 2] {
        let (mut found, mut at) = (Vec::new(), Vec::new());
        let put = |part: &[u8], before: Totals| {
            let left = 200_000 - found.len();
            at.push(before.bytes_in);
            found.extend_from_slice(&part[..left.min(part.len())]);
            if left < part.len() { Err(std::io::ErrorKind::QuotaExceeded.into()) } else { Ok(()) }
        };
        let result = decode_in(&file[..], &index, put, threads, SMALL);
        assert_eq!(result.unwrap_err().kind(), std::io::ErrorKind::QuotaExceeded);
        assert!(found == content[..200_000]);
        assert!(at.is_sorted() && at[at.len() - 1] > file.len() as u64 / 4, "{at:?}");
    }
}

/// Makes an index with a point at every block of a file.
fn every_block(file: &[u8]) -> Index {
    let mut index = Index::build(file, &CLOSE).unwrap();
    index.points.clear();
    let (mut walk, mut out) = (super::walk::Walk::new().unwrap(), vec![0; 1 << 16]);
    loop {
        let bit = walk.decoder().block_bit();
        if let Some(bit) = bit.filter(|bit| index.points.last().is_none_or(|last| last.bit < *bit)) {
            let mut window = vec![0; walk.decoder().history().len()];
            walk.decoder().history().copy(window.len(), &mut window);
            let window = (!walk.is_at_member()).then(|| SparseWindow::new(&window));
            index.points.push(Point { bit, offset: walk.offset, window });
        }
        let at = walk.decoder().position() as usize;
        // Decode up to the next bit at which a block may begin.
        let stop = bit.map_or(i64::MIN, |bit| bit as i64 + 1 - 8 * at as i64);
        let progress = walk.step(&file[at..], &mut out, stop).unwrap();
        if progress.status == crate::Status::End {
            return index;
        }
    }
}

#[test]
fn damaged_small_files_with_a_point_at_every_block_decode_as_on_one_thread() {
    let text = text(&mut Noise::new(12), 1500);
    let parts = |level| member(level, &text[..700], 90, DeflateFlush::SyncFlush);
    let mut files = [0, 1, 6].map(parts);
    files[2] = [&parts(6)[..], &gzip(6, b""), &parts(0), &gzip(9, &text), b"garbage"].concat();
    for mut file in files {
        let index = every_block(&file);
        assert!(index.points.len() >= 8);
        let one = alone(&file).0;
        for at in 0..one.len() {
            let mut reader = Reader::with_index(Cursor::new(&file[..]), index.clone()).unwrap();
            let mut found = vec![0; 300.min(one.len() - at)];
            assert_eq!(reader.read_at(at as u64, &mut found).unwrap(), found.len());
            assert!(found == one[at..at + found.len()], "at {at}");
        }
        for bit in (0..8 * file.len()).step_by(5) {
            file[bit / 8] ^= 1 << (bit % 8);
            assert_as_alone(&format!("bit {bit}"), &file, &index, 2, SMALL);
            file[bit / 8] ^= 1 << (bit % 8);
        }
        for len in 0..file.len() {
            assert_as_alone(&format!("{len} bytes"), &file[..len], &index, 2, SMALL);
        }
    }
}

/// Makes an index file with these sizes and points. Each point has a window.
fn index_file(compressed_len: u64, len: u64, points: &[(u64, u64)]) -> Vec<u8> {
    let mut file = b"GZIDX\x01\0".to_vec();
    [compressed_len, len].iter().for_each(|size| file.extend(size.to_le_bytes()));
    [1 << 20, WINDOW as u32, points.len() as u32].iter().for_each(|n| file.extend(n.to_le_bytes()));
    for (byte, offset) in points {
        file.extend(byte.to_le_bytes());
        file.extend(offset.to_le_bytes());
        file.extend([0, 1]);
    }
    file.resize(file.len() + points.len() * WINDOW, 0);
    file
}

#[test]
fn index_files_with_impossible_sizes_are_errors_but_two_points_at_one_offset_are_not() {
    let index = Index::read_gzidx(&index_file(100, 1000, &[(10, 0), (20, 0)])[..]).unwrap();
    assert_eq!(index.points().len(), 2);
    let most = i64::MAX as u64 / 8;
    for (compressed_len, len) in [(u64::MAX, 0), (most + 1, 10), (100, u64::MAX)] {
        let error = Index::read_gzidx(&index_file(compressed_len, len, &[])[..]).unwrap_err();
        assert_eq!(error.kind, Kind::Corrupt, "{compressed_len} {len}");
    }
}
