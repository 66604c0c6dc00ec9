//! Starts the usual archivers as processes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that packs a folder and extracts what it packed, with two threads where it can.
pub(super) struct Program {
    pub(super) name: &'static str,
    /// Name of the program's archives in records.
    pub(super) archive: &'static str,
    /// Whether the program takes a zstd level. Otherwise it compresses at its own default level.
    pub(super) has_levels: bool,
    /// The Debian packages of the program.
    package: &'static str,
    /// The file name of the archive.
    file: &'static str,
    /// The command that packs its working folder. `a|b` are two names of one program. `ARCHIVE` and
    /// `LEVEL` stand for the path of the archive and the zstd level.
    pack: &'static str,
    /// The command that extracts into its working folder, written in the same way.
    extract: &'static str,
    /// The argument with which the program that extracts prints its version.
    version: &'static str,
}

const SQUASHFS: Program = Program {
    name: "unsquashfs 128K",
    archive: "squashfs 128K zstd",
    has_levels: true,
    package: "squashfs-tools",
    file: "128k.sqfs",
    pack: "mksquashfs . ARCHIVE -comp zstd -Xcompression-level LEVEL -b 128K -processors 2 -no-progress -quiet",
    // The folder exists and is empty, which unsquashfs accepts only with -f.
    extract: "unsquashfs -p 2 -n -q -f -d . ARCHIVE",
    version: "-version",
};

pub(super) const PROGRAMS: [Program; 5] = [
    SQUASHFS,
    Program {
        name: "unsquashfs 1M",
        archive: "squashfs 1M zstd",
        file: "1m.sqfs",
        pack: "mksquashfs . ARCHIVE -comp zstd -Xcompression-level LEVEL -b 1M -processors 2 -no-progress -quiet",
        ..SQUASHFS
    },
    TAR_ZSTD,
    Program {
        name: "unzip",
        archive: "zip",
        has_levels: false,
        package: "zip, unzip",
        file: "packed.zip",
        pack: "zip -q -r ARCHIVE .",
        extract: "unzip -q ARCHIVE",
        version: "-v",
    },
    Program {
        name: "7z",
        archive: "7z",
        has_levels: false,
        package: "7zip",
        file: "packed.7z",
        pack: "7zz|7z a -bd -bso0 -mmt2 ARCHIVE .",
        extract: "7zz|7z x -bd -bso0 -mmt2 -y ARCHIVE",
        version: "i",
    },
];

/// `tar --zstd`, which starts zstd in another process. The environment variable `ZSTD_CLEVEL` sets
/// the level.
pub(super) const TAR_ZSTD: Program = Program {
    name: "tar --zstd",
    archive: "tar --zstd",
    has_levels: true,
    package: "tar, zstd",
    file: "packed.tar.zst",
    pack: "tar --sort=name --zstd -cf ARCHIVE .",
    extract: "tar --zstd -xf ARCHIVE",
    version: "--version",
};

/// Returns the command that `words` describe, as in [`Program`], to run in `folder`.
fn command(words: &'static str, archive: &Path, level: i32, folder: &Path) -> Command {
    let (names, words) = words.split_once(' ').unwrap_or((words, ""));
    let mut command = Command::new(found(names).unwrap_or(names));
    command.current_dir(folder).env("ZSTD_CLEVEL", level.to_string());
    for word in words.split(' ') {
        match word {
            "ARCHIVE" => command.arg(archive),
            "LEVEL" => command.arg(level.to_string()),
            word => command.arg(word),
        };
    }
    command
}

/// The first of the names, which `|` separates, for which a folder of `PATH` has a file.
fn found(names: &'static str) -> Option<&'static str> {
    let path = std::env::var_os("PATH")?;
    names.split('|').find(|name| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

/// An archive that a program packed, with its size in bytes.
pub(super) struct Packed {
    pub(super) program: &'static Program,
    pub(super) archive: PathBuf,
    pub(super) bytes: u64,
}

impl Program {
    /// Packs the folder `root` into an archive in `folder`.
    ///
    /// # Errors
    /// The package to install if the program is missing, or what failed.
    pub(super) fn packed(&'static self, root: &Path, folder: &Path, level: i32) -> Result<Packed, String> {
        self.executable().ok_or_else(|| self.missing())?;
        let archive = folder.join(self.file);
        let mut command = command(self.pack, &archive, level, root);
        let message = |e: std::io::Error| match e.kind() {
            std::io::ErrorKind::NotFound => self.missing(),
            _ => format!("{}: {e}", self.name),
        };
        let status = command.stdout(Stdio::null()).status().map_err(message)?;
        match archive.metadata().map(|metadata| metadata.len()) {
            Ok(bytes) if status.success() => Ok(Packed { program: self, archive, bytes }),
            _ => Err(format!("{}: {:?} fails", self.name, command.get_program())),
        }
    }

    /// The name of the program, and the package to install if the program is missing.
    pub(super) fn availability(&self) -> String {
        match self.executable() {
            Some(_) => self.name.to_owned(),
            None => format!("{:24}{}", self.name, self.missing()),
        }
    }

    fn missing(&self) -> String {
        format!("missing: Debian package {}", self.package)
    }

    /// The executable that extracts, if the machine has it.
    fn executable(&self) -> Option<&'static str> {
        found(self.extract.split(' ').next()?)
    }
}

impl Packed {
    /// The command that extracts into `out`.
    pub(super) fn extract(&self, out: &Path) -> Command {
        command(self.program.extract, &self.archive, 0, out)
    }
}

/// Names and versions of the programs on this machine that extract, of zstd, which tar starts, and of
/// squashfuse, which mounts. A program that prints no version is left out.
pub(super) fn versions() -> Vec<(String, String)> {
    let known = PROGRAMS.iter().filter_map(|program| Some((program.executable()?, program.version)));
    let known = known.chain([("zstd", "--version"), ("squashfuse", "--help")]);
    let printed = known.filter_map(|(name, arg)| {
        let output = Command::new(name).arg(arg).stdin(Stdio::null()).output().ok()?;
        // squashfuse prints its version on standard error, and options on standard output.
        let printed = [output.stderr, output.stdout].concat();
        Some((name.to_owned(), version(&String::from_utf8_lossy(&printed))?.to_owned()))
    });
    printed.collect()
}

/// The first number with a dot in what a program prints about its version, without a `v` before it.
fn version(printed: &str) -> Option<&str> {
    let words = printed.split([' ', ',', '(', ')', '\n']).map(|word| word.trim_start_matches('v'));
    words.into_iter().find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_the_number_that_a_program_prints() {
        assert_eq!(version("tar (GNU tar) 1.34\nCopyright (C) 2021"), Some("1.34"));
        assert_eq!(version("\n7-Zip (z) 26.02 (x64) : Copyright (c) 1999-2026"), Some("26.02"));
        assert_eq!(version("unsquashfs version 4.5.1 (2022/03/17)"), Some("4.5.1"));
        assert_eq!(version("UnZip 6.00 of 20 April 2009, by Debian."), Some("6.00"));
        assert_eq!(version("*** Zstandard CLI (64-bit) v1.5.4, by Yann Collet ***"), Some("1.5.4"));
        assert_eq!(version("squashfuse 0.1.104 (c) 2012 Dave Vasilevsky"), Some("0.1.104"));
        assert_eq!(version("no version"), None);
    }
}
