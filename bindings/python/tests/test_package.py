"""The package as users see it: the README, the documentation, the example, what is installed."""

import importlib.metadata
import os
import re
import sys
from pathlib import Path

import pytest
from support import REPOSITORY, run_python

import linerate
from linerate import hdf5


def section(path, heading):
    """The text of a Markdown file from a heading to the next of its level."""
    text = (REPOSITORY / path).read_text()
    level = heading.split(" ")[0]
    return re.split(rf"^{level} ", text.split(f"\n{heading}\n")[1], flags=re.M)[0]


def python_blocks(text):
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.S | re.M)


def test_the_example_of_the_readme(tmp_path):
    (example,) = python_blocks(section("README.md", "## Python and HDF5"))
    assert len(example.splitlines()) == 6
    run_python(example, cwd=tmp_path)
    assert (tmp_path / "run.h5").stat().st_size < 0.6 * 1000 * 7000 * 2


def test_the_gateway_example_of_the_readme(tmp_path):
    (example,) = python_blocks(section("README.md", "## Gateway connections in Python"))
    assert len(example.splitlines()) < 11
    run_python(example, cwd=tmp_path)


@pytest.mark.parametrize("path", ["docs/python.md", "bindings/python/README.md"])
def test_the_examples_of_the_documentation(tmp_path, path):
    blocks = python_blocks((REPOSITORY / path).read_text())
    assert blocks
    run_python("\n".join(blocks), cwd=tmp_path)


def test_parameters_in_the_documentation(tmp_path):
    code = python_blocks((REPOSITORY / "docs/python.md").read_text())[0]
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
        points = importlib.metadata.distribution("linerate").entry_points.select(group=group)
        assert {point.name for point in points} == {"linerate.deltarice", "linerate.deltarice2"}
        for point in points:
            assert point.load().__module__.startswith("linerate.")


def test_types_and_plugins_are_installed():
    package = Path(linerate.__file__).parent
    assert (package / "py.typed").exists() and (package / "_linerate.pyi").exists()
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
    code = "import linerate, sys; print('rice' in dir(linerate), 'linerate.rice' in sys.modules)\n"
    code += "print(linerate.rice.__name__, hasattr(linerate, 'flour'))"
    assert run_python(code).split() == ["True", "False", "linerate.rice", "False"]


def test_every_function_of_the_extension_has_a_stub():
    from linerate import _linerate

    stub = (Path(linerate.__file__).parent / "_linerate.pyi").read_text()
    stubbed = set(re.findall(r"^(?:def|class) (\w+)|^(VERSION)", stub, flags=re.M))
    names = {name for pair in stubbed for name in pair if name}
    assert names == {name for name in dir(_linerate) if not name.startswith("_")}


def test_the_version_is_that_of_the_workspace():
    workspace = (REPOSITORY / "Cargo.toml").read_text()
    version = re.search(r'^version = "(.*)"', workspace, flags=re.M)[1]
    assert linerate.__version__ == version == importlib.metadata.version("linerate")
