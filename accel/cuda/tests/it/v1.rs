//! Tests version 1 through the crate's functions: golden chunks, batches, damage, device pointers.

use linerate_cuda::{DecodeJob, DeviceBuffer, EncodeJob, Error, Input};
use linerate_rice::{Filter, Kind, Options, Params};
use linerate_testkit::rice::goldens;

use crate::common::{bytes, codec, waves};

#[test]
fn golden_chunks_decode_and_encode() {
    let Some((codec, stream)) = codec() else { return };
    for golden in goldens() {
        let params = Params::from_cd_values(&golden.cd_values).unwrap();
        let decoded = codec.decode_batch(&params, &[&golden.chunk], &stream).unwrap();
        assert!(
            decoded[0].as_deref() == Ok(&golden.plain),
            "{}: {:?}",
            golden.name,
            decoded[0].as_ref().err()
        );
        let encoded = codec.encode_batch(&params, &[&golden.plain], &stream).unwrap();
        assert!(encoded[0].as_deref() == Ok(&golden.chunk), "{}", golden.name);
    }
}

#[test]
fn batch_of_mixed_lengths_round_trips() {
    let Some((codec, stream)) = codec() else { return };
    let lengths = [0, 1, 2, 31, 1000, 7000, 20_000, 7001, 50_000, 3];
    let samples: Vec<Vec<i16>> = lengths.iter().enumerate().map(|(i, &n)| waves(i as u64 + 1, n)).collect();
    let plain: Vec<Vec<u8>> = samples.iter().map(|samples| bytes(samples)).collect();
    let plain: Vec<&[u8]> = plain.iter().map(Vec::as_slice).collect();
    let taps = [Filter::DELTA, Filter::IDENTITY, Filter::new(&[1, -2, 1]).unwrap()];
    for (segment, m) in [(None, 8), (Some(1000), 32), (Some(1), 2), (Some(16_384), 8)] {
        for filter in taps {
            let params = Params::new(m, segment.and_then(|n: u32| n.try_into().ok())).unwrap();
            let params = params.with_filter(filter);
            let chunks = codec.encode_batch(&params, &plain, &stream).unwrap();
            let chunks: Vec<Vec<u8>> = chunks.into_iter().map(Result::unwrap).collect();
            for (chunk, samples) in chunks.iter().zip(&samples) {
                assert!(
                    *chunk == linerate_rice::encode(&params, samples, Options::new()).unwrap(),
                    "{params:?}"
                );
            }
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            let decoded = codec.decode_batch(&params, &chunks, &stream).unwrap();
            for (decoded, plain) in decoded.iter().zip(&plain) {
                assert!(decoded.as_deref() == Ok(plain), "{params:?}: {:?}", decoded.as_ref().err());
            }
        }
    }
}

#[test]
fn damage_is_the_error_of_its_chunk_and_that_of_the_cpu() {
    let Some((codec, stream)) = codec() else { return };
    let params = Params::new(8, 500.try_into().ok()).unwrap();
    let samples = waves(7, 3000);
    let whole = linerate_rice::encode(&params, &samples, Options::new()).unwrap();
    let mut chunks: Vec<Vec<u8>> = vec![whole.clone()];
    for at in (0..whole.len()).step_by(97) {
        chunks.push(whole[..at].to_vec());
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        chunks.push(flipped);
    }
    chunks.push([&whole[..], &[0; 4]].concat());
    let slices: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
    let decoded = codec.decode_batch(&params, &slices, &stream).unwrap();
    let mut damaged = 0;
    for (chunk, decoded) in chunks.iter().zip(decoded) {
        let expected = linerate_rice::decode::<i16>(&params, chunk, Options::new());
        damaged += usize::from(expected.is_err());
        assert_eq!(
            decoded.as_ref().err().map(|e| (e.kind, e.offset, e.message)),
            expected.as_ref().err().map(|e| (e.kind, e.offset, e.message))
        );
        assert!(decoded.ok() == expected.ok().map(|samples| bytes(&samples)));
    }
    assert!(damaged > chunks.len() / 2);
}

#[test]
#[allow(unsafe_code)]
fn device_pointers_serve_a_pipeline_without_the_host() {
    let Some((codec, stream)) = codec() else { return };
    let params = Params::new(16, 700.try_into().ok()).unwrap();
    let samples = bytes(&waves(3, 7000));
    let input = DeviceBuffer::from_slice(codec.context(), &samples, &stream).unwrap();
    let bound = params.bound(7000);
    let chunk = DeviceBuffer::new(codec.context(), bound).unwrap();
    let back = DeviceBuffer::new(codec.context(), samples.len()).unwrap();
    let mut workspace = codec.workspace().unwrap();
    let encode = EncodeJob {
        samples: Input::Device { address: input.pointer(), bytes: samples.len() },
        chunk: chunk.pointer(),
        capacity: bound,
    };
    // SAFETY: the buffers are alive until the outcomes are there.
    unsafe { codec.encode(&params, &[encode], &stream, &mut workspace) }.unwrap();
    let size = *workspace.outcomes().unwrap()[0].as_ref().unwrap();
    let decode = DecodeJob {
        chunk: Input::Device { address: chunk.pointer(), bytes: size },
        samples: back.pointer(),
        capacity: 7000,
    };
    // SAFETY: as above.
    unsafe { codec.decode(&params, &[decode], &stream, &mut workspace) }.unwrap();
    assert_eq!(workspace.outcomes().unwrap(), [Ok(7000)]);
    let mut out = vec![0; samples.len()];
    back.read(&mut out, &stream).unwrap();
    assert!(out == samples);

    let short = EncodeJob { capacity: size - 4, ..encode };
    let few = DecodeJob { capacity: 6999, ..decode };
    // SAFETY: as above.
    unsafe { codec.encode(&params, &[short, encode], &stream, &mut workspace) }.unwrap();
    let outcomes = workspace.outcomes().unwrap();
    assert_eq!(outcomes[0].unwrap_err().kind, Kind::OutputTooSmall);
    // SAFETY: as above.
    unsafe { codec.decode(&params, &[few], &stream, &mut workspace) }.unwrap();
    assert_eq!(workspace.outcomes().unwrap()[0].unwrap_err().kind, Kind::OutputTooSmall);
    let before = workspace.device_bytes();
    // SAFETY: as above.
    unsafe { codec.decode(&params, &[decode], &stream, &mut workspace) }.unwrap();
    assert_eq!((workspace.outcomes().unwrap(), workspace.device_bytes()), (vec![Ok(7000)], before));
    let odd = DecodeJob { samples: back.pointer() + 1, ..decode };
    // SAFETY: as above.
    let error = unsafe { codec.decode(&params, &[odd], &stream, &mut workspace) }.unwrap_err();
    assert!(matches!(error, Error::BadArgument(_)), "{error}");
}

#[test]
fn parameters_that_lose_data_are_refused_when_encoding() {
    let Some((codec, stream)) = codec() else { return };
    let double = Params::default().with_filter(Filter::new(&[2, -1]).unwrap());
    for params in [Params::new(1, None).unwrap(), double] {
        let error = codec.encode_batch(&params, &[&[0, 0]], &stream).unwrap_err();
        assert!(error.to_string().contains("data would be lost"), "{error}");
    }
}

#[test]
fn workspaces_are_reused() {
    let Some((codec, stream)) = codec() else { return };
    let params = Params::default();
    let chunk = linerate_rice::encode(&params, &waves(1, 100), Options::new()).unwrap();
    codec.decode_batch(&params, &[&chunk], &stream).unwrap()[0].as_ref().unwrap();
    let held = codec.workspace().unwrap().device_bytes();
    assert!(held > 0, "the workspace of the call is back in the pool");
    codec.decode_batch(&params, &[&chunk], &stream).unwrap()[0].as_ref().unwrap();
    assert_eq!(codec.workspace().unwrap().device_bytes(), held);
    codec.release_workspaces();
    assert_eq!(codec.workspace().unwrap().device_bytes(), 0);
}
