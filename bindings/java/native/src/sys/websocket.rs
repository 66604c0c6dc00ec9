//! The native methods of the class `dev.linerate.gateway.NativeDeflate`: permessage-deflate.
//!
//! Contract of the caller, besides that of `exports`: an encoder is a result of `createEncoder`
//! that is not freed, a decoder one of `createDecoder`, and each is used by one thread at a time. A
//! prepared message is a result of `createPrepared` that is not freed; any number of threads may
//! use it. Output goes to a direct buffer that nobody else uses during the call, and nobody writes
//! to a direct buffer with input of an encoder.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

use jni_sys::{JNIEnv, jboolean, jbyteArray, jclass, jint, jlong, jlongArray, jobject, jstring};
use linerate_websocket::{
    Agreement, Direction, Options, Prepared, Result, Role, agree, answer, offer, part_bound,
};

use super::env::Env;
use super::exports::{DEFECT, ERROR, EXCEPTION, INCOMPLETE, ordinal};
use crate::websocket::{self, Held, HeldEncoder, Work, new_decoder, new_encoder, new_prepared, with_work};

/// Options of a handshake: the largest window of this side's encoder and whether messages may refer
/// to earlier ones, and both for the peer's encoder, whose messages this side decodes.
fn options(
    encoder_bits: jint,
    encoder_takeover: jboolean,
    decoder_bits: jint,
    decoder_takeover: jboolean,
) -> Options {
    let (encoder, decoder) =
        (direction(encoder_bits, encoder_takeover), direction(decoder_bits, decoder_takeover));
    Options { encoder, decoder, ..Options::default() }
}

fn direction(window_bits: jint, takeover: jboolean) -> Direction {
    Direction { window_bits: u8::try_from(window_bits).unwrap_or(0), takeover }
}

/// An agreement in the form that Java reads: window bits and takeover (0 or 1) of the encoder, then
/// of the decoder.
fn numbers(agreement: Agreement, role: Role) -> [i64; 4] {
    let (encoder, decoder) = (agreement.encoder(role), agreement.decoder(role));
    let bits = |direction: Direction| i64::from(direction.window_bits);
    [bits(encoder), encoder.takeover.into(), bits(decoder), decoder.takeover.into()]
}

/// `static native String offer(int encoderBits, boolean encoderTakeover, int decoderBits, boolean
/// decoderTakeover)`: a client's offers, null after a panic.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_offer(
    env: *mut JNIEnv,
    _: jclass,
    encoder_bits: jint,
    encoder_takeover: jboolean,
    decoder_bits: jint,
    decoder_takeover: jboolean,
) -> jstring {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    let options = options(encoder_bits, encoder_takeover, decoder_bits, decoder_takeover);
    catch_unwind(|| offer(&options)).map_or(ptr::null_mut(), |text| env.string(&text))
}

/// `static native String answer(byte[] offer, int encoderBits, boolean encoderTakeover, int
/// decoderBits, boolean decoderTakeover, long[] agreed)`: writes what was agreed on to `agreed` and
/// returns the server's answer; null if no offer can be accepted, and after a panic.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_answer(
    env: *mut JNIEnv,
    _: jclass,
    offered: jbyteArray,
    encoder_bits: jint,
    encoder_takeover: jboolean,
    decoder_bits: jint,
    decoder_takeover: jboolean,
    agreed: jlongArray,
) -> jstring {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    let options = options(encoder_bits, encoder_takeover, decoder_bits, decoder_takeover);
    // SAFETY: an array of this call.
    let offered = unsafe { env.bytes(offered) };
    let answered = catch_unwind(|| answer(&options, &String::from_utf8_lossy(&offered)));
    let Ok(Some((agreement, text))) = answered else { return ptr::null_mut() };
    // SAFETY: a `long[]` of this call.
    let written = unsafe { env.write_longs(agreed, &numbers(agreement, Role::Server)) };
    if written { env.string(&text) } else { ptr::null_mut() }
}

/// `static native String agree(byte[] answer, int encoderBits, boolean encoderTakeover, int
/// decoderBits, boolean decoderTakeover, long[] agreed)`: writes what was agreed on to `agreed`, or
/// nothing if the server has declined, and returns null; or returns the reason why the answer fits
/// no offer.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_agree(
    env: *mut JNIEnv,
    _: jclass,
    answered: jbyteArray,
    encoder_bits: jint,
    encoder_takeover: jboolean,
    decoder_bits: jint,
    decoder_takeover: jboolean,
    agreed: jlongArray,
) -> jstring {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    let options = options(encoder_bits, encoder_takeover, decoder_bits, decoder_takeover);
    // SAFETY: an array of this call.
    let answered = unsafe { env.bytes(answered) };
    match catch_unwind(|| agree(&options, &String::from_utf8_lossy(&answered))) {
        Ok(Ok(Some(agreement))) => {
            // SAFETY: a `long[]` of this call.
            unsafe { env.write_longs(agreed, &numbers(agreement, Role::Client)) };
            ptr::null_mut()
        }
        Ok(Ok(None)) => ptr::null_mut(),
        Ok(Err(error)) => env.string(&error.to_string()),
        Err(_) => env.string("a defect of linerate-gateway"),
    }
}

/// Creates an object and returns its address; 0 if that fails.
fn created<C>(create: impl FnOnce() -> Result<Held<C>>) -> jlong {
    let made = catch_unwind(AssertUnwindSafe(|| create().ok().map(|held| Box::into_raw(Box::new(held)))));
    made.ok().flatten().map_or(0, |held| held.expose_provenance() as jlong)
}

/// Runs `body` with an encoder or a decoder. Once `body` has panicked, this call and all later ones
/// for the same object return `defect`.
///
/// # Safety
/// `address` is that of a `Held<C>` that was made by `created`, is not freed, and is not used by
/// another thread.
unsafe fn with<C, T: Copy>(address: jlong, defect: T, body: impl FnOnce(&mut C) -> T) -> T {
    // SAFETY: the caller's contract.
    let held = unsafe { &mut *ptr::with_exposed_provenance_mut::<Held<C>>(address as usize) };
    if held.broken {
        return defect;
    }
    catch_unwind(AssertUnwindSafe(|| body(&mut held.codec))).unwrap_or_else(|_| {
        held.broken = true;
        defect
    })
}

/// # Safety
/// `address` is that of a `Held<C>` that was made by `created`, and is freed only once.
unsafe fn free<C>(address: jlong) {
    // SAFETY: the caller's contract.
    let held = unsafe { Box::from_raw(ptr::with_exposed_provenance_mut::<Held<C>>(address as usize)) };
    // A panic in here leaks memory, nothing else.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(held)));
}

/// `static native long createEncoder(int windowBits, boolean takeover, int level, boolean
/// rememberPrepared)`: an encoder, 0 for arguments that are not allowed.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_createEncoder(
    _: *mut JNIEnv,
    _: jclass,
    window_bits: jint,
    takeover: jboolean,
    level: jint,
    remember_prepared: jboolean,
) -> jlong {
    let level = u8::try_from(level).unwrap_or(u8::MAX);
    created(|| new_encoder(direction(window_bits, takeover), level, remember_prepared))
}

/// `static native void freeEncoder(long encoder)`
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_freeEncoder(
    _: *mut JNIEnv,
    _: jclass,
    encoder: jlong,
) {
    // SAFETY: the contract of this module.
    unsafe { free::<linerate_websocket::Encoder>(encoder) };
}

/// `static native long bound(int length)`: largest number of bytes that `encode` writes for a part
/// of this length.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_bound(
    _: *mut JNIEnv,
    _: jclass,
    len: jint,
) -> jlong {
    part_bound(len as usize) as jlong
}

/// `static native long encode(long encoder, Object part, boolean direct, int offset, int length,
/// boolean whole, boolean last, ByteBuffer into, int intoOffset, int room)`: the number of bytes
/// written. `INCOMPLETE` if a whole message is to be sent uncompressed, `ERROR` if memory for a
/// copy of the input runs out. For a part of a message there must be room.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_encode(
    env: *mut JNIEnv,
    _: jclass,
    encoder: jlong,
    part: jobject,
    direct: jboolean,
    offset: jint,
    len: jint,
    whole: jboolean,
    last: jboolean,
    into: jobject,
    into_offset: jint,
    room: jint,
) -> jlong {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    let encode = |encoder: &mut linerate_websocket::Encoder, part: &[u8]| {
        // SAFETY: a direct buffer of this call, whose bytes nobody else uses.
        let out = unsafe { env.output(into, into_offset, room) };
        with_work(|Work { scratch, .. }| {
            if whole {
                let written = encoder.message_into(scratch, part, out).expect("no error is possible");
                written.map_or(INCOMPLETE, |n| n as jlong)
            } else {
                encoder.part_into(scratch, part, last, out).expect("Java passes enough room") as jlong
            }
        })
    };
    // SAFETY: the contract of this module.
    unsafe {
        with(encoder, DEFECT, |encoder| {
            if len == 0 {
                return encode(encoder, &[]); // an empty buffer may have no address
            }
            if direct {
                let part = env.direct(part).and_then(|part| part.slice(offset as usize, len as usize));
                return encode(encoder, part.expect("Java passes ranges within its buffers"));
            }
            let mut copy = crate::frame::Frame::new();
            let Ok(buffer) = copy.buffer(len as usize) else { return ERROR };
            if !env.read(part, offset, buffer) {
                return EXCEPTION;
            }
            // `read` has written all of the buffer.
            encode(encoder, slice::from_raw_parts(buffer.as_ptr().cast::<u8>(), buffer.len()))
        })
    }
}

/// `static native long encoderMemory(long encoder)`: bytes that the encoder holds outside the heap.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_encoderMemory(
    _: *mut JNIEnv,
    _: jclass,
    encoder: jlong,
) -> jlong {
    let own = size_of::<HeldEncoder>() - size_of::<linerate_websocket::Encoder>();
    // SAFETY: the contract of this module.
    unsafe { with(encoder, 0, |encoder: &mut linerate_websocket::Encoder| (own + encoder.memory()) as jlong) }
}

/// `static native long createPrepared(Object message, boolean direct, int offset, int length)`: a
/// message for any number of encoders; `ERROR` if there is no memory for it, 0 after a panic.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_createPrepared(
    env: *mut JNIEnv,
    _: jclass,
    message: jobject,
    direct: jboolean,
    offset: jint,
    len: jint,
) -> jlong {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    let mut frame = crate::frame::Frame::new();
    let Ok(buffer) = frame.buffer(len as usize) else { return ERROR };
    // SAFETY: what Java passed to this call.
    if !unsafe { super::exports::copy(env, message, direct, offset)(buffer) } {
        return 0;
    }
    // SAFETY: all of the buffer was written.
    let content = unsafe { slice::from_raw_parts(buffer.as_ptr().cast::<u8>(), buffer.len()) };
    created(|| Ok(new_prepared(content)))
}

/// `static native void freePrepared(long prepared)`: releases the message; encoders keep what they
/// need of it.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_freePrepared(
    _: *mut JNIEnv,
    _: jclass,
    prepared: jlong,
) {
    // SAFETY: the contract of this module.
    unsafe { free::<Prepared>(prepared) };
}

/// `static native long encodePrepared(long encoder, long prepared, ByteBuffer into, int intoOffset,
/// int room)`: the number of bytes of the compressed message, which are written if there is room;
/// `INCOMPLETE` if the message is to be sent uncompressed.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_encodePrepared(
    env: *mut JNIEnv,
    _: jclass,
    encoder: jlong,
    prepared: jlong,
    into: jobject,
    into_offset: jint,
    room: jint,
) -> jlong {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    let prepared = ptr::with_exposed_provenance::<Held<Prepared>>(prepared as usize);
    // SAFETY: by the contract it was returned by `createPrepared`, and is not freed.
    let message = unsafe { &(*prepared).codec };
    let encode = |encoder: &mut linerate_websocket::Encoder| {
        let encoded = with_work(|work| encoder.prepared(&mut work.scratch, message));
        let Some(encoded) = encoded else { return INCOMPLETE };
        if encoded.len() <= room as usize {
            // SAFETY: a direct buffer of this call, whose bytes nobody else uses.
            let out = unsafe { env.output(into, into_offset, room) };
            out[..encoded.len()].copy_from_slice(encoded);
        }
        encoded.len() as jlong
    };
    // SAFETY: the contract of this module.
    unsafe { with(encoder, DEFECT, encode) }
}

/// `static native long createDecoder(int windowBits, boolean takeover, int messageLimit, int
/// ratioLimit)`: a decoder, 0 for arguments that are not allowed.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_createDecoder(
    _: *mut JNIEnv,
    _: jclass,
    window_bits: jint,
    takeover: jboolean,
    message_limit: jint,
    ratio_limit: jint,
) -> jlong {
    let (message_limit, ratio_limit) = (message_limit as u64, ratio_limit as u32);
    let options = Options { message_limit, ratio_limit, ..Options::default() };
    created(|| new_decoder(direction(window_bits, takeover), &options))
}

/// `static native void freeDecoder(long decoder)`
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_freeDecoder(
    _: *mut JNIEnv,
    _: jclass,
    decoder: jlong,
) {
    // SAFETY: the contract of this module.
    unsafe { free::<websocket::MessageDecoder>(decoder) };
}

/// `static native long decode(long decoder, Object part, boolean direct, int offset, int length,
/// boolean last, ByteBuffer into, int intoOffset, int room)`: bytes written, plus 2^31 times the
/// bytes read, plus 2^62 if all of the part is decoded; `ERROR` or `DEFECT`.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_decode(
    env: *mut JNIEnv,
    _: jclass,
    decoder: jlong,
    part: jobject,
    direct: jboolean,
    offset: jint,
    len: jint,
    last: jboolean,
    into: jobject,
    into_offset: jint,
    room: jint,
) -> jlong {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    let copy = |from: usize, piece: &mut [u8]| {
        let from = offset as usize + from;
        // SAFETY: the bytes are initialized, and the copy writes only initialized bytes.
        let piece = unsafe { &mut *(ptr::from_mut(piece) as *mut [std::mem::MaybeUninit<u8>]) };
        // SAFETY: what Java passed to this call.
        unsafe { super::exports::copy(env, part, direct, from as jint)(piece) }
    };
    let decode = |decoder: &mut websocket::MessageDecoder| {
        // SAFETY: a direct buffer of this call, whose bytes nobody else uses.
        let out = unsafe { env.output(into, into_offset, room) };
        match with_work(|work| decoder.part(work, len as usize, last, out, copy)) {
            Some(Ok(progress)) => {
                let done = i64::from(progress.is_done) << 62;
                done | (progress.read as jlong) << 31 | progress.written as jlong
            }
            Some(Err(_)) => ERROR,
            None => EXCEPTION,
        }
    };
    // SAFETY: the contract of this module.
    unsafe { with(decoder, DEFECT, decode) }
}

/// `static native String decoderError(long decoder, long[] where)`: the error of a decoder, in the
/// form of `Native.error`.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_decoderError(
    env: *mut JNIEnv,
    _: jclass,
    decoder: jlong,
    position: jlongArray,
) -> jstring {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    let report = |decoder: &mut websocket::MessageDecoder| {
        let Some(failure) = decoder.error else { return ptr::null_mut() };
        let kind = ordinal(failure.error.kind).expect("an error of a stream");
        // SAFETY: a `long[]` of this call.
        let written =
            unsafe { env.write_longs(position, &[kind, failure.offset as i64, failure.message as i64]) };
        if written { env.string(failure.error.message) } else { ptr::null_mut() }
    };
    // SAFETY: the contract of this module.
    unsafe { with(decoder, ptr::null_mut(), report) }
}

/// `static native long decoderMemory(long decoder)`: bytes that the decoder holds outside the heap.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_decoderMemory(
    _: *mut JNIEnv,
    _: jclass,
    decoder: jlong,
) -> jlong {
    // SAFETY: the contract of this module.
    unsafe { with(decoder, 0, |decoder: &mut websocket::MessageDecoder| decoder.memory() as jlong) }
}

/// `static native long live()`: number of encoders, decoders and prepared messages that are not
/// freed.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_NativeDeflate_live(_: *mut JNIEnv, _: jclass) -> jlong {
    websocket::live()
}
