//! The classes behind `pylinerate.gpu`.
//!
//! | file | |
//! |---|---|
//! | `device` | a device with its codec, and its memory |
//! | `batch` | batches of chunks and streams, queued on a stream |
//! | `region` | copies a box of elements from one array to another |
//! | `dlpack` | exchanges arrays with other libraries |

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
