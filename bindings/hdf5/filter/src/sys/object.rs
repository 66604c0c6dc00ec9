//! A shared object of this process, and the search for one with a given symbol: first the objects
//! of the callers on the stack, innermost first, with those that they depend on, then the global
//! scope.

use core::ffi::{CStr, c_int, c_void};
use core::mem::transmute_copy;
use core::ptr::null_mut;

/// A shared object of this process, kept loaded.
pub(crate) struct Object {
    handle: *mut c_void,
    /// Whether the handle must be closed.
    opened: bool,
}

impl Object {
    /// Looks up a symbol, a function or the address of a variable, as a `T`.
    ///
    /// # Safety
    /// The symbol must be of type `T`.
    pub(crate) unsafe fn symbol<T: Copy>(&self, name: &CStr) -> Option<T> {
        const { assert!(size_of::<T>() == size_of::<*mut c_void>()) };
        let address = self.address(name);
        // SAFETY: a pointer, and not null.
        (!address.is_null()).then(|| unsafe { transmute_copy(&address) })
    }
}

/// Maximum number of callers examined. Between the search and HDF5 there are only a few functions
/// of this crate.
const DEPTH: usize = 64;

/// Return addresses on the call stack, innermost first.
struct Stack {
    addresses: [usize; DEPTH],
    len: usize,
}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        each: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        stack: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(frame: *mut c_void) -> usize;
}

unsafe extern "C" fn note(frame: *mut c_void, stack: *mut c_void) -> c_int {
    const CONTINUE: c_int = 0;
    const STOP: c_int = 4;
    // SAFETY: `Stack::here` passes it, and has no other reference to it meanwhile.
    let stack = unsafe { &mut *stack.cast::<Stack>() };
    let Some(address) = stack.addresses.get_mut(stack.len) else { return STOP };
    // SAFETY: the frame is that of the unwinder.
    *address = unsafe { _Unwind_GetIP(frame) };
    stack.len += 1;
    CONTINUE
}

impl Stack {
    fn here() -> Stack {
        let mut stack = Stack { addresses: [0; DEPTH], len: 0 };
        // SAFETY: `note` is called only while this runs.
        unsafe { _Unwind_Backtrace(note, (&raw mut stack).cast()) };
        stack
    }
}

impl Object {
    /// Finds the object of the nearest caller that has the symbol or depends on an object that has
    /// it. Falls back to the global scope of the process. Returns `None` if that lacks the symbol,
    /// too.
    pub(crate) fn of_caller(symbol: &CStr) -> Option<Object> {
        let stack = Stack::here();
        let mut last = null_mut();
        for &address in &stack.addresses[..stack.len] {
            let Some(object) = Object::around(address, &mut last) else { continue };
            if !object.address(symbol).is_null() {
                return Some(object);
            }
        }
        let global = Object { handle: libc::RTLD_DEFAULT, opened: false };
        (!global.address(symbol).is_null()).then_some(global)
    }

    /// Returns the object that contains a code address. Returns `None` if it is the object at
    /// `last`, the one examined before, or unknown.
    fn around(address: usize, last: &mut *mut c_void) -> Option<Object> {
        // SAFETY: plain C data, for which zeros are valid.
        let mut info: libc::Dl_info = unsafe { core::mem::zeroed() };
        // SAFETY: takes any address, and writes to `info`.
        let found = unsafe { libc::dladdr(address as *const c_void, &raw mut info) };
        if found == 0 || info.dli_fbase == core::mem::replace(last, info.dli_fbase) {
            return None;
        }
        // SAFETY: the name is that of a loaded object; nothing is loaded.
        let handle = unsafe { libc::dlopen(info.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        (!handle.is_null()).then(|| Object { handle, opened: true })
    }

    /// Returns the address of the symbol, or null.
    pub(crate) fn address(&self, name: &CStr) -> *mut c_void {
        // SAFETY: the handle is open, the name a C string.
        unsafe { libc::dlsym(self.handle, name.as_ptr()) }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if self.opened {
            // SAFETY: opened by us, once.
            unsafe { libc::dlclose(self.handle) };
        }
    }
}
