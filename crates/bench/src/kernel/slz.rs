//! libslz, loaded at run time if the machine has it; never built or linked.

use std::ffi::{OsStr, OsString, c_int, c_long, c_void};
use std::path::{Path, PathBuf};

use libloading::Library;
use linerate_deflate::Format;

use crate::bytes::{Coding, Encoder};

/// Environment variable that names libraries to measure instead of the machine's: a list of paths,
/// as PATH is.
const VARIABLE: &str = "LINERATE_LIBSLZ";
/// File names of the machine's library.
const USUAL: [&str; 2] = ["libslz.so.1", "libslz.so"];

/// Memory for the descriptor of a stream, which has 40 bytes on 64-bit systems. Later versions of
/// libslz may use more of it.
type Descriptor = [u64; 8];
type Init = unsafe extern "C" fn(*mut Descriptor, c_int) -> c_int;
type Encode = unsafe extern "C" fn(*mut Descriptor, *mut c_void, *const c_void, c_long, c_int) -> c_long;
type Finish = unsafe extern "C" fn(*mut Descriptor, *mut c_void) -> c_int;

/// libslz at level 1, with one stream per file, whose bits continue from chunk to chunk.
pub(crate) struct Slz {
    init: Init,
    encode: Encode,
    finish: Finish,
    stream: Box<Descriptor>,
    format: Format,
    version: String,
    // This field is last, so that the library's code outlives the pointers into it.
    _library: Library,
}

impl Slz {
    /// Loads the library at index `library` of [`names`], and takes its functions for `format`.
    pub(crate) fn load(format: Format, library: usize) -> Result<Self, String> {
        let (library, version) = match given(std::env::var_os(VARIABLE).as_deref()).get(library) {
            Some(path) => (open(path)?, version(path).unwrap_or_else(|| "not stated".into())),
            None => (open_usual()?, "not stated".into()),
        };
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
        Ok(Slz { init, encode, finish, stream: Box::new([0; 8]), format, version, _library: library })
    }
}

/// The paths in the value of [`VARIABLE`], if it is set. Empty paths are left out.
fn given(variable: Option<&OsStr>) -> Vec<PathBuf> {
    let all = variable.map(|list| std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()));
    all.into_iter().flatten().collect()
}

/// A contender name for each library that the user names, or for the machine's: `libslz` for the
/// first. The others add the version or, if their path has none, the file name.
pub(crate) fn names() -> Vec<String> {
    names_of(&given(std::env::var_os(VARIABLE).as_deref()))
}

fn names_of(libraries: &[PathBuf]) -> Vec<String> {
    let mut names = vec!["libslz".to_owned()];
    for path in libraries.iter().skip(1) {
        let file = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = format!("libslz {}", version(path).unwrap_or_else(file));
        let same =
            names.iter().filter(|known| **known == name || known.starts_with(&format!("{name} #"))).count();
        names.push(if same == 0 { name } else { format!("{name} #{}", same + 1) });
    }
    names
}

/// The version in a library's path, after following links: three or more numbers, in the name of
/// the file or else of the nearest folder that has one. libslz has no function that returns it.
fn version(path: &Path) -> Option<String> {
    let path = path.canonicalize().unwrap_or_else(|_| path.into());
    let is_version = |text: &&str| text.split('.').filter(|part| !part.is_empty()).count() >= 3;
    path.iter().rev().find_map(|part| {
        let part = part.to_string_lossy();
        let mut runs = part.split(|c: char| !c.is_ascii_digit() && c != '.').map(|run| run.trim_matches('.'));
        runs.rfind(is_version).map(str::to_owned)
    })
}

fn open_usual() -> Result<Library, String> {
    let found = USUAL.into_iter().find_map(|name| open(Path::new(name)).ok());
    found.ok_or_else(|| format!("no libslz.so.1 on this machine (or set {VARIABLE})"))
}

fn open(path: &Path) -> Result<Library, String> {
    // SAFETY: libslz's start-up code only fills its own tables. A user who names another library
    // answers for what that one does.
    unsafe { Library::new(OsString::from(path)) }.map_err(|_| format!("{} cannot be loaded", path.display()))
}

impl Encoder for Slz {
    fn coding(&self) -> Coding {
        Coding::Stream(self.format)
    }

    fn begin(&mut self) -> Result<(), String> {
        *self.stream = [0; 8];
        // SAFETY: the descriptor is zeroed, aligned to 8 and at least as large as libslz's.
        unsafe { (self.init)(&mut *self.stream, 1) };
        Ok(())
    }

    /// Encodes a chunk as a proxy does, which learns only afterwards that a chunk was the last: the
    /// stream is ended in a call of its own.
    fn chunk(&mut self, input: &[u8], last: bool, out: &mut [u8]) -> Result<usize, String> {
        // libslz does not take the size of the output. Its fixed codes take at most 9 bits for each
        // byte, and a trailer less than 64 bytes.
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

    /// Size of the hash table that each call of libslz keeps on the stack, according to libslz's
    /// documentation.
    fn scratch_bytes(&self) -> Option<usize> {
        Some(65_536)
    }

    fn version(&self) -> String {
        self.version.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_named_library_is_a_contender_of_its_own() {
        let given = |list: &str| given(Some(OsStr::new(list)));
        assert_eq!(names_of(&given("")), ["libslz"]);
        assert_eq!(names_of(&given("/a/libslz.so.1")), ["libslz"]);
        let list = given("/absent/slz-1.2.1/libslz.so.1:/absent/slz-1.3.0/libslz.so.1:/b/slz.so:/c/slz.so");
        assert_eq!(names_of(&list), ["libslz", "libslz 1.3.0", "libslz slz.so", "libslz slz.so #2"]);
    }

    #[test]
    fn versions_are_those_of_the_file_or_its_folder() {
        let of = |path: &str| version(Path::new(path));
        assert_eq!(of("/absent/slz-1.3.0/libslz.so.1"), Some("1.3.0".into()));
        assert_eq!(of("/absent/10.20.30/libslz.so.1.2.1"), Some("1.2.1".into()));
        assert_eq!((of("libslz.so.1"), of("/absent/v1.3/libslz.so")), (None, None));
    }

    #[test]
    fn a_library_that_is_not_there_is_named() {
        assert!(open(Path::new("/absent/libslz.so")).is_err_and(|why| why.contains("/absent/libslz.so")));
    }
}
