"""Runs the examples for libraries of laboratories. `scripts/test.sh labs` installs these and runs
this file."""

import h5py
import numpy as np
import pytest
from hdmf.backends.hdf5 import H5DataIO
from support import REPOSITORY, python_blocks, run_python

from pylinerate.hdf5 import DELTARICE2_ID, DeltaRice2

lgdo = pytest.importorskip("lgdo", reason="SKIP: legend-pydataobj is not installed")
lh5 = pytest.importorskip("lh5", reason="SKIP: legend-lh5io is not installed")

PAGE = (REPOSITORY / "docs/waveforms/python-labs.md").read_text()


def test_examples_of_the_page_run_and_store_compressed_arrays(tmp_path):
    run_python("\n".join(python_blocks(PAGE)), cwd=tmp_path, timeout=600)
    assert '"linerate.deltarice2"' in (tmp_path / "recording.zarr/traces_seg0/.zarray").read_text()
    assert '"linerate.deltarice2"' in (tmp_path / "neo.zarr/.zarray").read_text()
    with h5py.File(tmp_path / "recording.nwb") as file:
        assert filters(file["acquisition/traces/data"]) == [DELTARICE2_ID]
    with h5py.File(tmp_path / "run.lh5") as file:
        for name in ("waveform/values", "zero_suppressed/flattened_data"):
            assert filters(file["raw"][name]) == [DELTARICE2_ID]
            assert file["raw"][name].id.get_storage_size() < 0.5 * file["raw"][name].nbytes
        assert filters(file["raw/energy"]) == [h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_DEFLATE]


def test_filters_without_the_arguments_of_the_page_are_errors(tmp_path):
    with pytest.raises(ValueError, match="allow_plugin_filters"):
        H5DataIO(np.zeros(10, "int16"), **DeltaRice2())
    table = lgdo.Table({"samples": lgdo.Array(np.zeros((4, 50), "int16")), "energy": lgdo.Array(np.zeros(4))})
    for more in ({}, {"shuffle": False}):
        with pytest.raises(Exception, match="Delta-Rice"):
            lh5.write(table, "raw", str(tmp_path / "refused.lh5"), wo_mode="overwrite_file", **more, **DeltaRice2())


def filters(dataset):
    plist = dataset.id.get_create_plist()
    return [plist.get_filter(i)[0] for i in range(plist.get_nfilters())]
