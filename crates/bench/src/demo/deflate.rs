//! Compresses web content in calls of 16 KiB that share no memory, beside zlib-rs.

use linerate_bench::bytes::Field;
use linerate_bench::harness::corpus::Corpus;
use linerate_bench::harness::filter::Chunk;

/// Our contender, then the fastest level of the peer.
const OURS: &str = "linerate 1 deflate";
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
