//! A file as memory, read as it is touched and given back when memory is short.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// The whole of a regular file, to be read from its start to its end.
pub(crate) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the pages are mapped for reading and we never write to the file. That nobody else
    // changes it meanwhile is what we ask of our users: bytes that change are samples that change,
    // none of which is invalid, and pages that vanish end the program by SIGBUS.
    let map = unsafe { Mmap::map(file) }?;
    // A hint: without it everything still works.
    #[cfg(unix)]
    let _ = map.advise(memmap2::Advice::Sequential);
    Ok(map)
}
