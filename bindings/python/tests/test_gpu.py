"""Decodes into device memory and encodes there, on a GPU or on the test double of the driver."""

import ctypes
import sys

import h5py
import numpy as np
import pytest
from gpu_support import Ndarray, fake_cupy, use_device, view
from support import REPOSITORY, run_python, waves

from pylinerate import Error, _pylinerate, gpu, rice
from pylinerate.hdf5 import DeltaRice, DeltaRice2


@pytest.fixture(scope="session")
def device(tmp_path_factory):
    return use_device(tmp_path_factory.mktemp("double"))


@pytest.fixture
def double(device):
    if not device.is_double:
        pytest.skip("only on the test double, whose memory is that of the host")


@pytest.fixture
def encodes_streams(device):
    try:
        gpu.encode2(np.zeros(3, "int16"))
    except NotImplementedError as error:
        pytest.skip(str(error))


def test_device_has_a_name(device):
    assert gpu.available() and gpu.device_count() >= 1
    assert gpu.device_name()


def test_missing_driver_is_an_error_that_names_it():
    code = (
        "from pylinerate import gpu\n"
        "assert not gpu.available()\n"
        "try: gpu.empty(3, 'int16')\n"
        "except RuntimeError as e: print(e)"
    )
    text = run_python(code, env={"LINERATE_CUDA_DRIVER": "/nowhere/libcuda.so.1"})
    assert "/nowhere/libcuda.so.1" in text and "install NVIDIA's driver" in text


def test_goldens_decode_and_encode(device, goldens):
    for golden in goldens:
        decoded = gpu.decode(golden.chunk, params=golden.params)
        assert (decoded.to_host() == golden.words).all(), golden.name
        encoded = gpu.encode(
            golden.words,
            golden.params.m,
            -1 if golden.params.segment is None else golden.params.segment,
            golden.params.filter,
            allow_expansion=True,
        )
        assert encoded == golden.chunk, golden.name


def test_golden_streams_decode(device):
    for path in sorted((REPOSITORY / "testdata" / "rice-v2").glob("*.rice")):
        decoded = gpu.decode2(path.read_bytes())
        assert decoded.to_host().tobytes() == path.with_suffix(".raw").read_bytes(), path.name


@pytest.mark.parametrize("dtype", ["int16", "uint16"])
def test_array_encodes_to_the_bytes_of_the_cpu_and_decodes(device, dtype):
    array = waves((40, 700), dtype)
    chunk = gpu.encode(array, m=16)
    assert chunk == rice.encode(array, m=16)
    decoded = gpu.decode(chunk)
    assert decoded.dtype == dtype and (decoded.to_host() == array).all()


@pytest.mark.parametrize("dtype", ["int16", "uint16", "int32", "uint32"])
@pytest.mark.parametrize("shape", [(0,), (1,), (5000,), (6, 1500), (2, 3, 700)])
def test_stream_of_the_cpu_decodes(device, dtype, shape):
    array = waves(shape, dtype) if 0 not in shape else np.empty(shape, dtype)
    decoded = gpu.decode2(rice.encode2(array))
    assert decoded.shape == shape and decoded.dtype == dtype and (decoded.to_host() == array).all()


@pytest.mark.parametrize("dtype", ["int16", "uint16", "int32", "uint32"])
@pytest.mark.parametrize("shape", [(0,), (1,), (5000,), (6, 1500), (2, 3, 700)])
def test_array_encodes_to_the_stream_of_the_cpu(encodes_streams, dtype, shape):
    array = waves(shape, dtype) if 0 not in shape else np.empty(shape, dtype)
    stream = gpu.encode2(array)
    assert stream == rice.encode2(array)
    decoded = gpu.decode2(stream)
    assert decoded.shape == shape and decoded.dtype == dtype and (decoded.to_host() == array).all()


def test_array_in_device_memory_encodes_without_the_host(device):
    array = waves((10, 900))
    resident = gpu.decode(rice.encode(array))
    assert gpu.encode(resident, m=8) == rice.encode(array, m=8)

    class ByDlpackAlone:
        __dlpack__ = resident.__dlpack__
        __dlpack_device__ = resident.__dlpack_device__

    assert gpu.encode(ByDlpackAlone(), m=8) == rice.encode(array, m=8)


def test_chunk_larger_than_its_samples_is_refused(device):
    noise = np.random.default_rng(1).integers(-30000, 30000, 10_000).astype("int16")
    with pytest.raises(ValueError, match="allow_expansion"):
        gpu.encode(noise, m=2)
    assert gpu.encode(noise, m=2, allow_expansion=True) == rice.encode(noise, m=2, allow_expansion=True)


def test_damage_raises_the_error_of_the_cpu(device):
    chunk = bytearray(rice.encode(waves((4, 1000)), m=16))
    chunk[5] ^= 0x40
    with pytest.raises(Error) as expected:
        rice.decode(bytes(chunk), m=16, segment=1000)
    with pytest.raises(Error) as found:
        gpu.decode(bytes(chunk), m=16, segment=1000)
    assert (found.value.kind, found.value.offset) == (expected.value.kind, expected.value.offset)
    stream = bytearray(rice.encode2(waves((4, 1000))))
    stream[-30] ^= 1
    with pytest.raises(Error):
        gpu.decode2(bytes(stream))


@pytest.fixture
def file(tmp_path):
    with h5py.File(tmp_path / "run.h5", "w") as file:
        yield file


FILTERS = [DeltaRice(m=16), DeltaRice2()]


@pytest.mark.parametrize("filter", FILTERS, ids=["v1", "v2"])
@pytest.mark.parametrize(
    ("shape", "chunks"),
    [
        ((20, 500), (5, 500)),  # chunks of whole rows, which are decoded directly to the output
        ((23, 500), (5, 500)),
        ((17, 333), (4, 100)),
        ((5000,), (700,)),
        ((5, 6, 70), (2, 4, 30)),
        ((3, 2, 5, 40), (1, 2, 3, 40)),
        ((1, 300), (1, 300)),
    ],
)
def test_dataset_is_read_with_its_edges(device, file, filter, shape, chunks):
    array = waves(shape)
    dataset = file.create_dataset("x", data=array, chunks=chunks, compression=filter)
    read = gpu.read(dataset)
    assert read.shape == shape and read.dtype == "int16"
    assert (read.to_host() == array).all()


def test_selection_is_cropped_on_the_device(device, file):
    array = waves((30, 8, 200))
    dataset = file.create_dataset("x", data=array, chunks=(4, 3, 70), compression=DeltaRice())
    for selection in [np.s_[3:19], np.s_[:, 2], np.s_[7], np.s_[..., 60:150], np.s_[2, 3, 4], np.s_[5:5], np.s_[-1:, 1:3]]:
        read = gpu.read(dataset, selection)
        assert read.shape == array[selection].shape
        assert (read.to_host() == array[selection]).all(), selection
    for selection in [np.s_[::2], [1, 2]]:
        with pytest.raises(TypeError, match="selection"):
            gpu.read(dataset, selection)


def test_small_batches_give_the_same_array(device, file, monkeypatch):
    from pylinerate import _gpu_read

    monkeypatch.setattr(_gpu_read, "BATCH_BYTES", 3000)
    array = waves((41, 130))
    dataset = file.create_dataset("x", data=array, chunks=(3, 50), compression=DeltaRice2())
    assert (gpu.read(dataset).to_host() == array).all()


def test_chunks_never_written_have_the_fill_value(device, file):
    dataset = file.create_dataset("x", (10, 100), "int16", chunks=(4, 30), compression=DeltaRice(), fillvalue=-7)
    assert (gpu.read(dataset).to_host() == -7).all()
    dataset[2:5, 20:50] = waves((3, 30))
    assert (gpu.read(dataset).to_host() == dataset[:]).all()


def test_other_filters_of_the_pipeline_are_undone_or_refused(device, file):
    array = waves((9, 400))
    checked = file.create_dataset("checked", data=array, chunks=(4, 400), compression=DeltaRice2(), fletcher32=True)
    assert (gpu.read(checked).to_host() == array).all()
    zipped = file.create_dataset("zipped", data=array, chunks=(4, 400), compression="gzip")
    with pytest.raises(TypeError, match="filters include number 1"):
        gpu.read(zipped)
    with pytest.raises(TypeError, match="no Delta-Rice"):
        gpu.read(file.create_dataset("plain", data=array, chunks=(4, 400)))
    with pytest.raises(TypeError, match="not chunked"):
        gpu.read(file.create_dataset("whole", data=array))


def test_chunk_stored_without_the_filter_is_copied(device, file):
    array = waves((8, 100))
    dataset = file.create_dataset("x", array.shape, "int16", chunks=(4, 100), compression=DeltaRice())
    dataset[:4] = array[:4]
    dataset.id.write_direct_chunk((4, 0), array[4:].tobytes(), filter_mask=1)
    assert (gpu.read(dataset).to_host() == array).all()


def test_damaged_chunk_is_an_os_error_that_names_it(device, file):
    dataset = file.create_dataset("x", data=waves((8, 100)), chunks=(4, 100), compression=DeltaRice2())
    _, stored = dataset.id.read_direct_chunk((4, 0))
    dataset.id.write_direct_chunk((4, 0), stored[:-8] + b"\x55" + stored[-7:])
    with pytest.raises(OSError, match=r"/x, chunk at \(4, 0\)"):
        gpu.read(dataset)
    dataset.id.write_direct_chunk((4, 0), stored[:20])
    with pytest.raises(OSError, match=r"/x, chunk at \(4, 0\)"):
        gpu.read(dataset)


def test_damaged_chunk_after_one_that_the_host_decodes_is_named(device, file):
    array = waves((12, 100))
    dataset = file.create_dataset("x", data=array, chunks=(4, 100), compression=DeltaRice2())
    dataset.id.write_direct_chunk((0, 0), array[:4].tobytes(), filter_mask=1)
    _, stored = dataset.id.read_direct_chunk((8, 0))
    dataset.id.write_direct_chunk((8, 0), stored[:-8] + b"\x55" + stored[-7:])
    with pytest.raises(OSError, match=r"/x, chunk at \(8, 0\)"):
        gpu.read(dataset)


class OnDevice:
    """Four samples at a made-up device address."""

    __cuda_array_interface__ = {
        "shape": (4,),
        "typestr": "<i2",
        "data": (4096, False),
        "strides": None,
        "stream": None,
        "version": 3,
    }


@pytest.mark.parametrize("host", [np.zeros(4, "int16"), np.zeros(8, "uint8"), bytes(8), [0] * 4], ids=lambda v: type(v).__name__)
@pytest.mark.parametrize(
    ("decode", "name"), [(lambda chunk, out: gpu.decode_into(chunk, out, 8), "chunk"), (gpu.decode2_into, "encoded")]
)
def test_host_memory_is_refused_where_device_memory_is_needed(decode, name, host):
    with pytest.raises(TypeError, match="out is .* device memory"):
        decode(OnDevice(), host)
    with pytest.raises(TypeError, match=f"{name} is .* device memory"):
        decode(host, OnDevice())


@pytest.mark.parametrize("decode", [lambda chunk, out: gpu.decode_into(chunk, out, 8), gpu.decode2_into])
def test_read_only_array_is_not_decoded_into(decode):
    class ReadOnly:
        __cuda_array_interface__ = OnDevice.__cuda_array_interface__ | {"data": (4096, True)}

    with pytest.raises(ValueError, match="out is read-only"):
        decode(OnDevice(), ReadOnly())


def test_cuda_array_interface_describes_the_memory(double):
    array = waves((3, 200))
    resident = gpu.decode(rice.encode(array))
    interface = resident.__cuda_array_interface__
    assert interface["version"] == 3 and interface["stream"] is None and interface["strides"] is None
    assert interface["shape"] == (3, 200) and interface["typestr"] == "<i2"
    assert ctypes.string_at(interface["data"][0], resident.nbytes) == array.tobytes()
    assert (view(resident) == array).all()


class Tensor(ctypes.Structure):
    """``DLTensor``."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    """``DLManagedTensor``."""

    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    """``DLManagedTensorVersioned``."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


def pointer_of(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


def rename(capsule, name):
    set_name = ctypes.pythonapi.PyCapsule_SetName
    set_name.restype, set_name.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
    assert set_name(capsule, name) == 0


@pytest.mark.parametrize(
    ("options", "name", "structure"),
    [({}, b"dltensor", Managed), ({"max_version": (1, 1), "stream": 1}, b"dltensor_versioned", Versioned)],
)
def test_dlpack_capsule_holds_the_array_until_it_is_deleted(device, options, name, structure):
    array = waves((3, 200), "uint16")
    resident = gpu.decode(rice.encode(array))
    assert resident.__dlpack_device__() == (2, 0)
    capsule = resident.__dlpack__(**options)
    managed = structure.from_address(pointer_of(capsule, name))
    tensor = managed.tensor
    assert (tensor.data, tensor.device_type, tensor.device_id) == (resident.pointer, 2, 0)
    assert (tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset) == (1, 16, 1, 0)
    assert tensor.shape[: tensor.ndim] == [3, 200] and tensor.strides[: tensor.ndim] == [200, 1]
    used = b"used_" + name
    rename(capsule, used)  # as a consumer does
    del resident
    if gpu.DeviceArray and "LINERATE_CUDA_DRIVER" in __import__("os").environ:
        assert ctypes.string_at(tensor.data, array.nbytes) == array.tobytes()  # still alive
    managed.deleter(ctypes.addressof(managed))


def test_dlpack_refuses_copies_other_devices_and_stream_0(device):
    array = gpu.empty((2, 3), "int32")
    with pytest.raises(ValueError, match="stream 0"):
        array.__dlpack__(stream=0)
    with pytest.raises(BufferError):
        array.__dlpack__(copy=True)
    with pytest.raises(BufferError):
        array.__dlpack__(dl_device=(1, 0))
    capsule = array.__dlpack__()
    rename(capsule, b"other")
    from pylinerate import _pylinerate

    with pytest.raises(BufferError):
        _pylinerate.gpu_from_dlpack(capsule)
    rename(capsule, b"dltensor")
    assert _pylinerate.gpu_from_dlpack(capsule).shape == [2, 3]
    with pytest.raises(BufferError, match="consumed"):
        _pylinerate.gpu_from_dlpack(capsule)


class Tensor(ctypes.Structure):
    """``DLManagedTensor``."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("axes", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"shape": (2**62, 2**62)},
        {"shape": (3, -1)},
        {"shape": (2**62, 4), "strides": (1, 1)},
        {"strides": (2**62, 1)},
        {"shape": None},
        {"axes": -1},
        {"bits": 0},
        {"bits": 12},
        {"data": 2**64 - 8, "byte_offset": 16},
    ],
    ids=str,
)
def test_dlpack_tensors_of_others_with_impossible_sizes_are_buffer_errors(change):
    def numbers(values):
        return None if values is None else (ctypes.c_int64 * len(values))(*values)

    fields = {"data": 4096, "axes": 2, "code": 0, "bits": 16, "lanes": 1, "byte_offset": 0} | change
    lists = {name: numbers(fields.pop(name, default)) for name, default in (("shape", (3, 5)), ("strides", None))}
    tensor = Tensor(device=(2, 0), **fields)
    for name, values in lists.items():
        if values is not None:
            setattr(tensor, name, values)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = new(ctypes.addressof(tensor), b"dltensor", None)
    with pytest.raises(BufferError, match="DLPack"):
        _pylinerate.gpu_from_dlpack(capsule)
    with pytest.raises(ValueError):
        _pylinerate.gpu_to_dlpack(None, 4096, 0, [3, 2**62, 2**62], "<i2", False)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="SKIP: not Linux")
def test_dlpack_tensor_is_deleted_after_the_interpreter_has_ended():
    """Libraries that free their memory when the process ends do this."""
    run_python(
        """
import ctypes
from pylinerate import _pylinerate

capsule = _pylinerate.gpu_to_dlpack(object(), 4096, 0, [3], "<i2", False)
get = ctypes.pythonapi.PyCapsule_GetPointer
get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
tensor = get(capsule, b"dltensor")
ctypes.pythonapi.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
used = b"used_dltensor"
ctypes.pythonapi.PyCapsule_SetName(capsule, used)
del capsule
deleter = ctypes.c_void_p.from_address(tensor + 56).value
at_exit = ctypes.CDLL(None).__cxa_atexit
at_exit.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
assert at_exit(deleter, tensor, None) == 0
"""
    )


def test_streams_of_other_libraries_are_taken(device):
    class Protocol:
        def __cuda_stream__(self):
            return (0, 2)

    class CuPy:
        ptr = 2

    class PyTorch:
        cuda_stream = 1

    class Numba:
        handle = ctypes.c_void_p(2)

    array = waves((4, 300))
    for stream in [Protocol(), CuPy(), PyTorch(), Numba(), 1, 2, None]:
        assert gpu.encode(array, m=8, stream=stream) == rice.encode(array, m=8)
    with pytest.raises(TypeError):
        gpu.encode(array, m=8, stream="fast")


def test_array_with_gaps_is_refused(double):
    array = fake_cupy().asarray(waves((6, 100)))
    assert gpu.encode(array, m=8) == rice.encode(np.asarray(array), m=8)
    with pytest.raises(ValueError, match="contiguous"):
        gpu.encode(array[:, ::2], m=8)


def test_channels_in_device_memory_decode_into_an_array(double):
    array = waves((200, 3))
    stream = fake_cupy().asarray(np.frombuffer(rice.encode2(array, channels=3), np.uint8))
    out = fake_cupy().asarray(np.zeros_like(array))
    gpu.decode2_into(stream, out)
    assert (np.asarray(out) == array).all()


@pytest.fixture
def zarr_on_gpu(double, monkeypatch):
    zarr = pytest.importorskip("zarr")
    from zarr.core.buffer import gpu as buffers

    monkeypatch.setattr(buffers, "cp", fake_cupy())
    with zarr.config.enable_gpu():
        yield zarr


@pytest.mark.parametrize(
    "codec", [{"name": "linerate.deltarice", "configuration": {"m": 16}}, {"name": "linerate.deltarice2"}]
)
def test_zarr_encodes_and_decodes_in_its_gpu_buffers(zarr_on_gpu, codec):
    array = waves((20, 300))
    store = {}
    stored = zarr_on_gpu.create_array(
        store, shape=array.shape, chunks=(6, 300), dtype="int16", serializer=codec, compressors=None
    )
    stored[:] = fake_cupy().asarray(array)
    read = stored[:]
    assert isinstance(read, Ndarray) and (read == array).all()
    assert (stored[4:9, 100:200] == array[4:9, 100:200]).all()


@pytest.mark.parametrize(
    "codec", [{"name": "linerate.deltarice", "configuration": {"m": 16}}, {"name": "linerate.deltarice2"}]
)
def test_zarr_array_of_the_cpu_is_read_on_the_gpu(zarr_on_gpu, codec):
    array = waves((20, 300))
    zarr = zarr_on_gpu
    with zarr.config.set({"buffer": "zarr.buffer.cpu.Buffer", "ndbuffer": "zarr.buffer.cpu.NDBuffer"}):
        store = zarr.storage.MemoryStore()
        stored = zarr.create_array(
            store, shape=array.shape, chunks=(6, 300), dtype="int16", serializer=codec, compressors=None
        )
        stored[:] = array
        content = {key: value.to_bytes() for key, value in store._store_dict.items()}
    from zarr.core.buffer import default_buffer_prototype

    on_gpu = zarr.storage.MemoryStore(
        {key: default_buffer_prototype().buffer.from_bytes(value) for key, value in content.items()}
    )
    read = zarr.open_array(on_gpu)[:]
    assert isinstance(read, Ndarray) and (read == array).all()
