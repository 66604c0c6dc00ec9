//! Native methods of dictionaries.
//!
//! Contract of the caller, besides that of `exports`: an argument `dictionaries` is the address
//! that `createDictionaries` has written, and was not passed to `freeDictionaries`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use jni_sys::{JNIEnv, jbyteArray, jclass, jlong, jlongArray, jstring};
use linerate_gateway::{Dictionaries, Error};

use crate::sys::env::Env;
use crate::sys::exports::with;

fn address(dictionaries: jlong) -> *const Dictionaries {
    ptr::with_exposed_provenance(dictionaries as usize)
}

/// Parses dictionaries, each after its length as four bytes in little-endian order.
fn parse(mut all: &[u8]) -> Result<Dictionaries, Error> {
    let mut contents = Vec::new();
    while let Some((len, rest)) = all.split_first_chunk() {
        let (content, rest) = rest.split_at(u32::from_le_bytes(*len) as usize);
        contents.push(content);
        all = rest;
    }
    Dictionaries::new(contents)
}

/// `static native String createDictionaries(byte[] all, long[] created)`: writes the address of the
/// dictionaries to `created` and returns null; or returns why they cannot be created.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_createDictionaries(
    env: *mut JNIEnv,
    _: jclass,
    all: jbyteArray,
    created: jlongArray,
) -> jstring {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    let made = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: an array of this call.
        parse(&unsafe { env.bytes(all) }).map_err(|error| error.to_string())
    }));
    match made.unwrap_or_else(|_| Err("a defect of linerate-gateway".to_owned())) {
        Ok(dictionaries) => {
            let raw = Arc::into_raw(Arc::new(dictionaries));
            // SAFETY: a `long[]` of this call.
            unsafe { env.write_longs(created, &[raw.expose_provenance() as i64]) };
            ptr::null_mut()
        }
        Err(error) => env.string(&error),
    }
}

/// `static native void freeDictionaries(long dictionaries)`: releases Java's reference; connections
/// that use the dictionaries keep them.
#[unsafe(no_mangle)]
pub(super) extern "system" fn Java_dev_linerate_gateway_Native_freeDictionaries(
    _: *mut JNIEnv,
    _: jclass,
    dictionaries: jlong,
) {
    // SAFETY: by the contract they were returned by `createDictionaries`, and they are freed only
    // once.
    drop(unsafe { Arc::from_raw(address(dictionaries)) });
}

/// `static native void setDictionaries(long connection, long dictionaries)`: sets the dictionaries
/// of a connection that had no message yet.
#[unsafe(no_mangle)]
pub(super) extern "system" fn Java_dev_linerate_gateway_Native_setDictionaries(
    _: *mut JNIEnv,
    _: jclass,
    connection: jlong,
    dictionaries: jlong,
) {
    // SAFETY: by the contract they are not freed. The `Arc` made here owns the count that is added.
    let dictionaries = unsafe {
        Arc::increment_strong_count(address(dictionaries));
        Arc::from_raw(address(dictionaries))
    };
    with(connection, (), |connection| connection.set_dictionaries(dictionaries));
}

/// `static native void dictionaryNumbers(long dictionaries, long[] into)`: writes how many bytes
/// the dictionaries hold, then their ids in ascending order.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_dictionaryNumbers(
    env: *mut JNIEnv,
    _: jclass,
    dictionaries: jlong,
    into: jlongArray,
) {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    // SAFETY: by the contract they are not freed.
    let dictionaries = unsafe { &*address(dictionaries) };
    let ids = dictionaries.ids().map(i64::from);
    let numbers: Vec<i64> = [dictionaries.memory() as i64].into_iter().chain(ids).collect();
    // SAFETY: a `long[]` of this call.
    unsafe { env.write_longs(into, &numbers) };
}
