//! Measures sizes of compressed blocks with dictionaries of our trainer and of libzstd's and
//! without, and the time of training. No measured block was among the samples of its dictionary.

use linerate_dict::{Savings, Training};
use linerate_zstd::Dictionary;

use super::case::size;
use super::data::Data;
use crate::frames::cases::train_by_libzstd;
use crate::harness::{Clock, message, progress, row};
use crate::records::Measurement;

/// Default sizes of dictionaries, in bytes.
pub(super) const DICTIONARIES: [usize; 4] = [2 << 10, 4 << 10, 8 << 10, 16 << 10];
/// Default sizes of blocks, in bytes.
pub(super) const BLOCKS: [usize; 3] = [1 << 10, 4 << 10, 16 << 10];
/// Default kinds of data.
pub(super) const DATA: [&str; 5] = ["json", "log", "text", "sqlite", "protobuf"];
/// Levels at which libzstd compresses the blocks.
const LEVELS: [i32; 4] = [1, 3, 6, 9];
/// Level for which our trainer is timed. libzstd's trainer takes no level and trains for this one.
const TIMED_LEVEL: i32 = 3;
/// Maximum bytes of the samples that a dictionary is trained with.
const SAMPLES: usize = 1 << 20;
/// Maximum bytes of the blocks that are compressed.
const MEASURED: usize = 512 << 10;

/// The trainers and kinds of entropy tables that are compared. "none" is the content of the trained
/// dictionary without its tables.
const FORMS: [(&str, &str); 4] =
    [("libzstd", "full"), ("linerate", "full"), ("linerate", "small"), ("linerate", "none")];

/// The size of all blocks with a dictionary of one of [`FORMS`], without a dictionary, and with
/// libzstd's.
struct Compared {
    form: (&'static str, &'static str),
    with: f64,
    none: f64,
    libzstd: f64,
}

/// Measures sizes at each block size and level for one kind of data and one dictionary size. Then
/// come the mean and the worst of these sizes, divided by those without a dictionary and by those
/// with libzstd's.
///
/// # Errors
/// A sentence, if the data is too short or a trainer fails.
pub(super) fn measure(data: &Data, dictionary: usize, blocks: &[usize]) -> Result<Vec<Measurement>, String> {
    let row = |contender: &str| {
        row("dictionary-sizes", data.kind.name(), contender).param("dictionary", size(dictionary))
    };
    let (mut found, mut compared) = (Vec::new(), Vec::new());
    for &block in blocks {
        progress(&format!("{}, {} of {}", data.name, size(dictionary), size(block)));
        let row = |contender: &str, tables: &str| {
            row(contender).param("block", size(block)).param("tables", tables)
        };
        let cell = Cell::of(data, dictionary, block)?;
        found.push(row("libzstd", "full").param("step", "train").exact("cpu", cell.libzstd_time));
        for level in LEVELS {
            let (sizes, time) = cell.at(level)?;
            if level == TIMED_LEVEL {
                found.push(row("linerate", "full").param("step", "train").exact("cpu", time));
            }
            let sized = |row: Measurement, bytes: f64| row.param("level", level).exact("output", bytes);
            found.push(sized(row("no dictionary", "none"), sizes[0].none));
            found.extend(sizes.iter().map(|size| sized(row(size.form.0, size.form.1), size.with)));
            compared.extend(sizes);
        }
    }
    for form in FORMS {
        let quotients = quotients(form, &compared).into_iter();
        found.extend(quotients.map(|(base, case, quotient)| {
            let row = row(form.0).param("tables", form.1).param("base", base).param("case", case);
            row.exact("output_by_base", quotient)
        }));
    }
    Ok(found)
}

/// Samples and blocks of one size, and libzstd's dictionary.
struct Cell<'d> {
    dictionary: usize,
    samples: Vec<&'d [u8]>,
    measured: Vec<&'d [u8]>,
    libzstd: Vec<u8>,
    /// CPU time of libzstd's training, in seconds.
    libzstd_time: f64,
}

impl<'d> Cell<'d> {
    fn of(data: &'d Data, dictionary: usize, block: usize) -> Result<Self, String> {
        let samples: Vec<&[u8]> = data.dictionaries.chunks_exact(block).take(SAMPLES / block).collect();
        let measured: Vec<&[u8]> = data.blocks.chunks_exact(block).take(MEASURED / block).collect();
        if samples.len() < 16 || measured.is_empty() {
            return Err(format!("{}: too short for blocks of {}", data.name, size(block)));
        }
        let (libzstd, time) = Clock::Thread.time(|| train_by_libzstd(&samples, dictionary))?;
        Ok(Cell { dictionary, samples, measured, libzstd, libzstd_time: time.as_secs_f64() })
    }

    /// Sizes of the blocks at a level, in the order of [`FORMS`], and the CPU time in seconds that
    /// our trainer took for the dictionary with full tables.
    fn at(&self, level: i32) -> Result<([Compared; 4], f64), String> {
        let training = Training::new(self.dictionary).level(level);
        let train = |training: Training| training.train(&self.samples).map_err(message);
        let (full, time) = Clock::Thread.time(|| train(training))?;
        let small = train(training.small_tables(true))?;
        let content = Dictionary::measure(&full).map_err(message)?.content_len();
        let len = |bytes: &[u8]| Savings::measure(bytes, &self.measured, level).map_err(message);
        let libzstd = len(&self.libzstd)?;
        let (with, none) = (libzstd.with as f64, libzstd.without as f64);
        let ours = [&full[..], &small, &full[full.len() - content..]];
        let [full, small, raw] = ours.map(|bytes| len(bytes).map(|savings| savings.with as f64));
        let sizes = [with, full?, small?, raw?];
        let compared = |i: usize| Compared { form: FORMS[i], with: sizes[i], none, libzstd: with };
        Ok((std::array::from_fn(compared), time.as_secs_f64()))
    }
}

/// The mean and the worst, that is largest, of the sizes with a dictionary of one of [`FORMS`],
/// divided by those without a dictionary and by those with libzstd's. Each is a base, "mean" or
/// "worst", and the quotient.
fn quotients(form: (&str, &str), compared: &[Compared]) -> [(&'static str, &'static str, f64); 4] {
    let of_form = || compared.iter().filter(|compared| compared.form == form);
    let mean_and_worst = |quotient: fn(&Compared) -> f64| {
        let mean = of_form().map(quotient).sum::<f64>() / of_form().count().max(1) as f64;
        (mean, of_form().map(quotient).fold(0.0f64, f64::max))
    };
    let by_none = mean_and_worst(|c| c.with / c.none);
    let by_libzstd = mean_and_worst(|c| c.with / c.libzstd);
    [
        ("no dictionary", "mean", by_none.0),
        ("no dictionary", "worst", by_none.1),
        ("libzstd", "mean", by_libzstd.0),
        ("libzstd", "worst", by_libzstd.1),
    ]
}
