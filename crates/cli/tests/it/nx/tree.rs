//! Makes folders of files, and reads them back.

use std::collections::BTreeMap;

use linerate_testkit::data::{dds, mixed as sample};
use linerate_testkit::program::Folder;
pub(crate) use linerate_testkit::program::files_below;

/// Names and contents of all kinds that packing distinguishes: empty, small, equal, larger than a
/// chunk, incompressible, hidden.
pub(crate) fn files() -> BTreeMap<String, Vec<u8>> {
    let noise = |seed: u32, len: usize| -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (state >> 24) as u8
        };
        (0..len).map(|_| next()).collect()
    };
    let mut files = BTreeMap::new();
    for i in 0..40 {
        files.insert(format!("text/{}/{i}.txt", i % 3), sample(50 + 700 * i));
    }
    files.insert("empty".into(), Vec::new());
    files.insert("folder/empty too".into(), Vec::new());
    files.insert(".hidden/name".into(), b"hidden".to_vec());
    files.insert("large.bin".into(), sample(3_000_000));
    files.insert("copy/large.bin".into(), sample(3_000_000));
    files.insert("copy/1.txt".into(), sample(750));
    files.insert("noise.ogg".into(), noise(7, 150_000));
    files.insert("ümlaut/日本語.dat".into(), noise(8, 70_000));
    files.insert("textures/wall.dds".into(), dds(b"DXT1", 300, 1));
    files.insert("textures/leaf.dds".into(), dds(b"DXT5", 40, 2));
    files
}

/// Writes [`files`] below a folder.
pub(crate) fn plant(folder: &Folder, root: &str) -> BTreeMap<String, Vec<u8>> {
    let files = files();
    files.iter().for_each(|(name, bytes)| drop(folder.write(&format!("{root}/{name}"), bytes)));
    files
}
