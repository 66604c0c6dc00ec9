//! Generated records of the kinds that storage engines hold, the same on every machine.

/// Words of generated texts. [`Random::skewed`] picks the first ones more often than the last ones.
const WORDS: [&str; 48] = [
    "the",
    "order",
    "customer",
    "and",
    "was",
    "with",
    "delivered",
    "payment",
    "for",
    "address",
    "account",
    "status",
    "to",
    "returned",
    "item",
    "shipping",
    "invoice",
    "label",
    "please",
    "call",
    "before",
    "noon",
    "front",
    "door",
    "signature",
    "required",
    "gift",
    "wrapped",
    "fragile",
    "express",
    "standard",
    "refund",
    "pending",
    "approved",
    "discount",
    "voucher",
    "loyalty",
    "warehouse",
    "northern",
    "replacement",
    "warranty",
    "expired",
    "subscription",
    "renewed",
    "cancelled",
    "quarterly",
    "statement",
    "reminder",
];
const NAMES: [&str; 24] = [
    "Anna", "Bruno", "Carla", "David", "Elena", "Felix", "Greta", "Hugo", "Ida", "Jonas", "Klara", "Leon",
    "Mira", "Nils", "Olga", "Paul", "Rosa", "Simon", "Tilda", "Ugo", "Vera", "Willem", "Yara", "Zeno",
];
const CITIES: [&str; 20] = [
    "Amsterdam",
    "Barcelona",
    "Copenhagen",
    "Dresden",
    "Edinburgh",
    "Florence",
    "Geneva",
    "Helsinki",
    "Innsbruck",
    "Jena",
    "Krakow",
    "Lisbon",
    "Marseille",
    "Nantes",
    "Oslo",
    "Porto",
    "Rotterdam",
    "Seville",
    "Turin",
    "Utrecht",
];
const UNITS: [&str; 8] =
    ["sshd", "kernel", "systemd", "postgres", "nginx", "dockerd", "cron", "NetworkManager"];
const AGENTS: [&str; 5] = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    "curl/8.5.0",
    "Prometheus/2.53.0",
];

/// A pseudorandom generator: xorshift (Marsaglia 2003).
struct Random(u64);

impl Random {
    fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, n: u64) -> u64 {
        self.number() % n
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }

    /// Picks one of `words`. Earlier ones are more likely.
    fn skewed<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let n = words.len() as u64;
        words[(self.below(n) * self.below(n) / n) as usize]
    }

    fn text(&mut self, words: u64) -> String {
        (0..words).map(|_| self.skewed(&WORDS)).collect::<Vec<_>>().join(" ")
    }
}

/// Returns `n` bytes of records. `record` gets a record's number and appends the record. The last
/// record may be cut.
fn filled(n: usize, mut record: impl FnMut(&mut Random, u64, &mut Vec<u8>)) -> Vec<u8> {
    let (mut random, mut out) = (Random(0x9e37_79b9_7f4a_7c15), Vec::with_capacity(n + 1024));
    for number in 0.. {
        if out.len() >= n {
            break;
        }
        record(&mut random, number, &mut out);
    }
    out.truncate(n);
    out
}

/// Returns `n` bytes of log lines: of a web server, a system journal and an application, mixed.
pub(super) fn log_lines(n: usize) -> Vec<u8> {
    filled(n, |random, number, out| {
        let (minute, second, milli) = (number / 600 % 60, number / 10 % 60, random.below(1000));
        let address = format!("10.{}.{}.{}", random.below(4), random.below(16), random.below(250));
        let line = match random.below(3) {
            0 => format!(
                "{address} - - [14/Mar/2026:09:{minute:02}:{second:02} +0000] \"GET /{}/{}?page={} HTTP/1.1\" {} {} \"-\" \"{}\"\n",
                random.skewed(&WORDS),
                random.below(9000),
                random.below(30),
                [200, 200, 200, 304, 404][random.below(5) as usize],
                random.below(40_000),
                random.of(&AGENTS)
            ),
            1 => format!(
                "Mar 14 09:{minute:02}:{second:02}.{milli:03} node-{:02} {}[{}]: session {:08x} of user {} opened from {address} port {}\n",
                random.below(40),
                random.of(&UNITS),
                random.below(32_000),
                random.below(1 << 32),
                random.of(&NAMES),
                random.below(60_000)
            ),
            _ => format!(
                "2026-03-14 09:{minute:02}:{second:02},{milli:03} WARN  [worker-{}] org.example.{}.Handler - {} took {} ms\n",
                random.below(16),
                random.skewed(&WORDS),
                random.text(4),
                random.below(5000)
            ),
        };
        out.extend_from_slice(line.as_bytes());
    })
}

/// Returns `n` bytes of cells of an SQLite table: each has a length, the row number, a header with
/// the type of each column, and the columns.
pub(super) fn sqlite_rows(n: usize) -> Vec<u8> {
    filled(n, |random, number, out| {
        let texts = [
            random.of(&NAMES).to_owned(),
            random.of(&CITIES).to_owned(),
            random.skewed(&["active", "active", "blocked", "closed"]).to_owned(),
            {
                let words = random.below(12);
                random.text(words)
            },
        ];
        // Types of the columns: integers of 4, 2 and 6 bytes, a float, the constant 1, and texts.
        let mut header = vec![4, 2, 5, 7, 9];
        texts.iter().for_each(|text| varint_big(13 + 2 * text.len() as u64, &mut header));
        let mut row = vec![header.len() as u8 + 1];
        row.extend(header);
        row.extend((random.below(90_000) as u32).to_be_bytes());
        row.extend((random.below(400) as u16).to_be_bytes());
        row.extend(&(1_773_480_000_000 + number * 977 + random.below(900)).to_be_bytes()[2..]);
        row.extend((random.below(1_000_000) as f64 / 100.0).to_be_bytes());
        texts.iter().for_each(|text| row.extend_from_slice(text.as_bytes()));
        varint_big(row.len() as u64, out);
        varint_big(number + 1, out);
        out.extend(row);
    })
}

/// Appends a variable-length integer of SQLite, the most significant 7 bits first. `value` is below
/// 2^56.
fn varint_big(value: u64, out: &mut Vec<u8>) {
    for shift in (1..9).rev().filter(|shift| value >> (7 * shift) > 0) {
        out.push((value >> (7 * shift)) as u8 | 0x80);
    }
    out.push(value as u8 & 0x7f);
}

/// Returns `n` bytes of Protocol Buffers messages, each with its length in front.
pub(super) fn protobuf_messages(n: usize) -> Vec<u8> {
    filled(n, |random, number, out| {
        let mut message = Vec::new();
        field(1, number + 1_000_000, &mut message);
        text_field(
            2,
            &format!("{}-{:06}", random.of(&CITIES).to_lowercase(), random.below(1_000_000)),
            &mut message,
        );
        field(3, random.below(6), &mut message);
        varint(4 << 3 | 1, &mut message);
        message.extend((1_773_480_000.0 + number as f64 + random.below(1000) as f64 / 1000.0).to_le_bytes());
        for _ in 0..1 + random.below(4) {
            let mut item = Vec::new();
            text_field(1, random.skewed(&WORDS), &mut item);
            field(2, 1 + random.below(9), &mut item);
            field(3, random.below(20_000), &mut item);
            varint(4 << 3 | 5, &mut item);
            item.extend((random.below(400) as f32 / 4.0).to_le_bytes());
            bytes_field(5, &item, &mut message);
        }
        if random.below(3) == 0 {
            let words = 2 + random.below(8);
            text_field(6, &random.text(words), &mut message);
        }
        field(7, random.below(1 << 40), &mut message);
        varint(message.len() as u64, out);
        out.extend(message);
    })
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn field(number: u64, value: u64, out: &mut Vec<u8>) {
    varint(number << 3, out);
    varint(value, out);
}

fn bytes_field(number: u64, bytes: &[u8], out: &mut Vec<u8>) {
    varint(number << 3 | 2, out);
    varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn text_field(number: u64, text: &str, out: &mut Vec<u8>) {
    bytes_field(number, text.as_bytes(), out);
}
