//! BGZF members decoded side by side (SAM specification, section 4.1).
//!
//! Each member says in its "BC" extra field how long it is, so members are cut out of the input
//! without decoding them. A member is taken from here only if it is in perfect order; whatever is
//! odd about one is found, and named, by the decoder that reads members one after the other.

use std::io::Read;

use linerate_deflate::checksum::{CRC32_START, crc32};
use linerate_deflate::gzip::bgzf_block_len;
use zlib_rs::{Inflate, InflateFlush, Status};

use crate::ui::error::CliError;
use crate::ui::input::Source;
use crate::ui::ordered::ordered;

/// Takes decoded bytes, with the number of input bytes used so far.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&[u8], u64) -> Result<(), CliError>;

pub(super) const WINDOW_BITS: u8 = 15;
/// Decoded, and compressed, bytes of a job, after which it takes no more members.
pub(super) const JOB: usize = 512 << 10;
/// The most bytes that a member decodes to.
const MEMBER: u32 = 1 << 16;
/// Bytes of a gzip header before its extra field, with the length of that.
const HEADER: usize = 12;
const TRAILER: usize = 8;

/// What members were decoded.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Members {
    /// The decoded length of the last; `None` if there was no member to decode.
    pub(super) last: Option<u64>,
    /// Whether decoding stopped at a member that looked like BGZF and turned out not to be in order.
    pub(super) odd: bool,
}

/// How to decode.
pub(super) struct DecodeOptions {
    pub(super) threads: usize,
    /// Bytes of a job: [`JOB`].
    pub(super) job: usize,
    /// The most bytes to decode. The member that exceeds them is an odd one.
    pub(super) most: u64,
}

/// Decodes the members from here to the first that is not BGZF or not in order, which is where
/// `source` is left. Memory is about (2 x `threads` + 2) x 2 x `job`.
pub(super) fn decode<R: Read>(
    source: &mut Source<R>,
    terms: &DecodeOptions,
    sink: Sink<'_>,
) -> Result<Members, CliError> {
    let mut members = Members::default();
    // Compressed bytes that were taken in vain.
    let mut rest = Vec::new();
    let (mut at, mut left) = (source.at(), terms.most);
    let stopped = std::cell::Cell::new(false);
    ordered(
        terms.threads,
        || if stopped.get() { None } else { Job::gather(source, terms.job) },
        || {
            let mut inflate = Inflate::new(false, WINDOW_BITS);
            move |mut job: Job| {
                job.decode(&mut inflate);
                job
            }
        },
        |job: Job| {
            let mut from = 0;
            if !stopped.get() {
                let (whole, len) = job.whole(left);
                from = whole.last().map_or(0, |member| member.end);
                stopped.set(whole.len() < job.members.len());
                at += from as u64;
                left -= len as u64;
                members.last = whole.last().map(|member| u64::from(member.len)).or(members.last);
                if !whole.is_empty() {
                    sink(&job.output[..len], at)?;
                }
            }
            rest.extend_from_slice(&job.input[from..]);
            Ok(())
        },
    )?;
    members.odd = stopped.get();
    source.unread(rest);
    Ok(members)
}

/// Members that one thread decodes.
#[derive(Default)]
struct Job {
    input: Vec<u8>,
    members: Vec<Member>,
    output: Vec<u8>,
    /// How many members were decoded and are in order.
    decoded: usize,
}

struct Member {
    /// Where its deflate data begins, and where it ends with its trailer, in the input of the job.
    data: usize,
    end: usize,
    /// The decoded length that it states.
    len: u32,
}

impl Job {
    /// Takes members from the source; `None` if the next one is not for us.
    fn gather<R: Read>(source: &mut Source<R>, most: usize) -> Option<Job> {
        let mut job = Job::default();
        let mut capacity = 0;
        while job.input.len() < most && capacity < most {
            let Some((header, bytes)) = next_member(source) else { break };
            let start = job.input.len();
            job.input.extend_from_slice(bytes);
            let [.., a, b, c, d] = *bytes else { break };
            let member =
                Member { data: start + header, end: job.input.len(), len: u32::from_le_bytes([a, b, c, d]) };
            source.consume(member.end - start);
            capacity += member.len.min(MEMBER) as usize;
            job.members.push(member);
        }
        (!job.members.is_empty()).then_some(job)
    }

    fn decode(&mut self, inflate: &mut Inflate) {
        for member in &self.members {
            if member.len > MEMBER || !decode_member(&self.input, member, inflate, &mut self.output) {
                return;
            }
            self.decoded += 1;
        }
    }

    /// The members that are in order and together decode to at most `most` bytes, and their bytes.
    fn whole(&self, most: u64) -> (&[Member], usize) {
        let (mut count, mut len) = (0, 0);
        for member in &self.members[..self.decoded] {
            let with_this = len + u64::from(member.len);
            if with_this > most {
                break;
            }
            (count, len) = (count + 1, with_this);
        }
        (&self.members[..count], len as usize)
    }
}

/// The next bytes of the source if they are a whole member, and the length of its header.
fn next_member<R: Read>(source: &mut Source<R>) -> Option<(usize, &[u8])> {
    // What cannot be read here is read again, and reported, by the decoder of single members.
    let start = source.peek(HEADER).ok()?;
    // Nothing but the extra field: what else a header may have is not for BGZF.
    let [0x1f, 0x8b, 8, 4, _, _, _, _, _, _, len1, len2, ..] = *start else { return None };
    let header = HEADER + usize::from(u16::from_le_bytes([len1, len2]));
    let extra = source.peek(header).ok()?.get(HEADER..header)?;
    let size = bgzf_block_len(extra)?;
    if size < header + TRAILER {
        return None;
    }
    Some((header, source.peek(size).ok()?.get(..size)?))
}

/// Appends what a member holds to `output`; `false`, and nothing, if the member is not in order.
fn decode_member(input: &[u8], member: &Member, inflate: &mut Inflate, output: &mut Vec<u8>) -> bool {
    let (start, len) = (output.len(), member.len as usize);
    let (data, trailer) = input[member.data..member.end].split_at(member.end - member.data - TRAILER);
    // A byte more than it should need, so that more is seen.
    output.resize(start + len + 1, 0);
    inflate.reset(false);
    let status = inflate.decompress(data, &mut output[start..], InflateFlush::Finish);
    let ended = matches!(status, Ok(Status::StreamEnd));
    let sizes_match = (inflate.total_in(), inflate.total_out()) == (data.len() as u64, len as u64);
    output.truncate(start + len);
    let whole = ended && sizes_match && trailer[..4] == crc32(CRC32_START, &output[start..]).to_le_bytes();
    if !whole {
        output.truncate(start);
    }
    whole
}
