//! What reading costs: the CPU time that the system takes to copy a byte from its cache into a program's memory.
//!
//! Candidates work on memory. A command also reads what it codes, which shows where a codec is as fast as LZ4.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use linerate_plan::{Measurement, Speed};

use super::sample::FileSet;
use crate::kernel::os::cpu_time;

/// Bytes of a read, and of all of them.
const WINDOW: u64 = 1 << 20;
const BYTES: u64 = 32 << 20;
/// Rounds, of which the first may read from the disk.
const ROUNDS: usize = 4;

/// CPU seconds of reading a byte of these files; 0 if they cannot be read again.
pub(super) fn seconds_per_byte(set: &FileSet, seed: u64) -> f64 {
    let windows = set.spread(WINDOW, BYTES, seed);
    let pieces = || windows.iter().flatten();
    let bytes: u64 = pieces().map(|piece| piece.len).sum();
    let mut buffer = vec![0; pieces().map(|piece| piece.len).max().unwrap_or(0) as usize];
    let mut round = || -> Option<f64> {
        let mut seconds = 0.0;
        for piece in pieces() {
            let mut file = File::open(&set.files[piece.file].path).ok()?;
            file.seek(SeekFrom::Start(piece.offset)).ok()?;
            let begun = cpu_time();
            file.read_exact(&mut buffer[..piece.len as usize]).ok()?;
            seconds += (cpu_time() - begun).as_secs_f64();
        }
        Some(seconds)
    };
    let rounds = (0..ROUNDS).filter_map(|_| round());
    rounds.reduce(f64::min).map_or(0.0, |seconds| seconds / bytes.max(1) as f64)
}

/// Adds what reading costs: the content for encoding, the compressed bytes for decoding.
pub(super) fn include(measurement: &mut Measurement, seconds_per_byte: f64) {
    let of_compressed = seconds_per_byte / measurement.ratio().max(1e-9);
    let add = |speed: &mut Speed, seconds| *speed = speed.after(seconds);
    measurement.encode.iter_mut().for_each(|speed| add(speed, seconds_per_byte));
    measurement.decode.iter_mut().for_each(|speed| add(speed, of_compressed));
    // Threads read side by side.
    let each = |seconds: f64, threads: usize| seconds / threads.max(1) as f64;
    for point in &mut measurement.encode_scaling {
        add(&mut point.speed, each(seconds_per_byte, point.threads));
    }
    for point in &mut measurement.decode_scaling {
        add(&mut point.speed, each(of_compressed, point.threads));
    }
}

#[cfg(test)]
mod tests {
    use linerate_plan::Scaling;

    use super::*;

    #[test]
    fn reading_costs_little_but_not_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("file"), vec![7; 8 << 20]).expect("writable");
        let set = FileSet::new(&[folder.path().to_owned()]).expect("readable");
        let cost = seconds_per_byte(&set, 1);
        // Between 100 TB/s and 10 MB/s.
        assert!(cost > 1e-14 && cost < 1e-7, "{cost}");
        std::fs::remove_file(folder.path().join("file")).expect("there");
        assert_eq!(seconds_per_byte(&set, 1), 0.0);
    }

    #[test]
    fn compressed_bytes_are_fewer_to_read() {
        let speed = Speed { low: 1e9, median: 2e9, high: 4e9 };
        let scaling = vec![Scaling { threads: 2, speed }];
        let mut found = Measurement {
            content: 1000,
            compressed: 250,
            encode: Some(speed),
            decode: Some(speed),
            encode_scaling: scaling.clone(),
            decode_scaling: scaling,
            ..Measurement::default()
        };
        include(&mut found, 0.5e-9);
        let median = |speed: Speed| (speed.median / 1e6).round();
        assert_eq!(found.encode.map(median), Some(1000.0));
        assert_eq!(found.decode.map(median), Some(1600.0));
        assert_eq!(median(found.encode_scaling[0].speed), 1333.0);
        assert_eq!(median(found.decode_scaling[0].speed), 1778.0);
    }
}
