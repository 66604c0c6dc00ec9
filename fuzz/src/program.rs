//! Structured input of the deflate targets: calls on one stream, and the content they encode.
//!
//! Content is built from literals, runs, copies and noise, so that a short input reaches long
//! matches, block boundaries at 65,535 bytes and incompressible data.

use linerate_core::Tier;
use linerate_deflate::{Format, Level};

/// Content, in bytes, after which a program gets only the `Encode` at its end. Bounds the time that
/// it takes.
const MAX_CONTENT: usize = 300_000;

/// One call on the stream.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Encodes the content from the end of the last `Encode` to `end`. Matches may reach into the
    /// `history` bytes before.
    Encode {
        /// Where the input ends, in bytes from the start of the content.
        end: usize,
        /// Bytes of content before the input that the call also gets.
        history: usize,
    },
    /// Flushes the stream.
    Flush,
    /// Changes the level of the stream.
    Level(Level),
}

/// The calls on one stream, to be followed by `finish`.
#[derive(Clone, Debug)]
pub struct Program {
    /// The container format of the stream.
    pub format: Format,
    /// The initial level.
    pub level: Level,
    /// The CPU tier.
    pub tier: Tier,
    /// Whether the last `Encode` says that no more content follows.
    pub announces_end: bool,
    /// The content: all input bytes, in order.
    pub plain: Vec<u8>,
    /// The calls, the last of which is an `Encode`.
    pub steps: Vec<Step>,
}

/// The fuzzer's input, read from the front; zeros after its end.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    fn u16(&mut self) -> usize {
        usize::from(self.byte()) | usize::from(self.byte()) << 8
    }

    fn take(&mut self, n: usize) -> &[u8] {
        let (front, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        front
    }
}

/// A pseudorandom sequence (xorshift), the same for the same seed.
#[derive(Clone, Debug)]
pub struct Noise(u64);

impl Noise {
    /// The sequence of that seed.
    pub fn new(seed: u64) -> Self {
        Noise(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }

    /// A number from 0 to `n - 1`.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.number() % n as u64) as usize
    }
}

fn level(byte: u8) -> Level {
    Level::ALL[usize::from(byte % 4 + 3 * (byte >> 3 & 1) + 3 * (byte >> 4 & 1))]
}

impl Program {
    /// Interprets arbitrary bytes as a program.
    pub fn read(data: &[u8]) -> Program {
        let mut bytes = Bytes(data);
        let choice = bytes.byte();
        let mut program = Program {
            format: [Format::Deflate, Format::Zlib, Format::Gzip][usize::from(choice % 3)],
            level: level(choice >> 2),
            tier: Tier::ALL[usize::from(choice >> 4) % 3],
            announces_end: choice & 0x80 != 0,
            plain: Vec::new(),
            steps: Vec::new(),
        };
        while !bytes.0.is_empty() && program.plain.len() < MAX_CONTENT {
            program.read_step(&mut bytes);
        }
        let end = program.plain.len();
        program.steps.push(Step::Encode { end, history: 0 });
        program
    }

    fn read_step(&mut self, bytes: &mut Bytes<'_>) {
        let op = bytes.byte();
        let argument = op >> 3;
        match op & 7 {
            0 => self.plain.extend_from_slice(bytes.take(usize::from(argument) * 8 + 1)),
            1 => self.add_run(bytes.byte(), bytes.u16() << (argument & 1)),
            2 => self.add_copy(bytes.u16() + 1, usize::from(argument) * 9 + 3),
            3 => self.add_noise(bytes.u16() >> (argument & 7), argument >> 3),
            4 => self.steps.push(Step::Encode { end: self.plain.len(), history: 0 }),
            5 => self.steps.push(Step::Flush),
            6 => self.steps.push(Step::Level(level(argument))),
            _ => self.add_history_call(usize::from(argument) << 11),
        }
    }

    fn add_run(&mut self, byte: u8, len: usize) {
        self.plain.resize(self.plain.len() + len, byte);
    }

    /// Adds `len` bytes, each equal to the byte `distance` bytes before it. Adds nothing if there
    /// are fewer than `distance` bytes.
    fn add_copy(&mut self, distance: usize, len: usize) {
        for _ in 0..len {
            let Some(from) = self.plain.len().checked_sub(distance) else { return };
            self.plain.push(self.plain[from]);
        }
    }

    /// Adds random bytes. By `kind`, they have all values (0 and 1), those whose literals take 9
    /// bits in deflate's fixed tree (2), or five values (3).
    fn add_noise(&mut self, len: usize, kind: u8) {
        let mut noise = Noise::new(len as u64);
        self.plain.extend((0..len).map(|_| match kind {
            0 | 1 => noise.number() as u8,
            2 => 144 + (noise.number() % 112) as u8,
            _ => b'a' + (noise.number() % 5) as u8,
        }));
    }

    fn add_history_call(&mut self, wanted: usize) {
        let encoded = self.encoded();
        self.steps.push(Step::Encode { end: self.plain.len(), history: wanted.min(encoded) });
    }

    /// Bytes of content that the steps so far encode.
    fn encoded(&self) -> usize {
        let ends = self.steps.iter().rev().filter_map(|step| match step {
            Step::Encode { end, .. } => Some(*end),
            _ => None,
        });
        ends.max().unwrap_or(0)
    }

    /// Whether step `i` is the last, and announces the end of the data.
    pub fn ends_at(&self, i: usize) -> bool {
        self.announces_end && i + 1 == self.steps.len()
    }
}
