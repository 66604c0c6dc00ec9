//! Makes archives that no packer would write, from the parts of the engine.

use linerate_nx::{Block, ChunkSize, Codec, Entry, HashKind, Header, PAGE, StringPool, Toc, TocForm};

/// An archive of stored blocks, one per file, with any paths, in this order.
pub(crate) fn stored(files: &[(&str, &[u8])]) -> Vec<u8> {
    let pool = StringPool::encode(files.iter().map(|(path, _)| *path)).expect("a pool");
    let entry = |(i, (_, bytes)): (usize, &(&str, &[u8]))| Entry {
        hash: HashKind::Xxh3.hash_bytes(bytes),
        size: bytes.len() as u64,
        path: i as u32,
        first_block: i as u32,
        block_offset: 0,
    };
    let toc = Toc {
        entries: files.iter().enumerate().map(entry).collect(),
        blocks: files
            .iter()
            .map(|(_, bytes)| Block { compressed: bytes.len() as u32, codec: Codec::Copy, filtered: false })
            .collect(),
    };
    let chunk = ChunkSize::from_bytes(1 << 20).expect("a chunk size");
    let header = Header::new(chunk, TocForm::Short, pool.len(), files.len(), files.len());
    let header = header.expect("a header");
    let mut archive = header.write().to_vec();
    toc.write(header.form, &mut archive);
    archive.extend_from_slice(&pool);
    archive.resize(header.bytes() as usize, 0);
    for (_, bytes) in files {
        archive.extend_from_slice(bytes);
        archive.resize(archive.len().next_multiple_of(PAGE as usize), 0);
    }
    archive
}
