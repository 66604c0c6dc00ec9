//! The tree of an archive as a read-only FUSE file system. The kernel and the shared cache both
//! cache contents.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, LockOwner,
    OpenAccMode, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyStatfs, Request,
};
use linerate_core::lock;

use linerate_io::ReadAt;

use super::tree::{Kind, Node, Tree};
use crate::shared::{OpenFile, SharedArchive};

/// Time for which the kernel may keep entries and attributes. An open archive does not change.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Block size in bytes: the read size that `stat` recommends, and the unit in which `statfs`
/// counts.
const BLOCK: u32 = 4096;

/// An open file. One thread at a time uses its position.
type Handle<S> = Arc<Mutex<OpenFile<S>>>;

pub(super) struct ArchiveFs<S> {
    shared: SharedArchive<S>,
    tree: Tree,
    owner: (u32, u32),
    open: Mutex<HashMap<u64, Handle<S>>>,
    next_handle: AtomicU64,
}

impl<S: ReadAt + 'static> ArchiveFs<S> {
    /// Creates the file system. Everything in it belongs to `owner`, the ids of a user and a group.
    pub(super) fn new(shared: SharedArchive<S>, tree: Tree, owner: (u32, u32)) -> ArchiveFs<S> {
        ArchiveFs { shared, tree, owner, open: Mutex::default(), next_handle: AtomicU64::new(1) }
    }

    fn node(&self, inode: u64) -> Result<&Node, Errno> {
        self.tree.node(inode).ok_or(Errno::ENOENT)
    }

    fn attributes(&self, inode: u64) -> Result<FileAttr, Errno> {
        let node = self.node(inode)?;
        let size = match &node.kind {
            Kind::Folder(_) => 0,
            Kind::File(_, size) => *size,
            Kind::Link(target) => target.len() as u64,
        };
        Ok(FileAttr {
            ino: INodeNo(inode),
            size,
            blocks: size.div_ceil(512),
            atime: node.modified,
            mtime: node.modified,
            ctime: node.modified,
            crtime: node.modified,
            kind: file_type(&node.kind),
            perm: node.mode,
            nlink: if matches!(node.kind, Kind::Folder(_)) { 2 } else { 1 },
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: BLOCK,
            flags: 0,
        })
    }

    fn find(&self, folder: u64, name: &OsStr) -> Result<FileAttr, Errno> {
        let name = name.to_str().ok_or(Errno::ENOENT)?;
        self.attributes(self.tree.lookup(folder, name).ok_or(Errno::ENOENT)?)
    }

    /// Returns the entries of a folder from a number on, each with the number of the next entry.
    /// The first two entries are the folder itself and its parent.
    fn entries(
        &self,
        inode: u64,
        from: u64,
    ) -> Result<impl Iterator<Item = (u64, u64, FileType, &str)>, Errno> {
        let node = self.node(inode)?;
        let Kind::Folder(entries) = &node.kind else { return Err(Errno::ENOTDIR) };
        let dots = [(".", inode), ("..", node.parent)].into_iter();
        let all = dots.chain(entries.iter().map(|(name, inode)| (name.as_str(), *inode)));
        let typed = |(name, inode)| {
            let kind = self.tree.node(inode).map_or(FileType::RegularFile, |node| file_type(&node.kind));
            (inode, kind, name)
        };
        let numbered = (1..).zip(all).skip(usize::try_from(from).unwrap_or(usize::MAX));
        Ok(numbered.map(move |(next, entry)| {
            let (inode, kind, name) = typed(entry);
            (next, inode, kind, name)
        }))
    }

    fn open_file(&self, inode: u64) -> Result<u64, Errno> {
        let index = match self.node(inode)?.kind {
            Kind::File(index, _) => index as usize,
            Kind::Folder(_) => return Err(Errno::EISDIR),
            Kind::Link(_) => return Err(Errno::ELOOP),
        };
        let file = self.shared.archive().get(index).ok_or(Errno::ENOENT)?;
        let file = self.shared.open_file(file).map_err(|error| errno(&error.into()))?;
        let handle = self.next_handle.fetch_add(1, Ordering::Relaxed);
        self.handles().insert(handle, Arc::new(Mutex::new(file)));
        Ok(handle)
    }

    fn read_file(&self, handle: u64, offset: u64, size: u32) -> Result<Vec<u8>, Errno> {
        let file = self.handles().get(&handle).cloned().ok_or(Errno::EBADF)?;
        let mut file = lock(&file);
        let left = file.size().saturating_sub(offset);
        let mut out = vec![0; left.min(u64::from(size)) as usize];
        let len = file.read_at(offset, &mut out).map_err(|error| errno(&error))?;
        out.truncate(len);
        Ok(out)
    }

    fn handles(&self) -> MutexGuard<'_, HashMap<u64, Handle<S>>> {
        lock(&self.open)
    }
}

fn file_type(kind: &Kind) -> FileType {
    match kind {
        Kind::Folder(_) => FileType::Directory,
        Kind::File(..) => FileType::RegularFile,
        Kind::Link(_) => FileType::Symlink,
    }
}

/// Returns the system's error number that an engine's error has, or `EIO` if there is none.
fn errno(error: &io::Error) -> Errno {
    let engine = error.get_ref().and_then(|inner| inner.downcast_ref::<linerate_core::Error>());
    let number = engine.and_then(|engine| engine.os).map(|number| number.get());
    match number {
        Some(number) => Errno::from_i32(number),
        None => Errno::EIO,
    }
}

impl<S: ReadAt + 'static> Filesystem for ArchiveFs<S> {
    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.find(parent.0, name) {
            Ok(attributes) => reply.entry(&FOREVER, &attributes, Generation(0)),
            Err(error) => reply.error(error),
        }
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(ino.0) {
            Ok(attributes) => reply.attr(&FOREVER, &attributes),
            Err(error) => reply.error(error),
        }
    }

    fn readlink(&self, _req: &Request, ino: INodeNo, reply: ReplyData) {
        match self.node(ino.0).map(|node| &node.kind) {
            Ok(Kind::Link(target)) => reply.data(target.as_bytes()),
            Ok(_) => reply.error(Errno::EINVAL),
            Err(error) => reply.error(error),
        }
    }

    fn open(&self, _req: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        if flags.acc_mode() != OpenAccMode::O_RDONLY {
            return reply.error(Errno::EROFS);
        }
        match self.open_file(ino.0) {
            Ok(handle) => reply.opened(FileHandle(handle), FopenFlags::FOPEN_KEEP_CACHE),
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.read_file(fh.0, offset, size) {
            Ok(bytes) => reply.data(&bytes),
            Err(error) => reply.error(error),
        }
    }

    fn release(
        &self,
        _req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        self.handles().remove(&fh.0);
        reply.ok();
    }

    fn readdir(&self, _req: &Request, ino: INodeNo, _fh: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let entries = match self.entries(ino.0, offset) {
            Ok(entries) => entries,
            Err(error) => return reply.error(error),
        };
        for (next, inode, kind, name) in entries {
            if reply.add(INodeNo(inode), next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _req: &Request, _ino: INodeNo, reply: ReplyStatfs) {
        let blocks = self.tree.bytes.div_ceil(u64::from(BLOCK));
        reply.statfs(blocks, 0, 0, self.tree.len(), 0, BLOCK, 255, BLOCK);
    }
}

#[cfg(all(test, feature = "pack"))]
mod tests {
    use std::time::SystemTime;

    use super::super::tree::ROOT;
    use super::*;
    use crate::Archive;
    use crate::pack::{Builder, Coding, PackOptions};

    fn filesystem(damaged: bool) -> (ArchiveFs<Vec<u8>>, Vec<u8>) {
        let large: Vec<u8> = (0..200_000u32).map(|i| (i / 7 % 251) as u8).collect();
        let mut options = PackOptions { chunk: 32 << 10, solid_limit: 4095, ..PackOptions::default() };
        options.chunked = Coding::zstd(1);
        let mut builder = Builder::new(options).unwrap();
        builder.add_bytes("folder/large", large.clone()).unwrap();
        builder.add_bytes("small", "some text").unwrap();
        builder.add_bytes("empty", "").unwrap();
        let mut bytes = builder.to_bytes().unwrap().0;
        if damaged {
            let archive = Archive::open(bytes.clone()).unwrap();
            let first = archive.find("folder/large").unwrap().blocks().start;
            let at = archive.layout().offset(first + 2) as usize;
            bytes[at..at + 8].fill(0);
        }
        let shared = SharedArchive::new(Archive::open(bytes).unwrap()).unwrap();
        let tree = Tree::new(shared.archive(), None, SystemTime::UNIX_EPOCH);
        (ArchiveFs::new(shared, tree, (7, 8)), large)
    }

    #[test]
    fn entries_and_attributes_are_those_of_the_archive() {
        let (fs, large) = filesystem(false);
        let names = |from| -> Vec<String> {
            fs.entries(ROOT, from).unwrap().map(|(_, _, _, name)| name.to_owned()).collect()
        };
        assert_eq!(names(0), [".", "..", "empty", "folder", "small"]);
        assert_eq!(names(3), ["folder", "small"]);
        assert!(names(5).is_empty() && names(u64::MAX).is_empty());
        let nexts: Vec<u64> = fs.entries(ROOT, 1).unwrap().map(|(next, ..)| next).collect();
        assert_eq!(nexts, [2, 3, 4, 5]);
        let folder = fs.find(ROOT, OsStr::new("folder")).unwrap();
        assert_eq!((folder.kind, folder.perm, folder.uid, folder.gid), (FileType::Directory, 0o555, 7, 8));
        let file = fs.find(folder.ino.0, OsStr::new("large")).unwrap();
        assert_eq!((file.kind, file.perm, file.size), (FileType::RegularFile, 0o444, large.len() as u64));
        assert!(fs.find(ROOT, OsStr::new("none")).is_err() && fs.entries(file.ino.0, 0).is_err());
        assert!(fs.open_file(ROOT).is_err() && fs.attributes(99).is_err());
    }

    #[test]
    fn reads_end_with_the_file_and_handles_with_release() {
        let (fs, large) = filesystem(false);
        let folder = fs.tree.lookup(ROOT, "folder").unwrap();
        let handle = fs.open_file(fs.tree.lookup(folder, "large").unwrap()).unwrap();
        let len = large.len() as u64;
        for (offset, size) in
            [(0, 4096), (32_000, 131_072), (len - 5, 4096), (len, 1), (u64::MAX, 10), (7, 0)]
        {
            let expected = large.get(offset as usize..).unwrap_or_default();
            let expected = &expected[..expected.len().min(size as usize)];
            assert!(fs.read_file(handle, offset, size).unwrap() == expected, "{offset}, {size}");
        }
        let empty = fs.open_file(fs.tree.lookup(ROOT, "empty").unwrap()).unwrap();
        assert_eq!(fs.read_file(empty, 0, 10).unwrap(), b"");
        fs.handles().remove(&handle);
        assert!(fs.read_file(handle, 0, 1).is_err());
    }

    #[test]
    fn damage_is_an_error_of_its_block_only() {
        let (fs, large) = filesystem(true);
        let folder = fs.tree.lookup(ROOT, "folder").unwrap();
        let handle = fs.open_file(fs.tree.lookup(folder, "large").unwrap()).unwrap();
        let chunk = 32 << 10;
        for at in [0, chunk, 3 * chunk] {
            assert!(fs.read_file(handle, at as u64, 1000).unwrap() == large[at..at + 1000]);
        }
        assert!(fs.read_file(handle, 2 * chunk as u64, 1000).is_err());
    }
}
