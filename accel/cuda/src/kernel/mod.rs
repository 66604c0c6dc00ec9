//! Calls of a [`Codec`](crate::Codec) on a stream. A call lays out descriptors and scratch, then
//! queues each kernel with its grid, as `kernels/kernels.h` specifies. All calls have the safety
//! requirements and the errors of [`Codec::decode`](crate::Codec::decode); some document more
//! errors.

#![allow(unsafe_code)]

pub(crate) mod v1;
pub(crate) mod v2;

use std::ffi::CString;

use crate::sys::{Context, Module};
use crate::workspace::{Call, Plan};
use crate::{Error, Input, Result};

/// Loads the kernels of both versions, which the driver compiles for the device.
pub(crate) fn module(context: &Context) -> Result<Module> {
    let ptx = CString::new(include_str!("../../ptx/rice.ptx"));
    Module::from_ptx(context, &ptx.map_err(|_| Error::BadArgument("PTX with a zero byte"))?)
}

/// Converts a count to 32 bits, as kernels take it. 2^32 and more are an error.
fn count(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| Error::BadArgument("a batch of more than 2^32 segments or tiles: divide it"))
}

/// Place of an input on the device: at an offset of the staged part, or at its own address.
#[derive(Clone, Copy)]
enum Place {
    Staged(usize),
    Device(u64),
}

impl Place {
    /// Plans the staging of `input`, or checks that its address is a multiple of `align` bytes.
    fn of(input: &Input<'_>, align: u64, plan: &mut Plan) -> Result<Place> {
        match input {
            Input::Host(bytes) => plan.stage(bytes.len()).map(Place::Staged),
            Input::Device { address, .. } => aligned(*address, align).map(Place::Device),
        }
    }

    /// Returns the device address of `input`. Bytes in host memory are staged first.
    fn fill(self, input: &Input<'_>, call: &mut Call<'_>) -> u64 {
        match (self, input) {
            (Place::Staged(at), Input::Host(bytes)) => {
                call.put_bytes(at, bytes);
                call.address(at)
            }
            (Place::Staged(at), _) => call.address(at),
            (Place::Device(address), _) => address,
        }
    }
}

/// Returns `address`, or an error if it is no multiple of `align` bytes.
fn aligned(address: u64, align: u64) -> Result<u64> {
    match address.is_multiple_of(align) {
        true => Ok(address),
        false => Err(Error::BadArgument("a device address is not aligned")),
    }
}
