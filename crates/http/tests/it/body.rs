//! Tests the body with frames of any size and pauses anywhere. zlib-rs decodes the output.

use std::task::Poll;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use http_body::Body;
use linerate_http::{Coding, CompressionBody, Level};

use crate::common::{Decoder, Random, Script, Step, poll};

const CODINGS: [Coding; 2] = [Coding::Gzip, Coding::Deflate];

type Compressed = CompressionBody<Script>;

/// Bodies with both kinds of encoder.
fn bodies(coding: Coding, level: Level, steps: &[Step]) -> [Compressed; 2] {
    let script = || Script::new(steps.to_vec());
    [CompressionBody::new(script(), coding, level), CompressionBody::with_window(script(), coding, level, 9)]
}

fn text(random: &mut Random, len: usize) -> Bytes {
    (0..len).map(|_| b"etaoin shrdlu\n"[random.below(14).min(random.below(14))]).collect()
}

/// Random frames of fewer than `max` bytes, with pauses between some of them.
fn script(random: &mut Random, max: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    for _ in 0..random.below(40) {
        let len = random.below(max) >> random.below(16);
        steps.push(Step::Data(text(random, len)));
        (0..random.below(3)).for_each(|_| steps.push(Step::Pending));
    }
    steps
}

/// All data that a script sends.
fn content(steps: &[Step]) -> Vec<u8> {
    let data =
        steps.iter().filter_map(|step| if let Step::Data(data) = step { Some(&data[..]) } else { None });
    data.collect::<Vec<_>>().concat()
}

/// Decodes a body. Asserts that whenever the script pauses, everything that it has sent can be
/// decoded.
fn decode(mut body: Compressed, coding: Coding) -> Vec<u8> {
    let mut decoder = Decoder::new(coding);
    loop {
        match poll(&mut body) {
            Poll::Pending => assert!(body.get_ref().is_paused),
            Poll::Ready(None) => break,
            Poll::Ready(Some(frame)) => {
                let data = frame.expect("no error").into_data().expect("no trailers");
                assert!(!data.is_empty());
                decoder.push(&data);
            }
        }
        if body.get_ref().is_paused {
            assert_eq!(decoder.push(&[]).len(), body.get_ref().sent, "a pause holds back data");
        }
    }
    assert!(body.is_end_stream());
    assert_eq!(body.size_hint().exact(), Some(0));
    assert!(matches!(poll(&mut body), Poll::Ready(None)), "the end repeats");
    decoder.finish()
}

#[test]
fn random_frames_and_pauses_decode_to_themselves_without_delay() {
    let mut random = Random(1);
    for round in 0..60 {
        let max = [700, 70_000, 700_000][round % 3];
        let steps = script(&mut random, max);
        let level = Level::ALL[round % Level::ALL.len()];
        for coding in CODINGS {
            for body in bodies(coding, level, &steps) {
                assert!(decode(body, coding) == content(&steps), "round {round}, {coding:?}");
            }
        }
    }
}

#[test]
fn empty_body_is_an_empty_stream() {
    for steps in
        [&[][..], &[Step::Data(Bytes::new())], &[Step::Pending, Step::Data(Bytes::new()), Step::Pending]]
    {
        for coding in CODINGS {
            for body in bodies(coding, Level::Default, steps) {
                assert_eq!(decode(body, coding), b"");
            }
        }
    }
}

#[test]
fn page_that_is_ready_is_one_frame_of_one_call() {
    let page = Bytes::from("<p>a page of some length</p>\n".repeat(3_000));
    let mut body =
        CompressionBody::new(http_body_util::Full::new(page.clone()), Coding::Gzip, Level::Default);
    let Poll::Ready(Some(Ok(frame))) = poll(&mut body) else { panic!("ready") };
    assert!(body.is_end_stream());
    let expected = linerate_deflate::compress_to_vec(linerate_deflate::Format::Gzip, Level::Default, &page);
    assert!(frame.into_data().expect("data") == expected);
}

#[test]
fn short_frames_that_are_ready_are_one_call() {
    let page = "<p>a page of some length</p>\n".repeat(300);
    let steps: Vec<Step> =
        page.as_bytes().chunks(100).map(|c| Step::Data(Bytes::copy_from_slice(c))).collect();
    let mut body = CompressionBody::new(Script::new(steps), Coding::Gzip, Level::Default);
    let Poll::Ready(Some(Ok(frame))) = poll(&mut body) else { panic!("ready") };
    let expected =
        linerate_deflate::compress_to_vec(linerate_deflate::Format::Gzip, Level::Default, page.as_bytes());
    assert!(frame.into_data().expect("data") == expected);
}

#[test]
fn long_frame_is_compressed_in_several_polls() {
    let page = Bytes::from(vec![b'x'; 1 << 20]);
    let mut body = CompressionBody::new(http_body_util::Full::new(page.clone()), Coding::Gzip, Level::Fast);
    let (mut decoder, mut frames) = (Decoder::new(Coding::Gzip), 0);
    while let Poll::Ready(Some(Ok(frame))) = poll(&mut body) {
        frames += 1;
        let decoded = decoder.push(&frame.into_data().expect("data")).len();
        assert!(decoded <= frames << 17);
    }
    assert_eq!(frames, 9, "eight calls with data, and one that only ends the stream");
    assert!(decoder.finish() == page);
}

#[test]
fn error_of_the_inner_body_is_returned_and_the_stream_stays_incomplete() {
    let data = Step::Data(Bytes::from_static(b"before the error"));
    for pauses in [vec![], vec![Step::Pending]] {
        let steps: Vec<Step> =
            [data.clone()].into_iter().chain(pauses).chain([Step::Error("reset")]).collect();
        for coding in CODINGS {
            for mut body in bodies(coding, Level::Default, &steps) {
                let mut sent = Vec::new();
                let error = loop {
                    match poll(&mut body) {
                        Poll::Pending => {}
                        Poll::Ready(Some(Ok(frame))) => sent.extend(frame.into_data().expect("data")),
                        Poll::Ready(Some(Err(error))) => break error,
                        Poll::Ready(None) => panic!("an end without an error"),
                    }
                };
                assert_eq!(error, "reset");
                let mut decoder = Decoder::new(coding);
                decoder.push(&sent);
                assert!(!decoder.is_ended());
                assert!(matches!(poll(&mut body), Poll::Ready(None)));
            }
        }
    }
}

#[test]
fn trailers_follow_the_end_of_the_data() {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    for before in [vec![], vec![Step::Data(Bytes::from_static(b"data"))]] {
        let steps: Vec<Step> = before.iter().cloned().chain([Step::Trailers(trailers.clone())]).collect();
        for coding in CODINGS {
            for mut body in bodies(coding, Level::Default, &steps) {
                let Poll::Ready(Some(Ok(frame))) = poll(&mut body) else { panic!("data") };
                let mut decoder = Decoder::new(coding);
                decoder.push(&frame.into_data().expect("data"));
                assert_eq!(decoder.finish(), content(&before));
                assert!(!body.is_end_stream());
                let Poll::Ready(Some(Ok(frame))) = poll(&mut body) else { panic!("trailers") };
                assert_eq!(frame.into_trailers().expect("trailers"), trailers);
                assert!(body.is_end_stream() && matches!(poll(&mut body), Poll::Ready(None)));
            }
        }
    }
}

#[test]
fn body_dropped_midway_does_not_affect_the_next_one_of_the_thread() {
    let frame = Step::Data(Bytes::from("some text ".repeat(100)));
    let steps = [frame.clone(), frame.clone(), Step::Pending, frame.clone()];
    for mut body in bodies(Coding::Gzip, Level::Default, &steps) {
        assert!(matches!(poll(&mut body), Poll::Ready(Some(Ok(_)))));
    }
    let steps = [frame.clone(), frame];
    for body in bodies(Coding::Gzip, Level::Default, &steps) {
        assert_eq!(decode(body, Coding::Gzip), content(&steps));
    }
}

#[test]
fn body_within_a_body_is_compressed_twice() {
    let steps: Vec<Step> =
        (0..20).map(|i| Step::Data(Bytes::from(format!("line {i}\n").repeat(9)))).collect();
    let inner = CompressionBody::new(Script::new(steps.clone()), Coding::Gzip, Level::Default);
    let mut outer = CompressionBody::new(inner, Coding::Deflate, Level::Fast);
    let mut decoder = Decoder::new(Coding::Deflate);
    while let Poll::Ready(Some(Ok(frame))) = poll(&mut outer) {
        decoder.push(&frame.into_data().expect("data"));
    }
    let mut inner = Decoder::new(Coding::Gzip);
    inner.push(&decoder.finish());
    assert_eq!(inner.finish(), content(&steps));
}

#[test]
fn identity_passes_frames_on_without_a_copy() {
    let data = Bytes::from_static(b"as it is");
    let mut body = CompressionBody::identity(http_body_util::Full::new(data.clone()));
    assert_eq!(body.size_hint().exact(), Some(8));
    assert!(!body.is_end_stream());
    let Poll::Ready(Some(Ok(frame))) = poll(&mut body) else { panic!("ready") };
    let passed = frame.into_data().expect("data");
    assert_eq!(passed.as_ptr(), data.as_ptr(), "not copied");
    assert!(body.is_end_stream());
}

#[test]
fn events_refer_to_earlier_ones_in_the_window() {
    let event = |i| format!("event: price\ndata: {{\"symbol\":\"BTC-USD\",\"price\":\"97012.{i}\"}}\n\n");
    let steps: Vec<Step> =
        (10..60).flat_map(|i| [Step::Data(Bytes::from(event(i))), Step::Pending]).collect();
    let [alone, windowed] = bodies(Coding::Gzip, Level::Default, &steps).map(|mut body| {
        let mut bytes = 0;
        loop {
            match poll(&mut body) {
                Poll::Pending => {}
                Poll::Ready(Some(Ok(frame))) => bytes += frame.into_data().expect("data").len(),
                _ => break bytes,
            }
        }
    });
    assert!(windowed * 3 < alone, "{windowed} and {alone} bytes");
}

#[test]
fn body_that_is_polled_while_its_thread_ends_is_compressed() {
    struct Last;
    fn compress() -> usize {
        let frames = (0..3).map(|_| Step::Data(Bytes::from_static(b"a frame, a frame")));
        let mut body = CompressionBody::new(Script::new(frames), Coding::Gzip, Level::Default);
        let Poll::Ready(Some(Ok(frame))) = poll(&mut body) else { panic!("a frame") };
        frame.into_data().expect("data").len()
    }
    impl Drop for Last {
        fn drop(&mut self) {
            assert!(compress() > 20);
        }
    }
    thread_local! {
        static LAST: Last = const { Last };
    }
    let ended = std::thread::spawn(|| {
        LAST.with(|_| ());
        compress();
    });
    assert!(ended.join().is_ok());
}

#[test]
fn frames_of_every_small_size_and_around_the_size_of_a_call_decode() {
    let mut random = Random(7);
    let around_a_call = [(128 << 10) - 1, 128 << 10, (128 << 10) + 1, (256 << 10) + 1];
    for size in (0..=64).chain(around_a_call) {
        let pauses = if size <= 64 { &[1, 2, 3, usize::MAX][..] } else { &[2] };
        for pause in pauses {
            let steps: Vec<Step> = (1..8)
                .flat_map(|i| {
                    let pending = (i % pause == 0).then_some(Step::Pending);
                    [Some(Step::Data(text(&mut random, size))), pending].into_iter().flatten()
                })
                .collect();
            for coding in CODINGS {
                for body in bodies(coding, Level::Fast, &steps) {
                    assert!(decode(body, coding) == content(&steps), "frames of {size} bytes");
                }
            }
        }
    }
}
