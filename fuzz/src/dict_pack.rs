//! Packs of dictionaries: arbitrary bytes as a pack, and as one with correct hashes.

use std::cell::RefCell;

use linerate_dict::pack::{Editor, Pack, Storage};
use linerate_dict::{Input, Kind, Store, content_hash};

use crate::files::{field, put, seal};

/// Bytes of the header, of a segment's header and of a trailer. The length of a pack is a multiple
/// of this.
const LINE: usize = 64;
/// Bytes of an index before its rows.
const HEAD: usize = 64;
/// Bytes of a row of an index.
const ROW: usize = 80;

thread_local! {
    static STORE: RefCell<Store> = RefCell::new(Store::new());
}

/// Reads the bytes as a pack of dictionaries, and as one with corrected hashes.
///
/// # Panics
/// If a returned dictionary does not match its hash, if one can no longer be read after another was
/// added, or if a store keeps a dictionary that is no longer loaded.
pub fn dict_pack(data: &[u8]) {
    pack(data);
    pack(&resealed(data));
}

fn pack(bytes: &[u8]) {
    let Ok(pack) = Pack::open_input(Input::memory(bytes)) else { return };
    let stats = pack.stats();
    assert_eq!((stats.dictionaries, stats.len), (pack.len(), bytes.len() as u64));
    let mut before = 0;
    let mut readable = Vec::new();
    for entry in pack.entries() {
        assert!(entry.id > before);
        before = entry.id;
        assert_eq!(pack.entry(entry.id), Some(entry));
        assert_eq!(pack.users(entry.id).expect("it is there").len(), entry.users as usize);
        match pack.read(entry.id) {
            Ok(read) => {
                assert_eq!((read.len(), content_hash(&read)), (entry.len as usize, entry.hash));
                readable.push((entry.id, read.into_owned()));
            }
            Err(e) => assert!(matches!(e.kind, Kind::Corrupt | Kind::Truncated | Kind::Unsupported), "{e}"),
        }
    }
    assert!(pack.verify().is_err() || readable.len() == pack.len());
    STORE.with_borrow(|store| {
        let before = store.stats().dictionaries;
        drop(pack.register(store));
        drop(pack.load_into(store));
        assert_eq!(store.stats().dictionaries, before);
    });
    changed(bytes, &pack, &readable);
}

/// Asserts that the dictionaries that can be read from a pack can also be read, by the same IDs,
/// after another one was added.
fn changed(bytes: &[u8], pack: &Pack, readable: &[(u64, Vec<u8>)]) {
    let Ok(mut editor) = Editor::open_memory(bytes.to_vec()) else { return };
    let Ok(id) = editor.add(b"a dictionary like no other in there", 3) else { return };
    let Ok(after) = editor.into_bytes() else { return };
    let after = Pack::open_input(Input::memory(after)).expect("it was written");
    assert_eq!(after.len(), pack.len() + usize::from(pack.entry(id).is_none()));
    for (id, bytes) in readable {
        assert!(after.read(*id).expect("it was readable") == &bytes[..]);
    }
    assert!(after.entries().all(|entry| entry.storage != Storage::CompressedWith(entry.id)));
}

/// The pack `data`, cut to a multiple of [`LINE`] bytes, with correct hashes of the header, the
/// uncompressed dictionaries, the index and the trailer.
fn resealed(data: &[u8]) -> Vec<u8> {
    let mut bytes = data.to_vec();
    bytes.truncate(bytes.len() / LINE * LINE);
    let len = bytes.len();
    if len < 4 * LINE {
        return bytes;
    }
    seal(&mut bytes[..LINE]);
    let (body, ends) = bytes.split_at_mut(len - 2 * LINE);
    let at = field(ends, 8).min(len as u64) as usize;
    let index_len = field(ends, 16).min(len as u64) as usize;
    if let Some((before, index)) = body.split_at_mut_checked(at)
        && let Some(index) = index.get_mut(..index_len).filter(|index| index.len() >= HEAD)
    {
        for row in index[HEAD..].as_chunks_mut::<ROW>().0.iter_mut().filter(|row| row[52] == 0) {
            let (at, len) = (field(row, 8) as usize, field(row, 16) as u32 as usize);
            if let Some(stored) = at.checked_add(len).and_then(|end| before.get(at..end)) {
                put(row, 24, content_hash(stored));
            }
        }
        put(ends, 24, content_hash(index));
    }
    put(ends, 40, len as u64);
    seal(&mut ends[..LINE]);
    ends.copy_within(..LINE, LINE);
    bytes
}
