//! Where files that are read in parallel go, and how far the work is.

use crate::error::FileError;

/// Receives files that [`Loader::deliver`](crate::Loader::deliver) or
/// [`Batch::deliver`](crate::shared::Batch::deliver) reads in parallel. A file is identified by its
/// index in the list of requested files.
///
/// A file of at most a chunk, including an empty one, arrives whole in one call of
/// [`write_file`](Self::write_file), after its hash was checked. A larger file arrives in calls of
/// [`write_range`](Self::write_range), one for each of its blocks, from several threads and in any
/// order, before its hash is known. Then [`commit`](Self::commit) is called if all ranges arrived
/// and the hash matches, else [`discard`](Self::discard), which also follows a failed `commit`. If
/// hashes are not checked, every hash counts as matching.
///
/// The threads that decode call these methods. An error of a method is the error of the file, and
/// other files are still read. Only a [`FileError::Output`] for a full disk stops the work.
pub trait Destination: Send + Sync {
    /// Receives a whole file, whose hash matches.
    ///
    /// # Errors
    ///
    /// Returns any error of the destination. It becomes the error of the file.
    fn write_file(&self, file: usize, bytes: &[u8]) -> core::result::Result<(), FileError>;

    /// Receives a range of a file larger than a chunk, before the hash of the file is checked.
    /// `offset` is in bytes from the start of the file.
    ///
    /// # Errors
    ///
    /// Returns any error of the destination. It becomes the error of the file.
    fn write_range(&self, file: usize, offset: u64, bytes: &[u8]) -> core::result::Result<(), FileError>;

    /// Completes a file larger than a chunk: all of its ranges were written, and its hash matches.
    /// By default, does nothing.
    ///
    /// # Errors
    ///
    /// Returns any error of the destination. It becomes the error of the file.
    fn commit(&self, file: usize) -> core::result::Result<(), FileError> {
        let _ = file;
        Ok(())
    }

    /// Discards a file larger than a chunk that failed, or that was begun and incomplete when the
    /// work stopped. Other threads may still pass ranges of the file to
    /// [`write_range`](Self::write_range) meanwhile or afterwards. By default, does nothing.
    fn discard(&self, file: usize) {
        let _ = file;
    }

    /// Returns whether to skip the file. By default, no file is skipped.
    ///
    /// The threads that decode call this method:
    /// * for a file larger than a chunk once, before one of its blocks is read;
    /// * for an empty file once, just before it is written;
    /// * for the other files of a block in their order, before the block is read, until one is not
    ///   skipped. If all are skipped and no larger file needs the block, it is not read. Otherwise
    ///   the method is called for that file a second time, and for the files after it once, just
    ///   before each is written. It is not called again for files that a damaged block loses.
    ///
    /// If the source coalesces reads
    /// ([`coalesce_limit`](linerate_io::ReadAt::coalesce_limit) is not 0), the calling thread first
    /// calls this method for every file that is not empty, before anything is read. It is called
    /// again as described for the files that are not skipped then.
    ///
    /// After an error for a file, it must return an error again when it is called for that file.
    ///
    /// # Errors
    ///
    /// Returns any error of the destination. It becomes the error of the file.
    fn skips(&self, file: usize) -> core::result::Result<bool, FileError> {
        let _ = file;
        Ok(false)
    }
}

/// Progress of reading files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files done, including failed and skipped ones.
    pub files: u64,
    /// Bytes of content passed on. Skipped files add nothing.
    pub bytes: u64,
    /// Files in total, including skipped ones.
    pub total_files: u64,
    /// Bytes of content in all files, including skipped ones.
    pub total_bytes: u64,
}

/// An owned progress callback. It returns whether to continue.
pub(crate) type OnProgress<'a> = Box<dyn Fn(&Progress) -> bool + Sync + 'a>;

/// A borrowed progress callback. The thread that decoded or skipped a block calls it afterwards;
/// `false` stops the work.
pub(crate) type ProgressFn<'w> = &'w (dyn Fn(&Progress) -> bool + Sync);
