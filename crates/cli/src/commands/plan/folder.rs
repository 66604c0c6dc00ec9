//! Recognises the kinds of files in a folder by their first and last bytes, and each kind's share
//! of the bytes.

use std::path::PathBuf;

use linerate_candidates::arrays::{Container, has_integers};
use linerate_candidates::sample::FileSet;
use linerate_candidates::{Shape, operand};
use linerate_nx::filter;

use super::recognise::{Ends, of_ends};

/// Largest number of files that are examined. If there are more, every n-th of them is examined, in
/// the order of extension and name.
const MOST: usize = 2000;
/// Number of bytes at the start of a file that are examined. The last eight are examined too.
const HEAD: usize = 4 << 10;
/// Smallest share of the bytes for which a kind of files is mentioned to the user.
const NAMED: f64 = 0.05;
/// Smallest share of the bytes in NumPy arrays and WAV files that Delta-Rice takes for which a
/// folder has the shape of waveforms.
const WAVEFORMS: f64 = 0.9;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A NumPy array or WAV file of integers that Delta-Rice takes, or any HDF5 file.
    Samples(Container),
    JsonLines,
    Messages,
    Sst,
    Texture,
    Compressed,
    Text,
    Other,
}

impl Kind {
    /// Returns the name of such files in the plural, for sentences.
    fn name(self) -> &'static str {
        match self {
            Kind::Samples(Container::Npy) => "NumPy arrays",
            Kind::Samples(Container::Wav) => "WAV files",
            Kind::Samples(Container::Hdf5) => "HDF5 files",
            Kind::JsonLines => "JSON lines",
            Kind::Messages => "recordings of messages",
            Kind::Sst => "SST files",
            Kind::Texture => "textures",
            Kind::Compressed => "files that are compressed already",
            Kind::Text => "text",
            Kind::Other => "other files",
        }
    }

    /// Returns the shape whose candidates are made for such files, if there is one.
    fn shape(self) -> Option<Shape> {
        match self {
            Kind::Samples(_) => Some(Shape::Waveforms),
            Kind::JsonLines => Some(Shape::Records),
            Kind::Messages => Some(Shape::Messages),
            Kind::Sst => Some(Shape::Sst),
            Kind::Texture | Kind::Compressed | Kind::Text | Kind::Other => None,
        }
    }

    /// Whether `linerate rice encode -r` takes such files.
    fn is_encoded_by_rice(self) -> bool {
        matches!(self, Kind::Samples(Container::Npy | Container::Wav))
    }
}

/// First bytes of files in formats that are compressed already.
const COMPRESSED: [&[u8]; 12] = [
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"PK\x03\x04",
    b"\xfd7zXZ",
    b"7z\xbc\xaf",
    b"BZh",
    b"\x04\x22\x4d\x18",
    b"Rar!",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"OggS",
    b"ID3",
];

/// Returns the shape of these files and folders, and sentences about them: the share of each kind
/// of file, and for each kind that suits another shape, the command for it.
pub(super) fn recognise(paths: &[PathBuf]) -> (Shape, Vec<String>) {
    // The measurement that follows reports what cannot be read.
    let Ok(set) = FileSet::new(paths) else { return (Shape::Files, Vec::new()) };
    let step = set.files.len().div_ceil(MOST).max(1);
    let (mut shares, mut all): (Vec<(Kind, u64)>, u64) = (Vec::new(), 0);
    for file in set.files.iter().step_by(step) {
        let kind = Ends::read(&file.path, HEAD).map_or(Kind::Other, |ends| kind(&ends));
        match shares.iter_mut().find(|share| share.0 == kind) {
            Some(share) => share.1 += file.size,
            None => shares.push((kind, file.size)),
        }
        all += file.size;
    }
    shares.sort_by_key(|share| std::cmp::Reverse(share.1));
    let part = |bytes: u64| bytes as f64 / all.max(1) as f64;
    let sampled: f64 =
        shares.iter().filter(|share| share.0.is_encoded_by_rice()).map(|share| part(share.1)).sum();
    let shape = if sampled >= WAVEFORMS { Shape::Waveforms } else { Shape::Files };
    let named: Vec<(Kind, f64)> =
        shares.iter().map(|share| (share.0, part(share.1))).filter(|share| share.1 >= NAMED).collect();
    (shape, sentences(shape, &named, paths))
}

fn sentences(shape: Shape, shares: &[(Kind, f64)], paths: &[PathBuf]) -> Vec<String> {
    let percent = |part: f64| format!("{:.0} %", part * 100.0);
    let list: Vec<String> =
        shares.iter().map(|(kind, part)| format!("{} {}", percent(*part), kind.name())).collect();
    let mut sentences = vec![format!("By bytes: {}.", list.join(", "))];
    let words: Vec<String> = paths.iter().map(|path| operand(path)).collect();
    let quoted = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
    for (kind, part) in shares {
        if kind.shape().is_none_or(|own| own == shape) {
            continue;
        }
        let how = match kind.is_encoded_by_rice() {
            true => format!("`linerate rice encode -r {quoted}` makes them smaller by themselves"),
            false => "`linerate plan` with these files alone measures what suits them".into(),
        };
        sentences.push(format!("{} of the bytes are {}: {how}.", percent(*part), kind.name()));
    }
    sentences
}

fn kind(ends: &Ends) -> Kind {
    let head = ends.head.as_slice();
    match (of_ends(ends), Container::recognise(head)) {
        (_, Some(Container::Hdf5)) => Kind::Samples(Container::Hdf5),
        (_, Some(container)) if has_integers(head) => Kind::Samples(container),
        (Some(Shape::Records), _) => Kind::JsonLines,
        (Some(Shape::Messages), _) => Kind::Messages,
        (Some(Shape::Sst), _) => Kind::Sst,
        _ if filter::detect(head).is_some() => Kind::Texture,
        _ if COMPRESSED.iter().any(|magic| head.starts_with(magic)) => Kind::Compressed,
        _ if is_text(head) => Kind::Text,
        _ => Kind::Other,
    }
}

/// Whether the bytes are UTF-8, apart from a character that is cut off at the end, and have none of
/// the control characters 0 to 8 and 14 to 26, which are usual in binary formats.
fn is_text(head: &[u8]) -> bool {
    let valid = match std::str::from_utf8(head) {
        Err(e) if e.error_len().is_none() => e.valid_up_to(),
        Err(_) => return false,
        Ok(text) => text.len(),
    };
    !head[..valid].iter().any(|byte| matches!(byte, 0..=8 | 14..=26))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, Vec<u8>)]) -> (Shape, Vec<String>) {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).expect("writable");
        }
        let (shape, sentences) = recognise(&[folder.path().to_owned()]);
        let named = |sentence: String| sentence.replace(&folder.path().display().to_string(), "DATA");
        (shape, sentences.into_iter().map(named).collect())
    }

    /// Returns a WAV file of this size, with one channel of 16-bit PCM.
    fn wav(bytes: usize) -> Vec<u8> {
        let words = |numbers: &[u32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
        let format = [&words(&[16])[..], &[1, 0, 1, 0], &words(&[48_000, 96_000]), &[2, 0, 16, 0]].concat();
        let (riff, data) = (words(&[bytes as u32 - 8]), words(&[bytes as u32 - 44]));
        let mut wav = [&b"RIFF"[..], &riff, b"WAVEfmt ", &format, b"data", &data].concat();
        wav.resize(bytes, 1);
        wav
    }

    fn npy(element: &str, bytes: usize) -> Vec<u8> {
        let text = format!("{{'descr': '{element}', 'fortran_order': False, 'shape': ({}, ), }}", bytes / 4);
        let mut npy = [&b"\x93NUMPY\x01\x00\x76\x00"[..], format!("{text:<117}\n").as_bytes()].concat();
        npy.resize(bytes, 0);
        npy
    }

    #[test]
    fn shares_are_by_bytes_and_waveforms_have_a_command() {
        let found = of(&[
            ("a.wav", wav(6100)),
            ("b.txt", b"words and words ".repeat(125)),
            ("c.png", [&b"\x89PNG"[..], &[7; 996]].concat()),
            ("d.bin", vec![0; 900]),
            ("e.bin", vec![0; 0]),
        ]);
        let list =
            "By bytes: 61 % WAV files, 20 % text, 10 % files that are compressed already, 9 % other files.";
        let advice = "61 % of the bytes are WAV files: `linerate rice encode -r DATA` makes them smaller by themselves.";
        assert_eq!(found, (Shape::Files, vec![list.into(), advice.into()]));
    }

    #[test]
    fn folder_of_recordings_is_of_waveforms() {
        let (shape, sentences) =
            of(&[("a.wav", wav(9000)), ("b.npy", npy("<i4", 1000)), ("notes.txt", b"words".to_vec())]);
        assert_eq!(shape, Shape::Waveforms);
        assert_eq!(sentences, ["By bytes: 90 % WAV files, 10 % NumPy arrays."]);
    }

    #[test]
    fn arrays_of_floating_point_have_no_command() {
        let found = of(&[("a.npy", npy("<f4", 3000)), ("b.npy", npy("<i4", 1000))]);
        let advice = "25 % of the bytes are NumPy arrays: `linerate rice encode -r DATA` makes them smaller by themselves.";
        assert_eq!(
            found,
            (Shape::Files, vec!["By bytes: 75 % other files, 25 % NumPy arrays.".into(), advice.into()])
        );
    }

    #[test]
    fn other_shapes_are_measured_by_a_plan_of_their_own() {
        let (shape, sentences) = of(&[("a.json", b"{\"a\":1}\n{\"a\":2}\n".repeat(50)), ("b", vec![0; 800])]);
        assert_eq!(shape, Shape::Files);
        assert!(
            sentences[1].starts_with("50 % of the bytes are JSON lines: `linerate plan` with these"),
            "{sentences:?}"
        );
    }

    #[test]
    fn command_for_a_folder_whose_name_begins_with_a_hyphen_takes_it_for_no_option() {
        let shares = [(Kind::Samples(Container::Wav), 0.6)];
        let sentences = sentences(Shape::Files, &shares, &[PathBuf::from("-r")]);
        assert!(sentences[1].contains("`linerate rice encode -r ./-r`"), "{sentences:?}");
    }

    #[test]
    fn folder_that_cannot_be_read_is_left_to_the_measurement() {
        assert_eq!(recognise(&[PathBuf::from("/nowhere")]), (Shape::Files, Vec::new()));
    }
}
