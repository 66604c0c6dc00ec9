"""Two Dask worker processes write and read a zarr store, whose codec they find by name, and read
HDF5 files."""

import pytest
from support import python_blocks, run_python, section

SCRIPT = """
import sys
import dask, dask.array, numpy, zarr
from distributed import Client, LocalCluster, wait

NAME = {name!r}

def modules():
    import sys
    return sorted(name for name in sys.modules if name.split(".")[0] == "pylinerate")

def main():
    dask.config.set({{"distributed.comm.timeouts.connect": "30s", "distributed.worker.daemon": True}})
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None, protocol="tcp"
    )
    assert not modules()
    with cluster, Client(cluster, timeout=60) as client:
        assert len(client.run(modules)) == 2 and not any(client.run(modules).values())
        waves = (numpy.random.default_rng(1).normal(0, 300, (40, 500)).cumsum(1) / 20).astype("int16")
        store = zarr.create_array(
            {path!r}, shape=waves.shape, chunks=(5, 500), dtype="int16",
            serializer=dict(name=NAME, configuration={config}), compressors=None,
        )
        dask.array.from_array(waves, chunks=(5, 500)).to_zarr(store, compute=True)
        back = dask.array.from_zarr({path!r})
        assert back.chunks == ((5,) * 8, (500,))
        assert (back.compute() == waves).all()
        assert int(back.astype("int64").sum().compute()) == int(waves.astype("int64").sum())
        assert store.nbytes_stored() < 0.8 * waves.nbytes
        used = client.run(modules)
        assert all("pylinerate.zarr" in names for names in used.values()), used
    threads = dask.array.from_zarr({path!r}).compute(scheduler="threads", num_workers=3)
    assert (threads == waves).all()
    print("done")

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("name", "config"), [("linerate.deltarice", {"m": 16}), ("linerate.deltarice2", {})])
def test_worker_processes_find_the_codec_and_round_trip(tmp_path, name, config):
    script = tmp_path / "cluster.py"
    script.write_text(SCRIPT.format(path=str(tmp_path / "x.zarr"), name=name, config=config))
    assert "import pylinerate" not in script.read_text()
    code = f"import runpy, sys; sys.argv = [{str(script)!r}]; runpy.run_path({str(script)!r}, run_name='__main__')"
    assert run_python(code, timeout=180, cwd=tmp_path).endswith("done\n")


def test_workers_read_hdf5_files_after_the_import(tmp_path):
    (example,) = python_blocks(section("docs/waveforms/hdf5.md", "## Worker processes: Dask, multiprocessing"))
    assert run_python(example, timeout=180, cwd=tmp_path) == "True\n"


def test_workers_without_the_import_cannot_read_hdf5_files(tmp_path):
    (example,) = python_blocks(section("docs/waveforms/hdf5.md", "## Worker processes: Dask, multiprocessing"))
    without = example.replace(', preload="pylinerate.hdf5"', "")
    assert without != example
    with pytest.raises(AssertionError, match="OSError: Can't synchronously read data"):
        run_python(without, timeout=180, cwd=tmp_path)
