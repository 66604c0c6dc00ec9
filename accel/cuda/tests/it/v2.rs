//! Tests version 2 through the crate's functions: golden streams, batches, damage, device pointers.

use std::fs;
use std::num::NonZeroU32;

use linerate_cuda::{Codec, DecodeJob, DeviceBuffer, EncodeJob, Error, Input, Stream, stream_bound};
use linerate_rice::v2::{self, ElementType, Shape, StreamOptions};
use linerate_rice::{Kind, Options};
use linerate_testkit::testdata::{files_below, testdata};

use crate::common::{bytes, codec, encodes_streams, waves};

/// Decodes a stream of samples of type `element` on the CPU, to little-endian bytes.
fn decoded(stream: &[u8], element: ElementType) -> linerate_core::Result<Vec<u8>> {
    fn of<T: v2::Element>(stream: &[u8], put: fn(T) -> Vec<u8>) -> linerate_core::Result<Vec<u8>> {
        Ok(v2::decode::<T>(stream, Options::new())?.into_iter().flat_map(put).collect())
    }
    match element {
        ElementType::I16 => of::<i16>(stream, |x| x.to_le_bytes().to_vec()),
        ElementType::U16 => of::<u16>(stream, |x| x.to_le_bytes().to_vec()),
        ElementType::I32 => of::<i32>(stream, |x| x.to_le_bytes().to_vec()),
        ElementType::U32 => of::<u32>(stream, |x| x.to_le_bytes().to_vec()),
    }
}

#[test]
fn golden_streams_decode() {
    let Some((codec, stream)) = codec() else { return };
    let mut found = 0;
    for path in files_below(&testdata().join("rice-v2")) {
        if path.extension().is_none_or(|extension| extension != "rice") {
            continue;
        }
        let golden = fs::read(&path).unwrap();
        let element = v2::info(&golden).unwrap().element;
        let batch = codec.decode_stream_batch(element, &[&golden], &stream).unwrap();
        let raw = fs::read(path.with_extension("raw")).unwrap();
        assert!(batch[0].as_deref() == Ok(&raw), "{}: {:?}", path.display(), batch[0].as_ref().err());
        found += 1;
    }
    assert!(found >= 16);
}

/// Returns `frames` frames of `channels` channels. Each channel is a sum of the same three signals
/// and of noise of its own, so that channels predict each other.
fn leads(channels: usize, frames: usize) -> Vec<i16> {
    let sources: Vec<Vec<i16>> = (1..4).map(|seed| waves(seed, frames)).collect();
    let noise = waves(9, channels * frames);
    let sample = |i: usize| {
        let (frame, channel) = (i / channels, i % channels);
        let mixed = sources[0][frame] / 2 - sources[channel % 3][frame] / (1 + channel as i16 % 5);
        mixed + sources[2][frame] / 3 + noise[i] % 3
    };
    (0..channels * frames).map(sample).collect()
}

#[test]
fn batch_of_streams_with_and_without_channels_decodes() {
    let Some((codec, stream)) = codec() else { return };
    // Whole and partial segments, of more and of fewer frames than the 128 that a thread block of
    // the kernel takes at a time.
    let inputs =
        [(2, 9000, None), (15, 777, NonZeroU32::new(100)), (1, 5000, None), (3, 1, None), (300, 70, None)];
    let encoded = inputs.map(|(channels, frames, segment)| {
        let options = StreamOptions::new().segment(segment).channels(NonZeroU32::new(channels));
        v2::encode(&options, &leads(channels as usize, frames), Options::new()).unwrap()
    });
    let referring = encoded.iter().filter(|stream| v2::info(stream).unwrap().channels > 1).count();
    assert_eq!(referring, 4);
    let slices: Vec<&[u8]> = encoded.iter().map(Vec::as_slice).collect();
    let batch = codec.decode_stream_batch(ElementType::I16, &slices, &stream).unwrap();
    for ((channels, frames, _), found) in inputs.into_iter().zip(&batch) {
        let samples = bytes(&leads(channels as usize, frames));
        assert!(found.as_deref() == Ok(&samples), "{channels} x {frames}: {:?}", found.as_ref().err());
    }
}

#[test]
fn channels_without_samples_decode_to_nothing() {
    let Some((codec, stream)) = codec() else { return };
    let options = StreamOptions::new().channels(NonZeroU32::new(2));
    let empty = v2::encode::<i16>(&options, &[], Options::new()).unwrap();
    assert_eq!(v2::info(&empty).map(|info| (info.channels, info.samples)), Ok((2, 0)));
    let whole = v2::encode(&options, &leads(2, 100), Options::new()).unwrap();
    let batch = codec.decode_stream_batch(ElementType::I16, &[&empty, &whole], &stream).unwrap();
    assert_eq!(batch, [Ok(vec![]), Ok(bytes(&leads(2, 100)))]);
    assert_eq!(codec.decode_stream_batch(ElementType::I16, &[&empty], &stream), Ok(vec![Ok(vec![])]));
}

#[test]
fn damaged_channels_have_the_error_of_the_cpu() {
    let Some((codec, stream)) = codec() else { return };
    let options = StreamOptions::new().segment(NonZeroU32::new(200)).channels(NonZeroU32::new(5));
    let whole = v2::encode(&options, &leads(5, 500), Options::new()).unwrap();
    errors_are_those_of_the_cpu(&codec, &stream, &whole, 7);
}

#[test]
#[allow(unsafe_code)]
fn channels_in_device_memory_are_unsupported() {
    let Some((codec, stream)) = codec() else { return };
    let options = StreamOptions::new().channels(NonZeroU32::new(2));
    let encoded = v2::encode(&options, &leads(2, 1000), Options::new()).unwrap();
    let chunk = DeviceBuffer::from_slice(codec.context(), &encoded, &stream).unwrap();
    let out = DeviceBuffer::new(codec.context(), 4000).unwrap();
    let input = Input::Device { address: chunk.pointer(), bytes: encoded.len() };
    let job = DecodeJob { chunk: input, samples: out.pointer(), capacity: 2000 };
    let mut workspace = codec.workspace().unwrap();
    // SAFETY: the buffers are alive until the outcomes are there.
    unsafe { codec.decode_streams(ElementType::I16, 1000, &[job], &stream, &mut workspace) }.unwrap();
    let error = workspace.outcomes().unwrap()[0].unwrap_err();
    assert_eq!((error.kind, error.offset), (Kind::Unsupported, 6));
    assert!(error.message.contains("pass it in host memory"), "{error}");
}

#[test]
fn batch_of_mixed_lengths_encodes_as_on_the_cpu_and_decodes() {
    let Some((codec, stream)) = codec() else { return };
    if !encodes_streams(&codec, &stream) {
        return;
    }
    let mut samples: Vec<Vec<i16>> =
        [0, 1, 33, 39, 40, 41, 700, 5000, 7001].iter().zip(1..).map(|(&n, seed)| waves(seed, n)).collect();
    // Samples for linear predictions with large coefficients, and samples that use all bits.
    let tone = |i: u32| (f64::from(i) * 0.03).sin() * 9000.0 + (f64::from(i) * 0.4).sin() * 500.0;
    samples.push((0..20_000).map(|i| tone(i) as i16).collect());
    samples.push((0..3000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 16) as i16).collect());
    let plain: Vec<Vec<u8>> = samples.iter().map(|samples| bytes(samples)).collect();
    let plain: Vec<&[u8]> = plain.iter().map(Vec::as_slice).collect();
    for segment in [None, NonZeroU32::new(700), NonZeroU32::new(20_000)] {
        let options = StreamOptions::new().segment(segment);
        let batch = codec.encode_stream_batch(ElementType::I16, &options, &plain, &stream).unwrap();
        let streams: Vec<Vec<u8>> = batch.into_iter().map(Result::unwrap).collect();
        for (stream, samples) in streams.iter().zip(&samples) {
            assert!(
                *stream == v2::encode(&options, samples, Options::new()).unwrap(),
                "{segment:?} {}",
                samples.len()
            );
        }
        let streams: Vec<&[u8]> = streams.iter().map(Vec::as_slice).collect();
        let batch = codec.decode_stream_batch(ElementType::I16, &streams, &stream).unwrap();
        for (found, plain) in batch.iter().zip(&plain) {
            assert!(found.as_deref() == Ok(plain), "{:?}", found.as_ref().err());
        }
    }
}

#[test]
fn shape_and_wide_samples_encode_as_on_the_cpu() {
    let Some((codec, stream)) = codec() else { return };
    if !encodes_streams(&codec, &stream) {
        return;
    }
    let samples: Vec<i32> = waves(5, 6000).iter().map(|&x| i32::from(x) * 70_001).collect();
    let plain: Vec<u8> = samples.iter().flat_map(|x| x.to_le_bytes()).collect();
    let shape = Shape::new(&[2, 3, 1000]).unwrap();
    let options = StreamOptions::new().row(NonZeroU32::new(1000)).shape(Some(shape));
    let batch = codec.encode_stream_batch(ElementType::I32, &options, &[&plain], &stream).unwrap();
    assert!(batch[0].as_deref() == Ok(&v2::encode(&options, &samples, Options::new()).unwrap()));
    let error = codec.encode_stream_batch(ElementType::I32, &options, &[&plain[4..]], &stream).unwrap_err();
    assert!(error.to_string().contains("a shape of more or fewer samples"), "{error}");
}

#[test]
#[allow(unsafe_code)]
fn capacity_that_is_too_small_for_a_stream_is_the_error_of_the_cpu() {
    let Some((codec, stream)) = codec() else { return };
    if !encodes_streams(&codec, &stream) {
        return;
    }
    let options = StreamOptions::new().segment(NonZeroU32::new(500));
    let samples = waves(4, 2000);
    let plain = bytes(&samples);
    let size = v2::encode(&options, &samples, Options::new()).unwrap().len();
    let out = DeviceBuffer::new(codec.context(), size).unwrap();
    let mut workspace = codec.workspace().unwrap();
    for capacity in [0, 27, 40, 44, size / 2, size - 1] {
        let job = EncodeJob { samples: Input::Host(&plain), chunk: out.pointer(), capacity };
        // SAFETY: the buffers are alive until the outcomes are there.
        unsafe { codec.encode_streams(ElementType::I16, &options, &[job], &stream, &mut workspace) }.unwrap();
        let error = workspace.outcomes().unwrap()[0].unwrap_err();
        let on_cpu = v2::encode_into(&options, &samples, &mut vec![0; capacity], Options::new());
        assert_eq!(Err(error), on_cpu, "{capacity}");
    }
}

#[test]
fn damage_is_the_error_of_its_stream_and_that_of_the_cpu() {
    let Some((codec, stream)) = codec() else { return };
    let options = StreamOptions::new().segment(NonZeroU32::new(600));
    let whole = v2::encode(&options, &waves(7, 3000), Options::new()).unwrap();
    errors_are_those_of_the_cpu(&codec, &stream, &whole, 61);
}

/// Returns a stream of 16-bit samples whose header claims `segments` segments of 65,536 samples, and
/// whose table says that none of them has a single byte.
fn stream_of_claims(segments: usize) -> Vec<u8> {
    let options = StreamOptions::new().segment(NonZeroU32::new(v2::MAX_SEGMENT));
    let mut stream = v2::encode::<i16>(&options, &[], Options::new()).unwrap();
    stream[8..16].copy_from_slice(&(segments as u64 * u64::from(v2::MAX_SEGMENT)).to_le_bytes());
    // The checksum of the header is made like that of a segment's samples, which is the first word
    // after the header and a table of one entry.
    let covered: Vec<i16> =
        stream[..24].as_chunks::<2>().0.iter().map(|pair| i16::from_le_bytes(*pair)).collect();
    let of_samples = v2::encode(&StreamOptions::new(), &covered, Options::new()).unwrap();
    stream[24..28].copy_from_slice(&of_samples[32..36]);
    stream.resize(28 + 4 * segments, 0);
    stream
}

#[test]
fn stream_that_claims_more_samples_than_the_device_has_memory_for_fails_alone() {
    let Some((codec, stream)) = codec() else { return };
    let (_, memory) = codec.context().memory().unwrap();
    let claims = stream_of_claims(memory / (2 * v2::MAX_SEGMENT as usize) + 1);
    assert!(v2::info(&claims).unwrap().samples > memory as u64 / 2);
    let samples = [waves(1, 3000), waves(2, 500), waves(3, 1)];
    let [a, b, c] = samples.each_ref().map(|samples| {
        v2::encode(&StreamOptions::new().channels(NonZeroU32::new(1)), samples, Options::new()).unwrap()
    });
    let batch = codec.decode_stream_batch(ElementType::I16, &[&a, &b, &claims, &c], &stream).unwrap();
    let error = batch[2].as_ref().unwrap_err();
    assert_eq!((error.kind, error.offset), (Kind::Limit, 0));
    assert!(error.message.contains("not enough device memory"), "{error}");
    for (found, samples) in [&batch[0], &batch[1], &batch[3]].into_iter().zip(&samples) {
        assert!(found.as_deref() == Ok(&bytes(samples)), "{:?}", found.as_ref().err());
    }
}

#[test]
fn stream_of_bytes_of_a_file_has_no_samples_and_its_damage_is_the_error_of_the_cpu() {
    let Some((codec, stream)) = codec() else { return };
    let whole = fs::read(testdata().join("rice-v2/file-record-i16.rice")).unwrap();
    let batch = codec.decode_stream_batch(ElementType::I16, &[&whole], &stream).unwrap();
    assert_eq!(batch, [Ok(vec![])]);
    errors_are_those_of_the_cpu(&codec, &stream, &whole, 1);
}

/// Decodes `whole`, and copies of it that are cut or damaged at every `step`th byte, on the device
/// and on the CPU. Samples and errors must be the same.
fn errors_are_those_of_the_cpu(codec: &Codec, stream: &Stream, whole: &[u8], step: usize) {
    let mut streams: Vec<Vec<u8>> = vec![whole.to_vec()];
    for at in (0..whole.len()).step_by(step) {
        streams.push(whole[..at].to_vec());
        let mut flipped = whole.to_vec();
        flipped[at] ^= 1 << (at % 8);
        streams.push(flipped);
    }
    let slices: Vec<&[u8]> = streams.iter().map(Vec::as_slice).collect();
    let batch = codec.decode_stream_batch(ElementType::I16, &slices, stream).unwrap();
    let mut damaged = 0;
    for (stream, found) in streams.iter().zip(batch) {
        let expected = decoded(stream, ElementType::I16);
        damaged += usize::from(expected.is_err());
        let described = |e: &linerate_core::Error| (e.kind, e.offset, e.message);
        assert_eq!(found.as_ref().err().map(described), expected.as_ref().err().map(described));
        assert!(found.ok() == expected.ok());
    }
    assert!(damaged > streams.len() / 2);
}

#[test]
#[allow(unsafe_code)]
fn device_pointers_serve_a_pipeline_without_the_host() {
    let Some((codec, stream)) = codec() else { return };
    let (element, options) = (ElementType::I16, StreamOptions::new().row(NonZeroU32::new(1000)));
    let samples = bytes(&waves(3, 7000));
    let back = DeviceBuffer::new(codec.context(), samples.len()).unwrap();
    let mut workspace = codec.workspace().unwrap();
    let on_cpu = v2::encode(&options, &waves(3, 7000), Options::new()).unwrap();
    let bound = stream_bound(element, &options, samples.len());
    let encoded = DeviceBuffer::from_slice(codec.context(), &vec![0; bound], &stream).unwrap();
    let mut size = on_cpu.len();
    if encodes_streams(&codec, &stream) {
        let input = DeviceBuffer::from_slice(codec.context(), &samples, &stream).unwrap();
        let encode = EncodeJob {
            samples: Input::Device { address: input.pointer(), bytes: samples.len() },
            chunk: encoded.pointer(),
            capacity: bound,
        };
        // SAFETY: the buffers are alive until the outcomes are there.
        unsafe { codec.encode_streams(element, &options, &[encode], &stream, &mut workspace) }.unwrap();
        size = *workspace.outcomes().unwrap()[0].as_ref().unwrap();
        let mut found = vec![0; size];
        encoded.read(&mut found, &stream).unwrap();
        assert!(found == on_cpu);
    } else {
        // SAFETY: as above.
        unsafe { stream.copy_to_device(encoded.pointer(), &on_cpu) }.unwrap();
        stream.synchronize().unwrap();
    }
    let decode = DecodeJob {
        chunk: Input::Device { address: encoded.pointer(), bytes: size },
        samples: back.pointer(),
        capacity: 7000,
    };
    // SAFETY: as above.
    unsafe { codec.decode_streams(element, 1000, &[decode], &stream, &mut workspace) }.unwrap();
    assert_eq!(workspace.outcomes().unwrap(), [Ok(7000)]);
    let mut out = vec![0; samples.len()];
    back.read(&mut out, &stream).unwrap();
    assert!(out == samples);
    for (element, min_segment, kind) in
        [(element, 7000, Kind::Limit), (ElementType::U16, 1000, Kind::BadArgument)]
    {
        // SAFETY: as above.
        unsafe { codec.decode_streams(element, min_segment, &[decode], &stream, &mut workspace) }.unwrap();
        assert_eq!(workspace.outcomes().unwrap()[0].unwrap_err().kind, kind);
    }
}

#[test]
#[allow(unsafe_code)]
fn call_without_enough_memory_leaves_no_outcomes() {
    let Some((codec, stream)) = codec() else { return };
    let mut workspace = codec.workspace().unwrap();
    let empty = v2::encode::<i16>(&StreamOptions::new(), &[], Options::new()).unwrap();
    let job = DecodeJob { chunk: Input::Host(&empty), samples: 0, capacity: 0 };
    // SAFETY: a stream of no samples has no output.
    unsafe { codec.decode_streams(ElementType::I16, 1, &[job], &stream, &mut workspace) }.unwrap();
    assert_eq!(workspace.outcomes(), Ok(vec![Ok(0)]));
    let device = Input::Device { address: 0, bytes: 0 };
    let job = DecodeJob { chunk: device, samples: 0, capacity: u32::MAX as usize };
    // SAFETY: there is no memory for the scratch of so many segments, so nothing is queued.
    let queued = unsafe { codec.decode_streams(ElementType::I16, 1, &[job], &stream, &mut workspace) };
    assert!(matches!(queued, Err(Error::OutOfMemory { is_pinned: false, .. })), "{queued:?}");
    assert_eq!(workspace.outcomes(), Ok(vec![]));
}

/// Uses raw segments, which the test double of the driver decodes quickly.
#[test]
fn streams_longer_than_what_is_copied_at_a_time_decode() {
    let Some((codec, stream)) = codec() else { return };
    let mut state = 1u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 48) as i16
    };
    let samples: [Vec<i16>; 3] = [1_200_000, 100, 1_100_000].map(|n| (0..n).map(|_| noise()).collect());
    let options = StreamOptions::new().segment(NonZeroU32::new(40_000));
    let streams = samples.each_ref().map(|samples| v2::encode(&options, samples, Options::new()).unwrap());
    let streams = streams.each_ref().map(Vec::as_slice);
    let decoded = codec.decode_stream_batch(ElementType::I16, &streams, &stream).unwrap();
    for (decoded, samples) in decoded.into_iter().zip(&samples) {
        assert!(decoded.as_deref() == Ok(bytes(samples).as_slice()), "{} samples", samples.len());
    }
}
