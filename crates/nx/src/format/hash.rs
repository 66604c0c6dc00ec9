//! Content hashes: XXH64 in header version 0, XXH3-64 in versions 1 and 65 and in R3A, both with
//! seed 0.
//!
//! The hashes detect damage, not tampering: collisions can be constructed.

use core::hash::Hasher as _;

use twox_hash::{XxHash3_64, XxHash64};

/// Hashes pieces by XXH3-64. On 32-bit targets, the streaming hasher of `twox_hash` is wrong beyond
/// 4 GiB, since it counts bytes in a `usize`.
#[cfg(not(target_pointer_width = "32"))]
type Xxh3Pieces = XxHash3_64;
#[cfg(target_pointer_width = "32")]
type Xxh3Pieces = xxhash_rust::xxh3::Xxh3;

/// The function that hashes the contents of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HashKind {
    /// XXH64, in header version 0.
    Xxh64,
    /// XXH3-64, in header versions 1 and 65, and in R3A.
    Xxh3,
}

impl HashKind {
    /// The name of the hash.
    pub const fn name(self) -> &'static str {
        match self {
            HashKind::Xxh64 => "XXH64",
            HashKind::Xxh3 => "XXH3-64",
        }
    }

    /// Hashes `bytes`.
    ///
    /// ```
    /// use linerate_nx::HashKind;
    /// assert_eq!(HashKind::Xxh3.hash_bytes(b"A"), 0xd0d4_96e0_5c55_3485);
    /// ```
    pub fn hash_bytes(self, bytes: &[u8]) -> u64 {
        match self {
            HashKind::Xxh64 => XxHash64::oneshot(0, bytes),
            HashKind::Xxh3 => XxHash3_64::oneshot(bytes),
        }
    }

    /// Creates an incremental hasher.
    pub fn hasher(self) -> ContentHasher {
        ContentHasher(match self {
            HashKind::Xxh64 => AnyHasher::Xxh64(XxHash64::with_seed(0)),
            HashKind::Xxh3 => AnyHasher::Xxh3(Box::new(Xxh3Pieces::new())),
        })
    }
}

/// An incremental content hasher.
#[derive(Clone)]
pub struct ContentHasher(AnyHasher);

#[derive(Clone)]
enum AnyHasher {
    Xxh64(XxHash64),
    // Boxed, since its state has more than 512 bytes.
    Xxh3(Box<Xxh3Pieces>),
}

impl ContentHasher {
    /// Hashes the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            AnyHasher::Xxh64(state) => state.write(bytes),
            AnyHasher::Xxh3(state) => state.write(bytes),
        }
    }

    /// Returns the hash of all pieces so far.
    pub fn finish(&self) -> u64 {
        match &self.0 {
            AnyHasher::Xxh64(state) => state.finish(),
            AnyHasher::Xxh3(state) => state.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_match() {
        assert_eq!(HashKind::Xxh3.hash_bytes(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(HashKind::Xxh3.hash_bytes(b"A"), 0xd0d4_96e0_5c55_3485);
        assert_eq!(HashKind::Xxh64.hash_bytes(b""), 0xef46_db37_51d8_e999);
        assert_eq!(HashKind::Xxh64.hash_bytes(b"A"), 0x1309_9d40_d095_b684);
    }

    #[test]
    fn hash_of_pieces_equals_hash_of_the_whole() {
        let bytes: Vec<u8> = (0..5000u32).map(|i| (i * 7) as u8).collect();
        for kind in [HashKind::Xxh64, HashKind::Xxh3] {
            let mut hasher = kind.hasher();
            bytes.chunks(333).for_each(|piece| hasher.update(piece));
            assert_eq!(hasher.finish(), kind.hash_bytes(&bytes));
        }
    }
}
