//! A folder with every file in it twice: the second copy costs hashing, not compressing.

use std::fs;
use std::io;
use std::path::Path;

use linerate_nx::HashKind;

use super::input::{Input, message, pack_options};
use super::rounds::{self, Contender, wall};
use super::row::Row;
use super::{BenchOptions, CHUNK};

/// `vs_base` of the last row is the time to read and hash all files, by what the second copies add to
/// packing.
pub(super) fn measure(options: &BenchOptions<'_>, progress: fn(&str)) -> Result<Vec<Row>, String> {
    let folder = options.folder()?;
    for copy in ["once/a", "twice/a", "twice/b"] {
        copy_tree(&options.input.root, &folder.path().join(copy)).map_err(|e| format!("copying: {e}"))?;
    }
    let once = Input::of(&folder.path().join("once"), Some(&options.input.name))?;
    let twice = Input::of(&folder.path().join("twice"), Some(&format!("{} twice", options.input.name)))?;
    let target = folder.path().join("packed.nx");
    let mut rows = Vec::new();
    for &level in options.levels {
        let pack = |input: &Input| {
            wall(|| input.builder(pack_options(level, CHUNK, 1))?.write(&target).map_err(message))
                .map(|(_, time)| time)
        };
        let row = |input: &Input, contender: String| Row {
            files: input.files,
            bytes: input.bytes,
            corpus: input.name.clone(),
            ..options.row("dedup", contender, 1, "wall")
        };
        let contenders = vec![
            Contender {
                row: row(&once, format!("linerate zstd {level}")),
                turn: Box::new(|| pack(&once)),
                bases: vec![],
            },
            Contender {
                row: row(&twice, format!("linerate zstd {level}")),
                turn: Box::new(|| pack(&twice)),
                bases: vec![(0, None)],
            },
            Contender {
                row: row(&twice, "read and hash".into()),
                turn: Box::new(|| wall(|| hash(&twice.root).map_err(message)).map(|(_, time)| time)),
                bases: vec![],
            },
        ];
        let mut measured = rounds::measure(contenders, options.rounds, progress)?;
        let ms = |row: &Row| row.median_ms.unwrap_or(0.0);
        let added = ms(&measured[1]) - ms(&measured[0]);
        let hashing = ms(&measured[2]);
        measured.push(Row {
            median_ms: Some(added),
            base: "read and hash".into(),
            vs_base: Some(hashing / added.max(1e-9)),
            rounds: options.rounds,
            ..row(&twice, format!("what the copies add to zstd {level}"))
        });
        rows.extend(measured);
    }
    Ok(rows)
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, kind) = entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind)))?;
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Reads and hashes every file below a folder.
fn hash(folder: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        sum ^= match path.is_dir() {
            true => hash(&path)?,
            false => HashKind::Xxh3.hash_bytes(&fs::read(&path)?),
        };
    }
    Ok(sum)
}
