//! Sizes of blocks with dictionaries of both trainers and without, and the time of training. Blocks are not those that the
//! dictionaries were trained with.

use linerate_dict::{Savings, Training};
use linerate_zstd::Dictionary;

use super::case::size;
use super::data::Data;
use crate::harness::{Clock, message, progress, row};
use crate::records::Measurement;

/// Sizes of dictionaries and of blocks, in bytes.
pub(super) const DICTIONARIES: [usize; 4] = [2 << 10, 4 << 10, 8 << 10, 16 << 10];
pub(super) const BLOCKS: [usize; 3] = [1 << 10, 4 << 10, 16 << 10];
/// Kinds of data.
pub(super) const DATA: [&str; 5] = ["json", "log", "text", "sqlite", "protobuf"];
/// Levels of libzstd.
const LEVELS: [i32; 4] = [1, 3, 6, 9];
/// Level whose training is timed: libzstd's trainer knows no other.
const TIMED_LEVEL: i32 = 3;
/// Bytes of samples, and of blocks that are compressed.
const SAMPLES: usize = 1 << 20;
const MEASURED: usize = 512 << 10;

/// A compressed size with a dictionary, beside those that it is compared with.
struct Compared {
    with: f64,
    none: f64,
    libzstd: f64,
}

/// Sizes with each dictionary and level for one kind of data and one dictionary size; last, the mean and the worst quotient.
///
/// # Errors
/// A sentence: the data is too short.
pub(super) fn measure(data: &Data, dictionary: usize, blocks: &[usize]) -> Result<Vec<Measurement>, String> {
    let blank = |contender: &str| {
        row("dictionary-sizes", data.kind.name(), contender).param("dictionary", size(dictionary))
    };
    let (mut found, mut compared) = (Vec::new(), Vec::new());
    for &block in blocks {
        progress(&format!("{}, {} of {}", data.name, size(dictionary), size(block)));
        let samples: Vec<&[u8]> = data.dictionaries.chunks_exact(block).take(SAMPLES / block).collect();
        let measured: Vec<&[u8]> = data.blocks.chunks_exact(block).take(MEASURED / block).collect();
        if samples.len() < 16 || measured.is_empty() {
            return Err(format!("{}: too short for blocks of {}", data.name, size(block)));
        }
        let row = |contender: &str, tables: &str| {
            blank(contender).param("block", size(block)).param("tables", tables)
        };
        let (theirs, time) = Clock::Thread.time(|| train_by_libzstd(dictionary, &samples))?;
        found.push(row("libzstd", "full").param("step", "train").exact("cpu", time.as_secs_f64()));
        for level in LEVELS {
            let training = Training::new(dictionary).level(level);
            let train = |training: Training| training.train(&samples).map_err(message);
            let (full, time) = Clock::Thread.time(|| train(training))?;
            if level == TIMED_LEVEL {
                found.push(row("linerate", "full").param("step", "train").exact("cpu", time.as_secs_f64()));
            }
            let small = train(training.small_tables(true))?;
            let content = Dictionary::measure(&full).map_err(message)?.content_len();
            let len = |bytes: &[u8]| Savings::measure(bytes, &measured, level).map_err(message);
            let forms = [
                ("libzstd", "full", len(&theirs)?),
                ("linerate", "full", len(&full)?),
                ("linerate", "small", len(&small)?),
                ("linerate", "none", len(&full[full.len() - content..])?),
            ];
            let none = forms[0].2.without;
            found.push(row("no dictionary", "none").param("level", level).size("output", none));
            for (contender, tables, savings) in forms {
                found.push(row(contender, tables).param("level", level).size("output", savings.with));
                compared.push((
                    (contender, tables),
                    Compared {
                        with: savings.with as f64,
                        none: none as f64,
                        libzstd: forms[0].2.with as f64,
                    },
                ));
            }
        }
    }
    for form in [("libzstd", "full"), ("linerate", "full"), ("linerate", "small"), ("linerate", "none")] {
        let of_form = || compared.iter().filter(|(other, _)| *other == form).map(|(_, compared)| compared);
        let of_none: Vec<f64> = of_form().map(|c| c.with / c.none).collect();
        let of_libzstd: Vec<f64> = of_form().map(|c| c.with / c.libzstd).collect();
        for (base, quotients) in [("no dictionary", of_none), ("libzstd", of_libzstd)] {
            let mean = quotients.iter().sum::<f64>() / quotients.len().max(1) as f64;
            let worst = quotients.iter().fold(0.0f64, |worst, &quotient| worst.max(quotient));
            for (case, quotient) in [("mean", mean), ("worst", worst)] {
                let row = blank(form.0).param("tables", form.1).param("base", base).param("case", case);
                found.push(row.exact("output_by_base", quotient));
            }
        }
    }
    Ok(found)
}

fn train_by_libzstd(size: usize, samples: &[&[u8]]) -> Result<Vec<u8>, String> {
    let sizes: Vec<usize> = samples.iter().map(|sample| sample.len()).collect();
    let mut bytes = vec![0; size];
    let len = zstd_safe::train_from_buffer(&mut bytes[..], &samples.concat(), &sizes)
        .map_err(|_| "libzstd cannot train with these samples")?;
    bytes.truncate(len);
    Ok(bytes)
}
