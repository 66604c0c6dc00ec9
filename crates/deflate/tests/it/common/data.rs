//! Test inputs: files of the repository, and generated data that covers the corners of the format.

/// Pseudorandom numbers, the same in every run (xorshift64*).
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        let mut noise = Noise((seed ^ 0x9E37_79B9_7F4A_7C15).max(1));
        (0..8).for_each(|_| _ = noise.next());
        noise
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Returns a number from 0 to `n` - 1.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (((self.next() >> 32) * n as u64) >> 32) as usize
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| (self.next() >> 56) as u8).collect()
    }

    /// Returns one of `items`.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// Returns random bytes above 143, which take 9 bits each in the fixed trees.
pub(crate) fn high(noise: &mut Noise, len: usize) -> Vec<u8> {
    (0..len).map(|_| 144 + noise.below(112) as u8).collect()
}

/// Returns noise of 64 letters, which is worth coding but has no useful matches.
pub(crate) fn base64(noise: &mut Noise, len: usize) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    (0..len).map(|_| noise.pick(LETTERS)).collect()
}

/// Returns random words and numbers.
pub(crate) fn text(noise: &mut Noise, len: usize) -> Vec<u8> {
    const WORDS: &str = "the of and a to in is that it was for on are with as his they be at one have \
        this from or had by hot but some what there we can out other were all your when up use word how \
        said an each she which do their time if will way about many then them would write like so these \
        her long make thing see him two has look more day could go come did my sound no most number who";
    let words: Vec<&str> = WORDS.split(' ').collect();
    let mut text = String::new();
    while text.len() < len {
        match noise.below(12) {
            0 => text += &noise.below(10_000).to_string(),
            1 => text += ".\n",
            _ => text += noise.pick(&words),
        }
        text.push(' ');
    }
    text.truncate(len);
    text.into_bytes()
}

/// Returns `len` bytes of one of six kinds. `kind` may be any number.
pub(crate) fn piece(noise: &mut Noise, kind: usize, len: usize) -> Vec<u8> {
    match kind % 6 {
        0 => noise.bytes(len),
        1 => text(noise, len),
        2 => vec![noise.next() as u8; len],
        3 => high(noise, len),
        4 => base64(noise, len),
        _ => (0..len).map(|i| (i * i / 100) as u8).collect(),
    }
}

/// Returns `len` bytes of pieces of all kinds and of copies from near and far.
pub(crate) fn mixture(noise: &mut Noise, len: usize) -> Vec<u8> {
    let mut data = Vec::with_capacity(len);
    while data.len() < len {
        let most = noise.pick(&[4, 40, 400, 4_000, 40_000]);
        let n = (1 + noise.below(most)).min(len - data.len());
        match noise.below(8) {
            kind @ 0..6 => data.extend(piece(noise, kind, n)),
            _ if data.is_empty() => {}
            _ => {
                let near = noise.pick(&[4, 60, 1_000, 33_000]);
                let distance = 1 + noise.below(near.min(data.len()));
                copy(&mut data, distance, n);
            }
        }
    }
    data
}

/// Appends a copy of `len` bytes from `distance` bytes back.
pub(crate) fn copy(data: &mut Vec<u8>, distance: usize, len: usize) {
    (0..len).for_each(|_| data.push(data[data.len() - distance]));
}

/// Returns 16-bit samples of a slow wave with noise, 12 bits deep, like the samples of an X-ray
/// image.
pub(crate) fn samples(noise: &mut Noise, count: usize) -> Vec<u8> {
    let wave = |i: usize| (2000.0 + 1500.0 * (i as f64 / 700.0).sin()) as u16;
    (0..count).flat_map(|i| (wave(i) + (noise.below(40) + noise.below(40)) as u16).to_le_bytes()).collect()
}

/// Returns generated inputs with their names.
pub(crate) fn generated() -> Vec<(&'static str, Vec<u8>)> {
    let noise = &mut Noise::new(7);
    vec![
        ("empty", vec![]),
        ("one byte", vec![b'a']),
        ("all byte values", (0..=255).collect()),
        ("all byte values, again and again", (0..20_000).map(|i| i as u8).collect()),
        ("zeros", vec![0; 1_000_000]),
        ("noise", noise.bytes(200_000)),
        ("base64", base64(noise, 200_000)),
        ("bytes of 9 bits", high(noise, 200_000)),
        ("two symbols", (0..50_000).map(|_| noise.pick(b"ab")).collect()),
        ("two rare symbols", (0..50_000).map(|_| noise.below(100) as u8 / 99 * 255).collect()),
        ("three symbols", (0..50_000).map(|_| noise.pick(b"abc")).collect()),
        ("text", text(noise, 150_000)),
        ("noise and text", (0..60).flat_map(|i| piece(noise, i % 2, 10 + i * 97)).collect()),
        ("mixture", mixture(noise, 300_000)),
        ("literals by Fibonacci", fibonacci_literals(noise)),
        ("runs by Fibonacci", fibonacci_runs()),
        ("distances by Fibonacci", fibonacci_distances(noise)),
        ("every symbol", every_symbol(noise)),
        ("samples of 16 bits", samples(noise, 100_000)),
        ("samples between text", [text(noise, 30_000), samples(noise, 70_000), text(noise, 9_000)].concat()),
        ("increasing words", (0..40_000u32).flat_map(|i| (i / 3).to_le_bytes()).collect()),
    ]
}

fn fibonacci() -> impl Iterator<Item = usize> {
    std::iter::successors(Some((1, 1)), |&(a, b)| Some((b, a + b))).map(|(a, _)| a)
}

/// Literals whose counts are Fibonacci numbers. They make the deepest possible tree: without a
/// limit its codes would have up to 22 bits.
fn fibonacci_literals(noise: &mut Noise) -> Vec<u8> {
    let mut data: Vec<u8> =
        fibonacci().take(22).enumerate().flat_map(|(i, n)| vec![i as u8 * 11; n]).collect();
    noise.shuffle(&mut data);
    data
}

/// Match lengths whose counts are Fibonacci numbers. Each match is a byte and a run of it.
fn fibonacci_runs() -> Vec<u8> {
    let lengths = [258, 200, 150, 120, 90, 70, 60, 40, 30, 25, 20, 15, 12, 10, 8];
    fibonacci().zip(lengths).flat_map(|(n, len)| (0..n).flat_map(move |i| vec![i as u8; len + 1])).collect()
}

/// Distances whose counts are Fibonacci numbers, in noise that has hardly any other matches.
fn fibonacci_distances(noise: &mut Noise) -> Vec<u8> {
    let mut data = base64(noise, 33_000);
    for (i, n) in fibonacci().take(15).enumerate() {
        for _ in 0..n {
            let letters = 1 + noise.below(5);
            data.extend(base64(noise, letters));
            let distance = (32_768 >> i) - noise.below(3).min(1);
            copy(&mut data, distance.max(1), 6);
        }
    }
    data
}

/// Every literal, and a match for every length symbol and every distance symbol.
fn every_symbol(noise: &mut Noise) -> Vec<u8> {
    let mut data: Vec<u8> = (0..=255).collect();
    // More than the largest distance below, 24,577.
    data.extend(base64(noise, 25_000));
    for extra in 0..14 {
        for half in [2, 3] {
            let distance: usize = (half << extra) + 1;
            for len in [
                3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 17, 20, 24, 30, 40, 50, 60, 75, 90, 110, 130, 160, 200, 230,
                257, 258,
            ] {
                data.extend(base64(noise, 3));
                copy(&mut data, distance, len);
            }
        }
    }
    data
}

/// Returns one repeat of `len` bytes at `distance`, surrounded by random letters.
pub(crate) fn repeat(noise: &mut Noise, distance: usize, len: usize) -> Vec<u8> {
    let mut data = base64(noise, distance + 5);
    copy(&mut data, distance, len);
    data.extend(base64(noise, 30));
    data
}
