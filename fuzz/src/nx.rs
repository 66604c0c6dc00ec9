//! Nx archives: arbitrary bytes as an archive, and as the parts of its header.

use linerate_nx::metadata::{MAGIC, Metadata, VERSION, check_target};
use linerate_nx::pack::{Builder, PackOptions};
use linerate_nx::{
    Archive, ChunkSize, Entry, HashKind, Header, Limits, ReadAt, StringPool, Toc, TocForm, Verifier,
    check_path, collisions,
};

/// Reads the bytes as an archive, as one without padding, as parts of a header, and as metadata.
///
/// # Panics
/// If content does not match its hash, if a range differs from the whole file, if verifying fails
/// where reading does not, if tables are not written as they were read, or if a link that passes the
/// check leads out of the archive's top folder.
pub fn nx(data: &[u8]) {
    archive(data);
    archive(&spread(data));
    parts(data);
    metadata(data);
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

/// Takes `data` as an archive without padding, and adds the padding, so that short inputs can have
/// blocks. Returns no bytes if the header or its tables are invalid, cut off or too large.
fn spread(data: &[u8]) -> Vec<u8> {
    let Ok(header) = Header::parse(data) else { return Vec::new() };
    let Ok(toc) = Toc::parse(&header, data) else { return Vec::new() };
    let filled = header.pool_end() as usize;
    if data.len() < filled || header.pages > 16 {
        return Vec::new();
    }
    let (tables, mut rest) = data.split_at(filled);
    let mut bytes = tables.to_vec();
    bytes.resize(header.bytes() as usize, 0);
    for block in toc.blocks.iter().take(16) {
        let (own, next) = rest.split_at(rest.len().min(block.compressed as usize));
        bytes.extend_from_slice(own);
        bytes.resize(bytes.len().next_multiple_of(4096), 0);
        rest = next;
    }
    bytes
}

fn archive(bytes: &[u8]) {
    let Ok(archive) = Archive::open_with(bytes, limits()) else { return };
    assert!(archive.layout().end() <= archive.source().len());
    for block in 0..archive.layout().len() {
        let Ok(regions) = archive.regions(block) else { continue };
        assert!(regions.windows(2).all(|pair| pair[0].start + pair[0].len <= pair[1].start));
        assert_eq!(regions.is_empty(), !archive.toc().blocks[block].filtered);
    }
    let mut reader = archive.reader().expect("a window that zstd knows");
    let mut right = 0;
    for file in archive.files() {
        let found = archive.find(file.path()).expect("its path is in the pool");
        assert_eq!(found.path(), file.path());
        let Ok(content) = reader.read(file) else { continue };
        right += 1;
        assert_eq!(content.len() as u64, file.size());
        assert_eq!(Some(archive.hash_kind().hash_bytes(&content)), file.hash());
        let middle = content.len() / 2;
        let mut part = vec![0; content.len() - middle];
        reader.read_range(file, middle as u64, &mut part).expect("the whole was read");
        assert_eq!(part, content[middle..]);
    }
    if let Ok(verified) = Verifier::new(&archive).run() {
        let failed = verified.failures.len() as u64;
        assert_eq!(verified.files + failed, archive.len() as u64);
        // Reading and verifying may recover different files of a damaged block, so that only an
        // archive whose files can all be read must have no failure.
        assert!(right < archive.len() as u64 || failed == 0);
    }
}

/// Takes the bytes as the columns of a metadata record, in an archive of two empty files. The first
/// byte is the number of folders and links in the record.
fn metadata(data: &[u8]) {
    let Some((others, columns)) = data.split_first() else { return };
    let mut content = HashKind::Xxh3.hash_bytes(b"a\0b/c\0").to_le_bytes().to_vec();
    content.extend([2, 0, 0, 0, *others, 0, 0, 0]);
    content.extend_from_slice(columns);
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
    zstd_safe::compress(&mut frame, &content, 1).expect("room");
    let mut record = MAGIC.to_vec();
    let numbers = [VERSION, frame.len() as u32, content.len() as u32, 0];
    record.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    let hash = HashKind::Xxh3.hash_bytes(&[&record[..], &frame].concat());
    record.extend(hash.to_le_bytes());
    record.extend(frame);
    let pool = StringPool::encode(["a", "b/c"]).expect("short paths");
    let chunk = ChunkSize::from_bytes(512).expect("a chunk size");
    let mut header = Header::new(chunk, TocForm::Short, pool.len(), 0, 2).expect("small numbers");
    let entry =
        |path| Entry { hash: HashKind::Xxh3.hash_bytes(b""), size: 0, path, first_block: 0, block_offset: 0 };
    let at = header.pool_end().next_multiple_of(8) as usize;
    header.pages = (at + record.len()).div_ceil(4096) as u32;
    let mut bytes = header.write().to_vec();
    Toc { entries: vec![entry(0), entry(1)], blocks: Vec::new() }.write(header.form, &mut bytes);
    bytes.extend(pool);
    bytes.resize(at, 0);
    bytes.extend(record);
    bytes.resize(header.bytes() as usize, 0);
    let Ok(archive) = Archive::open_with(&bytes[..], limits()) else { return };
    let Ok(found) = Metadata::from_archive(&archive) else { return };
    let found = found.expect("its magic is there");
    for (path, link) in &found.links {
        if check_path(path).is_ok() && check_target(path, &link.target).is_ok() {
            assert!(stays(path, &link.target), "{path} -> {}", link.target);
        }
    }
    let mut builder = Builder::new(PackOptions::default()).expect("the default");
    for path in ["a", "b/c"] {
        builder.add_bytes(path, Vec::new()).expect("a path");
    }
    builder.metadata(found.clone());
    let (again, _) = builder.to_bytes().expect("it has been read");
    let again = Archive::open(&again[..]).expect("it has been written");
    assert_eq!(Metadata::from_archive(&again), Ok((!found.is_empty()).then_some(found)));
}

fn parts(data: &[u8]) {
    if let Ok(header) = Header::parse(data) {
        assert_eq!(Header::parse(&header.write()), Ok(header));
        if let Ok(toc) = Toc::parse(&header, data) {
            let mut written = header.write().to_vec();
            toc.write(header.form, &mut written);
            assert_eq!(written, data[..written.len()]);
        }
    }
    let files = data.first().map_or(0, |b| u32::from(*b));
    if let Ok(pool) = StringPool::parse(data.get(1..).unwrap_or_default(), files, &limits()) {
        assert_eq!(pool.len(), files as usize);
        pool.iter().filter(|path| check_path(path).is_ok()).for_each(|path| {
            assert!(!path.starts_with('/') && !path.split('/').any(|part| part == ".."));
        });
        assert!(collisions(pool.iter()).len() <= pool.len() / 2);
    }
}

/// Returns whether no step on the way from a link at `path` to its target leads above the top
/// folder.
fn stays(path: &str, target: &str) -> bool {
    let mut depth = path.matches('/').count();
    !target.starts_with('/')
        && target.split('/').all(|part| match part {
            "" | "." => true,
            ".." => depth.checked_sub(1).is_some_and(|up| {
                depth = up;
                true
            }),
            _ => {
                depth += 1;
                true
            }
        })
}
