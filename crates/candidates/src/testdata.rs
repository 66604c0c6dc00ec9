//! Generated data for tests of several modules.

use std::path::Path;

/// Returns a splitmix64 generator that begins with `state`. Its numbers are the same on every
/// machine.
fn numbers(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

/// `n` incompressible bytes.
pub(crate) fn random(n: usize) -> Vec<u8> {
    let mut next = numbers(1);
    (0..n).map(|_| (next() >> 56) as u8).collect()
}

/// `n` bytes of a service's log in JSON, in rows of about 137 bytes.
pub(crate) fn rows(n: usize) -> Vec<u8> {
    let mut next = numbers(2);
    let mut text = String::new();
    while text.len() < n {
        let (trace, user, took) = (next(), next() % 50_000, next() % 300);
        text += &format!(
            "{{\"level\":\"INFO\",\"service\":\"checkout\",\"trace_id\":\"{trace:016x}\",\"user_id\":{user},\
             \"path\":\"/api/v1/items\",\"status\":200,\"duration_ms\":{took}}}\n"
        );
    }
    text.truncate(n);
    text.into_bytes()
}

/// `rows` rows of 7,000 samples each, as 16-bit integers: a slow wave with noise of 0 to 7.
pub(crate) fn samples(rows: usize) -> Vec<i16> {
    let mut next = numbers(3);
    let wave = |i: usize| (f64::from((i % 7000) as u32) / 900.0).sin() * 2000.0;
    (0..rows * 7000).map(|i| wave(i) as i16 + (next() % 8) as i16).collect()
}

/// Writes [`samples`] as a `.npy` file of two axes.
pub(crate) fn write_npy(path: &Path, rows: usize) {
    let head = format!("{{'descr': '<i2', 'fortran_order': False, 'shape': ({rows}, 7000), }}");
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{head:<117}\n").bytes());
    file.extend(samples(rows).iter().flat_map(|sample| sample.to_le_bytes()));
    std::fs::write(path, file).expect("writable");
}

/// Returns a folder with a large log, noise, and some hundred small files.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = rows(1_500_000);
    let noise = random(700_000);
    std::fs::write(folder.path().join("large.log"), &rows[..1_000_000]).expect("writable");
    std::fs::write(folder.path().join("noise.bin"), &noise).expect("writable");
    for (i, part) in rows[1_000_000..].chunks(5000).enumerate() {
        std::fs::write(folder.path().join(format!("{i}.json")), part).expect("writable");
    }
    folder
}
