//! Hashes of large files whose chunks are read by many threads, made while the chunks are at hand.
//!
//! Threads take chunks in order, and each waits only for chunks taken before its own, which are
//! being read: nobody waits for something that has not begun.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};

use linerate_core::Kind;

use super::error::{PackError, PackResult};
use crate::hash::{ContentHasher, HashKind};

#[derive(Default)]
pub(super) struct FileHashes {
    state: Mutex<State>,
    turn: Condvar,
}

#[derive(Default)]
struct State {
    /// Of each file that is begun: its next chunk, and the hash so far unless a thread has it.
    files: HashMap<usize, (u64, Option<ContentHasher>)>,
    stopped: bool,
}

impl FileHashes {
    /// Takes chunk `number` of `count` of a file once those before are taken. The last chunk gives
    /// the hash of the file.
    ///
    /// # Errors
    /// If [`stop`](Self::stop) was called.
    pub(super) fn update(
        &self,
        file: usize,
        number: u64,
        count: u64,
        chunk: &[u8],
    ) -> PackResult<Option<u64>> {
        let mut hasher = self.wait_for(file, number)?;
        hasher.update(chunk);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let last = number + 1 == count;
        let hash = last.then(|| hasher.finish());
        if last {
            state.files.remove(&file);
        } else {
            state.files.insert(file, (number + 1, Some(hasher)));
        }
        drop(state);
        self.turn.notify_all();
        Ok(hash)
    }

    fn wait_for(&self, file: usize, number: u64) -> PackResult<ContentHasher> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
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
            state = self.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends all waiting: a thread has failed, and what others wait for may never come.
    pub(super) fn stop(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).stopped = true;
        self.turn.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_many_threads_hash_as_the_file() {
        let bytes: Vec<u8> = (0..100_000u32).map(|i| i.wrapping_mul(i) as u8).collect();
        let hashes = FileHashes::default();
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
    fn stopping_ends_waiting() {
        let hashes = FileHashes::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| hashes.update(0, 5, 9, b"chunk").is_err());
            hashes.stop();
            assert!(waiting.join().expect("no panic"));
        });
    }
}
