"""The files in ``packaging`` for registries agree with the code."""

import json
import re
import tomllib

import jsonschema
import numpy as np
import pytest
import yaml
import zarr
from support import REPOSITORY

from pylinerate import hdf5
from pylinerate.zarr import DeltaRice2

CODEC = REPOSITORY / "packaging" / "zarr-extensions" / "codecs" / "linerate.deltarice2"
SCHEMA = json.loads((CODEC / "schema.json").read_text())
PYPROJECT = tomllib.loads((REPOSITORY / "bindings/python/pyproject.toml").read_text())


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
    assert f"files use {hdf5.DELTARICE2_ID}," in text and f"`{hdf5.DeltaRice2.filter_name}`" in text
    rows = re.findall(r"^\| `cd_values\[(\d)\]` \| (.*) \|", text, flags=re.M)
    page = (REPOSITORY / "docs/waveforms/hdf5-reference.md").read_text().split("## Parameters of 325")[1]
    assert [number for number, _ in rows] == re.findall(r"^\| (\d) \|", page, flags=re.M)


def test_the_recipe_of_conda_forge_has_the_version_and_the_requirements_of_the_package():
    recipe = yaml.safe_load((REPOSITORY / "packaging" / "conda-forge" / "recipe.yaml").read_text())
    workspace = tomllib.loads((REPOSITORY / "Cargo.toml").read_text())["workspace"]["package"]
    assert recipe["context"]["version"] == workspace["version"]
    assert recipe["about"]["license"] == PYPROJECT["project"]["license"]
    assert f"python {PYPROJECT['project']['requires-python']}" in recipe["requirements"]["run"]
    host = [requirement.replace(" ", "") for requirement in recipe["requirements"]["host"]]
    assert set(PYPROJECT["build-system"]["requires"]) <= set(host)
    extras = PYPROJECT["project"]["optional-dependencies"]
    limits = {limit.replace(" ", "") for limit in recipe["requirements"]["run_constraints"]}
    assert limits == {*extras["hdf5"], *extras["numcodecs"], *extras["zarr"]} - {"numcodecs>=0.15"}
    assert set(PYPROJECT["project"]["license-files"]) < set(recipe["about"]["license_file"])
