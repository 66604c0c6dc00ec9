//! Writes bit fields, lowest bit first.

/// Gathers bits into bytes, lowest bit first. The caller pushes the fields of a forward stream in
/// order, and the fields of a backward stream from the last to the first.
#[derive(Default)]
pub struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    pub fn push(&mut self, value: u64, n: u32) {
        assert!(n == 64 || value >> n == 0, "{value} has more than {n} bits");
        for i in 0..n {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let last = self.bytes.last_mut().expect("pushed above");
            *last |= ((value >> i & 1) as u8) << (self.used % 8);
            self.used += 1;
        }
    }

    /// The bytes of a forward stream.
    pub fn forward(self) -> Vec<u8> {
        self.bytes
    }

    /// The bytes of a backward stream. Adds its end mark, a bit of 1 after the last bit pushed.
    pub fn backward(mut self) -> Vec<u8> {
        self.push(1, 1);
        self.bytes
    }
}
