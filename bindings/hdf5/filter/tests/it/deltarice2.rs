//! Calls filter 325 as HDF5 does.

use linerate_hdf5::{DELTARICE2, DELTARICE2_ID};
use linerate_rice::v2::{ElementType, StreamOptions, info};
use linerate_rice::{Options, v2};
use linerate_testkit::damage::Outcome;

use crate::common::Noise;
use crate::common::call::{decode, encode};

/// Rows of a random walk as bytes of each sample type, with the complete values of such a dataset.
fn datasets() -> impl Iterator<Item = (ElementType, [u32; 4], Vec<u8>)> {
    let types = ElementType::ALL.into_iter();
    types.map(|element| {
        let (row, rows) = (1500, 4);
        let plain = Noise(4).walk(row * rows * element.bytes() / 2, 6);
        (element, [0, u32::from(element.code()), row as u32, (row * rows) as u32], plain)
    })
}

#[test]
fn every_type_round_trips() {
    assert_eq!((DELTARICE2.id(), DELTARICE2_ID), (325, 325));
    for (element, values, plain) in datasets() {
        let stream = encode(&DELTARICE2, &values, &plain).unwrap();
        assert!(stream.len() < plain.len(), "{element:?}");
        let told = info(&stream).unwrap();
        assert_eq!((told.element, told.samples, told.segment), (element, 6000, 1500));
        assert_eq!(told.row.map_or(0, |n| n.get()), 1500);
        // A stream contains all parameters, so it decodes without values.
        for values in [&values[..], &[], &[700], &[0, 0, 0], &[values[0], values[1], 9, values[3], 77]] {
            assert!(decode(&DELTARICE2, values, &stream).unwrap() == plain, "{element:?} {values:?}");
        }
    }
}

#[test]
fn segments_have_the_requested_length() {
    for (_, values, plain) in datasets() {
        for segment in [1, 100, 1500, 65_536] {
            let stream = encode(&DELTARICE2, &[segment, values[1], 0, values[3]], &plain).unwrap();
            let told = info(&stream).unwrap();
            assert_eq!((told.segment, told.row), (segment, None));
            assert!(decode(&DELTARICE2, &values, &stream).unwrap() == plain);
        }
    }
}

#[test]
fn incomplete_or_wrong_values_are_refused_when_encoding() {
    for (_, [segment, element, row, samples], plain) in datasets() {
        for values in [
            &[][..],
            &[segment],
            &[segment, element, row],
            &[segment, 4, row, samples],
            &[segment, u32::MAX, row, samples],
            &[65_537, element, row, samples],
            &[segment, element, row, samples - 1],
            &[segment, element, row, samples + 1],
            &[segment, element, row, 0],
        ] {
            assert_eq!(encode(&DELTARICE2, values, &plain), None, "{values:?}");
        }
        let half = &plain[..plain.len() - 1];
        assert_eq!(encode(&DELTARICE2, &[segment, element, row, samples], half), None, "half a sample");
    }
}

#[test]
fn streams_of_another_chunk_are_refused() {
    for (_, values, plain) in datasets() {
        let [segment, element, row, samples] = values;
        let stream = encode(&DELTARICE2, &values, &plain).unwrap();
        for other in [
            [segment, element, row, samples - 1],
            [segment, element, row, samples + 1],
            [segment, element ^ 1, row, samples],
            [segment, element ^ 2, row, samples],
            [segment, 4, row, samples],
        ] {
            assert_eq!(decode(&DELTARICE2, &other, &stream), None, "{other:?}");
        }
        let twice = [&stream[..], &stream].concat();
        assert_eq!(decode(&DELTARICE2, &values, &twice), None);
    }
}

#[test]
fn a_stream_without_samples_is_refused() {
    let empty = v2::encode::<i16>(&StreamOptions::new(), &[], Options::new()).unwrap();
    assert_eq!(decode(&DELTARICE2, &[], &empty), None);
    assert_eq!(decode(&DELTARICE2, &[0, 0, 0, 0], &empty), None);
}

#[test]
fn more_than_a_chunk_can_hold_is_refused_before_anything_is_allocated() {
    // 2^31 constant samples of 2 bytes, 4 GiB, with a header and a table that agree.
    let plain = vec![0u8; 2 * 65_536];
    let stream = encode(&DELTARICE2, &[65_536, 0, 0, 65_536], &plain).unwrap();
    let segments = (1u64 << 31) / 65_536;
    let segment = &stream[28 + 4..];
    let mut bomb = stream[..24].to_vec();
    bomb[8..16].copy_from_slice(&(segments * 65_536).to_le_bytes());
    bomb.extend((twox_hash::XxHash3_64::oneshot(&bomb) as u32).to_le_bytes());
    bomb.extend((1..=segments as u32).flat_map(|i| (i * segment.len() as u32 / 4).to_le_bytes()));
    (0..segments).for_each(|_| bomb.extend(segment));
    assert_eq!(info(&bomb).unwrap().samples, 1 << 31, "the stream is sound");
    assert_eq!(decode(&DELTARICE2, &[], &bomb), None);
}

#[test]
fn every_truncation_is_refused_and_no_flipped_bit_changes_a_sample() {
    let mut outcome = Outcome::default();
    for (_, [segment, element, ..], plain) in datasets() {
        let values = [segment, element, 0, 60];
        let plain = &plain[..plain.len() / 100];
        let stream = encode(&DELTARICE2, &values, plain).unwrap();
        for values in [&values[..], &[]] {
            for n in 0..stream.len() {
                assert_eq!(decode(&DELTARICE2, values, &stream[..n]), None, "{n}");
            }
            let mut refused = 0;
            for bit in 0..8 * stream.len() {
                let mut damaged = stream.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                // Checksums cover the samples, so an accepted flip must be of a bit without meaning.
                match decode(&DELTARICE2, values, &damaged) {
                    None => refused += 1,
                    Some(same) => assert!(bit >= 8 * 32 && same == plain, "bit {bit}"),
                }
            }
            assert!(refused > 7 * stream.len(), "only {refused} of {} bits", 8 * stream.len());
            outcome.truncations += stream.len();
            outcome.truncations_refused += stream.len();
            outcome.flips += 8 * stream.len();
            outcome.flips_refused += refused;
        }
    }
    outcome.record("reader", "HDF5 filter 325");
}

#[test]
fn random_input_never_panics() {
    let mut noise = Noise(9);
    for _ in 0..2000 {
        let n = noise.next() as usize % 50;
        let bytes: Vec<u8> = (0..n).flat_map(|_| noise.next().to_le_bytes()).collect();
        let values: Vec<u32> = (0..noise.next() % 6).map(|_| noise.next() % 50).collect();
        decode(&DELTARICE2, &values, &bytes);
        encode(&DELTARICE2, &values, &bytes);
    }
}

#[test]
fn without_hdf5_nothing_is_checked_at_creation() {
    #[allow(unsafe_code)]
    // SAFETY: identifiers mean nothing where there is no HDF5.
    let status = unsafe { DELTARICE2.set_local()(1, 2, 3) };
    assert!(status >= 0);
}
