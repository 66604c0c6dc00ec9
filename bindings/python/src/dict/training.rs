//! Trains dictionaries, and measures the bytes that they save.

use linerate_dict::{
    Choice, Clustering, Costs, Reason, SampleSet, Savings, Search, SetReport, Training, shrink_tables,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::raise;
use crate::sys::buffers::Input;
use crate::sys::bytes::copied;

/// Savings of a dictionary. Bytes of the blocks: uncompressed, compressed without the dictionary,
/// and compressed with it. Bytes of the dictionary, and of its decoding tables.
type SavingsRow = (usize, usize, usize, usize, usize);
/// Result of a search: the best dictionary, and its index among the candidates; for each candidate
/// its size, its savings, and the total bytes of data and dictionary; bytes of the expected data,
/// uncompressed and compressed without a dictionary.
type Results<'py> = (Option<Bound<'py, PyBytes>>, Option<usize>, Vec<(usize, SavingsRow, u64)>, u64, u64);
/// Total cost of one way to assign dictionaries: bytes of compressed blocks, bytes of dictionaries,
/// number of dictionaries.
type Spent = (u64, u64, usize);
/// Result for one set of samples: index of the dictionary that the set should use, or the reason
/// for none; bytes of the set, uncompressed; its compressed bytes without a dictionary, with a
/// dictionary of its own, and with the dictionary that it should use.
type Chosen = (Option<usize>, Option<&'static str>, u64, u64, Option<u64>, u64);
/// Result of a clustering: the dictionaries; the result for each set; the costs without
/// dictionaries, with a dictionary for each set, with one for all sets, and with the shared ones;
/// number of rounds.
type Shared<'py> = (Vec<Bound<'py, PyBytes>>, Vec<Chosen>, Vec<Spent>, usize);

/// Size in bytes up to which the requested size of a dictionary is never lowered. A larger size is
/// lowered to the bytes of the samples, but not below this one.
const MIN_SIZE_BOUND: usize = 1 << 20;

/// Lowers the requested size of a dictionary to the bytes of the samples, or to [`MIN_SIZE_BOUND`]
/// if that is more, so that a huge number from Python does not exhaust the memory.
fn bounded_size(size: usize, samples: &[&[u8]]) -> usize {
    let all: usize = samples.iter().map(|sample| sample.len()).sum();
    size.min(all.max(MIN_SIZE_BOUND))
}

/// Trains a dictionary of at most `size` bytes.
#[pyfunction]
pub(crate) fn dict_train<'py>(
    py: Python<'py>,
    samples: Vec<Input>,
    size: usize,
    small_tables: bool,
    level: i32,
) -> PyResult<Bound<'py, PyBytes>> {
    let samples: Vec<&[u8]> = samples.iter().map(Input::bytes).collect();
    let training = Training::new(bounded_size(size, &samples)).small_tables(small_tables).level(level);
    let dictionary = py.detach(|| training.train(&samples));
    copied(py, &dictionary.map_err(|e| raise(py, e))?)
}

/// Returns a copy of a dictionary with smaller entropy tables.
#[pyfunction]
pub(crate) fn dict_shrink_tables<'py>(py: Python<'py>, dictionary: Input) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = dictionary.bytes();
    let smaller = py.detach(|| shrink_tables(bytes));
    copied(py, &smaller.map_err(|e| raise(py, e))?)
}

/// Measures the bytes that `dictionary` saves for `blocks`.
#[pyfunction]
pub(crate) fn dict_savings(
    py: Python<'_>,
    dictionary: Input,
    blocks: Vec<Input>,
    level: i32,
) -> PyResult<SavingsRow> {
    let dictionary = dictionary.bytes();
    let blocks: Vec<&[u8]> = blocks.iter().map(Input::bytes).collect();
    let savings = py.detach(|| Savings::measure(dictionary, &blocks, level)).map_err(|e| raise(py, e))?;
    Ok(savings_row(&savings))
}

fn savings_row(savings: &Savings) -> SavingsRow {
    (savings.content, savings.without, savings.with, savings.dictionary, savings.tables)
}

/// Trains a dictionary of each size, and picks the one with which the expected data and the
/// dictionary itself take the fewest bytes together, or none if no dictionary saves bytes.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn dict_search<'py>(
    py: Python<'py>,
    samples: Vec<Input>,
    sizes: Vec<usize>,
    small_tables: bool,
    level: i32,
    expected: Option<u64>,
    threads: usize,
) -> PyResult<Results<'py>> {
    let samples: Vec<&[u8]> = samples.iter().map(Input::bytes).collect();
    let sizes: Vec<usize> = sizes.iter().map(|&size| bounded_size(size, &samples)).collect();
    let mut search = Search::new(&sizes).small_tables(small_tables).level(level).threads(threads);
    if let Some(expected) = expected {
        search = search.expected_bytes(expected);
    }
    let found = py.detach(|| search.run(&samples)).map_err(|e| raise(py, e))?;
    let dictionary = found.dictionary.map(|bytes| copied(py, &bytes)).transpose()?;
    let candidates = found.candidates.iter().map(|c| (c.size, savings_row(&c.savings), c.total)).collect();
    Ok((dictionary, found.best, candidates, found.expected, found.without))
}

fn spent(costs: &Costs) -> Spent {
    (costs.blocks, costs.dictionaries, costs.count)
}

fn chosen(set: &SetReport) -> Chosen {
    let (dictionary, reason) = match set.choice {
        Choice::Dictionary(index) => (Some(index), None),
        Choice::Plain(Reason::Empty) => (None, Some("empty")),
        Choice::Plain(Reason::TooFewSamples) => (None, Some("too few samples")),
        Choice::Plain(Reason::NoSavings) => (None, Some("no savings")),
    };
    (dictionary, reason, set.content, set.without, set.own, set.chosen)
}

/// Trains at most `max_count` dictionaries and assigns them to sets of samples. A set is its
/// samples and the number of bytes of the data that they represent; `None` means the samples alone.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn dict_cluster<'py>(
    py: Python<'py>,
    sets: Vec<(Vec<Input>, Option<u64>)>,
    max_count: usize,
    size: usize,
    small_tables: bool,
    level: i32,
    rounds: usize,
    sample_limit: usize,
    threads: usize,
) -> PyResult<Shared<'py>> {
    let samples: Vec<Vec<&[u8]>> =
        sets.iter().map(|(samples, _)| samples.iter().map(Input::bytes).collect()).collect();
    let largest = samples.iter().map(|samples| bounded_size(size, samples)).sum();
    let sets = samples.iter().zip(&sets).map(|(samples, (_, bytes))| {
        let set = SampleSet::new(samples);
        bytes.map_or(set, |bytes| set.total_bytes(bytes))
    });
    let sets: Vec<SampleSet<'_>> = sets.collect();
    let clustering = Clustering::new(max_count, size.min(largest))
        .small_tables(small_tables)
        .level(level)
        .rounds(rounds)
        .sample_limit(sample_limit)
        .threads(threads);
    let found = py.detach(|| clustering.run(&sets)).map_err(|e| raise(py, e))?;
    let dictionaries = found.dictionaries.iter().map(|bytes| copied(py, bytes)).collect::<PyResult<_>>()?;
    let costs = [&found.without, &found.own, &found.one, &found.shared].map(spent);
    Ok((dictionaries, found.sets.iter().map(chosen).collect(), costs.into(), found.rounds))
}
