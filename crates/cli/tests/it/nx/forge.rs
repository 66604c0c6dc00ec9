//! Makes archives that no packer would write, from the parts of the engine.

use linerate_nx::{Block, ChunkSize, Codec, Entry, HashKind, Header, PAGE, StringPool, Toc, TocForm};

/// An archive of stored blocks, one per file, with any paths, in this order.
pub(crate) fn stored(files: &[(&str, &[u8])]) -> Vec<u8> {
    let entry = |(i, (_, bytes)): (usize, &(&str, &[u8]))| entry(i, bytes, i);
    let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    let blocks: Vec<&[u8]> = files.iter().map(|(_, bytes)| *bytes).collect();
    archive(&paths, files.iter().enumerate().map(entry).collect(), &blocks)
}

/// An archive of `count` files with the same content, all in one stored block.
pub(crate) fn repeated(content: &[u8], count: usize) -> Vec<u8> {
    let paths: Vec<String> = (0..count).map(|i| i.to_string()).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let one = entry(0, content, 0);
    archive(&paths, (0..count).map(|i| Entry { path: i as u32, ..one }).collect(), &[content])
}

fn entry(path: usize, content: &[u8], block: usize) -> Entry {
    Entry {
        hash: HashKind::Xxh3.hash_bytes(content),
        size: content.len() as u64,
        path: path as u32,
        first_block: block as u32,
        block_offset: 0,
    }
}

/// An archive of these entries and stored blocks, with chunks of 1 MiB.
fn archive(paths: &[&str], entries: Vec<Entry>, blocks: &[&[u8]]) -> Vec<u8> {
    let pool = StringPool::encode(paths.iter().copied()).expect("a pool");
    let block = |bytes: &&[u8]| Block { compressed: bytes.len() as u32, codec: Codec::Copy, filtered: false };
    let toc = Toc { entries, blocks: blocks.iter().map(block).collect() };
    let chunk = ChunkSize::from_bytes(1 << 20).expect("a chunk size");
    let header = Header::new(chunk, TocForm::Short, pool.len(), blocks.len(), paths.len());
    let header = header.expect("a header");
    let mut archive = header.write().to_vec();
    toc.write(header.form, &mut archive);
    archive.extend_from_slice(&pool);
    archive.resize(header.bytes() as usize, 0);
    for bytes in blocks {
        archive.extend_from_slice(bytes);
        archive.resize(archive.len().next_multiple_of(PAGE as usize), 0);
    }
    archive
}
