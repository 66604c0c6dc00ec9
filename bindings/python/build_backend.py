"""Builds the wheel: maturin, after the HDF5 plugins have been built and put into the package.

The plugins are libraries of the same Cargo workspace, so wheels are built from a checkout.

``pip install --config-settings profile=dev`` chooses another of Cargo's profiles than ``dist``: it compiles faster, for
tests.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import maturin

os.environ["MATURIN_NO_INSTALL_RUST"] = "1"  # a compiler is asked for, never downloaded

HERE = Path(__file__).resolve().parent
PLUGINS = HERE / "python" / "pylinerate" / "plugins"
#: The crates of the plugins.
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
    raise NotImplementedError("there is no source distribution: pip install bindings/python in a checkout")


def build(maturin_build, wheel_directory, config_settings, metadata_directory):
    """Builds the plugins and the wheel with one profile."""
    settings = dict(config_settings or {})
    profile = settings.pop("profile", "dist")
    settings.setdefault("build-args", f"--profile {profile}")
    build_plugins(profile)
    return maturin_build(wheel_directory, settings, metadata_directory)


def build_plugins(profile):
    shutil.rmtree(PLUGINS, ignore_errors=True)
    PLUGINS.mkdir()
    for library in built_libraries(profile):
        shutil.copy2(library, PLUGINS)


def built_libraries(profile):
    """Builds the plugins and returns the files that are libraries, as Cargo names them."""
    command = [os.environ.get("CARGO", "cargo"), "build", "--profile", profile, "--locked"]
    command += ["--message-format=json-render-diagnostics"]
    command += [f"--package={crate}" for crate in CRATES]
    output = subprocess.run(command, cwd=HERE, check=True, stdout=subprocess.PIPE).stdout
    messages = [json.loads(line) for line in output.splitlines()]
    built = [
        m for m in messages if m["reason"] == "compiler-artifact" and "cdylib" in m["target"]["crate_types"]
    ]
    libraries = [Path(file) for m in built for file in m["filenames"]]
    return [library for library in libraries if library.suffix in (".so", ".dylib", ".dll")]
