//! Paths in the commands of candidates: their operands, and outputs beside these.

use std::path::{Path, PathBuf};

/// A path as an argument that no program takes for an option or standard input: `./-a` for `-a`.
pub fn operand(path: &Path) -> String {
    let name = path.display().to_string();
    if name.starts_with('-') { format!("./{name}") } else { name }
}

/// The folder that a file or folder is in.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    match path.parent().filter(|_| path.file_name().is_some()) {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None if path == Path::new(".") => PathBuf::from(".."),
        // A path that ends in `..`, or the root.
        None => path.join(".."),
    }
}

/// Returns the path of the archive for a file or folder, as an operand: `mods.nx` beside `mods`.
pub(super) fn archive_of(path: &Path) -> String {
    let full = path.canonicalize().unwrap_or_default();
    let name = path.file_name().or(full.file_name()).map_or("data".into(), |name| name.to_string_lossy());
    let archive = format!("{name}.nx");
    operand(&match path.file_name() {
        Some(_) => path.with_file_name(archive),
        None => folder_of(path).join(archive),
    })
}

/// Returns the path of the output for an input file, as an operand: `rows.dict` beside `rows.json`
/// for the extension `dict`, but `rows.new.dict` beside `rows.dict`.
pub(super) fn output_of(path: &Path, extension: &str) -> String {
    let output = path.with_extension(extension);
    operand(&match output == path {
        true => path.with_extension(format!("new.{extension}")),
        false => output,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_begin_with_a_hyphen_get_a_folder() {
        let operands = ["-a", "-", "--", "a", "./-a", "a/-b"].map(|path| operand(Path::new(path)));
        assert_eq!(operands, ["./-a", "./-", "./--", "a", "./-a", "a/-b"]);
    }

    #[test]
    fn archive_is_beside_the_data_and_not_inside_it() {
        let of = |path| PathBuf::from(archive_of(Path::new(path)));
        assert_eq!(of("/data/mods/"), Path::new("/data/mods.nx"));
        assert_eq!(of("mods.v1"), Path::new("mods.v1.nx"));
        assert_eq!(of("logs/a.log"), Path::new("logs/a.log.nx"));
        assert_eq!(of("-a.log"), Path::new("./-a.log.nx"));
        let current = std::env::current_dir().expect("a folder");
        let archive = |folder: &Path| format!("{}.nx", folder.file_name().expect("a name").display());
        assert_eq!(of("."), Path::new("..").join(archive(&current)));
        let above = current.parent().expect("a folder above");
        assert_eq!(of(".."), Path::new("../..").join(archive(above)));
    }

    #[test]
    fn folder_of_a_path_is_named_even_if_the_path_has_none() {
        for (path, folder) in
            [("a", "."), ("a/b", "a"), ("/a/", "/"), (".", ".."), ("..", "../.."), ("a/..", "a/../..")]
        {
            assert_eq!(folder_of(Path::new(path)), Path::new(folder), "{path}");
        }
    }

    #[test]
    fn output_is_never_its_input() {
        let of = |path| output_of(Path::new(path), "dict");
        assert_eq!(of("logs/rows.json"), "logs/rows.dict");
        assert_eq!(of("rows.dict"), "rows.new.dict");
        assert_eq!(of("-rows"), "./-rows.dict");
    }
}
