//! Tests an archive of a file larger than 4 GiB, in blocks of 256 MiB: memory is one block per
//! thread. The test is a program of its own, since it reads the peak memory of its process.

#[path = "it/common/mod.rs"]
mod common;

use common::goldens;
use linerate_nx::{HashKind, Verifier};

/// Returns the peak memory of this process in bytes, if the system reports it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

#[test]
fn large_file_is_streamed_in_bounded_memory() {
    let golden = goldens().into_iter().find(|g| g.name == "over-4-gib").unwrap();
    let archive = golden.open();
    let block = archive.layout().largest_content();
    assert_eq!(block, 256 << 20);
    let file = archive.find("sparse.bin").unwrap();
    assert_eq!(file.size(), (1 << 32) + 3);

    let (mut size, mut hasher) = (0, HashKind::Xxh3.hasher());
    let mut sink = common::Sink(|bytes: &[u8]| {
        size += bytes.len() as u64;
        hasher.update(bytes);
    });
    archive.reader().unwrap().verify(false).write_to(file, &mut sink).unwrap();
    assert_eq!((size, Some(hasher.finish())), (file.size(), file.hash()));
    let slack = 64 << 20;
    assert!(peak().is_none_or(|peak| peak < block + slack), "{:?}", peak());

    let verified = Verifier::new(&archive).threads(2).run().unwrap();
    assert_eq!((verified.files, verified.failures.len()), (2, 0));
    assert!(peak().is_none_or(|peak| peak < 2 * block + slack), "{:?}", peak());

    // Reads across the last two blocks.
    let mut end = [9; 5];
    archive.reader().unwrap().read_range(file, file.size() - 5, &mut end).unwrap();
    assert_ne!(end, [9; 5]);
}
