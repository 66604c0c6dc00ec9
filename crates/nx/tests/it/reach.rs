//! Tests sources with expensive requests. Whatever files are wanted, and however far a read may
//! reach, all files are read, no read is longer than allowed, and no byte is read twice.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::Range;
use std::sync::Mutex;

use linerate_nx::pack::{Coding, PackOptions};
use linerate_nx::{Archive, Extractor, ReadAt};
use proptest::prelude::*;

use crate::cases::cases;
use crate::pack_tree::{pack, tree};

/// A source that records the ranges that were read.
struct Far {
    bytes: Vec<u8>,
    reach: u64,
    reads: Mutex<Vec<Range<u64>>>,
}

impl ReadAt for Far {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.reads.lock().unwrap().push(offset..offset + out.len() as u64);
        self.bytes.read_at(offset, out)
    }

    fn coalesce_limit(&self) -> u64 {
        self.reach
    }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn what_is_wanted_comes_once(
        seed in any::<u64>(),
        wanted in any::<u64>(),
        reach in prop_oneof![Just(1), Just(4096), 5000u64..40_000, Just(1 << 20)],
        threads in 1..5usize,
        twins in any::<bool>(),
    ) {
        let mut options = PackOptions { threads: 1, ..PackOptions::default() };
        (options.chunk, options.solid_limit) = (4096, 2047);
        (options.solid, options.chunked) = (Coding::Copy, Coding::zstd(1));
        (options.dedup_solid, options.dedup_chunked) = (twins, twins);
        let files = tree(seed, 40, &options);
        let bytes = pack(&files, &options).0;
        let archive = Archive::open(Far { bytes, reach, reads: Mutex::default() }).unwrap();
        archive.source().reads.lock().unwrap().clear();

        let is_wanted = |index: usize| wanted >> (index % 64) & 1 == 1;
        let naming = |file: linerate_nx::File<'_>| is_wanted(file.index()).then(|| file.path().to_owned());
        let place = tempfile::tempdir().unwrap();
        let done = Extractor::new(&archive).threads(threads).names(naming).to_folder(place.path()).unwrap();
        prop_assert!(done.failures.is_empty(), "{:?}", done.failures);
        let mut needed = BTreeSet::new();
        for file in archive.files().filter(|file| is_wanted(file.index())) {
            let content = &files.iter().find(|(path, _)| path == file.path()).unwrap().1;
            prop_assert!(&fs::read(place.path().join(file.path())).unwrap() == content);
            if file.size() > 0 {
                needed.extend(file.blocks());
            }
        }

        let mut reads = archive.source().reads.lock().unwrap().clone();
        reads.sort_by_key(|read| read.start);
        prop_assert!(reads.windows(2).all(|pair| pair[0].end <= pair[1].start), "{:?}", reads);
        let span = |block: usize| {
            let at = archive.layout().offset(block);
            at..at + u64::from(archive.toc().blocks[block].compressed)
        };
        for read in &reads {
            let first = needed.iter().map(|&block| span(block)).find(|span| span.start == read.start);
            let first = first.expect("a read begins with a block that is needed");
            prop_assert!(read.end - read.start <= reach || *read == first);
            prop_assert!(needed.iter().any(|&block| span(block).end == read.end), "and ends with one");
        }
    }
}
