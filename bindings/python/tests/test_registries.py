"""The files in ``packaging`` for registries agree with the code."""

import json
import re
import subprocess
import tomllib

import h5py
import jsonschema
import numpy as np
import pytest
import yaml
import zarr
from support import REPOSITORY, waves

from pylinerate import hdf5
from pylinerate.zarr import DeltaRice2

CODEC = REPOSITORY / "packaging" / "zarr-extensions" / "codecs" / "linerate.deltarice2"
SCHEMA = json.loads((CODEC / "schema.json").read_text())
PYPROJECT = tomllib.loads((REPOSITORY / "bindings/python/pyproject.toml").read_text())
WORKSPACE = tomllib.loads((REPOSITORY / "Cargo.toml").read_text())["workspace"]["package"]


def is_valid(metadata):
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(metadata)


def test_the_schema_allows_every_configuration_of_the_codec():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for codec in (DeltaRice2(), DeltaRice2(segment=65536), DeltaRice2(channels=1024), DeltaRice2(1, channels=1)):
        assert is_valid(codec.to_dict()) and DeltaRice2.from_dict(codec.to_dict()) == codec
    (example,) = re.findall(r"```json\n(.*?)```", (CODEC / "README.md").read_text(), flags=re.S)
    (metadata,) = json.loads(example)["codecs"]
    assert is_valid(metadata) and DeltaRice2.from_dict(metadata) == DeltaRice2()
    assert is_valid({"name": "linerate.deltarice2"})


@pytest.mark.parametrize("configuration", [{"segment": 0}, {"segment": 65537}, {"channels": 0}, {"channels": 1025}])
def test_the_schema_and_the_codec_refuse_the_same_configurations(configuration):
    metadata = {"name": "linerate.deltarice2", "configuration": configuration}
    assert not is_valid(metadata)
    with pytest.raises(ValueError):
        DeltaRice2.from_dict(metadata)


def test_the_sample_data_decodes_to_its_description():
    array = zarr.open_array(CODEC / "sample_data" / "pulses.zarr", mode="r")
    assert is_valid(array.serializer.to_dict()) and array.dtype == "int16"
    expected = np.fromfunction(lambda i, j: 20 * i + (j * j) % 31, (4, 100), dtype=int)
    assert np.array_equal(array[...], expected)


def test_the_registration_of_the_hdf5_filter_names_its_number_and_its_class():
    text = (REPOSITORY / "packaging" / "hdf5" / "registration.md").read_text()
    assert f"files use {hdf5.DELTARICE2_ID}," in text
    rows = re.findall(r"^\| `cd_values\[(\d)\]` \| (.*) \|", text, flags=re.M)
    page = (REPOSITORY / "docs/waveforms/hdf5-reference.md").read_text().split("## Parameters of 325")[1]
    assert [number for number, _ in rows] == re.findall(r"^\| (\d) \|", page, flags=re.M)
    examples = re.findall(rf"UD={hdf5.DELTARICE2_ID},0,(\d)((?:,\d+)*)`", text)
    assert [int(count) for count, _ in examples] == [0, 1, 2]
    for _, values in examples:
        with h5py.File("examples.h5", "w", driver="core", backing_store=False) as file:
            options = tuple(int(value) for value in values.split(",") if value)
            data = file.create_dataset("waves", data=waves(), compression=hdf5.DELTARICE2_ID, compression_opts=options)
            name = data.id.get_create_plist().get_filter(0)[3].decode()
            assert f"* Name: {name}, also in the filter's class" in text


def test_the_recipe_of_conda_forge_has_the_version_and_the_requirements_of_the_package():
    folder = REPOSITORY / "packaging" / "conda-forge"
    recipe = yaml.safe_load((folder / "recipe.yaml").read_text())
    variants = yaml.safe_load((folder / "conda_build_config.yaml").read_text())
    assert recipe["context"]["version"] == WORKSPACE["version"]
    assert recipe["about"]["license"] == PYPROJECT["project"]["license"]
    oldest = PYPROJECT["project"]["requires-python"].removeprefix(">=")
    assert recipe["context"]["python_min"] == oldest and variants["python_min"] == [oldest]
    for part in ("host", "run"):  # conda-forge's linter refuses limits of Python
        assert "python" in recipe["requirements"][part]
    host = [requirement.replace(" ", "") for requirement in recipe["requirements"]["host"]]
    assert set(PYPROJECT["build-system"]["requires"]) <= set(host)
    extras = PYPROJECT["project"]["optional-dependencies"]
    limits = {limit.replace(" ", "") for limit in recipe["requirements"]["run_constraints"]}
    assert limits == {*extras["hdf5"], *extras["numcodecs"], *extras["zarr"]} - {"numcodecs>=0.15"}
    assert set(PYPROJECT["project"]["license-files"]) < set(recipe["about"]["license_file"])


def test_the_port_of_vcpkg_has_the_version_of_the_library_and_finds_what_is_installed(tmp_path):
    port = REPOSITORY / "packaging" / "vcpkg" / "linerate"
    manifest = json.loads((port / "vcpkg.json").read_text())
    assert (manifest["version"], manifest["license"]) == (WORKSPACE["version"], WORKSPACE["license"])
    for library in ("liblinerate.so", "liblinerate.a"):
        (tmp_path / library).touch()
    prefix = tmp_path / "prefix"
    subprocess.run([REPOSITORY / "scripts/install-c.sh", tmp_path, prefix, "linerate"], check=True)
    text = (port / "portfile.cmake").read_text()
    installed = set(re.findall(r"CURRENT_PACKAGES_DIR}/((?:lib|share/doc)[^\"*]*)", text))
    assert "lib/cmake/linerate" in installed and all((prefix / path).exists() for path in installed)
    (old, _) = re.search(r'linerate-config.cmake" "([^"]*)" "([^"]*)"', text).groups()
    assert old in (prefix / "lib/cmake/linerate/linerate-config.cmake").read_text()
