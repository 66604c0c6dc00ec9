//! The synthetic waveforms: the same on every machine, with statistics like those of real ones.

use std::num::NonZeroU32;

use linerate_bench::rice::plain;
use linerate_bench::waveforms::Set;
use linerate_rice::{Options, Params, decode, encode, encoded_len};

/// Hash of samples: FNV-1a over their little-endian bytes.
fn hash(samples: &[i16]) -> u64 {
    let bytes = samples.iter().flat_map(|x| x.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

/// Number of rows that are enough for a stable size: 655,000 to a million samples.
fn some_rows(set: Set) -> usize {
    (700_000 / set.row_samples()).max(2)
}

fn params(set: Set, m: u32) -> Params {
    Params::new(m, NonZeroU32::new(set.row_samples() as u32)).unwrap()
}

#[test]
fn samples_are_the_same_everywhere() {
    let found = Set::ALL.map(|set| hash(&set.samples(some_rows(set))));
    let expected = [0x3fa7_80c7_3f61_1cb3, 0x4bd2_db3e_a7d9_0e28, 0x4543_1400_2853_238b];
    assert_eq!(found, expected, "{found:#018x?}");
}

#[test]
fn sizes_match_the_real_data_sets() {
    for (set, expected) in Set::ALL.into_iter().zip([28.2, 27.5, 25.2]) {
        let samples = set.samples(some_rows(set));
        let n = encoded_len(&params(set, 8), &samples, Options::new()).unwrap();
        let percent = 100.0 * n as f64 / (2 * samples.len()) as f64;
        assert!((percent - expected).abs() < 0.3, "{}: {percent}", set.name());
    }
}

#[test]
fn the_plain_codec_writes_and_reads_the_same_chunks() {
    for set in Set::ALL {
        let samples = &set.samples(1)[..5000];
        for m in [2, 8, 32_768] {
            let params = Params::new(m, NonZeroU32::new(1234)).unwrap();
            let chunk = encode(&params, samples, Options::new()).unwrap();
            assert_eq!(plain::encode(samples, 1234, m), chunk, "{}, m = {m}", set.name());
            let mut back = vec![0; samples.len()];
            plain::decode(&chunk, 1234, m, &mut back);
            assert_eq!(back, samples);
            assert_eq!(decode::<i16>(&params, &chunk, Options::new()).unwrap(), samples);
        }
    }
}

#[test]
fn npy_files_hold_the_rows_after_the_header() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("nedm.npy");
    Set::Nedm.write_npy(&path, 2).unwrap();
    let file = std::fs::read(&path).unwrap();
    assert!(file.starts_with(b"\x93NUMPY\x01\x00"));
    let start = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    let text = std::str::from_utf8(&file[10..start]).unwrap();
    assert!(text.contains("'descr': '<i2'") && text.contains("'shape': (2, 81920)"), "{text}");
    let samples: Vec<_> = file[start..].chunks(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect();
    assert_eq!(samples, Set::Nedm.samples(2));
}

#[test]
fn sets_are_found_by_name() {
    assert!(Set::ALL.into_iter().all(|set| Set::from_name(set.name()) == Some(set)));
    assert_eq!(Set::from_name("Nab"), None);
}
