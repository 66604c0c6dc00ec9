//! The folders of a set of paths, created when they are needed. They stay open, within a limit of
//! open descriptors. Beyond the limit, folders are closed and opened again.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use linerate_core::lock;
use linerate_io::Folder;

/// Number of folders that fits the descriptor table with which a process starts.
const FEW: usize = 32;
/// Number of entries of the descriptor table that are reserved for other open files.
const OTHERS: usize = 256;

/// Treatment of files that already exist when an archive is extracted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Existing {
    /// Keeps the existing file, and reports an error for the archive's file.
    #[default]
    Fail,
    /// Keeps the existing file, and skips the archive's file.
    Skip,
    /// Replaces the existing file atomically, once the new content is written and verified. If it
    /// is a symbolic link, replaces the link, not its target.
    Replace,
}

/// The folders of a set of paths, opened on demand.
pub(crate) struct Tree {
    root: Folder,
    folders: Vec<Node>,
    open: Mutex<OpenFolders>,
}

/// A folder. Number 0 is the root.
struct Node {
    parent: u32,
    name: String,
    /// Whether the folder is known to exist.
    exists: AtomicBool,
}

/// The location of a file: a folder of the tree, and a name in it.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub(crate) folder: u32,
    pub(crate) name: String,
}

impl Tree {
    /// Builds the tree below `root` from checked paths. Also returns the location of each path.
    pub(crate) fn new<'p>(root: Folder, paths: impl Iterator<Item = &'p str>) -> (Tree, Vec<Location>) {
        let mut folders = vec![Node::new(0, "")];
        let mut known: HashMap<&str, u32> = HashMap::from([("", 0)]);
        let locations = paths.map(|path| {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            Location { folder: add(parent, &mut folders, &mut known), name: name.to_owned() }
        });
        let locations = locations.collect();
        let kept = Folder::max_open_folders();
        // A few folders fit the table of descriptors, so the system call is not needed.
        if folders.len() > FEW {
            root.reserve_descriptors(folders.len().min(kept) + OTHERS);
        }
        (Tree { root, folders, open: Mutex::new(OpenFolders::new(kept)) }, locations)
    }

    /// Opens a folder, and creates it if missing.
    ///
    /// # Errors
    ///
    /// Fails if the folder cannot be created or opened, for instance because a file or a link has
    /// its name.
    pub(crate) fn folder(&self, number: u32) -> io::Result<Folder> {
        // Goes up to the nearest open ancestor, and down again.
        let (mut folder, mut chain) = self.nearest(number);
        while let Some(next) = chain.pop() {
            let node = &self.folders[next as usize];
            // Works without the lock, so that other threads need not wait for the system. Two
            // threads may create the same folder.
            folder = match node.exists.load(Ordering::Relaxed) {
                true => folder.subfolder(&node.name)?,
                false => folder.create_subfolder(&node.name)?,
            };
            node.exists.store(true, Ordering::Relaxed);
            self.open().insert(next, folder.clone());
        }
        Ok(folder)
    }

    /// Returns the nearest open folder at or above `number`, and the folders below it down to
    /// `number`, the deepest first.
    fn nearest(&self, number: u32) -> (Folder, Vec<u32>) {
        let (mut open, mut chain, mut at) = (self.open(), Vec::new(), number);
        while at != 0 {
            if let Some(folder) = open.get(at) {
                return (folder, chain);
            }
            chain.push(at);
            at = self.folders[at as usize].parent;
        }
        (self.root.clone(), chain)
    }

    fn open(&self) -> MutexGuard<'_, OpenFolders> {
        lock(&self.open)
    }
}

impl Node {
    fn new(parent: u32, name: &str) -> Node {
        Node { parent, name: name.to_owned(), exists: AtomicBool::new(false) }
    }
}

/// A cache of open folders that approximates LRU by two generations: folders used since the last
/// rotation, and folders used in the generation before.
struct OpenFolders {
    young: HashMap<u32, Folder>,
    old: HashMap<u32, Folder>,
    /// Maximum number of folders in a generation.
    capacity: usize,
}

impl OpenFolders {
    fn new(kept: usize) -> OpenFolders {
        OpenFolders { young: HashMap::new(), old: HashMap::new(), capacity: kept / 2 }
    }

    fn get(&mut self, number: u32) -> Option<Folder> {
        if let Some(folder) = self.young.get(&number) {
            return Some(folder.clone());
        }
        let folder = self.old.remove(&number)?;
        self.insert(number, folder.clone());
        Some(folder)
    }

    fn insert(&mut self, number: u32, folder: Folder) {
        if self.young.len() >= self.capacity {
            self.old = core::mem::take(&mut self.young);
        }
        self.young.insert(number, folder);
    }
}

fn add<'p>(path: &'p str, folders: &mut Vec<Node>, known: &mut HashMap<&'p str, u32>) -> u32 {
    // Goes up to a known ancestor, then down. Not recursive, since paths may be long.
    let mut missing = Vec::new();
    let mut rest = path;
    let mut at = loop {
        if let Some(&number) = known.get(rest) {
            break number;
        }
        missing.push(rest);
        rest = rest.rsplit_once('/').map_or("", |(parent, _)| parent);
    };
    while let Some(path) = missing.pop() {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        folders.push(Node::new(at, name));
        // All paths together have at most 2^32 bytes, so there are fewer folders than that.
        at = (folders.len() - 1) as u32;
        known.insert(path, at);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_folders_are_one_node_and_files_are_created_in_theirs() {
        let place = tempfile::tempdir().unwrap();
        let root = Folder::create_all(place.path()).unwrap();
        let paths = ["a/b/c/1", "a/b/2", "3", "a/b/c/4", "x/5"];
        let (tree, locations) = Tree::new(root, paths.into_iter());
        assert_eq!(tree.folders.len(), 5);
        assert_eq!(locations.iter().map(|p| &*p.name).collect::<Vec<_>>(), ["1", "2", "3", "4", "5"]);
        for (path, at) in paths.iter().zip(&locations) {
            tree.folder(at.folder).unwrap().create(&at.name).unwrap();
            assert!(place.path().join(path).is_file());
        }
    }

    #[test]
    fn deep_and_many_folders_stay_within_the_descriptor_limit() {
        let place = tempfile::tempdir().unwrap();
        let root = Folder::create_all(place.path()).unwrap();
        let deep = "d/".repeat(400) + "file";
        let many: Vec<String> = (0..1500).map(|i| format!("{i}/file")).collect();
        let paths = many.iter().map(String::as_str).chain([&*deep]);
        let (tree, locations) = Tree::new(root, paths);
        locations.iter().for_each(|at| assert!(tree.folder(at.folder).unwrap().create(&at.name).is_ok()));
    }
}
