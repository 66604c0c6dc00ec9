//! Builds R3A archives field by field from the format's document, without code of `linerate-nx`.

use twox_hash::XxHash3_64;

pub const MAGIC: [u8; 4] = [0x52, 0x33, 0x41, 0x00];
pub const MAGIC_SWAPPED: [u8; 4] = [0x00, 0x41, 0x33, 0x52];

/// The form of an archive's header and table of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Preset 0, 1 or 2.
    Preset(u64),
    /// Preset 3; true if each file has a hash.
    Small(bool),
    /// FEF64, in which the header states the width of each field: whether each file has a hash; the
    /// widths, in bits, of the fields for pool size, files, blocks and offset; and the width that
    /// the header stores as 0, which is 0 or 1.
    Flexible { hashed: bool, pool: u32, files: u32, blocks: u32, offset: u32, zero: u32 },
}

#[derive(Clone, Copy, Debug)]
pub struct FileSpec {
    pub hash: u64,
    pub size: u64,
    pub offset: u64,
    pub path: u64,
    pub block: u64,
}

#[derive(Clone, Debug)]
pub struct Vector {
    pub magic: [u8; 4],
    pub version: u32,
    /// The chunk size, as the header stores it: chunks have `512 << chunk` bytes.
    pub chunk: u32,
    pub shape: Shape,
    pub files: Vec<FileSpec>,
    /// Codec and bytes of each block.
    pub blocks: Vec<(u32, Vec<u8>)>,
    /// The pool of names: the size of their text in 4 bytes, then the text in a frame.
    pub pool: Vec<u8>,
    pub dictionaries: Option<Vec<u8>>,
    pub user_data: Option<Vec<u8>>,
}

/// A zstd frame without magic number, content size and checksum: one raw block of at most 128 KiB,
/// in a window of 2 MiB.
pub fn raw_frame(content: &[u8]) -> Vec<u8> {
    assert!(content.len() <= 128 << 10);
    let header = (content.len() as u32) << 3 | 1;
    [&[0x00, 0x58], &header.to_le_bytes()[..3], content].concat()
}

/// A raw LZ4 block of literals alone, 15 to 269 bytes.
pub fn lz4_literals(content: &[u8]) -> Vec<u8> {
    [&[0xF0, (content.len() - 15) as u8], content].concat()
}

pub fn pool_of(names: &[&str]) -> Vec<u8> {
    let text: Vec<u8> = names.iter().flat_map(|name| [name.as_bytes(), &[0]].concat()).collect();
    [&(text.len() as u32).to_le_bytes()[..], &raw_frame(&text)].concat()
}

/// A segment of dictionaries or of user data: a word of 8 bytes, then `payload` in a raw frame. The
/// word is `top`, with the size of the payload in its lowest `content_bits` bits and the size of
/// the frame above.
pub fn segment(top: u64, content_bits: u32, payload: &[u8]) -> Vec<u8> {
    let frame = raw_frame(payload);
    let word = top | (frame.len() as u64) << content_bits | payload.len() as u64;
    [&word.to_le_bytes()[..], &frame].concat()
}

/// A segment of dictionaries whose payload is stored, not compressed.
pub fn stored_segment(payload: &[u8]) -> Vec<u8> {
    [&(payload.len() as u64).to_le_bytes()[..], payload].concat()
}

/// The payload of a segment of dictionaries. Each run is the number of a dictionary, 255 for none,
/// and the number of consecutive blocks that use it. `last_block` is stored as it is. With
/// `hashed`, the payload has the hash of each dictionary.
pub fn dictionary_payload(
    dictionaries: &[&[u8]],
    runs: &[(u8, u8)],
    last_block: u64,
    hashed: bool,
) -> Vec<u8> {
    let word =
        u64::from(hashed) << 52 | (dictionaries.len() as u64) << 44 | (runs.len() as u64) << 22 | last_block;
    let mut out = word.to_le_bytes().to_vec();
    out.extend(runs.iter().map(|run| run.0));
    out.extend(runs.iter().map(|run| run.1));
    pad(&mut out, 4);
    dictionaries.iter().for_each(|d| out.extend((d.len() as u32).to_le_bytes()));
    if hashed {
        pad(&mut out, 8);
        dictionaries.iter().for_each(|d| out.extend(XxHash3_64::oneshot(d).to_le_bytes()));
    }
    dictionaries.iter().for_each(|d| out.extend(*d));
    out
}

/// The payload of a segment of user data: each extension's ID, its size and its bytes.
pub fn user_payload(extensions: &[(u32, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (id, data) in extensions {
        out.extend(id.to_le_bytes());
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(*data);
        pad(&mut out, 8);
    }
    out
}

pub fn pad(out: &mut Vec<u8>, to: usize) {
    while !out.len().is_multiple_of(to) {
        out.push(0);
    }
}

impl Vector {
    /// The bytes of the archive: the pages of the header, then the blocks. Each block begins on a
    /// page, and the last has no padding.
    pub fn bytes(&self) -> Vec<u8> {
        let mut head = self.tables();
        for part in [&self.dictionaries, &self.user_data].into_iter().flatten() {
            pad(&mut head, 8);
            head.extend(part);
        }
        pad(&mut head, 4096);
        let pages = (head.len() / 4096) as u32;
        let flags = u32::from(self.user_data.is_some()) << 3 | u32::from(self.dictionaries.is_some()) << 2;
        let word = self.version << 25 | self.chunk << 20 | pages << 4 | flags;
        head[4..8].copy_from_slice(&word.to_le_bytes());
        for (_, block) in &self.blocks {
            pad(&mut head, 4096);
            head.extend(block);
        }
        head
    }

    fn tables(&self) -> Vec<u8> {
        let (pool, blocks, files) =
            (self.pool.len() as u64, self.blocks.len() as u64, self.files.len() as u64);
        let mut out = [&self.magic[..], &[0; 4]].concat();
        match self.shape {
            Shape::Preset(n) => out.extend((n << 61 | pool << 40 | blocks << 18 | files).to_le_bytes()),
            Shape::Small(hashed) => {
                let word = 3 << 61 | u64::from(hashed) << 60 | pool << 40 | blocks << 24 | files << 8;
                out.extend(word.to_le_bytes());
            }
            Shape::Flexible { hashed, pool: p, files: f, blocks: b, offset: o, zero } => {
                let width = |width: u32, at: u32| u64::from(width - zero) << at;
                let word = 1 << 63
                    | u64::from(hashed) << 62
                    | width(p, 57)
                    | width(f, 52)
                    | width(b, 47)
                    | width(o, 42);
                let counts = pool << (f + b) | blocks << f | files;
                if p + f + b <= 42 {
                    out.extend((word | counts).to_le_bytes());
                } else {
                    out.extend(word.to_le_bytes());
                    out.extend(counts.to_le_bytes());
                }
            }
        }
        self.files.iter().for_each(|file| self.entry(file, &mut out));
        self.blocks
            .iter()
            .for_each(|(codec, data)| out.extend(((data.len() as u32) << 3 | codec).to_le_bytes()));
        out.extend(&self.pool);
        out
    }

    fn entry(&self, file: &FileSpec, out: &mut Vec<u8>) {
        let word = file.offset << 40 | file.path << 22 | file.block;
        match self.shape {
            Shape::Preset(0) => {
                out.extend(file.hash.to_le_bytes());
                out.extend((file.size as u32).to_le_bytes());
                out.extend(word.to_le_bytes());
            }
            Shape::Preset(1) => {
                out.extend((file.size as u32).to_le_bytes());
                out.extend(word.to_le_bytes());
            }
            Shape::Preset(_) => {
                out.extend(file.hash.to_le_bytes());
                out.extend(file.size.to_le_bytes());
                out.extend(word.to_le_bytes());
            }
            Shape::Small(hashed) => {
                if hashed {
                    out.extend(file.hash.to_le_bytes());
                }
                out.extend((file.size as u32).to_le_bytes());
                out.extend(((file.path as u32) << 16 | file.block as u32).to_le_bytes());
            }
            Shape::Flexible { hashed, files: f, blocks: b, offset: o, .. } => {
                if hashed {
                    out.extend(file.hash.to_le_bytes());
                }
                let word = file.size << (o + f + b) | file.offset << (f + b) | file.path << b | file.block;
                out.extend(word.to_le_bytes());
            }
        }
    }
}

/// Names and contents of the files in [`example`], sorted by name.
pub fn example_files() -> Vec<(&'static str, Vec<u8>)> {
    let bytes = |len: usize, seed: usize| (0..len).map(|i| (i * i / 7 + seed * i) as u8).collect();
    vec![
        ("a/one.txt", bytes(300, 1)),
        ("a/zwei – 二.txt", bytes(200, 2)),
        ("big.bin", bytes(2500, 3)),
        ("empty", Vec::new()),
        ("z.lz4", bytes(100, 5)),
    ]
}

/// An archive of [`example_files`], with chunks of 1 KiB. `big.bin` spans three blocks. Two files
/// share a block unless the form is preset 3, which has no offsets. Entries are not sorted by name.
pub fn example(shape: Shape) -> Vector {
    let solid = !matches!(shape, Shape::Small(_));
    let files = example_files();
    let content = |i: usize| &files[i].1[..];
    let first = if solid { [content(0), content(1)].concat() } else { content(0).to_vec() };
    let mut blocks = vec![
        (1, raw_frame(&first)),
        (1, raw_frame(&content(2)[..1024])),
        (0, content(2)[1024..2048].to_vec()),
        (1, raw_frame(&content(2)[2048..])),
        (2, lz4_literals(content(4))),
    ];
    if !solid {
        blocks.push((0, content(1).to_vec()));
    }
    let spec = |path: usize, block, offset| FileSpec {
        hash: XxHash3_64::oneshot(content(path)),
        size: content(path).len() as u64,
        offset,
        path: path as u64,
        block,
    };
    let second = if solid { spec(1, 0, 300) } else { spec(1, 5, 0) };
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    Vector {
        magic: MAGIC,
        version: 1,
        chunk: 1,
        shape,
        files: vec![spec(4, 4, 0), spec(2, 1, 0), second, spec(0, 0, 0), spec(3, 0, 0)],
        blocks,
        pool: pool_of(&names),
        dictionaries: None,
        user_data: None,
    }
}

/// Every form: the four presets, preset 3 with and without hashes, and FEF64 with and without.
/// FEF64 occurs with counts of 42 bits, which share a word with the widths of the fields, and of 43
/// bits, which have a word of their own. `zero` is the field of [`Shape::Flexible`].
pub fn shapes(zero: u32) -> Vec<Shape> {
    let flexible = |hashed, pool| Shape::Flexible { hashed, pool, files: 11, blocks: 11, offset: 12, zero };
    vec![
        Shape::Preset(0),
        Shape::Preset(1),
        Shape::Preset(2),
        Shape::Small(false),
        Shape::Small(true),
        flexible(false, 20),
        flexible(true, 20),
        flexible(false, 21),
        flexible(true, 21),
    ]
}

pub fn is_hashed(shape: Shape) -> bool {
    !matches!(shape, Shape::Preset(1) | Shape::Small(false) | Shape::Flexible { hashed: false, .. })
}
