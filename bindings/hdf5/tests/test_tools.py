"""HDF5's own command line tools with the plugins, and the plugin files themselves."""

import os
import re
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import AUTO_SEGMENT, DATA, options, run, run_python, run_tool, walk


def test_h5repack_writes_what_h5py_reads(tmp_path):
    data = walk((20, 1000))
    with h5py.File(tmp_path / "plain.h5", "w") as file:
        file.create_dataset("data", data=data, chunks=(5, 1000))
    run_tool("h5repack", "-f", "UD=32025,0,2,8,1000", tmp_path / "plain.h5", tmp_path / "small.h5")
    with h5py.File(tmp_path / "small.h5") as file:
        assert options(file["data"]) == (8, 1000)
        assert file["data"].id.get_chunk_info(0).size < 5 * 1000 * 2 // 2
        np.testing.assert_array_equal(file["data"][...], data)


def test_h5repack_completes_cd_values_and_skips_other_types(tmp_path):
    with h5py.File(tmp_path / "plain.h5", "w") as file:
        file.create_dataset("data", data=walk((20, 1000)), chunks=(5, 250))
        file.create_dataset("other", data=walk((20, 1000), ">i2"), chunks=(5, 250))
    run_tool("h5repack", "-f", "data:UD=32025,0,1,16", tmp_path / "plain.h5", tmp_path / "small.h5")
    with h5py.File(tmp_path / "small.h5") as file:
        assert options(file["data"]) == (16, 1250, *AUTO_SEGMENT)
    # If a filter rejects the type, h5repack copies without it.
    run_tool("h5repack", "-f", "other:UD=32025,0,1,16", tmp_path / "plain.h5", tmp_path / "other.h5")
    with h5py.File(tmp_path / "other.h5") as file:
        assert file["other"].id.get_create_plist().get_nfilters() == 0
        np.testing.assert_array_equal(file["other"][...], walk((20, 1000)))


def test_h5repack_removes_the_filter(tmp_path):
    run_tool("h5repack", "-f", "NONE", DATA / "nab_m8_seg7000.h5", tmp_path / "plain.h5")
    with h5py.File(tmp_path / "plain.h5") as file:
        assert file["data"].id.get_create_plist().get_nfilters() == 0
        np.testing.assert_array_equal(file["data"][...], np.load(DATA / "nab_m8_seg7000.raw.npy"))


def test_h5dump_prints_the_error_of_a_damaged_chunk(tmp_path):
    with h5py.File(tmp_path / "bad.h5", "w") as file:
        dataset = file.create_dataset("data", (7,), "<i2", chunks=(7,), compression=32025)
        dataset.id.write_direct_chunk((0,), np.array([7, 2, 0x88888880], "<u4").tobytes())
    done = run("h5dump", "--enable-error-stack", tmp_path / "bad.h5")
    assert done.returncode == 1
    assert "Delta-Rice: a segment is longer than what is left (at byte 4)" in done.stdout + done.stderr


def libraries():
    return sorted(Path(os.environ.get("HDF5_PLUGIN_PATH", "")).glob("lib*"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads ELF")
@pytest.mark.parametrize("library", libraries(), ids=lambda path: path.stem)
class TestFile:
    def test_plugin_does_not_link_hdf5(self, library):
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run_tool("readelf", "-d", "-W", library))
        assert any(name.startswith("libc.") for name in needed)
        assert not [name for name in needed if "hdf5" in name]
        wanted = run_tool("readelf", "--dyn-syms", "-W", library)
        assert not re.search(r"UND H5", wanted)

    def test_plugin_exports_only_the_two_plugin_functions(self, library):
        lines = run_tool("readelf", "--dyn-syms", "-W", library).splitlines()
        columns = [line.split() for line in lines if re.match(r"\s+\d+:", line)]
        exported = {c[7] for c in columns if len(c) > 7 and c[6] != "UND" and c[4] in ("GLOBAL", "WEAK")}
        assert exported == {"H5PLget_plugin_type", "H5PLget_plugin_info"}


REGISTER = """
import ctypes, sys, h5py, numpy as np
plugin, path = ctypes.CDLL(sys.argv[1]), sys.argv[2]
assert plugin.H5PLget_plugin_type() == 0
plugin.H5PLget_plugin_info.restype = ctypes.c_void_p
table = plugin.H5PLget_plugin_info()
number = ctypes.c_int.from_address(table + 4).value
assert not h5py.h5z.filter_avail(number)
h5py.h5z.register_filter(table)
data = np.arange(1000, dtype="<i2")
with h5py.File(path, "w") as file:
    file.create_dataset("data", data=data, chunks=(100,), compression=number)
with h5py.File(path) as file:
    assert (file["data"][...] == data).all()
    print(number, file["data"].id.get_create_plist().get_filter(0)[2])
"""


def test_filter_tables_can_be_registered_in_process(tmp_path):
    outputs = [
        run_python(REGISTER, library, tmp_path / "new.h5", env={"HDF5_PLUGIN_PATH": str(tmp_path)})
        for library in libraries()
    ]
    assert outputs == [f"32025 {(8, 100, *AUTO_SEGMENT)}\n", "325 (0, 0, 100, 100)\n"]


FILTERS = {32025: "UD=32025,0,1,8", 325: "UD=325,0,0"}


@pytest.mark.parametrize("number", FILTERS)
@pytest.mark.parametrize("more", [{}, {"shuffle": False, "fletcher32": True}], ids=["alone", "fletcher32"])
def test_files_that_hdf5_tools_rewrite_hold_the_same_samples(tmp_path, number, more):
    data = {"rows": walk((20, 1000)), "cube": walk((6, 7, 300)), "line": walk((5000,)), "edge": walk((7, 1030))}
    chunks = {"rows": (5, 1000), "cube": (2, 7, 300), "line": (1000,), "edge": (3, 1000)}
    source = tmp_path / "source.h5"
    with h5py.File(source, "w") as file:
        for name, array in data.items():
            file.create_dataset(f"run/{name}", data=array, chunks=chunks[name], compression=number, **more)

    def compare(name, wanted, group="run"):
        with h5py.File(tmp_path / name) as file:
            for key, array in data.items():
                dataset = file[group][key]
                plist = dataset.id.get_create_plist()
                found = [plist.get_filter(i)[0] for i in range(plist.get_nfilters())]
                assert wanted is None or wanted in found, (name, key, found)
                np.testing.assert_array_equal(dataset[...], array, err_msg=f"{name} {key}")

    compare("source.h5", number)
    run_tool("h5copy", "-i", source, "-o", tmp_path / "copy.h5", "-s", "/run", "-d", "/other")
    compare("copy.h5", number, "other")
    # h5repack copies chunks as they are, or decodes and encodes them with other filters, shapes and
    # layouts. Then it encodes each of its files again with the first filter.
    for name, arguments, wanted in [
        ("again", [], number),
        ("latest", ["--latest"], number),
        ("contiguous", ["-l", "CONTI"], None),
        ("gzip", ["-f", "GZIP=1"], 1),
        ("32025", ["-f", FILTERS[32025]], 32025),
        ("325", ["-f", FILTERS[325]], 325),
        ("shuffled", ["-f", "SHUF", "-f", FILTERS[325]], None),
        ("rechunked", ["-l", "run/rows:CHUNK=7x333", "-l", "run/line:CHUNK=999", "-l", "run/cube:CHUNK=1x7x300"], number),
    ]:
        run_tool("h5repack", *arguments, source, tmp_path / f"{name}.h5")
        compare(f"{name}.h5", wanted)
        run_tool("h5diff", source, tmp_path / f"{name}.h5")
        run_tool("h5repack", "-f", FILTERS[number], tmp_path / f"{name}.h5", tmp_path / f"{name}-back.h5")
        compare(f"{name}-back.h5", number)
