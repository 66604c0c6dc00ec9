//! Strings of UTF-8. V8 copies those of one or two bytes a character, and is slow to decode others.

use napi::{Env, JsString, Result};

use crate::memory::Pool;

/// Memory for strings that is kept for the next, in code units at most.
const KEPT: usize = 1 << 20;

static UNITS: Pool<Vec<u16>> = Pool::new();

/// Leading bytes from this one on are of characters above U+00FF, which one byte does not hold.
const ABOVE_LATIN1: u8 = 0xc4;

/// Makes a string of JavaScript.
pub(crate) fn string_of<'env>(env: &'env Env, text: &str) -> Result<JsString<'env>> {
    let bytes = text.as_bytes();
    if text.is_ascii() {
        return env.create_string_latin1(bytes);
    }
    // A string of one byte a character takes half the memory.
    if bytes.iter().all(|&byte| byte < ABOVE_LATIN1) {
        return env.create_string(text);
    }
    UNITS.with(|units| {
        append_utf16(text, units);
        let made = env.create_string_utf16(&units[..]);
        units.clear();
        units.shrink_to(KEPT);
        made
    })
}

/// Bytes that are tested for ASCII at once.
const RUN: usize = 16;

/// Appends `text` as UTF-16, as [`str::encode_utf16`] has it, but most of it is ASCII.
fn append_utf16(mut text: &str, units: &mut Vec<u16>) {
    units.reserve(text.len());
    while !text.is_empty() {
        let (runs, _) = text.as_bytes().as_chunks::<RUN>();
        let ascii = RUN * runs.iter().take_while(|run| run.is_ascii()).count();
        let (run, rest) = text.split_at(ascii);
        units.extend(run.bytes().map(u16::from));
        let mut chars = rest.chars();
        for char in chars.by_ref().take(RUN) {
            units.extend_from_slice(char.encode_utf16(&mut [0; 2]));
        }
        text = chars.as_str();
    }
}
