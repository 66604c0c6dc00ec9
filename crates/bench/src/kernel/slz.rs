//! libslz, loaded at run time where the machine has it; never built or linked.

use std::ffi::{c_int, c_long, c_void};

use libloading::Library;
use linerate_deflate::Format;

use crate::contender::{Coding, Contender};

/// Names another library to try, before the usual ones.
const VARIABLE: &str = "LINERATE_LIBSLZ";

/// The descriptor is 40 bytes on 64-bit systems; later versions may use more.
type Descriptor = [u64; 8];
type Init = unsafe extern "C" fn(*mut Descriptor, c_int) -> c_int;
type Encode = unsafe extern "C" fn(*mut Descriptor, *mut c_void, *const c_void, c_long, c_int) -> c_long;
type Finish = unsafe extern "C" fn(*mut Descriptor, *mut c_void) -> c_int;

/// libslz at level 1: one stream per file, bits continuing from chunk to chunk.
pub(crate) struct Slz {
    init: Init,
    encode: Encode,
    finish: Finish,
    stream: Box<Descriptor>,
    format: Format,
    // Last, so that the code outlives the pointers into it.
    _library: Library,
}

impl Slz {
    pub(crate) fn load(format: Format) -> Result<Self, String> {
        let library = open()?;
        let rfc = match format {
            Format::Deflate => 1951,
            Format::Zlib => 1950,
            Format::Gzip => 1952,
        };
        let missing = |e: libloading::Error| format!("not a usable libslz: {e}");
        // SAFETY: the types are those of libslz's public header for these names.
        let (init, encode, finish) = unsafe {
            (
                *library.get::<Init>(format!("slz_rfc{rfc}_init")).map_err(missing)?,
                *library.get::<Encode>(format!("slz_rfc{rfc}_encode")).map_err(missing)?,
                *library.get::<Finish>(format!("slz_rfc{rfc}_finish")).map_err(missing)?,
            )
        };
        Ok(Slz { init, encode, finish, stream: Box::new([0; 8]), format, _library: library })
    }
}

fn open() -> Result<Library, String> {
    let named = std::env::var_os(VARIABLE);
    let usual = ["libslz.so.1", "libslz.so"].map(Into::into);
    for name in named.clone().into_iter().chain(usual) {
        // SAFETY: libslz's start-up code only fills its own tables; a user who names another
        // library answers for what that one does.
        if let Ok(library) = unsafe { Library::new(name) } {
            return Ok(library);
        }
    }
    Err(match named {
        Some(name) => format!("{VARIABLE}={} cannot be loaded", name.to_string_lossy()),
        None => format!("no libslz.so.1 on this machine (or set {VARIABLE})"),
    })
}

impl Contender for Slz {
    fn coding(&self) -> Coding {
        Coding::Stream(self.format)
    }

    fn begin(&mut self) -> Result<(), String> {
        *self.stream = [0; 8];
        // SAFETY: the descriptor is zeroed, aligned to 8 and at least as large as libslz's.
        unsafe { (self.init)(&mut *self.stream, 1) };
        Ok(())
    }

    /// As a proxy does it: that a chunk was the last is known only after it.
    fn chunk(&mut self, input: &[u8], last: bool, out: &mut [u8]) -> Result<usize, String> {
        // libslz takes no output size. Its fixed codes cost at most 9 bits for each byte, and a
        // trailer is less than 64 bytes.
        if out.len() < 2 * input.len() + 1024 {
            return Err("libslz: the output buffer is smaller than its worst case".into());
        }
        // SAFETY: the descriptor was initialised; input and output are valid for their lengths,
        // and the output holds more than libslz can write.
        let n = unsafe {
            (self.encode)(
                &mut *self.stream,
                out.as_mut_ptr().cast(),
                input.as_ptr().cast(),
                input.len() as c_long,
                1,
            )
        };
        let n = usize::try_from(n).map_err(|_| format!("libslz: code {n}"))?;
        if !last {
            return Ok(n);
        }
        let rest = &mut out[n..];
        assert!(rest.len() >= 64, "libslz wrote more than 9 bits for each byte");
        // SAFETY: the descriptor was initialised, and the trailer fits.
        Ok(n + unsafe { (self.finish)(&mut *self.stream, rest.as_mut_ptr().cast()) } as usize)
    }

    fn state_bytes(&self) -> Option<usize> {
        Some(40)
    }

    /// The hash table that each call keeps on the stack, as documented.
    fn scratch_bytes(&self) -> Option<usize> {
        Some(65_536)
    }

    fn version(&self) -> String {
        "not stated".into()
    }
}
