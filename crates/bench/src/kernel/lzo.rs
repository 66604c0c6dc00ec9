//! LZO, loaded at run time if the machine has it; never built or linked.

use std::ffi::{CStr, OsString, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr::null_mut;

use libloading::Library;

use crate::bytes::{Coding, Encoder};

/// Environment variable that names a library to measure instead of the machine's.
const VARIABLE: &str = "LINERATE_LIBLZO";
/// File names of the machine's library.
const USUAL: [&str; 2] = ["liblzo2.so.2", "liblzo2.so"];

/// Words of working memory that LZO1X-1 asks for: 16,384 pointers.
const WORKING_WORDS: usize = 16_384;
/// What the library's functions return on success.
const OK: c_int = 0;

/// The type of sizes in the library's interface.
type Size = usize;
/// Parameters: the version, then the sizes of `short`, `int`, `long`, a 32-bit word, [`Size`], an
/// entry of the dictionary, `char *`, `void *`, and of the struct of callbacks, which has three
/// functions, a pointer and two sizes.
type Init =
    unsafe extern "C" fn(c_uint, c_int, c_int, c_int, c_int, c_int, c_int, c_int, c_int, c_int) -> c_int;
/// Parameters: input and its length, output, its capacity (replaced by its length), working memory.
type Code = unsafe extern "C" fn(*const u8, Size, *mut u8, *mut Size, *mut c_void) -> c_int;
type Version = unsafe extern "C" fn() -> c_uint;
type VersionText = unsafe extern "C" fn() -> *const c_char;

/// LZO1X-1, the variant that the library recommends: one block per chunk.
pub(crate) struct Lzo {
    compress: Code,
    working: Vec<usize>,
    version: String,
    // This field is last, so that the library's code outlives the pointers into it.
    _library: Library,
}

impl Lzo {
    pub(crate) fn load() -> Result<Self, String> {
        let library = open()?;
        // SAFETY: the types are those of the library's public header for these names.
        let (compress, text) = unsafe {
            (
                *library.get::<Code>("lzo1x_1_compress").map_err(unusable)?,
                *library.get::<VersionText>("lzo_version_string").map_err(unusable)?,
            )
        };
        // SAFETY: takes no arguments and returns a static string that ends with NUL.
        let version = unsafe { CStr::from_ptr(text()) }.to_string_lossy().into_owned();
        Ok(Lzo { compress, working: vec![0; WORKING_WORDS], version, _library: library })
    }
}

/// Decodes a block whose content has `n` bytes, with LZO itself, because the bench has no other
/// decoder of it. Longer content is an error.
pub(crate) fn decode(block: &[u8], n: usize) -> Result<Vec<u8>, String> {
    let library = open()?;
    // SAFETY: the type is that of the library's public header for this name.
    let decompress = *unsafe { library.get::<Code>("lzo1x_decompress_safe") }.map_err(unusable)?;
    let (mut out, mut len) = (vec![0; n], n);
    // SAFETY: input and output are valid for their lengths, and this function stays within the
    // output. It needs no working memory.
    let code = unsafe { decompress(block.as_ptr(), block.len(), out.as_mut_ptr(), &mut len, null_mut()) };
    out.truncate(len);
    if code == OK { Ok(out) } else { Err(format!("the output does not decode: lzo: code {code}")) }
}

/// Loads the library and initialises it.
fn open() -> Result<Library, String> {
    let library = match std::env::var_os(VARIABLE) {
        Some(path) => {
            load(path.clone()).ok_or_else(|| format!("{} cannot be loaded", Path::new(&path).display()))
        }
        None => USUAL
            .into_iter()
            .find_map(|name| load(name.into()))
            .ok_or_else(|| format!("no liblzo2.so.2 on this machine (or set {VARIABLE})")),
    }?;
    // SAFETY: the types are those of the library's public header for these names.
    let (init, version) = unsafe {
        (
            *library.get::<Init>("__lzo_init_v2").map_err(unusable)?,
            *library.get::<Version>("lzo_version").map_err(unusable)?,
        )
    };
    let size = |bytes: usize| bytes as c_int;
    let word = size(size_of::<Size>());
    let long = size(size_of::<std::ffi::c_long>());
    // SAFETY: plain numbers, which the library compares with its own.
    let code = unsafe { init(version(), 2, 4, long, 4, word, word, word, word, 6 * word) };
    if code == OK { Ok(library) } else { Err(format!("not a usable liblzo2: code {code}")) }
}

fn load(path: OsString) -> Option<Library> {
    // SAFETY: the library has no start-up code of its own. A user who names another library answers
    // for what that one does.
    unsafe { Library::new(path) }.ok()
}

fn unusable(e: libloading::Error) -> String {
    format!("not a usable liblzo2: {e}")
}

impl Encoder for Lzo {
    fn coding(&self) -> Coding {
        Coding::LzoPieces
    }

    fn chunk(&mut self, input: &[u8], _last: bool, out: &mut [u8]) -> Result<usize, String> {
        // LZO's function does not take the capacity of the output. Incompressible data grows by at
        // most a sixteenth and 67 bytes.
        if out.len() < input.len() + input.len() / 16 + 67 {
            return Err("lzo: the output buffer is smaller than its worst case".into());
        }
        let mut len = out.len();
        // SAFETY: input and output are valid for their lengths, the output holds the worst case,
        // and working memory has the size that this variant asks for.
        let code = unsafe {
            let working = self.working.as_mut_ptr().cast();
            (self.compress)(input.as_ptr(), input.len(), out.as_mut_ptr(), &mut len, working)
        };
        if code == OK { Ok(len) } else { Err(format!("lzo: code {code}")) }
    }

    fn scratch_bytes(&self) -> Option<usize> {
        Some(size_of_val(&self.working[..]))
    }

    fn version(&self) -> String {
        self.version.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::output_capacity;

    #[test]
    fn blocks_decode_to_their_content_where_the_library_is_there() {
        let mut lzo = match Lzo::load() {
            Ok(lzo) => lzo,
            Err(why) => {
                eprintln!("skipped: {why}");
                assert!(why.contains("liblzo2"), "{why}");
                return;
            }
        };
        let random = crate::harness::corpus::Corpus::random(10_000).files.remove(0);
        for content in [b"linerate, ".repeat(1000), random, vec![7]] {
            let mut out = vec![0; output_capacity(content.len())];
            let n = lzo.chunk(&content, true, &mut out).expect("compressed");
            assert_eq!(decode(&out[..n], content.len()), Ok(content.clone()));
            assert!(decode(&out[..n - 1], content.len()).is_err());
        }
        assert!(lzo.version().starts_with('2'), "{}", lzo.version());
    }
}
