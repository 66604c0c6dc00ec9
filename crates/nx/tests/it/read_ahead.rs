//! Tests that the source is told which blocks will be read, each once and not too early.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Mutex;

use linerate_nx::pack::{Builder, Coding, PackOptions};
use linerate_nx::r3a::{self, AsNx, Tables, from_nx};
use linerate_nx::{Archive, Existing, Extractor, ReadAt, Verifier};
use linerate_testkit::data::Noise;

/// A source that records hints and reads.
struct Noting {
    bytes: Vec<u8>,
    notes: Mutex<Notes>,
}

#[derive(Default)]
struct Notes {
    /// Offset and length of each hint.
    hints: Vec<(u64, u64)>,
    /// Offsets that were read. One thread may read a block before the thread that took it into the
    /// window has announced it.
    read: HashSet<u64>,
    /// Lengths of the hinted ranges that were not read yet, by their offsets.
    pending: HashMap<u64, u64>,
    /// Most bytes in `pending` at any time.
    most_pending: u64,
}

impl ReadAt for Noting {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut notes = self.notes.lock().unwrap();
        notes.read.insert(offset);
        notes.pending.remove(&offset);
        self.bytes.read_at(offset, out)
    }

    fn will_read(&self, offset: u64, len: u64) {
        let mut notes = self.notes.lock().unwrap();
        notes.hints.push((offset, len));
        if !notes.read.contains(&offset) {
            notes.pending.insert(offset, len);
        }
        notes.most_pending = notes.most_pending.max(notes.pending.values().sum());
    }
}

#[test]
fn each_block_is_announced_once_to_the_source() {
    let mut noise = Noise::new(1);
    let options = PackOptions { chunk: 4096, solid_limit: 4095, ..PackOptions::default() };
    let mut builder = Builder::new(options).unwrap();
    for i in 0..5 {
        builder.add_bytes(format!("large{i}"), noise.bytes(40_000)).unwrap();
        builder.add_bytes(format!("small{i}"), noise.bytes(3000)).unwrap();
    }
    let source = Noting { bytes: builder.to_bytes().unwrap().0, notes: Mutex::default() };
    let archive = Archive::open(source).unwrap();
    let blocks = &archive.toc().blocks;
    let expected: Vec<(u64, u64)> =
        (0..blocks.len()).map(|i| (archive.layout().offset(i), blocks[i].compressed.into())).collect();
    assert!(expected.len() > 50);
    for threads in [1, 3] {
        assert!(Verifier::new(&archive).threads(threads).run().unwrap().failures.is_empty());
        let mut hints = std::mem::take(&mut archive.source().notes.lock().unwrap().hints);
        hints.sort_unstable();
        assert_eq!(hints, expected, "{threads} threads");
    }
}

#[test]
fn each_block_of_an_r3a_archive_is_announced_where_it_is_stored() {
    let mut noise = Noise::new(1);
    let options = PackOptions { chunk: 4096, solid_limit: 4095, ..PackOptions::default() };
    let mut builder = Builder::new(options).unwrap();
    builder.add_bytes("noise", noise.bytes(40_000)).unwrap();
    builder.add_bytes("zeros", vec![0; 9000]).unwrap();
    let nx = Archive::open(builder.to_bytes().unwrap().0).unwrap();
    let mut bytes = Vec::new();
    from_nx(&nx, Tables::Presets, &[], &mut bytes).unwrap();
    let source = Noting { bytes, notes: Mutex::default() };
    let archive = AsNx::new(r3a::Archive::open(source).unwrap()).unwrap().open().unwrap();
    assert!(Verifier::new(&archive).run().unwrap().failures.is_empty());
    let blocks = nx.toc().blocks.len();
    let notes = archive.source().archive().source().notes.lock().unwrap();
    assert_eq!((notes.hints.len(), notes.pending.len()), (blocks, 0));
}

#[test]
fn bytes_announced_and_not_read_stay_within_16_mib() {
    const BLOCK: u64 = 256 << 10;
    let options = PackOptions { chunk: BLOCK, solid_limit: BLOCK - 1, ..PackOptions::default() };
    let options = options.solid(Coding::Copy).chunked(Coding::Copy).dedup_chunked(false);
    let mut builder = Builder::new(options).unwrap();
    let noise = Noise::new(1).bytes(24 << 20);
    builder.add_bytes("one", noise.clone()).unwrap();
    builder.add_bytes("two", noise).unwrap();
    let source = Noting { bytes: builder.to_bytes().unwrap().0, notes: Mutex::default() };
    let archive = Archive::open(source).unwrap();
    let blocks = archive.toc().blocks.len();
    for threads in [1, 3] {
        *archive.source().notes.lock().unwrap() = Notes::default();
        assert!(Verifier::new(&archive).threads(threads).run().unwrap().failures.is_empty());
        let notes = archive.source().notes.lock().unwrap();
        assert_eq!((notes.hints.len(), notes.pending.len()), (blocks, 0), "{threads} threads");
        // A thread announces further blocks before it reads the block that it has taken, so each
        // thread may exceed the window by a block.
        let range = 6 << 20..=(16 << 20) + threads as u64 * BLOCK;
        assert!(range.contains(&notes.most_pending), "{threads} threads: {}", notes.most_pending);
    }
    // If all files are skipped, only the first block taken announces others: 4 MiB.
    let folder = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    *archive.source().notes.lock().unwrap() = Notes::default();
    let done = Extractor::new(&archive).existing(Existing::Skip).to_folder(folder.path()).unwrap();
    assert_eq!(done.skipped.len(), 2);
    let hints = archive.source().notes.lock().unwrap().hints.len();
    assert!(hints <= 17, "{hints}");
}
