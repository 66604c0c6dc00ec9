//! Loads libhdf5 at run time, if the machine has it, to list the integer datasets of a file and to
//! read their numbers.
//!
//! HDF5 must not be called from several threads at once. A [`File`] holds the library's lock while
//! it is open, so a thread must close it before it opens another.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock};

use libloading::Library;
use linerate_core::lock;

/// Environment variable that names the library to load, instead of those in `NAMES`. On Windows it
/// is needed.
const VARIABLE: &str = "LINERATE_LIBHDF5";
/// Names of libhdf5 on Linux and macOS, in the order in which they are tried. `serial` is in the
/// names of Debian and Ubuntu. The numbers are versions of its interface: 103 belongs to HDF5 1.10,
/// and 310 to HDF5 1.14.
const NAMES: [&str; 9] = [
    "libhdf5_serial.so.310",
    "libhdf5_serial.so.103",
    "libhdf5.so.320",
    "libhdf5.so.310",
    "libhdf5.so.200",
    "libhdf5.so.103",
    "libhdf5_serial.so",
    "libhdf5.so",
    "libhdf5.dylib",
];

/// HDF5's identifiers, which have 64 bits since HDF5 1.10.
type Hid = i64;
/// HDF5's sizes and positions, counted in integers of a dataset.
type Hsize = u64;

// Constants of HDF5's public headers, the same in all versions from 1.10 on.
const DEFAULT: Hid = 0;
const READ_ONLY: c_uint = 0;
const INDEX_BY_NAME: c_int = 0;
const INCREASING: c_int = 0;
const HARD_LINK: c_int = 0;
const INTEGER: c_int = 0;
const LITTLE_ENDIAN: c_int = 0;
const SELECT_SET: c_int = 0;
const CHUNKED: c_int = 2;
/// Largest number of axes of a dataset.
const MAX_RANK: usize = 32;

type Close = unsafe extern "C" fn(Hid) -> c_int;
type OnLink = unsafe extern "C" fn(Hid, *const c_char, *const c_void, *mut c_void) -> c_int;
type Visit = unsafe extern "C" fn(Hid, c_int, c_int, OnLink, *mut c_void) -> c_int;

macro_rules! functions {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        /// Pointers to the functions of the library, with their names in it.
        #[allow(non_snake_case)]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) -> $result,)*
            /// `H5Lvisit`, whose name depends on the version.
            visit: Visit,
            // Last, so that the code outlives the pointers into it.
            _library: Library,
        }

        impl Functions {
            fn find(library: Library) -> Result<Functions, libloading::Error> {
                // SAFETY: the types are those of HDF5's public headers, 1.10 and newer, for these
                // names. The two forms of `H5Lvisit` differ in the fields of a structure, of which
                // only the first is read.
                unsafe {
                    let visit = ["H5Lvisit2", "H5Lvisit1"]
                        .into_iter()
                        .find_map(|name| library.get::<Visit>(name).ok().map(|found| *found));
                    Ok(Functions {
                        $($name: *library.get(stringify!($name))?,)*
                        visit: match visit {
                            Some(visit) => visit,
                            None => *library.get("H5Lvisit")?,
                        },
                        _library: library,
                    })
                }
            }
        }
    };
}

functions! {
    H5open() -> c_int;
    H5Eset_auto2(Hid, *const c_void, *const c_void) -> c_int;
    H5get_libversion(*mut c_uint, *mut c_uint, *mut c_uint) -> c_int;
    H5Fopen(*const c_char, c_uint, Hid) -> Hid;
    H5Fclose(Hid) -> c_int;
    H5Dopen2(Hid, *const c_char, Hid) -> Hid;
    H5Dclose(Hid) -> c_int;
    H5Dget_type(Hid) -> Hid;
    H5Dget_space(Hid) -> Hid;
    H5Dget_create_plist(Hid) -> Hid;
    H5Dread(Hid, Hid, Hid, Hid, Hid, *mut c_void) -> c_int;
    H5Tget_class(Hid) -> c_int;
    H5Tget_size(Hid) -> usize;
    H5Tget_sign(Hid) -> c_int;
    H5Tget_order(Hid) -> c_int;
    H5Tclose(Hid) -> c_int;
    H5Sget_simple_extent_ndims(Hid) -> c_int;
    H5Sget_simple_extent_dims(Hid, *mut Hsize, *mut Hsize) -> c_int;
    H5Sselect_hyperslab(Hid, c_int, *const Hsize, *const Hsize, *const Hsize, *const Hsize) -> c_int;
    H5Screate_simple(c_int, *const Hsize, *const Hsize) -> Hid;
    H5Sclose(Hid) -> c_int;
    H5Pget_layout(Hid) -> c_int;
    H5Pget_chunk(Hid, c_int, *mut Hsize) -> c_int;
    H5Pclose(Hid) -> c_int;
}

/// Returns the library, locked: waits while a [`File`] is open. The first call loads it for the
/// whole process, and later calls repeat its error if that failed.
fn library() -> Result<MutexGuard<'static, Functions>, String> {
    static LOADED: OnceLock<Result<Mutex<Functions>, String>> = OnceLock::new();
    match LOADED.get_or_init(|| load().map(Mutex::new)) {
        Ok(functions) => Ok(lock(functions)),
        Err(what) => Err(what.clone()),
    }
}

fn load() -> Result<Functions, String> {
    let named = std::env::var_os(VARIABLE);
    // SAFETY: HDF5's start-up code only fills its own tables. A user who names another library
    // answers for its start-up code.
    let open = |name: &std::ffi::OsStr| unsafe { Library::new(name) };
    let found = match &named {
        Some(name) => open(name).map_err(|e| format!("{VARIABLE}: {e}"))?,
        None => NAMES.iter().find_map(|name| open(name.as_ref()).ok()).ok_or_else(|| {
            format!(
                "HDF5 files are read through libhdf5, which this machine lacks: install the package libhdf5-310 \
                 (Debian 13, Ubuntu 24.10), libhdf5-103-1 (Debian 12) or hdf5 (Fedora, Arch, Homebrew), or name the \
                 library in {VARIABLE}"
            )
        })?,
    };
    let functions =
        Functions::find(found).map_err(|e| format!("libhdf5 of this machine cannot be used: {e}"))?;
    let (mut major, mut minor, mut release) = (0, 0, 0);
    // `H5Eset_auto2` removes the handler that prints errors.
    // SAFETY: the library is loaded, and the three numbers are valid to write to.
    let opened = unsafe {
        (functions.H5get_libversion)(&mut major, &mut minor, &mut release);
        (functions.H5open)() >= 0
            && (functions.H5Eset_auto2)(DEFAULT, std::ptr::null(), std::ptr::null()) >= 0
    };
    match opened && (major, minor) >= (1, 10) {
        true => Ok(functions),
        false => {
            Err(format!("libhdf5 {major}.{minor}.{release} is too old or does not start: 1.10 is needed"))
        }
    }
}

/// An identifier that is closed when it is dropped.
struct Object {
    id: Hid,
    close: Close,
}

impl Object {
    /// Returns `None` if `id` is negative, which means an error.
    fn new(id: Hid, close: Close) -> Option<Object> {
        (id >= 0).then_some(Object { id, close })
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: the identifier was opened for this object and is closed once; its library is
        // loaded, and locked as long as a `File` exists.
        unsafe { (self.close)(self.id) };
    }
}

/// The type of a dataset's numbers: integers of 2 or 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    /// Size in bytes.
    pub(crate) size: usize,
    /// Whether the integers are signed.
    pub(crate) signed: bool,
}

/// A dataset of little-endian integers of 2 or 4 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dataset {
    /// Path in the file, beginning with `/`.
    pub(crate) name: String,
    /// Type of the numbers.
    pub(crate) samples: Type,
    /// Length of each axis, counted in integers; there is at least one axis.
    pub(crate) shape: Vec<u64>,
    /// Length of each axis of a chunk, counted in integers; `None` for a dataset without chunks.
    pub(crate) chunk: Option<Vec<u64>>,
}

/// An open HDF5 file.
pub(crate) struct File {
    // Declared before the lock, so that the file is closed before the lock is released.
    file: Object,
    functions: MutexGuard<'static, Functions>,
}

impl File {
    /// Opens a file for reading. Waits while another is open.
    ///
    /// # Errors
    /// Returns a sentence if the library is missing, too old or does not start, or if it cannot
    /// open the file, usually because that is not an HDF5 file or is damaged.
    pub(crate) fn open(path: &Path) -> Result<File, String> {
        let functions = library()?;
        let no_name = || "the name of an HDF5 file cannot contain a NUL byte".to_owned();
        let name = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|_| no_name())?;
        // SAFETY: the name ends with NUL; the library is locked.
        let id = unsafe { (functions.H5Fopen)(name.as_ptr(), READ_ONLY, DEFAULT) };
        let file = Object::new(id, functions.H5Fclose)
            .ok_or("libhdf5 cannot open it: it is not an HDF5 file, or is damaged")?;
        Ok(File { file, functions })
    }

    /// Returns the datasets of little-endian integers with 2 or 4 bytes, in the order of their
    /// names, and the number of other datasets. Soft and external links are not followed.
    pub(crate) fn datasets(&self) -> (Vec<Dataset>, usize) {
        unsafe extern "C" fn collect(
            _: Hid,
            name: *const c_char,
            info: *const c_void,
            names: *mut c_void,
        ) -> c_int {
            // SAFETY: HDF5 passes a NUL-terminated name, a structure whose first field is the kind
            // of link in every version, and the pointer to the list, which nothing else uses
            // meanwhile.
            let (name, kind, names) =
                unsafe { (CStr::from_ptr(name), *info.cast::<c_int>(), &mut *names.cast::<Vec<CString>>()) };
            // Soft and external links lead to objects with another name, or to another file.
            if kind == HARD_LINK {
                names.push(name.to_owned());
            }
            0
        }
        let mut names: Vec<CString> = Vec::new();
        let list: *mut c_void = (&raw mut names).cast();
        // SAFETY: the file is open; `collect` uses `list` with the type that it has.
        unsafe { (self.functions.visit)(self.file.id, INDEX_BY_NAME, INCREASING, collect, list) };
        let (mut found, mut others) = (Vec::new(), 0);
        for name in names {
            // Groups and types also have names.
            let Some(dataset) = self.dataset(&name) else { continue };
            match self.describe(&dataset, format!("/{}", name.to_string_lossy())) {
                Some(dataset) => found.push(dataset),
                None => others += 1,
            }
        }
        (found, others)
    }

    fn dataset(&self, name: &CStr) -> Option<Object> {
        // SAFETY: the file is open, and the name ends with NUL.
        let id = unsafe { (self.functions.H5Dopen2)(self.file.id, name.as_ptr(), DEFAULT) };
        Object::new(id, self.functions.H5Dclose)
    }

    fn space(&self, dataset: &Object) -> Option<Object> {
        // SAFETY: the dataset is open.
        Object::new(unsafe { (self.functions.H5Dget_space)(dataset.id) }, self.functions.H5Sclose)
    }

    fn kind(&self, dataset: &Object) -> Option<Object> {
        // SAFETY: the dataset is open.
        Object::new(unsafe { (self.functions.H5Dget_type)(dataset.id) }, self.functions.H5Tclose)
    }

    /// Describes a dataset. Returns `None` unless it has axes, and little-endian integers of 2 or 4
    /// bytes.
    fn describe(&self, dataset: &Object, name: String) -> Option<Dataset> {
        let functions = &*self.functions;
        let (kind, space) = (self.kind(dataset)?, self.space(dataset)?);
        // SAFETY: these functions query a type that is open.
        let (class, size, sign, order) = unsafe {
            (
                (functions.H5Tget_class)(kind.id),
                (functions.H5Tget_size)(kind.id),
                (functions.H5Tget_sign)(kind.id),
                (functions.H5Tget_order)(kind.id),
            )
        };
        if class != INTEGER || order != LITTLE_ENDIAN || !matches!(size, 2 | 4) {
            return None;
        }
        let mut shape = [0; MAX_RANK];
        // SAFETY: the space is open; the axes are written only if there is room for all of them.
        let rank = unsafe {
            let rank = (functions.H5Sget_simple_extent_ndims)(space.id);
            let rank = usize::try_from(rank).ok().filter(|rank| (1..=MAX_RANK).contains(rank))?;
            (functions.H5Sget_simple_extent_dims)(space.id, shape.as_mut_ptr(), std::ptr::null_mut());
            rank
        };
        // SAFETY: the dataset is open.
        let made = unsafe { (functions.H5Dget_create_plist)(dataset.id) };
        let made = Object::new(made, functions.H5Pclose)?;
        let mut chunk = [0; MAX_RANK];
        // SAFETY: the list of properties is open; there is room for as many axes as the dataset
        // has.
        let layout = unsafe {
            let layout = (functions.H5Pget_layout)(made.id);
            if layout == CHUNKED {
                (functions.H5Pget_chunk)(made.id, rank as c_int, chunk.as_mut_ptr());
            }
            layout
        };
        Some(Dataset {
            name,
            samples: Type { size, signed: sign != 0 },
            shape: shape[..rank].to_vec(),
            chunk: (layout == CHUNKED).then(|| chunk[..rank].to_vec()),
        })
    }

    /// Reads a box of numbers, and returns their little-endian bytes, the last axis fastest. Along
    /// each axis, the box begins at `start` and has `count` numbers.
    ///
    /// # Errors
    /// Returns a sentence if the plugin of a filter is missing, the file is damaged or was
    /// replaced, or the box is empty, not within the dataset or larger than the address space.
    pub(crate) fn read(&self, of: &Dataset, start: &[u64], count: &[u64]) -> Result<Vec<u8>, String> {
        let failed = |what: &str| format!("{}: {what}", of.name);
        let rank = of.shape.len();
        let inside = |axis: usize| {
            start[axis].checked_add(count[axis]).is_some_and(|end| count[axis] > 0 && end <= of.shape[axis])
        };
        if start.len() != rank || count.len() != rank || !(0..rank).all(inside) {
            return Err(failed("the part to read is not within the dataset"));
        }
        let samples = count.iter().try_fold(1u64, |all, &n| all.checked_mul(n));
        let bytes = samples.and_then(|n| usize::try_from(n).ok()?.checked_mul(of.samples.size));
        let mut into = vec![0u8; bytes.ok_or_else(|| failed("the part to read is larger than memory"))?];
        let functions = &*self.functions;
        let mut read = || {
            let name = CString::new(of.name.as_str()).ok()?;
            let dataset = self.dataset(&name)?;
            if self.describe(&dataset, of.name.clone())? != *of {
                return None;
            }
            let (kind, space) = (self.kind(&dataset)?, self.space(&dataset)?);
            // SAFETY: all objects are open. `start` and `count` have one number for each axis, and
            // `into` has room for the box, since the dataset still is as `of` describes it.
            let done = unsafe {
                let memory = (functions.H5Screate_simple)(rank as c_int, count.as_ptr(), std::ptr::null());
                let memory = Object::new(memory, functions.H5Sclose)?;
                let none = std::ptr::null();
                let (from, most) = (start.as_ptr(), count.as_ptr());
                let chosen = (functions.H5Sselect_hyperslab)(space.id, SELECT_SET, from, none, most, none);
                let out = into.as_mut_ptr().cast();
                chosen >= 0
                    && (functions.H5Dread)(dataset.id, kind.id, memory.id, space.id, DEFAULT, out) >= 0
            };
            done.then_some(())
        };
        read().ok_or_else(|| {
            failed("libhdf5 cannot read it: is the plugin of its filter in HDF5_PLUGIN_PATH?")
        })?;
        Ok(into)
    }
}
