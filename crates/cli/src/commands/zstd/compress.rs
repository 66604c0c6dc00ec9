//! Compresses inputs with libzstd, each to one frame.
//!
//! With worker threads, libzstd cuts an input into jobs by the parameters of its level, so that the
//! frame does not depend on the number of workers. Without workers it can make another frame, so at
//! least one is always requested. libzstd itself uses none if the size is known to be at most 512
//! KiB, whatever number is requested.

use std::io::{ErrorKind, Read};
use std::sync::Mutex;

use linerate_core::lock;
use linerate_zstd::{Format, Header};
use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{CCtx, CParameter, ErrorCode, InBuffer, OutBuffer, get_error_name};

use super::args::Args;
use super::list::Totals;
use crate::ui::error::CliError;
use crate::ui::input::Counted;
use crate::ui::output::Sink;

/// Smallest size, in bytes, that libzstd chooses for the jobs of its worker threads. A second
/// worker for a smaller input would have nothing to do.
const MIN_JOB: u64 = 1 << 20;

/// Compresses inputs with the same parameters, several at the same time.
pub(crate) struct Compressor {
    parameters: Vec<CParameter>,
    dictionary: Option<Vec<u8>>,
    /// Contexts that compress no frame now; they keep their memory and the digested dictionary.
    idle: Mutex<Vec<CCtx<'static>>>,
}

impl Compressor {
    /// Makes a compressor with the parameters of a command line, and the bytes of its dictionary's
    /// file.
    pub(crate) fn new(args: &Args, dictionary: Option<Vec<u8>>) -> Compressor {
        let mut parameters = vec![
            CParameter::CompressionLevel(args.level.number()),
            CParameter::ChecksumFlag(!args.no_check),
            CParameter::ContentSizeFlag(!args.no_content_size),
            CParameter::DictIdFlag(!args.no_dict_id),
            CParameter::RSyncable(args.rsyncable),
        ];
        if let Some(log) = args.long {
            parameters.extend([CParameter::EnableLongDistanceMatching(true), CParameter::WindowLog(log)]);
        }
        Compressor { parameters, dictionary, idle: Mutex::default() }
    }

    /// Compresses all of `input` to one frame, on up to `threads` threads beside the calling one.
    /// `size` is the number of bytes that the input will have, if it is known. Calls `sink` with
    /// each part of the frame.
    ///
    /// # Errors
    /// Errors of reading and of `sink`; [`CliError::Refused`] if the input has another size than
    /// `size`, or libzstd fails, for example for want of memory.
    pub(crate) fn compress<R: Read>(
        &self,
        input: &mut Counted<R>,
        size: Option<u64>,
        threads: usize,
        sink: Sink<'_>,
    ) -> Result<Totals, CliError> {
        let threads = size.map_or(threads as u64, |size| (threads as u64).min(1 + size / MIN_JOB));
        let mut context = self.context(size, threads as u32).map_err(libzstd_error)?;
        let result = compress_frame(&mut context, input, size, sink);
        match &result {
            Ok(_) => lock(&self.idle).push(context),
            // The program now ends by SIGPIPE. It need not wait for the context's threads first.
            Err(CliError::ClosedPipe) => std::mem::forget(context),
            Err(_) => finish(&mut context),
        }
        result
    }

    /// Returns an idle or new context at the beginning of a frame, for an input of `size` bytes, if
    /// that is known.
    fn context(&self, size: Option<u64>, threads: u32) -> Result<CCtx<'static>, ErrorCode> {
        let idle = lock(&self.idle).pop();
        let mut context = match idle {
            Some(context) => context,
            None => self.new_context()?,
        };
        context.set_parameter(CParameter::NbWorkers(threads))?;
        context.set_pledged_src_size(size)?;
        Ok(context)
    }

    fn new_context(&self) -> Result<CCtx<'static>, ErrorCode> {
        let mut context = CCtx::create();
        for parameter in &self.parameters {
            context.set_parameter(*parameter)?;
        }
        if let Some(dictionary) = &self.dictionary {
            context.load_dictionary(dictionary)?;
        }
        Ok(context)
    }
}

fn compress_frame<R: Read>(
    context: &mut CCtx<'_>,
    input: &mut Counted<R>,
    size: Option<u64>,
    sink: Sink<'_>,
) -> Result<Totals, CliError> {
    let (mut piece, mut buffer) = (vec![0; CCtx::in_size()], vec![0; CCtx::out_size()]);
    let (mut totals, mut bytes_out) = (Totals::default(), 0);
    loop {
        let n = read(input, &mut piece)?;
        // With worker threads, libzstd does not compare the number of bytes that it gets with the
        // size that it has written into the header.
        if size.is_some_and(|size| input.at > size || n == 0 && input.at < size) {
            return Err(changed(size.unwrap_or(0), input.at));
        }
        let (mut from, is_end) = (InBuffer::around(&piece[..n]), n == 0);
        let directive =
            if is_end { ZSTD_EndDirective::ZSTD_e_end } else { ZSTD_EndDirective::ZSTD_e_continue };
        loop {
            let mut out = OutBuffer::around(&mut buffer[..]);
            let left = context.compress_stream2(&mut out, &mut from, directive).map_err(libzstd_error)?;
            let out = out.as_slice();
            if bytes_out == 0
                && let Ok(Header::Frame(header)) = Header::parse(out, Format::Standard)
            {
                totals.begin(&header);
            }
            bytes_out += out.len() as u64;
            sink(out, input.at)?;
            if if is_end { left == 0 } else { from.pos() == n } {
                break;
            }
        }
        if is_end {
            (totals.bytes_in, totals.bytes_out) = (input.at, Some(bytes_out));
            return Ok(totals);
        }
    }
}

/// Ends the frame of a context after an error, and discards the rest of the frame. This avoids two
/// faults of libzstd 1.5.7: it frees a dictionary before the threads that read it have ended, and
/// it crashes at the beginning of the next frame (`ZSTDMT_waitForAllJobsCompleted`) if a job still
/// waits for a thread.
fn finish(context: &mut CCtx<'_>) {
    let mut buffer = vec![0; CCtx::out_size()];
    let mut end = || {
        let (mut out, mut none) = (OutBuffer::around(&mut buffer[..]), InBuffer::around(&[]));
        context.compress_stream2(&mut out, &mut none, ZSTD_EndDirective::ZSTD_e_end)
    };
    // An error of libzstd ends the frame, too.
    while end().is_ok_and(|left| left > 0) {}
}

/// Reads the bytes that are available, at least one. Returns their number, which is 0 at the end of
/// the input.
fn read<R: Read>(input: &mut Counted<R>, into: &mut [u8]) -> Result<usize, CliError> {
    loop {
        match input.read(into) {
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(CliError::Read { error, offset: input.at }),
            Ok(n) => return Ok(n),
        }
    }
}

/// The error of an input of which `read` bytes were read, although its size was said to be `size`
/// bytes.
fn changed(size: u64, read: u64) -> CliError {
    let change = if read > size { "more" } else { "less" };
    CliError::Refused(format!(
        "it had {size} bytes when it was opened, and {change} was read; from a pipe any length is compressed"
    ))
}

fn libzstd_error(code: ErrorCode) -> CliError {
    let reason = get_error_name(code);
    let remedy =
        if reason.contains("memory") { "; fewer threads (-T) or a lower level need less" } else { "" };
    CliError::Refused(format!("libzstd cannot compress it: {reason}{remedy}"))
}

#[cfg(test)]
mod tests {
    use std::io;

    use clap::{Args as _, FromArgMatches};

    use super::*;

    fn compressor(line: &str, dictionary: Option<Vec<u8>>) -> Compressor {
        let command = Args::augment_args(clap::Command::new("zstd"));
        let matches = command.try_get_matches_from(line.split(' ')).expect("a command line");
        Compressor::new(&Args::from_arg_matches(&matches).expect("all that is required"), dictionary)
    }

    #[test]
    fn a_failing_output_ends_a_frame_while_its_jobs_run_and_the_next_one_is_whole() {
        let noise = linerate_testkit::data::Noise::new(1).bytes(9 << 20);
        for line in ["zstd --level=1", "zstd --level=1 --long=20"] {
            let compressor = compressor(line, Some(noise[..1000].to_vec()));
            for fails_after in [0, 1, 100_000, 3 << 20, 8 << 20] {
                let mut written = 0;
                let mut sink = |bytes: &[u8], _| {
                    written += bytes.len();
                    let full = || CliError::io("cannot write")(io::ErrorKind::StorageFull.into());
                    if written > fails_after { Err(full()) } else { Ok(()) }
                };
                let result = compressor.compress(&mut Counted::new(&noise[..]), None, 2, &mut sink);
                assert!(matches!(result, Err(CliError::Io { .. })), "{fails_after}");
            }
            let mut frame = Vec::new();
            let mut sink = |bytes: &[u8], _| {
                frame.extend_from_slice(bytes);
                Ok(())
            };
            let totals =
                compressor.compress(&mut Counted::new(&noise[..]), None, 2, &mut sink).expect("it works");
            assert_eq!((totals.bytes_in, totals.bytes_out), (noise.len() as u64, Some(frame.len() as u64)));
            let dictionary = linerate_zstd::Dictionary::new(&noise[..1000]).expect("raw content");
            let mut content = vec![0; noise.len()];
            let decoder = linerate_zstd::FrameDecoder::new(linerate_zstd::Options::new());
            let scratch = &mut linerate_zstd::Scratch::new();
            let n = decoder.decode(scratch, Some(&dictionary), &frame, &mut content).expect("it decodes");
            assert!(n == noise.len() && content == noise);
        }
    }
}
