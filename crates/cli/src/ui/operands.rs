//! The operands of `gzip`, `zstd` and `rice`: standard input, files, and with `-r` the files below
//! folders.

use std::collections::HashSet;
use std::io::{IsTerminal, stdin, stdout};
use std::path::{Path, PathBuf};

use crate::ui::error::CliError;
use crate::ui::walk;

/// An input of a subcommand.
pub(crate) enum Operand {
    Stdin,
    /// Given on the command line.
    Named(PathBuf),
    /// Found below a folder.
    Found(PathBuf),
}

impl Operand {
    /// The operand that an argument of the command line names; `-` is standard input.
    pub(crate) fn from_argument(path: &Path) -> Operand {
        if is_stdin(path) { Operand::Stdin } else { Operand::Named(path.to_owned()) }
    }

    /// The name in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Operand::Stdin => "stdin".into(),
            Operand::Named(path) | Operand::Found(path) => path.display().to_string(),
        }
    }

    /// The path of a file; `None` for standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Operand::Stdin => None,
            Operand::Named(path) | Operand::Found(path) => Some(path),
        }
    }
}

/// Whether an argument of the command line names standard input, as `-` does.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether standard input is read: because an argument names it, or because there is no argument.
pub(crate) fn read_stdin(files: &[PathBuf]) -> bool {
    files.is_empty() || files.iter().any(|path| is_stdin(path))
}

/// Refuses to read compressed data from a terminal if `from_stdin`, and to write it to a terminal
/// if `to_stdout`. Returns the message.
pub(crate) fn refuse_terminal(from_stdin: bool, to_stdout: bool) -> Result<(), &'static str> {
    if to_stdout && stdout().is_terminal() {
        return Err(
            "compressed data is not written to a terminal; -o FILE writes it to a file, -f forces it",
        );
    }
    if from_stdin && stdin().is_terminal() {
        return Err("compressed data is not read from a terminal; name a file, or force it with -f");
    }
    Ok(())
}

/// The arguments of the command line that name operands.
pub(crate) struct Arguments<'a> {
    /// The arguments. If there are none, standard input is the operand.
    pub(crate) files: &'a [PathBuf],
    /// Whether a folder stands for all files below it.
    pub(crate) recursive: bool,
    /// Function that removes the suffix of a compressed file from a path. Returns `None` if there
    /// is no such suffix.
    pub(crate) without_suffix: &'a dyn Fn(&Path) -> Option<PathBuf>,
}

/// An operand, or the name of a folder that cannot be read and why.
pub(crate) type FoundOperand = Result<Operand, (String, CliError)>;

impl<'a> Arguments<'a> {
    /// Returns the operands in groups, in the order of the command line. Those of a group can be
    /// processed in parallel, since none is the output of another: a group has all files below one
    /// folder, or named files whose names differ without their suffixes.
    pub(crate) fn groups(&self) -> Vec<Box<dyn Iterator<Item = FoundOperand> + 'a>> {
        let mut groups: Vec<Box<dyn Iterator<Item = FoundOperand> + 'a>> = Vec::new();
        let mut group = Vec::new();
        let mut seen = HashSet::new();
        let mut end = |group: &mut Vec<Operand>, next: Option<&'a Path>| {
            if !group.is_empty() {
                groups.push(Box::new(std::mem::take(group).into_iter().map(Ok)));
            }
            if let Some(folder) = next {
                groups.push(Box::new(operands_below(folder)));
            }
        };
        for path in self.files {
            if self.recursive && !is_stdin(path) && path.is_dir() {
                end(&mut group, Some(path));
                seen.clear();
                continue;
            }
            let name = self.without_suffixes(path);
            // A file that is named twice is processed twice, one time after the other.
            if seen.contains(&name) {
                end(&mut group, None);
                seen.clear();
            }
            seen.insert(name);
            group.push(Operand::from_argument(path));
        }
        if self.files.is_empty() {
            group.push(Operand::Stdin);
        }
        end(&mut group, None);
        groups
    }

    /// The path without the suffixes of compressed files at its end.
    fn without_suffixes(&self, path: &Path) -> PathBuf {
        let mut name = path.to_owned();
        while let Some(shorter) = (self.without_suffix)(&name) {
            name = shorter;
        }
        name
    }
}

fn operands_below(folder: &Path) -> impl Iterator<Item = FoundOperand> {
    walk::files_below(folder).map(|found| match found {
        Ok(file) => Ok(Operand::Found(file)),
        Err((folder, error)) => Err((folder.display().to_string(), error)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_the_output_of_another_are_in_different_groups() {
        let without_zst = |path: &Path| (path.extension()? == "zst").then(|| path.with_extension(""));
        let groups = |files: &[&str]| -> Vec<usize> {
            let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
            let arguments = Arguments { files: &files, recursive: false, without_suffix: &without_zst };
            arguments.groups().into_iter().map(Iterator::count).collect()
        };
        assert_eq!(groups(&["a", "b", "c.zst"]), [3]);
        assert_eq!(groups(&["a", "b", "a", "c"]), [2, 2]);
        assert_eq!(groups(&["a", "a.zst", "a.zst.zst", "b"]), [1, 1, 2]);
        assert_eq!(groups(&[]), [1]);
    }
}
