//! The calling HDF5 library, found at run time: its functions, with Rust types.
//!
//! A process can hold several HDF5 libraries, each with its own identifiers: h5py and other
//! packages bring their own, loaded outside the global scope. So the search begins with the callers
//! on the stack, and ends with the global scope of the process.

use core::ffi::{CStr, c_char, c_int, c_uint};
use core::ptr::null_mut;
use std::ffi::CString;

use crate::description::{Class, Datatype, MAX_VALUES, Message, Order};
use crate::error::FilterError;
use crate::sys::class::Hid;
use crate::sys::object::Object;

/// Maximum number of dimensions of a dataset, `H5S_MAX_RANK`.
const MAX_RANK: usize = 32;

const INTEGER: c_int = 0; // H5T_INTEGER
const LITTLE: c_int = 0; // H5T_ORDER_LE
const TWOS_COMPLEMENT: c_int = 1; // H5T_SGN_2

type Push = unsafe extern "C" fn(
    stack: Hid,
    file: *const c_char,
    function: *const c_char,
    line: c_uint,
    class: Hid,
    major: Hid,
    minor: Hid,
    format: *const c_char,
    ...
) -> c_int;
type CreateStack = unsafe extern "C" fn() -> Hid;
type SetCurrentStack = unsafe extern "C" fn(stack: Hid) -> c_int;
type GetFilter = unsafe extern "C" fn(
    plist: Hid,
    id: c_int,
    flags: *mut c_uint,
    count: *mut usize,
    values: *mut c_uint,
    name_len: usize,
    name: *mut c_char,
    config: *mut c_uint,
) -> c_int;
type CountFilters = unsafe extern "C" fn(plist: Hid) -> c_int;
type GetFilterAt = unsafe extern "C" fn(
    plist: Hid,
    index: c_uint,
    flags: *mut c_uint,
    count: *mut usize,
    values: *mut c_uint,
    name_len: usize,
    name: *mut c_char,
    config: *mut c_uint,
) -> c_int;
type ModifyFilter =
    unsafe extern "C" fn(plist: Hid, id: c_int, flags: c_uint, count: usize, values: *const c_uint) -> c_int;
type GetChunk = unsafe extern "C" fn(plist: Hid, max_rank: c_int, dims: *mut u64) -> c_int;
type GetVersion = unsafe extern "C" fn(major: *mut c_uint, minor: *mut c_uint, release: *mut c_uint) -> c_int;
type OfType = unsafe extern "C" fn(datatype: Hid) -> c_int;
type SizeOfType = unsafe extern "C" fn(datatype: Hid) -> usize;

/// A loaded HDF5, 1.10 or newer.
pub(crate) struct Library(Object);

impl Library {
    /// Finds the HDF5 that called this library, or else the one in the global scope of the process.
    /// Returns `None` if there is none, or if it is older than 1.10 and has narrower identifiers.
    pub(crate) fn of_caller() -> Option<Library> {
        Object::of_caller(c"H5get_libversion")
            .map(Library)
            .filter(|library| library.version() >= Some((1, 10)))
    }

    fn version(&self) -> Option<(c_uint, c_uint)> {
        let (mut major, mut minor, mut release) = (0, 0, 0);
        // SAFETY: the function has this signature in every version.
        let status = unsafe {
            self.0.symbol::<GetVersion>(c"H5get_libversion")?(
                &raw mut major,
                &raw mut minor,
                &raw mut release,
            )
        };
        (status >= 0).then_some((major, minor))
    }

    /// Makes "NAME: ERROR" the only line on the error stack of this thread. Returns `None` if HDF5
    /// lacks a function for this.
    ///
    /// The line goes onto a new stack, which then replaces the current one: HDF5 2.0 pauses the
    /// current stack around every call of a filter, and loses lines that are pushed to it
    /// meanwhile.
    pub(crate) fn push(&self, name: &CStr, error: &FilterError) -> Option<()> {
        let line = CString::new(format!("{}: {error}", name.to_str().ok()?)).ok()?;
        // SAFETY: these are variables of type hid_t, set since HDF5 was initialised, and functions
        // with these signatures, all since 1.8; the format takes one string.
        unsafe {
            let id = |name| self.0.symbol::<*const Hid>(name).map(|id| *id);
            let (class, major, minor) =
                (id(c"H5E_ERR_CLS_g")?, id(c"H5E_PLINE_g")?, id(c"H5E_CANTFILTER_g")?);
            let push = self.0.symbol::<Push>(c"H5Epush2")?;
            let make_current = self.0.symbol::<SetCurrentStack>(c"H5Eset_current_stack")?;
            let stack = self.0.symbol::<CreateStack>(c"H5Ecreate_stack")?();
            let (file, format) = (c"linerate-hdf5".as_ptr(), c"%s".as_ptr());
            push(stack, file, name.as_ptr(), 0, class, major, minor, format, line.as_ptr());
            make_current(stack); // and closes it
        }
        Some(())
    }

    /// Returns class, size, byte order and sign of a datatype.
    pub(crate) fn datatype(&self, datatype: Hid) -> Option<Datatype> {
        // SAFETY: the functions have these signatures since 1.10, and take any identifier.
        unsafe {
            let of_type = |name| self.0.symbol::<OfType>(name).map(|get| get(datatype));
            let class = of_type(c"H5Tget_class").filter(|&class| class >= 0)?;
            let size = self.0.symbol::<SizeOfType>(c"H5Tget_size").map(|get| get(datatype))?;
            // Other classes need neither. `H5Tget_sign` fails for most of them, and HDF5 would put
            // an error on its stack.
            let integer = class == INTEGER;
            let little = integer && of_type(c"H5Tget_order")? == LITTLE;
            let signed = integer && of_type(c"H5Tget_sign")? == TWOS_COMPLEMENT;
            Some(Datatype {
                class: if integer { Class::Integer } else { Class::Other },
                size,
                order: if little { Order::Little } else { Order::Other },
                signed,
            })
        }
    }

    /// Returns the dimensions of the chunks, in elements, from the property list of a dataset.
    pub(crate) fn chunk(&self, dcpl: Hid) -> Option<Vec<u64>> {
        let mut dims = [0; MAX_RANK];
        // SAFETY: the function has this signature, and writes at most as many dimensions.
        let rank = unsafe {
            self.0.symbol::<GetChunk>(c"H5Pget_chunk")?(dcpl, MAX_RANK as c_int, dims.as_mut_ptr())
        };
        dims.get(..usize::try_from(rank).ok()?).map(<[u64]>::to_vec)
    }

    /// Returns flags and `cd_values` of filter `id` in a property list. The count can exceed the
    /// number of values that fit.
    pub(crate) fn filter(&self, dcpl: Hid, id: c_int) -> Option<Message> {
        let mut message = Message { flags: 0, count: MAX_VALUES, values: [0; MAX_VALUES] };
        // SAFETY: the function has this signature, and writes at most `count` values; the name and
        // the configuration are not wanted.
        let status = unsafe {
            self.0.symbol::<GetFilter>(c"H5Pget_filter_by_id2")?(
                dcpl,
                id,
                &raw mut message.flags,
                &raw mut message.count,
                message.values.as_mut_ptr(),
                0,
                null_mut(),
                null_mut(),
            )
        };
        (status >= 0).then_some(message)
    }

    /// Returns the numbers of the filters in a property list, in the order in which HDF5 applies
    /// them.
    pub(crate) fn filters(&self, dcpl: Hid) -> Option<Vec<c_int>> {
        // SAFETY: the functions have these signatures; with a count of 0 no values are written, and
        // the name and the configuration are not wanted.
        unsafe {
            let number = self.0.symbol::<CountFilters>(c"H5Pget_nfilters")?(dcpl);
            let get = self.0.symbol::<GetFilterAt>(c"H5Pget_filter2")?;
            let of = |index| {
                let (mut flags, mut count, mut config) = (0, 0, 0);
                let (flags, count, config) = (&raw mut flags, &raw mut count, &raw mut config);
                get(dcpl, index, flags, count, null_mut(), 0, null_mut(), config)
            };
            Some((0..c_uint::try_from(number).ok()?).map(of).collect())
        }
    }

    /// Replaces the `cd_values` of filter `id` in a property list.
    pub(crate) fn set_filter(&self, dcpl: Hid, id: c_int, flags: c_uint, values: &[c_uint]) -> Option<()> {
        // SAFETY: the function has this signature, and reads `count` values.
        let status = unsafe {
            let modify = self.0.symbol::<ModifyFilter>(c"H5Pmodify_filter")?;
            modify(dcpl, id, flags, values.len(), values.as_ptr())
        };
        (status >= 0).then_some(())
    }
}
