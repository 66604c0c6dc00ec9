//! The usual archivers, started as processes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that packs a folder and extracts what it packed.
pub(super) struct Program {
    pub(super) name: &'static str,
    /// The name of its archives.
    pub(super) archive: &'static str,
    /// Whether its level is that of zstd; otherwise it has its own default.
    pub(super) has_levels: bool,
    /// The Debian package that has it.
    pub(super) package: &'static str,
    /// The file name of its archive.
    file: &'static str,
    /// Packs the folder that it runs in.
    pack: fn(archive: &Path, level: i32) -> Command,
    /// Extracts into a folder.
    extract: fn(archive: &Path, out: &Path) -> Command,
    /// Names of the executable that extracts; the first that is there is used.
    executables: &'static [&'static str],
    /// Prints its version.
    version: &'static [&'static str],
}

/// All of them, with two threads where they can.
pub(super) const PROGRAMS: [Program; 5] = [
    Program {
        name: "unsquashfs 128K",
        archive: "squashfs 128K zstd",
        has_levels: true,
        package: "squashfs-tools",
        file: "128k.sqfs",
        pack: |archive, level| mksquashfs(archive, level, "128K"),
        extract: unsquashfs,
        executables: &["unsquashfs"],
        version: &["-version"],
    },
    Program {
        name: "unsquashfs 1M",
        archive: "squashfs 1M zstd",
        has_levels: true,
        package: "squashfs-tools",
        file: "1m.sqfs",
        pack: |archive, level| mksquashfs(archive, level, "1M"),
        extract: unsquashfs,
        executables: &["unsquashfs"],
        version: &["-version"],
    },
    TAR_ZSTD,
    Program {
        name: "unzip",
        archive: "zip",
        has_levels: false,
        package: "zip, unzip",
        file: "packed.zip",
        pack: |archive, _| command("zip", &[&"-q", &"-r", &archive, &"."]),
        extract: |archive, out| command("unzip", &[&"-q", &archive, &"-d", &out]),
        executables: &["unzip"],
        version: &["-v"],
    },
    Program {
        name: "7z",
        archive: "7z",
        has_levels: false,
        package: "7zip",
        file: "packed.7z",
        pack: |archive, _| command(seven(), &[&"a", &"-bd", &"-bso0", &"-mmt2", &archive, &"."]),
        extract: |archive, out| {
            let mut folder = std::ffi::OsString::from("-o");
            folder.push(out);
            command(seven(), &[&"x", &"-bd", &"-bso0", &"-mmt2", &"-y", &folder, &archive])
        },
        executables: &["7zz", "7z"],
        version: &["i"],
    },
];

/// `tar --zstd`, which decodes in a process of its own.
pub(super) const TAR_ZSTD: Program = Program {
    name: "tar --zstd",
    archive: "tar --zstd",
    has_levels: true,
    package: "tar, zstd",
    file: "packed.tar.zst",
    pack: |archive, level| {
        let filter = format!("zstd -q -{level}");
        command("tar", &[&"--sort=name", &"-I", &filter, &"-cf", &archive, &"."])
    },
    extract: |archive, out| command("tar", &[&"--zstd", &"-xf", &archive, &"-C", &out]),
    executables: &["tar"],
    version: &["--version"],
};

fn command(name: &str, args: &[&dyn AsRef<OsStr>]) -> Command {
    let mut command = Command::new(name);
    command.args(args.iter().map(|arg| arg.as_ref()));
    command
}

fn mksquashfs(archive: &Path, level: i32, block: &str) -> Command {
    let mut command = Command::new("mksquashfs");
    command.arg(".").arg(archive).args(["-comp", "zstd", "-Xcompression-level", &level.to_string()]);
    command.args(["-b", block, "-processors", "2", "-no-progress", "-quiet"]);
    command
}

fn unsquashfs(archive: &Path, out: &Path) -> Command {
    let mut command = Command::new("unsquashfs");
    // The folder is there and empty, which it accepts only with this flag.
    command.args(["-p", "2", "-n", "-q", "-f", "-d"]).arg(out).arg(archive);
    command
}

fn seven() -> &'static str {
    found(&["7zz", "7z"]).unwrap_or("7zz")
}

/// The first of these names that is an executable of this machine.
fn found(names: &'static [&'static str]) -> Option<&'static str> {
    let path = std::env::var_os("PATH")?;
    let is_there = |name: &&&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    names.iter().find(is_there).copied()
}

/// A program with its archive of the corpus.
pub(super) struct Packed {
    pub(super) program: &'static Program,
    pub(super) archive: PathBuf,
    pub(super) bytes: u64,
}

impl Program {
    /// Packs `root` into `folder`.
    ///
    /// # Errors
    /// That it is missing, with its package, or what went wrong.
    pub(super) fn packed(&'static self, root: &Path, folder: &Path, level: i32) -> Result<Packed, String> {
        let missing = || format!("missing: Debian package {}", self.package);
        found(self.executables).ok_or_else(missing)?;
        let archive = folder.join(self.file);
        let mut command = (self.pack)(&archive, level);
        let message = |e: std::io::Error| match e.kind() {
            std::io::ErrorKind::NotFound => missing(),
            _ => format!("{}: {e}", self.name),
        };
        let status = command.current_dir(root).stdout(Stdio::null()).status().map_err(message)?;
        let bytes = archive.metadata().map(|metadata| metadata.len());
        match bytes {
            Ok(bytes) if status.success() => Ok(Packed { program: self, archive, bytes }),
            _ => Err(format!("{}: {:?} fails", self.name, command.get_program())),
        }
    }
}

impl Packed {
    /// The command that extracts into that folder.
    pub(super) fn extract(&self, out: &Path) -> Command {
        (self.program.extract)(&self.archive, out)
    }
}

/// Versions of the programs that are there.
pub(super) fn versions() -> Vec<(String, String)> {
    let known = PROGRAMS.iter().filter_map(|program| Some((found(program.executables)?, program.version)));
    known.map(|(name, args)| (name.to_owned(), version(name, args))).collect()
}

/// The first line that a program prints about itself, up to a comma.
fn version(executable: &str, args: &[&str]) -> String {
    let Ok(output) = Command::new(executable).args(args).stdin(Stdio::null()).output() else {
        return String::new();
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.split([',', '(', ':']).next().unwrap_or_default().trim().to_owned()
}
