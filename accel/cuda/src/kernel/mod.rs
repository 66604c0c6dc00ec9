//! Calls of a [`Codec`](crate::Codec) on a stream: descriptors and scratch are laid out, then each kernel is queued with
//! its grid, as `kernels/kernels.h` says. Contract and errors of all calls are those of [`Codec::decode`](crate::Codec::decode).

#![allow(unsafe_code)]

pub(crate) mod v1;
pub(crate) mod v2;

use std::ffi::CString;

use crate::sys::{Context, Module};
use crate::workspace::{Call, Plan};
use crate::{Error, Input, Result};

/// The module with the kernels of both versions, which the driver compiles for the device.
pub(crate) fn module(context: &Context) -> Result<Module> {
    let ptx = CString::new(include_str!("../../ptx/rice.ptx"));
    Module::from_ptx(context, &ptx.map_err(|_| Error::BadArgument("PTX with a zero byte"))?)
}

/// A count that kernels take.
fn count(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| Error::BadArgument("a batch of more than 2^32 segments or tiles: divide it"))
}

/// Where an input will be on the device: in the staged part at an offset, or where it is.
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

    /// The device address. Bytes from the host are staged.
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

/// The address, if it is a multiple of `align` bytes.
fn aligned(address: u64, align: u64) -> Result<u64> {
    match address.is_multiple_of(align) {
        true => Ok(address),
        false => Err(Error::BadArgument("a device address is not aligned")),
    }
}
