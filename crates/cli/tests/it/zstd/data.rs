//! Frames to decompress: stored ones, and those of `testdata/zstd`.

use std::fs;
use std::path::{Path, PathBuf};

/// A frame of a single segment with raw blocks of `content`. Its header states the content size.
pub(crate) fn stored(content: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000];
    frame.extend_from_slice(&(content.len() as u32).to_le_bytes());
    frame.extend(blocks(content, content.len()));
    frame
}

/// A frame with raw blocks of `content`, whose header states a window of `1 << log` bytes and no
/// content size.
pub(crate) fn windowed(log: u8, content: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3];
    frame.extend(blocks(content, 1 << log));
    frame
}

fn blocks(content: &[u8], window: usize) -> Vec<u8> {
    let size = window.clamp(1, 128 << 10);
    let mut blocks: Vec<&[u8]> = content.chunks(size).collect();
    if blocks.is_empty() {
        blocks.push(&[]);
    }
    let last = blocks.len() - 1;
    let with_header = |(i, block): (usize, &&[u8])| {
        let header = block.len() << 3 | usize::from(i == last);
        [&header.to_le_bytes()[..3], block].concat()
    };
    blocks.iter().enumerate().flat_map(with_header).collect()
}

/// A skippable frame.
pub(crate) fn skippable(content: &[u8]) -> Vec<u8> {
    [&[0x55, 0x2a, 0x4d, 0x18][..], &(content.len() as u32).to_le_bytes(), content].concat()
}

pub(crate) fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// The files of a folder in `testdata` that have this extension.
pub(crate) fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(testdata().join(folder)).expect("a folder of testdata");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == extension));
    paths.sort();
    assert!(!paths.is_empty());
    paths
}
