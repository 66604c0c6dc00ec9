//! BGZF, blocked gzip (SAM specification, section 4.1). Every block is a gzip member that holds its
//! length in an extra field.

use std::io::{self, Read, Write};

use super::pipeline::{self, Job, JobSizes};
use super::{Options, Totals, job_size, most_blocks, put};
use crate::checksum::{CRC32_START, crc32};
use crate::{Format, Result, Scratch, compress as compress_one, compress_bound};

/// Maximum input of a block in bytes, as in htslib. Even if the data is stored, the member stays
/// within 64 KiB.
const MOST: usize = 65_280;
const HEADER: usize = 18;
const TRAILER: usize = 8;

const _: () = assert!(HEADER + compress_bound(MOST) + TRAILER <= 1 << 16);

/// gzip header with an extra field of 6 bytes: subfield "BC" holds the block's length minus one in
/// 2 bytes.
const START: [u8; HEADER] = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, b'B', b'C', 2, 0, 0, 0];

/// The empty block that ends a file. The SAM specification, section 4.1.2, prescribes these bytes.
const END_OF_FILE: [u8; 28] =
    [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, b'B', b'C', 2, 0, 0x1b, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];

pub(super) fn compress<R: Read, W: Write>(
    reader: R,
    mut writer: W,
    options: &Options,
    progress: &mut dyn FnMut(&Totals),
) -> io::Result<Totals> {
    let options = &Options { block_size: options.block_size.min(MOST), ..*options };
    let input = job_size(options.block_size);
    let sizes = JobSizes {
        threads: options.threads,
        ahead: JobSizes::ahead_of(input),
        input,
        history: 0,
        output: compress_bound(input) + most_blocks(input, options) * (HEADER + compress_bound(1) + TRAILER),
        block_size: options.block_size,
        rsyncable: options.rsyncable,
    };
    let mut totals = Totals::default();
    pipeline::run(
        &sizes,
        reader,
        |scratch, job| encode(scratch, job, options),
        |job| {
            put(&mut writer, &mut totals, job.output())?;
            totals.bytes_in += job.input().len() as u64;
            progress(&totals);
            Ok(())
        },
    )?;
    put(&mut writer, &mut totals, &END_OF_FILE)?;
    progress(&totals);
    Ok(totals)
}

fn encode(scratch: &mut Scratch, job: &mut Job, options: &Options) -> Result<()> {
    let mut output = std::mem::take(&mut job.output);
    let mut used = 0;
    let (input, mut at) = (job.input(), 0);
    for &end in job.block_ends() {
        used += member(scratch, &input[at..end], options, &mut output[used..])?;
        at = end;
    }
    (job.output, job.used) = (output, used);
    Ok(())
}

fn member(scratch: &mut Scratch, block: &[u8], options: &Options, out: &mut [u8]) -> Result<usize> {
    let data = compress_one(Format::Deflate, options.level, scratch, block, &mut out[HEADER..])?;
    let end = HEADER + data + TRAILER;
    out[..HEADER].copy_from_slice(&START);
    out[16..HEADER].copy_from_slice(&((end - 1) as u16).to_le_bytes());
    let trailer = &mut out[HEADER + data..end];
    trailer[..4].copy_from_slice(&crc32(CRC32_START, block).to_le_bytes());
    trailer[4..].copy_from_slice(&(block.len() as u32).to_le_bytes());
    Ok(end)
}
