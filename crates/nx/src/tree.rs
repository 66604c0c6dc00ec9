//! The folders that a set of paths needs, each of them once.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use linerate_io::Folder;

/// Folders for which no room need be made.
const FEW: usize = 32;
/// Files that are open beside the folders, or a few more.
const OTHERS: usize = 256;

/// The folders of a set of paths, opened as they are needed.
pub(crate) struct Tree {
    root: Folder,
    folders: Vec<Node>,
    open: Mutex<Open>,
}

/// A folder, the root being number 0.
struct Node {
    parent: u32,
    name: String,
    /// Whether it has been made, or was there.
    made: AtomicBool,
}

/// Where a file goes: a folder of the tree, and a name in it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) folder: u32,
    pub(crate) name: String,
}

impl Tree {
    /// The tree below `root` of paths that have been checked, and the place of each.
    pub(crate) fn of<'p>(root: Folder, paths: impl Iterator<Item = &'p str>) -> (Tree, Vec<Place>) {
        let mut folders = vec![Node::new(0, "")];
        let mut known: HashMap<&str, u32> = HashMap::from([("", 0)]);
        let places = paths.map(|path| {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            Place { folder: add(parent, &mut folders, &mut known), name: name.to_owned() }
        });
        let places = places.collect();
        let kept = Folder::max_open_folders();
        // Those that systems have room for from the start are not worth a call.
        if folders.len() > FEW {
            root.reserve_descriptors(folders.len().min(kept) + OTHERS);
        }
        (Tree { root, folders, open: Mutex::new(Open::new(kept)) }, places)
    }

    /// The folder of that number, made if it is not there.
    ///
    /// # Errors
    ///
    /// Those of making and opening it, such as that a file or a link has its name.
    pub(crate) fn folder(&self, number: u32) -> io::Result<Folder> {
        // From the folder up to one that is open, and down again.
        let (mut folder, mut chain) = self.nearest(number);
        while let Some(next) = chain.pop() {
            let node = &self.folders[next as usize];
            // Without the lock: others need not wait for the system. Two threads may make one folder.
            folder = match node.made.load(Ordering::Relaxed) {
                true => folder.subfolder(&node.name)?,
                false => folder.create_subfolder(&node.name)?,
            };
            node.made.store(true, Ordering::Relaxed);
            self.open().keep(next, folder.clone());
        }
        Ok(folder)
    }

    /// The nearest open folder at or above that one, and those below it that lead there, last first.
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

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Node {
    fn new(parent: u32, name: &str) -> Node {
        Node { parent, name: name.to_owned(), made: AtomicBool::new(false) }
    }
}

/// Folders that are kept open: those used since the last change of generations, and those of the
/// generation before.
struct Open {
    young: HashMap<u32, Folder>,
    old: HashMap<u32, Folder>,
    /// Most folders of a generation.
    most: usize,
}

impl Open {
    fn new(kept: usize) -> Open {
        Open { young: HashMap::new(), old: HashMap::new(), most: kept / 2 }
    }

    fn get(&mut self, number: u32) -> Option<Folder> {
        if let Some(folder) = self.young.get(&number) {
            return Some(folder.clone());
        }
        let folder = self.old.remove(&number)?;
        self.keep(number, folder.clone());
        Some(folder)
    }

    fn keep(&mut self, number: u32, folder: Folder) {
        if self.young.len() >= self.most {
            self.old = core::mem::take(&mut self.young);
        }
        self.young.insert(number, folder);
    }
}

fn add<'p>(path: &'p str, folders: &mut Vec<Node>, known: &mut HashMap<&'p str, u32>) -> u32 {
    // Up to an ancestor that is known, then down: without recursion, since paths may be long.
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
        // At most 2^32 bytes of paths, so fewer folders.
        at = (folders.len() - 1) as u32;
        known.insert(path, at);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_is_made_once_and_files_find_theirs() {
        let place = tempfile::tempdir().unwrap();
        let root = Folder::create_all(place.path()).unwrap();
        let paths = ["a/b/c/1", "a/b/2", "3", "a/b/c/4", "x/5"];
        let (tree, places) = Tree::of(root, paths.into_iter());
        assert_eq!(tree.folders.len(), 5);
        assert_eq!(places.iter().map(|p| &*p.name).collect::<Vec<_>>(), ["1", "2", "3", "4", "5"]);
        for (path, at) in paths.iter().zip(&places) {
            tree.folder(at.folder).unwrap().create(&at.name).unwrap();
            assert!(place.path().join(path).is_file());
        }
    }

    #[test]
    fn deep_and_many_folders_stay_within_the_descriptors() {
        let place = tempfile::tempdir().unwrap();
        let root = Folder::create_all(place.path()).unwrap();
        let deep = "d/".repeat(400) + "file";
        let many: Vec<String> = (0..1500).map(|i| format!("{i}/file")).collect();
        let paths = many.iter().map(String::as_str).chain([&*deep]);
        let (tree, places) = Tree::of(root, paths);
        places.iter().for_each(|at| assert!(tree.folder(at.folder).unwrap().create(&at.name).is_ok()));
    }
}
