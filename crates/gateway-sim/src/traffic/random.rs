//! Random numbers that are the same on every machine. They use integers, and `f64` only with the
//! operations that IEEE 754 rounds correctly, so no function of a mathematical library.

use std::f64::consts::LN_2;

/// A splitmix64 generator (Steele, Lea and Flood 2014).
pub struct Random(u64);

impl Random {
    /// Creates stream number `index` of a seed. Streams begin at unrelated points.
    pub fn stream(seed: u64, index: u64) -> Random {
        let mut of_seed = Random(seed);
        let mut of_index = Random(of_seed.next() ^ index);
        Random(of_index.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `n`, which must not be 0. If `n` is far below 2^64, all numbers are almost
    /// equally likely.
    pub fn below(&mut self, n: usize) -> usize {
        self.below_u64(n as u64) as usize
    }

    /// Like [`below`](Self::below), for numbers that may exceed a `usize`.
    pub fn below_u64(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// A number from 0 to below 1, uniformly distributed.
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number from `low` to below `high`, uniformly distributed.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// A number with mean 0 and variance 1, approximately normally distributed: the sum of twelve
    /// uniform ones, each of variance 1/12. It lies between -6 and 6.
    pub fn normal(&mut self) -> f64 {
        let lanes = |x: u64| (x & 0xffff) + (x >> 16 & 0xffff) + (x >> 32 & 0xffff) + (x >> 48);
        let sum = lanes(self.next()) + lanes(self.next()) + lanes(self.next());
        (sum as f64 - 6.0 * 65_535.0) / 65_536.0
    }

    /// A number with mean 1, exponentially distributed.
    pub fn exponential(&mut self) -> f64 {
        -ln(1.0 - self.uniform())
    }

    /// A number with median 1, log-normally distributed; `deviation` is the standard deviation of
    /// its logarithm.
    pub fn log_normal(&mut self, deviation: f64) -> f64 {
        exp(deviation * self.normal())
    }
}

/// The natural logarithm of a positive number that is not subnormal.
fn ln(x: f64) -> f64 {
    let exponent = (x.to_bits() >> 52) as i32 - 1023;
    let mantissa = f64::from_bits(x.to_bits() & ((1 << 52) - 1) | 1023 << 52); // from 1 to below 2
    // The power series of 2 artanh(s). Since s is at most 1/3, each term is at most a ninth of the
    // previous one.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let series = (0..16).rev().fold(0.0, |sum, n| sum * s * s + 1.0 / f64::from(2 * n + 1));
    f64::from(exponent) * LN_2 + 2.0 * s * series
}

/// e to the power of a number between -100 and 100.
fn exp(x: f64) -> f64 {
    // Halving ten times makes x small enough for a short series; squaring its value ten times gives
    // the result.
    let s = x / 1024.0;
    let series = (1..12).rev().fold(1.0, |sum, n| 1.0 + sum * s / f64::from(n));
    (0..10).fold(series, |y, _| y * y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ln_is_the_logarithm() {
        for x in [1.0, 0.5, 1.999, 1e-16, 0.1, 3.7, f64::MIN_POSITIVE, 1e300] {
            assert!((ln(x) - x.ln()).abs() <= 1e-13 * x.ln().abs().max(1.0), "{x}: {} {}", ln(x), x.ln());
        }
    }

    #[test]
    fn exp_is_the_exponential_function() {
        for x in [0.0, 1.0, -1.0, 0.3, -5.7, 5.7, 42.0, -42.0] {
            assert!((exp(x) / x.exp() - 1.0).abs() <= 1e-12, "{x}: {} {}", exp(x), x.exp());
        }
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut random = Random::stream(1, 2);
        let n = 200_000;
        let mut moments = |draw: fn(&mut Random) -> f64| {
            let all: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
            let mean = all.iter().sum::<f64>() / f64::from(n);
            (mean, all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n))
        };
        let near = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 0.01 && (a.1 - b.1).abs() < 0.02;
        assert!(near(moments(Random::uniform), (0.5, 1.0 / 12.0)));
        assert!(near(moments(Random::normal), (0.0, 1.0)));
        assert!(near(moments(Random::exponential), (1.0, 1.0)));
    }

    #[test]
    fn streams_differ() {
        let first = |seed, index| Random::stream(seed, index).next();
        assert_ne!(first(1, 0), first(1, 1));
        assert_ne!(first(1, 0), first(2, 0));
    }
}
