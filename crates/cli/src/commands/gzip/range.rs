//! `--range`: decompresses a part of a file, with its index if there is one.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use linerate_inflate::index::{Builder, Options, Reader};
use linerate_inflate::{Format, read};

use super::args::{Args, FormatChoice};
use super::endpoints::CountedReader;
use super::file::Totals;
use super::index::{of_reading, open};
use super::{container, names};
use crate::ui::error::CliError;
use crate::ui::inputs;
use crate::ui::operands::Operand;
use crate::ui::output::{Output, OutputCount};
use crate::ui::remote::url;
use crate::ui::session::{FileSummary, open_output};

/// Maximum number of bytes that are decoded at a time, and that are read at a time without an
/// index.
const BUFFER: usize = 256 << 10;

/// Decompresses the part of a file's content that `--range` names, and writes it to standard output
/// or to the file of `-o`. Warns if the content ends before the range does or, for a range without
/// an end, before it begins.
pub(super) fn decompress(
    args: &Args,
    operand: &Operand,
    file: impl Read + Seek,
) -> Result<(FileSummary<Totals>, Output), CliError> {
    let range = args.range.clone().unwrap_or(0..u64::MAX);
    index_of(args, operand).iter().for_each(|path| inputs::keep(path));
    let to_stdout = args.writes_stdout(operand.path().is_none());
    let mut output = open_output(to_stdout, args.output.as_deref(), args.force)?;
    let (bytes_in, mut count) = (Cell::new(0), OutputCount::new(args.max_output));
    let mut content = Content::open(args, operand, CountedReader { inner: file, bytes: &bytes_in })?;
    let (mut at, mut buffer) = (content.at, vec![0; BUFFER]);
    while at < range.end {
        let left = if at < range.start { range.start - at } else { range.end - at };
        let most = usize::try_from(left).unwrap_or(BUFFER).min(BUFFER);
        let len = content.reader.read(&mut buffer[..most]).map_err(|e| of_reading(e, bytes_in.get()))?;
        if len == 0 {
            break;
        }
        if at >= range.start {
            // What the limit on output allows is written before the error, as without a range.
            let allowed = usize::try_from(count.left()).unwrap_or(len).min(len);
            output.write_all(&buffer[..allowed]).map_err(|error| output.error(error))?;
            count.add(len, bytes_in.get())?;
        }
        at += len as u64;
    }
    let (format, bytes_out) = (content.format.name(), count.bytes);
    let mut summary = FileSummary::new(operand, Totals { format, bytes_in: bytes_in.get(), bytes_out });
    let end = content.end.unwrap_or(at);
    if end < range.start || end < range.end && range.end < u64::MAX {
        summary.warnings.push(format!("the range goes beyond the content, which has {end} bytes"));
    }
    Ok((summary, output))
}

/// The content of a file from an offset to its end.
struct Content<'a> {
    reader: Box<dyn Read + 'a>,
    format: FormatChoice,
    /// Offset in the content of the first byte that `reader` returns.
    at: u64,
    /// Size of the content in bytes, if it is known.
    end: Option<u64>,
}

impl<'a> Content<'a> {
    fn open(args: &Args, operand: &Operand, mut file: impl Read + Seek + 'a) -> Result<Self, CliError> {
        let start = args.range.as_ref().map_or(0, |range| range.start);
        let given = args.format.or_else(|| operand.path().and_then(names::format_by_suffix));
        let is_gzip = given.is_none_or(|format| matches!(format, FormatChoice::Gzip | FormatChoice::Bgzf));
        if let Some(path) = index_of(args, operand).filter(|_| is_gzip) {
            let index = open(&path, &mut file, args.range.clone().unwrap_or(0..u64::MAX));
            let index = index.map_err(|error| explain(error, args, &path))?;
            let mut reader = Reader::with_index(file, index).map_err(|e| of_reading(e, 0))?;
            reader.seek(SeekFrom::Start(start)).map_err(|e| of_reading(e, 0))?;
            let end = Some(reader.index().len());
            return Ok(Content { reader: Box::new(reader), format: FormatChoice::Gzip, at: start, end });
        }
        let mut file = BufReader::with_capacity(BUFFER, file);
        let format = match given {
            Some(format) => format,
            None => match container::of_start(file.fill_buf().map_err(|e| of_reading(e, 0))?)? {
                linerate_deflate::Format::Gzip => FormatChoice::Gzip,
                _ => FormatChoice::Zlib,
            },
        };
        let reader: Box<dyn Read + 'a> = match format {
            FormatChoice::Gzip | FormatChoice::Bgzf => {
                Box::new(Builder::with_buffer(file, &Options::new().spacing(u64::MAX)))
            }
            FormatChoice::Zlib => Box::new(read::Decoder::with_buffer(file, Format::Zlib)),
            FormatChoice::Deflate => Box::new(read::Decoder::with_buffer(file, Format::Deflate)),
        };
        Ok(Content { reader, format, at: 0, end: None })
    }
}

/// If the index beside a URL could not be read, adds to the error that a range needs this index.
fn explain(error: CliError, args: &Args, index: &Path) -> CliError {
    match error {
        CliError::Io { context, error } if args.index_file.is_none() && url(index).is_some() => {
            let remedy = "a range of a URL needs this index; `linerate gzip --index` makes it";
            CliError::Refused(format!("{context}: {error}; {remedy}"))
        }
        other => other,
    }
}

/// The path of the given index, or of the one beside the file if that exists. For a URL it is
/// returned whether it exists or not: a range of a URL needs it, since otherwise everything before
/// the range would be fetched.
fn index_of(args: &Args, operand: &Operand) -> Option<PathBuf> {
    let beside = || operand.path().map(names::of_index).filter(|path| url(path).is_some() || path.is_file());
    args.index_file.clone().or_else(beside)
}
