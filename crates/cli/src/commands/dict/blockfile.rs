//! Opens block files, and the packs that hold their dictionaries.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueHint;
use linerate_dict::blocks::{DictionaryPlace, DictionaryReference};
use linerate_dict::{BlockFile, Input, Pack, Store};
use serde_json::{Value, json};

use crate::ui::error::{CliError, engine_error};
use crate::ui::inputs;
use crate::ui::remote::{remote, url};

#[derive(clap::Args, Debug)]
pub(crate) struct PackArg {
    /// Pack with the dictionary of the file, if the file does not contain it
    #[arg(long, value_name = "PACK", value_hint = ValueHint::FilePath)]
    pack: Option<PathBuf>,
}

/// Opens a block file. Its dictionary is read from `pack` if the file does not contain it.
pub(crate) fn open_blocks(path: &Path, pack: &PackArg) -> Result<BlockFile, CliError> {
    let input = input(path)?;
    let store = Store::new();
    let wanted = BlockFile::dictionary_of(&input).map_err(engine_error)?;
    let DictionaryPlace::External(number) = wanted.place else {
        return BlockFile::open_input(input, &store).map_err(engine_error);
    };
    let Some(pack) = &pack.pack else {
        return Err(CliError::Refused(format!(
            "its dictionary is number {number} of a pack; --pack names the pack"
        )));
    };
    let within = |error: CliError| error.in_file(&pack.display().to_string());
    let opened = open_pack(pack).map_err(within)?;
    // The dictionary is found by its hash, since its number changes when packs are merged.
    let Some(entry) = opened.find(wanted.hash) else {
        let what = format!("its dictionary is not in {}; --pack names another pack", pack.display());
        return Err(CliError::Refused(what));
    };
    let bytes = opened.read(entry.id).map_err(|e| within(engine_error(e)))?;
    let id = store.insert_with_hash(&bytes, wanted.hash).map_err(engine_error)?;
    BlockFile::open_with(input, &store, id).map_err(engine_error)
}

pub(crate) fn open_pack(path: &Path) -> Result<Pack, CliError> {
    Pack::open_input(input(path)?).map_err(engine_error)
}

/// The JSON object of a file's dictionary, or null if the file has none.
pub(crate) fn dictionary_object(dictionary: DictionaryReference) -> Value {
    let DictionaryReference { len, zstd_id, .. } = dictionary;
    match dictionary.place {
        DictionaryPlace::None => Value::Null,
        DictionaryPlace::Embedded => json!({ "bytes": len, "id": zstd_id }),
        DictionaryPlace::External(number) => json!({ "bytes": len, "id": zstd_id, "number": number }),
    }
}

/// The input at a path or at a URL. Files are read, not mapped: if another program truncates a file
/// meanwhile, reading it fails, while a mapping would end this program by a signal.
pub(crate) fn input(path: &Path) -> Result<Input, CliError> {
    if let Some(url) = url(path) {
        return Ok(Input::source(remote(url)?));
    }
    openable(path)?;
    Input::file(path).map_err(engine_error)
}

/// Fails with the operating system's reason if a file cannot be opened, and for a folder. From then
/// on the program refuses to write an output over the file.
pub(crate) fn openable(path: &Path) -> Result<(), CliError> {
    let cannot_open = || CliError::io("cannot open");
    if fs::metadata(path).map_err(cannot_open())?.is_dir() {
        return Err(CliError::Refused("it is a directory".into()));
    }
    inputs::keep_open(&fs::File::open(path).map_err(cannot_open())?);
    Ok(())
}
