//! Test vectors: frames, built field by field, with the forms that the zstd format (RFC 8878)
//! allows, and frames that violate its rules.

use super::dictionary::{Dictionary, even};
use super::frame::{BLOCK, Frame, Header, Literals, SINGLE, literals_header, plain, skippable, windowed};
use super::fse::describe;
use super::huffman::{Form, Tree, direct};
use super::sequences::{
    Count, Mode, Sequence, again, copy, count_bytes, default_lengths, default_literals, default_offsets,
};

/// A test vector: bytes to decode, and the name of the dictionary in [`dictionaries`].
pub struct Vector {
    pub name: String,
    pub bytes: Vec<u8>,
    pub dictionary: Option<&'static str>,
    /// Whether the frames have no magic numbers.
    pub magicless: bool,
    /// The expected content; `None` for an invalid frame.
    pub content: Option<Vec<u8>>,
}

const PREDEFINED: [Mode; 3] = [Mode::Predefined, Mode::Predefined, Mode::Predefined];
const REPEAT: [Mode; 3] = [Mode::Repeat, Mode::Repeat, Mode::Repeat];
const NONE: &[Sequence] = &[];

/// Bytes of a recognisable pattern.
pub fn letters(n: usize) -> Vec<u8> {
    (0..n as u64).map(|i| b'a' + (i * i / 3 + i) as u8 % 26).collect()
}

/// `n` bytes of `kinds` values, `first` and those above it. Lower values are more frequent.
pub fn few(first: u8, kinds: u8, n: usize) -> Vec<u8> {
    let kind =
        |i: u64| (i.wrapping_mul(2_654_435_761) >> 7 | 1 << 20).trailing_zeros().min(u32::from(kinds) - 1);
    (0..n as u64).map(|i| first + kind(i) as u8).collect()
}

/// The dictionaries of the vectors, with their names.
pub fn dictionaries() -> Vec<(&'static str, Dictionary)> {
    let text = letters(3000);
    let tree = Tree::flat(b'a' - 1, 5, Form::Fse(5));
    let full = Dictionary::full(0x8123, tree, &text);
    let mut wide = full.clone().with_log(9);
    wide.id = 7;
    wide.repeats = [3000, 2, 77];
    let mut small = full.clone().with_log(5);
    small.id = 0xfeed_beef;
    let tall = Dictionary { id: 300, tree: Some(Tree::skewed(b'a', 11, Form::Direct)), ..full.clone() };
    vec![
        ("raw", Dictionary::raw(&text[..1000])),
        ("raw-8", Dictionary::raw(&text[..8])),
        ("full", full),
        ("logs-9", wide),
        ("logs-5", small),
        ("tree-11", tall),
    ]
}

pub fn dictionary(name: &str) -> Dictionary {
    dictionaries().into_iter().find(|row| row.0 == name).expect("a dictionary of that name").1
}

fn vector(name: &str, frame: &Frame) -> Vector {
    Vector {
        name: name.into(),
        bytes: frame.bytes(),
        dictionary: None,
        magicless: false,
        content: Some(frame.content().unwrap_or_else(|| panic!("{name} is not sound"))),
    }
}

/// The valid vectors.
pub fn good() -> Vec<Vector> {
    [
        headers(),
        joined(),
        blocks(),
        literals(),
        modes(),
        counts(),
        repeats(),
        reaches(),
        extremes(),
        with_dictionaries(),
        published(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn headers() -> Vec<Vector> {
    let mut all = Vec::new();
    let mut add = |name: String, header: Header, content: usize| {
        all.push(vector(&name, &Frame::new(header).raw(&letters(content))));
    };
    for (flag, content) in [(0, 0), (0, 1), (0, 255), (1, 256), (1, 700), (2, 5), (3, 5)] {
        add(format!("header-single-size-{flag}-of-{content}"), Header { size_flag: flag, ..SINGLE }, content);
    }
    for (flag, content) in [(0, 40), (1, 256), (2, 0), (2, 40), (3, 40)] {
        add(
            format!("header-window-size-{flag}-of-{content}"),
            Header { size_flag: flag, ..windowed(10) },
            content,
        );
    }
    for byte in [0, 1, 7, 8, 0x51, 0x80] {
        add(format!("header-window-byte-{byte:02x}"), Header { window: Some(byte), ..windowed(10) }, 33);
    }
    for flag in 1..4 {
        add(format!("header-id-{flag}-of-0"), Header { id_flag: flag, ..SINGLE }, 9);
    }
    add("header-unused-bit".into(), Header { spare: 2, ..SINGLE }, 9);
    for (name, header) in [("single", SINGLE), ("window", windowed(10))] {
        let header = Header { checksum: true, ..header };
        add(format!("checksum-{name}"), header, 100);
        add(format!("checksum-{name}-of-nothing"), header, 0);
    }
    for (name, header) in [("single", SINGLE), ("window", Header { checksum: true, ..windowed(10) })] {
        let frame = Frame::new(Header { magic: false, ..header }).raw(&letters(60)).rle(7, 40);
        all.push(Vector { magicless: true, ..vector(&format!("magicless-{name}"), &frame) });
    }
    all
}

/// Several frames in a row.
fn joined() -> Vec<Vector> {
    let one = Frame::new(SINGLE).raw(b"one ");
    let two = Frame::new(Header { checksum: true, ..windowed(10) }).plain(plain(b"two"), &[copy(3, 3, 9)]);
    let row = |name: &str, parts: &[&[u8]], content: Vec<u8>| Vector {
        name: name.into(),
        bytes: parts.concat(),
        dictionary: None,
        magicless: false,
        content: Some(content),
    };
    let contents = [one.content().unwrap(), two.content().unwrap()];
    let (a, b) = (one.bytes(), two.bytes());
    let both = contents.concat();
    let mut all = vec![
        row("frames-two", &[&a, &b], both.clone()),
        row("frames-three", &[&b, &a, &b], [&contents[1][..], &both].concat()),
        row("skippable-alone", &[&skippable(0, b"not to be seen")], vec![]),
        row("skippable-empty", &[&skippable(3, b"")], vec![]),
        row(
            "skippable-all-around",
            &[&skippable(1, b"x"), &a, &skippable(15, b"yz"), &b, &skippable(8, b"")],
            both,
        ),
    ];
    let every: Vec<u8> = (0..16).flat_map(|variant| skippable(variant, &[variant; 5])).collect();
    all.push(row("skippable-every-number", &[&every, &a], contents[0].clone()));
    // The second frame begins with the initial repeat offsets (1, 4 and 8), and without the tables
    // of the first.
    let tree = Tree::skewed(b'a', 4, Form::Direct);
    let odd = Frame::new(windowed(10)).compressed(
        Literals::Coded(0, tree, few(b'a', 5, 40)),
        &[copy(20, 19, 5), copy(10, 17, 4), copy(1, 13, 4)],
        [Mode::Fse(5), Mode::Fse(5), Mode::Fse(5)],
    );
    let anew = Frame::new(windowed(10)).plain(plain(b"abcdefghi"), &[again(9, 3, 4), again(0, 3, 4)]);
    let contents = [odd.content().unwrap(), anew.content().unwrap()].concat();
    all.push(row("frames-begin-anew", &[&odd.bytes(), &anew.bytes()], contents));
    all
}

/// Valid frames, byte for byte, that were published because older decoders failed on them.
fn published() -> Vec<Vector> {
    const MIXED: &[u8] = &[
        0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x27, 0xc5, 0, 0, 0x80, 0xf3, 0xf1, 0xf0, 0xec, 0xeb, 0xc6, 0xc5, 0xc7,
        0xf0, 0x9d, 0x43, 0, 0, 0, 0xe0, 0xe0, 0x06, 0x58, 0x01, 0x00, 0x60, 0x3e, 0x52,
    ];
    let runs =
        [(0xf3, 5), (0xf1, 5), (0xf0, 5), (0xec, 5), (0xeb, 5), (0xc6, 4)].map(|(byte, n)| vec![byte; n]);
    let mixed = [&runs.concat()[..], &[0xc5, 0xc7, 0xf0, 0x9d, 0x43, 0, 0, 0, 0xe0, 0xe0]].concat();
    let zeros = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, 1, 0, 2, 0, 2, 0, 0x10, 0, 0x0b, 0, 0];
    let row = |name: &str, bytes: &[u8], content| Vector {
        name: name.into(),
        bytes: bytes.to_vec(),
        dictionary: None,
        magicless: false,
        content: Some(content),
    };
    vec![
        row("published-rle-block-of-128k", &[&zeros[..], &[0]].concat(), vec![0; 131_073]),
        row("published-table-of-2-bytes", MIXED, mixed),
    ]
}

fn blocks() -> Vec<Vector> {
    let start = || Frame::new(windowed(18));
    let many = (0..200u8).fold(start(), |frame, i| frame.raw(&[i]).rle(i, usize::from(i % 3)));
    vec![
        vector("block-raw-of-nothing", &start().raw(b"")),
        vector("block-rle-of-nothing", &start().rle(b'x', 0)),
        vector("block-raw-full", &start().raw(&letters(BLOCK)).raw(b"end")),
        vector("block-rle-full", &start().rle(b'x', BLOCK).rle(b'y', BLOCK)),
        vector("block-rle-first-and-full", &Frame::new(SINGLE).rle(0, BLOCK).rle(0, 1)),
        vector("block-nothing-at-all", &start().plain(Literals::Raw(0, vec![]), NONE)),
        vector("block-nothing-between", &start().raw(b"ab").plain(Literals::Raw(0, vec![]), NONE).raw(b"cd")),
        vector("block-ends-empty", &start().raw(b"abc").raw(b"")),
        vector("block-many-small", &many),
        vector("block-of-the-window", &Frame::new(windowed(10)).raw(&letters(1024)).rle(b'z', 1024)),
        // Raw blocks, RLE blocks and blocks of raw literals alone change no table and no repeat
        // offset.
        vector(
            "block-keeps-tables",
            &start()
                .compressed(
                    Literals::Coded(0, Tree::skewed(b'a', 5, Form::Direct), few(b'a', 6, 90)),
                    &[copy(50, 31, 6), copy(9, 29, 6), copy(5, 23, 6)],
                    [Mode::Fse(6), Mode::Fse(5), Mode::Rle],
                )
                .raw(b"raw in between")
                .rle(b'.', 10)
                .plain(plain(b"literals alone"), NONE)
                .compressed(
                    Literals::Treeless(0, few(b'a', 6, 70)),
                    &[again(50, 3, 6), again(9, 2, 6), again(5, 3, 6)],
                    [Mode::Repeat, Mode::Rle, Mode::Repeat],
                ),
        ),
        vector(
            "block-full-when-compressed",
            &start()
                .plain(Literals::Raw(3, letters(BLOCK - 4)), NONE)
                .plain(Literals::Rle(3, 9, BLOCK), NONE),
        ),
        vector("block-larger-than-its-content", &start().plain(plain(b"abc"), &[copy(3, 3, 3)])),
    ]
}

fn literals() -> Vec<Vector> {
    let mut all = Vec::new();
    let mut add = |name: String, literals: Literals| {
        let n = literals_len(&literals) as u32;
        // Frames with a window, since in a single segment no block may be larger than the content.
        let alone = Frame::new(windowed(17)).plain(literals.clone(), NONE);
        let matched = Frame::new(windowed(17)).plain(plain(b"history"), NONE);
        let first = n.min(6);
        let matched = matched.plain(literals, &[copy(first, 4, 5), copy(n - first, 3, 9)]);
        all.push(vector(&name, &alone));
        all.push(vector(&format!("{name}-and-matches"), &matched));
    };
    for (form, n) in
        [(0, 0), (0, 31), (2, 21), (1, 0), (1, 31), (1, 4095), (3, 0), (3, 31), (3, 4096), (3, 70_000)]
    {
        add(format!("literals-raw-{form}-of-{n}"), Literals::Raw(form, letters(n)));
        add(format!("literals-rle-{form}-of-{n}"), Literals::Rle(form, b'r', n));
    }
    for (form, n) in [(0, 1), (0, 2), (0, 1023), (1, 6), (1, 1023), (2, 6), (2, 16_000), (3, 6), (3, 100_000)]
    {
        let tree = Tree::skewed(b'a', 6, Form::Direct);
        add(format!("literals-huffman-{form}-of-{n}"), Literals::Coded(form, tree, few(b'a', 7, n)));
    }
    // Every remainder of the division of literals by the four streams.
    for n in 6..20 {
        add(
            format!("literals-four-streams-of-{n}"),
            Literals::Coded(1, Tree::flat(0, 3, Form::Direct), cycle(0, 8, n)),
        );
    }
    for bits in 1..=11 {
        let literals = few(b'A', bits + 1, 600);
        add(
            format!("tree-skewed-{bits}"),
            Literals::Coded(1, Tree::skewed(b'A', bits, Form::Direct), literals.clone()),
        );
        if bits > 1 {
            add(
                format!("tree-skewed-{bits}-fse"),
                Literals::Coded(1, Tree::skewed(b'A', bits, Form::Fse(6)), literals),
            );
        }
    }
    for bits in 1..=7 {
        let tree = Tree::flat(0, bits, Form::Direct);
        add(format!("tree-flat-{bits}"), Literals::Coded(1, tree, cycle(0, 1 << bits, 700)));
    }
    for log in 5..=6 {
        add(
            format!("tree-of-256-fse-{log}"),
            Literals::Coded(1, Tree::flat(0, 8, Form::Fse(log)), cycle(0, 256, 600)),
        );
        let two = Tree::flat(254, 1, Form::Fse(log));
        add(format!("tree-of-the-last-two-fse-{log}"), Literals::Coded(1, two, cycle(254, 2, 600)));
    }
    let mut mixed: Vec<u8> = (0..129).map(|i| if i % 9 == 0 { 2 } else { u8::from(i % 9 < 4) }).collect();
    fill(&mut mixed);
    let present: Vec<u8> = (0..mixed.len()).filter(|&i| mixed[i] > 0).map(|i| i as u8).collect();
    let literals: Vec<u8> = (0..900).map(|i| present[i * 7 % present.len()]).collect();
    for log in 5..=6 {
        let tree = Tree::new(&mixed, Form::Fse(log));
        add(format!("tree-mixed-fse-{log}"), Literals::Coded(1, tree, literals.clone()));
    }
    all.push(vector("literals-treeless", &treeless()));
    all
}

fn literals_len(literals: &Literals) -> usize {
    match literals {
        Literals::Rle(_, _, n) => *n,
        Literals::Raw(_, bytes) | Literals::Coded(_, _, bytes) | Literals::Treeless(_, bytes) => bytes.len(),
    }
}

/// `n` bytes that cycle through `kinds` values from `first`.
fn cycle(first: u8, kinds: usize, n: usize) -> Vec<u8> {
    (0..n).map(|i| first.wrapping_add((i * 5 % kinds) as u8)).collect()
}

/// Adds weights to those of a Huffman tree until the tree is complete.
fn fill(weights: &mut Vec<u8>) {
    let cells: u32 = weights.iter().filter(|w| **w > 0).map(|w| 1 << (w - 1)).sum();
    let missing = cells.next_power_of_two() - cells;
    weights.extend((0..16).filter(|bit| missing >> bit & 1 == 1).map(|bit| bit as u8 + 1));
}

/// A frame in which later blocks use a tree again, with one stream and with four in each form of
/// the header, and with other blocks and literals between the uses.
fn treeless() -> Frame {
    let again = |form, n| Literals::Treeless(form, few(b'a', 7, n));
    Frame::new(windowed(17))
        .plain(Literals::Coded(2, Tree::skewed(b'a', 6, Form::Fse(5)), few(b'a', 7, 3000)), NONE)
        .plain(again(0, 300), NONE)
        .plain(plain(b"raw literals"), &[copy(5, 9, 30)])
        .plain(again(1, 900), NONE)
        .plain(Literals::Rle(0, b'q', 9), &[copy(2, 8, 8)])
        .rle(b'z', 5)
        .plain(again(2, 9000), NONE)
        .plain(again(3, 20_000), NONE)
        .plain(Literals::Coded(0, Tree::flat(b'k', 2, Form::Direct), cycle(b'k', 4, 50)), NONE)
        .plain(Literals::Treeless(0, cycle(b'k', 4, 50)), NONE)
}

/// Sequences with many different codes, all of which are in the predefined tables.
fn varied(n: u32) -> Vec<Sequence> {
    (0..n).map(|i| copy(i * 7 % 23, 1 + i * 31 % 97, 3 + i * i % 29)).collect()
}

/// Sequences that all have the same code in each field.
fn alike(n: usize) -> Vec<Sequence> {
    (0..n).map(|i| copy(2, 5 + i as u32 % 4, 6)).collect()
}

fn start_of_modes() -> Frame {
    Frame::new(windowed(17)).raw(&letters(200))
}

fn modes() -> Vec<Vector> {
    let mut all = Vec::new();
    let own = || plain(&letters(900));
    for (i, field) in ["literals", "offsets", "lengths"].into_iter().enumerate() {
        let with = |mode: Mode| {
            let mut modes = PREDEFINED;
            modes[i] = mode;
            modes
        };
        all.push(vector(
            &format!("{field}-rle"),
            &start_of_modes().compressed(own(), &alike(30), with(Mode::Rle)),
        ));
        let most = if field == "offsets" { 8 } else { 9 };
        for log in 5..=most {
            let frame = start_of_modes().compressed(own(), &varied(60), with(Mode::Fse(log)));
            all.push(vector(&format!("{field}-fse-{log}"), &frame));
        }
        let twice = |first: Mode, sequences: Vec<Sequence>| {
            start_of_modes()
                .compressed(own(), &sequences, with(first))
                .compressed(own(), &sequences[1..], with(Mode::Repeat))
                .compressed(own(), &sequences[2..], with(Mode::Repeat))
        };
        all.push(vector(&format!("{field}-repeat-of-predefined"), &twice(Mode::Predefined, varied(40))));
        all.push(vector(&format!("{field}-repeat-of-rle"), &twice(Mode::Rle, alike(40))));
        all.push(vector(&format!("{field}-repeat-of-fse"), &twice(Mode::Fse(7), varied(40))));
        let alone = start_of_modes().compressed(own(), &varied(1), with(Mode::Rle));
        all.push(vector(&format!("{field}-rle-of-one"), &alone));
    }
    let every = |a: fn() -> Mode| [a(), a(), a()];
    all.push(vector("all-rle", &start_of_modes().compressed(own(), &alike(100), every(|| Mode::Rle))));
    all.push(vector("all-fse", &start_of_modes().compressed(own(), &varied(60), every(|| Mode::Fse(6)))));
    let repeated = start_of_modes().compressed(own(), &varied(60), every(|| Mode::Fse(8)));
    all.push(vector("all-repeat", &repeated.compressed(own(), &varied(50), REPEAT)));
    all.extend(counts_of_tables());
    all
}

/// Descriptions of tables: with "less than one", with runs of zeros, with a symbol that fills the
/// table, and with counts that are as even as possible.
fn counts_of_tables() -> Vec<Vector> {
    let own = || plain(&letters(900));
    let mut all = Vec::new();
    let defaults = [(default_literals(), 6), (default_offsets(), 5), (default_lengths(), 6)];
    let modes = defaults.map(|(counts, log)| Mode::Counts(counts, log));
    all.push(vector("counts-of-the-predefined", &start_of_modes().compressed(own(), &varied(60), modes)));
    // Only code 6 for literals, 5 for offsets and 7 for lengths, so that no state needs a bit.
    let only = |code: usize| {
        let mut counts = vec![0; code];
        counts.push(32);
        Mode::Counts(counts, 5)
    };
    let sequences: Vec<Sequence> = (0..9).map(|i| copy(6, 29 + i, 10)).collect();
    let modes = [only(6), only(5), only(7)];
    all.push(vector("counts-of-one-symbol", &start_of_modes().compressed(own(), &sequences, modes)));
    // The counts begin with 5, 9 and 46 zeros. After the zeros, all counts but the first are "less
    // than one".
    let sparse = |first: usize, last: usize, log: u32| {
        let mut counts = vec![0i16; last + 1];
        counts[first..].fill(-1);
        counts[first] = (1 << log) - (last - first) as i16;
        Mode::Counts(counts, log)
    };
    let long: Vec<Sequence> =
        [copy(32_768, 1024, 65_540), copy(5, 700, 16_500), copy(6, 3000, 32_800)].to_vec();
    let modes = [sparse(5, 35, 9), sparse(9, 28, 6), sparse(46, 52, 9)];
    let frame =
        Frame::new(SINGLE).raw(&letters(3000)).compressed(plain(&letters(32_790)), &long[..1], modes.clone());
    all.push(vector("counts-behind-zeros", &frame.compressed(plain(&letters(20)), &long[1..], REPEAT)));
    for log in 5..=9 {
        let modes = [
            Mode::Counts(even(36, log), log),
            Mode::Counts(even(29, log.min(8)), log.min(8)),
            Mode::Counts(even(53, log), log),
        ];
        // Codes that are multiples of 2 are in the table of every log.
        let sequences: Vec<Sequence> =
            (0..60).map(|i| copy(i % 8 * 2, 61 + i % 60, 3 + i % 16 * 2)).collect();
        let frame = start_of_modes().compressed(own(), &sequences, modes);
        all.push(vector(&format!("counts-even-{log}"), &frame));
    }
    all
}

/// Blocks with different numbers of sequences, in all forms in which the number can be written.
fn counts() -> Vec<Vector> {
    let mut all = Vec::new();
    for n in [1, 2, 127, 128, 255, 256, 1000, 32_511, 32_512, 32_767, 43_600] {
        let sequences: Vec<Sequence> = (0..n).map(|i| copy(0, 1 + i % 90, 3)).collect();
        let frame = Frame::new(windowed(18)).raw(&letters(100)).plain(plain(b"rest"), &sequences);
        all.push(vector(&format!("sequences-{n}"), &frame));
    }
    let sequences = varied(100);
    let longer = |sequences: &[Sequence], count| {
        start_of_modes().counted(plain(&letters(2000)), sequences, PREDEFINED, count)
    };
    all.push(vector("sequences-100-in-2-bytes", &longer(&sequences, Count::Bytes(2))));
    all.push(vector("sequences-0-in-2-bytes", &longer(&[], Count::Bytes(2))));
    all.push(vector("sequences-0", &longer(&[], Count::Bytes(1))));
    all
}

/// Frames that use each rule of the repeat offsets.
fn repeats() -> Vec<Vector> {
    let begun = || Frame::new(windowed(14)).raw(&letters(5000));
    let table = [
        copy(11, 1111, 5),
        again(22, 1, 5),
        copy(22, 2222, 5),
        copy(111, 1111, 5),
        copy(33, 3333, 5),
        again(22, 2, 5),
        again(33, 3, 5),
        again(0, 3, 5),
        again(0, 1, 5),
    ];
    let mut all = vec![vector("repeats-of-the-table", &begun().plain(plain(&letters(300)), &table))];
    for which in 1..=3 {
        for literals in [0, 1, 16] {
            let name = format!("repeat-{which}-after-{literals}");
            // At the start the first repeat offset is 1. Without literals, repeat 3 means 1 less
            // than it: an offset of 0, which is invalid.
            if (which, literals) != (3, 0) {
                let sequences = [again(literals, which, 7), again(1, 1, 3), again(1, 2, 3)];
                all.push(vector(
                    &format!("{name}-at-the-start"),
                    &begun().plain(plain(&letters(40)), &sequences),
                ));
            }
            let sequences =
                [copy(3, 1000, 4), copy(3, 2000, 4), copy(3, 3000, 4), again(literals, which, 40)];
            let later = [again(1, 3, 9), again(1, 2, 9), again(1, 3, 9), again(0, 1, 9)];
            let frame = begun().plain(plain(&letters(60)), &[&sequences[..], &later].concat());
            // The next block keeps the repeat offsets.
            let frame = frame.rle(b'-', 3).plain(plain(&letters(9)), &later);
            all.push(vector(&name, &frame));
        }
    }
    let less: Vec<Sequence> = (0..30).map(|_| again(0, 3, 3)).collect();
    let frame = begun().plain(plain(b"x"), &[&[copy(1, 40, 3)][..], &less].concat());
    all.push(vector("repeat-one-less-each-time", &frame));
    all
}

/// Matches that begin at the first byte of the history or of the window, and matches with each
/// offset from 1 to 40.
fn reaches() -> Vec<Vector> {
    let mut all = Vec::new();
    all.push(vector(
        "reach-the-start",
        &Frame::new(SINGLE).plain(plain(b"first"), &[copy(5, 5, 70), copy(0, 75, 75)]),
    ));
    all.push(vector(
        "reach-the-start-of-the-frame",
        &Frame::new(SINGLE).raw(&letters(700)).plain(plain(b"end"), &[copy(2, 702, 800)]),
    ));
    // The window is 1 KiB. The match begins at the first byte of the window, at the start of a
    // block and inside a block.
    let full = Frame::new(windowed(10)).raw(&letters(1024)).raw(&letters(1000));
    all.push(vector(
        "reach-the-start-of-the-window",
        &full.clone().plain(plain(b""), &[copy(0, 1024, 1000)]),
    ));
    all.push(vector(
        "reach-the-window-within",
        &full.plain(plain(b"abcdef"), &[copy(5, 1024, 40), copy(1, 1024, 30)]),
    ));
    for offset in 1..=40u32 {
        let sequences: Vec<Sequence> = [3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100]
            .iter()
            .map(|&length| copy(1, offset, length))
            .collect();
        let frame = Frame::new(SINGLE).raw(&letters(40)).plain(plain(b"the literals"), &sequences);
        all.push(vector(&format!("offset-{offset}"), &frame));
    }
    all
}

/// The smallest and the largest value of each code of literal lengths, match lengths and offsets,
/// as far as they fit a block.
fn extremes() -> Vec<Vector> {
    let start = || Frame::new(windowed(23)).raw(b"0123456789");
    let full = BLOCK as u32;
    let mut all = vec![
        vector(
            "longest-literals",
            &start().plain(Literals::Rle(3, b'l', BLOCK - 3), &[copy(full - 3, 5, 3)]),
        ),
        vector("longest-match", &start().plain(plain(b""), &[copy(0, 10, full)])),
        vector("longest-match-but-one", &start().plain(plain(b"x"), &[copy(1, 4, full - 1)])),
    ];
    for code in 0..36u8 {
        let literals = [
            16, 18, 20, 22, 24, 28, 32, 40, 48, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768,
            65536,
        ];
        let (low, high) = match code {
            0..16 => (u32::from(code), u32::from(code)),
            _ => {
                let i = usize::from(code) - 16;
                (literals[i], literals.get(i + 1).map_or(full - 3, |next| next - 1))
            }
        };
        for (end, n) in [("low", low), ("high", high)] {
            let frame = start().plain(Literals::Rle(3, b'l', n as usize), &[copy(n, 7, 3)]);
            all.push(vector(&format!("literals-code-{code}-{end}"), &frame));
        }
    }
    let lengths = [
        35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99, 131, 259, 515, 1027, 2051, 4099, 8195, 16387, 32771,
        65539,
    ];
    for code in 0..53u32 {
        let (low, high) = match code {
            0..32 => (code + 3, code + 3),
            _ => {
                let i = code as usize - 32;
                (lengths[i], lengths.get(i + 1).map_or(full, |next| next - 1))
            }
        };
        let frame = start().plain(plain(b""), &[copy(0, 6, low)]).plain(plain(b""), &[copy(0, 9, high)]);
        all.push(vector(&format!("length-code-{code}"), &frame));
    }
    // The smallest and the largest offset of each code from 2 to 22, which is the largest here.
    let long = (0..64).fold(start(), |frame, i| frame.raw(&[i, 1, 2, 3]).rle(i, BLOCK));
    let sequences: Vec<Sequence> = (2..23)
        .flat_map(|bits| [(1 << bits) - 3, (2 << bits) - 4].map(|offset| copy(1, offset, 9)))
        .collect();
    all.push(vector("offset-codes", &long.plain(plain(&letters(60)), &sequences)));
    all
}

fn with_dictionaries() -> Vec<Vector> {
    let mut all = Vec::new();
    for (name, dictionary) in dictionaries() {
        let content = dictionary.content.len() as u32;
        let id = dictionary.id;
        let single = Header { id_flag: 3, id, ..SINGLE };
        let mut add = |what: &str, frame: Frame| {
            all.push(Vector {
                dictionary: Some(name),
                ..vector(&format!("dictionary-{name}-{what}"), &frame)
            });
        };
        let begin = |header| Frame::with(header, &dictionary);
        let own = || plain(&letters(80));
        add("unused", begin(single).raw(b"nothing of it"));
        add("without-id", begin(SINGLE).plain(own(), &[copy(4, content + 4, 50)]));
        add("its-first-byte", begin(single).plain(own(), &[copy(0, content, 5), copy(3, content + 8, 8)]));
        add("all-of-it", begin(single).plain(own(), &[copy(0, content, content)]));
        add(
            "across-its-end",
            begin(single).plain(own(), &[copy(5, 8, 40), copy(1, 50, 3), copy(0, 52, 100)]),
        );
        add("its-last-byte", begin(single).plain(own(), &[copy(0, 1, 40), copy(2, 43, 43)]));
        add(
            "at-each-distance",
            begin(single).plain(own(), &(0..60).map(|i| copy(1, 1 + i * 2, 5)).collect::<Vec<_>>()),
        );
        let windowed_header = Header { id_flag: 3, id, ..windowed(13) };
        add(
            "window",
            begin(windowed_header)
                .raw(&letters(500))
                .plain(own(), &[copy(9, content + 509, 8), copy(0, 300, 9)]),
        );
        add(
            "far-blocks",
            begin(windowed_header).rle(b'.', 4000).plain(own(), &[copy(9, content + 4009, 30)]),
        );
        if id == 0 {
            continue;
        }
        add(
            "repeats",
            begin(single).plain(own(), &[again(0, 1, 4), again(0, 2, 4), again(5, 3, 4), again(1, 2, 3)]),
        );
        for (form, n) in [(0, 50), (1, 300), (2, 2000)] {
            let literals = few(b'a', 12, n);
            add(
                &format!("treeless-{form}"),
                begin(single).plain(Literals::Treeless(form, literals), &[copy(9, 99, 12)]),
            );
        }
        let sequences: Vec<Sequence> =
            (0..20).map(|i| copy(i % 8 * 2, 61 + i % 60, 3 + i % 16 * 2)).collect();
        add("tables", begin(single).compressed(plain(&letters(200)), &sequences, REPEAT));
        add(
            "tables-and-tree",
            begin(single).compressed(Literals::Treeless(1, few(b'a', 12, 300)), &sequences, REPEAT),
        );
        let replaced = begin(single)
            .compressed(plain(&letters(200)), &sequences, [Mode::Fse(6), Mode::Repeat, Mode::Repeat])
            .compressed(plain(&letters(200)), &sequences, REPEAT);
        add("tables-replaced", replaced);
        for (flag, fits) in [(1, id < 1 << 8), (2, id < 1 << 16)] {
            if fits {
                add(
                    &format!("id-{flag}"),
                    begin(Header { id_flag: flag, ..single }).plain(own(), &[copy(1, 30, 50)]),
                );
            }
        }
    }
    all
}

/// The invalid vectors. libzstd refuses them too, some of them only when they arrive in pieces.
pub fn bad() -> Vec<Vector> {
    [
        bad_headers(),
        bad_blocks(),
        bad_literals(),
        bad_trees(),
        bad_sequences(),
        bad_matches(),
        bad_dictionary_use(),
        bad_published(),
    ]
    .into_iter()
    .flatten()
    .map(|(name, bytes)| Vector { name, bytes, dictionary: None, magicless: false, content: None })
    .map(|vector| match vector.name.starts_with("dictionary-") {
        true => Vector { dictionary: Some("full"), ..vector },
        false => vector,
    })
    .collect()
}

type Bad = Vec<(String, Vec<u8>)>;

fn bad_headers() -> Bad {
    let frame = |header| Frame::new(header).raw(&letters(40)).bytes();
    let mut all: Bad = [
        ("reserved-bit", frame(Header { spare: 1, ..SINGLE })),
        ("size-too-large", frame(Header { size_lie: 1, ..SINGLE })),
        ("size-too-small", frame(Header { size_lie: -1, ..SINGLE })),
        ("size-too-small-of-a-window", frame(Header { size_lie: -1, size_flag: 2, ..windowed(10) })),
        ("checksum-wrong", frame(Header { checksum: true, checksum_lie: 1, ..SINGLE })),
        (
            "checksum-wrong-in-its-last-bit",
            frame(Header { checksum: true, checksum_lie: 1 << 31, ..windowed(10) }),
        ),
        ("id-of-no-dictionary", frame(Header { id_flag: 1, id: 9, ..SINGLE })),
        ("not-a-frame", b"plain text".to_vec()),
        ("magic-of-a-dictionary", dictionary("full").bytes()),
        ("skippable-cut", skippable(0, &[1, 2, 3])[..10].to_vec()),
        ("skippable-without-size", skippable(0, &[])[..6].to_vec()),
        // The stated content and the header together have more bytes than fit into 32 bits.
        (
            "skippable-of-4-gib",
            [&0x184d_2a50_u32.to_le_bytes()[..], &[0xf8, 0xff, 0xff, 0xff], &[7; 20]].concat(),
        ),
        ("skippable-beyond-4-gib", [&0x184d_2a5f_u32.to_le_bytes()[..], &[0xff; 4], &[7; 20]].concat()),
        ("no-block", frame(SINGLE)[..9].to_vec()),
        ("garbage-after-the-frame", [frame(SINGLE), b"garbage".to_vec()].concat()),
        ("zeros-after-the-frame", [frame(SINGLE), vec![0; 9]].concat()),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .to_vec();
    let more = Frame::new(SINGLE).raw(&letters(40)).bytes();
    // Clears the flag that marks the block as the last, so that it says that another follows.
    let mut unended = more.clone();
    unended[9] &= !1;
    all.push(("no-last-block".into(), unended));
    all
}

fn bad_blocks() -> Bad {
    let block = |kind, size, body: &[u8]| Frame::new(windowed(10)).block(kind, size, body).bytes();
    [
        ("block-type-3", block(3, 1, b"x")),
        ("block-raw-larger-than-the-window", block(0, 1025, &letters(1025))),
        ("block-rle-larger-than-the-window", block(1, 1025, b"x")),
        ("block-compressed-of-nothing", block(2, 0, b"")),
        ("block-compressed-of-1-byte", block(2, 1, &[0])),
        (
            "block-compressed-larger-than-128k",
            Frame::new(windowed(20)).plain(Literals::Raw(3, letters(BLOCK - 3)), NONE).bytes(),
        ),
        ("block-compressed-larger-than-the-content", Frame::new(SINGLE).plain(plain(b"abc"), NONE).bytes()),
        (
            "block-raw-larger-than-128k",
            Frame::new(windowed(20)).block(0, BLOCK + 1, &letters(BLOCK + 1)).bytes(),
        ),
        ("block-rle-larger-than-128k", Frame::new(windowed(20)).block(1, BLOCK + 1, b"x").bytes()),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .to_vec()
}

/// A frame with a raw block of 64 bytes and a compressed block that consists of `parts`.
fn body(parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    Frame::new(windowed(17)).raw(&letters(64)).block(2, body.len(), &body).bytes()
}

const NO_SEQUENCES: &[u8] = &[0];

fn bad_literals() -> Bad {
    let tree = Tree::flat(0, 2, Form::Direct);
    let bytes = cycle(0, 4, 40);
    let coded =
        |form: u8, n: usize, part: &[u8]| [literals_header(2, form, n, part.len()), part.to_vec()].concat();
    let one = [tree.describe(), tree.stream(&bytes)].concat();
    let four = [tree.describe(), tree.streams(&bytes, 4)].concat();
    let jump = tree.describe().len();
    let changed = |at: usize, byte: u8| {
        let mut four = four.clone();
        four[at] = byte;
        coded(1, 40, &four)
    };
    let mut unmarked = one.clone();
    *unmarked.last_mut().unwrap() = 0;
    let five = [tree.describe(), tree.streams(&bytes[..5], 4)].concat();
    let large = Literals::Rle(3, 1, BLOCK + 1);
    let mut all: Bad = [
        (
            "literals-treeless-without-tree",
            body(&[&literals_header(3, 0, 40, one.len()), &one, NO_SEQUENCES]),
        ),
        ("literals-raw-cut", body(&[&literals_header(0, 1, 100, 0), b"too few"])),
        ("literals-rle-cut", body(&[&literals_header(1, 1, 100, 0)])),
        ("literals-header-cut", body(&[&literals_header(2, 3, 40, 40)[..4]])),
        ("literals-longer-than-the-block", body(&[&literals_header(2, 0, 40, 500), &one, NO_SEQUENCES])),
        ("literals-one-too-many", body(&[&coded(0, 41, &one), NO_SEQUENCES])),
        ("literals-one-too-few", body(&[&coded(0, 39, &one), NO_SEQUENCES])),
        ("literals-without-end-mark", body(&[&coded(0, 40, &unmarked), NO_SEQUENCES])),
        ("literals-tree-and-no-stream", body(&[&coded(0, 40, &tree.describe()), NO_SEQUENCES])),
        ("literals-four-streams-of-5", body(&[&coded(1, 5, &five), NO_SEQUENCES])),
        ("literals-jump-too-long", body(&[&changed(jump, 40), NO_SEQUENCES])),
        ("literals-jump-longer-than-all", body(&[&changed(jump + 1, 1), NO_SEQUENCES])),
        ("literals-jump-of-0", body(&[&changed(jump, 0), NO_SEQUENCES])),
        ("literals-no-sequences-section", body(&[&coded(1, 40, &four)])),
        ("literals-more-than-a-block", Frame::new(windowed(20)).plain(large, NONE).bytes()),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .to_vec();
    for stream in 0..3 {
        let (low, high) = (four[jump + 2 * stream] - 1, four[jump + 2 * stream] + 1);
        all.push((
            format!("literals-jump-{stream}-less"),
            body(&[&changed(jump + 2 * stream, low), NO_SEQUENCES]),
        ));
        all.push((
            format!("literals-jump-{stream}-more"),
            body(&[&changed(jump + 2 * stream, high), NO_SEQUENCES]),
        ));
    }
    all
}

/// Frames with descriptions of invalid Huffman trees.
fn bad_trees() -> Bad {
    let with = |description: &[u8]| {
        let part = [description, &[0xff, 0xff, 0x01]].concat();
        body(&[&literals_header(2, 0, 8, part.len()), &part, NO_SEQUENCES])
    };
    let fse = |part: &[u8]| with(&[&[part.len() as u8][..], part].concat());
    [
        ("tree-of-no-weights", with(&direct(&[0, 0, 0, 0]))),
        ("tree-of-one-weight-of-0", with(&direct(&[0]))),
        ("tree-incomplete", with(&direct(&[3, 1]))),
        ("tree-of-12-bits", with(&direct(&[12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]))),
        ("tree-without-weights-of-1", with(&direct(&[2]))),
        ("tree-weight-13", with(&direct(&[13, 1]))),
        ("tree-cut", body(&[&literals_header(2, 0, 8, 3), &[127 + 100, 0x11, 0x11], NO_SEQUENCES])),
        ("tree-empty-fse", with(&[0])),
        ("tree-fse-log-7", fse(&[&describe(&[64, 64], 7)[..], &[0xff, 0x03]].concat())),
        ("tree-fse-without-stream", fse(&describe(&[16, 16], 5))),
        ("tree-fse-stream-without-mark", fse(&[&describe(&[16, 16], 5)[..], &[0x55, 0]].concat())),
        ("tree-fse-no-room-for-two-states", fse(&[&describe(&[16, 16], 5)[..], &[0x1f]].concat())),
        ("tree-fse-endless", fse(&[&describe(&[1, 31], 5)[..], &[0xff; 100][..]].concat())),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .to_vec()
}

fn bad_sequences() -> Bad {
    const RAW: &[u8] = &[4 << 3, b'a', b'b', b'c', b'd'];
    const END: &[u8] = &[0xff, 0xff, 0xff, 0x01];
    let section = |mode: u8, rest: &[u8]| body(&[RAW, &[1, mode], rest]);
    let tables = |counts: &[i16], log: u32| section(0b1000_0000, &[&describe(counts, log)[..], END].concat());
    let good =
        Frame::new(windowed(17)).raw(&letters(64)).plain(plain(b"abcd"), &[copy(2, 9, 5), copy(1, 8, 4)]);
    let good = good.bytes();
    let mut unmarked = good.clone();
    *unmarked.last_mut().unwrap() = 0;
    let mut longer = good.clone();
    let at = longer.len() - 1;
    longer[at] |= 1 << (longer[at].ilog2() + 1).min(7);
    let mut forty = vec![0i16; 40];
    forty[39] = 32;
    [
        ("sequences-reserved-mode-bit-0", section(1, END)),
        ("sequences-reserved-mode-bit-1", section(2, END)),
        ("sequences-repeat-without-tables", section(0b1111_1100, END)),
        ("sequences-repeat-of-no-literals", section(0b1100_0000, END)),
        ("sequences-repeat-of-no-offsets", section(0b0011_0000, END)),
        ("sequences-repeat-of-no-lengths", section(0b0000_1100, END)),
        ("sequences-none-and-more", body(&[RAW, NO_SEQUENCES, b"x"])),
        ("sequences-no-modes", body(&[RAW, &[1]])),
        ("sequences-no-count", body(&[RAW])),
        ("sequences-count-cut", body(&[RAW, &[0xff, 0]])),
        ("sequences-no-bits", section(0, b"")),
        ("sequences-without-end-mark", unmarked),
        ("sequences-bits-left-over", body(&[RAW, &[1, 0], &[0; 12], END])),
        ("sequences-too-few-bits", body(&[RAW, &[9, 0], END])),
        ("sequences-more-than-coded", body(&[RAW, &count_bytes(40_000, Count::Shortest), &[0], END])),
        ("sequences-rle-literals-36", section(0b0100_0000, &[&[36][..], END].concat())),
        ("sequences-rle-offsets-32", section(0b0001_0000, &[&[32][..], END].concat())),
        ("sequences-rle-lengths-53", section(0b0000_0100, &[&[53][..], END].concat())),
        ("sequences-rle-cut", section(0b0101_0100, &[1, 2])),
        ("sequences-fse-log-10", tables(&[512, 512], 10)),
        ("sequences-fse-symbol-39", tables(&forty, 5)),
        ("sequences-fse-cut", section(0b1000_0000, &[0x21])),
        (
            "sequences-fse-more-than-full",
            section(0b1000_0000, &[&[0xf0, 0xff, 0xff, 0xff][..], END].concat()),
        ),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .to_vec()
}

/// Matches that begin before the history, have an offset of 0 or lack literals, and blocks whose
/// content exceeds a limit.
fn bad_matches() -> Bad {
    let start = |header| Frame::new(header).raw(&letters(50));
    let full = BLOCK as u32;
    let far = |offset| [copy(1, offset, 3), copy(1, offset, 3)];
    let rle = || [Mode::Predefined, Mode::Rle, Mode::Predefined];
    [
        ("match-before-the-start", start(SINGLE).plain(plain(b"abc"), &[copy(3, 54, 3)])),
        ("match-far-before-the-start", start(SINGLE).plain(plain(b"abc"), &[copy(3, 1_000_000, 3)])),
        // These offsets are negative as signed numbers of 32 bits.
        ("match-2-gib-before-the-start", start(SINGLE).compressed(plain(b"abc"), &far(1 << 31)[..1], rle())),
        ("match-4-gib-before-the-start", start(SINGLE).compressed(plain(b"abc"), &far(!0 - 3)[..1], rle())),
        ("match-2-gib-before-the-start-first", start(SINGLE).compressed(plain(b"abc"), &far(1 << 31), rle())),
        ("match-4-gib-before-the-start-first", start(SINGLE).compressed(plain(b"abc"), &far(!0 - 3), rle())),
        ("match-of-nothing", Frame::new(windowed(10)).plain(plain(b""), &[copy(0, 1, 3)])),
        ("match-repeat-before-the-start", Frame::new(windowed(10)).plain(plain(b"abc"), &[again(3, 2, 3)])),
        ("match-offset-0", start(SINGLE).plain(plain(b"abc"), &[again(0, 3, 3)])),
        ("match-offset-0-later", start(SINGLE).plain(plain(b"abc"), &[copy(1, 1, 3), again(0, 3, 3)])),
        ("match-literals-missing", start(SINGLE).plain(plain(b"abc"), &[copy(4, 5, 3)])),
        ("match-literals-missing-later", start(SINGLE).plain(plain(b"abc"), &[copy(2, 5, 3), copy(2, 5, 3)])),
        ("match-longer-than-a-block", start(windowed(20)).plain(plain(b""), &[copy(0, 5, full + 1)])),
        (
            "match-and-literals-longer-than-a-block",
            start(windowed(20)).plain(plain(b"x"), &[copy(1, 5, full)]),
        ),
        (
            "match-longer-than-the-content",
            start(Header { size_lie: -1, ..SINGLE }).plain(plain(b""), &[copy(0, 5, 40)]),
        ),
    ]
    .map(|(name, frame)| (name.to_owned(), frame.bytes()))
    .to_vec()
}

fn bad_dictionary_use() -> Bad {
    let dictionary = dictionary("full");
    let content = dictionary.content.len() as u32;
    let begin = |header| Frame::with(header, &dictionary);
    [
        ("dictionary-of-another-id", begin(Header { id_flag: 2, id: 5, ..SINGLE }).raw(b"x")),
        ("dictionary-before-its-start", begin(windowed(10)).plain(plain(b"x"), &[copy(0, content + 1, 4)])),
        (
            "dictionary-before-its-start-later",
            begin(windowed(10)).plain(plain(b"xyz"), &[copy(3, content + 4, 4)]),
        ),
    ]
    .map(|(name, frame)| (name.to_owned(), frame.bytes()))
    .to_vec()
}

fn bad_published() -> Bad {
    [
        (
            "published-weights-cut",
            &[0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0x55, 0, 0, 0x72, 0x80, 1, 4, 0x20, 0x7e, 0x1f, 2, 0xaa, 0][..],
        ),
        (
            "published-offset-0",
            &[0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0x45, 0, 0, 8, 0, 2, 0, 0x2f, 0x43, 0x0b, 0xae],
        ),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes.to_vec()))
    .to_vec()
}

/// Whether the vector is also committed as a file in `testdata/zstd`. Vectors of more than 6,000
/// bytes, and vectors of long series, are not.
pub fn is_kept(vector: &Vector) -> bool {
    const ROWS: [&str; 5] =
        ["offset-", "literals-code-", "length-code-", "literals-four-streams-", "header-window-byte-"];
    let of_a_row =
        ROWS.iter().any(|row| vector.name.starts_with(row)) || vector.name.ends_with("-and-matches");
    vector.bytes.len() <= 6000 && !of_a_row
}
