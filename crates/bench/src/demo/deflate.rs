//! Compresses the files that the program carries in calls of 16 KiB, whose output does not refer to
//! the input of earlier calls, beside zlib-rs.

use linerate_bench::bytes::Field;
use linerate_bench::harness::corpus::Corpus;
use linerate_bench::harness::filter::Chunk;

/// Name and format of our contender.
const OURS: &str = "linerate 1 deflate";
/// Name and format of the contender to compare with: zlib-rs at its fastest level that compresses.
const PEER: &str = "zlib-rs 1 deflate";

pub(super) fn run() -> Result<String, String> {
    let corpus = Corpus::carried();
    let mut field = Field::new(&OURS.parse().unwrap_or_default(), Some(PEER))?;
    let found = field.measure(&corpus, Chunk::Bytes(16 << 10), 5)?;
    let of = |name: &str, metric: &str| super::metric(&found, &name[..name.len() - " deflate".len()], metric);
    Ok(format!(
        "{} files in calls of 16 KiB: linerate deflates {:.0} MB/s at a ratio of {:.2}, zlib-rs {:.0} MB/s at {:.2}: {:.1} \
         times as fast.",
        corpus.files.len(),
        of(OURS, "speed")?,
        of(OURS, "ratio")?,
        of(PEER, "speed")?,
        of(PEER, "ratio")?,
        of(OURS, "speed_by_base")?
    ))
}
