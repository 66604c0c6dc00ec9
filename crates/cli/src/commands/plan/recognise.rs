//! Recognises the shape of data, such as waveforms or records: a file by its first and last bytes,
//! folders and files of several shapes by the kinds of their files.
//!
//! Only a path that cannot be read is an error. A single file of unknown structure has the shape
//! `bytes`, and the user is told so.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use linerate_candidates::arrays::Container;
use linerate_candidates::{Shape, messages, sst};

use super::folder;
use crate::ui::error::CliError;

/// Number of bytes at the start of a file that are examined.
const HEAD: usize = 64 << 10;
/// Smallest share of JSON objects among the complete lines at the start of a file for which it
/// counts as JSON lines. It must have at least two.
const JSON_LINES: f64 = 0.95;

/// Checks that all paths are files and folders. A pipe cannot be read at several places, and opening
/// one waits for its writer.
///
/// # Errors
/// Returns an error for another path, or one that does not exist.
pub(super) fn check(paths: &[PathBuf]) -> Result<(), CliError> {
    for_each(paths, |path| {
        let kind = std::fs::metadata(path).map_err(CliError::io("cannot read"))?;
        match kind.is_file() || kind.is_dir() {
            true => Ok(()),
            false => Err(CliError::Refused("neither a file nor a folder; write the data to a file".into())),
        }
    })
    .map(drop)
}

/// Returns the shape of the data, and sentences for the user about it.
///
/// # Errors
/// Returns an error if a path cannot be read. It names the path unless that is the first, which the
/// reporter names. Files below a folder that cannot be read are no error here.
pub(super) fn recognise(paths: &[PathBuf]) -> Result<(Shape, Vec<String>), CliError> {
    let shapes = for_each(paths, |path| of_path(path).map_err(CliError::io("cannot read")))?;
    let first = shapes.first().copied().flatten();
    Ok(match (first, paths) {
        // Files of one shape have that shape. Folders, and files of several or unknown shapes, are
        // recognised by the kinds of their files.
        (Some(shape), _) if shape != Shape::Files && shapes.iter().all(|found| *found == Some(shape)) => {
            (shape, Vec::new())
        }
        (None, [_]) => {
            let note = "The content has no known structure and is measured as bytes. --shape names another: text, \
                        records, waveforms or messages.";
            (Shape::Bytes, vec![note.into()])
        }
        _ => folder::recognise(paths),
    })
}

/// Returns the results for all paths. The error names its path unless it is the first one, which the reporter
/// names.
fn for_each<T>(paths: &[PathBuf], work: impl Fn(&Path) -> Result<T, CliError>) -> Result<Vec<T>, CliError> {
    let with_name = |(i, path): (usize, &PathBuf)| {
        work(path).map_err(|e| if i == 0 { e } else { e.in_file(&path.display().to_string()) })
    };
    paths.iter().enumerate().map(with_name).collect()
}

/// Returns the shape of a file or folder; `None` for a file of unknown structure.
fn of_path(path: &Path) -> std::io::Result<Option<Shape>> {
    if std::fs::metadata(path)?.is_dir() {
        return Ok(Some(Shape::Files));
    }
    Ok(of_ends(&Ends::read(path, HEAD)?))
}

/// The first and the last bytes of a file.
pub(super) struct Ends {
    pub(super) head: Vec<u8>,
    tail: [u8; 8],
    len: u64,
}

impl Ends {
    /// Reads at most `most` bytes at the start of a file, and the last eight, which are zero for a
    /// shorter file.
    pub(super) fn read(path: &Path, most: usize) -> std::io::Result<Ends> {
        let mut file = File::open(path)?;
        let mut head = Vec::new();
        file.by_ref().take(most as u64).read_to_end(&mut head)?;
        let len = file.metadata()?.len();
        let mut tail = [0; 8];
        if len >= 8 {
            file.seek(SeekFrom::Start(len - 8))?;
            file.read_exact(&mut tail)?;
        }
        Ok(Ends { head, tail, len })
    }
}

/// Returns the shape of a file with these first and last bytes; `None` for an unknown structure.
pub(super) fn of_ends(ends: &Ends) -> Option<Shape> {
    of_content(&ends.head, ends.tail, ends.len)
}

/// Returns the shape of a file of `len` bytes with these first bytes and these last eight.
fn of_content(head: &[u8], tail: [u8; 8], len: u64) -> Option<Shape> {
    if Container::recognise(head).is_some() {
        return Some(Shape::Waveforms);
    }
    if sst::recognise(&tail) {
        return Some(Shape::Sst);
    }
    if messages::recognise(head, len) {
        return Some(Shape::Messages);
    }
    if is_json_lines(head, head.len() as u64 == len) {
        return Some(Shape::Records);
    }
    is_web_text(head).then_some(Shape::Text)
}

fn is_json_lines(head: &[u8], complete: bool) -> bool {
    let mut lines: Vec<&[u8]> = head.split(|&byte| byte == b'\n').collect();
    // Drops a last line that is cut off, or is the empty one after the last line end.
    if !complete || lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let is_object = |line: &&&[u8]| {
        line.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<serde_json::Value>(line).is_ok()
    };
    let objects = lines.iter().filter(is_object).count();
    objects >= 2 && objects as f64 >= JSON_LINES * lines.len() as f64
}

/// Whether the bytes are UTF-8, and begin like an HTTP message or a document that servers send:
/// HTML, XML, a JSON object, or CSS with `@charset`.
fn is_web_text(head: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(valid_prefix(head)) else { return false };
    let start = text.trim_start_matches('\u{feff}').trim_start();
    const STARTS: [&str; 9] =
        ["HTTP/1.", "GET ", "POST ", "<!DOCTYPE", "<!doctype", "<html", "<?xml", "{\"", "@charset"];
    STARTS.iter().any(|prefix| start.starts_with(prefix))
}

/// Returns the bytes without a character of UTF-8 that is cut off at their end.
fn valid_prefix(head: &[u8]) -> &[u8] {
    match std::str::from_utf8(head) {
        Err(e) if e.error_len().is_none() => &head[..e.valid_up_to()],
        _ => head,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(head: &[u8]) -> Option<Shape> {
        of_content(head, [0; 8], head.len() as u64)
    }

    #[test]
    fn arrays_tables_and_recordings_are_recognised() {
        assert_eq!(shape(b"\x93NUMPY\x01\x00"), Some(Shape::Waveforms));
        assert_eq!(shape(b"RIFF....AVI LIST"), None);
        assert_eq!(shape(b"LGWR\x01\x00\x00\x00"), Some(Shape::Messages));
        assert_eq!(of_content(b"anything", linerate_dict::sst::MAGIC, 8 << 10), Some(Shape::Sst));
    }

    #[test]
    fn json_lines_are_records_and_one_json_document_is_text() {
        assert_eq!(shape(b"{\"a\":1}\n{\"a\":2}\n"), Some(Shape::Records));
        assert_eq!(of_content(b"{\"a\":1}\n{\"a\":2}\n{\"a", [0; 8], 1 << 20), Some(Shape::Records));
        assert_eq!(shape(b"{\"a\":[1,\n2]}\n"), Some(Shape::Text));
    }

    #[test]
    fn documents_of_the_web_are_text_and_other_bytes_are_not() {
        assert_eq!(shape(b"<!DOCTYPE html><html>"), Some(Shape::Text));
        assert_eq!(shape(b"\xef\xbb\xbf<?xml version='1.0'?>"), Some(Shape::Text));
        assert_eq!(shape(b"HTTP/1.1 200 OK\r\n"), Some(Shape::Text));
        assert_eq!(shape(b"\x00\x01\x02\xff"), None);
        assert_eq!(shape(b"plain words"), None);
        assert_eq!(shape(b""), None);
    }
}
