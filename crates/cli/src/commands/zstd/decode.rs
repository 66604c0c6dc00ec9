//! Decodes all frames of an input.

use std::io::Read;

use linerate_core::{Error, Kind};
use linerate_zstd::{Dictionary, Format, Header, Options, Status, pipeline};

use super::args::Args;
use super::list::Totals;
use super::parallel::{self, FrameOptions};
use super::walk::MAX_HEADER;
use crate::ui::error::CliError;
use crate::ui::input::Source;
use crate::ui::output::OutputCount;
use crate::ui::write_behind::Target;

/// Bytes of the output buffer: several blocks, so that most are written only once.
const BUFFER: usize = 1 << 20;
/// Bytes of the magic number at the beginning of every frame.
const MAGIC_LEN: usize = 4;

/// A compressed input.
pub(crate) struct Decoder<'a, R> {
    source: Source<R>,
    options: Options,
    stream: pipeline::Decoder<'a>,
    dictionary: Option<&'a Dictionary<'a>>,
    buffer: Vec<u8>,
    output: OutputCount,
    totals: Totals,
    /// Number of threads. Each decodes one of several small frames, or all decode one large frame.
    threads: usize,
    /// Bytes of the input that these threads have taken, which `stream` has not counted.
    taken_in_parallel: u64,
    /// Whether the threads begin with the first frame, because it is small and not the only one.
    begins_in_parallel: bool,
    /// Called with the number of input bytes read so far, for each part of the output.
    progress: &'a mut dyn FnMut(u64),
    /// Whether data that is no frame is copied, with everything after it.
    passes: bool,
}

impl<'a, R: Read> Decoder<'a, R> {
    /// A decoder on one thread, which calls `progress` with the number of input bytes read so far.
    pub(crate) fn new(
        source: Source<R>,
        args: &Args,
        dictionary: Option<&'a Dictionary<'a>>,
        progress: &'a mut dyn FnMut(u64),
    ) -> Self {
        let options = Options::new().window_limit(args.window_limit()).verify_checksum(!args.no_check);
        Decoder {
            source,
            options,
            stream: pipeline::Decoder::new(pipeline::Options::new().stream(options), dictionary),
            dictionary,
            buffer: vec![0; BUFFER],
            output: OutputCount::new(args.max_output),
            totals: Totals::default(),
            threads: 1,
            taken_in_parallel: 0,
            begins_in_parallel: false,
            progress,
            passes: false,
        }
    }

    /// Sets the number of threads. Each decodes one of several small frames, or all decode one large
    /// frame. They read ahead, so the source must not wait for its data. The first frame is decoded
    /// as it is read, unless `from_first`.
    pub(crate) fn threads(self, threads: usize, from_first: bool) -> Self {
        // With a limit on the output, one thread decodes a large frame, since the bytes written
        // before the limit must not depend on the number of threads.
        let of_a_frame = if self.output.left() == u64::MAX { threads } else { 1 };
        let options = pipeline::Options::new().stream(self.options).threads(of_a_frame);
        let stream = pipeline::Decoder::new(options, self.dictionary);
        Decoder { threads, stream, begins_in_parallel: from_first, ..self }
    }

    /// Sets whether data that is no frame is copied, with everything after it.
    pub(crate) fn passing(self, passes: bool) -> Self {
        Decoder { passes, ..self }
    }

    /// Decodes everything into `target`.
    pub(crate) fn run(mut self, target: &mut dyn Target) -> Result<Totals, CliError> {
        if self.source.peek(1)?.is_empty() {
            return Err(CliError::data(Kind::Truncated, 0, "the input is empty"));
        }
        if self.begins_in_parallel {
            self.frames_in_parallel(target)?;
        }
        while !(self.passes && self.is_other_data()?) && self.begin()? {
            self.frame(target)?;
            self.frames_in_parallel(target)?;
        }
        if self.passes {
            let progress = &mut *self.progress;
            self.output.pass(&mut self.source, &mut |bytes, at| {
                progress(at);
                target.put(bytes)
            })?;
        }
        self.totals.bytes_in = self.source.at();
        self.totals.bytes_out = Some(self.output.bytes);
        Ok(self.totals)
    }

    /// Decodes frames on several threads, up to the first that they cannot decode.
    fn frames_in_parallel(&mut self, target: &mut dyn Target) -> Result<(), CliError> {
        if self.threads > 1 {
            let options = FrameOptions::new(self.threads, self.options, self.dictionary);
            let (left, from) = (self.output.left(), self.source.at());
            let progress = &mut *self.progress;
            let mut sink = |bytes: &[u8], at| {
                progress(at);
                target.put(bytes)
            };
            self.output.bytes +=
                parallel::decode(&mut self.source, &options, left, &mut self.totals, &mut sink)?;
            self.taken_in_parallel += self.source.at() - from;
        }
        Ok(())
    }

    /// Whether the next data is no frame. The magic number alone decides, as in `zstd`: a frame may
    /// have a damaged header.
    fn is_other_data(&mut self) -> Result<bool, CliError> {
        let Some(magic) = self.source.peek(MAGIC_LEN)?.first_chunk::<MAGIC_LEN>() else { return Ok(true) };
        // A magic number without the rest of a header is a frame that was cut off.
        let found = Header::parse(magic, Format::Standard);
        Ok(!matches!(found, Err(e) if e.kind == Kind::Truncated))
    }

    /// Reads the header of the next frame; false at the end of the input.
    fn begin(&mut self) -> Result<bool, CliError> {
        let at = self.source.at();
        let bytes = self.source.peek(MAX_HEADER)?;
        if bytes.is_empty() {
            return Ok(false);
        }
        match Header::parse(bytes, Format::Standard) {
            Ok(Header::Skippable { .. }) => self.totals.skipped += 1,
            Ok(Header::Frame(header)) => {
                let limit = self.options.window_limit;
                if header.window > limit {
                    let what = format!(
                        "the frame needs a window of {} bytes, but {limit} are allowed; --memory allows more",
                        header.window
                    );
                    return Err(CliError::data(Kind::Limit, at, what));
                }
                self.totals.begin(&header);
            }
            Err(e) => return Err(CliError::data(e.kind, at + e.offset, e.message)),
        }
        Ok(true)
    }

    fn frame(&mut self, target: &mut dyn Target) -> Result<(), CliError> {
        let mut failure = None;
        loop {
            // Data that was read before a failure is decoded first.
            let input = match failure {
                None => self.source.peek(1).unwrap_or_else(|e| {
                    failure = Some(e);
                    &[]
                }),
                Some(_) => &[],
            };
            let at_end = input.is_empty();
            let progress = self.stream.decode(input, &mut self.buffer);
            let progress = progress.map_err(|e| engine_error(e.shifted(self.taken_in_parallel)))?;
            self.source.consume(progress.read);
            self.output.add(progress.written, self.source.at())?;
            (self.progress)(self.source.at());
            target.put_buffer(&mut self.buffer, progress.written)?;
            match progress.status {
                Status::FrameEnd => return Ok(()),
                Status::NeedInput if at_end => {
                    let what = "the input ends before the frame does";
                    let cut_off = || CliError::data(Kind::Truncated, self.source.at(), what);
                    return Err(failure.unwrap_or_else(cut_off));
                }
                Status::NeedInput | Status::NeedOutput => {}
            }
        }
    }
}

fn engine_error(e: Error) -> CliError {
    match e.kind {
        // A bad argument can only be a missing or wrong dictionary here.
        Kind::BadArgument => CliError::data(Kind::Corrupt, e.offset, format!("{}; -D names it", e.message)),
        kind => CliError::data(kind, e.offset, e.message),
    }
}
