//! Files that are written through a memory map.

use std::fs::File;
use std::io;

use memmap2::MmapMut;

/// Maps a file into memory, to write to it. This process must have just created the file, and no
/// other process may use it.
pub(crate) fn map_for_writing(file: &File) -> io::Result<MmapMut> {
    // SAFETY: the file is new, under a name that others have no reason to use, and its length stays
    // as long as the map is there.
    unsafe { MmapMut::map_mut(file) }
}
