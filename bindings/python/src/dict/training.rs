//! Dictionaries from samples, and what they gain.

use linerate_dict::{Gain, Training, shrink_tables};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::raise;
use crate::kernel::buffers::Input;

/// A dictionary is not made larger than the samples, or than this.
const LARGEST_OF_LITTLE: usize = 1 << 20;

/// A dictionary of at most `size` bytes.
#[pyfunction]
pub(crate) fn dict_train<'py>(
    py: Python<'py>,
    samples: Vec<Input>,
    size: usize,
    small_tables: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let samples: Vec<&[u8]> = samples.iter().map(Input::bytes).collect();
    let all: usize = samples.iter().map(|sample| sample.len()).sum();
    let training = Training::new(size.min(all.max(LARGEST_OF_LITTLE))).with_small_tables(small_tables);
    let dictionary = py.detach(|| training.train(&samples));
    dictionary.map(|bytes| PyBytes::new(py, &bytes)).map_err(|e| raise(py, e))
}

/// The dictionary with small tables.
#[pyfunction]
pub(crate) fn dict_shrink_tables<'py>(py: Python<'py>, dictionary: Input) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = dictionary.bytes();
    let smaller = py.detach(|| shrink_tables(bytes));
    smaller.map(|bytes| PyBytes::new(py, &bytes)).map_err(|e| raise(py, e))
}

/// Bytes of the blocks, compressed without and with the dictionary, of the dictionary, of its tables.
#[pyfunction]
pub(crate) fn dict_gain(
    py: Python<'_>,
    dictionary: Input,
    blocks: Vec<Input>,
    level: i32,
) -> PyResult<(usize, usize, usize, usize, usize)> {
    let dictionary = dictionary.bytes();
    let blocks: Vec<&[u8]> = blocks.iter().map(Input::bytes).collect();
    let gain = py.detach(|| Gain::measure(dictionary, &blocks, level)).map_err(|e| raise(py, e))?;
    Ok((gain.content, gain.without, gain.with, gain.dictionary, gain.tables))
}
