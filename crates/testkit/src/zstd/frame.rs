//! Builds zstd frames block by block, together with their content, from the format (RFC 8878). The
//! caller gives the matches, since a match finder would not use every form that the format allows.

use twox_hash::XxHash64;

use super::dictionary::Dictionary;
use super::huffman::Tree;
use super::sequences::{Count, FIELDS, Mode, Sequence, Tables, section};

/// The magic number of frames.
pub const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Largest block, in bytes.
pub const BLOCK: usize = 128 << 10;

/// The fields of a frame's header.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    pub magic: bool,
    /// The window descriptor, a byte. Without one the frame is a single segment.
    pub window: Option<u8>,
    /// The flag that states the width of the content size, 0 to 3.
    pub size_flag: u8,
    /// The flag that states the width of the dictionary's ID, 0 to 3.
    pub id_flag: u8,
    pub id: u32,
    pub checksum: bool,
    /// Bits 3 (reserved) and 4 (unused) of the frame header's descriptor.
    pub spare: u8,
    /// A number to add to the stated content size, to make it wrong.
    pub size_lie: i64,
    /// Bits of the checksum to flip, to make it wrong.
    pub checksum_lie: u32,
}

/// A single segment with a content size field of 4 bytes, which is enough for all frames here.
pub const SINGLE: Header = Header {
    magic: true,
    window: None,
    size_flag: 2,
    id_flag: 0,
    id: 0,
    checksum: false,
    spare: 0,
    size_lie: 0,
    checksum_lie: 0,
};

/// A header with a window of `1 << log` bytes (`log` is at least 10), and no content size.
pub fn windowed(log: u8) -> Header {
    Header { window: Some((log - 10) << 3), size_flag: 0, ..SINGLE }
}

impl Header {
    fn bytes(&self, content: u64) -> Vec<u8> {
        let single = u8::from(self.window.is_none());
        let mut bytes = if self.magic { MAGIC.to_vec() } else { Vec::new() };
        let checksum = u8::from(self.checksum) << 2;
        bytes.push(self.size_flag << 6 | single << 5 | self.spare << 3 | checksum | self.id_flag);
        bytes.extend(self.window);
        let id_width = [0, 1, 2, 4][usize::from(self.id_flag)];
        bytes.extend_from_slice(&self.id.to_le_bytes()[..id_width]);
        let size = content.wrapping_add_signed(self.size_lie);
        let (base, width) = match self.size_flag {
            0 => (0, usize::from(single)),
            1 => (256, 2),
            2 => (0, 4),
            _ => (0, 8),
        };
        let stored = size.wrapping_sub(base);
        assert!(width == 0 || width == 8 || stored >> (8 * width) == 0, "{size} bytes do not fit the flag");
        bytes.extend_from_slice(&stored.to_le_bytes()[..width]);
        bytes
    }
}

/// The literals of a block. The first number is the form of the section's header, 0 to 3, on which
/// the widths of its sizes depend.
#[derive(Clone, Debug)]
pub enum Literals {
    /// Raw literals.
    Raw(u8, Vec<u8>),
    /// A repeated byte, and how often it occurs.
    Rle(u8, u8, usize),
    /// Literals coded with a new tree; form 0 is one stream, forms 1 to 3 are four.
    Coded(u8, Tree, Vec<u8>),
    /// Literals coded with the tree of an earlier block or of the dictionary; streams as in
    /// `Coded`.
    Treeless(u8, Vec<u8>),
}

/// Raw literals in the shortest header.
pub fn plain(bytes: &[u8]) -> Literals {
    let form = match bytes.len() {
        0..32 => 0,
        32..4096 => 1,
        _ => 3,
    };
    Literals::Raw(form, bytes.to_vec())
}

impl Literals {
    fn content(&self) -> Vec<u8> {
        match self {
            Literals::Raw(_, bytes) | Literals::Coded(_, _, bytes) | Literals::Treeless(_, bytes) => {
                bytes.clone()
            }
            Literals::Rle(_, byte, n) => vec![*byte; *n],
        }
    }

    /// The literals section. `tree` is the tree before this block, and becomes the one after it.
    fn section(&self, tree: &mut Option<Tree>) -> Vec<u8> {
        match self {
            Literals::Raw(form, bytes) => [literals_header(0, *form, bytes.len(), 0), bytes.clone()].concat(),
            Literals::Rle(form, byte, n) => [literals_header(1, *form, *n, 0), vec![*byte]].concat(),
            Literals::Coded(form, own, bytes) => {
                *tree = Some(own.clone());
                let body = [own.describe(), own.streams(bytes, streams(*form))].concat();
                [literals_header(2, *form, bytes.len(), body.len()), body].concat()
            }
            Literals::Treeless(form, bytes) => {
                let tree = tree.as_ref().expect("a tree before");
                let body = tree.streams(bytes, streams(*form));
                [literals_header(3, *form, bytes.len(), body.len()), body].concat()
            }
        }
    }
}

fn streams(form: u8) -> usize {
    if form == 0 { 1 } else { 4 }
}

/// The header of a literals section: its type `kind` (0 raw, 1 RLE, 2 coded, 3 treeless), its form,
/// and the sizes of the literals and, for types 2 and 3, of their streams with the tree.
///
/// # Panics
/// If the sizes do not fit the form.
pub fn literals_header(kind: u8, form: u8, regenerated: usize, compressed: usize) -> Vec<u8> {
    let (bytes, width) = match (kind, form) {
        (0 | 1, 0 | 2) => (1, 0),
        (0 | 1, 1) => (2, 0),
        (0 | 1, _) => (3, 0),
        (_, 0 | 1) => (3, 10),
        (_, 2) => (4, 14),
        _ => (5, 18),
    };
    let start = if bytes == 1 { 3 } else { 4 };
    let value = u64::from(kind)
        | u64::from(form) << 2
        | (regenerated as u64) << start
        | (compressed as u64) << (start + width);
    assert!(value >> (8 * bytes) == 0, "sizes that do not fit form {form}");
    value.to_le_bytes()[..bytes].to_vec()
}

/// A block's type, its size field and its bytes.
type Block = (u8, usize, Vec<u8>);

/// A frame under construction.
#[derive(Clone)]
pub struct Frame {
    header: Header,
    blocks: Vec<Block>,
    /// The content of the dictionary, then of the frame.
    history: Vec<u8>,
    /// Number of bytes of the dictionary's content, which `history` begins with.
    before: usize,
    repeats: [u32; 3],
    tree: Option<Tree>,
    tables: Tables,
    /// Whether every match so far begins inside the history, and every block has the literals that
    /// its sequences take.
    sound: bool,
}

impl Frame {
    pub fn new(header: Header) -> Frame {
        Frame {
            header,
            blocks: Vec::new(),
            history: Vec::new(),
            before: 0,
            repeats: [1, 4, 8],
            tree: None,
            tables: [None, None, None],
            sound: true,
        }
    }

    /// A frame that starts with the dictionary's tables, repeat offsets and content.
    pub fn with(header: Header, dictionary: &Dictionary) -> Frame {
        Frame {
            history: dictionary.content.clone(),
            before: dictionary.content.len(),
            repeats: dictionary.repeats,
            tree: dictionary.tree.clone(),
            tables: dictionary.tables(),
            ..Frame::new(header)
        }
    }

    pub fn raw(mut self, bytes: &[u8]) -> Frame {
        self.blocks.push((0, bytes.len(), bytes.to_vec()));
        self.history.extend_from_slice(bytes);
        self
    }

    pub fn rle(mut self, byte: u8, n: usize) -> Frame {
        self.blocks.push((1, n, vec![byte]));
        self.history.resize(self.history.len() + n, byte);
        self
    }

    pub fn compressed(self, literals: Literals, sequences: &[Sequence], modes: [Mode; 3]) -> Frame {
        self.counted(literals, sequences, modes, Count::Shortest)
    }

    /// Adds a compressed block whose sequences use the predefined tables.
    pub fn plain(self, literals: Literals, sequences: &[Sequence]) -> Frame {
        self.compressed(literals, sequences, [Mode::Predefined, Mode::Predefined, Mode::Predefined])
    }

    pub fn counted(
        mut self,
        literals: Literals,
        sequences: &[Sequence],
        modes: [Mode; 3],
        count: Count,
    ) -> Frame {
        let mut body = literals.section(&mut self.tree);
        body.extend(section(sequences, &modes, count, &mut self.tables));
        self.execute(&literals.content(), sequences);
        self.block(2, body.len(), &body)
    }

    /// Adds a block of this type, with `size` in its header and arbitrary bytes after it. The block
    /// counts as one without content.
    pub fn block(mut self, kind: u8, size: usize, body: &[u8]) -> Frame {
        self.blocks.push((kind, size, body.to_vec()));
        self
    }

    fn execute(&mut self, literals: &[u8], sequences: &[Sequence]) {
        let mut rest = literals;
        for sequence in sequences {
            let offset = resolve(&mut self.repeats, sequence) as usize;
            let Some((own, after)) = rest.split_at_checked(sequence.literals as usize) else {
                self.sound = false;
                return;
            };
            self.history.extend_from_slice(own);
            rest = after;
            for _ in 0..sequence.length {
                match self.history.len().checked_sub(offset) {
                    Some(from) if offset > 0 => self.history.push(self.history[from]),
                    _ => {
                        self.sound = false;
                        return;
                    }
                }
            }
        }
        self.history.extend_from_slice(rest);
    }

    /// The repeat offsets with which the next block begins.
    pub fn repeats(&self) -> [u32; 3] {
        self.repeats
    }

    /// Bytes before the next block, including those of the dictionary.
    pub fn history(&self) -> usize {
        self.history.len()
    }

    /// Whether the next block may repeat the table of the field `FIELDS[field]` for these
    /// sequences: whether there is a table, and it has all of their codes.
    pub fn can_repeat(&self, field: usize, sequences: &[Sequence]) -> bool {
        self.tables[field].as_ref().is_some_and(|table| FIELDS[field].fits(table, sequences))
    }

    /// The tree that the next block may use again.
    pub fn tree(&self) -> Option<&Tree> {
        self.tree.as_ref()
    }

    /// Size of the largest block, in bytes: of its body, or of its content if an RLE block has
    /// more.
    pub fn largest_block(&self) -> usize {
        self.blocks.iter().map(|(_, size, body)| body.len().max(*size)).max().unwrap_or(0)
    }

    /// The content of the frame. `None` if a match begins before the history, or literals are
    /// missing.
    pub fn content(&self) -> Option<Vec<u8>> {
        self.sound.then(|| self.history[self.before..].to_vec())
    }

    pub fn bytes(&self) -> Vec<u8> {
        let content = &self.history[self.before..];
        let mut bytes = self.header.bytes(content.len() as u64);
        for (i, (kind, size, body)) in self.blocks.iter().enumerate() {
            let last = usize::from(i + 1 == self.blocks.len());
            let header = last | usize::from(*kind) << 1 | size << 3;
            bytes.extend_from_slice(&header.to_le_bytes()[..3]);
            bytes.extend_from_slice(body);
        }
        if self.header.checksum {
            let checksum = XxHash64::oneshot(0, content) as u32 ^ self.header.checksum_lie;
            bytes.extend_from_slice(&checksum.to_le_bytes());
        }
        bytes
    }
}

/// Returns the offset of a sequence in bytes, and updates the repeat offsets.
pub fn resolve(repeats: &mut [u32; 3], sequence: &Sequence) -> u32 {
    let [a, b, c] = *repeats;
    let shifted = sequence.offset + u32::from(sequence.literals == 0);
    let offset;
    (offset, *repeats) = match (sequence.offset, shifted) {
        (4.., _) => (sequence.offset - 3, [sequence.offset - 3, a, b]),
        (_, 1) => (a, [a, b, c]),
        (_, 2) => (b, [b, a, c]),
        (_, 3) => (c, [c, a, b]),
        _ => (a - 1, [a - 1, a, b]),
    };
    offset
}

/// A skippable frame; `variant` is 0 to 15.
pub fn skippable(variant: u8, body: &[u8]) -> Vec<u8> {
    let magic = 0x184d_2a50 + u32::from(variant);
    [&magic.to_le_bytes()[..], &(body.len() as u32).to_le_bytes(), body].concat()
}
