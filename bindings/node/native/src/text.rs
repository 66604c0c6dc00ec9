//! Makes JavaScript strings of UTF-8. V8 copies Latin-1 and UTF-16 as they are, but is slow to
//! decode UTF-8, so most text is converted here.

use napi::{Env, Error, JsString, Result};

use crate::memory::Pool;

/// Largest buffer for UTF-16 that is kept for the next string, in code units.
const KEPT: usize = 1 << 20;

static UNITS: Pool<Vec<u16>> = Pool::new();

/// Smallest leading byte of characters above U+00FF, which Latin-1 does not have.
const ABOVE_LATIN1: u8 = 0xc4;

/// Makes a JavaScript string. Returns `None` if the bytes are not UTF-8.
pub(crate) fn string_of<'env>(env: &'env Env, bytes: &[u8]) -> Result<Option<JsString<'env>>> {
    if bytes.is_ascii() {
        return env.create_string_latin1(bytes).map(Some);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(None) };
    // If all characters are in Latin-1, V8 makes a string with one byte per character, which is
    // half the size of UTF-16.
    if bytes.iter().all(|&byte| byte < ABOVE_LATIN1) {
        return env.create_string(text).map(Some);
    }
    UNITS.with(|units| {
        let no_memory = |_| Error::from_reason("out of memory for the string");
        units.try_reserve(text.len()).map_err(no_memory)?;
        append_utf16(text, units);
        let made = env.create_string_utf16(&units[..]);
        units.clear();
        units.shrink_to(KEPT);
        made.map(Some)
    })
}

/// Appends `text` as UTF-16 to `units`, which has space for it. It copies runs of ASCII at once.
/// Since most text is ASCII, this is faster than [`str::encode_utf16`].
fn append_utf16(mut text: &str, units: &mut Vec<u16>) {
    while !text.is_empty() {
        let (ascii, rest) = text.split_at(ascii_prefix(text.as_bytes()));
        units.extend(ascii.bytes().map(u16::from));
        let mut chars = rest.chars();
        text = loop {
            let rest = chars.as_str();
            match chars.next() {
                Some(char) if !char.is_ascii() => units.extend_from_slice(char.encode_utf16(&mut [0; 2])),
                _ => break rest,
            }
        };
    }
}

/// Number of bytes before the first one that is not ASCII.
fn ascii_prefix(bytes: &[u8]) -> usize {
    let (runs, _) = bytes.as_chunks::<16>();
    let whole = 16 * runs.iter().take_while(|run| run.is_ascii()).count();
    whole + bytes[whole..].iter().take_while(|byte| byte.is_ascii()).count()
}
