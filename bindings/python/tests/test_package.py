"""The package as users see it: the README, the documentation, the example, what is installed."""

import importlib.metadata
import os
import re
import sys
from pathlib import Path

import pytest
from support import REPOSITORY, run_python

import pylinerate
from pylinerate import hdf5


def section(path, heading):
    """The text of a Markdown file from a heading to the next of its level."""
    text = (REPOSITORY / path).read_text()
    level = heading.split(" ")[0]
    return re.split(rf"^{level} ", text.split(f"\n{heading}\n")[1], flags=re.M)[0]


def python_blocks(text):
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.S | re.M)


def test_the_first_example_for_hdf5_compresses(tmp_path):
    (example,) = python_blocks(section("docs/waveforms/index.md", "## Quick start"))
    run_python(example, cwd=tmp_path)
    assert (tmp_path / "run.h5").stat().st_size < 0.6 * 1000 * 7000 * 2


#: Its examples need an array, which bindings/hdf5/tests gives them.
HDF5_PAGE = "docs/waveforms/hdf5.md"


def pages_with_examples():
    """Every page of the documentation that has Python code, by its path from the repository."""
    paths = [*REPOSITORY.glob("docs/**/*.md"), *REPOSITORY.glob("bindings/python/*.md")]
    pages = [path for path in paths if python_blocks(path.read_text())]
    return sorted({path.relative_to(REPOSITORY).as_posix() for path in pages} - {HDF5_PAGE})


@pytest.mark.parametrize("path", pages_with_examples())
def test_the_examples_of_a_page_run_in_order(tmp_path, path):
    run_python("\n".join(python_blocks((REPOSITORY / path).read_text())), cwd=tmp_path)


def test_all_pages_with_examples_are_found():
    assert {"docs/waveforms/python.md", "docs/dict/python.md", "docs/gateway/python.md"} <= set(pages_with_examples())


def test_parameters_in_the_documentation(tmp_path):
    code = python_blocks((REPOSITORY / "docs/waveforms/python.md").read_text())[0]
    shown = re.search(r"chunk\.params +# (.*)", code)[1]
    assert run_python(code + "\nprint(chunk.params)", cwd=tmp_path) == shown + "\n"


def test_the_example_script(tmp_path):
    pytest.importorskip("matplotlib", reason="SKIP: matplotlib is not installed")
    script = REPOSITORY / "bindings/python/examples/waveforms.py"
    out = tmp_path / "x.png"
    arguments = [str(script), "--rows", "20", "--samples", "700", "--out", str(out)]
    code = f"import runpy, sys; sys.argv = {arguments}; runpy.run_path({str(script)!r}, run_name='__main__')"
    printed = run_python(code, env={**os.environ, "MPLBACKEND": "Agg"}, cwd=tmp_path)
    assert out.read_bytes().startswith(b"\x89PNG")
    assert all(name in printed for name in ("Delta-Rice ", "Delta-Rice 2", "zlib 6", "Blosc LZ4"))


def test_entry_points():
    for group in ("numcodecs.codecs", "zarr.codecs"):
        points = importlib.metadata.distribution("pylinerate").entry_points.select(group=group)
        assert {point.name for point in points} == {"linerate.deltarice", "linerate.deltarice2"}
        for point in points:
            assert point.load().__module__.startswith("pylinerate.")


def test_types_and_plugins_are_installed():
    package = Path(pylinerate.__file__).parent
    assert (package / "py.typed").exists() and (package / "_pylinerate.pyi").exists()
    ending = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    plugins = {path.name for path in Path(hdf5.PLUGIN_PATH).iterdir()}
    assert plugins == {f"liblinerate_deltarice{ending}", f"liblinerate_deltarice2{ending}"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ELF's name of the table")
def test_libraries_carry_no_symbols_for_debuggers():
    package = Path(hdf5.PLUGIN_PATH).parent
    libraries = [*package.glob("*.so"), *package.glob("plugins/*.so")]
    assert len(libraries) == 3
    assert [library.name for library in libraries if b".symtab\0" in library.read_bytes()] == []


def test_rice_is_there_when_it_is_asked_for():
    code = "import pylinerate, sys; print('rice' in dir(pylinerate), 'pylinerate.rice' in sys.modules)\n"
    code += "print(pylinerate.rice.__name__, hasattr(pylinerate, 'flour'))"
    assert run_python(code).split() == ["True", "False", "pylinerate.rice", "False"]


#: What works in a Python without any other package.
BARE = """
import sys, zlib
import pylinerate
from pylinerate import dict, gateway

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
other_end = zlib.compressobj()
assert decompressor.decompress(other_end.compress(b"{}") + other_end.flush(zlib.Z_SYNC_FLUSH)) == b"{}"

def refused(work):
    try:
        work()
    except ImportError as error:
        print(error)

refused(lambda: pylinerate.rice)
refused(lambda: decoder.decode_batch([id], [block]))
refused(lambda: dict.Slices(b"x", [0], [1]))
refused(lambda: __import__("pylinerate.hdf5"))
refused(lambda: __import__("pylinerate.zarr"))
refused(lambda: __import__("pylinerate.numcodecs"))
assert not {"numpy", "h5py", "zarr", "numcodecs"} & set(sys.modules)
"""


def test_without_numpy_arrays_alone_are_refused(tmp_path):
    """-S leaves out all installed packages; the folder on the path has this one alone."""
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "pylinerate").symlink_to(Path(pylinerate.__file__).parent)
    code = f"import sys; sys.path.append({str(folder)!r})\n{BARE}"
    printed = run_python(code, options=["-I", "-S"], cwd=tmp_path)
    needs = [("numpy", "numpy")] * 3 + [("h5py", "hdf5"), ("zarr", "zarr"), ("numcodecs", "zarr")]
    assert printed.splitlines() == [
        f'this part of pylinerate needs {package}: pip install "pylinerate[{extra}]"' for package, extra in needs
    ]


def test_nothing_is_required_but_by_extras():
    required = importlib.metadata.requires("pylinerate")
    assert required and all("extra ==" in line for line in required)
    extras = importlib.metadata.metadata("pylinerate").get_all("Provides-Extra")
    assert set(extras) == {"numpy", "hdf5", "zarr", "dask"}


def test_every_function_of_the_extension_has_a_stub():
    from pylinerate import _pylinerate

    stub = (Path(pylinerate.__file__).parent / "_pylinerate.pyi").read_text()
    stubbed = set(re.findall(r"^(?:def|class) (\w+)|^(VERSION)", stub, flags=re.M))
    names = {name for pair in stubbed for name in pair if name}
    assert names == {name for name in dir(_pylinerate) if not name.startswith("_")}


def test_the_version_is_that_of_the_workspace():
    workspace = (REPOSITORY / "Cargo.toml").read_text()
    version = re.search(r'^version = "(.*)"', workspace, flags=re.M)[1]
    assert pylinerate.__version__ == version == importlib.metadata.version("pylinerate")
