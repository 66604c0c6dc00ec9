//! What is coded: generated waveforms, and files.

/// Pulses with a fast rise and a slow fall on a noisy baseline, as a silicon detector for beta
/// decay gives: 14-bit samples, white noise and noise shaped by the amplifier. Seeded.
pub(crate) fn generated(rows: usize, row: usize) -> Vec<i16> {
    let mut state = 20_240_621u64;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let mut out = Vec::with_capacity(rows * row);
    for _ in 0..rows {
        let amplitude = 30.0 - 400.0 * (1.0 - uniform()).ln();
        let (start, fall, rise) =
            (900.0 + 400.0 * uniform(), 1100.0 + 300.0 * uniform(), 4.0 + 8.0 * uniform());
        let mut shaped = 0.0;
        for t in 0..row {
            // The sum of four uniform numbers is near enough to a normal one; its variance is 1/3.
            let mut normal = || (uniform() + uniform() + uniform() + uniform() - 2.0) * 3f64.sqrt();
            shaped = 0.72 * shaped + 2.4 * normal();
            let since = t as f64 - start;
            let pulse =
                if since < 0.0 { 0.0 } else { amplitude * ((-since / fall).exp() - (-since / rise).exp()) };
            out.push((pulse + shaped + 3.4 * normal()).round() as i16);
        }
    }
    out
}

/// The samples of a `.npy` file and the length of its last dimension.
pub(crate) fn read_npy(bytes: &[u8]) -> Option<(Vec<i16>, usize)> {
    let head = bytes.strip_prefix(b"\x93NUMPY\x01\x00")?;
    let (length, rest) = head.split_first_chunk::<2>()?;
    let (text, data) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
    let text = std::str::from_utf8(text).ok()?;
    if !(text.contains("'<i2'") || text.contains("'<u2'")) || text.contains("'fortran_order': True") {
        return None;
    }
    let shape = text.split_once('(')?.1.split_once(')')?.0;
    let row = shape.trim_end_matches([',', ' ']).rsplit(',').next()?.trim().parse().ok()?;
    Some((data.as_chunks().0.iter().map(|b| i16::from_le_bytes(*b)).collect(), row))
}
