//! Decodes gzip, zlib and deflate: containers and checksums here, deflate data by `linerate-inflate`.

use std::cell::Cell;
use std::io::{self, Read, Write};

use linerate_core::{Error, Kind};
use linerate_deflate::Format;
use linerate_deflate::checksum::{ADLER32_START, CRC32_START, adler32, crc32};
use linerate_deflate::gzip::Header;
use linerate_inflate::{Options, Scratch, Status, StreamDecoder, parallel};

use super::args::FormatChoice;
use super::bgzf::{self, DecodeOptions, JOB_BYTES};
use crate::ui::error::{CliError, engine_error};
use crate::ui::input::Source;
use crate::ui::output::OutputCount;
use crate::ui::write_behind::Target;

/// Bytes of the output buffer: much more than the window, which is copied once per round.
const BUFFER: usize = 256 << 10;
/// First bytes of a gzip member (RFC 1952, section 2.3.1).
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Result of decoding.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    /// Offset of trailing garbage.
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
    /// Threads that decode BGZF members in parallel, besides this one.
    threads: usize,
    /// Whether they decode other data, too: that of a file, which does not wait for its writer.
    speculates: bool,
    /// Bytes that each of them takes at a time.
    job_bytes: usize,
    /// Whether the header of a member has been read, whose data is next.
    in_member: bool,
    /// Whether the input begins with a member.
    is_compressed: bool,
    /// Whether what is no gzip member is copied, with all after it.
    passes: bool,
}

impl<R: Read> Decoder<R> {
    /// Reads the first header, which decides between gzip and zlib if `format` is `None`.
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
            None => detect(&mut source)?,
        };
        let mut decoder = Decoder {
            source,
            format,
            must_be_bgzf,
            header: Header::default(),
            inflate: Inflate::new()?,
            buffer: vec![0; BUFFER],
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

    /// Decodes the gzip members at the beginning of the source, and copies all other data.
    pub(crate) fn passing(
        mut source: Source<R>,
        max_output: Option<u64>,
        threads: usize,
    ) -> Result<Self, CliError> {
        let is_gzip = source.peek(MAGIC.len())?.starts_with(&MAGIC);
        // `Deflate` makes `open` read no header.
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

    /// Sets whether several threads decode data that is not in BGZF blocks: the source must not wait for its data.
    pub(crate) fn speculative(self, speculates: bool) -> Self {
        Decoder { speculates: speculates && !self.must_be_bgzf, ..self }
    }

    /// The format of the first member; `None` if all was copied.
    pub(crate) fn format(&self) -> Option<Format> {
        self.is_compressed.then_some(self.format)
    }

    /// The first header: empty unless the format is gzip.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Decodes everything into `target`, member by member. Tells `progress` how many bytes of the input were read.
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

    /// Decodes the BGZF members that follow in parallel, if there are threads for it. Returns the decoded
    /// length of the last one.
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
            // Members after the invalid one were decoded in vain; a crafted input causes that only once.
            self.threads = 1;
        }
        Ok(members.last)
    }

    fn read_header(&mut self) -> Result<Header, CliError> {
        match self.format {
            Format::Deflate => Ok(Header::default()),
            Format::Zlib => zlib_header(&mut self.source).map(|()| Header::default()),
            Format::Gzip => {
                let at = self.source.at();
                let header = gzip_header(&mut self.source)?;
                if self.must_be_bgzf && header.bgzf_block_len().is_none() {
                    return Err(CliError::data(Kind::Corrupt, at, "this gzip member is not a BGZF block"));
                }
                Ok(header)
            }
        }
    }

    /// Decodes the data and the trailer of a member, and perhaps of members that follow. Returns the decoded length of the last.
    fn member(
        &mut self,
        is_bgzf: bool,
        target: &mut dyn Target,
        progress: &mut dyn FnMut(u64),
    ) -> Result<u64, CliError> {
        let (check, len) = if self.speculates && !is_bgzf {
            // If it ends at a member that is none for it, it would do so again.
            self.speculates = false;
            self.data_in_parallel(target, progress)?
        } else {
            self.data(target, progress)?
        };
        self.trailer(check, len)?;
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

    /// One round: the number of bytes decoded, and whether the deflate data has ended.
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

    /// Decodes deflate data on several threads, and members that follow as long as they are valid. Returns checksum and length of the
    /// content of the last, whose trailer is next.
    fn data_in_parallel(
        &mut self,
        target: &mut dyn Target,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(u32, u64), CliError> {
        let (start, at) = (self.source.at(), Cell::new(self.source.at()));
        let format = match self.format {
            Format::Deflate => linerate_inflate::Format::Deflate,
            Format::Zlib => linerate_inflate::Format::Zlib,
            Format::Gzip => linerate_inflate::Format::Gzip,
        };
        let stream = Options::new(format).output_limit(self.output.left());
        let options = parallel::Options::new(format).stream(stream).threads(self.threads);
        let mut writer = Writer { target, progress, at: &at, bytes: 0, failure: None };
        let end = parallel::decode_data(Reader { source: &mut self.source, at: &at }, &mut writer, &options);
        let Writer { bytes, failure, .. } = writer;
        self.output.bytes += bytes;
        if let Some(failure) = failure {
            return Err(failure);
        }
        let end = end.map_err(|error| match error.downcast::<Error>() {
            Ok(error) => data_error(&self.output, error.shifted(start)),
            Err(error) => CliError::Read { error, offset: self.source.at() },
        })?;
        self.source.unread(end.rest);
        Ok((end.check, end.len.into()))
    }

    fn trailer(&mut self, check: u32, len: u64) -> Result<(), CliError> {
        let at = self.source.at();
        let wanted = self.format.trailer_len();
        let bytes = self.source.peek(wanted)?;
        let wrong = |by, what| Err(CliError::data(Kind::Corrupt, at + by, what));
        match (self.format, bytes) {
            (Format::Deflate, _) => {}
            (Format::Zlib, &[a, b, c, d, ..]) => {
                if u32::from_be_bytes([a, b, c, d]) != check {
                    return wrong(0, "the data does not match its Adler-32 checksum");
                }
            }
            (Format::Gzip, &[a, b, c, d, e, f, g, h, ..]) => {
                if u32::from_le_bytes([a, b, c, d]) != check {
                    return wrong(0, "the data does not match its CRC-32 checksum");
                }
                if u32::from_le_bytes([e, f, g, h]) != len as u32 {
                    return wrong(4, "the data does not have the length stated after it");
                }
            }
            (_, short) => {
                let at = at + short.len() as u64;
                return Err(CliError::data(Kind::Truncated, at, "the input ends inside the trailer"));
            }
        }
        self.source.consume(wanted);
        Ok(())
    }

    fn another_member(&mut self) -> Result<bool, CliError> {
        if self.format != Format::Gzip {
            return Ok(false);
        }
        let next = self.source.peek(MAGIC.len())?;
        // The first byte alone is what a cut left of another member.
        Ok(next.starts_with(&MAGIC) || next == &MAGIC[..1] && !self.passes)
    }

    /// The offset of trailing garbage. Zeros up to the end of the input are padding of tapes and disks.
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

/// An error of deflate data.
fn data_error(output: &OutputCount, e: Error) -> CliError {
    match e.kind {
        Kind::Limit if output.left() == 0 => output.exceeded(e.offset),
        Kind::Limit => engine_error(e),
        Kind::Truncated => CliError::data(e.kind, e.offset, "the input ends inside the compressed data"),
        kind => CliError::data(kind, e.offset, format!("the compressed data is corrupt: {}", e.message)),
    }
}

/// Reads a source, and tells up to where.
struct Reader<'a, R> {
    source: &'a mut Source<R>,
    at: &'a Cell<u64>,
}

impl<R: Read> Read for Reader<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let result = self.source.read(into);
        self.at.set(self.source.at());
        result
    }
}

/// Writes to a target, and keeps its error.
struct Writer<'a> {
    target: &'a mut dyn Target,
    progress: &'a mut dyn FnMut(u64),
    /// Up to where the input was read.
    at: &'a Cell<u64>,
    bytes: u64,
    failure: Option<CliError>,
}

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.progress)(self.at.get());
        self.target.put(bytes).map_err(|error| {
            self.failure = Some(error);
            io::Error::other("cannot write")
        })?;
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn detect<R: Read>(source: &mut Source<R>) -> Result<Format, CliError> {
    match *source.peek(2)? {
        [] => Err(CliError::data(Kind::Truncated, 0, "the input is empty")),
        [0x1f, 0x8b, ..] | [0x1f] => Ok(Format::Gzip),
        [cmf, flg, ..] if is_zlib(cmf, flg) => Ok(Format::Zlib),
        _ => Err(CliError::data(Kind::Corrupt, 0, "not in gzip or zlib format")),
    }
}

/// RFC 1950, 2.2: method 8, a window of at most 32 KiB, and a check by 31.
fn is_zlib(cmf: u8, flg: u8) -> bool {
    cmf & 15 == 8 && cmf >> 4 <= 7 && u16::from_be_bytes([cmf, flg]).is_multiple_of(31)
}

/// Reads a gzip header.
fn gzip_header<R: Read>(source: &mut Source<R>) -> Result<Header, CliError> {
    let start = source.at();
    // The error of reading, which is more than an engine's error tells.
    let mut failure = None;
    let header = Header::read(|| {
        source.byte().map_err(|error| {
            failure = Some(error);
            Error::new(Kind::Read, 0, "cannot read")
        })
    });
    header.map_err(|error| failure.unwrap_or_else(|| engine_error(error.shifted(start))))
}

fn zlib_header<R: Read>(source: &mut Source<R>) -> Result<(), CliError> {
    const DICTIONARY: u8 = 0x20;
    let at = source.at();
    let wrong = |kind, what: &'static str| Err(CliError::data(kind, at, what));
    match *source.peek(2)? {
        [cmf, flg, ..] if !is_zlib(cmf, flg) => wrong(Kind::Corrupt, "not in zlib format"),
        [_, flg, ..] if flg & DICTIONARY != 0 => {
            wrong(Kind::Unsupported, "the zlib stream needs a preset dictionary")
        }
        [_, _, ..] => {
            source.consume(2);
            Ok(())
        }
        _ => wrong(Kind::Truncated, "the input ends inside the zlib header"),
    }
}

#[cfg(test)]
mod tests {
    use linerate_deflate::Level;
    use linerate_deflate::parallel::{Container, Options, compress};

    use super::*;

    /// Output of a decoding, and its result or error message and kind.
    type Outcome = (Vec<u8>, Result<Decoded, (String, &'static str)>);

    fn outcome(
        input: &[u8],
        threads: usize,
        format: Option<FormatChoice>,
        max_output: Option<u64>,
    ) -> Outcome {
        let mut output = Vec::new();
        let end = Decoder::open(Source::new(input), format, max_output, threads).and_then(|decoder| {
            let mut decoder = decoder.speculative(threads > 1);
            // Small, so that there are several jobs.
            decoder.job_bytes = 200;
            decoder.run(&mut output, &mut |_| {})
        });
        (output, end.map_err(|error| (error.to_string(), error.kind())))
    }

    #[track_caller]
    fn assert_as_on_one_thread(
        case: &str,
        input: &[u8],
        format: Option<FormatChoice>,
        max_output: Option<u64>,
    ) {
        let one = outcome(input, 1, format, max_output);
        assert_eq!(outcome(input, 3, format, max_output), one, "{case}");
    }

    fn compressed(container: Container, data: &[u8]) -> Vec<u8> {
        let options = Options::new(container, Level::Default).block_size(70);
        let mut output = Vec::new();
        compress(data, &mut output, &options).expect("memory takes every byte");
        output
    }

    fn text(len: usize) -> Vec<u8> {
        (0..len).map(|i| b"every block has other words "[(i + i / 64) % 28]).collect()
    }

    #[test]
    fn bgzf_on_three_threads_decodes_to_its_content() {
        let data = text(5000);
        let bgzf = compressed(Container::Bgzf, &data);
        let (output, end) = outcome(&bgzf, 3, Some(FormatChoice::Bgzf), None);
        let whole = Decoded { bytes_in: bgzf.len() as u64, bytes_out: 5000, garbage_at: None };
        assert!(output == data && end == Ok(whole));
    }

    #[test]
    fn parallel_decoding_stops_before_the_first_damaged_member() {
        let bgzf = compressed(Container::Bgzf, &text(700));
        let run = |input: &[u8]| {
            let (mut source, mut output) = (Source::new(input), Vec::new());
            let options = DecodeOptions { threads: 2, job_bytes: 200, max_output: u64::MAX };
            let members = bgzf::decode(&mut source, &options, &mut |bytes, _| {
                output.extend_from_slice(bytes);
                Ok(())
            });
            let members = members.expect("invalid members are no error here");
            (output.len(), members.last, members.found_invalid, source.at())
        };
        assert_eq!(run(&bgzf), (700, Some(0), false, bgzf.len() as u64));
        let size = usize::from(u16::from_le_bytes([bgzf[16], bgzf[17]])) + 1;
        let mut damaged = bgzf.clone();
        damaged[2 * size - 8] ^= 1;
        assert_eq!(run(&damaged), (70, Some(70), true, size as u64));
        assert_eq!(run(&compressed(Format::Gzip.into(), &text(700))), (0, None, false, 0));
    }

    #[test]
    fn bgzf_truncated_at_every_byte_fails_as_one_thread_does() {
        let bgzf = compressed(Container::Bgzf, &text(900));
        for len in 0..bgzf.len() {
            for format in [None, Some(FormatChoice::Bgzf)] {
                assert_as_on_one_thread(&format!("{len} bytes"), &bgzf[..len], format, None);
            }
        }
    }

    #[test]
    fn bgzf_with_any_byte_changed_fails_as_one_thread_does() {
        let bgzf = compressed(Container::Bgzf, &text(900));
        for at in 0..bgzf.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = bgzf.clone();
                bytes[at] ^= change;
                assert_as_on_one_thread(&format!("byte {at} ^ {change:#x}"), &bytes, None, None);
            }
        }
    }

    #[test]
    fn bgzf_with_other_members_padding_and_garbage_decodes_as_on_one_thread() {
        let bgzf = compressed(Container::Bgzf, &text(700));
        let gzip = compressed(Format::Gzip.into(), &text(300));
        for parts in [[&bgzf[..], &gzip, &bgzf], [&gzip, &bgzf, &bgzf], [&bgzf, &bgzf, &gzip]] {
            let mixed = parts.concat();
            assert_eq!(outcome(&mixed, 3, None, None).0.len(), 1700);
            for tail in [
                &b""[..],
                b"\0\0\0",
                b"garbage",
                b"\x1f\x8b",
                b"\x1f\x8b\x08\x04garbage",
                b"\0\x1f\x8b",
                b"\x1f",
            ] {
                let bytes = [&mixed[..], tail].concat();
                assert_as_on_one_thread(&format!("{tail:?}"), &bytes, None, None);
                assert_as_on_one_thread(&format!("{tail:?}"), &bytes, Some(FormatChoice::Bgzf), None);
            }
        }
    }

    #[test]
    fn bgzf_members_of_wrong_size_or_over_64_kib_decode_as_on_one_thread() {
        let bgzf = compressed(Container::Bgzf, &text(700));
        let size = usize::from(u16::from_le_bytes([bgzf[16], bgzf[17]])) + 1;
        for wrong in [0, 17, 25, size - 2, size, 2 * size, 0xffff] {
            let mut bytes = bgzf.clone();
            bytes[size + 16..][..2].copy_from_slice(&(wrong as u16).to_le_bytes());
            let (output, end) = outcome(&bytes, 3, None, None);
            assert!(output == text(700) && end.is_ok(), "{wrong}: the size is a hint, as for gzip itself");
            assert_as_on_one_thread(&format!("{wrong}"), &bytes, None, None);
        }
        // A member of 1 MiB, which BGZF does not allow and gzip does.
        let mut large = Vec::new();
        let data = vec![7; 1 << 20];
        compress(&data[..], &mut large, &Options::new(Format::Gzip, Level::Default)).unwrap();
        let bsize = (large.len() + 8 - 1) as u16;
        let mut member = vec![0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, b'B', b'C', 2, 0];
        member.extend_from_slice(&bsize.to_le_bytes());
        member.extend_from_slice(&large[10..]);
        let bytes = [&bgzf[..], &member, &bgzf].concat();
        let (output, end) = outcome(&bytes, 3, None, None);
        assert!(output.len() == (1 << 20) + 1400 && end.is_ok());
        assert_as_on_one_thread("a large member", &bytes, None, None);
    }

    #[test]
    fn data_of_any_origin_ends_on_three_threads_as_on_one() {
        let mut seed = 1u32;
        let mut noise = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        };
        let data: Vec<u8> = (0..900_000).map(|i| if i % 9 < 5 { noise() } else { b'a' }).collect();
        for container in [Format::Gzip, Format::Zlib, Format::Deflate].map(Container::from) {
            let mut whole = Vec::new();
            compress(&data[..], &mut whole, &Options::new(container, Level::Default).block_size(90_000))
                .unwrap();
            assert!(whole.len() > 500_000);
            let format = (container == Format::Deflate.into()).then_some(FormatChoice::Deflate);
            assert_eq!(outcome(&whole, 3, format, None).0.len(), data.len());
            for tail in [&b"garbage"[..], b"\0\0\0", b"\x1f\x8b", &whole, &[&whole[..], b"\0x"].concat()] {
                assert_as_on_one_thread("a tail", &[&whole[..], tail].concat(), format, None);
            }
            for at in (0..whole.len()).step_by(97_000).chain(whole.len() - 9..whole.len()) {
                assert_as_on_one_thread("truncated", &whole[..at], format, None);
                assert_as_on_one_thread("limited", &whole, format, Some(at as u64));
                let mut damaged = whole.clone();
                damaged[at] ^= 0x44;
                assert_as_on_one_thread("damaged", &damaged, format, None);
            }
        }
    }

    #[test]
    fn output_limit_stops_parallel_decoding_where_it_stops_one_thread() {
        let bgzf = compressed(Container::Bgzf, &text(700));
        for most in 0..=701 {
            assert_as_on_one_thread(&format!("at most {most}"), &bgzf, None, Some(most));
        }
    }
}
