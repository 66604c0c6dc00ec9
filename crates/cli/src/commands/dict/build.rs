//! `linerate dict build`: writes a sorted block file from JSON lines or records.

use std::env::temp_dir;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{ValueEnum, ValueHint};
use linerate_core::Kind;
use linerate_dict::blocks::{
    BlockFileOptions, Builder, DictionaryChoice, DictionaryPlace, Duplicates, Field, Sorter, Summary,
};
use linerate_dict::pack::{Editor, user_id};
use linerate_zstd::Dictionary;

use super::blockfile::{dictionary_object, open_pack, openable};
use super::input::{InputReader, open};
use super::savings::Totals;
use crate::ui::error::{CliError, engine_error, write_error};
use crate::ui::format::{ratio, rounded};
use crate::ui::progress::SharedProgress;
use crate::ui::reporter::Reporter;
use crate::ui::signals::{CancelToken, cancellable};
use crate::ui::summary::RunSummary;
use crate::ui::verbosity::VerbosityArgs;
use crate::ui::wait::WaitArgs;
use crate::ui::{exit_code, inputs, output_args, size};

const EXAMPLES: &str = "\
Examples:
  linerate dict build --key id rows.json -o rows.blocks          train a dictionary of 8 KiB
  linerate dict build --key id -D rows.dict rows.json -o rows.blocks
  linerate dict build --key /user/name --no-dictionary - -o r.blocks < rows.json
  linerate dict build --records --duplicates last *.rec -o rows.blocks
  linerate dict build --key id --pack all.pack --number 7 rows.json -o r.blocks

Input:
  With --key, files hold JSON lines: the key is the content of that field, a text or a whole
  number, and the value is the whole line. With --records, files hold length-prefixed records.
  Records may be in any order; those that exceed --memory go to temporary files.";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
#[group(id = "form", required = true, args = ["key", "records"])]
pub(crate) struct BuildArgs {
    /// Read JSON lines, whose keys are in FIELD: a name, or a JSON pointer such as /user/name
    #[arg(long, value_name = "FIELD", conflicts_with = "records")]
    key: Option<String>,

    /// Read length-prefixed records
    #[arg(long)]
    records: bool,

    /// Bytes of content of a block, from 16 to 32M; a larger record gets a block of its own
    #[arg(short = 'b', long, value_name = "SIZE", default_value = "4K", value_parser = size::parse)]
    block: u64,

    /// zstd level, -7 to 22
    #[arg(long, value_name = "LEVEL", default_value_t = 3, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-7..=22))]
    level: i32,

    #[command(flatten)]
    dictionary: DictionaryArgs,

    /// Write no hashes of contents, which saves 8 bytes per block; damage may then go unnoticed
    #[arg(long)]
    no_checksums: bool,

    /// What to do with several records of the same key
    #[arg(long, value_enum, value_name = "WHAT", default_value = "refuse")]
    duplicates: DuplicateChoice,

    /// Maximum bytes of records to sort in memory
    #[arg(short = 'M', long, value_name = "SIZE", default_value = "256M", value_parser = size::parse)]
    memory: u64,

    #[arg(short = 'o', long, value_name = "FILE", help = output_args::FILE, value_parser = output_args::path(), value_hint = ValueHint::FilePath)]
    output: PathBuf,

    #[arg(short = 'f', long, help = output_args::FORCE)]
    force: bool,

    #[command(flatten)]
    verbosity: VerbosityArgs,

    /// Files with records; `-` is standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
}

/// Help of `--wait`: of the two files that may be changed, only the pack is locked.
const WAIT: &str = "Wait while another process is changing the pack, at most SECONDS if given; without this \
                    option such a pack is refused";

/// The dictionary of the blocks.
#[derive(clap::Args, Debug)]
#[command(mut_arg("wait", |wait| wait.help(WAIT).requires("pack")))]
pub(crate) struct DictionaryArgs {
    /// Use this dictionary, and embed it in the file
    #[arg(short = 'D', long, value_name = "DICT", conflicts_with_all = ["no_dictionary", "size", "small_tables"], value_hint = ValueHint::FilePath)]
    dictionary: Option<PathBuf>,

    /// Use a dictionary of this pack without embedding it; the pack records the output's file name
    /// as a user
    #[arg(long, value_name = "PACK", requires = "number", conflicts_with_all = ["dictionary", "no_dictionary", "size", "small_tables"], value_hint = ValueHint::FilePath)]
    pack: Option<PathBuf>,

    /// The number of the dictionary in the pack
    #[arg(long, value_name = "N", requires = "pack")]
    number: Option<u64>,

    /// Use no dictionary
    #[arg(long, conflicts_with_all = ["size", "small_tables"])]
    no_dictionary: bool,

    /// Train a dictionary of at most this many bytes with the first 8 MiB of the sorted records; it
    /// is left out if it saves nothing
    #[arg(short = 's', long, value_name = "SIZE", default_value = "8K", value_parser = size::parse)]
    size: u64,

    /// Train the dictionary with tables of half the size
    #[arg(long)]
    small_tables: bool,

    #[command(flatten)]
    wait: WaitArgs,
}

impl DictionaryArgs {
    fn choice(&self) -> Result<DictionaryChoice, CliError> {
        if self.no_dictionary {
            return Ok(DictionaryChoice::None);
        }
        if let (Some(pack), Some(number)) = (&self.pack, self.number) {
            return from_pack(pack, number).map_err(|e| e.in_file(&pack.display().to_string()));
        }
        let Some(path) = &self.dictionary else {
            return Ok(DictionaryChoice::Train { size: self.size as usize, small_tables: self.small_tables });
        };
        let bytes = std::fs::read(path).map_err(CliError::io_at("cannot open", path))?;
        Dictionary::measure(&bytes).map_err(|e| engine_error(e).in_file(&path.display().to_string()))?;
        Ok(DictionaryChoice::Embedded(bytes))
    }
}

/// Reads a dictionary of a pack.
fn from_pack(pack: &Path, id: u64) -> Result<DictionaryChoice, CliError> {
    openable(pack)?;
    let bytes = open_pack(pack)?.read(id).map_err(engine_error)?.into_owned();
    Ok(DictionaryChoice::External { id, bytes })
}

/// A user that was added to a dictionary of a pack, which keeps the dictionary from being dropped.
struct AddedUser<'a> {
    pack: &'a Path,
    wait: &'a WaitArgs,
    dictionary: u64,
    name: String,
}

impl<'a> AddedUser<'a> {
    /// Records the file name of `target` in the pack as a user of the dictionary. `None` without a
    /// pack, and if it is a user already.
    fn add(args: &'a DictionaryArgs, target: &Path) -> Result<Option<AddedUser<'a>>, CliError> {
        let (Some(pack), Some(dictionary)) = (&args.pack, args.number) else { return Ok(None) };
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let user = AddedUser { pack, wait: &args.wait, dictionary, name };
        Ok(user.change(Editor::retain)?.then_some(user))
    }

    /// Removes the user again, because the file was not written. Warns if that fails.
    fn remove(&self, reporter: &mut Reporter) {
        let AddedUser { pack, dictionary, name, .. } = self;
        if let Err(error) = self.change(Editor::release) {
            let what = format!(
                "it still has {name} as a user of dictionary {dictionary}, which `linerate dict pack release` \
                 removes: {error}"
            );
            reporter.warn(&pack.display().to_string(), &what);
        }
    }

    fn change(
        &self,
        change: impl FnOnce(&mut Editor, u64, u64) -> linerate_core::Result<bool>,
    ) -> Result<bool, CliError> {
        let in_pack = |error| engine_error(error).in_file(&self.pack.display().to_string());
        let lock = self.wait.lock(self.pack)?;
        let mut editor = Editor::open_locked(self.pack, lock).map_err(in_pack)?;
        let is_changed = change(&mut editor, self.dictionary, user_id(&self.name)).map_err(in_pack)?;
        editor.commit().map_err(in_pack)?;
        Ok(is_changed)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DuplicateChoice {
    /// Report an error
    Refuse,
    /// Keep the last record
    Last,
}

pub(crate) fn run(args: &BuildArgs) -> Result<ExitCode, String> {
    if !(16..=32 << 20).contains(&args.block) {
        return Err("--block must be between 16 bytes and 32M".into());
    }
    if args.dictionary.size > super::train::MAX_DICTIONARY {
        return Err(format!("--size {} is too large; a dictionary has at most 64M", args.dictionary.size));
    }
    Ok(Reporter::new(&args.verbosity, false).one(&args.files[0], |reporter| process(args, reporter)))
}

fn process(args: &BuildArgs, reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    let mut summary = RunSummary::new(&args.files[0], "build");
    let dictionary = args.dictionary.dictionary.iter().chain(&args.dictionary.pack);
    args.files.iter().for_each(|path| inputs::keep_operand(path));
    dictionary.for_each(|path| inputs::keep(path));
    check_target(args)?;
    let choice = args.dictionary.choice()?;
    let options = BlockFileOptions::new()
        .block_size(args.block as u32)
        .level(args.level)
        .checksums(!args.no_checksums)
        .dictionary(choice);
    let duplicates = match args.duplicates {
        DuplicateChoice::Refuse => Duplicates::Refuse,
        DuplicateChoice::Last => Duplicates::LastWins,
    };
    let mut sorter = Sorter::new(args.memory as usize, duplicates);
    // While the input is read there is no output yet, and a signal ends the program at once, even
    // while it waits for input.
    let bytes = read(args, reporter, &mut sorter)?;
    let written = cancellable(|cancel| {
        // The user is recorded before the file exists, so that no other program drops the dictionary
        // of the file in between.
        let user = AddedUser::add(&args.dictionary, &args.output)?;
        let progress = SharedProgress::new(reporter.step("writing", Some(bytes)));
        let written = write(args, options, sorter, &progress, cancel);
        drop(progress);
        if let (Some(user), Err(_)) = (user, &written) {
            user.remove(reporter);
        }
        written
    })?;
    describe(&written, &mut summary);
    if let Some(totals) = totals(&written) {
        summary.set("savings", totals.object());
        let omitted = written.dictionary.place == DictionaryPlace::None;
        let remedy = if omitted { "it was left out" } else { "--no-dictionary makes a smaller file" };
        let file = args.files[0].display().to_string();
        match totals.warning(remedy) {
            Some(warning) if omitted => summary.lines.push(warning),
            Some(warning) => reporter.warn(&file, &warning),
            None => summary.lines.push(totals.line()),
        }
    }
    summary.output = Some(args.output.clone());
    Ok(summary)
}

/// Returns the compressed size of all blocks of the file with the dictionary and without it,
/// estimated from the blocks that were compressed both ways. `None` if no blocks were compared. A
/// dictionary that was left out saves nothing in the blocks that it was trained with, so the sizes
/// are those of these blocks. The size with the dictionary includes the dictionary itself, unless it
/// is in a pack, where other files use it, too.
fn totals(file: &Summary) -> Option<Totals> {
    let savings = file.savings.as_ref().filter(|savings| savings.content > 0)?;
    let content = match file.dictionary.place {
        DictionaryPlace::None => file.trained_with,
        _ => file.counts.content_bytes,
    };
    let all =
        |bytes: usize| (bytes as u128 * u128::from(content)).div_ceil(savings.content.max(1) as u128) as u64;
    let includes_dictionary = !matches!(file.dictionary.place, DictionaryPlace::External(_));
    let own = if includes_dictionary { savings.dictionary as u64 } else { 0 };
    let with = all(savings.with) + own;
    let measured = savings.content as u64;
    Some(Totals { content, measured, with, includes_dictionary, without: all(savings.without) })
}

fn describe(file: &Summary, summary: &mut RunSummary) {
    let (counts, dictionary) = (file.counts, file.dictionary);
    let content = counts.key_bytes + counts.value_bytes;
    summary.bytes = content;
    summary.text = Some(format!(
        "{} records of {content} bytes, {} blocks, dictionary of {} -> {} bytes, ratio {:.3}",
        counts.records,
        counts.blocks,
        dictionary.len,
        file.len,
        ratio(content, file.len)
    ));
    summary.set("records", counts.records);
    summary.set("blocks", counts.blocks);
    summary.set("key_bytes", counts.key_bytes);
    summary.set("value_bytes", counts.value_bytes);
    summary.set("stored_bytes", counts.stored_bytes);
    summary.set("bytes", file.len);
    summary.set("ratio", rounded(content, file.len));
    summary.set("dictionary", dictionary_object(dictionary));
}

/// Writes the file. A signal makes this fail, which removes the incomplete file; the caller then
/// ends the program by the signal.
fn write(
    args: &BuildArgs,
    options: BlockFileOptions,
    sorter: Sorter,
    progress: &SharedProgress,
    cancel: &CancelToken,
) -> Result<Summary, CliError> {
    let mut builder = Builder::create(&args.output, options).map_err(write_error(&args.output))?;
    let mut sorted = sorter.sorted().map_err(write_error(&temp_dir()))?;
    while let Some((key, value)) = sorted.next_record().map_err(engine_error)? {
        builder.add(key, value).map_err(write_error(&args.output))?;
        progress.add(key.len() + value.len());
        if cancel.is_cancelled() {
            return Err(CliError::Refused("interrupted".into()));
        }
    }
    builder.finish().map_err(write_error(&args.output))
}

fn check_target(args: &BuildArgs) -> Result<(), CliError> {
    if args.output.is_dir() {
        return Err(CliError::Refused(format!("the output {} is a directory", args.output.display())));
    }
    let folder = args.output.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(CliError::Refused(format!("there is no folder {} to write to", folder.display())));
    }
    inputs::refuse(&args.output)?;
    // A device or a FIFO needs no -f: it is written to directly, and not replaced.
    if !args.force && args.output.is_file() {
        return Err(CliError::Refused(format!("{} exists already; -f overwrites it", args.output.display())));
    }
    Ok(())
}

/// Adds the records of all files to the sorter. Returns the bytes of their keys and values.
fn read(args: &BuildArgs, reporter: &Reporter, sorter: &mut Sorter) -> Result<u64, CliError> {
    let sizes: Option<u64> =
        args.files.iter().map(|file| std::fs::metadata(file).ok().map(|m| m.len())).sum();
    let progress = SharedProgress::new(reporter.step("reading", sizes));
    let mut bytes = 0;
    for file in &args.files {
        let added = add(args, file, &progress, sorter);
        bytes += added
            .map_err(|e| if *file == args.files[0] { e } else { e.in_file(&file.display().to_string()) })?;
    }
    Ok(bytes)
}

fn add(
    args: &BuildArgs,
    file: &Path,
    progress: &SharedProgress,
    sorter: &mut Sorter,
) -> Result<u64, CliError> {
    let mut input = InputReader::new(open(file)?);
    let field = args.key.as_deref().map(Field::new);
    let (mut key, mut value, mut bytes) = (Vec::new(), Vec::new(), 0);
    loop {
        let begin = input.offset;
        let more = match &field {
            Some(field) => {
                let more = input.line(&mut value)?;
                if more && value.trim_ascii().is_empty() {
                    continue;
                }
                key.clear();
                if more {
                    let found = field.key(&value, &mut key);
                    found.map_err(|e| CliError::data(Kind::Corrupt, begin, e.to_string()))?;
                }
                more
            }
            None => input.record(&mut key, &mut value)?,
        };
        if !more {
            return Ok(bytes);
        }
        sorter.add(&key, &value).map_err(|e| match e.kind {
            Kind::BadArgument | Kind::Limit => CliError::data(Kind::Limit, begin, e.message),
            _ => write_error(&temp_dir())(e),
        })?;
        bytes += (key.len() + value.len()) as u64;
        progress.add((input.offset - begin) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dictionary of 8 KiB does not pay in 64 KiB of rows.
    #[test]
    fn sizes_of_a_dictionary_that_is_left_out_are_those_of_the_rows_it_was_trained_with() {
        let folder = tempfile::tempdir().expect("a folder");
        let train = DictionaryChoice::Train { size: 8 << 10, small_tables: false };
        let options = BlockFileOptions::new().dictionary(train).sample_bytes(64 << 10);
        let mut builder = Builder::create(folder.path().join("rows"), options).expect("a file");
        for i in 0..20_000u64 {
            let mixed = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
            let value = format!("{{\"id\":{i},\"token\":\"{mixed:x}\",\"state\":\"{}\"}}", mixed % 7);
            builder.add(format!("{i:08}").as_bytes(), value.as_bytes()).expect("written");
        }
        let written = builder.finish().expect("written");
        assert_eq!(written.dictionary.place, DictionaryPlace::None);
        let totals = totals(&written).expect("sizes");
        assert!((64 << 10..72 << 10).contains(&totals.content), "{totals:?}");
        assert!(totals.warning("it was left out").is_some(), "{totals:?}");
        let all = Totals { content: written.counts.content_bytes, ..totals };
        assert!(all.content > 10 * totals.content, "{all:?}");
    }
}
