//! Tests that random headers, tables and pools round-trip, and that random bytes cause no panic.

use linerate_nx::{
    Block, ChunkSize, Codec, Entry, HashKind, Header, Layout, MAX_BLOCKS, MAX_COMPRESSED, MAX_OFFSET, Toc,
    TocForm,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::cases::cases;

fn entries(files: usize) -> impl Strategy<Value = Vec<Entry>> {
    let size = prop_oneof![0..5000u64, any::<u32>().prop_map(u64::from), any::<u64>()];
    let entry = (any::<u64>(), size, 0..files.max(1) as u32, 0..=MAX_BLOCKS, 0..=MAX_OFFSET);
    let entry = entry.prop_map(|(hash, size, path, first_block, block_offset)| Entry {
        hash,
        size,
        path,
        first_block,
        block_offset,
    });
    vec(entry, files)
}

fn blocks() -> impl Strategy<Value = Vec<Block>> {
    let codec = prop_oneof![Just(Codec::Copy), Just(Codec::Zstd), Just(Codec::Lz4)];
    vec(
        (0..=MAX_COMPRESSED, codec).prop_map(|(compressed, codec)| Block {
            compressed,
            codec,
            filtered: false,
        }),
        0..20,
    )
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn tables_come_back(
        entries in (0..40usize).prop_flat_map(entries),
        blocks in blocks(),
        exponent in 0..=21u8,
        old in any::<bool>(),
        flags in 0..16u8,
        pool in 0..5000usize,
        len in any::<u64>(),
    ) {
        let toc = Toc { entries, blocks };
        let chunk = ChunkSize::from_exponent(exponent).unwrap();
        for form in [toc.form(), TocForm::Long] {
            let header = Header::new(chunk, form, pool, toc.blocks.len(), toc.entries.len()).unwrap();
            let hash = if old { HashKind::Xxh64 } else { HashKind::Xxh3 };
            let header = Header { hash, flags, ..header };
            let mut bytes = header.write().to_vec();
            prop_assert_eq!(Header::parse(&bytes), Ok(header));
            toc.write(form, &mut bytes);
            prop_assert_eq!(bytes.len() as u64, header.pool_offset());
            prop_assert_eq!(&Toc::parse(&header, &bytes).unwrap(), &toc);
            // Random entries give blocks that follow each other, or an error.
            if let Ok(layout) = Layout::new(&header, &toc, len) {
                prop_assert!(layout.end() <= len.max(header.bytes()));
                for (i, block) in toc.blocks.iter().enumerate() {
                    prop_assert_eq!(layout.offset(i) % 4096, 0);
                    prop_assert!(block.compressed == 0 || layout.offset(i) + u64::from(block.compressed) <= layout.end());
                }
            }
        }
    }

    #[cfg(feature = "pack")]
    #[test]
    fn pools_come_back(paths in vec("[^\0]{0,40}", 0..60)) {
        use linerate_nx::{Limits, StringPool};
        let compressed = StringPool::encode(paths.iter().map(String::as_str)).unwrap();
        let pool = StringPool::parse(&compressed, paths.len() as u32, &Limits::default()).unwrap();
        prop_assert!(pool.iter().eq(paths.iter().map(String::as_str)));
        prop_assert_eq!(pool.is_sorted(), paths.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn random_bytes_are_survived(
        mut bytes in vec(any::<u8>(), 0..600),
        counts in (0..30u64, 0..30u64, 0..400u64),
    ) {
        // Opens random bytes, and random bytes after a valid header.
        let _ = linerate_nx::Archive::open(bytes.clone());
        if bytes.len() >= 16 {
            let (files, blocks, pool) = counts;
            bytes[..8].copy_from_slice(&[0x4E, 0x58, 0x55, 0x53, 0x10, 0, 0x30, 2]);
            bytes[8..16].copy_from_slice(&(pool << 38 | blocks << 20 | files).to_le_bytes());
            bytes.resize(8192, 0);
            let _ = linerate_nx::Archive::open(bytes);
        }
    }
}
