//! Generates test content of many kinds, the same on every machine.

/// A pseudorandom sequence (xorshift), which depends on the seed only.
#[derive(Clone)]
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Noise {
        let mut noise = Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        // The first numbers of a fresh xorshift resemble its seed.
        (0..8).for_each(|_| _ = noise.number());
        noise
    }

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

    /// `n` random bytes.
    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.number() as u8).collect()
    }
}

/// Whole lines of random words, at least `len` bytes. Lines of one `kind` take their words from the
/// same 300, and two kinds have hardly a word in common. `seed` chooses among the words.
pub fn lines_of_kind(kind: u64, seed: u64, len: usize) -> Vec<u8> {
    let mut words = Noise::new(1000 + kind);
    let words: Vec<String> = (0..300)
        .map(|_| (0..4 + words.below(12)).map(|_| char::from(b'a' + words.below(26) as u8)).collect())
        .collect();
    let mut noise = Noise::new(seed);
    let mut out = Vec::new();
    while out.len() < len {
        let line: Vec<&str> = (0..8).map(|_| words[noise.below(words.len())].as_str()).collect();
        out.extend_from_slice(line.join(" ").as_bytes());
        out.push(b'\n');
    }
    out
}

/// A DDS file, 256 texels wide and `4 * rows` texels high, in the format `DXT1` or `DXT5`. Colors
/// change slowly from block to block, and indices have few values.
pub fn dds(four_cc: &[u8; 4], rows: usize, seed: u64) -> Vec<u8> {
    let mut noise = Noise::new(seed);
    let mut file = vec![0; 128];
    file[..4].copy_from_slice(b"DDS ");
    let fields =
        [(4, 124), (8, 0x81007), (12, 4 * rows as u32), (16, 256), (28, 1), (76, 32), (80, 4), (108, 0x1000)];
    for (at, value) in fields {
        file[at..at + 4].copy_from_slice(&u32::to_le_bytes(value));
    }
    file[84..88].copy_from_slice(four_cc);
    let patterns: Vec<u64> = (0..200).map(|_| noise.number()).collect();
    let (mut red, mut green, mut alpha) =
        (noise.below(28) as u16, noise.below(60) as u16, noise.below(250) as u8);
    for _ in 0..64 * rows {
        red = (red + noise.below(3) as u16).saturating_sub(1).min(28);
        green = (green + noise.below(3) as u16).saturating_sub(1).min(60);
        if four_cc == b"DXT5" {
            alpha = alpha.saturating_add(noise.below(3) as u8).saturating_sub(1).min(250);
            file.extend([alpha + 4, alpha]);
            file.extend(&patterns[noise.below(50)].to_le_bytes()[..6]);
        }
        let colour = |plus: u16| (red + plus) << 11 | (green + plus) << 5 | (red + plus);
        file.extend(colour(3).to_le_bytes());
        file.extend(colour(0).to_le_bytes());
        file.extend(&patterns[noise.below(patterns.len())].to_le_bytes()[..4]);
    }
    file
}

/// `len` bytes: a third of letters as in text, a third of noise, and a third of one repeated byte.
pub fn mixed(len: usize) -> Vec<u8> {
    let mut seed = 1u32;
    (0..len)
        .map(|i| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match i * 3 / len.max(1) {
                0 => b"the quick brown fox jumps "[(seed >> 20) as usize % 26],
                1 => (seed >> 24) as u8,
                _ => 7,
            }
        })
        .collect()
}

/// `n` lines of a log in JSON, about 315 bytes each.
pub fn json_rows(seed: u64, n: usize) -> Vec<u8> {
    let mut noise = Noise::new(seed);
    let mut text = String::new();
    for row in 0..n {
        let service = ["checkout", "inventory", "search", "payments", "gateway"][noise.below(5)];
        let level = ["INFO", "INFO", "INFO", "WARN", "ERROR"][noise.below(5)];
        text.push_str(&format!(
            "{{\"timestamp\":\"2026-11-21T08:{:02}:{:02}.{:03}Z\",\"level\":\"{level}\",\"service\":\"{service}\",\
             \"host\":\"node-{:03}.eu-west.example\",\"request_id\":\"{:016x}{:016x}\",\"user_id\":{},\
             \"method\":\"{}\",\"path\":\"/api/v2/{service}/items/{}\",\"status\":{},\"duration_us\":{},\
             \"bytes_sent\":{},\"message\":\"request {row} done in time\"}}\n",
            row / 60 % 60,
            row % 60,
            noise.below(1000),
            noise.below(200),
            noise.number(),
            noise.number(),
            noise.below(100_000),
            ["GET", "POST", "PUT"][noise.below(3)],
            noise.below(5000),
            [200, 200, 200, 204, 404, 500][noise.below(6)],
            noise.below(90_000),
            noise.below(20_000),
        ));
    }
    text.into_bytes()
}

/// Records as in storage engines, `n` to about `2 * n` bytes of each kind: JSON, logs, text,
/// SQLite's rows, Protocol Buffers.
pub fn records(n: usize) -> Vec<(&'static str, Vec<u8>)> {
    let mut noise = Noise::new(n as u64);
    let words = lines_of_kind(5, 1, 4000);
    let words: Vec<&[u8]> =
        words.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty()).collect();
    // The first words are the most frequent.
    let word = |noise: &mut Noise| words[noise.below(words.len()) * noise.below(words.len()) / words.len()];
    let (mut log, mut text, mut sqlite, mut protobuf) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for row in 0u32.. {
        if [&log, &text, &sqlite, &protobuf].iter().all(|kind| kind.len() >= n) {
            break;
        }
        let (name, city, number) = (word(&mut noise), word(&mut noise), noise.number());
        let line = format!("Mar 14 09:{:02}:{:02} node-{} ", row / 60 % 60, row % 60, number % 40);
        log.extend(
            [line.as_bytes(), name, b"[", (number % 9973).to_string().as_bytes(), b"]: opened ", city, b"\n"]
                .concat(),
        );
        text.extend([word(&mut noise), b" ", name, b" ", word(&mut noise), b", ", city, b" "].concat());
        // A byte for the header's size, then the types of the columns: integers of 4, 2 and 6
        // bytes, and two texts.
        let head = [7, 4, 2, 5, 13 + 2 * name.len() as u8, 13 + 2 * city.len() as u8];
        let fixed = [
            &(number as u32 % 90_000).to_be_bytes()[..],
            &(number as u16 % 400).to_be_bytes(),
            b"\x01\x9c\x0e",
            &row.to_be_bytes()[1..],
        ]
        .concat();
        let cell = [&head[..], &fixed, name, city].concat();
        sqlite.extend([&[cell.len() as u8, row as u8 & 0x7f], &cell[..]].concat());
        let id = [0x80 | row as u8, row as u8 >> 1 & 0x7f];
        let float = (f64::from(row) + 0.25).to_le_bytes();
        let message = [
            b"\x08",
            &id[..],
            b"\x12",
            &[name.len() as u8],
            name,
            b"\x21",
            &float,
            b"\x2a",
            &[city.len() as u8],
            city,
        ]
        .concat();
        protobuf.extend([&[message.len() as u8], &message[..]].concat());
    }
    vec![
        ("JSON", json_rows(3, n / 300 + 1)),
        ("log", log),
        ("text", text),
        ("SQLite", sqlite),
        ("protobuf", protobuf),
    ]
}

/// Content of nine kinds, `n` bytes of each, with its name: lines of JSON, noise with all and with
/// few values, zeros, counters of 4 bytes, copies of earlier bytes, noise mixed with runs.
pub fn kinds(n: usize) -> Vec<(&'static str, Vec<u8>)> {
    let mut noise = Noise::new(n as u64 + 1);
    let rows = json_rows(7, n / 300 + 1);
    let random = noise.bytes(n);
    let few: Vec<u8> = (0..n).map(|_| b"aaaaabbbccd"[noise.below(11)]).collect();
    let two: Vec<u8> = (0..n).map(|_| [0, 255][usize::from(noise.below(9) == 0)]).collect();
    let skewed: Vec<u8> = (0..n).map(|_| (noise.number() & noise.number() & noise.number()) as u8).collect();
    let records: Vec<u8> =
        (0..n / 4 + 1).flat_map(|i| (i as u32 * 3 + noise.below(4) as u32).to_le_bytes()).collect();
    vec![
        ("rows", rows[..n.min(rows.len())].to_vec()),
        ("noise", random.clone()),
        ("few", few),
        ("two", two),
        ("skewed", skewed),
        ("zeros", vec![0; n]),
        ("records", records[..n].to_vec()),
        ("copies", copies(&mut noise, n)),
        (
            "mixed",
            random
                .chunks(700)
                .enumerate()
                .flat_map(|(i, c)| if i % 2 == 0 { c.to_vec() } else { vec![9; c.len()] })
                .collect(),
        ),
    ]
}

/// `n` bytes of noise and copies of earlier bytes. The copies have near and far offsets, and 3 to
/// 65,538 bytes.
fn copies(noise: &mut Noise, n: usize) -> Vec<u8> {
    let mut bytes = noise.bytes(40.min(n));
    while bytes.len() < n {
        let fresh = noise.below(20);
        bytes.extend(noise.bytes(fresh));
        let far = bytes.len() >> noise.below(12);
        let offset = 1 + noise.below(far.max(1));
        let length = 3 + (noise.below(1 << 16) >> noise.below(15));
        for _ in 0..length {
            bytes.push(bytes[bytes.len() - offset]);
        }
    }
    bytes.truncate(n);
    bytes
}
