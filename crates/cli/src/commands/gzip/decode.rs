//! Decodes gzip, zlib and deflate: `linerate-inflate` decodes the deflate data, this file checks
//! the checksums.

use std::cell::Cell;
use std::io::Read;

use linerate_core::{Error, Kind};
use linerate_deflate::Format;
use linerate_deflate::checksum::{ADLER32_START, CRC32_START, adler32, crc32};
use linerate_deflate::gzip::Header;
use linerate_inflate::{Options, Scratch, Status, StreamDecoder, parallel};

use super::args::FormatChoice;
use super::bgzf::{self, DecodeOptions, JOB_BYTES};
use super::container::{self, MAGIC};
use super::endpoints::{CountedReader, TargetWriter};
use crate::ui::error::{CliError, engine_error};
use crate::ui::input::Source;
use crate::ui::output::OutputCount;
use crate::ui::write_behind::Target;

/// Largest output buffer, in bytes: much larger than the window, which is copied each time the
/// buffer has been written.
const BUFFER: usize = 256 << 10;
/// Size of the output buffer, if it is below [`BUFFER`], divided by the size of the input buffer.
/// Few files expand by more, so one filling holds the content of nearly every small file.
const RATIO: usize = 8;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    /// Offset of trailing garbage in the input; `None` if there is none.
    pub(crate) garbage_at: Option<u64>,
}

/// A decoder of deflate data with its memory.
struct Inflate {
    stream: StreamDecoder<'static>,
    scratch: Box<Scratch>,
}

impl Inflate {
    fn new() -> Result<Self, CliError> {
        let stream =
            StreamDecoder::new(Options::new(linerate_inflate::Format::Deflate)).map_err(engine_error)?;
        Ok(Inflate { stream, scratch: Box::default() })
    }
}

/// A compressed input whose format is known and whose first header has been read.
pub(crate) struct Decoder<R> {
    source: Source<R>,
    format: Format,
    must_be_bgzf: bool,
    header: Header,
    inflate: Inflate,
    buffer: Vec<u8>,
    output: OutputCount,
    /// Number of threads, besides this one, that decode BGZF members in parallel.
    threads: usize,
    /// Whether these threads also decode other data, in large pieces. False after they have done so
    /// once.
    speculates: bool,
    /// Bytes of BGZF members that each thread takes at a time.
    pub(super) job_bytes: usize,
    /// Whether the header of a member has been read and its data is next.
    in_member: bool,
    /// Whether the input begins with compressed data. If not, all of it is copied.
    is_compressed: bool,
    /// Whether data that is no gzip member is copied, with everything after it.
    passes: bool,
}

impl<R: Read> Decoder<R> {
    /// Makes a decoder of a source, and reads the first header. If `format` is `None`, the header
    /// decides between gzip and zlib.
    pub(crate) fn open(
        mut source: Source<R>,
        format: Option<FormatChoice>,
        max_output: Option<u64>,
        threads: usize,
    ) -> Result<Self, CliError> {
        let must_be_bgzf = format == Some(FormatChoice::Bgzf);
        let format = match format {
            Some(FormatChoice::Gzip | FormatChoice::Bgzf) => Format::Gzip,
            Some(FormatChoice::Zlib) => Format::Zlib,
            Some(FormatChoice::Deflate) => Format::Deflate,
            None => container::detect(&mut source)?,
        };
        let buffer = vec![0; BUFFER.min(RATIO * source.capacity())];
        let mut decoder = Decoder {
            source,
            format,
            must_be_bgzf,
            header: Header::default(),
            inflate: Inflate::new()?,
            buffer,
            output: OutputCount::new(max_output),
            threads,
            speculates: false,
            job_bytes: JOB_BYTES,
            in_member: true,
            is_compressed: true,
            passes: false,
        };
        decoder.header = decoder.read_header()?;
        Ok(decoder)
    }

    /// Makes a decoder that decodes the gzip members at the beginning of the source, and copies
    /// everything after them, or everything if there are none.
    pub(crate) fn passing(
        mut source: Source<R>,
        max_output: Option<u64>,
        threads: usize,
    ) -> Result<Self, CliError> {
        let is_gzip = source.peek(MAGIC.len())?.starts_with(&MAGIC);
        // With `Deflate`, `open` reads no header.
        let format = if is_gzip { FormatChoice::Gzip } else { FormatChoice::Deflate };
        let decoder = Self::open(source, Some(format), max_output, threads)?;
        Ok(Decoder {
            format: Format::Gzip,
            in_member: is_gzip,
            is_compressed: is_gzip,
            passes: true,
            ..decoder
        })
    }

    /// Sets whether several threads decode data that is not in BGZF blocks. They wait for large
    /// pieces of the source.
    pub(crate) fn speculative(self, speculates: bool) -> Self {
        Decoder { speculates: speculates && !self.must_be_bgzf, ..self }
    }

    /// The format of the first member; `None` if everything was copied.
    pub(crate) fn format(&self) -> Option<Format> {
        self.is_compressed.then_some(self.format)
    }

    /// The first header: empty unless the format is gzip.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Decodes everything into `target`, member by member. Calls `progress` with the number of
    /// input bytes read so far.
    pub(crate) fn run(
        &mut self,
        target: &mut dyn Target,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Decoded, CliError> {
        let mut member_len = 0;
        let mut is_bgzf = self.header.bgzf_block_len().is_some();
        while self.in_member {
            member_len = self.member(is_bgzf, target, progress)?;
            if let Some(last) = self.bgzf_members(target, progress)? {
                member_len = last;
            }
            self.in_member = self.another_member()?;
            if self.in_member {
                is_bgzf = self.read_header()?.bgzf_block_len().is_some();
            }
        }
        if self.passes {
            self.output.pass(&mut self.source, &mut |bytes, at| {
                progress(at);
                target.put(bytes)
            })?;
        }
        let garbage_at = self.garbage()?;
        if self.must_be_bgzf && garbage_at.is_none() && member_len != 0 {
            let what = "the BGZF end-of-file marker is missing";
            return Err(CliError::data(Kind::Truncated, self.source.at(), what));
        }
        let bytes_in = garbage_at.unwrap_or(self.source.at());
        Ok(Decoded { bytes_in, bytes_out: self.output.bytes, garbage_at })
    }

    /// Decodes the BGZF members that follow, in parallel, if there are threads for it. Returns the
    /// decoded length of the last one.
    fn bgzf_members(
        &mut self,
        target: &mut dyn Target,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Option<u64>, CliError> {
        if self.threads < 2 || self.format != Format::Gzip {
            return Ok(None);
        }
        let max_output = self.output.left();
        let options = DecodeOptions { threads: self.threads, job_bytes: self.job_bytes, max_output };
        let mut written = 0;
        let members = bgzf::decode(&mut self.source, &options, &mut |bytes, at| {
            written += bytes.len() as u64;
            progress(at);
            target.put(bytes)
        })?;
        self.output.bytes += written;
        if members.found_invalid {
            // Members after the invalid one were decoded in vain. A crafted input can cause this
            // only once.
            self.threads = 1;
        }
        Ok(members.last)
    }

    fn read_header(&mut self) -> Result<Header, CliError> {
        let at = self.source.at();
        let header = container::read_header(&mut self.source, self.format)?;
        if self.must_be_bgzf && header.bgzf_block_len().is_none() {
            return Err(CliError::data(Kind::Corrupt, at, "this gzip member is not a BGZF block"));
        }
        Ok(header)
    }

    /// Decodes the data and the trailer of a member, and possibly of members after it. Returns the
    /// decoded length of the last one.
    fn member(
        &mut self,
        is_bgzf: bool,
        target: &mut dyn Target,
        progress: &mut dyn FnMut(u64),
    ) -> Result<u64, CliError> {
        let (check, len) = if self.speculates && !is_bgzf {
            // The threads decode as many members as they can. The member at which they stop would
            // stop them again, so the rest is decoded on this thread.
            self.speculates = false;
            self.data_in_parallel(target, progress)?
        } else {
            self.data(target, progress)?
        };
        container::read_trailer(&mut self.source, self.format, (check, len))?;
        Ok(len)
    }

    /// Decodes deflate data on this thread. Returns checksum and length of the content.
    fn data(
        &mut self,
        target: &mut dyn Target,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(u32, u64), CliError> {
        self.inflate.stream.next_member();
        self.inflate.stream.limit_output(self.output.left());
        let mut check = if self.format == Format::Zlib { ADLER32_START } else { CRC32_START };
        let mut len = 0;
        loop {
            let (produced, ended) = self.step()?;
            self.output.add(produced, self.source.at())?;
            let bytes = &self.buffer[..produced];
            len += produced as u64;
            check = match self.format {
                Format::Deflate => check,
                Format::Zlib => adler32(check, bytes),
                Format::Gzip => crc32(check, bytes),
            };
            progress(self.source.at());
            target.put_buffer(&mut self.buffer, produced)?;
            if ended {
                return Ok((check, len));
            }
        }
    }

    /// Decodes what is in the input buffer, until the output buffer is full. Returns the number of
    /// bytes decoded, and whether the deflate data has ended.
    fn step(&mut self) -> Result<(usize, bool), CliError> {
        let Inflate { stream, scratch } = &mut self.inflate;
        let others = self.source.at() - stream.position();
        let input = self.source.peek(1)?;
        let at_end = input.is_empty();
        let progress = stream
            .decode(scratch, input, &mut self.buffer)
            .map_err(|e| data_error(&self.output, e.shifted(others)))?;
        self.source.consume(progress.read);
        if progress.status == Status::NeedInput && at_end && progress.written == 0 {
            return Err(data_error(&self.output, Error::new(Kind::Truncated, self.source.at(), "")));
        }
        Ok((progress.written, progress.status == Status::End))
    }

    /// Decodes deflate data on several threads, and the members after it while they are valid.
    /// Returns checksum and length of the last member's content; its trailer is next.
    fn data_in_parallel(
        &mut self,
        target: &mut dyn Target,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(u32, u64), CliError> {
        let start = self.source.at();
        let format = match self.format {
            Format::Deflate => linerate_inflate::Format::Deflate,
            Format::Zlib => linerate_inflate::Format::Zlib,
            Format::Gzip => linerate_inflate::Format::Gzip,
        };
        let stream = Options::new(format).output_limit(self.output.left());
        let options = parallel::Options::new(format).stream(stream).threads(self.threads);
        let read = Cell::new(start);
        let reader = CountedReader { inner: &mut self.source, bytes: &read };
        let output = &mut self.output;
        let mut writer = TargetWriter { target, progress, read: &read, output, failure: None };
        let end = parallel::decode_data(reader, &mut writer, &options);
        if let Some(failure) = writer.failure {
            return Err(failure);
        }
        let end = end.map_err(|error| match error.downcast::<Error>() {
            Ok(error) => data_error(&self.output, error.shifted(start)),
            Err(error) => CliError::Read { error, offset: self.source.at() },
        })?;
        self.source.unread(end.rest);
        Ok((end.check, end.len.into()))
    }

    fn another_member(&mut self) -> Result<bool, CliError> {
        if self.format != Format::Gzip {
            return Ok(false);
        }
        let next = self.source.peek(MAGIC.len())?;
        // The first byte of the magic number alone is a member that was cut off, unless data that
        // is not gzip is copied.
        Ok(next.starts_with(&MAGIC) || next == &MAGIC[..1] && !self.passes)
    }

    /// The offset of the first byte after the data that is not zero; `None` if there is none. Zeros
    /// up to the end of the input are the padding of tapes and disks.
    fn garbage(&mut self) -> Result<Option<u64>, CliError> {
        loop {
            let rest = self.source.peek(1)?;
            let len = rest.len();
            match rest.iter().position(|&byte| byte != 0) {
                Some(zeros) => return Ok(Some(self.source.at() + zeros as u64)),
                None if len == 0 => return Ok(None),
                None => self.source.consume(len),
            }
        }
    }
}

/// Converts an error in deflate data.
fn data_error(output: &OutputCount, e: Error) -> CliError {
    match e.kind {
        Kind::Limit if output.left() == 0 => output.exceeded(e.offset),
        Kind::Limit => engine_error(e),
        Kind::Truncated => CliError::data(e.kind, e.offset, "the input ends inside the compressed data"),
        kind => CliError::data(kind, e.offset, format!("the compressed data is corrupt: {}", e.message)),
    }
}
