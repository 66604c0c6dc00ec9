//! R3A archives: arbitrary bytes as an archive, shown as Nx, and converted to Nx and back.

use linerate_nx::r3a::{Archive, AsNx, Head, Tables, from_nx, to_nx};
use linerate_nx::{HashKind, Limits, PAGE, Verifier};

/// Reads the bytes as an archive, and as one without padding: the length of the header in two bytes,
/// the header, and the blocks.
///
/// # Panics
/// If content does not match its hash, if an archive shown as Nx has other contents, or if a
/// conversion loses anything.
pub fn r3a(data: &[u8]) {
    archive(data);
    archive(&spread(data));
}

fn limits() -> Limits {
    Limits {
        header: 1 << 20,
        pool: 1 << 18,
        block: 1 << 18,
        memory: 1 << 20,
        file: 1 << 18,
        total: 1 << 20,
        ..Limits::default()
    }
}

/// Takes `data` as an archive without padding, after the length of its header in two bytes, and
/// adds the padding, so that short inputs can have blocks.
fn spread(data: &[u8]) -> Vec<u8> {
    let Some((len, data)) = data.split_first_chunk() else { return Vec::new() };
    let len = usize::from(u16::from_le_bytes(*len)).min(data.len());
    let (head, mut rest) = data.split_at(len);
    let Some(word) = head.get(4..8).and_then(|word| word.try_into().ok()) else { return Vec::new() };
    let pages = (u32::from_le_bytes(word) >> 4 & 0xffff).min(16) as usize;
    let mut bytes = head.to_vec();
    bytes.resize(pages * PAGE as usize, 0);
    let Ok(head) = Head::parse(&bytes, &limits()) else { return bytes };
    for block in head.toc.blocks.iter().take(16) {
        let (own, next) = rest.split_at(rest.len().min(block.compressed as usize));
        bytes.extend_from_slice(own);
        bytes.resize(bytes.len().next_multiple_of(PAGE as usize), 0);
        rest = next;
    }
    bytes
}

fn archive(bytes: &[u8]) {
    let Ok(archive) = Archive::open_with(bytes, limits()) else { return };
    assert!(archive.layout().end() <= bytes.len() as u64);
    let hashed = archive.head().header.form.hashed();
    let contents: Vec<Option<Vec<u8>>> = (0..archive.len()).map(|i| archive.read(i).ok()).collect();
    for ((_, entry), content) in archive.files().zip(&contents) {
        let Some(content) = content else { continue };
        assert_eq!(content.len() as u64, entry.size);
        assert!(!hashed || HashKind::Xxh3.hash_bytes(content) == entry.hash);
    }
    let whole = contents.iter().all(Option::is_some);
    let Ok(shown) = AsNx::new(archive) else { return };
    let shown = shown.open().expect("an Nx archive");
    assert_eq!(shown.len(), contents.len());
    let mut reader = shown.reader().expect("a window that zstd knows");
    for (file, content) in shown.files().zip(&contents) {
        let read = reader.read(file);
        // Reading as Nx may recover more of a damaged archive.
        if let Some(content) = content {
            assert!(read.is_ok_and(|read| read == *content), "{}", file.path());
        }
    }
    if whole {
        converted(bytes, &contents);
    }
}

/// Converts an archive, all of whose files can be read, to Nx and back, and compares the contents.
fn converted(bytes: &[u8], contents: &[Option<Vec<u8>>]) {
    let archive = Archive::open_with(bytes, limits()).expect("it was opened");
    let mut nx = Vec::new();
    // The files together may exceed the limits, or the chunks may be larger than those of Nx.
    if to_nx(archive, &mut nx).is_err() {
        return;
    }
    let nx = linerate_nx::Archive::open(nx).expect("an Nx archive");
    let verified = Verifier::new(&nx).run().expect("below the limits");
    assert!(verified.failures.is_empty());
    // Nx has the files in another order.
    let read = nx.files().map(|file| nx.read(file).ok()).collect::<Vec<_>>();
    let sorted = |contents: &[Option<Vec<u8>>]| {
        let mut contents = contents.to_vec();
        contents.sort_unstable();
        contents
    };
    assert!(sorted(&read) == sorted(contents));
    for tables in [Tables::Presets, Tables::Flexible] {
        let mut again = Vec::new();
        if from_nx(&nx, tables, &[], &mut again).is_err() {
            continue;
        }
        let again = Archive::open(again).expect("an R3A archive");
        for ((i, (path, _)), file) in again.files().enumerate().zip(nx.files()) {
            assert_eq!(path, file.path());
            assert_eq!(again.read(i).ok(), read[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seeds_are_archives_that_can_be_read() {
        let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/seeds");
        let mut count = 0;
        for seed in std::fs::read_dir(seeds).unwrap().map(|seed| seed.unwrap().path()) {
            if !seed.file_name().unwrap().to_string_lossy().starts_with("r3a-") {
                continue;
            }
            let bytes = spread(&std::fs::read(&seed).unwrap());
            let archive = Archive::open_with(&bytes[..], limits()).unwrap();
            assert!(archive.len() >= 3);
            (0..archive.len()).for_each(|i| drop(archive.read(i).unwrap()));
            count += 1;
        }
        assert_eq!(count, 7);
    }
}
