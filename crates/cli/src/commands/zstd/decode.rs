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

/// Size of the output buffer, in bytes. It has room for several blocks, so that most of them are
/// decoded into it directly.
const BUFFER: usize = 1 << 20;
/// Length of the magic number at the beginning of every frame, in bytes.
const MAGIC_LEN: usize = 4;

/// Decodes all frames of a compressed input, one after another or several at a time.
pub(crate) struct Decoder<'a, R> {
    source: Source<R>,
    options: Options,
    stream: pipeline::Decoder<'a>,
    dictionary: Option<&'a Dictionary<'a>>,
    buffer: Vec<u8>,
    output: OutputCount,
    totals: Totals,
    /// Number of threads. Each decodes one of several small frames, or up to four decode one large
    /// frame together.
    threads: usize,
    /// Compressed bytes of the frames that the threads have decoded one each. `stream` has not seen
    /// them, so they are added to the offsets of its errors.
    taken_in_parallel: u64,
    /// Whether the threads decode one frame each from the first frame on, because the first is
    /// small and not the only one.
    begins_in_parallel: bool,
    /// Called with the number of input bytes read so far, for each part of the output.
    progress: &'a mut dyn FnMut(u64),
    /// Whether data that is no frame is copied to the output, with everything after it.
    passes: bool,
}

impl<'a, R: Read> Decoder<'a, R> {
    /// Makes a decoder that works on one thread, and calls `progress` with the number of input
    /// bytes read so far.
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

    /// Sets the number of threads. Each decodes one of several small frames, or up to four decode
    /// one large frame together, if there is neither a dictionary nor a limit on the output. They
    /// read ahead, so the source must not wait for its data. Without `from_first` the first frame
    /// is decoded as it is read, and only later frames one per thread.
    pub(crate) fn threads(self, threads: usize, from_first: bool) -> Self {
        // With a limit on the output, one thread decodes a large frame, since the bytes that are
        // written before the limit is exceeded must not depend on the number of threads.
        let of_a_frame = if self.output.left() == u64::MAX { threads } else { 1 };
        let options = pipeline::Options::new().stream(self.options).threads(of_a_frame);
        let stream = pipeline::Decoder::new(options, self.dictionary);
        Decoder { threads, stream, begins_in_parallel: from_first, ..self }
    }

    /// Sets whether data that is no frame is copied to the output, with everything after it.
    pub(crate) fn passing(self, passes: bool) -> Self {
        Decoder { passes, ..self }
    }

    /// Decodes all frames into `target`.
    ///
    /// # Errors
    /// Errors of reading, of the data, and of `target`; [`CliError::Data`] also for an empty input,
    /// and for content above the limit. Content before an error of reading or of the data is
    /// written first.
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

    /// Decodes the next frames on one thread each, up to the first that is invalid, too large or
    /// the only one, which is left to [`frame`](Self::frame). With one thread, does nothing.
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

    /// Whether the next bytes are no frame, or there are fewer than four. The magic number alone
    /// decides, as in `zstd`, since a frame with a damaged header must not be copied.
    fn is_other_data(&mut self) -> Result<bool, CliError> {
        let Some(magic) = self.source.peek(MAGIC_LEN)?.first_chunk::<MAGIC_LEN>() else { return Ok(true) };
        // The parser takes a magic number without the rest of a header for a frame that is cut off.
        let found = Header::parse(magic, Format::Standard);
        Ok(!matches!(found, Err(e) if e.kind == Kind::Truncated))
    }

    /// Checks and counts the next frame by its header, without taking it from the source. Returns
    /// false at the end of the input.
    ///
    /// # Errors
    /// [`CliError::Data`] for bytes that are no frame, and for a frame whose window exceeds the
    /// limit; errors of reading.
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

    /// Decodes the next frame while it is read, on one thread or on several together.
    fn frame(&mut self, target: &mut dyn Target) -> Result<(), CliError> {
        let mut failure = None;
        loop {
            // Data that was read before a failure of reading is decoded first.
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
        // Here a bad argument can only be a missing or wrong dictionary.
        Kind::BadArgument => CliError::data(Kind::Corrupt, e.offset, format!("{}; -D names it", e.message)),
        kind => CliError::data(kind, e.offset, e.message),
    }
}
