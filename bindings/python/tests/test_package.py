"""The installed package, and the examples of its documentation."""

import importlib.metadata
import os
import re
import sys
from pathlib import Path

import pytest
from support import REPOSITORY, python_blocks, run_python, section

import pylinerate
from pylinerate import _pylinerate, hdf5


def test_the_first_example_for_hdf5_compresses(tmp_path):
    (example,) = python_blocks(section("docs/waveforms/index.md", "## Quick start"))
    run_python(example, cwd=tmp_path)
    assert (tmp_path / "run.h5").stat().st_size < 0.6 * 1000 * 7000 * 2


#: Their examples need files; bindings/hdf5/tests runs them.
HDF5_PAGES = {"docs/waveforms/hdf5.md", "docs/waveforms/fpga.md"}
#: Its example needs a gateway; test_gateway_discord.py runs it.
SERVED_PAGES = {"docs/gateway/serve.md"}
#: Its examples need libraries that want zarr 2; labs/test_labs.py runs them.
LABS_PAGES = {"docs/waveforms/python-labs.md"}


def pages_with_examples():
    """The pages whose Python code no other test runs, by their paths from the repository."""
    paths = [*REPOSITORY.glob("docs/**/*.md"), *REPOSITORY.glob("bindings/python/*.md")]
    pages = [path for path in paths if python_blocks(path.read_text())]
    return sorted({path.relative_to(REPOSITORY).as_posix() for path in pages} - HDF5_PAGES - SERVED_PAGES - LABS_PAGES)


@pytest.mark.parametrize("path", pages_with_examples())
def test_documentation_examples_run(tmp_path, path):
    run_python("\n".join(python_blocks((REPOSITORY / path).read_text())), cwd=tmp_path)


def test_all_pages_with_examples_are_found():
    assert {"docs/waveforms/python.md", "docs/dict/python.md", "docs/gateway/python.md"} <= set(pages_with_examples())


def test_documented_parameters_are_those_printed(tmp_path):
    code = python_blocks((REPOSITORY / "docs/waveforms/python.md").read_text())[0]
    shown = re.search(r"chunk\.params +# (.*)", code)[1]
    assert run_python(code + "\nprint(chunk.params)", cwd=tmp_path) == shown + "\n"


def test_example_script_prints_sizes_and_plots(tmp_path):
    pytest.importorskip("matplotlib", reason="SKIP: matplotlib is not installed")
    script = REPOSITORY / "bindings/python/examples/waveforms.py"
    out = tmp_path / "x.png"
    arguments = [str(script), "--rows", "20", "--samples", "700", "--out", str(out)]
    code = f"import runpy, sys; sys.argv = {arguments}; runpy.run_path({str(script)!r}, run_name='__main__')"
    printed = run_python(code, env={**os.environ, "MPLBACKEND": "Agg"}, cwd=tmp_path)
    assert out.read_bytes().startswith(b"\x89PNG")
    assert all(name in printed for name in ("Delta-Rice ", "Delta-Rice 2", "zlib 6", "Blosc LZ4"))


def test_entry_points_load():
    for group in ("numcodecs.codecs", "zarr.codecs"):
        points = importlib.metadata.distribution("pylinerate").entry_points.select(group=group)
        assert {point.name for point in points} == {"linerate.deltarice", "linerate.deltarice2"}
        for point in points:
            assert point.load().__module__.startswith("pylinerate.")


def test_type_information_and_plugins_are_installed():
    package = Path(pylinerate.__file__).parent
    assert (package / "py.typed").exists() and (package / "_pylinerate.pyi").exists()
    ending = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    plugins = {path.name for path in Path(hdf5.PLUGIN_PATH).iterdir()}
    assert plugins == {f"liblinerate_deltarice{ending}", f"liblinerate_deltarice2{ending}"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ELF's name of the table")
def test_libraries_are_stripped_unless_built_with_debug_assertions():
    package = Path(hdf5.PLUGIN_PATH).parent
    libraries = [*package.glob("*.so"), *package.glob("plugins/*.so")]
    has_symbols = [b".symtab\0" in library.read_bytes() for library in libraries]
    assert has_symbols == [_pylinerate.DEBUG_ASSERTIONS] * 3


def test_rice_is_imported_on_first_use():
    code = "import pylinerate, sys; print('rice' in dir(pylinerate), 'pylinerate.rice' in sys.modules)\n"
    code += "print(pylinerate.rice.__name__, hasattr(pylinerate, 'flour'))"
    assert run_python(code).split() == ["True", "False", "pylinerate.rice", "False"]


#: Code that works in a Python without any other package.
BARE = """
import sys, zlib
import pylinerate
from pylinerate import dict, gateway, gzip

rows = [b'{"user": %d, "active": true}' % (i * i * 977) for i in range(4000)]
store = dict.Store()
id = store.insert(dict.train(rows, 1024))
block = dict.Encoder(store).encode(id, rows[7])
decoder = dict.Decoder(store)
assert decoder.decode(id, block) == rows[7] and id in store and "x" not in store
dict.BlockFile.build("rows", zip(rows, rows), dictionary=1024, sort=True)
with dict.BlockFile.open("rows", store) as file:
    assert file.multi_get([rows[3], b"none"]) == [rows[3], None]
with dict.Pack.create("pack") as editor:
    editor.add(b"a dictionary")
decompressor = gateway.Decompressor("zlib-stream", checks="json")
gateway_end = zlib.compressobj()
assert decompressor.decompress(gateway_end.compress(b"{}") + gateway_end.flush(zlib.Z_SYNC_FLUSH)) == b"{}"

with gzip.open("rows.gz", "wb") as file:
    file.write(b"rows")
assert gzip.open("rows.gz", threads=2).read() == b"rows"

def print_import_error(work):
    try:
        work()
    except ImportError as error:
        print(error)

print_import_error(lambda: pylinerate.rice)
print_import_error(lambda: decoder.decode_batch([id], [block]))
print_import_error(lambda: dict.Slices(b"x", [0], [1]))
print_import_error(lambda: __import__("pylinerate.hdf5"))
print_import_error(lambda: __import__("pylinerate.zarr"))
print_import_error(lambda: __import__("pylinerate.numcodecs"))
assert not {"numpy", "h5py", "zarr", "numcodecs"} & set(sys.modules)
"""


def test_without_numpy_only_array_functions_fail(tmp_path):
    """-S hides installed packages; the folder added to the path has only this one."""
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "pylinerate").symlink_to(Path(pylinerate.__file__).parent)
    code = f"import sys; sys.path.append({str(folder)!r})\n{BARE}"
    printed = run_python(code, options=["-I", "-S"], cwd=tmp_path)
    needs = [("numpy", "numpy")] * 3 + [("h5py", "hdf5"), ("zarr", "zarr"), ("numcodecs", "numcodecs")]
    assert printed.splitlines() == [
        f'this part of pylinerate needs {package}: pip install "pylinerate[{extra}]"' for package, extra in needs
    ]


def test_requirements_are_in_extras_only():
    required = importlib.metadata.requires("pylinerate")
    assert required and all("extra ==" in line for line in required)
    extras = importlib.metadata.metadata("pylinerate").get_all("Provides-Extra")
    assert set(extras) == {"numpy", "hdf5", "numcodecs", "zarr", "dask", "websockets", "prometheus"}


def test_stub_has_every_name_of_the_extension():
    stub = (Path(pylinerate.__file__).parent / "_pylinerate.pyi").read_text()
    stubbed = set(re.findall(r"^(?:def|class) (\w+)|^([A-Z]\w+):", stub, flags=re.M))
    names = {name for pair in stubbed for name in pair if name}
    assert names == {name for name in dir(_pylinerate) if not name.startswith("_")}


def test_version_equals_that_of_the_workspace():
    workspace = (REPOSITORY / "Cargo.toml").read_text()
    version = re.search(r'^version = "(.*)"', workspace, flags=re.M)[1]
    assert pylinerate.__version__ == version == importlib.metadata.version("pylinerate")
