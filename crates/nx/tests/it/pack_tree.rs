//! Makes trees of files for tests. They have a few kinds of content, so that some content occurs
//! twice.

#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use linerate_nx::Archive;
use linerate_nx::pack::{Builder, PackOptions, Summary};

/// A generator of numbers that look random and are always the same.
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Noise {
        Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 20
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// Returns content of a kind: 0 noise, 1 text, 2 zeros, 3 slow gradients with noise.
pub(crate) fn content(kind: usize, seed: u64, len: usize) -> Vec<u8> {
    const WORDS: [&[u8]; 8] =
        [b"vertex ", b"normal ", b"the ", b"light ", b"of ", b"0.125 ", b"1.0\n", b"shade "];
    let mut noise = Noise::new(seed);
    let mut out = Vec::with_capacity(len + 8);
    while out.len() < len {
        match kind {
            0 => out.extend_from_slice(&noise.next().to_le_bytes()[..5]),
            1 => out.extend_from_slice(WORDS[noise.below(WORDS.len())]),
            2 => out.push(0),
            _ => out.push((out.len() / 64) as u8 ^ (noise.below(4) as u8)),
        }
    }
    out.truncate(len);
    out
}

/// A file of a tree.
pub(crate) type TreeFile = (String, Vec<u8>);

/// Returns about `count` files with sizes around the limits of `options`. Some are equal, empty, or
/// share chunks with others.
pub(crate) fn tree(seed: u64, count: usize, options: &PackOptions) -> Vec<TreeFile> {
    let mut noise = Noise::new(seed);
    let (chunk, solid) = (options.chunk as usize, options.solid_limit as usize);
    let mut files: Vec<TreeFile> = Vec::new();
    for i in 0..count {
        let len = match noise.below(12) {
            0 => 0,
            1 => 1,
            2 => solid + noise.below(3) - usize::from(solid > 0),
            3 => chunk - 1 + noise.below(3),
            4 => chunk * (1 + noise.below(3)) + noise.below(3) - 1,
            5 => chunk * 2 + chunk / 2,
            _ => noise.below(solid / 4 + 200),
        };
        let (kind, seed) = (noise.below(4), noise.below(6) as u64);
        let mut bytes = content(kind, seed, len);
        if !files.is_empty() && noise.below(4) == 0 {
            bytes = derived(&files[noise.below(files.len())].1, noise.below(4), chunk);
        }
        let extension = [".dds", ".txt", ".TXT", ".bin", ""][noise.below(5)];
        files.push((format!("d{}/é {}/f{i}{extension}", noise.below(3), noise.below(2)), bytes));
    }
    files
}

/// Returns all but the first chunk of the bytes, the first chunk, the bytes with one bit changed,
/// or the same bytes.
fn derived(bytes: &[u8], how: usize, chunk: usize) -> Vec<u8> {
    match how {
        0 if bytes.len() > chunk => bytes[chunk..].to_vec(),
        1 if bytes.len() > chunk => bytes[..chunk].to_vec(),
        2 if !bytes.is_empty() => {
            let mut changed = bytes.to_vec();
            changed[bytes.len() - 1] ^= 1;
            changed
        }
        _ => bytes.to_vec(),
    }
}

pub(crate) fn write_tree(folder: &Path, files: &[TreeFile]) {
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("writable");
        fs::write(path, bytes).expect("writable");
    }
}

pub(crate) fn pack(files: &[TreeFile], options: &PackOptions) -> (Vec<u8>, Summary) {
    let mut builder = Builder::new(options.clone()).expect("options");
    for (name, bytes) in files {
        builder.add_bytes(name.as_str(), bytes.as_slice()).expect("a new path");
    }
    builder.to_bytes().expect("packable")
}

pub(crate) type Bytes = Arc<Archive<Vec<u8>>>;

pub(crate) fn open(bytes: Vec<u8>) -> Bytes {
    Arc::new(Archive::open(bytes).expect("an archive"))
}

pub(crate) fn contents(archive: &Bytes) -> Vec<TreeFile> {
    archive.files().map(|file| (file.path().to_owned(), archive.read(file).expect("readable"))).collect()
}

/// Checks that the archive has exactly these files, and has its entries in the order that other
/// programs need to repack it.
pub(crate) fn assert_holds(archive: Vec<u8>, files: &[TreeFile]) {
    assert_eq!(linerate_testkit::nx::disorder(&archive), [""; 0]);
    let archive = Archive::open(archive).expect("an archive");
    assert_eq!(archive.len(), files.len());
    let mut reader = archive.reader().expect("a reader");
    for (name, bytes) in files {
        let file = archive.find(name).expect("every path");
        assert!(reader.read(file).expect("readable") == *bytes, "{name}");
    }
}
