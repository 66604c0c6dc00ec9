"""The examples of docs/waveforms/hdf5.md, verbatim."""

import re
from pathlib import Path

import h5py
import numpy as np

from conftest import run_python, run_tool, walk

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "waveforms" / "hdf5.md").read_text()


def test_examples_of_docs_hdf5_run(tmp_path):
    code = re.search(r"```python\n(.*?)```", PAGE, re.S)[1]
    repack = re.search(r"^    (h5repack .*) plain.h5 small.h5$", PAGE, re.M)[1].split()
    traces = walk((100, 7000))
    np.save(tmp_path / "traces.npy", traces)
    setup = "import os, sys, numpy\nos.chdir(sys.argv[1])\ntraces = numpy.load('traces.npy')\n"
    run_python(setup + code, tmp_path)
    with h5py.File(tmp_path / "run.h5") as file:
        for name in ["traces", "better"]:
            np.testing.assert_array_equal(file[name][...], traces)
    run_tool(*repack, tmp_path / "run.h5", tmp_path / "small.h5")
    with h5py.File(tmp_path / "small.h5") as file:
        np.testing.assert_array_equal(file["better"][...], traces)
        assert file["better"].id.get_create_plist().get_filter(0)[0] == 32025
