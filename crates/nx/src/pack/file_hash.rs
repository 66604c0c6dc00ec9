//! Hashes chunked files. Threads read chunks in parallel, and hash them in order while they are in
//! memory.
//!
//! Threads take chunks in order, and each waits only for chunks that were taken before its own and
//! are being read, so there is no deadlock.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};

use linerate_core::{Kind, lock};

use super::error::{PackError, PackResult};
use crate::format::hash::{ContentHasher, HashKind};

/// The hashers of all files in work, which take chunks in order.
#[derive(Default)]
pub(super) struct OrderedHashes {
    state: Mutex<FileHashes>,
    changed: Condvar,
}

#[derive(Default)]
struct FileHashes {
    /// For each started file, the number of its next chunk, and the hasher unless a thread is using
    /// it.
    files: HashMap<usize, (u64, Option<ContentHasher>)>,
    stopped: bool,
}

impl OrderedHashes {
    /// Hashes chunk `number` of `count`, and waits until all chunks before it are hashed. The call
    /// for the last chunk returns the hash of the file.
    ///
    /// # Errors
    /// Fails if [`stop`](Self::stop) was called.
    pub(super) fn update(
        &self,
        file: usize,
        number: u64,
        count: u64,
        chunk: &[u8],
    ) -> PackResult<Option<u64>> {
        let mut hasher = self.wait_for(file, number)?;
        hasher.update(chunk);
        let mut state = lock(&self.state);
        let last = number + 1 == count;
        let hash = last.then(|| hasher.finish());
        if last {
            state.files.remove(&file);
        } else {
            state.files.insert(file, (number + 1, Some(hasher)));
        }
        drop(state);
        self.changed.notify_all();
        Ok(hash)
    }

    fn wait_for(&self, file: usize, number: u64) -> PackResult<ContentHasher> {
        let mut state = lock(&self.state);
        loop {
            if state.stopped {
                return Err(PackError::rule(Kind::Read, "packing was stopped"));
            }
            let begun = state.files.entry(file).or_insert_with(|| (0, Some(HashKind::Xxh3.hasher())));
            match begun {
                (next, hasher) if *next == number => {
                    if let Some(hasher) = hasher.take() {
                        return Ok(hasher);
                    }
                }
                _ => {}
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends all waiting after an error: the chunks that threads wait for may never come.
    pub(super) fn stop(&self) {
        lock(&self.state).stopped = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_from_many_threads_give_the_hash_of_the_file() {
        let bytes: Vec<u8> = (0..100_000u32).map(|i| i.wrapping_mul(i) as u8).collect();
        let hashes = OrderedHashes::default();
        let count = bytes.chunks(1000).count() as u64;
        let found = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (bytes, hashes, found) = (&bytes, &hashes, &found);
                scope.spawn(move || {
                    for (i, chunk) in bytes.chunks(1000).enumerate().filter(|(i, _)| i % 4 == thread) {
                        let hash = hashes.update(7, i as u64, count, chunk).expect("not stopped");
                        found.lock().expect("no panic").extend(hash);
                    }
                });
            }
        });
        assert_eq!(found.into_inner().expect("no panic"), [HashKind::Xxh3.hash_bytes(&bytes)]);
    }

    #[test]
    fn stop_ends_waiting() {
        let hashes = OrderedHashes::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| hashes.update(0, 5, 9, b"chunk").is_err());
            hashes.stop();
            assert!(waiting.join().expect("no panic"));
        });
    }
}
