//! Hints to the source of what will be read.
use std::io;
use std::sync::Mutex;

use linerate_nx::pack::{Builder, PackOptions};
use linerate_nx::{Archive, ReadAt, Verifier};
use linerate_testkit::data::Noise;

/// Bytes that note which of them will be read.
struct Noting {
    bytes: Vec<u8>,
    hints: Mutex<Vec<(u64, u64)>>,
}

impl ReadAt for Noting {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.bytes.read_at(offset, out)
    }

    fn will_read(&self, offset: u64, len: u64) {
        self.hints.lock().unwrap().push((offset, len));
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
    let source = Noting { bytes: builder.to_bytes().unwrap().0, hints: Mutex::default() };
    let archive = Archive::open(source).unwrap();
    let blocks = &archive.toc().blocks;
    let expected: Vec<(u64, u64)> =
        (0..blocks.len()).map(|i| (archive.layout().offset(i), blocks[i].compressed.into())).collect();
    assert!(expected.len() > 50);
    for threads in [1, 3] {
        assert!(Verifier::new(&archive).threads(threads).run().unwrap().failures.is_empty());
        let mut hints = std::mem::take(&mut *archive.source().hints.lock().unwrap());
        hints.sort_unstable();
        assert_eq!(hints, expected, "{threads} threads");
    }
}
