"""Other builds of filter 32025 are loaded and measured. The build here is a filter that inverts all bits."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import codecs_in_memory
import filter_plugin
import h5py
import measure
import numpy as np
import pytest
import through_hdf5

SOURCE = """
#include <stddef.h>
size_t flip(unsigned flags, size_t n, const unsigned *values, size_t used, size_t *size, void **data) {
    if (n != 2 || values[0] != 8) return 0;
    for (size_t i = 0; i < used; i++) ((unsigned char *)*data)[i] ^= 255;
    return used;
}
static const struct {
    int version, id; unsigned encodes, decodes; const char *name;
    void *can_apply, *set_local; size_t (*filter)(unsigned, size_t, const unsigned *, size_t, size_t *, void **);
} table = {1, ID, 1, 1, "flip", 0, 0, flip};
const void *H5PLget_plugin_info(void) { return INFO; }
"""


@pytest.fixture
def library(tmp_path: Path):
    """Returns a function that compiles the filter with the given result of H5PLget_plugin_info."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")

    def build(info: str, id: int = filter_plugin.DELTA_RICE) -> str:
        path = tmp_path / f"lib{abs(hash((info, id)))}.so"
        options = ["-shared", "-fPIC", f"-DID={id}", f"-DINFO={info}", "-x", "c", "-", "-o", path]
        subprocess.run([compiler, *options], input=SOURCE, text=True, check=True)
        return str(path)

    return build


def samples() -> np.ndarray:
    return np.arange(200, dtype=np.int16).reshape(4, 50)


def test_plugin_is_measured_through_hdf5_and_by_filter_call(library, tmp_path):
    plugin = filter_plugin.Plugin("other=" + library("&table"))
    methods = [*through_hdf5._against(tmp_path, plugin), next(codecs_in_memory._filter_calls(plugin))]
    array = samples()
    back = np.empty_like(array)
    outcomes = measure.run([lambda m=m: m.make(array, back) for m in methods], 2)
    assert [(o.failure, o.size) for o in outcomes] == [("", array.nbytes)] * 2
    assert [method.name for method in methods] == ["other, m=8", "other, m=8, filter call"]
    h5py.h5z.unregister_filter(filter_plugin.DELTA_RICE)


def test_filter_function_of_the_plugin_is_called(library):
    plugin = filter_plugin.Plugin(library("&table"))
    trial = codecs_in_memory.FilterCall(samples(), np.empty((4, 50), np.int16), plugin)
    measure.verify(trial)
    assert bytes(trial.chunk) == bytes(~samples())


def test_library_without_a_table_needs_a_symbol(library):
    for info in ("(void *)32025", "(void *)0"):
        path = library(info)
        with pytest.raises(ValueError, match="gives no table"):
            filter_plugin.Plugin(path)
        measure.verify(codecs_in_memory.FilterCall(samples(), samples(), filter_plugin.Plugin(f"{path}:flip")))


def test_other_filter_ids_are_rejected(library):
    with pytest.raises(ValueError, match="this is filter 307"):
        filter_plugin.Plugin(library("&table", 307))


def test_failing_filter_is_an_error(library):
    trial = codecs_in_memory.FilterCall(samples(), samples(), filter_plugin.Plugin(library("&table")))
    trial.cd_values = (9, 50)
    with pytest.raises(RuntimeError, match="the filter failed"):
        measure.verify(trial)
