//! How a block file is built.

/// The dictionary that blocks of a file are compressed with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DictionaryChoice {
    /// None.
    #[default]
    None,
    /// These bytes, which then stand in the file.
    Embedded(Vec<u8>),
    /// These bytes, which stand elsewhere, such as in a [`Pack`](crate::Pack), under this number. Who
    /// opens the file must have them in the store.
    External {
        /// The number.
        id: u64,
        /// The dictionary.
        bytes: Vec<u8>,
    },
    /// One trained with the first records, which then stands in the file. There is none if they are
    /// too few to learn from, or if they are all and the file is smaller without.
    Train {
        /// The most bytes of it.
        size: usize,
        /// Whether it has [small tables](crate::Training::with_small_tables).
        small_tables: bool,
    },
}

/// How a block file is built.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Bytes of content of a block, 4096 unless told. A record that is larger has a block of its own.
    pub block_size: u32,
    /// Level of zstd, 3 unless told.
    pub level: i32,
    /// Whether the index has hashes of the contents of blocks; it has unless told.
    pub checksums: bool,
    /// The dictionary; none unless told.
    pub dictionary: DictionaryChoice,
    /// Bytes of the first records that are kept in memory to train a dictionary with: 8 MiB unless
    /// told.
    pub sample_bytes: usize,
}

impl Options {
    /// The defaults.
    pub const fn new() -> Self {
        Options {
            block_size: 4096,
            level: 3,
            checksums: true,
            dictionary: DictionaryChoice::None,
            sample_bytes: 8 << 20,
        }
    }

    /// With blocks of `bytes`.
    #[must_use]
    pub fn block_size(self, bytes: u32) -> Self {
        Options { block_size: bytes, ..self }
    }

    /// At a level of zstd, -7 to 22.
    #[must_use]
    pub fn level(self, level: i32) -> Self {
        Options { level, ..self }
    }

    /// With hashes of contents, or without. Without them a damaged block may decode to something else.
    #[must_use]
    pub fn checksums(self, checksums: bool) -> Self {
        Options { checksums, ..self }
    }

    /// With a dictionary.
    #[must_use]
    pub fn dictionary(self, dictionary: DictionaryChoice) -> Self {
        Options { dictionary, ..self }
    }

    /// Training with at most so many bytes of records.
    #[must_use]
    pub fn sample_bytes(self, bytes: usize) -> Self {
        Options { sample_bytes: bytes, ..self }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}
