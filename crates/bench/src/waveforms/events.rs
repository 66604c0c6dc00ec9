//! Makes rows of each set of waveforms. Lengths are in samples, heights in units of the
//! analog-to-digital converter.

use super::shapes::{Pulses, Wander, edge};
use linerate_gateway_sim::traffic::Random;

/// A decay electron in a silicon detector, seen through a preamplifier that returns slowly.
pub(super) fn nab(random: &mut Random, row: &mut [i16]) {
    let mut pulses = Pulses::new(random.between(1100.0, 1400.0), random.between(4.0, 12.0));
    let mut wander = Wander::new(1.0, random.between(3000.0, 9000.0), random.between(-1.0, 1.0));
    let start = random.between(900.0, 1300.0) as usize;
    let amplitude = 30.0 + 400.0 * random.exponential();
    let piled_up = random.uniform() < 1.0 / 3.0;
    let second = random.between(1500.0, 6000.0) as usize;
    let second_amplitude = 300.0 * random.exponential();
    let baseline = 4.0 * random.normal();
    // The amplifier passes part of the noise through its own, slower response.
    let kept = 0.72_f64;
    let gain = 4.6 * (1.0 - kept * kept).sqrt();
    let mut slow = 0.0;
    for (t, sample) in row.iter_mut().enumerate() {
        if t == start {
            pulses.start(amplitude);
        }
        if piled_up && t == second {
            pulses.start(second_amplitude);
        }
        slow = kept * slow + gain * random.normal();
        let noise = slow + 2.2 * random.normal();
        *sample = converted(baseline + pulses.step() + wander.step() + noise, 14);
    }
}

/// Scintillation light gated into square pulses, several of which may overlap.
pub(super) fn nedm(random: &mut Random, row: &mut [i16]) {
    const EDGE: f64 = 10.0;
    let free = row.len() as f64 - 4000.0;
    let mut squares = [(0.0, 0.0, 0.0); 20];
    let n = random.between(8.0, 20.0) as usize;
    for square in &mut squares[..n] {
        let start = random.between(0.0, free.max(1.0));
        *square = (start, start + random.between(300.0, 4000.0), random.between(200.0, 3000.0));
    }
    for (t, sample) in row.iter_mut().enumerate() {
        let t = t as f64;
        let of = |&(from, to, height): &(f64, f64, f64)| height * (edge(t, from, EDGE) - edge(t, to, EDGE));
        let signal: f64 = squares[..n].iter().map(of).sum();
        *sample = converted(signal + 2.7 * random.normal(), 16);
    }
}

/// Neutrons after a pulsed source: fast ones first and close together, slow ones later and apart.
pub(super) fn noptrex(random: &mut Random, row: &mut [i16]) {
    const EVENTS: f64 = 250.0;
    /// The rate falls as 1 / (t + EARLY), where t is the time as a part of the row.
    const EARLY: f64 = 0.1;
    /// Integral of 1 / (t + EARLY) over the row: ln(11).
    const INTEGRAL: f64 = 2.398;
    let mut pulses = Pulses::new(80.0, 3.0);
    let length = row.len() as f64;
    for (t, sample) in row.iter_mut().enumerate() {
        let rate = EVENTS / INTEGRAL / (t as f64 + EARLY * length);
        if random.uniform() < rate {
            pulses.start(-250.0 * random.exponential());
        }
        *sample = converted(7000.0 + pulses.step() + 0.75 * random.normal(), 14);
    }
}

/// The value that a converter of `bits` bits returns: rounded, and limited to the signed range.
fn converted(x: f64, bits: i32) -> i16 {
    let most = f64::from((1 << (bits - 1)) - 1);
    x.round().clamp(-most - 1.0, most) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converters_round_and_saturate() {
        assert_eq!(converted(2.5, 14), 3);
        assert_eq!(converted(-0.4, 14), 0);
        assert_eq!((converted(1e9, 14), converted(-1e9, 14)), (8191, -8192));
        assert_eq!((converted(1e9, 16), converted(-1e9, 16)), (i16::MAX, i16::MIN));
    }

    #[test]
    fn rows_of_any_length_can_be_made() {
        for make in [nab, nedm, noptrex] {
            for n in [0, 1, 17, 4001] {
                make(&mut Random::stream(0, 0), &mut vec![0; n]);
            }
        }
    }
}
