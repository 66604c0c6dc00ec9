//! Damaged blocks and dictionaries do not affect others.

use linerate_dict::{Decoder, Id, Job, Kind, Order, Store, StoreOptions};

use crate::common::{Noise, compress, distinct, libzstd, rows, train};

/// Damages every third block of a batch. The other blocks must decode, and each damaged block must
/// have the result of a decoder that decodes it alone.
#[test]
fn damaged_blocks_fail_only_their_jobs() {
    let mut noise = Noise::new(11);
    let mut refused = 0;
    for settings in [StoreOptions::new(), StoreOptions::new().table_budget(10 << 10)] {
        let store = Store::with_options(settings);
        let dictionaries: Vec<Vec<u8>> = (0..8).map(|i| distinct(i, 4000)).collect();
        let ids: Vec<Id> = dictionaries.iter().map(|bytes| store.insert(bytes).unwrap()).collect();
        let mut decoder = Decoder::new(&store);
        for round in 0..60 {
            let contents: Vec<Vec<u8>> = (0..24).map(|i| rows(100 * round + i, 1500)).collect();
            let mut frames: Vec<Vec<u8>> = contents
                .iter()
                .enumerate()
                .map(|(i, c)| compress(&dictionaries[i % 8], 3, false, c))
                .collect();
            for frame in frames.iter_mut().step_by(3) {
                let at = noise.below(frame.len());
                match noise.below(3) {
                    0 => frame.truncate(at),
                    1 => frame[at] ^= 1 << noise.below(8),
                    _ => frame.push(0),
                }
            }
            let mut buffers = vec![vec![0; 1500]; 24];
            let mut jobs: Vec<Job<'_>> = buffers
                .iter_mut()
                .enumerate()
                .map(|(i, buffer)| Job::new(ids[i % 8], &frames[i], buffer))
                .collect();
            decoder.decode_batch(&mut jobs, [Order::AsGiven, Order::ByDictionary][round as usize % 2]);
            for (i, job) in jobs.iter().enumerate() {
                if i % 3 != 0 {
                    assert!(job.content() == Some(&contents[i][..]), "{:?}", job.result);
                    continue;
                }
                let mut alone = vec![0; 1500];
                let verdict = Decoder::new(&store).decode(job.id, &frames[i], &mut alone);
                // Of two errors only the kinds must be equal.
                assert_eq!(job.result.map_err(|e| e.kind), verdict.map_err(|e| e.kind));
                refused += usize::from(verdict.is_err());
                if let Ok(n) = verdict {
                    assert_eq!(libzstd(&dictionaries[i % 8], &frames[i], 1500).as_deref(), Some(&alone[..n]));
                    assert!(job.content() == Some(&alone[..n]));
                }
            }
        }
    }
    assert!(refused > 300);
}

#[test]
fn each_error_has_its_kind() {
    let store = Store::new();
    let dictionary = train(1, 8 << 10);
    let id = store.insert(&dictionary).unwrap();
    let other = store.insert(&train(2, 8 << 10)).unwrap();
    let content = rows(3, 2000);
    let frame = compress(&dictionary, 3, true, &content);
    let mut decoder = Decoder::new(&store);
    let mut out = vec![0; 2000];
    let mut kind =
        |id, block: &[u8], buffer: usize| decoder.decode(id, block, &mut out[..buffer]).unwrap_err().kind;
    assert_eq!(kind(other, &frame, 2000), Kind::BadArgument);
    assert_eq!(kind(Id::NONE, &frame, 2000), Kind::BadArgument);
    assert_eq!(kind(id, &frame, 1999), Kind::OutputTooSmall);
    assert_eq!(kind(id, &frame[..frame.len() - 1], 2000), Kind::Truncated);
    assert_eq!(kind(id, &[], 2000), Kind::Truncated);
    assert_eq!(kind(id, &[&frame[..], &frame].concat(), 2000), Kind::Corrupt);
    for unknown in [id.get() + 1, id.get() + (1 << 32), 1, u64::MAX, u64::from(u32::MAX)] {
        if unknown != other.get() {
            assert_eq!(kind(Id::from_raw(unknown), &frame, 2000), Kind::BadArgument);
        }
    }
    assert_eq!(decoder.decode(id, &frame, &mut out), Ok(2000));
    assert!(out == content);
    assert!(decoder.counters().errors > 8);
}

/// Two dictionaries have one Dictionary_ID, and only the checksum distinguishes them.
#[test]
fn checksum_detects_a_wrong_dictionary_with_the_same_id() {
    let store = Store::new();
    let (right, wrong) = (distinct(0, 4000), distinct(3, 4000));
    assert!(right[..8] == wrong[..8]);
    let wrong = store.insert(&wrong).unwrap();
    let frame = compress(&right, 3, true, &rows(1000, 3000));
    let mut out = vec![0; 3000];
    assert_eq!(Decoder::new(&store).decode(wrong, &frame, &mut out).unwrap_err().kind, Kind::Corrupt);
}

#[test]
fn damaged_dictionaries_are_not_inserted() {
    let store = Store::new();
    let dictionary = train(1, 4 << 10);
    let content = linerate_zstd::Dictionary::measure(&dictionary).unwrap().content_len();
    let head = dictionary.len() - content;
    for cut in [8, 9, head / 2, head - 1] {
        let kind = store.insert(&dictionary[..cut]).unwrap_err().kind;
        assert!(matches!(kind, Kind::Truncated | Kind::Corrupt), "{cut}: {kind:?}");
    }
    let mut zero = dictionary.clone();
    zero[head - 4..head].fill(0);
    assert_eq!(store.insert(&zero).unwrap_err().kind, Kind::Corrupt);
    assert_eq!(store.insert(b"7 bytes").unwrap_err().kind, Kind::BadArgument);
    assert_eq!(store.stats().dictionaries, 0);
    assert_eq!(store.stats().raw_bytes, 0);
}

/// Codes have at most 11 bits (RFC 8878, section 4.2). libzstd loads this dictionary of its test
/// suite.
#[test]
fn a_dictionary_with_codes_of_12_bits_is_refused_with_the_reason() {
    let bytes = include_bytes!("../../../../testdata/dict/http-dict-missing-symbols");
    assert!(zstd_safe::DCtx::create().load_dictionary(bytes).is_ok());
    let refused = Store::new().insert(bytes).unwrap_err();
    assert_eq!(refused.kind, Kind::Corrupt);
    assert!(refused.message.contains("more than 11 bits, which RFC 8878 forbids"), "{}", refused.message);
}
