//! Makes valid zstd frames with random parts: headers, trees, tables and matches that no encoder
//! would choose. A seed always gives the same frame.

use super::dictionary::Dictionary;
use super::frame::{Frame, Header, Literals, SINGLE, plain, resolve, windowed};
use super::huffman::{Form, Tree};
use super::sequences::{FIELDS, Mode, Sequence};
use super::vectors::dictionaries;
use crate::data::Noise;

/// A frame, the dictionary that it needs (empty if none), and its content.
pub struct RandomFrame {
    pub bytes: Vec<u8>,
    pub dictionary: Vec<u8>,
    pub content: Vec<u8>,
}

/// Makes the frame of a seed, with 1 to `most` blocks.
pub fn random_frame(seed: u64, most: usize) -> RandomFrame {
    let mut noise = Noise::new(seed);
    let all = dictionaries();
    let dictionary = (noise.below(3) == 0).then(|| all[noise.below(all.len())].1.clone());
    let log = 10 + noise.below(8) as u8;
    let id_flag = if noise.below(2) == 0 { 0 } else { 3 };
    let id = dictionary.as_ref().map_or(0, |dictionary| dictionary.id);
    let common = Header { checksum: noise.below(2) == 0, id_flag, id, ..SINGLE };
    let window = Header { window: windowed(log).window, size_flag: noise.below(2) as u8 * 2, ..common };
    let start = noise.clone();
    let frame = blocks(&mut start.clone(), window, dictionary.as_ref(), 1 << log, most);
    // In a single segment, no block may be larger than the content.
    let is_small = frame.largest_block() <= frame.content().map_or(0, |content| content.len());
    let frame = if noise.below(2) == 0 && is_small && frame.history() < 1 << log {
        blocks(&mut start.clone(), common, dictionary.as_ref(), 1 << log, most)
    } else {
        frame
    };
    RandomFrame {
        bytes: frame.bytes(),
        dictionary: dictionary.map(|dictionary| dictionary.bytes()).unwrap_or_default(),
        content: frame.content().unwrap_or_else(|| panic!("seed {seed}: a match reaches nothing")),
    }
}

fn blocks(
    noise: &mut Noise,
    header: Header,
    dictionary: Option<&Dictionary>,
    window: usize,
    most: usize,
) -> Frame {
    let mut frame =
        dictionary.map_or_else(|| Frame::new(header), |dictionary| Frame::with(header, dictionary));
    for _ in 0..1 + noise.below(most) {
        // So small that a compressed block with all its descriptions stays below the block limit.
        let size = skewed(noise, 14).min(window / 4);
        frame = match noise.below(8) {
            0 => frame.raw(&noise.bytes(size)),
            1 => frame.rle(noise.below(256) as u8, size),
            _ => compressed(noise, frame, window, size),
        };
    }
    frame
}

/// Adds a compressed block with content of at most 2 x `size` bytes.
fn compressed(noise: &mut Noise, frame: Frame, window: usize, size: usize) -> Frame {
    let share = 1 + noise.below(4);
    let literals = literals(noise, &frame, size / share);
    let count = skewed(noise, 10).min(size / 6);
    let sequences = sequences(noise, &frame, window, content_len(&literals), count, size);
    let modes = [0, 1, 2].map(|field| mode(noise, &frame, field, &sequences));
    frame.compressed(literals, &sequences, modes)
}

/// A number below 2^`bits`. Small numbers are more frequent.
fn skewed(noise: &mut Noise, bits: usize) -> usize {
    let most = 1 << (1 + noise.below(bits));
    noise.below(most)
}

fn content_len(literals: &Literals) -> usize {
    match literals {
        Literals::Rle(_, _, n) => *n,
        Literals::Raw(_, bytes) | Literals::Coded(_, _, bytes) | Literals::Treeless(_, bytes) => bytes.len(),
    }
}

fn literals(noise: &mut Noise, frame: &Frame, n: usize) -> Literals {
    let form = match noise.below(2) {
        0 if n <= 500 => 0,
        _ if n < 6 => 0,
        _ if n <= 500 => 1 + noise.below(3) as u8,
        _ if n <= 8000 => 2 + noise.below(2) as u8,
        _ => 3,
    };
    match (noise.below(6), frame.tree()) {
        (0, _) => plain(&noise.bytes(n)),
        (1, _) => Literals::Rle(if n < 32 { 0 } else { 3 }, noise.below(256) as u8, n),
        _ if n == 0 => plain(&[]),
        (2 | 3, Some(tree)) => Literals::Treeless(form, symbols(noise, tree, n)),
        _ => {
            let tree = tree(noise);
            let bytes = symbols(noise, &tree, n);
            Literals::Coded(form, tree, bytes)
        }
    }
}

/// Random symbols of a tree; symbols with short codes are more frequent.
fn symbols(noise: &mut Noise, tree: &Tree, n: usize) -> Vec<u8> {
    let present = (0..tree.weights.len()).filter(|&symbol| tree.weights[symbol] > 0);
    let cells: Vec<u8> =
        present.flat_map(|symbol| vec![symbol as u8; 1 << (tree.weights[symbol] - 1)]).collect();
    (0..n).map(|_| cells[noise.below(cells.len())]).collect()
}

/// A tree of 2 to 60 neighbouring symbols, made by splitting random leaves.
fn tree(noise: &mut Noise) -> Tree {
    let longest = 1 + noise.below(11) as u8;
    let count = 2 + noise.below((1 << longest).min(60) - 1);
    let mut lens = vec![1u8, 1];
    while lens.len() < count {
        let at = noise.below(lens.len());
        if lens[at] < longest {
            lens[at] += 1;
            lens.insert(at, lens[at]);
        }
    }
    let depth = lens.iter().copied().max().expect("two leaves");
    let first = noise.below(257 - lens.len());
    let mut weights = vec![0; first];
    weights.extend(lens.iter().map(|len| depth + 1 - len));
    // The last weight is not stored. The direct form has room for 128 weights, and the FSE form
    // needs at least two.
    let form = match weights.len() {
        0..3 => Form::Direct,
        3..130 if noise.below(2) == 0 => Form::Direct,
        _ => Form::Fse(5 + noise.below(2) as u32),
    };
    Tree { weights, form }
}

/// At most `count` sequences with at most `literals` bytes of literals and at most `most` bytes of
/// matches in total. The matches begin inside the history and inside the window.
fn sequences(
    noise: &mut Noise,
    frame: &Frame,
    window: usize,
    mut literals: usize,
    count: usize,
    most: usize,
) -> Vec<Sequence> {
    let (mut repeats, mut at, mut left) = (frame.repeats(), frame.history(), most);
    let longest = 1usize << noise.below(14);
    let farthest = 1usize << (1 + noise.below(17));
    let uniform = noise.below(8) == 0;
    let mut sequences = Vec::new();
    for _ in 0..count {
        let own = if uniform { 1.min(literals) } else { skewed(noise, 8).min(literals) };
        let length = if uniform { 5 } else { 3 + noise.below(longest) };
        let reach = window.min(at + own).min(farthest.max(1));
        if length > left || reach == 0 {
            break;
        }
        let sequence =
            |offset: usize| Sequence { literals: own as u32, offset: offset as u32, length: length as u32 };
        let repeat = sequence(1 + noise.below(3));
        let mut after = repeats;
        let again = resolve(&mut after, &repeat) as usize;
        let chosen = if noise.below(3) == 0 && (1..=window.min(at + own)).contains(&again) {
            repeat
        } else {
            sequence(4 + noise.below(reach))
        };
        resolve(&mut repeats, &chosen);
        sequences.push(chosen);
        (at, left, literals) = (at + own + length, left - length, literals - own);
    }
    sequences
}

fn mode(noise: &mut Noise, frame: &Frame, field: usize, sequences: &[Sequence]) -> Mode {
    // The smallest log with at least as many cells as the field has codes, and the largest allowed.
    let (least, most) = [(6, 9), (5, 8), (6, 9)][field];
    match noise.below(5) {
        0 if FIELDS[field].is_uniform(sequences) => Mode::Rle,
        0 | 1 if frame.can_repeat(field, sequences) => Mode::Repeat,
        2 => Mode::Predefined,
        _ => Mode::Fse((least + noise.below(most - least + 1)) as u32),
    }
}
