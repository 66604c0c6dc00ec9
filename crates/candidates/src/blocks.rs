//! Measures zstd blocks with dictionaries: the speed of encoding them one by one and of decoding
//! them in batches, and the time of a cold read, which decodes a single block while neither it nor
//! its dictionary is in the CPU's caches.

use std::time::{Duration, Instant};

use linerate_dict::{Decoder, Encoder, Id, Job, Order, Store, Training};
use linerate_plan::{Measurement, Memory, Read};

use super::pieces::Candidate;
use crate::stats;

/// Largest number of blocks that are decoded in a batch.
const BATCH: usize = 64;
/// Size in bytes of the memory that is written before each cold read to empty the CPU's caches:
/// more than the last-level cache of most machines.
const EVICTED: usize = 64 << 20;
/// Smallest and largest number of cold reads of a candidate. Each reads another block, so a
/// candidate with fewer blocks has fewer reads. Emptying the caches takes about 15 ms before each.
const READS: (usize, usize) = (3, 31);
/// Approximate bytes of memory of a decoder, without dictionaries.
const DECODER: u64 = 330 << 10;

/// Blocks, each with its dictionary.
pub(super) struct Blocks<'b> {
    /// Content of each block.
    pub(super) pieces: &'b [Vec<u8>],
    /// The dictionary of each block, or `Id::NONE`.
    pub(super) ids: Vec<Id>,
    /// The store with the dictionaries.
    pub(super) store: Store,
    /// zstd level.
    pub(super) level: i32,
}

/// Trains a dictionary of at most `size` bytes for pieces compressed at `level`. Returns `None` if
/// `size` is 0 or training fails, such as with too few pieces.
pub(super) fn train(pieces: &[Vec<u8>], size: usize, level: i32) -> Option<Vec<u8>> {
    let samples: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    (size > 0).then(|| Training::new(size).level(level).train(&samples).ok()).flatten()
}

impl<'b> Blocks<'b> {
    /// Makes a candidate that encodes these blocks one by one, and decodes them in batches.
    pub(super) fn candidate(&self, measurement: Measurement) -> Candidate<'b, u8> {
        let (store, ids, level) = (self.store.clone(), self.ids.clone(), self.level);
        let longest = self.pieces.iter().map(Vec::len).max().unwrap_or(0);
        let decoded = (self.store.clone(), self.ids.clone());
        Candidate {
            measurement,
            pieces: self.pieces,
            encode: Box::new(move |pieces, out| {
                let mut encoder = Encoder::new(&store).level(level).map_err(|e| e.to_string())?;
                let mut frame = vec![0; Encoder::bound(longest)];
                for (piece, &id) in pieces.iter().zip(&ids) {
                    let n = encoder.encode(id, piece, &mut frame).map_err(|e| e.to_string())?;
                    out(&frame[..n]);
                }
                Ok(())
            }),
            decode: Box::new(move |frames, out| {
                let (store, ids) = &decoded;
                let (mut decoder, mut buffer) = (Decoder::new(store), vec![0; longest.max(1) * BATCH]);
                for (batch, (frames, ids)) in frames.chunks(BATCH).zip(ids.chunks(BATCH)).enumerate() {
                    let buffers = buffer.chunks_exact_mut(longest.max(1));
                    let jobs = frames.iter().zip(ids).zip(buffers);
                    let mut jobs: Vec<Job<'_>> =
                        jobs.map(|((frame, &id), dst)| Job::new(id, frame, dst)).collect();
                    decoder.decode_batch(&mut jobs, Order::AsGiven);
                    for (i, job) in jobs.iter().enumerate() {
                        let n = job.result.map_err(|e| e.to_string())?;
                        out(batch * BATCH + i, &job.dst[..n]);
                    }
                }
                Ok(())
            }),
        }
    }

    /// Returns the memory for decoding. Per dictionary, it is the mean size of those in the store,
    /// with the tables made so far; per thread, it is a decoder and the longest block.
    pub(super) fn memory(&self) -> Memory {
        let (stats, longest) = (self.store.stats(), self.pieces.iter().map(Vec::len).max().unwrap_or(0));
        let count = stats.dictionaries.max(1) as u64;
        Memory {
            per_stream: (stats.raw_bytes + stats.table_bytes) as u64 / count,
            per_thread: DECODER + longest as u64,
        }
    }

    /// Decodes evenly spread blocks with cold caches, as many as `budget` and `READS` allow.
    /// Returns the median time, and the mean compressed size of the blocks read.
    ///
    /// # Errors
    /// Returns the message of the codec.
    pub(super) fn cold_read(&self, eviction: &mut Eviction, budget: Duration) -> Result<Read, String> {
        let message = |e: linerate_dict::Error| e.to_string();
        let reads = ((budget.as_secs_f64() / 0.015) as usize).clamp(READS.0, READS.1).min(self.pieces.len());
        let mut encoder = Encoder::new(&self.store).level(self.level).map_err(message)?;
        let mut decoder = Decoder::new(&self.store);
        let mut frames = Vec::with_capacity(reads);
        for i in 0..reads {
            let at = i * self.pieces.len() / reads;
            let mut frame = vec![0; Encoder::bound(self.pieces[at].len())];
            let n = encoder.encode(self.ids[at], &self.pieces[at], &mut frame).map_err(message)?;
            frame.truncate(n);
            frames.push((self.ids[at], frame, vec![0; self.pieces[at].len()]));
        }
        let fetched =
            frames.iter().map(|(_, frame, _)| frame.len()).sum::<usize>() as f64 / reads.max(1) as f64;
        // The first use of a dictionary builds its tables, which must not be timed. Usually
        // `Candidate::check` used all dictionaries of the store before. If not, this builds only
        // the tables of the first block's dictionary.
        if let Some((id, frame, content)) = frames.first_mut() {
            decoder.decode(*id, frame, content).map_err(message)?;
        }
        let mut read = |i: usize| {
            let (id, frame, content) = &mut frames[i];
            decoder.decode(*id, frame, content).map(|_| ()).map_err(message)
        };
        Ok(Read { seconds: eviction.median(reads, &mut read)?, fetched })
    }
}

/// Memory that is written to evict everything else from the CPU's caches.
pub(super) struct Eviction(Vec<u8>);

impl Eviction {
    pub(super) fn new() -> Eviction {
        Eviction(vec![0; EVICTED])
    }

    /// Calls `read` with 0 to `reads` - 1, each time with cold caches. Returns the median time of a
    /// call in seconds, or 0 without calls.
    ///
    /// # Errors
    /// Returns the message of the call that failed.
    pub(super) fn median(
        &mut self,
        reads: usize,
        read: &mut dyn FnMut(usize) -> Result<(), String>,
    ) -> Result<f64, String> {
        let mut times = Vec::with_capacity(reads);
        for i in 0..reads {
            self.0.iter_mut().step_by(64).for_each(|byte| *byte = byte.wrapping_add(1));
            std::hint::black_box(&self.0);
            let begun = Instant::now();
            read(i)?;
            times.push(begun.elapsed().as_secs_f64());
        }
        Ok(stats::middle(times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_with_a_dictionary_are_smaller_and_have_reads_and_memory() {
        let row = |i: usize| format!("{{\"id\": {i}, \"state\": \"active\", \"region\": \"north\"}}\n");
        let pieces: Vec<Vec<u8>> =
            (0..400).map(|i| (0..8).map(|j| row(i * 8 + j)).collect::<String>().into_bytes()).collect();
        let dictionary = train(&pieces, 4096, 3).expect("enough samples");
        let store = Store::new();
        let id = store.insert(&dictionary).expect("a dictionary");
        let blocks =
            |id| Blocks { pieces: &pieces, ids: vec![id; pieces.len()], store: store.clone(), level: 3 };
        let (with, without) = (blocks(id), blocks(Id::NONE));
        let size = |blocks: &Blocks<'_>| {
            blocks.candidate(Measurement::default()).check().expect("equal").measurement.compressed
        };
        assert!(size(&with) * 4 < size(&without) * 3, "{} {}", size(&with), size(&without));
        let read = with.cold_read(&mut Eviction::new(), Duration::ZERO).expect("a read");
        assert!(read.seconds > 0.0 && read.fetched > 10.0 && read.fetched < 300.0, "{read:?}");
        assert!(with.memory().per_stream >= dictionary.len() as u64);
        assert!(train(&pieces[..1], 4096, 3).is_none() && train(&pieces, 0, 3).is_none());
    }
}
