"""The FPGA encoder of accel/hdl in a simulator: its chunks in an HDF5 file, read by h5py through the filter."""

import re
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import run_python, run_tool, walk

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "waveforms" / "fpga.md").read_text()


@pytest.fixture(scope="module")
def simulator(tmp_path_factory) -> Path:
    """The chunk encoder, compiled by Icarus Verilog."""
    if not shutil.which("iverilog"):
        pytest.skip("no Icarus Verilog (Debian: apt-get install iverilog)")
    program = tmp_path_factory.mktemp("hdl") / "chunk_file.vvp"
    hdl = ROOT / "accel" / "hdl"
    run_tool("iverilog", "-g2005", "-y", hdl / "rtl", "-o", program, hdl / "sim" / "chunk_file_tb.v")
    return program


def encode(simulator: Path, samples: np.ndarray, segment: int, k: int, folder: Path) -> Path:
    """Encodes by simulation one chunk per entry of the first axis; returns the file of chunks."""
    (folder / "samples.raw").write_bytes(samples.astype("<i2").tobytes())
    n = samples[0].size
    files = [f"+samples={folder}/samples.raw", f"+chunks={folder}/chunks.bin"]
    run_tool("vvp", "-n", simulator, *files, f"+n={n}", f"+segment={segment}", f"+k={k}")
    return folder / "chunks.bin"


def test_verilog_example_of_docs_fpga_compiles(simulator, tmp_path):
    (tmp_path / "example.v").write_text(re.search(r"```verilog\n(.*?)```", PAGE, re.S)[1])
    rtl = ROOT / "accel" / "hdl" / "rtl"
    run_tool("iverilog", "-g2005", "-Wall", "-y", rtl, "-o", tmp_path / "out", tmp_path / "example.v")


def test_timing_table_of_docs_fpga_is_that_of_the_simulation(simulator, tmp_path):
    bench = ROOT / "accel" / "hdl" / "sim" / "timing_tb.v"
    run_tool("iverilog", "-g2005", "-y", ROOT / "accel" / "hdl" / "rtl", "-o", tmp_path / "timing.vvp", bench)
    shown = re.search(r"```text\n(clock .*?)```", PAGE, re.S)[1]
    assert run_tool("vvp", "-n", tmp_path / "timing.vvp") == shown


def test_simulated_chunk_written_by_the_example_of_docs_fpga_reads_back(simulator, tmp_path):
    waveforms = walk((16, 500))
    encode(simulator, waveforms[np.newaxis], 500, 3, tmp_path).rename(tmp_path / "chunk.bin")
    code = re.search(r"```python\n(.*?)```", PAGE, re.S)[1]
    run_python("import os, sys\nos.chdir(sys.argv[1])\n" + code, tmp_path)
    with h5py.File(tmp_path / "run.h5") as file:
        np.testing.assert_array_equal(file["waveforms"][...], waveforms)
    printed = run_tool("h5dump", "-d", "/waveforms", "-y", "-w", "1", tmp_path / "run.h5").split("DATA {")[1]
    assert [int(x) for x in printed.split("}")[0].replace(",", " ").split()] == waveforms.ravel().tolist()


@pytest.mark.parametrize(("segment", "k"), [(64, 1), (37, 5), (1000, 15)])
def test_simulated_chunks_equal_those_that_the_filter_writes(simulator, tmp_path, segment, k):
    noise = np.random.default_rng(2).integers(-(2**15), 2**15, (1, 1000))
    samples = np.concatenate([walk((3, 1000)), noise]).astype("<i2")
    options = {"chunks": (1, 1000), "compression": 32025, "compression_opts": (1 << k, segment)}
    with h5py.File(tmp_path / "filter.h5", "w") as file:
        dataset = file.create_dataset("data", data=samples, **options)
        wanted = [dataset.id.read_direct_chunk((row, 0))[1] for row in range(len(samples))]
    assert encode(simulator, samples, segment, k, tmp_path).read_bytes() == b"".join(wanted)
