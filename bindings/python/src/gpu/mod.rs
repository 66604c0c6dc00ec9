//! The classes and functions behind `pylinerate.gpu`.
//!
//! | file | |
//! |---|---|
//! | `device` | a GPU with its codec; memory allocated there |
//! | `batch` | batches of chunks and version 2 streams, queued on a CUDA stream |
//! | `region` | splits the copy of a box of elements into copies of rows |
//! | `dlpack` | exchanges arrays in device memory with other libraries |

mod batch;
mod device;
mod dlpack;
mod region;

pub(crate) use batch::{
    Format, GpuBatch, gpu_decode, gpu_decode_stored, gpu_decode2, gpu_encode, gpu_encode2, gpu_stream_bound,
};
pub(crate) use device::{GpuDevice, GpuMemory, gpu_device_count};
pub(crate) use dlpack::{GpuBorrowed, gpu_from_dlpack, gpu_to_dlpack};
pub(crate) use region::Rows;
