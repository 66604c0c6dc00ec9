//! Calls a filter as HDF5 does, with buffers of C's allocator.
#![allow(unsafe_code)]

use std::ffi::c_void;

use linerate_hdf5::{Class, REVERSE};

pub(crate) struct Call<'a> {
    flags: u32,
    values: Option<&'a [u32]>,
    input: &'a [u8],
}

impl<'a> Call<'a> {
    pub(crate) fn new(flags: u32, input: &'a [u8]) -> Call<'a> {
        Call { flags, values: Some(&[]), input }
    }

    pub(crate) fn with_values(self, values: &'a [u32]) -> Call<'a> {
        Call { values: Some(values), ..self }
    }

    pub(crate) fn with_null_values(self) -> Call<'a> {
        Call { values: None, ..self }
    }

    /// Returns the output of the filter, or `None` if it fails. Panics if a failure changed the
    /// buffer, its size or its contents.
    pub(crate) fn run(self, class: &Class) -> Option<Vec<u8>> {
        let values = self.values.map_or(std::ptr::null(), <[u32]>::as_ptr);
        let count = self.values.map_or(0, <[u32]>::len);
        // SAFETY: the block has as many bytes as are copied; afterwards `buf` is a block of C's
        // allocator with at least as many bytes as the filter says.
        unsafe {
            let start = libc::malloc(self.input.len().max(1));
            assert!(!start.is_null());
            start.cast::<u8>().copy_from_nonoverlapping(self.input.as_ptr(), self.input.len());
            let (mut buf, mut size): (*mut c_void, usize) = (start, self.input.len());
            let filter = class.filter();
            let n = filter(self.flags, count, values, self.input.len(), &raw mut size, &raw mut buf);
            if n == 0 {
                assert_eq!((buf, size), (start, self.input.len()), "a failure has changed the buffer");
            } else {
                assert!(n <= size, "{n} of {size} bytes");
            }
            let bytes = if n == 0 { self.input.len() } else { n };
            let left = std::slice::from_raw_parts(buf.cast::<u8>(), bytes).to_vec();
            libc::free(buf);
            if n == 0 {
                assert!(left == self.input, "a failure has changed the contents");
            }
            (n != 0).then_some(left)
        }
    }
}

pub(crate) fn encode(class: &Class, values: &[u32], samples: &[u8]) -> Option<Vec<u8>> {
    Call::new(0, samples).with_values(values).run(class)
}

pub(crate) fn decode(class: &Class, values: &[u32], chunk: &[u8]) -> Option<Vec<u8>> {
    Call::new(REVERSE, chunk).with_values(values).run(class)
}
