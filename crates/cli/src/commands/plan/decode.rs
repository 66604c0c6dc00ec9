//! Makes the command that decodes what the command of a candidate encodes.

use std::path::{Path, PathBuf};

use linerate_candidates::operand;

use crate::commands::rice::names::{STREAMS, encoded};

/// Returns the command that decodes the output of `command`, which encodes `data`. It restores the
/// files, or prints the records of a block file in the order of their keys, or writes the payloads
/// of messages. `None` if `command` only trains or checks, and for two outputs: HDF5 files are read
/// as they are, and a chunk of Delta-Rice 1 lacks parameters that only its encoding prints.
pub(super) fn decoding(command: &[String], data: &[PathBuf]) -> Option<Vec<String>> {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let decoded = |words: &[&str], rest: Vec<String>| {
        Some(words.iter().map(|word| (*word).to_owned()).chain(rest).collect())
    };
    match words.as_slice() {
        ["linerate", "nx", "pack", .., archive] => decoded(
            &["linerate", "nx", "extract", archive, "-o"],
            vec![operand(data.first().map_or(Path::new("."), |first| root(first)))],
        ),
        ["linerate", "gzip", ..] => {
            decoded(&["linerate", "gzip", "-d", "-k"], of_files(data, |path| suffixed(path, "gz")))
        }
        // A build without the encoder names the standard tool.
        ["linerate", "zstd", ..] | ["zstd", ..] => {
            decoded(&["linerate", "zstd", "-d"], of_files(data, |path| suffixed(path, "zst")))
        }
        ["linerate", "rice", "encode", "--v1", ..] => None,
        // The command has no option except -r. Arrays that it cannot encode are not its operands.
        ["linerate", "rice", "encode", files @ ..] => {
            let files: Vec<PathBuf> = files.iter().filter(|word| **word != "-r").map(PathBuf::from).collect();
            decoded(&["linerate", "rice", "decode"], of_files(&files, |path| encoded(path, STREAMS)))
        }
        ["linerate", "gateway", "transcode", .., output] => decoded(
            &["linerate", "gateway", "transcode", "--to", "payloads", output, "-o"],
            vec![operand(&Path::new(output).with_extension("msgs"))],
        ),
        ["linerate", "dict", "build", .., output] => {
            decoded(&["linerate", "dict", "scan", output], Vec::new())
        }
        _ => None,
    }
}

/// Returns the folder to which an archive's names are relative: the packed folder, or the folder of
/// a packed file.
fn root(path: &Path) -> &Path {
    match path.parent() {
        _ if path.is_dir() => path,
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns the encoded files as operands: `-r` first if there are folders, which stay as they are,
/// and `encoded_name` of each other path.
fn of_files(paths: &[PathBuf], encoded_name: impl Fn(&Path) -> PathBuf) -> Vec<String> {
    let recursive = paths.iter().any(|path| path.is_dir()).then(|| "-r".to_owned());
    let name = |path: &PathBuf| if path.is_dir() { operand(path) } else { operand(&encoded_name(path)) };
    recursive.into_iter().chain(paths.iter().map(name)).collect()
}

fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str, data: &[&str]) -> Option<String> {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let data: Vec<PathBuf> = data.iter().map(PathBuf::from).collect();
        decoding(&words, &data).map(|words| words.join(" "))
    }

    // Tests of the program run the commands.
    #[test]
    fn commands_that_restore_no_data_are_not_decoded() {
        for command in [
            "linerate dict train --lines -s 8K rows.json -o rows.dict",
            "linerate dict cluster --lines --count 8 rows.json -o rows.dictionaries",
            "linerate dict sst verify 000012.sst",
            "linerate rice encode --v1 --m 8 run.npy",
            "h5repack -f /run:UD=325,0,1,0 run.h5 run.rice.h5",
        ] {
            assert_eq!(of(command, &["rows.json"]), None, "{command}");
        }
    }

    #[test]
    fn archive_of_files_is_extracted_to_the_folder_of_the_first() {
        let found =
            of("linerate nx pack logs/a.log logs/b.log -o logs/a.log.nx", &["logs/a.log", "logs/b.log"]);
        assert_eq!(found.as_deref(), Some("linerate nx extract logs/a.log.nx -o logs"));
        let found = of("linerate nx pack a.log -o a.log.nx", &["a.log"]);
        assert_eq!(found.as_deref(), Some("linerate nx extract a.log.nx -o ."));
    }
}
