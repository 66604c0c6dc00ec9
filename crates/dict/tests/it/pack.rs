//! Packs: creation, reading, changes, compaction, interruption and damage.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use linerate_dict::pack::{Editor, Pack, PackOptions, Storage, compact, user_id};
use linerate_dict::{Decoder, Input, Kind, Store, content_hash};

use crate::common::{compress, distinct, rows, train};

/// Dictionaries by ID, and their users.
type Expected = BTreeMap<u64, (Vec<u8>, Vec<u64>)>;

fn compare(pack: &Pack, expected: &Expected) {
    assert_eq!(pack.len(), expected.len());
    assert!(pack.entries().map(|entry| entry.id).eq(expected.keys().copied()));
    for (id, (bytes, users)) in expected {
        let entry = pack.entry(*id).unwrap();
        assert!(pack.read(*id).unwrap() == &bytes[..]);
        assert_eq!((entry.len as usize, entry.hash), (bytes.len(), content_hash(bytes)));
        assert_eq!(pack.find(entry.hash).unwrap(), entry);
        assert_eq!((&pack.users(*id).unwrap(), entry.users as usize), (users, users.len()));
    }
    let stats = pack.verify().unwrap();
    assert_eq!(stats, pack.stats());
    assert_eq!(stats.unused, expected.values().filter(|(_, users)| users.is_empty()).count());
    assert_eq!(stats.bytes, expected.values().map(|(bytes, _)| bytes.len() as u64).sum::<u64>());
}

/// Adds a dictionary to the pack and to the expected state.
fn add(editor: &mut Editor, expected: &mut Expected, bytes: Vec<u8>, cluster: u32) -> u64 {
    let id = editor.add(&bytes, cluster).unwrap();
    expected.entry(id).or_insert((bytes, Vec::new()));
    id
}

fn with_users(editor: &mut Editor, expected: &mut Expected, id: u64, users: &[u64]) {
    for user in users {
        assert!(editor.retain(id, *user).unwrap());
        assert!(!editor.retain(id, *user).unwrap());
    }
    let of = &mut expected.get_mut(&id).unwrap().1;
    of.extend(users);
    of.sort_unstable();
}

#[test]
fn dictionaries_round_trip_in_all_storages_and_inputs() {
    let folder = tempfile::tempdir().unwrap();
    for uncompressed in [false, true] {
        let path = folder.path().join(format!("{uncompressed}"));
        let mut editor = Editor::create(&path, PackOptions::new().uncompressed(uncompressed)).unwrap();
        let mut expected = Expected::new();
        for i in 0..60 {
            let id = add(&mut editor, &mut expected, distinct(i, 4000), i as u32 % 3);
            with_users(&mut editor, &mut expected, id, &[user_id("a"), i, 7, u64::MAX][..i as usize % 5 % 4]);
        }
        add(&mut editor, &mut expected, b"raw content".to_vec(), 9);
        assert_eq!(editor.add(&distinct(5, 4000), 77).unwrap(), 6, "it is there already");
        assert_eq!(editor.add(b"7 bytes", 0).unwrap_err().kind, Kind::BadArgument);
        assert!(editor.add(&train(1, 2048)[..60], 0).is_err());
        assert!(!path.exists());
        assert_eq!(editor.commit().unwrap(), 1);
        let inputs = [
            Input::map(&path).unwrap(),
            Input::file(&path).unwrap(),
            Input::memory(fs::read(&path).unwrap()),
        ];
        for input in inputs {
            let pack = Pack::open_input(input).unwrap();
            compare(&pack, &expected);
            assert_eq!(pack.read(0).unwrap_err().kind, Kind::BadArgument);
            assert_eq!(pack.read(62).unwrap_err().kind, Kind::BadArgument);
        }
        let pack = Pack::open(&path).unwrap();
        let forms: Vec<Storage> = pack.entries().map(|entry| entry.storage).collect();
        assert!(pack.entries().all(|entry| entry.offset % 64 == 0));
        if uncompressed {
            assert!(forms.iter().all(|form| *form == Storage::Uncompressed));
        } else {
            // The first of each cluster is compressed alone; rows of the same kind resemble it.
            assert!(
                (0..3).all(|i| forms[i] == Storage::Compressed
                    && forms[i + 3] == Storage::CompressedWith(i as u64 + 1))
            );
            assert!(pack.stats().stored_bytes < pack.stats().bytes / 2);
        }
        assert_eq!(Editor::create(&path, PackOptions::new()).err().unwrap().kind, Kind::Write);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Makes a pack of ten dictionaries, and changes it. Returns both states.
fn changed(path: &Path, options: PackOptions) -> (Expected, Expected) {
    let mut expected = Expected::new();
    let mut editor = Editor::create(path, options).unwrap();
    for i in 0..10 {
        let id = add(&mut editor, &mut expected, distinct(i, 700), i as u32 % 2);
        with_users(&mut editor, &mut expected, id, &[i]);
    }
    editor.commit().unwrap();
    let before = expected.clone();
    let mut editor = Editor::open(path).unwrap();
    for i in 10..13 {
        add(&mut editor, &mut expected, distinct(i, 700), i as u32 % 2);
    }
    for id in [1, 2, 5] {
        assert_eq!(editor.remove(id).unwrap_err().kind, Kind::BadArgument, "{id} is in use");
        assert!(editor.release(id, id - 1).unwrap());
        assert!(!editor.release(id, id - 1).unwrap());
        expected.get_mut(&id).unwrap().1.clear();
    }
    for id in [1, 5, 13] {
        editor.remove(id).unwrap();
        expected.remove(&id);
        assert_eq!(editor.remove(id).unwrap_err().kind, Kind::BadArgument);
        assert_eq!(editor.retain(id, 1).unwrap_err().kind, Kind::BadArgument);
    }
    with_users(&mut editor, &mut expected, 12, &[100, 50]);
    assert_eq!(editor.commit().unwrap(), 2);
    (before, expected)
}

#[test]
fn removed_base_is_not_used_for_new_dictionaries() {
    let mut editor = Editor::in_memory(PackOptions::new()).unwrap();
    let removed = editor.add(&distinct(0, 700), 0).unwrap();
    let mut editor = Editor::open_memory(editor.into_bytes().unwrap()).unwrap();
    editor.remove(removed).unwrap();
    let mut expected = Expected::new();
    let base = add(&mut editor, &mut expected, distinct(2, 700), 0);
    let other = add(&mut editor, &mut expected, distinct(4, 700), 0);
    let pack = Pack::open_input(Input::memory(editor.into_bytes().unwrap())).unwrap();
    compare(&pack, &expected);
    assert_eq!(pack.entry(other).unwrap().storage, Storage::CompressedWith(base));
    assert_eq!(pack.stats().removed_bytes, 0);
}

#[test]
fn changes_append_and_ids_are_not_reused() {
    for uncompressed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pack");
        let options = PackOptions::new().uncompressed(uncompressed);
        let (_, mut expected) = changed(&path, options);
        let pack = Pack::open(&path).unwrap();
        compare(&pack, &expected);
        // A base stays, although it is not listed.
        assert_eq!(pack.stats().removed_bytes > 0, !uncompressed);
        assert!(pack.read(1).is_err() && pack.find(content_hash(&distinct(0, 700))).is_none());
        let before = fs::read(&path).unwrap();

        let mut editor = Editor::open(&path).unwrap();
        let second = Editor::open(&path).err().unwrap();
        assert_eq!((second.kind, second.message), (Kind::Write, "another process is writing the file"));
        assert_eq!(compact(&path, options, |_| true).unwrap_err().kind, Kind::Write);
        let id = add(&mut editor, &mut expected, distinct(0, 700), 0);
        assert_eq!(id, 14, "not 1 again, and not 13");
        drop(editor);
        assert!(fs::read(&path).unwrap() == before, "what is not committed goes");
        expected.remove(&14);

        let mut editor = Editor::open(&path).unwrap();
        add(&mut editor, &mut expected, distinct(20, 700), 0);
        editor.commit().unwrap();
        assert!(fs::read(&path).unwrap().starts_with(&before));
        compare(&Pack::open(&path).unwrap(), &expected);

        assert_eq!(compact(&path, options, |_| false).unwrap_err().kind, Kind::BadArgument);
        compare(&Pack::open(&path).unwrap(), &expected);
        let len = fs::metadata(&path).unwrap().len();
        let compacted = compact(&path, options, |entry| entry.users > 0 || entry.id == 14).unwrap();
        expected.retain(|id, (_, users)| !users.is_empty() || *id == 14);
        assert_eq!((compacted.kept, compacted.before), (expected.len(), len));
        assert!(compacted.dropped == 2 && compacted.after < len * 2 / 3);
        assert_eq!(compacted.after, fs::metadata(&path).unwrap().len());
        let compact = Pack::open(&path).unwrap();
        compare(&compact, &expected);
        assert_eq!((compact.stats().removed_bytes, compact.generation()), (0, 4));
        // The open reader still reads the old file.
        assert!(pack.read(2).unwrap() == &distinct(1, 700)[..]);
        let mut editor = Editor::open(&path).unwrap();
        assert_eq!(editor.add(&distinct(30, 700), 0).unwrap(), 15);
        drop(editor);
        let before = fs::read(&path).unwrap();
        assert_eq!(Editor::open(&path).unwrap().commit().unwrap(), 4, "nothing was changed");
        assert!(fs::read(&path).unwrap() == before);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn interrupted_append_leaves_the_old_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pack");
    let (before, after) = changed(&path, PackOptions::new());
    let bytes = fs::read(&path).unwrap();
    let lens: Vec<usize> =
        (0..=bytes.len()).filter(|&len| Pack::open_input(Input::memory(&bytes[..len])).is_ok()).collect();
    let first = lens[0];
    assert!(lens.iter().copied().eq(first..=bytes.len()) && first < bytes.len() - 1000);
    for len in (first..bytes.len()).step_by(61).chain(bytes.len() - 200..bytes.len()) {
        let pack = Pack::open_input(Input::memory(&bytes[..len])).unwrap();
        compare(&pack, &before);
        assert_eq!(pack.stats().ignored as usize, len - first);
    }
    for len in (first..bytes.len()).step_by(997) {
        // Blocks that were never written read as zeros.
        let mut bytes = bytes.clone();
        bytes[len..].fill(0);
        compare(&Pack::open_input(Input::memory(&bytes[..])).unwrap(), &before);
        // An editor continues from there.
        fs::write(&path, &bytes[..]).unwrap();
        let mut expected = before.clone();
        let mut editor = Editor::open(&path).unwrap();
        assert_eq!(add(&mut editor, &mut expected, distinct(50, 700), 0), 11);
        editor.commit().unwrap();
        let pack = Pack::open(&path).unwrap();
        compare(&pack, &expected);
        assert_eq!(pack.stats().ignored, 0);
    }
    compare(&Pack::open_input(Input::memory(bytes)).unwrap(), &after);
}

#[test]
fn flipped_bits_and_truncation_of_a_pack_are_errors() {
    for uncompressed in [false, true] {
        let mut editor = Editor::in_memory(PackOptions::new().uncompressed(uncompressed)).unwrap();
        let mut expected = Expected::new();
        for i in 0..4 {
            let id = add(&mut editor, &mut expected, distinct(i, 250), 0);
            with_users(&mut editor, &mut expected, id, &[3, 9]);
        }
        let bytes = editor.into_bytes().unwrap();
        compare(&Pack::open_input(Input::memory(&bytes[..])).unwrap(), &expected);
        for len in 0..bytes.len() {
            assert!(Pack::open_input(Input::memory(&bytes[..len])).is_err(), "cut to {len} bytes");
        }
        let mut unnoticed = 0;
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            let Ok(pack) = Pack::open_input(Input::memory(other)) else { continue };
            let mut whole = true;
            for (id, (bytes, users)) in &expected {
                assert_eq!(&pack.users(*id).unwrap(), users);
                match pack.read(*id) {
                    Ok(read) => assert!(read == &bytes[..]),
                    Err(e) => {
                        assert!(matches!(e.kind, Kind::Corrupt | Kind::Truncated | Kind::Unsupported), "{e}");
                        whole = false;
                    }
                }
            }
            let verified = pack.verify().is_ok();
            assert!(whole || !verified);
            unnoticed += usize::from(verified);
        }
        // These are bits of one of the two trailers, of padding, and of frames whose content does
        // not change.
        assert!(unnoticed < 8 * (2 * 64 + 6 * 64), "{unnoticed}");
    }
}

#[test]
fn dropping_loaded_releases_its_dictionaries() {
    let folder = tempfile::tempdir().unwrap();
    for uncompressed in [false, true] {
        let path = folder.path().join(format!("{uncompressed}"));
        let mut editor = Editor::create(&path, PackOptions::new().uncompressed(uncompressed)).unwrap();
        (0..40).for_each(|i| _ = editor.add(&distinct(i, 2000), 0).unwrap());
        editor.commit().unwrap();
        for lazily in [false, true] {
            let store = Store::new();
            let there = store.insert(&distinct(3, 2000)).unwrap();
            let loaded = {
                let pack = Pack::open(&path).unwrap();
                if lazily { pack.register(&store) } else { pack.load_into(&store) }.unwrap()
            };
            assert_eq!((loaded.len(), store.stats().dictionaries), (40, 40));
            assert_eq!((loaded.get(4), loaded.get(0), loaded.get(41)), (Some(there), None, None));
            let mut decoder = Decoder::new(&store);
            let mut out = vec![0; 3000];
            for (number, id) in loaded.iter() {
                let content = rows(number, 3000);
                let block = compress(&distinct(number - 1, 2000), 3, true, &content);
                assert_eq!(decoder.decode(id, &block, &mut out), Ok(3000));
                assert!(out == content);
            }
            drop(loaded);
            assert_eq!(store.stats().dictionaries, 1);
            assert!(store.contains(there));
        }
    }
}

#[test]
fn threads_read_one_pack_concurrently() {
    let mut editor = Editor::in_memory(PackOptions::new()).unwrap();
    (0..60).for_each(|i| _ = editor.add(&distinct(i, 1500), i as u32 % 4).unwrap());
    let pack = Pack::open_input(Input::memory(editor.into_bytes().unwrap())).unwrap();
    let store = Store::new();
    let loaded = pack.register(&store).unwrap();
    let blocks: Vec<(Vec<u8>, Vec<u8>)> =
        (0..60).map(|i| (rows(i, 1000), compress(&distinct(i, 1500), 3, true, &rows(i, 1000)))).collect();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (pack, loaded, blocks, store) = (&pack, &loaded, &blocks, &store);
            scope.spawn(move || {
                let mut decoder = Decoder::new(store);
                let mut out = vec![0; 1000];
                for i in (0..60).map(|i| (i * 7 + thread * 13) % 60) {
                    let id = i as u64 + 1;
                    assert!(pack.read(id).unwrap() == distinct(i as u64, 1500));
                    assert_eq!(decoder.decode(loaded.get(id).unwrap(), &blocks[i].1, &mut out), Ok(1000));
                    assert!(out == blocks[i].0);
                }
            });
        }
    });
}

/// Damage that is detected on reading a dictionary affects only that dictionary.
#[test]
fn damaged_dictionary_is_an_error_of_its_own() {
    let mut editor = Editor::in_memory(PackOptions::new().uncompressed(true)).unwrap();
    (0..5).for_each(|i| _ = editor.add(&distinct(i, 2000), 0).unwrap());
    let mut bytes = editor.into_bytes().unwrap();
    let pack = Pack::open_input(Input::memory(&bytes[..])).unwrap();
    let at = pack.entry(3).unwrap().offset as usize;
    bytes[at + 500] ^= 1;
    let pack = Pack::open_input(Input::memory(&bytes[..])).unwrap();
    assert!(pack.load_into(&Store::new()).is_err());
    let store = Store::new();
    let mut out = vec![0; 1000];
    let block = |i| compress(&distinct(i, 2000), 3, false, &rows(i, 1000));
    if let Ok(loaded) = pack.register(&store) {
        let mut decoder = Decoder::new(&store);
        let mut decode = |id: u64| decoder.decode(loaded.get(id).unwrap(), &block(id - 1), &mut out);
        assert_eq!(decode(3).unwrap_err().kind, Kind::Corrupt);
        for id in [1, 2, 4, 5] {
            assert_eq!(decode(id), Ok(1000));
        }
    }
    for id in 1..6 {
        assert_eq!(pack.read(id).is_ok(), id != 3);
    }
}

/// File permissions are kept.
#[test]
#[cfg(unix)]
fn a_compacted_pack_keeps_its_owner_and_permissions() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pack");
    let mut editor = Editor::create(&path, PackOptions::new()).unwrap();
    (0..3).for_each(|i| _ = editor.add(&distinct(i, 2000), 0).unwrap());
    editor.commit().unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    // Only root can change the owner.
    let _ = chown(&path, Some(12_345), Some(23_456));
    let before = std::fs::metadata(&path).unwrap();
    compact(&path, PackOptions::new(), |entry| entry.id > 1).unwrap();
    let after = std::fs::metadata(&path).unwrap();
    assert_ne!(before.ino(), after.ino());
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    assert_eq!(Pack::open(&path).unwrap().entries().count(), 2);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
