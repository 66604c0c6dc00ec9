//! The source of a file's bytes. It is read at offsets, as often as needed.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use linerate_core::Kind;

use super::error::{PackError, PackResult};
use super::existing::ExistingEntry;
use super::options::FileOptions;

/// A file to pack.
pub(super) struct Item {
    /// The path in the archive.
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) content: Content,
    pub(super) file_options: FileOptions,
}

pub(super) enum Content {
    Bytes(Vec<u8>),
    Path(PathBuf),
    /// A range of the temporary file with the content of readers.
    Spooled {
        file: Arc<File>,
        offset: u64,
    },
    /// An entry of an existing archive.
    Existing(ExistingEntry),
}

impl Item {
    /// Fills `out` with the content from `offset`. The range must lie within `size`.
    ///
    /// # Errors
    /// Fails if the content cannot be read, or if a file on disk has another length than `size`,
    /// because it has changed since it was added. The error names the path in the archive.
    pub(super) fn read_at(&self, offset: u64, out: &mut [u8]) -> PackResult<()> {
        self.try_read_at(offset, out).map_err(|error| error.at(self.name.as_str()))
    }

    fn try_read_at(&self, offset: u64, out: &mut [u8]) -> PackResult<()> {
        match &self.content {
            Content::Bytes(bytes) => {
                let start = offset as usize;
                out.copy_from_slice(&bytes[start..start + out.len()]);
                Ok(())
            }
            Content::Path(path) => {
                let file = File::open(path).map_err(PackError::reading)?;
                if file.metadata().map_err(PackError::reading)?.len() != self.size {
                    return Err(changed());
                }
                read_file(&file, offset, out)
            }
            Content::Spooled { file, offset: start } => read_file(file, start + offset, out),
            Content::Existing(existing) => existing.read_at(offset, out),
        }
    }
}

/// The error for a file that changed after it was added.
pub(super) fn changed() -> PackError {
    PackError::rule(Kind::Read, "the file changed while it was packed")
}

/// The error for an item whose content does not match its known hash.
pub(super) fn mismatch(item: &Item) -> PackError {
    let error = match item.content {
        Content::Existing(_) => {
            PackError::rule(Kind::Corrupt, "the content in the archive does not match its hash")
        }
        _ => changed(),
    };
    error.at(item.name.as_str())
}

/// Fills `out` from `offset`. A file that ends early has changed since it was added.
fn read_file(file: &File, offset: u64, out: &mut [u8]) -> PackResult<()> {
    linerate_io::read_exact_at(file, offset, out).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => changed(),
        _ => PackError::reading(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(size: u64, content: Content) -> Item {
        Item { name: "a/b".into(), size, content, file_options: FileOptions::default() }
    }

    #[test]
    fn every_kind_of_content_reads_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        std::fs::write(&path, b"..0123456789").expect("a file");
        let spool = Arc::new(File::open(&path).expect("the file"));
        let kinds = [
            item(10, Content::Bytes(b"0123456789".to_vec())),
            item(10, Content::Spooled { file: spool, offset: 2 }),
            {
                let path = folder.path().join("y");
                std::fs::write(&path, b"0123456789").expect("a file");
                item(10, Content::Path(path))
            },
        ];
        for item in kinds {
            let mut out = [0; 4];
            item.read_at(3, &mut out).expect("within the file");
            assert_eq!(&out, b"3456");
        }
    }

    #[test]
    fn changed_or_missing_file_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        std::fs::write(&path, b"0123").expect("a file");
        for size in [3, 5] {
            let error = item(size, Content::Path(path.clone())).read_at(0, &mut [0; 2]).expect_err("changed");
            assert_eq!(error.to_string(), "a/b: the file changed while it was packed");
        }
        let error = item(4, Content::Path(folder.path().join("gone"))).read_at(0, &mut [0; 2]);
        assert_eq!(error.expect_err("gone").file(), Some(std::path::Path::new("a/b")));
    }
}
