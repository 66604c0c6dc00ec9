//! Failpoint tests: check the state of a pack after an interruption at each step of writing.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use linerate_core::{Error, Kind, Result};

use super::compact::prepare;
use super::editor::lock;
use super::{Editor, Pack, PackOptions};
use crate::files::input::Input;

/// A failpoint is called with the name of each step. An error interrupts the write there.
pub(super) type Failpoint = Box<dyn FnMut(&'static str) -> Result<()> + Send>;

const INTERRUPTED: Error = Error::new(Kind::Read, 0, "interrupted");

fn dictionary(number: u32) -> Vec<u8> {
    format!("dictionary {number}: ").repeat(20 + number as usize % 7).into_bytes()
}

/// Returns the IDs of the dictionaries of a valid pack, or `None` without a file.
fn numbers(path: &Path) -> Option<Vec<u64>> {
    if !path.exists() {
        return None;
    }
    let pack = Pack::open(path).unwrap();
    pack.verify().unwrap();
    Some(pack.entries().map(|entry| entry.id).collect())
}

fn pack_of(path: &Path, count: u32) {
    let mut editor = Editor::create(path, PackOptions::new()).unwrap();
    (0..count).for_each(|i| _ = editor.add(&dictionary(i), i % 2).unwrap());
    editor.commit().unwrap();
}

/// A change of the pack at a path, with a failpoint.
type Change = fn(&Path, Failpoint) -> Result<()>;

fn create(path: &Path, failpoint: Failpoint) -> Result<()> {
    let mut editor = Editor::create(path, PackOptions::new())?;
    editor.failpoint = Some(failpoint);
    editor.add(&dictionary(1), 0)?;
    editor.commit().map(|_| ())
}

fn append(path: &Path, failpoint: Failpoint) -> Result<()> {
    let mut editor = Editor::open(path)?;
    editor.failpoint = Some(failpoint);
    editor.add(&dictionary(50), 0)?;
    editor.remove(2)?;
    editor.commit().map(|_| ())
}

fn compacted(path: &Path, failpoint: Failpoint) -> Result<()> {
    let _lock = lock(path)?;
    let (mut editor, _) = prepare(path, PackOptions::new(), |entry| entry.id > 3)?;
    editor.failpoint = Some(failpoint);
    editor.replace().map(|_| ())
}

/// Interrupts a change at each step, and checks the copy that a kill would leave. Returns the
/// steps.
fn interrupt_each_step(
    change: Change,
    there: Option<u32>,
    before: Option<&[u64]>,
    after: &[u64],
) -> Vec<&'static str> {
    let steps = Arc::new(Mutex::new(Vec::new()));
    for stop in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pack");
        if let Some(count) = there {
            pack_of(&path, count);
        }
        let copies = tempfile::tempdir().unwrap();
        let told = steps.clone();
        told.lock().unwrap().clear();
        let (from, to) = (path.clone(), copies.path().to_owned());
        let failpoint: Failpoint = Box::new(move |step| {
            let mut steps = told.lock().unwrap();
            if from.exists() {
                fs::copy(&from, to.join(steps.len().to_string())).unwrap();
            }
            steps.push(step);
            if steps.len() > stop { Err(INTERRUPTED) } else { Ok(()) }
        });
        let result = change(&path, failpoint);
        let left = numbers(&path);
        assert!(left.as_deref() == before || left.as_deref() == Some(after), "{left:?}");
        // No temporary files are left.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), usize::from(left.is_some()));
        let passed = steps.lock().unwrap().clone();
        let mut seen_after = false;
        for step in 0..passed.len() {
            let copy = numbers(&copies.path().join(step.to_string()));
            assert!(copy.as_deref() == before || copy.as_deref() == Some(after), "{copy:?}");
            // A later step never restores the earlier state.
            assert!(!seen_after || copy.as_deref() == Some(after));
            seen_after = copy.as_deref() == Some(after);
        }
        if result.is_ok() {
            assert_eq!(left.as_deref(), Some(after));
            assert_eq!(stop, passed.len());
            return passed;
        }
        assert_eq!(result, Err(INTERRUPTED));
        // The remaining pack can be changed.
        if left.is_some() {
            Editor::open(&path).unwrap().add(&dictionary(99), 0).unwrap();
            assert_eq!(numbers(&path), left);
        }
    }
    unreachable!("the last step ends it")
}

#[test]
fn interrupted_writes_leave_the_old_or_the_new_state() {
    let writing = ["dictionaries", "index", "index on the disk", "ends", "ends on the disk"];
    let naming = [&writing[..], &["before the name", "after the name"]].concat();
    assert_eq!(interrupt_each_step(create, None, None, &[1]), naming);
    assert_eq!(interrupt_each_step(append, Some(4), Some(&[1, 2, 3, 4]), &[1, 3, 4, 5]), writing);
    assert_eq!(interrupt_each_step(compacted, Some(6), Some(&[1, 2, 3, 4, 5, 6]), &[4, 5, 6]), naming);
}

#[test]
fn a_replaced_pack_is_not_appended_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pack");
    pack_of(&path, 3);
    let lock = lock(&path).unwrap();
    let (editor, _) = prepare(&path, PackOptions::new(), |_| true).unwrap();
    assert_eq!(Editor::open(&path).err().unwrap().kind, Kind::Write);
    editor.replace().unwrap();
    // The lock was that of the replaced file. On Windows it is a file beside it.
    if cfg!(windows) {
        drop(lock);
        Editor::open(&path).unwrap().add(&dictionary(9), 0).unwrap();
    } else {
        Editor::open(&path).unwrap().add(&dictionary(9), 0).unwrap();
        drop(lock);
    }
    assert_eq!(numbers(&path).unwrap(), [1, 2, 3]);
}

/// Windows does not truncate a file that a reader has mapped. The next editor overwrites the bytes
/// that an editor leaves there.
#[test]
fn a_mapped_pack_is_changed_after_a_change_that_was_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pack");
    pack_of(&path, 3);
    let reader = Pack::open(&path).unwrap();
    let mut given_up = Editor::open(&path).unwrap();
    for seed in 10..20 {
        given_up.add(&dictionary(seed), 0).unwrap();
    }
    drop(given_up);
    assert_eq!(numbers(&path).unwrap(), [1, 2, 3]);
    let mut editor = Editor::open(&path).unwrap();
    let id = editor.add(&dictionary(9), 0).unwrap();
    editor.commit().unwrap();
    let changed = Pack::open(&path).unwrap();
    assert_eq!(&changed.read(id).unwrap()[..], dictionary(9));
    assert_eq!(&reader.read(1).unwrap()[..], &changed.read(1).unwrap()[..]);
}

/// Makes a pack that ends at the end of a page, and an editor that has written 2 MiB after it in
/// the file.
fn half_written(path: &Path) -> Editor {
    let mut filler = 64;
    loop {
        let mut editor = Editor::create(path, PackOptions::new().uncompressed(true)).unwrap();
        editor.add(&vec![b'd'; filler], 0).unwrap();
        editor.commit().unwrap();
        if fs::metadata(path).unwrap().len().is_multiple_of(4096) {
            break;
        }
        fs::remove_file(path).unwrap();
        filler += 64;
    }
    let committed = fs::metadata(path).unwrap().len();
    let mut editor = Editor::open(path).unwrap();
    for seed in 0..8 {
        editor.add(&dictionary(seed).repeat(1000)[..256 << 10], seed).unwrap();
    }
    assert!(fs::metadata(path).unwrap().len() > committed + (1 << 20));
    editor
}

#[test]
fn an_editor_that_gives_up_does_not_end_readers_by_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pack");
    let given_up = half_written(&path);
    let packs = [Pack::open(&path).unwrap(), Pack::open_input(Input::file(&path).unwrap()).unwrap()];
    drop(given_up);
    for pack in packs {
        assert!(pack.stats().ignored > 1 << 20);
        assert_eq!(pack.verify().unwrap().dictionaries, 1);
    }
}

#[test]
fn a_pack_that_is_cut_while_it_is_opened_is_its_last_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pack");
    let given_up = half_written(&path);
    let input = Input::file(&path).unwrap();
    drop(given_up);
    let pack = Pack::open_input(input).unwrap();
    assert_eq!((pack.verify().unwrap().dictionaries, pack.generation()), (1, 1));
}

#[test]
fn a_commit_after_opening_is_not_damage_of_the_open_pack() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pack");
    let given_up = half_written(&path);
    let pack = Pack::open_input(Input::file(&path).unwrap()).unwrap();
    drop(given_up);
    let mut editor = Editor::open(&path).unwrap();
    editor.add(&dictionary(1), 0).unwrap();
    editor.commit().unwrap();
    assert_eq!(pack.verify().unwrap().dictionaries, 1);
    assert_eq!(Pack::open(&path).unwrap().len(), 2);
}
