"""Builds the wheel: first the HDF5 plugins, which go into the package, then the rest with maturin.

The plugins are libraries of the same Cargo workspace. So wheels are built from a checkout, or from
a source distribution, which has the crates at the same paths.

``pip install --config-settings profile=dev`` takes that Cargo profile instead of ``dist``. It
compiles faster and is for tests.
"""

import gzip
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

import maturin

os.environ["MATURIN_NO_INSTALL_RUST"] = "1"  # without Rust the build fails; it must not download it

HERE = Path(__file__).resolve().parent
PLUGINS = HERE / "python" / "pylinerate" / "plugins"
#: The crates of the HDF5 plugins.
CRATES = ["linerate-hdf5-deltarice", "linerate-hdf5-deltarice2"]

prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_editable(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return build(maturin.build_wheel, wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return build(maturin.build_editable, wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    name = maturin.build_sdist(sdist_directory, config_settings)
    complete_sdist(Path(sdist_directory) / name)
    return name


def complete_sdist(file):
    """Adds to a source distribution the files that maturin leaves out: build_backend.py, beside
    pyproject.toml, and the crates of the HDF5 plugins."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(file) as archive:
            archive.extractall(folder, filter="data")
        (root,) = Path(folder).iterdir()
        shutil.copy2(HERE / "build_backend.py", root)
        for plugin in ["deltarice", "deltarice2"]:
            shutil.copytree(HERE.parent / "hdf5" / plugin, root / "bindings" / "hdf5" / plugin)
        manifest = root / "Cargo.toml"
        filter_alone, text = '"bindings/hdf5/filter"', manifest.read_text()
        if filter_alone not in text:
            raise RuntimeError(f"maturin's Cargo.toml has no member {filter_alone}: adapt build_backend.py")
        manifest.write_text(text.replace(filter_alone, '"bindings/hdf5/*"', 1))
        # This command removes the crates that the distribution does not have from its Cargo.lock,
        # as --locked requires. Other entries of Cargo.lock stay.
        command = [os.environ.get("CARGO", "cargo"), "metadata", "--quiet", "--format-version=1"]
        subprocess.run(command, cwd=root, check=True, stdout=subprocess.DEVNULL)
        pack_sdist(root, file)


def pack_sdist(root, file):
    """Packs the folder ``root`` as the archive ``file``. If the environment variable
    SOURCE_DATE_EPOCH is set, the same files give the same bytes."""
    now = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))

    def anonymous(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = now
        return entry

    with gzip.GzipFile(file, "wb", mtime=now) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(root, root.name, filter=anonymous)


def build(maturin_build, wheel_directory, config_settings, metadata_directory):
    """Builds the HDF5 plugins and the wheel with one Cargo profile: the setting ``profile``, or
    ``dist`` by default."""
    settings = dict(config_settings or {})
    profile = settings.pop("profile", "dist")
    settings.setdefault("build-args", f"--profile {profile}")
    build_plugins(profile)
    return maturin_build(wheel_directory, settings, metadata_directory)


def build_plugins(profile, target=None):
    """Builds the plugins into the package: for this machine, or for ``target`` with
    ``scripts/cross.sh``."""
    shutil.rmtree(PLUGINS, ignore_errors=True)
    PLUGINS.mkdir()
    for library in built_libraries(profile, target):
        shutil.copy2(library, PLUGINS)


def built_libraries(profile, target):
    """Builds the plugins. Returns the paths of their shared libraries."""
    if target:
        command = [HERE.parent.parent / "scripts" / "cross.sh", target]
    else:
        command = [os.environ.get("CARGO", "cargo"), "build", "--profile", profile, "--locked"]
    command += ["--message-format=json-render-diagnostics"]
    command += [f"--package={crate}" for crate in CRATES]
    environment = os.environ | {"PROFILE": profile}
    output = subprocess.run(command, cwd=HERE, env=environment, check=True, stdout=subprocess.PIPE).stdout
    messages = [json.loads(line) for line in output.splitlines() if line.startswith(b"{")]
    built = [
        m for m in messages if m["reason"] == "compiler-artifact" and "cdylib" in m["target"]["crate_types"]
    ]
    libraries = [Path(file) for m in built for file in m["filenames"]]
    return [library for library in libraries if library.suffix in (".so", ".dylib", ".dll")]
