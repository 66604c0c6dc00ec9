//! Draws paths as a tree: folders with their total bytes, then their contents.

use std::cmp::Ordering;

use crate::ui::error::CliError;
use crate::ui::stdout::StdoutLines;

/// Greatest depth at which a folder has a line of its own. Deeper folders are shown as part of the
/// names of their files. Real trees are not that deep, and a crafted archive could have millions of
/// folders.
const MAX_DEPTH: usize = 64;

/// Compares paths component by component.
pub(crate) fn order(a: &str, b: &str) -> Ordering {
    match std::ptr::eq(a, b) {
        // Entries of a crafted archive can share a path of any length, which is not compared.
        true => Ordering::Equal,
        false => a.split('/').cmp(b.split('/')),
    }
}

/// Writes a tree of paths with their sizes in bytes. The paths must be sorted by [`order`].
pub(crate) fn draw(entries: &[(&str, u64)], lines: &mut StdoutLines) -> Result<(), CliError> {
    lines.write(format_args!("{:>15}  .", total(entries)))?;
    rows(entries, &mut |size, depth, name| {
        lines.write(format_args!("{size:>15}  {:1$}{name}", "", 2 * depth))
    })
}

/// Writes a line of a tree. Takes the size in bytes, the depth from 1, and the name of a file or
/// folder.
type Put<'a> = dyn FnMut(u64, usize, &str) -> Result<(), CliError> + 'a;

/// Calls `put` for each file, and for each folder down to [`MAX_DEPTH`] before its first file.
fn rows(entries: &[(&str, u64)], put: &mut Put<'_>) -> Result<(), CliError> {
    let mut open: Vec<&str> = Vec::new();
    for (i, (path, size)) in entries.iter().enumerate() {
        let mut folders: Vec<&str> = path.splitn(MAX_DEPTH + 1, '/').collect();
        let name = folders.pop().unwrap_or_default();
        let common = open.iter().zip(&folders).take_while(|(a, b)| a == b).count();
        open.truncate(common);
        for folder in &folders[common..] {
            open.push(folder);
            let below = entries[i..].iter().take_while(|(path, _)| is_below(path, &open));
            let size = below.fold(0u64, |sum, (_, size)| sum.saturating_add(*size));
            put(size, open.len(), &format!("{folder}/"))?;
        }
        put(*size, open.len() + 1, name)?;
    }
    Ok(())
}

/// Whether a path lies below the folder that these names lead to.
fn is_below(path: &str, folders: &[&str]) -> bool {
    let mut parts = path.split('/');
    folders.iter().all(|folder| parts.next() == Some(folder)) && parts.next().is_some()
}

fn total(entries: &[(&str, u64)]) -> u64 {
    entries.iter().fold(0, |sum, (_, size)| sum.saturating_add(*size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_is_listed_once_with_its_total_size() {
        let mut entries = vec![("b/c/y", 4), ("a", 1), ("b/x", 2), ("b/c/z", 8), ("b.txt", 16)];
        entries.sort_by(|a, b| order(a.0, b.0));
        let mut seen = Vec::new();
        rows(&entries, &mut |size, depth, name| {
            seen.push(format!("{size} {depth} {name}"));
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, ["1 1 a", "14 1 b/", "12 2 c/", "4 3 y", "8 3 z", "2 2 x", "16 1 b.txt"]);
    }

    #[test]
    fn path_of_100000_folders_is_drawn_with_limited_depth() {
        let path = "x/".repeat(100_000) + "y";
        let mut seen = Vec::new();
        rows(&[(&path, 1), (&path, 2)], &mut |_, depth, name| {
            seen.push((depth, name.len()));
            Ok(())
        })
        .unwrap();
        assert_eq!((seen.len(), seen[0], seen[MAX_DEPTH].0), (MAX_DEPTH + 2, (1, 2), MAX_DEPTH + 1));
    }
}
