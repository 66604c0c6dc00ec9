//! Calls filter 32025 as HDF5 does. On success the filter returns a number of bytes and a new
//! buffer. On failure it returns 0 and changes nothing.
#![allow(unsafe_code)]

use linerate_hdf5::{DELTARICE, REVERSE};
use linerate_testkit::damage::Outcome;
use linerate_testkit::rice::goldens;

use crate::common::Noise;
use crate::common::call::{Call, decode, encode};

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn samples(values: &[i16]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[track_caller]
fn refused(values: &[u32], words: &[u32]) {
    assert_eq!(decode(&DELTARICE, values, &bytes(words)), None);
}

#[test]
fn goldens_encode_and_decode() {
    let all = goldens();
    assert_eq!(all.len(), 27);
    for g in all {
        assert!(encode(&DELTARICE, &g.cd_values, &g.plain).unwrap() == g.chunk, "{}", g.name);
        assert!(decode(&DELTARICE, &g.cd_values, &g.chunk).unwrap() == g.plain, "{}", g.name);
    }
}

#[test]
fn absent_values_have_defaults() {
    let plain = Noise(1).walk(1000, 4);
    let chunk = encode(&DELTARICE, &[8, u32::MAX, 2, 1, u32::MAX], &plain).unwrap();
    for values in [&[][..], &[8], &[8, u32::MAX]] {
        assert_eq!(encode(&DELTARICE, values, &plain).unwrap(), chunk);
        assert_eq!(decode(&DELTARICE, values, &chunk).unwrap(), plain);
    }
    assert_eq!(Call::new(0, &plain).with_null_values().run(&DELTARICE), Some(chunk));
}

#[test]
fn one_sample_per_segment_round_trips() {
    let plain = Noise(2).walk(30_000, 16);
    for segment in [1, 10] {
        let chunk = encode(&DELTARICE, &[8, segment], &plain).unwrap();
        assert_eq!(decode(&DELTARICE, &[8, segment], &chunk).unwrap(), plain);
    }
}

#[test]
fn a_chunk_that_expands_is_refused_unless_a_segment_was_given() {
    const AUTO: u32 = u32::from_le_bytes(*b"auto");
    let noise = Noise(3).walk(5000, 16);
    let steady = Noise(3).walk(5000, 4);
    for segment in [1, 1024, u32::MAX] {
        let given = [8, segment, 2, 1, u32::MAX];
        let chosen = [8, segment, 2, 1, u32::MAX, AUTO];
        let chunk = encode(&DELTARICE, &given, &noise).unwrap();
        assert!(chunk.len() > noise.len());
        assert_eq!(encode(&DELTARICE, &chosen, &noise), None, "{segment}");
        assert_eq!(decode(&DELTARICE, &chosen, &chunk).unwrap(), noise, "such chunks can be read");
        let small = encode(&DELTARICE, &given, &steady).unwrap();
        assert_eq!(encode(&DELTARICE, &chosen, &steady), (segment > 1).then_some(small));
    }
}

#[test]
fn lossy_or_invalid_values_are_refused_when_encoding() {
    let plain = samples(&[1, 2, 3]);
    for values in [
        &[0][..],
        &[1],
        &[3],
        &[12],
        &[65_536],
        &[8, 0],
        &[8, -2i32 as u32],
        &[8, 3, 0],
        &[8, 3, u32::MAX],
        &[8, 3, 2, 1],
        &[8, 3, 1, 2],
        &[8, 3, 1, 0],
        &[8, 3, 2, 3, u32::MAX],
    ] {
        assert_eq!(encode(&DELTARICE, values, &plain), None, "{values:?}");
    }
    assert_eq!(encode(&DELTARICE, &[8], &plain[..5]), None, "half a sample");
}

#[test]
fn wrong_counts_and_lengths_are_refused() {
    for words in [
        &[u32::MAX, 1, 0x8888_8880][..],
        &[u32::MAX],
        &[1],
        &[8, 1, 0x8888_8880],
        &[6, 1, 0x8888_8880],
        &[7, 2, 0x8888_8880],
        &[7, 0x4000_0000, 0x8888_8880],
        &[7, u32::MAX, 0x8888_8880],
        &[7, 0, 0x8888_8880],
        &[7, 1, 0x8888_8880, 0],
        &[7, 1, 0x8888_8881],
    ] {
        refused(&[8], words);
        refused(&[8, 3], words);
    }
    assert_eq!(decode(&DELTARICE, &[8], &bytes(&[7, 1, 0x8888_8880])), Some(vec![0; 14]));
}

#[test]
fn endless_zeros_are_refused() {
    let mut zeros = vec![1000, 1000];
    zeros.resize(1002, 0);
    refused(&[8], &zeros);
    refused(&[8], &[1, 1, 0]);
    refused(&[8, 1], &[1, 1, 0x0040_0000]);
}

#[test]
fn empty_and_short_chunks_are_refused() {
    // The filter cannot return an output of 0 bytes, since HDF5 takes that for a failure. HDF5
    // itself has no chunks without samples.
    refused(&[8], &[0]);
    refused(&[8, 7], &[0]);
    refused(&[8, 7], &[0, 0]);
    for n in 0..4 {
        assert_eq!(decode(&DELTARICE, &[8], &[0; 4][..n]), None);
    }
}

#[test]
fn invalid_values_are_refused_when_decoding() {
    let chunk = bytes(&[7, 1, 0x8888_8880]);
    for values in [&[0][..], &[5], &[65_536], &[8, 0], &[8, 7, 0], &[8, 7, 5, 1], &[8, 7, 1, 0]] {
        assert_eq!(decode(&DELTARICE, values, &chunk), None, "{values:?}");
    }
}

#[test]
fn chunks_of_the_original_with_m_1_or_a_lossy_filter_are_read() {
    let chunk = encode(&DELTARICE, &[8, u32::MAX, 1, 1], &samples(&[-7, 7, 5])).unwrap();
    let halves = decode(&DELTARICE, &[8, u32::MAX, 1, 2], &chunk).unwrap();
    assert_eq!(halves, samples(&[-3, 3, 2]));
    assert_eq!(decode(&DELTARICE, &[1], &bytes(&[2, 1, 0xc000_0000])).unwrap(), samples(&[0, 0]));
}

#[test]
fn every_truncation_is_refused_and_every_flipped_bit_or_gives_as_many_samples() {
    let mut outcome = Outcome::default();
    for g in goldens().into_iter().filter(|g| g.chunk.len() < 800) {
        for n in 0..g.chunk.len() {
            assert_eq!(decode(&DELTARICE, &g.cd_values, &g.chunk[..n]), None, "{} {n}", g.name);
        }
        outcome.truncations += g.chunk.len();
        outcome.truncations_refused += g.chunk.len();
        for bit in 0..8 * g.chunk.len() {
            let mut damaged = g.chunk.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            outcome.flips += 1;
            match decode(&DELTARICE, &g.cd_values, &damaged) {
                None => outcome.flips_refused += 1,
                Some(other) => assert!(bit >= 64 && other.len() == g.plain.len(), "{} bit {bit}", g.name),
            }
        }
    }
    outcome.record("reader", "HDF5 filter 32025");
}

#[test]
fn random_input_never_panics() {
    let mut noise = Noise(7);
    for _ in 0..2000 {
        let n = noise.next() as usize % 50;
        let mut words: Vec<u32> = (0..n).map(|_| noise.next() << 16 | noise.next()).collect();
        words.iter_mut().take(2).for_each(|w| *w %= 64);
        let values: Vec<u32> = (0..noise.next() % 6).map(|_| noise.next() % 16).collect();
        decode(&DELTARICE, &values, &bytes(&words));
        encode(&DELTARICE, &values, &bytes(&words));
    }
}

#[test]
fn null_buffers_are_refused() {
    let filter = DELTARICE.filter();
    let (mut size, mut buf) = (0, std::ptr::null_mut());
    for flags in [0, REVERSE] {
        // SAFETY: the filter takes null for an absent array.
        unsafe {
            assert_eq!(filter(flags, 0, std::ptr::null(), 0, std::ptr::null_mut(), &raw mut buf), 0);
            assert_eq!(filter(flags, 0, std::ptr::null(), 0, &raw mut size, std::ptr::null_mut()), 0);
        }
    }
    // SAFETY: as above.
    assert_eq!(unsafe { filter(REVERSE, 0, std::ptr::null(), 8, &raw mut size, &raw mut buf) }, 0);
    assert_eq!((size, buf), (0, std::ptr::null_mut()));
}

#[test]
fn without_hdf5_nothing_is_checked_at_creation() {
    // SAFETY: identifiers mean nothing where there is no HDF5.
    assert!(unsafe { DELTARICE.set_local()(1, 2, 3) } >= 0);
}

#[test]
fn table_has_the_layout_of_c() {
    #[repr(C)]
    struct Table {
        version: i32,
        id: i32,
        encoder: u32,
        decoder: u32,
        name: *const std::ffi::c_char,
        can_apply: *const std::ffi::c_void,
        set_local: *const std::ffi::c_void,
        filter: *const std::ffi::c_void,
    }
    // SAFETY: the layout of H5Z_class2_t in HDF5's documentation.
    let table = unsafe { &*DELTARICE.as_ptr().cast::<Table>() };
    assert_eq!((table.version, table.id, table.encoder, table.decoder), (1, 32025, 1, 1));
    // SAFETY: a name ends with a zero.
    assert_eq!(unsafe { std::ffi::CStr::from_ptr(table.name) }, c"Delta-Rice");
    assert!(table.can_apply.is_null() && !table.set_local.is_null() && !table.filter.is_null());
}
