//! Tests that an update decodes each block of the archive once, however its files are spread over
//! blocks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use linerate_nx::pack::{Builder, Coding, FileOptions, PackOptions};
use linerate_nx::{Archive, ReadAt};

use crate::pack_tree::{TreeFile, content, pack, tree, write_tree};

/// Longest header of a zstd frame in bytes. A read of at most this length is not for decoding.
const FRAME_HEADER: usize = 18;

/// A source that counts the reads at each offset.
struct Counting {
    bytes: Vec<u8>,
    reads: Arc<Mutex<BTreeMap<u64, usize>>>,
}

impl ReadAt for Counting {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        if out.len() > FRAME_HEADER {
            *self.reads.lock().unwrap().entry(offset).or_default() += 1;
        }
        self.bytes.read_at(offset, out)
    }
}

/// Returns small files that lie in other blocks than their neighbours, larger files, and equal
/// files of both kinds.
fn files(options: &PackOptions) -> Vec<TreeFile> {
    let mut files = tree(5, 60, options);
    files.extend((0..300).map(|i| (format!("small/{i:03}"), content(1, i % 7, 100 + i as usize))));
    files.extend((0..3).map(|i| (format!("equal/{i}"), content(1, 50, 20_000))));
    files.extend((0..3).map(|i| (format!("equal/small {i}"), content(1, 51, 900))));
    files
}

#[test]
fn update_of_an_unchanged_folder_decodes_each_block_once() {
    let mut options = PackOptions::default();
    (options.chunk, options.solid_limit) = (4096, 4095);
    (options.solid, options.chunked) = (Coding::zstd(3), Coding::zstd(3));
    let files = files(&options);
    let bytes = pack(&files, &options).0;
    let folder = tempfile::tempdir().expect("a folder");
    write_tree(folder.path(), &files);
    // In the second round, half of the files are not in the folder, and stay in the archive.
    let whole = tempfile::tempdir().expect("a folder");
    write_tree(whole.path(), &files[..files.len() / 2]);
    for (folder, unchanged) in [(&folder, files.len()), (&whole, files.len() / 2)] {
        for threads in [1, 3] {
            let reads = Arc::new(Mutex::new(BTreeMap::new()));
            let archive = Counting { bytes: bytes.clone(), reads: Arc::clone(&reads) };
            let archive = Arc::new(Archive::open(archive).expect("an archive"));
            reads.lock().unwrap().clear();
            let options = PackOptions { threads, ..options.clone() };
            let choose = |_: &str| Some(FileOptions::default());
            let updated = Builder::update(options, &archive, folder.path(), choose, false);
            let (builder, changes, _) = updated.expect("readable");
            assert_eq!(changes.unchanged, unchanged as u64);
            assert!(changes.added.is_empty() && changes.replaced.is_empty());
            builder.dry_run().expect("packable");
            let reads = reads.lock().unwrap();
            let twice: Vec<_> = reads.iter().filter(|(_, count)| **count > 1).collect();
            assert!(twice.is_empty(), "{threads} threads: {twice:?} of {} blocks", reads.len());
            let blocks =
                archive.toc().blocks.iter().filter(|block| block.compressed > FRAME_HEADER as u32).count();
            assert_eq!(reads.len(), blocks, "every block is verified");
        }
    }
}
