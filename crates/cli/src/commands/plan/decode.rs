//! Makes the command that decodes what the command of a candidate encodes.

use std::fs::File;
use std::path::{Path, PathBuf};

use linerate_candidates::operand;
use linerate_rice::Params;
use linerate_rice::file::{Input, NpyHeader};

use crate::commands::rice::names::{CHUNK, Decoded, STREAMS, appended, decoded as name_of, encoded};

/// Returns the command that decodes the output of `command`, which encodes `data`. It restores the
/// files, or prints the records of a block file in the order of their keys, or writes the payloads
/// of messages. `None` if `command` only trains or checks, for an archive of several folders, and
/// for three outputs: HDF5 files are read as they are, several chunks of Delta-Rice 1 have
/// parameters of their own, and `rice decode` cannot give the names of several files.
pub(super) fn decoding(command: &[String], data: &[PathBuf]) -> Option<Vec<String>> {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let decoded = |words: &[&str], rest: Vec<String>| {
        Some(words.iter().map(|word| (*word).to_owned()).chain(rest).collect())
    };
    match words.as_slice() {
        ["linerate", "nx", "pack", .., archive] => {
            let first = root(data.first()?);
            let is_one = data.iter().all(|path| root(path) == first);
            is_one.then(|| decoded(&["linerate", "nx", "extract", archive, "-o"], vec![operand(first)]))?
        }
        ["linerate", "gzip", ..] => {
            decoded(&["linerate", "gzip", "-d", "-k"], of_files(data, |path| appended(path, "gz")))
        }
        // A build without the encoder names the standard tool.
        ["linerate", "zstd", ..] | ["zstd", ..] => {
            decoded(&["linerate", "zstd", "-d"], of_files(data, |path| appended(path, "zst")))
        }
        ["linerate", "rice", "encode", "--v1", flags @ .., file] => match data {
            [one] if one.is_file() => {
                decoded(&["linerate", "rice", "decode"], of_chunk(flags, Path::new(file))?)
            }
            _ => None,
        },
        // The command has no option except -r. Arrays that it cannot encode are not its operands.
        ["linerate", "rice", "encode", files @ ..] => {
            let files: Vec<PathBuf> = files.iter().filter(|word| **word != "-r").map(PathBuf::from).collect();
            let mut arguments = of_files(&files, |path| encoded(path, STREAMS));
            match files.as_slice() {
                [file] => arguments.extend(renamed(file, STREAMS, ending(file))),
                _ if files.iter().all(|file| renamed(file, STREAMS, ending(file)).is_empty()) => {}
                _ => return None,
            }
            decoded(&["linerate", "rice", "decode"], arguments)
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

/// Returns the arguments that decode the chunk of this file, which was encoded with these flags. A
/// chunk does not contain its parameters: m and the filter are among the flags, and the segment
/// follows from the shape. `None` if m is not among the flags, or samples do not have 16 bits.
fn of_chunk(flags: &[&str], file: &Path) -> Option<Vec<String>> {
    let (parameters, shape, element, mut output, ending) = match flags {
        // A WAV file is encoded as one row of raw samples.
        [parameters @ .., "--dtype", element] => {
            let (samples, output) = (file.metadata().ok()?.len() / 2, vec!["--raw".to_owned()]);
            (parameters, vec![samples], *element, output, Decoded::Raw)
        }
        parameters => {
            let header = NpyHeader::read(&mut Input::from_file(File::open(file).ok()?).ok()?).ok()?;
            let axes: Vec<String> = header.shape.axes().iter().map(u64::to_string).collect();
            let output = vec!["--shape".to_owned(), axes.join(",")];
            (parameters, header.shape.axes().to_vec(), header.element.name(), output, Decoded::Npy)
        }
    };
    output.extend(renamed(file, CHUNK, ending));
    if !parameters.contains(&"--m") || !matches!(element, "i16" | "u16") {
        return None;
    }
    let mut arguments: Vec<String> = parameters.iter().map(|word| (*word).to_owned()).collect();
    let segment = Params::segment_for(&shape).map(|segment| ["--segment".to_owned(), segment.to_string()]);
    arguments.extend(segment.into_iter().flatten());
    arguments.extend(["--dtype".to_owned(), element.to_owned()]);
    arguments.extend(output);
    arguments.push(operand(&encoded(file, CHUNK)));
    Some(arguments)
}

/// Returns the format that `rice decode` restores a file or folder of streams to.
fn ending(file: &Path) -> Decoded {
    let input = File::open(file).ok().and_then(|file| Input::from_file(file).ok());
    let is_wav = input.is_some_and(|mut input| input.is_wav().unwrap_or(false));
    if is_wav { Decoded::Wav } else { Decoded::Npy }
}

/// Returns the option that gives a decoded file its name, if it would get another, as NumPy data in
/// a file that is not named `.npy` does.
fn renamed(file: &Path, suffix: &str, ending: Decoded) -> Vec<String> {
    match file.is_dir() || name_of(&encoded(file, suffix), ending) == file {
        true => Vec::new(),
        false => vec!["-o".to_owned(), operand(file)],
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
            "linerate rice encode --v1 -r takes",
            "h5repack -f /run:UD=325,0,1,0 run.h5 run.rice.h5",
        ] {
            assert_eq!(of(command, &["rows.json"]), None, "{command}");
        }
    }

    #[test]
    fn archive_of_files_is_extracted_to_the_folder_of_all() {
        let found =
            of("linerate nx pack logs/a.log logs/b.log -o logs/a.log.nx", &["logs/a.log", "logs/b.log"]);
        assert_eq!(found.as_deref(), Some("linerate nx extract logs/a.log.nx -o logs"));
        let found = of("linerate nx pack x/a.log y/b.log -o x/a.log.nx", &["x/a.log", "y/b.log"]);
        assert_eq!(found, None, "its names are relative to two folders");
        let found = of("linerate nx pack a.log -o a.log.nx", &["a.log"]);
        assert_eq!(found.as_deref(), Some("linerate nx extract a.log.nx -o ."));
    }
}
