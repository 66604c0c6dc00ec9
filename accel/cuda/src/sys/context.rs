//! Devices, their primary contexts, modules and kernels.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use super::driver::{Driver, NOT_FOUND, RawContext, RawDevice, RawFunction, RawModule};
use super::stream::Stream;
use crate::layout::Params1;
use crate::{Error, Result};

/// `CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT` of the driver API.
const MULTIPROCESSORS: c_int = 16;
/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `.._MINOR` of the driver API.
const CAPABILITY: [c_int; 2] = [75, 76];

/// The primary context of a device. CUDA's runtime, CuPy, PyTorch and JAX use the same context, so
/// their pointers and streams are valid in it. Clones share the context; the last one releases it.
///
/// Functions of this crate that need a current context make this one current on their thread, and
/// restore the previous one before they return.
#[derive(Clone, Debug)]
pub struct Context(Arc<Retained>);

#[derive(Debug)]
struct Retained {
    driver: &'static Driver,
    device: RawDevice,
    ordinal: usize,
    raw: RawContext,
}

// SAFETY: the driver API may be called from any thread; a context is only a handle.
unsafe impl Send for Retained {}
// SAFETY: several threads may call the driver API at once with the same handle.
unsafe impl Sync for Retained {}

impl Drop for Retained {
    fn drop(&mut self) {
        // SAFETY: the context was retained once, by `Context::on`. After an error there is nothing
        // left to do.
        unsafe { (self.driver.call.release_context)(self.device) };
    }
}

impl Context {
    /// Returns the primary context of device `ordinal` of this process's [driver](Driver::get).
    ///
    /// # Errors
    /// [`Error::NoDriver`], [`Error::NoDevice`], or [`Error::Driver`] if the driver reports one.
    pub fn new(ordinal: usize) -> Result<Context> {
        Context::on(Driver::get()?, ordinal)
    }

    /// Returns the primary context of device `ordinal`.
    ///
    /// # Errors
    /// [`Error::NoDevice`], or [`Error::Driver`] if the driver reports one.
    pub fn on(driver: &'static Driver, ordinal: usize) -> Result<Context> {
        let count = driver.device_count()?;
        let number = c_int::try_from(ordinal).ok().filter(|_| ordinal < count);
        let number = number.ok_or(Error::NoDevice { wanted: ordinal, count })?;
        let (mut device, mut raw) = (0, ptr::null_mut());
        // SAFETY: the pointer is to a device handle.
        driver.check("cuDeviceGet", unsafe { (driver.call.device)(&raw mut device, number) })?;
        // SAFETY: the pointer is to a context handle.
        let status = unsafe { (driver.call.retain_context)(&raw mut raw, device) };
        driver.check("cuDevicePrimaryCtxRetain", status)?;
        Ok(Context(Arc::new(Retained { driver, device, ordinal, raw })))
    }

    /// The driver library that the context belongs to.
    pub fn driver(&self) -> &'static Driver {
        self.0.driver
    }

    /// The device's number, counted from 0.
    pub fn ordinal(&self) -> usize {
        self.0.ordinal
    }

    /// The device's name.
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver reports one.
    pub fn device_name(&self) -> Result<String> {
        let mut name = [0 as c_char; 256];
        // SAFETY: the buffer is longer than 255 bytes, in which the driver ends the name with a
        // zero.
        let status = unsafe { (self.driver().call.device_name)(name.as_mut_ptr(), 255, self.0.device) };
        self.driver().check("cuDeviceGetName", status)?;
        // SAFETY: zeros follow what the driver wrote, within the buffer.
        Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// Returns the device's compute capability, such as (9, 0).
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver reports one.
    pub fn compute_capability(&self) -> Result<(i32, i32)> {
        Ok((self.attribute(CAPABILITY[0])?, self.attribute(CAPABILITY[1])?))
    }

    /// Returns the number of multiprocessors of the device, at least 1.
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver reports one.
    pub fn multiprocessors(&self) -> Result<usize> {
        Ok(usize::try_from(self.attribute(MULTIPROCESSORS)?).unwrap_or(1).max(1))
    }

    fn attribute(&self, attribute: c_int) -> Result<i32> {
        let mut value = 0;
        // SAFETY: the pointer is to an int.
        let status =
            unsafe { (self.driver().call.device_attribute)(&raw mut value, attribute, self.0.device) };
        self.driver().check("cuDeviceGetAttribute", status)?;
        Ok(value)
    }

    /// Returns the free and total memory of the device, in bytes.
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver reports one.
    pub fn memory(&self) -> Result<(usize, usize)> {
        let _current = self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: the pointers are to sizes.
        let status = unsafe { (self.driver().call.memory_info)(&raw mut free, &raw mut total) };
        self.driver().check("cuMemGetInfo", status)?;
        Ok((free, total))
    }

    /// Makes the context current on this thread until the guard is dropped.
    pub(super) fn enter(&self) -> Result<Current<'_>> {
        // SAFETY: the context is retained as long as `self`.
        let status = unsafe { (self.driver().call.push_context)(self.0.raw) };
        self.driver().check("cuCtxPushCurrent", status)?;
        Ok(Current { context: self, _of_thread: PhantomData })
    }
}

/// A guard that keeps a context current on this thread until it is dropped.
pub(super) struct Current<'a> {
    context: &'a Context,
    /// Makes the guard neither `Send` nor `Sync`: a context is current on one thread.
    _of_thread: PhantomData<*const ()>,
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        let mut popped = ptr::null_mut();
        // SAFETY: the context was pushed on this thread, and guards are dropped in reverse order.
        unsafe { (self.context.driver().call.pop_context)(&raw mut popped) };
    }
}

/// Compiled kernels, loaded into a context. Dropping the module unloads them.
#[derive(Debug)]
pub struct Module {
    context: Context,
    raw: RawModule,
}

// SAFETY: a handle, which may be used from any thread.
unsafe impl Send for Module {}
// SAFETY: a handle, which several threads may use at once.
unsafe impl Sync for Module {}

impl Module {
    /// Loads `ptx`, which the driver compiles for the device.
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver rejects it, for example because the driver is older than the
    /// PTX version.
    pub fn from_ptx(context: &Context, ptx: &CStr) -> Result<Module> {
        let _current = context.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the image is text that ends with a zero; the context is current.
        let status = unsafe { (context.driver().call.load_module)(&raw mut raw, ptx.as_ptr().cast()) };
        context.driver().check("cuModuleLoadData", status)?;
        Ok(Module { context: context.clone(), raw })
    }

    /// The context into which the module is loaded.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the kernel `name`.
    ///
    /// # Errors
    /// [`Error::NoKernel`] if there is none, [`Error::BadArgument`] for a name with a zero byte, or
    /// [`Error::Driver`] if the driver reports one.
    pub(crate) fn kernel(&self, name: &str) -> Result<Kernel> {
        let name = CString::new(name).map_err(|_| Error::BadArgument("a kernel's name with a zero byte"))?;
        let _current = self.context.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the module is loaded; the name ends with a zero.
        let status = unsafe { (self.context.driver().call.function)(&raw mut raw, self.raw, name.as_ptr()) };
        if status == NOT_FOUND {
            return Err(Error::NoKernel(name.to_string_lossy().into_owned()));
        }
        self.context.driver().check("cuModuleGetFunction", status)?;
        Ok(Kernel(raw))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Ok(_current) = self.context.enter() {
            // SAFETY: `from_ptx` loaded the module, and nothing else unloads it.
            unsafe { (self.context.driver().call.unload_module)(self.raw) };
        }
    }
}

/// A kernel of a [`Module`]. The module must live as long as the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel(RawFunction);

// SAFETY: a handle, which may be used from any thread.
unsafe impl Send for Kernel {}
// SAFETY: a handle, which several threads may use at once.
unsafe impl Sync for Kernel {}

/// Types of the arguments of kernels, with the layout that they have in C: numbers, device pointers
/// as `u64`, and the parameters of version 1.
pub(crate) trait Argument {}
impl Argument for u32 {}
impl Argument for i32 {}
impl Argument for u64 {}
impl Argument for Params1 {}

/// Returns the address of `value`, as `cuLaunchKernel` expects arguments. It is valid as long as
/// `value` is.
pub(crate) fn argument<T: Argument>(value: &T) -> *mut c_void {
    ptr::from_ref(value).cast_mut().cast()
}

impl Kernel {
    /// Queues the kernel on `stream`, with `blocks` blocks of `threads` threads. Launches nothing
    /// if there are no blocks.
    ///
    /// # Safety
    /// The module is loaded. `arguments` match the kernel's in number and types. The device memory
    /// to which they point is valid for the kernel's accesses until the stream has finished the
    /// kernel.
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver reports one.
    pub(crate) unsafe fn launch(
        self,
        stream: &Stream,
        blocks: u32,
        threads: u32,
        arguments: &[*mut c_void],
    ) -> Result<()> {
        if blocks == 0 {
            return Ok(());
        }
        let driver = stream.context().driver();
        let _current = stream.context().enter()?;
        let (blocks, threads): (c_uint, c_uint) = (blocks, threads);
        let arguments = arguments.as_ptr().cast_mut();
        // SAFETY: by the caller. The driver copies the arguments before it returns.
        let status = unsafe {
            (driver.call.launch)(
                self.0,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                0,
                stream.raw(),
                arguments,
                ptr::null_mut(),
            )
        };
        driver.check("cuLaunchKernel", status)
    }
}
