use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::testing::inflate;

const FORMATS: [Format; 3] = [Format::Deflate, Format::Zlib, Format::Gzip];

/// Returns text-like data, then noise, then a run.
fn data(n: usize) -> Vec<u8> {
    let mut seed = 1u32;
    (0..n)
        .map(|i| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match i * 3 / n.max(1) {
                0 => b"the quick brown fox "[(seed >> 20) as usize % 20],
                1 => (seed >> 24) as u8,
                _ => 7,
            }
        })
        .collect()
}

fn options(container: impl Into<Container>, threads: usize, block: usize) -> Options {
    Options::new(container, Level::Default).threads(threads).block_size(block)
}

#[test]
fn output_round_trips_and_is_the_same_for_any_number_of_threads() {
    for len in [0, 1, 999, 1000, 1001, JOB - 1, JOB, JOB + 1, 1_200_001] {
        let data = data(len);
        for format in FORMATS {
            for (level, isolated) in Level::ALL.into_iter().zip([true, false, true, false]) {
                let mut first: Option<Vec<u8>> = None;
                for threads in [0, 1, 2, 5] {
                    let options = Options { level, isolated, ..options(format, threads, 1000) };
                    let mut out = Vec::new();
                    let totals = compress(&data[..], &mut out, &options).unwrap();
                    assert_eq!((totals.bytes_in, totals.bytes_out), (len as u64, out.len() as u64));
                    assert!(*first.get_or_insert_with(|| out.clone()) == out, "{threads} threads differ");
                }
                assert!(inflate(format, &first.unwrap(), len) == data, "{format:?} {level:?} {len}");
            }
        }
    }
}

#[test]
fn block_sizes_from_one_byte_to_the_whole_input_round_trip() {
    for block in [0, 1, 65_535, 65_536, JOB, JOB + 1, 250_000, 1 << 20] {
        let data = data(if block < 2 { JOB + 1000 } else { 300_000 });
        let mut out = Vec::new();
        compress(&data[..], &mut out, &options(Format::Gzip, 2, block)).unwrap();
        assert!(inflate(Format::Gzip, &out, data.len()) == data, "blocks of {block}");
    }
}

#[test]
fn single_block_input_equals_one_call() {
    let data = data(100_000);
    for format in FORMATS {
        let mut out = Vec::new();
        compress(&data[..], &mut out, &options(format, 2, 100_000)).unwrap();
        assert!(out == crate::compress_to_vec(format, Level::Default, &data));
    }
}

#[test]
fn after_header_writes_no_header() {
    let mut out = Format::Gzip.header().to_vec();
    let options = options(Format::Gzip, 1, 100).after_header(true);
    let totals = compress(&b"abc"[..], &mut out, &options).unwrap();
    assert_eq!(totals.bytes_out + 10, out.len() as u64);
    assert_eq!(totals.checksum, 0x3524_41C2);
    assert_eq!(inflate(Format::Gzip, &out, 3), b"abc");
}

#[test]
fn progress_is_monotonic_and_ends_with_the_totals() {
    let data = data(4 * JOB);
    for container in [Container::Single(Format::Zlib), Container::Bgzf] {
        let mut seen = Vec::new();
        let totals = compress_with_progress(&data[..], io::sink(), &options(container, 3, 4096), |t| {
            seen.push(*t);
        })
        .unwrap();
        assert!(seen.len() > 3);
        assert!(seen.windows(2).all(|w| w[0].bytes_in <= w[1].bytes_in && w[0].bytes_out <= w[1].bytes_out));
        assert_eq!(seen.last(), Some(&totals));
    }
}

#[test]
fn bgzf_blocks_decode_alone_and_hold_their_length() {
    for len in [0, 1, 65_280, 65_281, 400_000] {
        let data = data(len);
        let mut first: Option<Vec<u8>> = None;
        for threads in [1, 4] {
            for level in Level::ALL {
                let options = Options { level, ..options(Container::Bgzf, threads, 1 << 20) };
                let mut out = Vec::new();
                let totals = compress(&data[..], &mut out, &options).unwrap();
                assert_eq!((totals.bytes_in, totals.bytes_out), (len as u64, out.len() as u64));
                assert!(blocks_of_bgzf(&out).concat() == data);
                if level == Level::Default {
                    assert!(*first.get_or_insert_with(|| out.clone()) == out);
                }
            }
        }
    }
}

/// Decodes the blocks, found by their lengths alone.
fn blocks_of_bgzf(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut blocks = Vec::new();
    while !bytes.is_empty() {
        assert_eq!(bytes[..4], [0x1f, 0x8b, 8, 4]);
        assert_eq!(bytes[10..16], [6, 0, b'B', b'C', 2, 0]);
        let size = usize::from(u16::from_le_bytes([bytes[16], bytes[17]])) + 1;
        let block = inflate(Format::Gzip, &bytes[..size], 65_280);
        assert!(!block.is_empty() || size == bytes.len(), "only the last block is empty");
        blocks.push(block);
        bytes = &bytes[size..];
    }
    assert_eq!(blocks.last().map(Vec::len), Some(0), "the end-of-file marker is there");
    blocks
}

/// A reader that returns at most `step` bytes per call, interrupts every third call, and fails at
/// offset `fail_at`.
struct FlakyReader<'a> {
    data: &'a [u8],
    at: usize,
    step: usize,
    calls: usize,
    fail_at: usize,
}

impl Read for FlakyReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(3) {
            return Err(ErrorKind::Interrupted.into());
        }
        if self.at >= self.fail_at {
            return Err(io::Error::other("the disk is on fire"));
        }
        let n = self.step.min(into.len()).min(self.data.len() - self.at).min(self.fail_at - self.at);
        into[..n].copy_from_slice(&self.data[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

#[test]
fn short_and_interrupted_reads_give_the_same_output() {
    let data = data(400_000);
    let mut expected = Vec::new();
    compress(&data[..], &mut expected, &options(Format::Gzip, 1, 4096)).unwrap();
    for threads in [1, 3] {
        let reader = FlakyReader { data: &data, at: 0, step: 777, calls: 0, fail_at: usize::MAX };
        let mut out = Vec::new();
        compress(reader, &mut out, &options(Format::Gzip, threads, 4096)).unwrap();
        assert!(out == expected);
    }
}

#[test]
fn reader_error_at_any_offset_is_returned() {
    let data = data(800_000);
    for threads in [1, 3] {
        for fail_at in [0, 1, JOB, JOB + 1, 799_999] {
            let reader = FlakyReader { data: &data, at: 0, step: 100_000, calls: 0, fail_at };
            let error = compress(reader, io::sink(), &options(Format::Gzip, threads, 4096)).unwrap_err();
            assert_eq!(error.to_string(), "the disk is on fire");
        }
    }
}

/// A writer that takes at most 1000 bytes per call, interrupts every third call, and fails after
/// `capacity` bytes.
struct FlakyWriter {
    taken: Vec<u8>,
    capacity: usize,
    calls: usize,
}

impl Write for FlakyWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(3) {
            return Err(ErrorKind::Interrupted.into());
        }
        let n = bytes.len().min(1000).min(self.capacity - self.taken.len());
        if n == 0 {
            return Err(ErrorKind::StorageFull.into());
        }
        self.taken.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn writer_error_is_returned_and_output_is_a_prefix() {
    let data = data(900_000);
    let options = |threads| Options { level: Level::Stored, ..options(Format::Gzip, threads, 65_535) };
    let mut whole = Vec::new();
    compress(&data[..], &mut whole, &options(1)).unwrap();
    for threads in [1, 3] {
        for capacity in [0, 9, 10, 100_000, whole.len() - 1] {
            let mut writer = FlakyWriter { taken: Vec::new(), capacity, calls: 0 };
            let error = compress(&data[..], &mut writer, &options(threads)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StorageFull);
            assert!(writer.taken == whole[..capacity]);
        }
        let mut writer = FlakyWriter { taken: Vec::new(), capacity: usize::MAX, calls: 0 };
        compress(&data[..], &mut writer, &options(threads)).unwrap();
        assert!(writer.taken == whole);
    }
}

/// Returns sizes for jobs of 1,000 bytes, two of which are read ahead.
fn small_jobs(threads: usize) -> JobSizes {
    JobSizes { threads, ahead: 2, input: 1000, history: 0, output: 1, block_size: 1000, rsyncable: false }
}

#[test]
fn worker_panic_propagates_to_the_caller() {
    let input = data(50_000);
    for threads in [1, 2, 4] {
        for victim in [0, 1, 7, 49] {
            let sizes = small_jobs(threads);
            let count = AtomicUsize::new(0);
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let work = |_: &mut Scratch, _: &mut Job| {
                    if count.fetch_add(1, Ordering::Relaxed) == victim {
                        resume_unwind(Box::new("worker"));
                    }
                    Ok(())
                };
                pipeline::run(&sizes, &input[..], work, |_| Ok(()))
            }));
            assert!(outcome.is_err(), "{threads} threads, job {victim}");
        }
    }
}

#[test]
fn jobs_in_flight_are_bounded() {
    let input = data(200_000);
    let sizes = small_jobs(3);
    let (begun, written, most) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let work = |_: &mut Scratch, _: &mut Job| {
        let ahead = begun.fetch_add(1, Ordering::SeqCst) + 1 - written.load(Ordering::SeqCst);
        most.fetch_max(ahead, Ordering::SeqCst);
        Ok(())
    };
    let mut expected = &input[..];
    pipeline::run(&sizes, &input[..], work, |job| {
        let (now, rest) = expected.split_at(job.input().len());
        assert!(now == job.input(), "jobs come in order");
        expected = rest;
        written.fetch_add(1, Ordering::SeqCst);
        Ok(())
    })
    .unwrap();
    assert!(expected.is_empty());
    assert!(most.load(Ordering::SeqCst) <= 5);
}

#[test]
fn history_crosses_blocks_only_without_isolation() {
    // The noise repeats every 20,000 bytes, so without history no block of 10,000 bytes can be
    // compressed.
    let noise: Vec<u8> = data(60_000)[20_000..40_000].to_vec();
    let input = noise.repeat(20);
    let size = |isolated| {
        let mut out = Vec::new();
        let options = Options { isolated, ..options(Format::Gzip, 2, 10_000) };
        compress(&input[..], &mut out, &options).unwrap();
        assert!(inflate(Format::Gzip, &out, input.len()) == input);
        out.len()
    };
    assert!(size(true) > input.len());
    assert!(size(false) < input.len() / 4);
}

/// Returns lines of text that do not repeat.
fn lines(len: usize) -> Vec<u8> {
    let mut seed = 1u64;
    let mut text = Vec::new();
    while text.len() < len {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        text.extend_from_slice(
            format!("GET /page/{} took {} ms\n", seed >> 48, seed >> 32 & 0xfff).as_bytes(),
        );
    }
    text.truncate(len);
    text
}

fn compressed(data: &[u8], options: &Options) -> Vec<u8> {
    let mut out = Vec::new();
    compress(data, &mut out, options).expect("memory takes every byte");
    out
}

#[test]
fn rsyncable_output_is_the_same_for_any_number_of_threads_and_any_reads() {
    let zeros = vec![0; 300_000];
    for data in [lines(900_000), zeros, data(500_000), lines(100), Vec::new()] {
        for container in [Format::Gzip.into(), Format::Zlib.into(), Container::Bgzf] {
            for (level, isolated, block) in
                [(Level::Default, true, 1 << 20), (Level::Stored, true, 1), (Level::Lazy, false, 100_000)]
            {
                let options = Options { level, isolated, ..options(container, 1, block) }.rsyncable(true);
                let one = compressed(&data, &options);
                assert!(compressed(&data, &options.threads(3)) == one, "{container:?} {level:?}");
                let slow = FlakyReader { data: &data, at: 0, step: 777, calls: 0, fail_at: usize::MAX };
                let mut out = Vec::new();
                compress(slow, &mut out, &options).expect("slow reads succeed");
                assert!(out == one, "{container:?} {level:?} from small reads");
                match container {
                    Container::Single(format) => assert!(inflate(format, &one, data.len()) == data),
                    Container::Bgzf => assert!(blocks_of_bgzf(&one).concat() == data),
                }
            }
        }
    }
}

#[test]
fn insertion_changes_only_nearby_output_if_rsyncable() {
    let old = lines(3_000_000);
    for (container, level, isolated) in [
        (Container::from(Format::Deflate), Level::Default, true),
        (Container::from(Format::Deflate), Level::Lazy, false),
        (Container::Bgzf, Level::Fast, true),
    ] {
        for (at, inserted) in [(0, 1), (1_000_000, 1), (1_500_000, 5000), (2_000_000, 100_000)] {
            let noise: Vec<u8> = data(3 * inserted)[inserted..2 * inserted].to_vec();
            let new = [&old[..at], &noise, &old[at..]].concat();
            let sizes = [false, true].map(|rsyncable| {
                let options = Options { level, isolated, ..options(container, 1, 512 << 10) };
                let [a, b] = [&old, &new].map(|data| compressed(data, &options.rsyncable(rsyncable)));
                let common = |a: &mut dyn Iterator<Item = (&u8, &u8)>| a.take_while(|(a, b)| a == b).count();
                let (start, end) =
                    (common(&mut a.iter().zip(&b)), common(&mut a.iter().rev().zip(b.iter().rev())));
                a.len().saturating_sub(start + end)
            });
            let [fixed, rsyncable] = sizes;
            assert!(rsyncable < 100_000 && fixed > 200_000, "{container:?} {at} {inserted}: {sizes:?}");
        }
    }
}

#[test]
fn rsyncable_blocks_cost_little() {
    let data = lines(2_000_000);
    let options = options(Format::Gzip, 1, 512 << 10);
    let (fixed, rsyncable) = (compressed(&data, &options), compressed(&data, &options.rsyncable(true)));
    assert!(rsyncable.len() < fixed.len() + fixed.len() / 50, "{} {}", fixed.len(), rsyncable.len());
}
