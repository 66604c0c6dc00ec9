//! Decodes BGZF members in parallel (SAM specification, section 4.1).
//!
//! The "BC" extra field of a member states its size, so members are cut out of the input without
//! decoding them. Only valid members are decoded here. The first invalid one, and everything after
//! it, is left to the sequential decoder, which reports the error.

use std::io::Read;

use linerate_core::ordered;
use linerate_deflate::checksum::{CRC32_START, crc32};
use linerate_deflate::gzip::bgzf_block_len;
use linerate_inflate::{BufferDecoder, Format, Options, Scratch};

use crate::ui::error::CliError;
use crate::ui::input::Source;
use crate::ui::output::Sink;

/// A job takes no more members once it has this many bytes, compressed or decoded.
pub(super) const JOB_BYTES: usize = 512 << 10;
/// Maximum decoded bytes of a member.
const MAX_MEMBER: u32 = 1 << 16;
/// Bytes of a gzip header before the content of its extra field.
const HEADER: usize = 12;
const TRAILER: usize = 8;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Members {
    /// Decoded bytes of the last valid member; `None` if there was none.
    pub(super) last: Option<u64>,
    /// Whether decoding stopped at a member that looks like BGZF but is invalid, or whose content
    /// exceeds the limit on output.
    pub(super) found_invalid: bool,
}

pub(super) struct DecodeOptions {
    pub(super) threads: usize,
    /// Bytes of a job: [`JOB_BYTES`], except in tests.
    pub(super) job_bytes: usize,
    /// Maximum bytes to decode. A member that exceeds them counts as invalid.
    pub(super) max_output: u64,
}

/// Decodes members up to the first one that is invalid or not BGZF, and leaves `source` at its
/// start. Uses about (2 x `threads` + 2) x 2 x `job_bytes` bytes of memory.
pub(super) fn decode<R: Read>(
    source: &mut Source<R>,
    options: &DecodeOptions,
    sink: Sink<'_>,
) -> Result<Members, CliError> {
    let mut members = Members::default();
    // Compressed bytes that were taken but not decoded, to be pushed back.
    let mut rest = Vec::new();
    let (mut at, mut left) = (source.at(), options.max_output);
    let stopped = std::cell::Cell::new(false);
    ordered(
        (options.threads, options.threads + 1),
        || Ok(if stopped.get() { None } else { Job::gather(source, options.job_bytes) }),
        || {
            let mut scratch = Scratch::new();
            move |mut job: Job| {
                job.decode(&mut scratch);
                job
            }
        },
        |job: Job| {
            let mut from = 0;
            if !stopped.get() {
                let (valid, len) = job.valid_members(left);
                from = valid.last().map_or(0, |member| member.end);
                stopped.set(valid.len() < job.members.len());
                at += from as u64;
                left -= len as u64;
                members.last = valid.last().map(|member| u64::from(member.len)).or(members.last);
                if !valid.is_empty() {
                    sink(&job.output[..len], at)?;
                }
            }
            rest.extend_from_slice(&job.input[from..]);
            Ok(())
        },
    )?;
    members.found_invalid = stopped.get();
    source.unread(rest);
    Ok(members)
}

/// Members that a thread decodes together.
#[derive(Default)]
struct Job {
    input: Vec<u8>,
    members: Vec<Member>,
    output: Vec<u8>,
    /// Number of members that were decoded and are valid.
    decoded: usize,
}

struct Member {
    /// Offsets in the job's input: where the deflate data begins, and where the trailer ends.
    data: usize,
    end: usize,
    /// Number of decoded bytes that the member's trailer states.
    len: u32,
}

impl Job {
    /// Takes members from the source; `None` if the next one is not a whole BGZF member.
    fn gather<R: Read>(source: &mut Source<R>, max_bytes: usize) -> Option<Job> {
        let mut job = Job::default();
        let mut capacity = 0;
        while job.input.len() < max_bytes && capacity < max_bytes {
            let Some((header, bytes)) = next_member(source) else { break };
            let start = job.input.len();
            job.input.extend_from_slice(bytes);
            let [.., a, b, c, d] = *bytes else { break };
            let member =
                Member { data: start + header, end: job.input.len(), len: u32::from_le_bytes([a, b, c, d]) };
            source.consume(member.end - start);
            capacity += member.len.min(MAX_MEMBER) as usize;
            job.members.push(member);
        }
        (!job.members.is_empty()).then_some(job)
    }

    fn decode(&mut self, scratch: &mut Scratch) {
        for member in &self.members {
            if member.len > MAX_MEMBER || !decode_member(&self.input, member, scratch, &mut self.output) {
                return;
            }
            self.decoded += 1;
        }
    }

    /// The first valid members that together decode to at most `max_output` bytes, and the number
    /// of those bytes.
    fn valid_members(&self, max_output: u64) -> (&[Member], usize) {
        let (mut count, mut len) = (0, 0);
        for member in &self.members[..self.decoded] {
            let with_this = len + u64::from(member.len);
            if with_this > max_output {
                break;
            }
            (count, len) = (count + 1, with_this);
        }
        (&self.members[..count], len as usize)
    }
}

/// Returns the length of the header of the source's next member, and all bytes of the member.
/// Returns `None` if it is not BGZF, or is cut off.
fn next_member<R: Read>(source: &mut Source<R>) -> Option<(usize, &[u8])> {
    // A read error occurs again in the sequential decoder, which reports it.
    let start = source.peek(HEADER).ok()?;
    // BGZF demands that the flags announce the extra field and no other optional field.
    let [0x1f, 0x8b, 8, 4, _, _, _, _, _, _, len1, len2, ..] = *start else { return None };
    let header = HEADER + usize::from(u16::from_le_bytes([len1, len2]));
    let extra = source.peek(header).ok()?.get(HEADER..header)?;
    let size = bgzf_block_len(extra)?;
    if size < header + TRAILER {
        return None;
    }
    Some((header, source.peek(size).ok()?.get(..size)?))
}

/// Appends a member's content to `output`. Returns false, and appends nothing, if the member is
/// invalid.
fn decode_member(input: &[u8], member: &Member, scratch: &mut Scratch, output: &mut Vec<u8>) -> bool {
    let (start, len) = (output.len(), member.len as usize);
    let (data, trailer) = input[member.data..member.end].split_at(member.end - member.data - TRAILER);
    output.resize(start + len, 0);
    let decoder = BufferDecoder::new(Options::new(Format::Deflate));
    let sizes = decoder.decode(scratch, None, data, &mut output[start..]);
    let valid = sizes.is_ok_and(|sizes| (sizes.read, sizes.written) == (data.len(), len))
        && trailer[..4] == crc32(CRC32_START, &output[start..]).to_le_bytes();
    if !valid {
        output.truncate(start);
    }
    valid
}
