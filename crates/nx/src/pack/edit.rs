//! Makes archives from archives: merges, deletes files, updates from a folder, repacks.
//!
//! Each function returns a [`Builder`], to which more files can be added. The source archive may be
//! the target: it is replaced when the new one is complete.

use std::collections::HashMap;
use std::sync::Arc;

use linerate_core::Kind;
use linerate_io::ReadAt;

use super::cancel::CancelToken;
use super::compare::{Wanted, compare};
use super::content::{Content, Item};
use super::error::{PackError, PackResult};
use super::existing::{CachedArchive, ExistingEntry, Reuse};
use super::names::Names;
use super::options::{Coding, FileOptions, MAX_CHUNK, MAX_LZ4_LEVEL, PackOptions};
use super::progress::Stage;
use super::walk::{Skipped, Walk};
use super::{Builder, WalkEntry, names};
use crate::format::hash::HashKind;
use crate::format::paths::folder_clashes;
use crate::format::toc::Codec;
use crate::metadata::Metadata;
use crate::read::archive::{Archive, File};
use crate::read::memory::{check_limits, threads_for_any_block};
use crate::read::reader::Reader;

/// The changes found by [`Builder::update`], as paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// Files of the folder that are not in the archive.
    pub added: Vec<String>,
    /// Files with other bytes in the folder.
    pub replaced: Vec<String>,
    /// Number of files that are equal in the folder and the archive.
    pub unchanged: u64,
    /// Files of the archive that are removed because they are not in the folder. With `mirror`
    /// these are all such files; otherwise only those whose path is a folder now, or lies below a
    /// path that is a file now.
    pub removed: Vec<String>,
}

/// Which file [`Builder::merge`] takes if several archives have the same path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clash {
    /// Neither: a clash is an error, unless the files have the same size and hash; then the first
    /// is taken. Files whose hashes cannot be compared are decoded. It is also an error if a file
    /// has the path of a folder.
    Refuse,
    /// The file of the first archive.
    First,
    /// The file of the last archive.
    Last,
}

/// Two files that one archive cannot both hold, found in archives to be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeClash {
    /// The path of the first file.
    pub path: String,
    /// The index of its archive.
    pub archive: usize,
    /// The path of the other file. It is the same path, or one below it, so that `path` would be a
    /// folder.
    pub other_path: String,
    /// The index of the other file's archive.
    pub other_archive: usize,
}

impl MergeClash {
    fn message(&self) -> &'static str {
        match self.path == self.other_path {
            true => "archives have different files of this path",
            false => "the path is a file and a folder of other files",
        }
    }
}

/// Tells which files of an archive keep their blocks.
struct Copies {
    /// For each block, and for the end, the number of blocks before it that must be encoded again.
    encoded_before: Vec<u32>,
    /// For each block, whether the source decodes it on each read, so that copying does not pay.
    generated: Vec<bool>,
}

impl Copies {
    /// Blocks are copied whole. A block is encoded again if it has bytes that belong to no file of
    /// `kept`, since other programs rely on every byte belonging to a file, or if the source
    /// generates it.
    fn new<S: ReadAt>(archive: &Archive<S>, kept: &[File<'_>]) -> Copies {
        let whole = archive.whole_blocks(kept);
        let generated: Vec<bool> = (0..whole.len()).map(|block| archive.is_decoded_on_read(block)).collect();
        let mut encoded = 0;
        let encoded_before = whole.iter().zip(&generated).map(|(whole, generated)| {
            encoded += u32::from(!whole || *generated);
            encoded
        });
        Copies { encoded_before: std::iter::once(0).chain(encoded_before).collect(), generated }
    }

    fn has(&self, file: File<'_>) -> bool {
        let blocks = file.blocks();
        self.encoded_before[blocks.start] == self.encoded_before[blocks.end]
    }

    /// Whether the file is left over from a block that cannot be copied because other files of it
    /// are dropped.
    fn leaves(&self, file: File<'_>) -> bool {
        file.size() > 0 && !file.is_chunked() && !self.has(file) && !self.generated[file.blocks().start]
    }
}

/// Returns the coding for files left over from a block. It uses the block's codec, for LZ4 at the
/// highest level; for zstd it is `None`, since the level is unknown.
fn coding_of<S: ReadAt>(archive: &Archive<S>, file: File<'_>) -> Option<Coding> {
    match archive.toc().blocks[file.blocks().start].codec {
        Codec::Copy => Some(Coding::Copy),
        Codec::Lz4 => Some(Coding::lz4(MAX_LZ4_LEVEL)),
        Codec::Zstd => None,
    }
}

impl Builder {
    /// Adds the files of an archive for which `keep` returns true, under their paths. Lowers the
    /// builder's number of threads if the archive's [`Limits::memory`](crate::Limits::memory) has
    /// no room for the largest block of the archive in each thread.
    ///
    /// # Errors
    /// Returns `Limit` if the files exceed the limits that the archive was opened with, and
    /// `BadArgument` if a path leads out of the folder or has more than 4095 bytes, was added
    /// before, or would be both a file and a folder. Files before the error have been added.
    pub fn add_archive<S: ReadAt + 'static>(
        &mut self,
        archive: &Arc<Archive<S>>,
        reuse: Reuse,
        mut keep: impl FnMut(File<'_>) -> bool,
    ) -> PackResult<()> {
        let kept: Vec<File<'_>> = archive.files().filter(|&file| keep(file)).collect();
        check_limits(archive, &kept)?;
        self.limit_threads(archive);
        let opened = Arc::new(CachedArchive::new(Arc::clone(archive), self.options.threads));
        let number = self.archives.len();
        self.archives.push(opened.clone());
        let same_chunk = archive.header().chunk.bytes() == self.options.chunk;
        let copies = (reuse == Reuse::Blocks && same_chunk).then(|| Copies::new(archive, &kept));
        for file in kept {
            let is_left_over = copies.as_ref().is_some_and(|copies| copies.leaves(file));
            let coding = if is_left_over { coding_of(archive, file) } else { None };
            let existing = ExistingEntry {
                archive: opened.clone(),
                number,
                entry: file.index(),
                reused: copies.as_ref().is_some_and(|copies| copies.has(file)),
                is_left_over,
                keeps_filters: is_left_over && archive.toc().blocks[file.blocks().start].filtered,
                hash: None,
                is_verified: false,
            };
            names::check_existing(file.path())?;
            self.check_is_new(file.path()).map_err(|error| error.at(file.path()))?;
            self.push(Item {
                name: file.path().to_owned(),
                size: file.size(),
                content: Content::Existing(existing),
                file_options: FileOptions { coding, ..FileOptions::default() },
            });
        }
        Ok(())
    }

    /// Lowers the number of threads so that each can hold the largest block of the archive within
    /// the archive's limit on memory.
    fn limit_threads<S: ReadAt>(&mut self, archive: &Archive<S>) {
        self.options.threads = threads_for_any_block(archive, self.options.threads);
    }

    /// Starts from the files of one archive for which `keep` returns true. Use it to delete files
    /// by path, or to collect garbage by hash. The chunk size is that of the archive, so that
    /// blocks are reused; if that is above 256 MiB, it is 256 MiB, and files are encoded again.
    ///
    /// ```no_run
    /// use linerate_nx::{Archive, FileSource};
    /// use linerate_nx::pack::{Builder, PackOptions};
    ///
    /// let archive = std::sync::Arc::new(Archive::open(FileSource::open("mods.nx")?)?);
    /// let wanted = std::collections::HashSet::from([0x0123_4567_89ab_cdef_u64]);
    /// let builder = Builder::from_archive(PackOptions::default(), &archive, |file| {
    ///     file.hash().is_some_and(|hash| wanted.contains(&hash))
    /// })?;
    /// builder.write("mods.nx")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new) and [`add_archive`](Self::add_archive).
    pub fn from_archive<S: ReadAt + 'static>(
        options: PackOptions,
        archive: &Arc<Archive<S>>,
        keep: impl FnMut(File<'_>) -> bool,
    ) -> PackResult<Builder> {
        let mut builder = Builder::new(as_archive(options, archive))?;
        builder.add_archive(archive, Reuse::Blocks, keep)?;
        Ok(builder)
    }

    /// Starts from all files of an archive, encoded again with these options.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new) and [`add_archive`](Self::add_archive).
    pub fn repack<S: ReadAt + 'static>(
        options: PackOptions,
        archive: &Arc<Archive<S>>,
    ) -> PackResult<Builder> {
        let mut builder = Builder::new(options)?;
        builder.add_archive(archive, Reuse::Contents, |_| true)?;
        Ok(builder)
    }

    /// Starts from the files of several archives. Blocks are reused from archives with the options'
    /// chunk size. Equal files of different archives are stored once, unless solid blocks that hold
    /// them are copied for other files. A file and a folder of the same path clash like two files.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new) and [`add_archive`](Self::add_archive). With
    /// [`Clash::Refuse`], also returns those of [`merge_clashes`](Self::merge_clashes), and
    /// `BadArgument` for the first of the clashes.
    pub fn merge<S: ReadAt + 'static>(
        options: PackOptions,
        archives: &[Arc<Archive<S>>],
        clash: Clash,
    ) -> PackResult<Builder> {
        if clash == Clash::Refuse
            && let Some(clash) = Builder::merge_clashes(archives)?.first()
        {
            return Err(PackError::rule(Kind::BadArgument, clash.message()).at(clash.path.as_str()));
        }
        let mut builder = Builder::new(options)?;
        let mut in_order: Vec<&Arc<Archive<S>>> = archives.iter().collect();
        if clash == Clash::Last {
            in_order.reverse();
        }
        for archive in in_order {
            // Computed before any file is added: a path that one archive has twice is an error, not
            // a clash.
            let keeps: Vec<bool> =
                archive.files().map(|file| builder.names.clash(file.path()).is_none()).collect();
            builder.add_archive(archive, Reuse::Blocks, |file| keeps[file.index()])?;
        }
        Ok(builder)
    }

    /// Lists the clashes of archives to be merged, in ascending order of paths: files of the same
    /// path in different archives that differ in size or hash, and files whose path is a folder of
    /// other files. If two files of one size have hashes of different kinds, or one has none, one
    /// of the files or both are decoded to hash them.
    ///
    /// # Errors
    /// Returns the errors of decoding a file, with its path, and `Limit` if the files of its
    /// archive exceed the limits that the archive was opened with.
    pub fn merge_clashes<S: ReadAt>(archives: &[Arc<Archive<S>>]) -> PackResult<Vec<MergeClash>> {
        let mut files: Vec<(usize, File<'_>)> = Vec::new();
        for (i, archive) in archives.iter().enumerate() {
            files.extend(archive.files().map(|file| (i, file)));
        }
        let clash = |(i, file): (usize, File<'_>), (j, other): (usize, File<'_>)| MergeClash {
            path: file.path().to_owned(),
            archive: i,
            other_path: other.path().to_owned(),
            other_archive: j,
        };
        let mut hashes = Hashes { archives, readers: archives.iter().map(|_| None).collect() };
        let mut first: HashMap<&str, (usize, File<'_>)> = HashMap::new();
        let mut found = Vec::new();
        for &(i, file) in &files {
            let before = *first.entry(file.path()).or_insert((i, file));
            if before.0 != i && !hashes.are_equal(before, (i, file))? {
                found.push(clash(before, (i, file)));
            }
        }
        let in_folders = folder_clashes(files.iter().map(|(_, file)| file.path()));
        found.extend(in_folders.into_iter().map(|(file, below)| clash(files[file], files[below])));
        found.sort_by(|a, b| (&a.path, a.other_archive).cmp(&(&b.path, b.other_archive)));
        Ok(found)
    }

    /// Updates an archive from a folder: equal files keep their blocks as with [`Reuse::Blocks`],
    /// other files are taken from the folder. `choose` works as in
    /// [`add_folder`](Self::add_folder); files that it leaves out count as missing in the folder.
    /// With `mirror`, files missing in the folder are removed from the archive; without, they stay
    /// unless the folder has a folder of their path, or a file in place of one of their folders.
    /// The chunk size is that of the archive, at most 256 MiB. The builder's metadata is that
    /// captured from the folder, without that of the archive.
    ///
    /// The last part of the result lists the chosen paths that cannot be packed.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new), [`add_folder`](Self::add_folder) and
    /// [`add_archive`](Self::add_archive), those of reading the archive and, with
    /// [`PackOptions::verify_existing`], `Corrupt` if a file that stays is damaged.
    pub fn update<'w, S: ReadAt + 'static>(
        options: PackOptions,
        archive: &Arc<Archive<S>>,
        folder: impl Into<Walk<'w>>,
        choose: impl FnMut(&str) -> Option<FileOptions>,
        mirror: bool,
    ) -> PackResult<(Builder, Changes, Skipped)> {
        Builder::update_all(options, archive, &[folder.into()], choose, |_| !mirror)
    }

    /// Updates an archive as [`update`](Self::update) does, but from several folders. `keep`
    /// decides whether a file of the archive stays if it is in none of the folders. It is called
    /// once for every file of the archive, whether the folders have the file or not.
    ///
    /// # Errors
    /// Returns the errors of [`update`](Self::update), and `BadArgument` if two folders have a file
    /// of the same path, or one has a file where another has a folder.
    pub fn update_all<S: ReadAt + 'static>(
        options: PackOptions,
        archive: &Arc<Archive<S>>,
        folders: &[Walk<'_>],
        choose: impl FnMut(&str) -> Option<FileOptions>,
        mut keep: impl FnMut(File<'_>) -> bool,
    ) -> PackResult<(Builder, Changes, Skipped)> {
        let mut builder = Builder::new(as_archive(options, archive))?;
        let mut found = Found::in_folders(folders, choose, &builder.options.cancel)?;
        builder.limit_threads(archive);
        let kept: Vec<bool> = archive.files().map(&mut keep).collect();
        let wanted = wanted(&builder.options, archive, &found, &kept)?;
        builder.options.cancel.begin(Stage::Comparing);
        let hashes = compare(archive, &wanted, &builder.options.workers())?;
        // The hash of each verified entry, by its index. Entries that differ from their file on
        // disk have none.
        let verified = wanted.iter().zip(hashes).filter_map(|(of, hash)| Some((of.file.index(), hash?)));
        let verified: HashMap<usize, u64> = verified.collect();
        let mut changes = Changes::default();
        // For each path in the folders, whether its file is taken from there.
        let mut fresh: HashMap<String, bool> = HashMap::new();
        let mut names = Names::default();
        for Chosen { found: entry, folder, size, file_options } in found.files {
            let is_same = |file: File<'_>| file.size() == size && verified.contains_key(&file.index());
            if archive.find(&entry.name).is_some_and(is_same) {
                changes.unchanged += 1;
                names.insert(&entry.name);
                fresh.insert(entry.name, false);
                continue;
            }
            if !folders[folder].admits(&entry, &mut found.skipped.bad_names)? {
                continue;
            }
            match archive.find(&entry.name) {
                Some(_) => changes.replaced.push(entry.name.clone()),
                None => changes.added.push(entry.name.clone()),
            }
            names.insert(&entry.name);
            fresh.insert(entry.name.clone(), true);
            builder.add(entry.name, size, Content::Path(entry.path), file_options)?;
        }
        builder.add_archive(archive, Reuse::Blocks, |file| {
            let of_folder = fresh.get(file.path());
            // If a file became a folder, or a folder a file, the content of the folder on disk
            // wins.
            let goes = of_folder.is_none() && !(kept[file.index()] && names.clash(file.path()).is_none());
            if goes {
                changes.removed.push(file.path().to_owned());
            }
            !(goes || of_folder == Some(&true))
        })?;
        for item in &mut builder.items {
            if let Content::Existing(existing) = &mut item.content
                && let Some(hash) = verified.get(&existing.entry)
            {
                (existing.hash, existing.is_verified) = (Some(*hash), true);
            }
        }
        builder.metadata = found.metadata;
        Ok((builder, changes, found.skipped.sort()))
    }
}

/// Compares files of different archives by their hashes.
struct Hashes<'a, S> {
    archives: &'a [Arc<Archive<S>>],
    /// The reader of each archive of which a file was decoded.
    readers: Vec<Option<Reader<'a, S>>>,
}

impl<S: ReadAt> Hashes<'_, S> {
    /// Whether two files have the same size and hash. The number of each archive is beside its
    /// file.
    fn are_equal(&mut self, (i, one): (usize, File<'_>), (j, other): (usize, File<'_>)) -> PackResult<bool> {
        if one.size() != other.size() {
            return Ok(false);
        }
        let kind = self.archives[i].hash_kind();
        Ok(self.hash(i, one, kind)? == self.hash(j, other, kind)?)
    }

    /// Returns the stored hash of a file if it is of this kind, else decodes the file.
    fn hash(&mut self, archive: usize, file: File<'_>, kind: HashKind) -> PackResult<u64> {
        let from = &self.archives[archive];
        if let Some(hash) = file.hash().filter(|_| from.hash_kind() == kind) {
            return Ok(hash);
        }
        let reader = match &mut self.readers[archive] {
            Some(reader) => reader,
            none => {
                check_limits(from, &from.files().collect::<Vec<_>>())?;
                none.insert(from.reader()?)
            }
        };
        reader.hash(file, kind).map_err(|error| PackError::from(error).at(file.path()))
    }
}

/// Returns the options with the archive's chunk size.
fn as_archive<S: ReadAt>(options: PackOptions, archive: &Archive<S>) -> PackOptions {
    // Chunks above this size are read but never written.
    options.chunk(archive.header().chunk.bytes().min(MAX_CHUNK))
}

/// A file of a folder that an archive is updated from.
struct Chosen {
    found: WalkEntry,
    /// The number of the folder.
    folder: usize,
    size: u64,
    file_options: FileOptions,
}

/// Files and metadata found in folders, to update an archive from.
#[derive(Default)]
struct Found {
    files: Vec<Chosen>,
    /// The paths of the files.
    names: Names,
    metadata: Metadata,
    skipped: Skipped,
}

impl Found {
    fn in_folders(
        folders: &[Walk<'_>],
        mut choose: impl FnMut(&str) -> Option<FileOptions>,
        cancel: &CancelToken,
    ) -> PackResult<Found> {
        let mut all = Found::default();
        for (folder, walk) in folders.iter().enumerate() {
            let mut metadata = Metadata::default();
            for (found, file_options) in walk.files(cancel, &mut choose, &mut all.skipped, &mut metadata)? {
                cancel.step()?;
                let size = walk.size(&found, &mut metadata)?;
                all.add(Chosen { found, folder, size, file_options })?;
            }
            all.metadata.overlay(metadata);
        }
        Ok(all)
    }

    fn add(&mut self, chosen: Chosen) -> PackResult<()> {
        let name = &chosen.found.name;
        // Bad names are not checked: names that are not UTF-8 may look equal, and bad names are
        // left out or reported as an error later.
        if chosen.found.bad_name().is_none()
            && let Some((what, other)) = self.names.clash(name)
        {
            let file = self.files.iter().find(|file| file.found.name == other);
            let other = file.map_or_else(|| other.into(), |file| file.found.path.clone());
            return Err(PackError::clash(what, other).at(&chosen.found.path));
        }
        self.names.insert(name);
        self.files.push(chosen);
        Ok(())
    }
}

/// Returns the entries to decode: those to compare with a file of the folders and, if existing
/// entries are verified, those that are kept and clash with no path of the folders.
fn wanted<'a, S: ReadAt>(
    options: &PackOptions,
    archive: &'a Archive<S>,
    found: &'a Found,
    kept: &[bool],
) -> PackResult<Vec<Wanted<'a>>> {
    let mut wanted = Vec::new();
    for Chosen { found, size, .. } in &found.files {
        if let Some(file) = archive.find(&found.name).filter(|file| file.size() == *size) {
            wanted.push(Wanted { file, path: Some(&found.path) });
        }
    }
    if options.verify_existing {
        let stays = |file: &File<'_>| kept[file.index()] && found.names.clash(file.path()).is_none();
        let others: Vec<File<'_>> = archive.files().filter(stays).collect();
        check_limits(archive, &others)?;
        wanted.extend(others.into_iter().map(|file| Wanted { file, path: None }));
    }
    Ok(wanted)
}
