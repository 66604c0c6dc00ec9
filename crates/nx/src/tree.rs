//! The folders that a set of paths needs, each of them once.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use crate::folder::Folder;

/// Folders that are kept open at once, well below the 1024 files that systems allow.
const KEPT_OPEN: usize = 256;

/// The folders of a set of paths, opened as they are needed.
pub(crate) struct Tree {
    root: Folder,
    /// The parent of each folder and its name there. Folder 0 is the root.
    folders: Vec<(u32, String)>,
    open: Mutex<HashMap<u32, Folder>>,
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
        let mut folders = vec![(0, String::new())];
        let mut known: HashMap<&str, u32> = HashMap::from([("", 0)]);
        let places = paths.map(|path| {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            Place { folder: add(parent, &mut folders, &mut known), name: name.to_owned() }
        });
        let places = places.collect();
        (Tree { root, folders, open: Mutex::default() }, places)
    }

    /// The folder of that number, made if it is not there.
    ///
    /// # Errors
    ///
    /// Those of making and opening it, such as that a file or a link has its name.
    pub(crate) fn folder(&self, number: u32) -> io::Result<Folder> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // From the folder up to one that is open, and down again.
        let mut chain = Vec::new();
        let mut at = number;
        let mut folder = loop {
            match (at, open.get(&at)) {
                (0, _) => break self.root.clone(),
                (_, Some(folder)) => break folder.clone(),
                _ => chain.push(at),
            }
            at = self.folders[at as usize].0;
        };
        while let Some(next) = chain.pop() {
            folder = folder.enter(&self.folders[next as usize].1)?;
            if open.len() >= KEPT_OPEN {
                open.clear();
            }
            open.insert(next, folder.clone());
        }
        Ok(folder)
    }
}

fn add<'p>(path: &'p str, folders: &mut Vec<(u32, String)>, known: &mut HashMap<&'p str, u32>) -> u32 {
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
        folders.push((at, name.to_owned()));
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
        let root = Folder::root(place.path()).unwrap();
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
        let root = Folder::root(place.path()).unwrap();
        let deep = "d/".repeat(400) + "file";
        let many: Vec<String> = (0..1500).map(|i| format!("{i}/file")).collect();
        let paths = many.iter().map(String::as_str).chain([&*deep]);
        let (tree, places) = Tree::of(root, paths);
        places.iter().for_each(|at| assert!(tree.folder(at.folder).unwrap().create(&at.name).is_ok()));
    }
}
