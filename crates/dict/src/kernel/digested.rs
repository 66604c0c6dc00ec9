//! The tables of a dictionary whose bytes stand elsewhere.

use core::slice::{from_raw_parts, from_raw_parts_mut};

use linerate_zstd::Dictionary;

use super::arena::Room;

/// A digested dictionary and the room of its tables. The content is that of the bytes it was made
/// of.
pub(super) struct Digested {
    dictionary: Dictionary<'static>,
    /// What `dictionary` borrows; none for raw content.
    room: Option<Room>,
}

impl Digested {
    /// Makes the tables. Gives the room back if the bytes are no dictionary, or need more.
    ///
    /// # Safety
    /// `bytes` must be there, unchanged, as long as what this returns.
    pub(super) unsafe fn new(bytes: &[u8], mut room: Option<Room>) -> Result<Digested, Option<Room>> {
        let tables: &mut [u8] = room.as_mut().map_or(&mut [], Room::bytes_mut);
        // SAFETY: the caller vouches for the bytes. The tables are in memory that a room owns
        // wherever it is moved; it is kept beside the dictionary and not looked at before that is gone.
        let (bytes, tables) = unsafe {
            let (from, into) = (bytes.as_ptr(), tables.as_mut_ptr());
            (from_raw_parts(from, bytes.len()), from_raw_parts_mut(into, tables.len()))
        };
        match Dictionary::tables_into(bytes, tables) {
            Ok(dictionary) => Ok(Digested { dictionary, room }),
            Err(_) => Err(room),
        }
    }

    pub(super) fn dictionary(&self) -> &Dictionary<'_> {
        &self.dictionary
    }

    /// Forgets the tables; returns their room.
    pub(super) fn into_room(self) -> Option<Room> {
        let Digested { dictionary, room } = self;
        drop(dictionary);
        room
    }
}
