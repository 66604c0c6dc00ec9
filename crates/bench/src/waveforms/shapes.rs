//! Building blocks of signals, computed one sample at a time without exponentials or sines.

/// A value that loses a fixed part of itself with each sample.
#[derive(Clone, Copy)]
struct Decay {
    value: f64,
    kept: f64,
}

impl Decay {
    /// A value of 0 that decays with a time constant of this many samples.
    fn new(samples: f64) -> Decay {
        Decay { value: 0.0, kept: samples / (samples + 1.0) }
    }

    fn step(&mut self) -> f64 {
        let now = self.value;
        self.value *= self.kept;
        if self.value.abs() < 1e-9 {
            self.value = 0.0; // long before the value is subnormal: computing with those is slow
        }
        now
    }
}

/// Pulses that rise and fall exponentially: the difference of a slow decay and a fast one.
/// Overlapping pulses add up.
pub(super) struct Pulses {
    fall: Decay,
    rise: Decay,
}

impl Pulses {
    /// Takes the time constants of the fall and of the rise, in samples.
    pub(super) fn new(fall: f64, rise: f64) -> Pulses {
        Pulses { fall: Decay::new(fall), rise: Decay::new(rise) }
    }

    /// Starts a pulse at the next sample. Its peak is a little lower than `amplitude`.
    pub(super) fn start(&mut self, amplitude: f64) {
        self.fall.value += amplitude;
        self.rise.value += amplitude;
    }

    /// The next sample.
    pub(super) fn step(&mut self) -> f64 {
        self.fall.step() - self.rise.step()
    }
}

/// A slow sine-like wave: a mass on a spring. Updating the velocity before the position keeps its
/// energy.
pub(super) struct Wander {
    place: f64,
    velocity: f64,
    stiffness: f64,
}

impl Wander {
    /// Makes a wave of about `amplitude` to both sides of 0, with a period of `period` samples. It
    /// starts at `phase` (-1 to 1) times `amplitude`, on the way up.
    pub(super) fn new(amplitude: f64, period: f64, phase: f64) -> Wander {
        let per_sample = 2.0 * std::f64::consts::PI / period;
        let rest = (1.0 - phase * phase).sqrt();
        Wander {
            place: amplitude * phase,
            velocity: amplitude * rest * per_sample,
            stiffness: per_sample * per_sample,
        }
    }

    /// The next sample.
    pub(super) fn step(&mut self) -> f64 {
        self.velocity -= self.stiffness * self.place;
        self.place += self.velocity;
        self.place
    }
}

/// Rises smoothly from 0 at `at` to 1 at `at + width`.
pub(super) fn edge(t: f64, at: f64, width: f64) -> f64 {
    let x = ((t - at) / width).clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pulses_rise_fall_and_add_up() {
        let mut one = Pulses::new(100.0, 3.0);
        let mut two = Pulses::new(100.0, 3.0);
        one.start(10.0);
        two.start(10.0);
        two.start(10.0);
        let trace: Vec<f64> = (0..5000).map(|_| one.step()).collect();
        assert!(trace.iter().all(|x| (two.step() - 2.0 * x).abs() < 1e-6));
        let top = trace.iter().copied().fold(0.0, f64::max);
        assert!(trace[0] == 0.0 && (8.0..9.0).contains(&top), "{top}");
        assert!((trace[300] / trace[200] - (-1f64).exp()).abs() < 0.01);
        assert_eq!(trace[4999], 0.0);
    }

    #[test]
    fn a_wave_keeps_its_height_and_period() {
        let mut wander = Wander::new(2.0, 1000.0, 0.0);
        let trace: Vec<f64> = (0..100_000).map(|_| wander.step()).collect();
        let top = trace.iter().copied().fold(0.0, f64::max);
        assert!((1.95..2.05).contains(&top), "{top}");
        let ups = trace.windows(2).filter(|w| w[0] < 0.0 && w[1] >= 0.0).count();
        assert!((99..=101).contains(&ups), "{ups}");
    }

    #[test]
    fn an_edge_is_monotonic() {
        let trace: Vec<f64> = (0..30).map(|t| edge(f64::from(t), 10.0, 12.0)).collect();
        assert!(trace.is_sorted() && trace[10] == 0.0 && trace[16] == 0.5 && trace[22] == 1.0);
    }
}
