//! Files of format version 1 in `testdata/dict` must stay readable.
//!
//! `LINERATE_UPDATE=1 cargo test -p linerate-dict --test it goldens` writes missing ones.

use std::fs;
use std::path::{Path, PathBuf};

use linerate_dict::blocks::{BlockFile, BlockFileOptions, Builder, DictionaryChoice, DictionaryPlace};
use linerate_dict::pack::{Editor, Pack, PackOptions, Storage, user_id};
use linerate_dict::{Input, Store, content_hash};

use crate::common::train;

fn golden(name: &str, write: impl FnOnce(&Path)) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/dict");
    let path = folder.join(name);
    if !path.exists() && std::env::var_os("LINERATE_UPDATE").is_some() {
        write(&path);
    }
    path
}

/// The records of `records-1.lrb`.
fn records() -> impl Iterator<Item = (String, String)> {
    (0..900u32).map(|i| {
        let hash = i.wrapping_mul(2_654_435_761) >> 12;
        let value = format!(
            "{{\"item\":{i},\"colour\":\"{}\",\"stock\":{}}}",
            ["red", "green", "blue"][hash as usize % 3],
            hash % 1000
        );
        (format!("shelf-{:02}/item-{i:04}", i / 100), value)
    })
}

#[test]
fn block_file_version_1_is_read() {
    let path = golden("records-1.lrb", |path| {
        let dictionary = DictionaryChoice::Train { size: 1024, small_tables: true };
        let options = BlockFileOptions::new().block_size(256).dictionary(dictionary);
        let mut builder = Builder::create(path, options).unwrap();
        records().for_each(|(key, value)| builder.add(key.as_bytes(), value.as_bytes()).unwrap());
        builder.finish().unwrap();
    });
    let store = Store::new();
    for input in [Input::map(&path).unwrap(), Input::file(&path).unwrap()] {
        let file = BlockFile::open_input(input, &store).unwrap();
        let mut reader = file.reader();
        let counts = file.verify(&mut reader).unwrap().counts;
        assert!(counts.records == 900 && counts.blocks > 100 && counts.index_blocks > 1);
        assert_eq!(file.stats().dictionary.place, DictionaryPlace::Embedded);
        let mut scan = file.scan::<&str>(&mut reader, ..);
        for (key, value) in records() {
            assert_eq!(scan.next_record().unwrap(), Some((key.as_bytes(), value.as_bytes())));
        }
        assert_eq!(scan.next_record().unwrap(), None);
        let keys: Vec<String> = records().map(|(key, _)| key).collect();
        let keys: Vec<&[u8]> = keys.iter().map(String::as_bytes).collect();
        for (value, (_, expected)) in file.multi_get(&mut reader, &keys).into_iter().zip(records()) {
            assert_eq!(value, Ok(Some(expected.into_bytes())));
        }
    }
}

/// Returns the raw content with this ID in the packs.
fn raw(number: u64) -> Vec<u8> {
    format!("raw content {number} of a pack: shelf, item, colour, stock, red, green, blue. ")
        .repeat(3)
        .into_bytes()
}

/// Writes two segments. The first has five dictionaries, of which the first is trained. The second
/// adds one, removes the second, and changes users.
fn write_pack(path: &Path, options: PackOptions) {
    let mut editor = Editor::create(path, options).unwrap();
    editor.add(&train(1, 1024), 7).unwrap();
    (2..6).for_each(|number| assert_eq!(editor.add(&raw(number), 0).unwrap(), number));
    editor.retain(3, user_id("records-1.lrb")).unwrap();
    editor.retain(3, 5).unwrap();
    editor.commit().unwrap();
    let mut editor = Editor::open(path).unwrap();
    editor.add(&raw(6), 0).unwrap();
    editor.remove(2).unwrap();
    editor.release(3, 5).unwrap();
    editor.retain(6, 1).unwrap();
    editor.retain(6, 2).unwrap();
    editor.commit().unwrap();
}

#[test]
fn pack_version_1_is_read() {
    for (name, options) in [
        ("compressed-1.lrp", PackOptions::new().level(19)),
        ("plain-1.lrp", PackOptions::new().uncompressed(true)),
    ] {
        let path = golden(name, |path| write_pack(path, options));
        for input in [Input::map(&path).unwrap(), Input::file(&path).unwrap()] {
            let pack = Pack::open_input(input).unwrap();
            let stats = pack.verify().unwrap();
            assert_eq!((stats.dictionaries, stats.unused, stats.generation, stats.ignored), (5, 3, 2, 0));
            assert_eq!(stats.uncompressed, options.uncompressed);
            assert!(pack.entries().map(|entry| entry.id).eq([1, 3, 4, 5, 6]));
            for entry in pack.entries().skip(1) {
                assert!(pack.read(entry.id).unwrap() == raw(entry.id));
                assert_eq!((entry.zstd_id, entry.table_logs, entry.cluster), (0, [0; 4], 0));
                // The removed dictionary is the base of the others.
                let form =
                    if options.uncompressed { Storage::Uncompressed } else { Storage::CompressedWith(2) };
                assert_eq!(entry.storage, form);
            }
            let trained = pack.entry(1).unwrap();
            assert!(
                trained.zstd_id != 0 && trained.cluster == 7 && trained.table_logs.iter().all(|log| *log > 4)
            );
            assert_eq!(content_hash(&pack.read(1).unwrap()), trained.hash);
            assert_eq!(pack.users(3).unwrap(), [user_id("records-1.lrb")]);
            assert_eq!(pack.users(6).unwrap(), [1, 2]);
        }
        // The previous state can be read, too.
        let bytes = fs::read(&path).unwrap();
        let before = Pack::open_input(Input::memory(&bytes[..bytes.len() - 1])).unwrap();
        assert!(before.entries().map(|entry| entry.id).eq(1..6));
        assert_eq!(before.users(3).unwrap().len(), 2);
        // The pack can be changed.
        let mut editor = Editor::open_memory(bytes).unwrap();
        assert_eq!(editor.add(&raw(7), 0).unwrap(), 7);
        let pack = Pack::open_input(Input::memory(editor.into_bytes().unwrap())).unwrap();
        assert_eq!(pack.verify().unwrap().dictionaries, 6);
    }
}
