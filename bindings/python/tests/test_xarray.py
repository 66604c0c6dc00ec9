"""xarray writes datasets to zarr stores and reads them."""

import numpy as np
import pytest
import zarr
from support import waves

xarray = pytest.importorskip("xarray", reason="SKIP: xarray is not installed")


@pytest.mark.parametrize("name", ["linerate.deltarice", "linerate.deltarice2"])
@pytest.mark.parametrize("consolidated", [False, True])
@pytest.mark.filterwarnings("ignore:Consolidated metadata")
def test_xarray_writes_and_reads_datasets_in_zarr_stores(tmp_path, name, consolidated):
    array = waves((30, 1000))
    dataset = xarray.Dataset({"waveforms": (("event", "time"), array)}, {"event": np.arange(30, dtype="int32")})
    options = {"chunks": (10, 1000), "serializer": {"name": name}, "compressors": None}
    encoding = {"waveforms": options}
    dataset.to_zarr(tmp_path / "x.zarr", zarr_format=3, consolidated=consolidated, encoding=encoding)
    stored = zarr.open_array(tmp_path / "x.zarr" / "waveforms", mode="r")
    assert stored.serializer.to_dict()["name"] == name and stored.nbytes_stored() < 0.6 * array.nbytes
    again = xarray.open_zarr(tmp_path / "x.zarr", consolidated=consolidated)
    assert again.waveforms.dtype == "int16" and np.array_equal(again.waveforms, array)
    assert np.array_equal(again.waveforms.sel(event=17)[100:200:3], array[17, 100:200:3])
    more = dataset.assign_coords(event=np.arange(30, 60, dtype="int32"))
    more.to_zarr(tmp_path / "x.zarr", append_dim="event", consolidated=consolidated)
    both = xarray.open_zarr(tmp_path / "x.zarr", consolidated=consolidated)
    assert np.array_equal(both.waveforms, np.concatenate([array, array]))
