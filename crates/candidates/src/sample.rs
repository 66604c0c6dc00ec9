//! Takes a sample of files, of about a given size, evenly spread over all of their bytes.
//!
//! Files are sorted by extension, name and path, so that neighbours are similar. In that order they
//! are divided into windows. A window is some neighbouring small files, or a piece of a large file.
//! Stratified sampling divides the bytes into equal strata, chooses one byte at random in each, and
//! takes the window in which it lies. So each type of file has its share of the sample, and a large
//! file has a larger share than a small one. Always taking the first byte of a stratum could keep
//! step with folders whose content repeats. Windows are taken whole, so that the blocks formed
//! within them are like those of the whole data.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A file to compress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The path below the given folder, with `/` between components. For a file that was itself
    /// given, its name. Bytes that are not UTF-8 are replaced.
    pub name: String,
    /// The path from which the file is read.
    pub path: PathBuf,
    /// Size in bytes.
    pub size: u64,
}

impl Entry {
    /// Returns the last component of the name.
    fn last(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// Returns what follows the last dot of the last component, in lower case; empty if there is no
    /// dot.
    pub(super) fn extension(&self) -> String {
        self.last().rsplit_once('.').map_or_else(String::new, |(_, extension)| extension.to_lowercase())
    }
}

/// The files of the user's data, in an order in which neighbours are similar.
#[derive(Clone, Debug, Default)]
pub struct FileSet {
    /// The files that are not empty, sorted by extension, by last component and by name.
    pub files: Vec<Entry>,
    /// Total size of these files in bytes.
    pub bytes: u64,
}

/// Part of a file, or all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Index of the file in [`FileSet::files`].
    pub file: usize,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub len: u64,
}

/// A part of the data that is sampled as a whole: some neighbouring small files, or a piece of a
/// large file.
pub type Window = Vec<Piece>;

/// A file, or a piece of one, that was read into memory.
pub struct Content {
    /// A name that no other content has. It ends with the name of the file.
    pub name: String,
    /// The bytes that were read.
    pub bytes: Vec<u8>,
    /// Whether the content is part of a larger file.
    pub is_part: bool,
}

impl FileSet {
    /// Finds the files that are not empty at these paths and below them. Links are followed only at
    /// the paths themselves. Below folders, anything but regular files and folders is skipped.
    ///
    /// # Errors
    /// Returns a sentence that names the path that cannot be read, or says that there is no file
    /// with content.
    pub fn new(paths: &[PathBuf]) -> Result<FileSet, String> {
        let mut set = FileSet::default();
        for path in paths {
            set.add(path).map_err(|(path, e)| format!("{}: {e}", path.display()))?;
        }
        set.files.sort_by_cached_key(|file| (file.extension(), file.last().to_owned(), file.name.clone()));
        set.bytes = set.files.iter().map(|file| file.size).sum();
        match (set.bytes, paths.first()) {
            (0, Some(first)) => {
                Err(format!("{}: nothing to compress: there is no file with content", first.display()))
            }
            (0, None) => Err("nothing to compress: no file is given".into()),
            _ => Ok(set),
        }
    }

    fn add(&mut self, root: &Path) -> Result<(), (PathBuf, io::Error)> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |e| (path, e)
        };
        let found = fs::metadata(root).map_err(at(root))?;
        if !found.is_dir() {
            let name = root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            self.push(name, root.to_owned(), found.len());
            return Ok(());
        }
        let mut folders = vec![(root.to_owned(), String::new())];
        while let Some((folder, prefix)) = folders.pop() {
            for entry in fs::read_dir(&folder).map_err(at(&folder))? {
                let entry = entry.map_err(at(&folder))?;
                let (path, name) = (entry.path(), format!("{prefix}{}", entry.file_name().to_string_lossy()));
                let kind = entry.file_type().map_err(at(&path))?;
                if kind.is_dir() {
                    folders.push((path, format!("{name}/")));
                } else if kind.is_file() {
                    let size = entry.metadata().map_err(at(&path))?.len();
                    self.push(name, path, size);
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, name: String, path: PathBuf, size: u64) {
        if size > 0 {
            self.files.push(Entry { name, path, size });
        }
    }

    /// Divides the data into windows of about `size` bytes. A file above `size` is divided into
    /// pieces of `size` bytes, the last of which may be smaller, and each is a window. Smaller
    /// files fill a window until it has at least `size` bytes; only the last may have fewer. The
    /// iterator makes one window at a time, since a TB may have millions of them.
    pub fn windows(&self, size: u64) -> impl Iterator<Item = Window> {
        let whole = |(file, entry): (usize, &Entry)| Piece { file, offset: 0, len: entry.size };
        divide(self.files.iter().enumerate().map(whole), size)
    }

    /// Chooses windows of about `size` bytes, evenly spread over the data, with about `bytes` bytes
    /// together. The same data and arguments give the same choice. Returns all windows if they have
    /// no more than `bytes` bytes together, or if there are no more of them than the sample should
    /// have.
    pub fn spread(&self, size: u64, bytes: u64, seed: u64) -> Vec<Window> {
        spread(|| self.windows(size), self.bytes, size, bytes, seed)
    }

    /// Reads the pieces of a window, in order.
    ///
    /// # Errors
    /// Returns a sentence that names the file that cannot be read, also because it has become
    /// shorter.
    pub fn read(&self, window: &[Piece]) -> Result<Vec<Content>, String> {
        window.iter().map(|piece| self.piece(piece)).collect()
    }

    fn piece(&self, piece: &Piece) -> Result<Content, String> {
        let entry = &self.files[piece.file];
        let is_part = piece.len < entry.size;
        let mut bytes = vec![0; piece.len as usize];
        let read = || {
            let mut file = File::open(&entry.path)?;
            if piece.offset > 0 {
                file.seek(SeekFrom::Start(piece.offset))?;
            }
            file.read_exact(&mut bytes)
        };
        let mut read = read;
        read().map_err(|e: io::Error| format!("{}: {e}", entry.path.display()))?;
        let name = match is_part {
            true => format!("{}/{}/{}", piece.file, piece.offset, entry.name),
            false => format!("{}/{}", piece.file, entry.name),
        };
        Ok(Content { name, bytes, is_part })
    }
}

/// Divides pieces into windows of about `size` bytes. A piece above `size` is divided into pieces
/// of `size` bytes, the last of which may be smaller, and each is a window. Smaller pieces fill a
/// window until it has at least `size` bytes; only the last may have fewer.
pub(super) fn divide(pieces: impl Iterator<Item = Piece>, size: u64) -> impl Iterator<Item = Window> {
    let (mut open, mut filled) = (Window::new(), 0);
    pieces.map(Some).chain([None]).flat_map(move |piece| {
        let (large, small) = match piece {
            Some(piece) if piece.len > size => (Some(piece), None),
            _ => (None, piece),
        };
        filled += small.map_or(0, |piece| piece.len);
        open.extend(small);
        let ends = filled >= size || piece.is_none() && filled > 0;
        let whole = ends.then(|| {
            filled = 0;
            std::mem::take(&mut open)
        });
        let cut = large.into_iter().flat_map(move |piece| {
            let part = move |at| Piece { offset: piece.offset + at, len: size.min(piece.len - at), ..piece };
            (0..piece.len.div_ceil(size)).map(move |i| vec![part(i * size)])
        });
        whole.into_iter().chain(cut)
    })
}

/// Chooses from `windows`, which have about `size` bytes each and `all` bytes together, as
/// [`FileSet::spread`] does.
pub(super) fn spread<W: Iterator<Item = Window>>(
    windows: impl Fn() -> W,
    all: u64,
    size: u64,
    bytes: u64,
    seed: u64,
) -> Vec<Window> {
    let count = bytes.div_ceil(size).max(1);
    if bytes >= all || windows().nth(count as usize).is_none() {
        return windows().collect();
    }
    let mut random = Uniform::new(seed, size);
    let step = all as f64 / count as f64;
    let (mut stratum, mut next, mut end) = (0.0, random.next() * step, 0.0);
    windows()
        .filter(|window| {
            end += length(window) as f64;
            let taken = next < end;
            while next < end {
                stratum += 1.0;
                next = (stratum + random.next()) * step;
            }
            taken
        })
        .collect()
}

/// Returns the number of bytes in a window.
pub fn length(window: &[Piece]) -> u64 {
    window.iter().map(|piece| piece.len).sum()
}

/// Random numbers from 0 to below 1, the same on every machine: splitmix64 (Steele, Lea and Flood
/// 2014).
struct Uniform(u64);

impl Uniform {
    /// Mixes the seed with the size of windows, so that samples with other windows are at other
    /// places.
    fn new(seed: u64, size: u64) -> Uniform {
        let mut of_seed = Uniform(seed);
        let mut of_size = Uniform(of_seed.bits() ^ size);
        Uniform(of_size.bits())
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn next(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(sizes: &[u64]) -> FileSet {
        let entry = |(i, &size): (usize, &u64)| Entry {
            name: format!("{i:03}.bin"),
            path: PathBuf::from(format!("/nowhere/{i:03}.bin")),
            size,
        };
        let files: Vec<Entry> = sizes.iter().enumerate().map(entry).collect();
        FileSet { bytes: sizes.iter().sum(), files }
    }

    #[test]
    fn windows_cover_every_byte_once() {
        let set = set(&[10, 20, 100, 5, 95, 250, 1]);
        let windows: Vec<Window> = set.windows(100).collect();
        let mut covered: Vec<Vec<(u64, u64)>> = vec![Vec::new(); set.files.len()];
        for piece in windows.iter().flatten() {
            covered[piece.file].push((piece.offset, piece.offset + piece.len));
        }
        for (file, pieces) in set.files.iter().zip(covered) {
            let ends = pieces.iter().fold(0, |at, &(start, end)| {
                assert_eq!(start, at, "{}", file.name);
                end
            });
            assert_eq!(ends, file.size, "{}", file.name);
        }
        assert!(windows.iter().all(|window| length(window) <= 200));
    }

    #[test]
    fn sample_of_one_tenth_is_spread_and_the_same_every_time() {
        let set = set(&[1000; 1000]);
        let sample = set.spread(1000, 100_000, 7);
        assert_eq!(sample, set.spread(1000, 100_000, 7));
        assert_ne!(sample, set.spread(1000, 100_000, 8));
        assert_eq!(sample.len(), 100);
        for tenth in 0..10 {
            let inside = |window: &&Window| window[0].file / 100 == tenth;
            assert_eq!(sample.iter().filter(inside).count(), 10, "part {tenth}");
        }
    }

    #[test]
    fn sample_larger_than_the_data_is_all_of_it() {
        let set = set(&[10, 300, 20]);
        assert_eq!(set.spread(100, 1000, 1), set.windows(100).collect::<Vec<_>>());
    }

    #[test]
    fn large_file_gets_its_share_beside_many_small_ones() {
        let mut sizes = vec![10; 1000];
        sizes.push(10_000);
        let set = set(&sizes);
        let sample = set.spread(100, 2000, 3);
        let large: u64 = sample.iter().flatten().filter(|p| p.file == 1000).map(|p| p.len).sum();
        let all: u64 = sample.iter().map(|window| length(window)).sum();
        assert!((0.4..0.6).contains(&(large as f64 / all as f64)), "{large} of {all}");
    }

    #[test]
    fn files_are_ordered_by_extension_and_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [("b.txt", "bee"), ("a.json", "{}"), ("sub/c.txt", "sea"), ("empty", "")] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("writable");
            fs::write(path, text).expect("writable");
        }
        let set = FileSet::new(&[folder.path().to_owned()]).expect("readable");
        let names: Vec<&str> = set.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["a.json", "b.txt", "sub/c.txt"]);
        assert_eq!(set.bytes, 8);
        let parts = set.read(&[Piece { file: 1, offset: 1, len: 2 }]).expect("readable");
        assert_eq!((parts[0].bytes.as_slice(), parts[0].is_part), (&b"ee"[..], true));
        fs::write(folder.path().join("b.txt"), "b").expect("writable");
        let error = set.read(&[Piece { file: 1, offset: 1, len: 2 }]).err().expect("an error");
        assert!(error.contains("b.txt"), "{error}");
    }

    #[test]
    fn folder_without_content_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = FileSet::new(&[folder.path().to_owned()]).unwrap_err();
        assert!(
            error.contains("nothing to compress") && error.contains(&folder.path().display().to_string())
        );
        let error = FileSet::new(&[folder.path().join("absent")]).unwrap_err();
        assert!(error.contains("absent"), "{error}");
    }
}
