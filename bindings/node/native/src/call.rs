//! The interface of functions that are called for every message. The conversions of napi take
//! longer than decoding a small message, so these functions read their arguments themselves:
//! `(object, data, checked, flags, space, at)`.
#![allow(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

use napi::bindgen_prelude::{BufferSlice, External, FromNapiMutRef, JsObjectValue, Object, panic_to_error};
use napi::{Env, JsError, JsValue, Result, check_status, sys};

use crate::error::Failure;

/// A JavaScript value within a call.
pub(crate) type Value = sys::napi_value;

/// The result `undefined`, which tells JavaScript to check or copy the data and call again.
pub(crate) const UNDEFINED: Value = null_mut();

/// Longest output that is written to shared space instead of a Buffer of its own, in bytes.
const SHARED: usize = 4 << 10;

/// A function of the module.
pub(crate) trait Function {
    /// The content of the first argument, an External.
    type Object: 'static;

    fn call(object: &mut Self::Object, arguments: &Arguments) -> std::result::Result<Value, Failure>;
}

/// Adds a function to the module.
pub(crate) fn export<F: Function>(exports: &mut Object<'_>, name: &str) -> Result<()> {
    exports.create_named_method(name, entry::<F>)
}

/// The entry point that Node.js calls. Throws errors and panics as JavaScript exceptions.
unsafe extern "C" fn entry<F: Function>(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let call = || {
        let (mut values, mut count) = ([null_mut(); 6], 6);
        // SAFETY: Node.js passes `env` and `info`. There is room for `count` values; those not
        // passed become undefined.
        let status = unsafe {
            sys::napi_get_cb_info(env, info, &mut count, values.as_mut_ptr(), null_mut(), null_mut())
        };
        check_status!(status)?;
        let [object, data, checked, flags, space, at] = values;
        // SAFETY: napi checks that it made the External for this type. Nothing else refers to its
        // content: no JavaScript, and so no other call, runs within `call`, and arguments are not
        // garbage-collected.
        let object = unsafe { External::<F::Object>::from_napi_mut_ref(env, object)? };
        F::call(object, &Arguments { env: Env::from_raw(env), data, checked, flags, space, at })
    };
    let result =
        catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err(panic_to_error(panic).into()));
    result.unwrap_or_else(|failure| {
        // The object is not in use here any more, so making the error may run JavaScript, such as
        // setters.
        let error = JsError::from(failure.raise(&Env::from_raw(env)));
        // SAFETY: the environment is that of the call.
        unsafe { error.throw_into(env) };
        null_mut()
    })
}

/// The arguments of a call after the object.
pub(crate) struct Arguments {
    pub(crate) env: Env,
    data: Value,
    checked: Value,
    flags: Value,
    space: Value,
    at: Value,
}

impl Arguments {
    /// The content of `data`, a Uint8Array. Returns `None` for other values, for memory that other
    /// threads may write to, and for an empty array, which may be one that has lost its memory.
    /// JavaScript then checks or copies the data and calls again with `checked` = 1, which confirms
    /// that an empty array is really empty.
    pub(crate) fn data(&self) -> Option<&[u8]> {
        let Some((data, len)) = self.memory(self.data) else {
            return (self.number(self.checked) == 1).then_some(&[]);
        };
        // SAFETY: the memory has `len` bytes, and stays valid because no JavaScript runs during the
        // call.
        Some(unsafe { std::slice::from_raw_parts(data, len) })
    }

    pub(crate) fn flags(&self) -> u32 {
        self.number(self.flags)
    }

    /// Delivers `output`. If it is short and `space` has room after `at`, writes it there and
    /// returns its length; otherwise returns a Buffer.
    pub(crate) fn deliver(&self, output: &[u8]) -> Result<Value> {
        if output.len() <= SHARED
            && let Some((space, len)) = self.memory(self.space)
            && let at = self.number(self.at) as usize
            && len.checked_sub(at).is_some_and(|room| output.len() <= room)
        {
            // SAFETY: `space` has room for the output, and the output is memory of Rust, so they do
            // not overlap.
            unsafe { space.add(at).copy_from_nonoverlapping(output.as_ptr(), output.len()) };
            return self.result(output.len() as i32);
        }
        Ok(BufferSlice::copy_from(&self.env, output)?.raw())
    }

    /// Returns a number to JavaScript.
    pub(crate) fn result(&self, number: i32) -> Result<Value> {
        let mut value = null_mut();
        // SAFETY: the environment is that of the call.
        check_status!(unsafe { sys::napi_create_int32(self.env.raw(), number, &mut value) })?;
        Ok(value)
    }

    /// Returns `null` to JavaScript.
    pub(crate) fn null(&self) -> Result<Value> {
        let mut value = null_mut();
        // SAFETY: the environment is that of the call.
        check_status!(unsafe { sys::napi_get_null(self.env.raw(), &mut value) })?;
        Ok(value)
    }

    /// Address and length of the memory of a Uint8Array that is neither empty nor shared.
    fn memory(&self, value: Value) -> Option<(*mut u8, usize)> {
        let (mut kind, mut len, mut data, mut buffer) = (0, 0, null_mut(), null_mut());
        let env = self.env.raw();
        // SAFETY: the value belongs to this call, and Node.js checks its type.
        let status = unsafe {
            sys::napi_get_typedarray_info(env, value, &mut kind, &mut len, &mut data, &mut buffer, null_mut())
        };
        let mut is_owned = false;
        let is_bytes = status == sys::Status::napi_ok
            && kind == sys::TypedarrayType::uint8_array
            && len > 0
            // SAFETY: as above. For a SharedArrayBuffer the result is false.
            && unsafe { sys::napi_is_arraybuffer(env, buffer, &mut is_owned) } == sys::Status::napi_ok
            && is_owned;
        is_bytes.then_some((data.cast(), len))
    }

    /// The value of a number, or 0 for other values.
    fn number(&self, value: Value) -> u32 {
        let mut number = 0;
        // SAFETY: the value belongs to this call. A value that is not a number leaves 0.
        unsafe { sys::napi_get_value_uint32(self.env.raw(), value, &mut number) };
        number
    }
}
