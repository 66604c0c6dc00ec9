//! The folders, files and links of an archive as inodes.

use std::collections::HashMap;
use std::time::SystemTime;

use linerate_io::ReadAt;

use crate::format::paths::check_path;
use crate::metadata::{Attributes, Metadata, check_target};
use crate::read::archive::Archive;

/// The inode of the root folder. Node `i` has inode `i + ROOT`.
pub(super) const ROOT: u64 = 1;

/// Number of folders, files and links from which no more folders are added: four times the maximum
/// number of files in an archive. Crafted paths with thousands of folders each could need far more
/// nodes.
const MAX_NODES: usize = 1 << 22;

/// The kind of a node, with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Names and inodes of the entries, sorted by name.
    Folder(Vec<(String, u64)>),
    /// The index of the file in the archive, and its size in bytes.
    File(u32, u64),
    Link(String),
}

/// A folder, file or link.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) parent: u64,
    pub(super) kind: Kind,
    pub(super) mode: u16,
    pub(super) modified: SystemTime,
}

/// All nodes. The root is the first.
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Total size of all files in bytes.
    pub(super) bytes: u64,
    /// Number of files and links that are not in the tree. Their paths are unsafe, taken, or below
    /// a file or link; or their folders exceed [`MAX_NODES`]. Links are also left out if they lead
    /// out of the folder.
    pub(super) left_out: u64,
}

impl Tree {
    /// Builds the tree of an archive. Everything without metadata gets the modification time
    /// `modified` and can be read by all users.
    pub(super) fn new<S: ReadAt>(
        archive: &Archive<S>,
        metadata: Option<&Metadata>,
        modified: SystemTime,
    ) -> Tree {
        let mut building = Building::new(modified);
        for file in archive.files() {
            let kind = Kind::File(file.index() as u32, file.size());
            building.add(file.path(), kind, metadata.and_then(|found| found.files.get(file.path())));
        }
        for (path, link) in metadata.iter().flat_map(|found| &found.links) {
            let attributes = Attributes { modified: link.modified, mode: Some(0o777) };
            match check_target(path, &link.target) {
                Ok(()) => building.add(path, Kind::Link(link.target.clone()), Some(&attributes)),
                Err(_) => building.tree.left_out += 1,
            }
        }
        for (path, attributes) in metadata.iter().flat_map(|found| &found.folders) {
            building.add_folder(path, attributes);
        }
        building.finish()
    }

    pub(super) fn node(&self, inode: u64) -> Option<&Node> {
        self.nodes.get(usize::try_from(inode.checked_sub(ROOT)?).ok()?)
    }

    /// Returns the inode of an entry of a folder.
    pub(super) fn lookup(&self, folder: u64, name: &str) -> Option<u64> {
        let Kind::Folder(entries) = &self.node(folder)?.kind else { return None };
        let at = entries.binary_search_by(|(entry, _)| entry.as_str().cmp(name)).ok()?;
        Some(entries[at].1)
    }

    pub(super) fn len(&self) -> u64 {
        self.nodes.len() as u64
    }
}

/// A tree being built. Its nodes are found by folder and name.
struct Building {
    tree: Tree,
    /// Inodes of all nodes by folder and name.
    entries: HashMap<(u64, String), u64>,
    modified: SystemTime,
}

impl Building {
    fn new(modified: SystemTime) -> Building {
        let root = Node { parent: ROOT, kind: Kind::Folder(Vec::new()), mode: 0o555, modified };
        let tree = Tree { nodes: vec![root], bytes: 0, left_out: 0 };
        Building { tree, entries: HashMap::new(), modified }
    }

    fn add(&mut self, path: &str, kind: Kind, attributes: Option<&Attributes>) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let parent = check_path(path).ok().and_then(|()| self.folder(folder));
        let Some(parent) = parent.filter(|parent| !self.entries.contains_key(&(*parent, name.to_owned())))
        else {
            self.tree.left_out += 1;
            return;
        };
        if let Kind::File(_, size) = kind {
            self.tree.bytes = self.tree.bytes.saturating_add(size);
        }
        self.insert(parent, name, kind, 0o444);
        self.describe(attributes);
    }

    /// Adds a folder, which may be empty, with its attributes. Leaves it out if its path is unsafe
    /// or taken, or there are too many nodes.
    fn add_folder(&mut self, path: &str, attributes: &Attributes) {
        let found = check_path(path).ok().and_then(|()| self.folder(path));
        if let Some(node) = found.and_then(|inode| self.tree.nodes.get_mut((inode - ROOT) as usize)) {
            set_attributes(node, attributes);
        }
    }

    /// Returns the inode of a folder, and creates it and its parents if necessary. `None` if a file
    /// or link has the path of one of them, or there are too many nodes.
    fn folder(&mut self, path: &str) -> Option<u64> {
        let mut parent = ROOT;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            parent = match self.entries.get(&(parent, name.to_owned())) {
                Some(inode) if matches!(self.tree.node(*inode)?.kind, Kind::Folder(_)) => *inode,
                Some(_) => return None,
                None if self.tree.nodes.len() >= MAX_NODES => return None,
                None => self.insert(parent, name, Kind::Folder(Vec::new()), 0o555),
            };
        }
        Some(parent)
    }

    fn insert(&mut self, parent: u64, name: &str, kind: Kind, mode: u16) -> u64 {
        self.tree.nodes.push(Node { parent, kind, mode, modified: self.modified });
        let inode = self.tree.nodes.len() as u64 - 1 + ROOT;
        self.entries.insert((parent, name.to_owned()), inode);
        inode
    }

    /// Sets the attributes of the newest node.
    fn describe(&mut self, attributes: Option<&Attributes>) {
        if let (Some(node), Some(attributes)) = (self.tree.nodes.last_mut(), attributes) {
            set_attributes(node, attributes);
        }
    }

    fn finish(mut self) -> Tree {
        for ((parent, name), inode) in self.entries {
            if let Kind::Folder(entries) = &mut self.tree.nodes[(parent - ROOT) as usize].kind {
                entries.push((name, inode));
            }
        }
        for node in &mut self.tree.nodes {
            if let Kind::Folder(entries) = &mut node.kind {
                entries.sort_unstable();
            }
        }
        self.tree
    }
}

fn set_attributes(node: &mut Node, attributes: &Attributes) {
    if let Some(modified) = attributes.modified.system() {
        node.modified = modified;
    }
    if let Some(mode) = attributes.mode {
        node.mode = mode;
    }
}

#[cfg(all(test, feature = "pack"))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::metadata::{Link, Time};
    use crate::pack::{Builder, PackOptions};

    fn names(tree: &Tree, inode: u64) -> Vec<&str> {
        match &tree.node(inode).unwrap().kind {
            Kind::Folder(entries) => entries.iter().map(|(name, _)| name.as_str()).collect(),
            _ => panic!("no folder"),
        }
    }

    #[test]
    fn paths_are_folders_and_entries_are_found_by_name() {
        let mut builder = Builder::new(PackOptions::default()).unwrap();
        for path in ["b/c/2", "a", "b/1", "b/c/10"] {
            builder.add_bytes(path, path.as_bytes()).unwrap();
        }
        let archive = Archive::open(builder.to_bytes().unwrap().0).unwrap();
        let attributes = |seconds, mode| Attributes { modified: Time { seconds, nanoseconds: 0 }, mode };
        let link = |target: &str| Link { target: target.into(), modified: Time::default() };
        let mut metadata = Metadata::default();
        metadata.files.insert("a".into(), attributes(1000, Some(0o750)));
        metadata.folders.insert("b".into(), attributes(2000, None));
        metadata.folders.insert("empty/inner".into(), attributes(3000, Some(0o700)));
        metadata.folders.insert("a".into(), attributes(9, None));
        metadata.links.insert("b/inside".into(), link("../a"));
        metadata.links.insert("b/outside".into(), link("../../a"));
        metadata.links.insert("b/1".into(), link("c"));
        let tree = Tree::new(&archive, Some(&metadata), SystemTime::UNIX_EPOCH);
        assert_eq!((tree.len(), tree.bytes, tree.left_out), (10, 5 + 1 + 3 + 6, 2));
        assert_eq!(names(&tree, ROOT), ["a", "b", "empty"]);
        let b = tree.lookup(ROOT, "b").unwrap();
        assert_eq!(names(&tree, b), ["1", "c", "inside"]);
        let c = tree.lookup(b, "c").unwrap();
        assert_eq!((names(&tree, c), tree.node(c).unwrap().parent), (vec!["10", "2"], b));
        assert_eq!(tree.node(tree.lookup(b, "inside").unwrap()).unwrap().kind, Kind::Link("../a".into()));
        let node = |inode: u64| tree.node(inode).unwrap();
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let a = tree.lookup(ROOT, "a").unwrap();
        assert_eq!((node(a).mode, node(a).modified), (0o750, at(1000)), "not those of a folder of its name");
        assert_eq!((node(b).mode, node(b).modified), (0o555, at(2000)));
        let inner = tree.lookup(tree.lookup(ROOT, "empty").unwrap(), "inner").unwrap();
        assert_eq!((node(inner).mode, names(&tree, inner).len()), (0o700, 0));
        assert_eq!((tree.lookup(b, "none"), tree.lookup(a, "b"), tree.lookup(99, "a")), (None, None, None));
        assert!(tree.node(0).is_none() && tree.node(11).is_none());
    }
}
