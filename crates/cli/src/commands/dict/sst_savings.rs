//! Measures the savings of an SST file's dictionary: compresses a sample of its zstd blocks again
//! with and without it.

use linerate_dict::Savings;
use linerate_dict::sst::{Compression, Reader, Sst, SstStats};
use serde_json::{Value, json};

use crate::ui::error::{CliError, engine_error};

/// Approximate content of the blocks of the sample, in bytes.
const SAMPLE: u64 = 1 << 20;
/// Level that is assumed for a file that states none: the default of zstd and of RocksDB.
const DEFAULT_LEVEL: i32 = 3;

/// Savings of a sample, scaled to all zstd blocks of the file.
pub(super) struct SampledSavings {
    sample: Savings,
    sampled_blocks: usize,
    /// Number of zstd blocks of the file.
    blocks: u64,
    /// Bytes of content of the zstd blocks of the file.
    content: u64,
    /// Level at which the sample was compressed.
    level: i32,
}

impl SampledSavings {
    /// Measures at the file's level, with blocks spread evenly over the file. Returns `None` for a
    /// file without a dictionary and for one without zstd blocks.
    pub(super) fn measure(
        stats: &SstStats,
        sst: &Sst,
        reader: &mut Reader,
    ) -> Result<Option<SampledSavings>, CliError> {
        let count = stats.blocks.get(&Compression::Zstd).copied().unwrap_or_default();
        let (Some(id), 1..) = (sst.dictionary(), count.blocks) else { return Ok(None) };
        let all = reader.blocks(sst).map_err(engine_error)?;
        // If all blocks are zstd, their trailers, which state the compression, are not read again:
        // reading one may take a request to a web server.
        let all_zstd = all.len() as u64 == count.blocks;
        let wanted = SAMPLE / (count.content / count.blocks).max(1);
        let step = count.blocks.div_ceil(wanted.max(1)) as usize;
        let (mut blocks, mut seen) = (Vec::new(), 0);
        for handle in all {
            if all_zstd || reader.block_compression(sst, handle).map_err(engine_error)? == Compression::Zstd {
                if seen % step == 0 {
                    blocks.push(reader.decode_block(sst, handle).map_err(engine_error)?.content().to_vec());
                }
                seen += 1;
            }
        }
        let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
        let level = stats.properties.compression_level().unwrap_or(DEFAULT_LEVEL).clamp(-100, 22);
        let dictionary = sst.store().bytes(id).map_err(engine_error)?;
        let sample = Savings::measure(&dictionary, &blocks, level).map_err(engine_error)?;
        let (blocks, sampled_blocks) = (count.blocks, blocks.len());
        Ok(Some(SampledSavings { sample, sampled_blocks, blocks, content: count.content, level }))
    }

    /// Additional bytes that the zstd blocks would take without the dictionary, estimated from the
    /// sample. Negative if the dictionary makes them larger.
    fn saved(&self) -> i64 {
        let sampled = self.sample.without as f64 - self.sample.with as f64;
        (sampled * self.content as f64 / self.sample.content.max(1) as f64).round() as i64
    }

    /// Bytes that the dictionary saves in the zstd blocks, minus its own bytes.
    fn net(&self) -> i64 {
        self.saved() - self.sample.dictionary as i64
    }

    pub(super) fn text(&self) -> String {
        let Self { sample, sampled_blocks, blocks, level, .. } = self;
        let share = 100.0 * (1.0 - sample.with as f64 / sample.without.max(1) as f64);
        format!(
            "{} bytes: {} in zstd blocks ({share:.1} %), less {} of the dictionary; in memory its tables take {} \
             ({sampled_blocks} of {blocks} blocks, {} bytes, compressed again at level {level})",
            self.net(),
            self.saved(),
            sample.dictionary,
            sample.tables,
            sample.content
        )
    }

    pub(super) fn object(&self) -> Value {
        json!({
            "net": self.net(),
            "blocks": self.saved(),
            "dictionary": self.sample.dictionary,
            "tables": self.sample.tables,
            "level": self.level,
            "sampled_blocks": self.sampled_blocks,
            "sampled_content": self.sample.content,
            "sampled_with": self.sample.with,
            "sampled_without": self.sample.without,
        })
    }
}
