//! Reads the header of a block's sequences section, and builds the tables it describes (RFC 8878,
//! section 3.1.1.3.2.1).

use linerate_core::{Error, Kind, Result};

use crate::dictionary::Dictionary;
use crate::entropy::fse::{self, NormalizedCounts};
use crate::entropy::tables::SequenceField;
use crate::frame_tables::{FrameTables, TableSource};
use crate::kernel;
use crate::kernel_set::KernelSet;

/// The header of a sequences section.
pub(crate) struct Section {
    /// Number of sequences.
    pub(crate) count: usize,
    /// Number of bytes before the bitstream.
    pub(crate) len: usize,
}

const CUT_OFF: Error = Error::corrupt("a section of sequences is cut off");

/// Reads the header of a section, and builds the tables it describes.
pub(crate) fn read_section(
    kernels: KernelSet,
    src: &[u8],
    tables: &mut FrameTables,
    dictionary: Option<&Dictionary<'_>>,
) -> Result<Section> {
    let byte = |i: usize| src.get(i).map(|&b| usize::from(b)).ok_or(CUT_OFF);
    let (count, mut at) = match byte(0)? {
        few @ 0..128 => (few, 1),
        255 => (byte(1)? + (byte(2)? << 8) + 0x7f00, 3),
        high => (((high - 128) << 8) + byte(1)?, 2),
    };
    if count == 0 {
        if at != src.len() {
            return Err(Error::new(Kind::Corrupt, at as u64, "bytes follow a section without sequences"));
        }
        return Ok(Section { count, len: at });
    }
    let modes = byte(at)?;
    at += 1;
    if modes & 3 != 0 {
        return Err(Error::new(Kind::Corrupt, at as u64 - 1, "reserved bits of the sequence modes are set"));
    }
    for (field, shift) in
        [(SequenceField::LiteralLength, 6), (SequenceField::Offset, 4), (SequenceField::MatchLength, 2)]
    {
        let rest = &src[at..];
        at += read_table(kernels, field, modes >> shift & 3, rest, tables, dictionary)
            .map_err(|e| e.shifted(at as u64))?;
    }
    Ok(Section { count, len: at })
}

/// Builds one table by its compression mode (0: predefined, 1: RLE, 2: FSE, 3: repeat). Returns the
/// length of its description in bytes.
fn read_table(
    kernels: KernelSet,
    field: SequenceField,
    mode: usize,
    src: &[u8],
    tables: &mut FrameTables,
    dictionary: Option<&Dictionary<'_>>,
) -> Result<usize> {
    match mode {
        0 => {
            tables.set_source(field, TableSource::Default);
            Ok(0)
        }
        1 => {
            let code = *src.first().ok_or(CUT_OFF)?;
            let extra = *field.extra_bits().get(usize::from(code)).ok_or(Error::new(
                Kind::Corrupt,
                0,
                "a repeated code of sequences does not exist",
            ))?;
            tables.cells_mut(field)[0] = fse::cell(0, u32::from(code), u32::from(extra), 0);
            tables.set_own(field, 0);
            Ok(1)
        }
        2 => {
            let mut counts = NormalizedCounts::<64>::new();
            // The block is complete, so a table that is cut off is damage.
            let used = counts
                .read(src, field.max_log(), field.extra_bits().len() - 1)
                .map_err(|e| e.with_kind(Kind::Corrupt))?;
            kernel::build::fse(kernels, &counts, field.extra_bits(), tables.cells_mut(field));
            tables.set_own(field, counts.log);
            Ok(used)
        }
        _ => match tables.table(field, dictionary) {
            Some(_) => Ok(0),
            None => Err(Error::new(
                Kind::Corrupt,
                0,
                "a block repeats a table of sequences, but none precedes it",
            )),
        },
    }
}
