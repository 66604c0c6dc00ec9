//! Options of building a block file.

/// The dictionary of a block file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DictionaryChoice {
    /// No dictionary.
    #[default]
    None,
    /// These bytes, stored in the file.
    Embedded(Vec<u8>),
    /// These bytes, stored elsewhere, such as in a [`Pack`](crate::Pack), under this ID. To open
    /// the file, the store must have them.
    External {
        /// The ID.
        id: u64,
        /// The dictionary.
        bytes: Vec<u8>,
    },
    /// A dictionary trained with the first records, stored in the file. It is omitted if the
    /// records are too few to train with, or if it saves no more than its own bytes on them.
    Train {
        /// Maximum length of the dictionary in bytes.
        size: usize,
        /// Whether to use [small tables](crate::Training::small_tables).
        small_tables: bool,
    },
}

/// Options of building a block file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockFileOptions {
    /// Target size of a block, in bytes of content: from 16 bytes to 32 MiB. Default: 4096. A
    /// larger record gets a block of its own.
    pub block_size: u32,
    /// zstd compression level, -7 to 22. Default: 3.
    pub level: i32,
    /// Whether the index has hashes of block contents. Default: true.
    pub checksums: bool,
    /// The dictionary. Default: none.
    pub dictionary: DictionaryChoice,
    /// Bytes of content of the first blocks that are kept in memory until a dictionary is trained.
    /// Default: 8 MiB.
    pub sample_bytes: usize,
}

impl BlockFileOptions {
    /// Returns the default options.
    pub const fn new() -> Self {
        BlockFileOptions {
            block_size: 4096,
            level: 3,
            checksums: true,
            dictionary: DictionaryChoice::None,
            sample_bytes: 8 << 20,
        }
    }

    /// Sets the target size of a block, in bytes of content.
    #[must_use]
    pub fn block_size(self, bytes: u32) -> Self {
        BlockFileOptions { block_size: bytes, ..self }
    }

    /// Sets the zstd compression level, -7 to 22.
    #[must_use]
    pub fn level(self, level: i32) -> Self {
        BlockFileOptions { level, ..self }
    }

    /// Sets whether the index has hashes of block contents. Without them, a damaged block may
    /// decode to other records.
    #[must_use]
    pub fn checksums(self, checksums: bool) -> Self {
        BlockFileOptions { checksums, ..self }
    }

    /// Sets the dictionary.
    #[must_use]
    pub fn dictionary(self, dictionary: DictionaryChoice) -> Self {
        BlockFileOptions { dictionary, ..self }
    }

    /// Sets how many bytes of content of the first blocks are kept in memory until a dictionary is
    /// trained.
    #[must_use]
    pub fn sample_bytes(self, bytes: usize) -> Self {
        BlockFileOptions { sample_bytes: bytes, ..self }
    }
}

impl Default for BlockFileOptions {
    fn default() -> Self {
        Self::new()
    }
}
