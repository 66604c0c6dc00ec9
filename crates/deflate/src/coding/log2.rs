//! Logarithms to base 2, for entropies.

/// The value of one in the unit of [`log2`].
pub(crate) const ONE: u32 = 1 << 8;

/// Returns the logarithm of `n`, from 1 to 2^56 - 1, in units of 1 / [`ONE`], rounded down.
#[inline(always)]
pub(crate) fn log2(n: u64) -> u32 {
    let exponent = n.ilog2();
    let mantissa = ((n << 8) >> exponent) & 0xff;
    exponent * ONE + u32::from(LOG2[mantissa as usize])
}

/// log2(1 + i / 256), in units of 1 / [`ONE`], rounded down.
static LOG2: [u16; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        // Each squaring yields one bit of the logarithm.
        let (mut x, mut log, mut bit) = ((256 + i as u64) << 22, 0, 256);
        while bit > 0 {
            x = ((x as u128 * x as u128) >> 30) as u64;
            bit >>= 1;
            if x >= 2 << 30 {
                x >>= 1;
                log |= bit;
            }
        }
        table[i] = log;
        i += 1;
    }
    table
};
