//! The parts of the shape "archives" that need no other program.

use std::fs;
use std::path::Path;

use linerate_bench::archives::{Bench, Input, Part, mapped};
use linerate_bench::records::Measurement;
use linerate_nx::pack::{Builder, PackOptions};

/// A folder with a file of text, an empty one, and a large one of noise.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("a/b");
    fs::create_dir_all(&below).unwrap();
    fs::write(below.join("text"), "a line of text\n".repeat(1000)).unwrap();
    fs::write(below.join("empty"), "").unwrap();
    let large: Vec<u8> = (0..3_000_000u32).map(|i| (i.wrapping_mul(i) >> 11) as u8).collect();
    fs::write(folder.path().join("large"), large).unwrap();
    folder
}

fn options<'s>(input: &'s Input, scratch: &Path) -> Bench<'s> {
    Bench {
        input,
        levels: &[1],
        rounds: 1,
        quick: true,
        linerate: "linerate".into(),
        scratch: scratch.into(),
        drive: scratch.into(),
    }
}

#[test]
fn every_contender_of_a_part_has_its_row_with_figures() {
    let (folder, scratch) = (folder(), tempfile::tempdir().unwrap());
    let input = Input::of(folder.path(), Some("made")).unwrap();
    let parts =
        [(Part::Decode, 8), (Part::Pack, 18), (Part::Dedup, 4), (Part::Presets, 4), (Part::Settings, 3)];
    for (part, rows) in parts {
        let measured = part.measure(&options(&input, scratch.path())).unwrap().concat();
        assert_eq!(measured.len(), rows, "{part:?}");
        let timed =
            |row: &Measurement| row.metrics.contains_key("elapsed") || row.metrics.contains_key("cpu");
        assert!(measured.iter().all(|row| timed(row) && row.data.starts_with("made")));
    }
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "files are left in the scratch folder");
}

#[test]
fn empty_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Input::of(folder.path(), None).is_err_and(|error| error.contains("nothing to pack")));
}

#[test]
fn mapped_extraction_writes_the_same_files() {
    let (folder, out) = (folder(), tempfile::tempdir().unwrap());
    let archive = out.path().join("packed.nx");
    let mut builder = Builder::new(PackOptions::default()).unwrap();
    builder.add_folder(folder.path(), |_| Some(Default::default())).unwrap();
    builder.write(&archive).unwrap();
    for threads in [1, 2] {
        let target = out.path().join(threads.to_string());
        mapped::extract(&archive, &target, threads).unwrap();
        for path in ["a/b/text", "a/b/empty", "large"] {
            assert!(
                fs::read(target.join(path)).unwrap() == fs::read(folder.path().join(path)).unwrap(),
                "{path}"
            );
        }
    }
}
