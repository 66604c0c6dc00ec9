//! The extension module `pylinerate._pylinerate`.
//!
//! Functions take flat, C-contiguous NumPy arrays or buffers; those of `gpu` also take addresses in
//! device memory. Long work is done without the interpreter's lock (the GIL). Short work keeps it,
//! such as decoding a small message, because another thread may take the lock for 5 ms once it is
//! released. Shapes, defaults and other libraries are handled in Python, in `python/pylinerate/`,
//! one library per module. NumPy is loaded by the first function that takes an array, not by the
//! import.
//!
//! | module | |
//! |---|---|
//! | `rice`, `rice2`, `params` | functions of `linerate-rice` over NumPy arrays |
//! | `hdf5`, `pipeline` | decode chunks of an HDF5 dataset; undo its filters |
//! | `grid`, `scatter` | map selected elements to the output; decode chunks on several threads |
//! | `dict` | classes behind `pylinerate.dict`: stores, batches, files, training |
//! | `gateway` | classes behind `pylinerate.gateway`: the decompressor, dictionaries, statistics |
//! | `gzip` | classes and the function behind `pylinerate.gzip` |
//! | `websocket` | classes behind `pylinerate.websockets` |
//! | `frame` | the input of one call, such as a websocket message, safe from changes meanwhile |
//! | `gpu` | classes behind `pylinerate.gpu`: a device, its memory, batches on a stream, DLPack |
//! | `error` | errors of the engines as Python exceptions |
//! | `sys` | `unsafe` code: buffers, `bytes`, output that threads share, DLPack, device addresses |
//!
//! `build_backend.py` builds the wheel: the HDF5 plugins, then maturin.

mod dict;
mod error;
mod frame;
mod gateway;
mod gpu;
mod grid;
mod gzip;
mod hdf5;
mod params;
mod pipeline;
mod rice;
mod rice2;
mod scatter;
mod sys;
mod websocket;

use pyo3::prelude::*;

#[pymodule]
mod _pylinerate {
    #[pymodule_export]
    use crate::dict::{
        DictBlockFile, DictBlocks, DictBuilder, DictDecoder, DictEditor, DictEncoder, DictLoaded, DictPack,
        DictSst, DictStore, dict_block_multi_get, dict_cluster, dict_compact, dict_content_hash,
        dict_savings, dict_search, dict_shrink_tables, dict_sst_multi_get, dict_train, dict_user,
    };
    #[pymodule_export]
    use crate::error::{Error, GatewayError};
    #[pymodule_export]
    use crate::gateway::{
        GatewayDecompressor, GatewayDictionaries, GatewayStats, GatewayStatsRecorder, gateway_peek,
        gateway_trim,
    };
    #[pymodule_export]
    use crate::gpu::{
        GpuBatch, GpuBorrowed, GpuDevice, GpuMemory, gpu_decode, gpu_decode_stored, gpu_decode2,
        gpu_device_count, gpu_encode, gpu_encode2, gpu_from_dlpack, gpu_stream_bound, gpu_to_dlpack,
    };
    #[pymodule_export]
    use crate::gzip::{GzipEncoder, GzipReader, gzip_build_index};
    #[pymodule_export]
    use crate::hdf5::{hdf5_class, hdf5_decode};
    #[pymodule_export]
    use crate::rice::{
        rice_best, rice_bound, rice_decode, rice_decode_segments, rice_encode, rice_encode_into,
        rice_expands, rice_fitting_segment, rice_len, rice_samples, rice_segment_for,
    };
    #[pymodule_export]
    use crate::rice2::{rice2_decode, rice2_decode_segments, rice2_encode, rice2_encode_into, rice2_info};
    #[pymodule_export]
    use crate::websocket::{WebsocketCodec, WebsocketOptions, WebsocketPrepared};

    /// The version of the package `pylinerate`.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Whether the extension was built with debug assertions, as for tests. Such a build is slower,
    /// and must not be used to measure speed.
    #[pymodule_export]
    const DEBUG_ASSERTIONS: bool = cfg!(debug_assertions);

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("FileError", crate::error::file_error_class(module.py())?)?;
        module.add("UnknownId", crate::error::unknown_id_class(module.py())?)
    }
}
