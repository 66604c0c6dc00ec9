//! A file on a server as a source, with its first bytes cached.

use std::io;

use linerate_core::{Error, Kind, Result};

use super::response::FileVersion;
use super::retry::RetryClient;

use crate::read_at::ReadAt;

/// Number of bytes that opening a file requests and caches. They hold many headers, and whole small
/// files.
const FIRST_READ: usize = 4096;

/// Source for a file on a server. Holds the file's version and its first bytes.
#[derive(Debug)]
pub(super) struct RemoteFile {
    client: RetryClient,
    version: FileVersion,
    first: Vec<u8>,
}

impl RemoteFile {
    /// Opens a file by requesting its first bytes.
    pub(super) fn open(client: RetryClient) -> Result<RemoteFile> {
        let (mut first, mut version) = (vec![0; FIRST_READ], None);
        let len = client.fetch(0, &mut first, &mut version)?;
        first.truncate(len);
        let version = version.ok_or(Error::new(Kind::Truncated, 0, "the file is empty"))?;
        Ok(RemoteFile { client, version, first })
    }
}

impl ReadAt for RemoteFile {
    fn len(&self) -> u64 {
        self.version.len
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(out.len() as u64).filter(|end| *end <= self.version.len);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        if end <= self.first.len() as u64 {
            // Both offsets are at most `FIRST_READ`.
            out.copy_from_slice(&self.first[offset as usize..end as usize]);
            return Ok(());
        }
        self.client.fetch(offset, out, &mut Some(self.version.clone()))?;
        Ok(())
    }

    fn end(&self) -> Option<Error> {
        self.client.end()
    }

    fn coalesce_limit(&self) -> u64 {
        self.client.options().coalesce_limit
    }
}
