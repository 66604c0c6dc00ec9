//! Collects files and writes the archive: plan, header, blocks.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use linerate_core::Kind;
use linerate_io::{AtomicFile, Existing};

use super::blocks::{self, Job};
use super::content::{Content, Item};
use super::error::{PackError, PackResult};
use super::existing::SourceArchive;
use super::names::Names;
use super::options::{FileOptions, PackOptions};
use super::plan::Plan;
use super::progress::Progress;
use super::sink::{Memory, Sink};
use super::walk::{Skipped, Walk};
use super::{names, verify};
use crate::format::header::{ChunkSize, Header, TocForm};
use crate::format::string_pool::StringPool;
use crate::format::toc::{Block, Codec, Entry, Toc};
use crate::metadata::{self, Metadata, Paths};
use crate::read::order;

/// Size and counts of a written archive, or of a dry run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Number of files, including empty ones.
    pub files: u64,
    /// Total size of the files in bytes.
    pub bytes: u64,
    /// Number of blocks.
    pub blocks: u64,
    /// Number of files that are not stored because another file, or a run of its chunks, has the
    /// same bytes.
    pub shared_files: u64,
    /// Bytes of those files.
    pub shared_bytes: u64,
    /// Number of blocks that are stored uncompressed: because they do not shrink, by their coding,
    /// or as in the archive they are copied from. 0 for a dry run.
    pub stored_blocks: u64,
    /// Number of blocks that are filtered. If there are any, only this crate reads the archive. 0
    /// for a dry run.
    pub filtered_blocks: u64,
    /// Size of the archive in bytes. 0 for a dry run.
    pub archive_bytes: u64,
}

type OnProgress = Box<dyn Fn(&Progress) + Send + Sync>;

/// Collects files and writes them as one archive.
///
/// ```no_run
/// use linerate_nx::pack::{Builder, FileOptions, PackOptions};
///
/// let mut builder = Builder::new(PackOptions { threads: 4, ..PackOptions::default() })?;
/// builder.add_folder("textures", |path| (!path.ends_with(".psd")).then(FileOptions::default))?;
/// builder.add_bytes("version.txt", "7")?;
/// let summary = builder.write("textures.nx")?;
/// println!("{} files in {} bytes", summary.files, summary.archive_bytes);
/// # Ok::<(), linerate_nx::pack::PackError>(())
/// ```
pub struct Builder {
    pub(super) options: PackOptions,
    pub(super) items: Vec<Item>,
    pub(super) names: Names,
    pub(super) archives: Vec<Arc<dyn SourceArchive>>,
    /// The temporary file with the content of readers, and its length.
    spool: Option<(Arc<File>, u64)>,
    on_progress: OnProgress,
    pub(super) metadata: Metadata,
    pub(super) existing: Existing,
}

impl Builder {
    /// Creates a builder without files.
    ///
    /// # Errors
    /// Returns `BadArgument` if the options are not within the format's limits.
    pub fn new(options: PackOptions) -> PackResult<Builder> {
        options.check()?;
        Ok(Builder {
            options,
            items: Vec::new(),
            names: Names::default(),
            archives: Vec::new(),
            spool: None,
            on_progress: Box::new(|_| {}),
            metadata: Metadata::default(),
            existing: Existing::Replace,
        })
    }

    /// Adds metadata to the archive. It is stored in a record that other readers ignore. Metadata
    /// of earlier calls, and metadata captured from folders before or after, takes precedence.
    /// Metadata of files that are not in the archive is left out.
    pub fn metadata(&mut self, mut metadata: Metadata) -> &mut Builder {
        metadata.overlay(std::mem::take(&mut self.metadata));
        self.metadata = metadata;
        self
    }

    /// Returns the paths of the folders and links in the metadata so far.
    pub fn others(&self) -> impl Iterator<Item = &str> {
        self.metadata.others()
    }

    /// Sets whether an existing target is replaced. Default: true.
    pub fn replace(&mut self, replace: bool) -> &mut Builder {
        self.existing = if replace { Existing::Replace } else { Existing::Refuse };
        self
    }

    /// Calls `report` after every written block and, while zstd at level 6 or higher encodes a
    /// block above 16 MiB, also after parts of it. The calls come from the threads that do the
    /// work, and may come out of order. `report` is dropped before the archive gets its name.
    pub fn on_progress(&mut self, report: impl Fn(&Progress) + Send + Sync + 'static) -> &mut Builder {
        self.on_progress = Box::new(report);
        self
    }

    /// The options.
    pub fn options(&self) -> &PackOptions {
        &self.options
    }

    /// Returns the number of files so far.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether there is no file yet.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the paths of the files, in the order they were added.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.items.iter().map(|item| item.name.as_str())
    }

    /// Returns whether a file of this path was added.
    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Adds a file with these bytes. `name` is its path in the archive, with `/` between
    /// components.
    ///
    /// # Errors
    /// Returns `BadArgument` if [`check_path`](crate::check_path) rejects the path, if it was added
    /// before, or if it or one of its folders would be both a file and a folder.
    pub fn add_bytes(&mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> PackResult<()> {
        self.add_bytes_with(name, bytes, FileOptions::default())
    }

    /// Adds bytes as [`add_bytes`](Self::add_bytes) does, with options for the file.
    ///
    /// # Errors
    /// Returns the errors of [`add_bytes`](Self::add_bytes), and `BadArgument` if the preferred
    /// coding is not within its limits.
    pub fn add_bytes_with(
        &mut self,
        name: impl Into<String>,
        bytes: impl Into<Vec<u8>>,
        file_options: FileOptions,
    ) -> PackResult<()> {
        let bytes = bytes.into();
        self.add(name.into(), bytes.len() as u64, Content::Bytes(bytes), file_options)
    }

    /// Adds the file at `path`, which is read when the archive is written.
    ///
    /// # Errors
    /// Returns the errors of [`add_bytes`](Self::add_bytes), `Read` if there is no such file, and
    /// `BadArgument` if it is not a regular file.
    pub fn add_path(&mut self, name: impl Into<String>, path: impl Into<PathBuf>) -> PackResult<()> {
        self.add_path_with(name, path, FileOptions::default())
    }

    /// Adds a file on disk as [`add_path`](Self::add_path) does, with options for the file.
    ///
    /// # Errors
    /// Returns the errors of [`add_path`](Self::add_path), and `BadArgument` if the preferred
    /// coding is not within its limits.
    pub fn add_path_with(
        &mut self,
        name: impl Into<String>,
        path: impl Into<PathBuf>,
        file_options: FileOptions,
    ) -> PackResult<()> {
        let path = path.into();
        let at = |error: PackError| error.at(&path);
        let metadata = fs::metadata(&path).map_err(|error| at(PackError::reading(error)))?;
        if !metadata.is_file() {
            return Err(at(PackError::rule(Kind::BadArgument, "not a file")));
        }
        self.add(name.into(), metadata.len(), Content::Path(path), file_options)
    }

    /// Adds a file with the content of `reader`. The content is read now and kept in an unnamed
    /// file in the system's temporary folder.
    ///
    /// # Errors
    /// Returns the errors of [`add_bytes`](Self::add_bytes), and `Read` or `Write` if reading or
    /// the temporary file fails.
    pub fn add_reader(&mut self, name: impl Into<String>, mut reader: impl Read) -> PackResult<()> {
        let (name, file_options) = (name.into(), FileOptions::default());
        let at_name = |error: PackError| error.at(name.as_str());
        self.check(&name, file_options).map_err(at_name)?;
        let writing = |error| at_name(PackError::writing(error));
        let (file, offset) = match self.spool.take() {
            Some(spool) => spool,
            None => (Arc::new(tempfile::tempfile().map_err(writing)?), 0),
        };
        // A reader that fails leaves its bytes in the file; those of the next reader follow.
        let copied = spool(&mut reader, &file).map_err(at_name);
        let end = io::Seek::stream_position(&mut &*file).map_err(writing)?;
        self.spool = Some((Arc::clone(&file), end));
        self.add(name.clone(), copied?, Content::Spooled { file, offset }, file_options)
    }

    /// Adds the files below a folder for which `choose` returns options; `None` leaves a file out.
    /// `choose` gets each path once, relative to the folder, in ascending order. With
    /// [`Walk::metadata`], the captured metadata is added to the [metadata](Self::metadata).
    ///
    /// Returns the chosen paths that cannot be packed.
    ///
    /// # Errors
    /// Returns the errors of [`add_path_with`](Self::add_path_with). Also fails if a folder cannot
    /// be read, if the work is cancelled, or if a name cannot be packed and
    /// [`Walk::skip_bad_names`] is off. Files before the error have been added.
    pub fn add_folder<'w>(
        &mut self,
        walk: impl Into<Walk<'w>>,
        choose: impl FnMut(&str) -> Option<FileOptions>,
    ) -> PackResult<Skipped> {
        let walk = walk.into();
        let (mut skipped, mut metadata) = (Skipped::default(), Metadata::default());
        for (found, file_options) in walk.files(&self.options.cancel, choose, &mut skipped, &mut metadata)? {
            self.options.cancel.step()?;
            if walk.admits(&found, &mut skipped.bad_names)? {
                let size = walk.size(&found, &mut metadata)?;
                self.add(found.name, size, Content::Path(found.path), file_options)?;
            }
        }
        self.metadata.overlay(metadata);
        Ok(skipped.sort())
    }

    /// Checks the path and options of a new file.
    fn check(&self, name: &str, file_options: FileOptions) -> PackResult<()> {
        names::check(name)?;
        file_options.check().map_err(|error| error.at(name))?;
        self.check_is_new(name)
    }

    pub(super) fn check_is_new(&self, name: &str) -> PackResult<()> {
        match self.names.clash(name) {
            Some((what, other)) => {
                let item = self.items.iter().find(|item| item.name == other);
                let other = match item.map(|item| &item.content) {
                    Some(Content::Path(path)) => path.clone(),
                    _ => other.into(),
                };
                Err(PackError::clash(what, other))
            }
            None => Ok(()),
        }
    }

    pub(super) fn add(
        &mut self,
        name: String,
        size: u64,
        content: Content,
        file_options: FileOptions,
    ) -> PackResult<()> {
        self.check(&name, file_options).map_err(|error| match &content {
            Content::Path(path) => error.at(path),
            _ => error.at(name.as_str()),
        })?;
        self.push(Item { name, size, content, file_options });
        Ok(())
    }

    pub(super) fn push(&mut self, item: Item) {
        self.names.insert(&item.name);
        self.items.push(item);
    }

    /// Plans the archive without writing it. Reads only what deduplication, the grouping of small
    /// files, the search for textures and the verification of reused entries need.
    ///
    /// # Errors
    /// Returns those errors of [`write`](Self::write) that occur before blocks are encoded.
    pub fn dry_run(mut self) -> PackResult<Summary> {
        let plan = self.plan()?;
        self.header(&plan)?;
        Ok(self.summary(&plan))
    }

    /// Writes the archive to `target`. If a file is replaced, the archive gets its owner and
    /// permissions. The target must be a regular file or not exist: the header is written last, at
    /// the start of the file, so an archive cannot be written to a pipe or device.
    ///
    /// Windows cannot replace an open file: the builder closes its existing archives before the new
    /// one is renamed, and callers must close their own handles of an archive that they overwrite.
    /// Two writers are not synchronized: take a `linerate_io::Lock` before you open the old
    /// archive, and hold it until `write` returns.
    ///
    /// # Errors
    /// Returns `Read` if a file cannot be read or has changed since it was added; `Corrupt` or
    /// `Unsupported` if an entry of an existing archive cannot be decoded; `Write` if the archive
    /// cannot be written, the target is a folder or exists and may not be
    /// [replaced](Self::replace), or the work is cancelled; `BadArgument` if the target is a
    /// device, a FIFO or another special file, or if a path or target in the
    /// [metadata](Self::metadata) is invalid; `Limit` if memory runs out or the format cannot hold
    /// that many files, blocks or bytes of paths.
    ///
    /// After an error the target is unchanged, unless the error is that of the last step: if a file
    /// was replaced, that step flushes the new archive's name to the disk.
    pub fn write(mut self, target: impl AsRef<Path>) -> PackResult<Summary> {
        let target = target.as_ref();
        let at_target = |error: PackError| error.at(target);
        // Created first, since a bad target should fail before the plan reads files.
        let file = create(target, self.existing).map_err(at_target)?;
        let plan = self.plan()?;
        let (header, pool) = self.header(&plan)?;
        let summary = self.write_to(&plan, &header, &pool, &file).map_err(at_target)?;
        self.close().map_err(at_target)?;
        file.commit().map_err(|error| at_target(PackError::writing(error)))?;
        Ok(summary)
    }

    /// Writes the archive to memory.
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write) that do not concern the target.
    pub fn to_bytes(mut self) -> PackResult<(Vec<u8>, Summary)> {
        let memory = Memory::default();
        let summary = self.write_all(&memory)?;
        Ok((memory.into_bytes(), summary))
    }

    /// Closes the existing archives before the new one gets its name. Drops the progress callback
    /// before the last check of the token, since the callback may cancel the work.
    pub(super) fn close(self) -> PackResult<()> {
        let cancel = self.options.cancel.clone();
        drop(self);
        cancel.check()
    }

    /// Plans the archive and writes it.
    pub(super) fn write_all(&mut self, sink: &dyn Sink) -> PackResult<Summary> {
        let plan = self.plan()?;
        let (header, pool) = self.header(&plan)?;
        self.write_to(&plan, &header, &pool, sink)
    }

    fn plan(&mut self) -> PackResult<Plan> {
        // Fails early if there are too many files. The header is checked again when the number of
        // blocks is known.
        Header::new(self.chunk()?, TocForm::Long, 0, 0, self.items.len())?;
        self.items.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        verify::existing(&mut self.items, &self.options)?;
        Plan::new(&self.items, &self.options)
    }

    fn chunk(&self) -> PackResult<ChunkSize> {
        ChunkSize::from_bytes(self.options.chunk)
            .ok_or(PackError::rule(Kind::BadArgument, "the chunk size is not one of the format"))
    }

    /// Returns the header, and the compressed pool with the metadata record after it. Their size is
    /// known before the blocks are encoded, so the blocks can be written first.
    fn header(&self, plan: &Plan) -> PackResult<(Header, Vec<u8>)> {
        let mut pool = StringPool::encode(self.items.iter().map(|item| item.name.as_str()))?;
        let form = match self.items.iter().all(|item| u32::try_from(item.size).is_ok()) {
            true => TocForm::Short,
            false => TocForm::Long,
        };
        let mut header = Header::new(self.chunk()?, form, pool.len(), plan.blocks.len(), self.items.len())?;
        // `Paths::new` returns `Some`, since no two names are equal.
        let paths = Paths::new(self.items.iter().map(|item| item.name.as_str()));
        let record = paths.map_or(Ok(Vec::new()), |paths| self.metadata.encode(&paths))?;
        metadata::append(&record, &mut header, &mut pool)?;
        Ok((header, pool))
    }

    fn summary(&self, plan: &Plan) -> Summary {
        let mut summary = Summary {
            files: self.items.len() as u64,
            bytes: self.items.iter().fold(0, |sum, item| item.size.saturating_add(sum)),
            blocks: plan.blocks.len() as u64,
            ..Summary::default()
        };
        // Each file of a copied block has a place of its own in the plan, even if several files
        // share one place in the block. The first of them counts as stored, the others as shared.
        let mut places = HashSet::new();
        for (i, item) in self.items.iter().enumerate().filter(|(_, item)| item.size > 0) {
            let has_blocks = plan.same[i] == i && plan.runs.binary_search(&i).is_err();
            if !(has_blocks && places.insert(plan.places[i])) {
                summary.shared_files += 1;
                summary.shared_bytes = summary.shared_bytes.saturating_add(item.size);
            }
        }
        summary
    }

    fn write_to(&self, plan: &Plan, header: &Header, pool: &[u8], sink: &dyn Sink) -> PackResult<Summary> {
        let job = Job {
            items: &self.items,
            archives: &self.archives,
            options: &self.options,
            plan,
            sink,
            progress: &*self.on_progress,
        };
        let written = blocks::write(&job, header.bytes())?;
        let mut summary = self.summary(plan);
        summary.archive_bytes = written.end;
        let stored = |block: &&Block| block.codec == Codec::Copy && block.compressed > 0;
        summary.stored_blocks = written.blocks.iter().filter(stored).count() as u64;
        let is_filtered = |block: &&Block| block.filtered;
        summary.filtered_blocks = written.blocks.iter().filter(is_filtered).count() as u64;
        let header = Header { filtered: summary.filtered_blocks > 0, ..*header };
        let toc = Toc { entries: self.entries(plan, &written.hashes)?, blocks: written.blocks };
        let mut bytes = header.write().to_vec();
        toc.write(header.form, &mut bytes);
        bytes.extend_from_slice(pool);
        sink.write_at(0, &bytes).map_err(PackError::writing)?;
        sink.set_len(written.end).map_err(PackError::writing)?;
        Ok(summary)
    }

    /// Returns the entries in the order of blocks, which other programs rely on. The pool is in the
    /// order of paths.
    fn entries(&self, plan: &Plan, hashes: &[Option<u64>]) -> PackResult<Vec<Entry>> {
        let entry = |(i, item): (usize, &Item)| {
            let missing = || PackError::rule(Kind::Read, "the file was not read").at(item.name.as_str());
            let place = plan.places[i];
            Ok(Entry {
                hash: hashes[plan.same[i]].ok_or_else(missing)?,
                size: item.size,
                path: i as u32,
                first_block: place.block as u32,
                block_offset: place.offset,
            })
        };
        let mut entries: Vec<Entry> = self.items.iter().enumerate().map(entry).collect::<PackResult<_>>()?;
        order::sort(&mut entries);
        Ok(entries)
    }
}

/// Creates the file of an archive. It must be a regular file, since it is written at offsets, the
/// header last. A FIFO is not opened, which would block until it has a reader.
pub(super) fn create(target: &Path, existing: Existing) -> PackResult<AtomicFile> {
    match fs::metadata(target) {
        Ok(found) if !found.is_file() && !found.is_dir() => {
            Err(PackError::rule(Kind::BadArgument, "the target is not a regular file"))
        }
        _ => AtomicFile::create(target, existing).map_err(PackError::writing),
    }
}

/// Appends the rest of a reader to a file, and returns its length.
fn spool(reader: &mut impl Read, mut file: &File) -> PackResult<u64> {
    let (mut buffer, mut total) = (vec![0; 64 << 10], 0);
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(total),
            Ok(n) => {
                file.write_all(&buffer[..n]).map_err(PackError::writing)?;
                total += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(PackError::reading(error)),
        }
    }
}
