//! The messages of a session decode one by one, in a decoder with exactly the session's window.

use std::sync::Arc;

use linerate_deflate::session::{Dictionary, Session, SessionOptions, message_bound};
use linerate_deflate::{
    Format, Kind, Level, Phase, Scratch, Stream, StreamState, bound, finish_bound, flush_bound,
};
use linerate_testkit::deflate::{HAS_C, Receiver};
use linerate_testkit::tools::require;

use crate::common::data::{self, Noise};
use crate::common::decoders::{assert_decodes, window_bits};
use crate::common::{FORMATS, encode, scratches};

const WINDOWS: [u8; 9] = [0, 8, 9, 10, 11, 12, 13, 14, 15];
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// Returns messages with much in common: rows of a feed, noise, and mixtures.
fn messages(noise: &mut Noise, count: usize, longest: usize) -> Vec<Vec<u8>> {
    let parts: Vec<Vec<u8>> = (0..12).map(|_| data::text(noise, 90)).collect();
    (0..count)
        .map(|i| match noise.below(8) {
            0 => Vec::new(),
            1 => noise.bytes(longest / 40),
            2 => data::mixture(noise, longest),
            _ => {
                let mut message = format!("{{\"sequence\":{i},\"body\":\"").into_bytes();
                (0..1 + noise.below(9)).for_each(|_| message.extend(&parts[noise.below(12)]));
                message
            }
        })
        .collect()
}

/// Returns a zlib decoder with a window of 2^`bits` bytes.
fn receiver(format: Format, bits: u8, dictionary: &[u8]) -> Receiver {
    let bits = if bits == 0 { 15 } else { bits };
    Receiver::new(window_bits(format, bits), dictionary)
}

fn send(session: &mut Session, scratch: &mut Scratch, message: &[u8]) -> Vec<u8> {
    let mut out = vec![0; message_bound(message.len())];
    let n = session.message(scratch, message, &mut out).expect("capacity of message_bound");
    out.truncate(n);
    out
}

fn session(options: &SessionOptions) -> Session {
    Session::new(options.clone()).expect("valid options")
}

/// Sends all messages, and returns the bytes of each.
fn send_all(options: &SessionOptions, scratch: &mut Scratch, messages: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut session = session(options);
    messages.iter().map(|message| send(&mut session, scratch, message)).collect()
}

#[track_caller]
fn assert_received(receiver: &mut Receiver, sent: &[Vec<u8>], messages: &[Vec<u8>], tail: &[u8]) {
    for (i, (bytes, message)) in sent.iter().zip(messages).enumerate() {
        let plain = receiver.take(&[bytes, tail].concat());
        assert!(plain.as_ref() == Ok(message), "message {i}: {:?}", plain.err());
    }
}

#[test]
fn messages_decode_in_exactly_their_window() {
    let noise = &mut Noise::new(1);
    for (i, bits) in WINDOWS.into_iter().enumerate() {
        for level in Level::ALL {
            let format = FORMATS[(i + level as usize) % 3];
            let messages = messages(noise, 60, 3_000);
            for (takeover, keep_index) in [(true, true), (true, false), (false, true)] {
                let options = SessionOptions::new(format).level(level).window_bits(bits);
                let options = options.takeover(takeover).keep_index(keep_index);
                let mut all = scratches().into_iter().map(|mut s| send_all(&options, &mut s, &messages));
                let sent = all.next().expect("the portable tier");
                assert!(all.all(|other| other == sent), "tiers differ");
                let bound = |(bytes, plain): (&Vec<u8>, &Vec<u8>)| bytes.len() <= message_bound(plain.len());
                assert!(sent.iter().zip(&messages).all(bound));
                assert_received(&mut receiver(format, bits, &[]), &sent, &messages, &[]);
            }
        }
    }
}

#[test]
fn messages_longer_than_a_piece_decode() {
    let noise = &mut Noise::new(2);
    for level in [Level::Default, Level::Best] {
        for bits in [0, 8, 12, 15] {
            let messages: Vec<Vec<u8>> =
                [70_000, 32_768, 300, 65_537, 32_769].map(|n| data::mixture(noise, n)).into();
            for takeover in [true, false] {
                let options =
                    SessionOptions::new(Format::Zlib).level(level).window_bits(bits).takeover(takeover);
                let sent = send_all(&options, &mut Scratch::boxed(), &messages);
                assert!(sent.iter().zip(&messages).all(|(b, m)| b.len() <= message_bound(m.len())));
                assert_received(&mut receiver(Format::Zlib, bits, &[]), &sent, &messages, &[]);
            }
        }
    }
}

/// Between the messages of a session come messages that were encoded once without it. The session
/// remembers them, or forgets its window.
#[test]
fn messages_decode_between_shared_ones() {
    let noise = &mut Noise::new(9);
    for bits in WINDOWS {
        for level in Level::ALL {
            let options = SessionOptions::new(Format::Deflate).level(level).window_bits(bits);
            let messages = messages(noise, 80, 3_000);
            let order: Vec<usize> = messages.iter().map(|_| noise.below(5)).collect();
            for (takeover, keep_index) in [(true, true), (true, false), (false, true)] {
                let options = options.clone().takeover(takeover).keep_index(keep_index);
                let mut all = scratches().into_iter().map(|mut scratch| {
                    let (mut session, alone) = (session(&options), options.clone().takeover(false));
                    let one = |(message, order): (&Vec<u8>, &usize)| match order {
                        0 | 1 => {
                            let bytes = send(&mut self::session(&alone), &mut scratch, message);
                            match order {
                                0 => session.remember(message),
                                _ => session.forget(),
                            }
                            bytes
                        }
                        _ => send(&mut session, &mut scratch, message),
                    };
                    messages.iter().zip(&order).map(one).collect::<Vec<_>>()
                });
                let sent = all.next().expect("the portable tier");
                assert!(all.all(|other| other == sent), "tiers differ");
                assert_received(&mut receiver(Format::Deflate, bits, &[]), &sent, &messages, &[]);
            }
        }
    }
}

#[test]
fn messages_refer_to_remembered_text_and_not_to_forgotten_text() {
    let noise = &mut Noise::new(10);
    let mut scratch = Scratch::boxed();
    for level in Level::ALL.into_iter().skip(1) {
        for bits in [10, 15] {
            let options = SessionOptions::new(Format::Deflate).level(level).window_bits(bits);
            let texts: Vec<Vec<u8>> = (0..3).map(|_| noise.bytes(200)).collect();
            let mut session = session(&options);
            send(&mut session, &mut scratch, &texts[0]);
            session.remember(&texts[1]);
            session.remember(&[]);
            for text in &texts[..2] {
                assert!(send(&mut session, &mut scratch, text).len() < 20, "{level:?} {bits}");
            }
            session.forget();
            session.remember(&texts[2]);
            assert!(send(&mut session, &mut scratch, &texts[2]).len() < 20, "{level:?} {bits}");
            assert!(send(&mut session, &mut scratch, &texts[0]).len() > 200, "{level:?} {bits}");
            // Now the session must behave like a new one.
            session.forget();
            let messages = messages(noise, 20, 2_000);
            let sent: Vec<_> = messages.iter().map(|m| send(&mut session, &mut scratch, m)).collect();
            assert!(sent == send_all(&options, &mut scratch, &messages), "{level:?} {bits}");
        }
    }
}

#[test]
fn partial_messages_decode_before_their_last_bits_are_written() {
    let noise = &mut Noise::new(3);
    let messages = messages(noise, 80, 40_000);
    for level in Level::ALL {
        for format in FORMATS {
            let mut session = session(&SessionOptions::new(format).level(level).window_bits(12));
            let (mut scratch, mut receiver) = (Scratch::boxed(), receiver(format, 12, &[]));
            for (i, message) in messages.iter().enumerate() {
                let mut out = vec![0; message_bound(message.len())];
                let n = match i % 5 {
                    4 => session.message(&mut scratch, message, &mut out),
                    _ => session.partial_message(&mut scratch, message, &mut out),
                };
                let n = n.expect("capacity of message_bound");
                assert!(receiver.take(&out[..n]).as_ref() == Ok(message), "message {i} of {level:?}");
                assert_eq!(out[..n].ends_with(&TAIL), i % 5 == 4);
            }
            let mut out = vec![0; finish_bound()];
            let n = session.finish(&mut out).expect("capacity of finish_bound");
            assert_eq!(receiver.take(&out[..n]), Ok(Vec::new()));
        }
    }
}

#[test]
fn six_pending_bits_of_the_caller_stay_within_the_bound() {
    // Three empty blocks with the fixed trees: 30 bits.
    let before = 0b010u32 | 0b010 << 10 | 0b010 << 20;
    let [first, second, third, pending] = before.to_le_bytes();
    let noise = &mut Noise::new(4);
    for text in [noise.bytes(3_000), data::text(noise, 3_000), vec![b'x']] {
        for level in Level::ALL {
            let mut session = session(&SessionOptions::new(Format::Deflate).level(level));
            // Raw deflate has no header, so the stream is past it.
            let phase = Phase::Open;
            let state = StreamState { pending, pending_len: 6, phase, ..session.state() };
            session.set_state(state).expect("six bits");
            let mut stream = Stream::from_state(Format::Deflate, level, state).expect("six bits");
            let sent = send(&mut session, &mut Scratch::boxed(), &text);
            let mut out = vec![0; bound(text.len())];
            let mut n =
                stream.encode(&mut Scratch::boxed(), &text, &mut out, true).expect("capacity of bound");
            out.resize(n + flush_bound(), 0);
            n += stream.flush(&mut out[n..]).expect("capacity of flush_bound");
            for bytes in [&sent[..], &out[..n]] {
                let all = [&[first, second, third], bytes].concat();
                assert!(receiver(Format::Deflate, 15, &[]).take(&all).as_ref() == Ok(&text), "{level:?}");
            }
            let too_many = StreamState { pending: 0, pending_len: 8, ..state };
            assert!(session.set_state(too_many).is_err());
            let before_the_header = StreamState { phase: Phase::Header, ..state };
            assert!(session.set_state(before_the_header).is_err());
        }
    }
}

/// This shows that the receiver of these tests notices a match beyond its window.
#[test]
fn receiver_rejects_matches_beyond_its_window() {
    if !require(HAS_C, "zlib is not compiled in") {
        return;
    }
    let message = data::base64(&mut Noise::new(3), 900);
    let options = SessionOptions::new(Format::Deflate).window_bits(11);
    let sent = send_all(&options, &mut Scratch::boxed(), &[message.clone(), message.clone()]);
    let mut receiver = receiver(Format::Deflate, 9, &[]);
    assert_eq!(receiver.take(&sent[0]).as_ref(), Ok(&message));
    assert!(receiver.take(&sent[1]).is_err());
}

#[test]
fn tail_is_left_out_as_in_rfc_7692() {
    let messages = messages(&mut Noise::new(4), 60, 2_000);
    for takeover in [true, false] {
        let kept = SessionOptions::new(Format::Deflate).window_bits(11).takeover(takeover);
        let sent = send_all(&kept, &mut Scratch::boxed(), &messages);
        let stripped = send_all(&kept.clone().keep_tail(false), &mut Scratch::boxed(), &messages);
        assert!(sent.iter().zip(&stripped).all(|(with, without)| *with == [&without[..], &TAIL].concat()));
        assert_received(&mut receiver(Format::Deflate, 11, &[]), &stripped, &messages, &TAIL);
    }
    // RFC 7692, 7.2.3.6: an empty message is one byte.
    let options = SessionOptions::new(Format::Deflate).keep_tail(false);
    assert_eq!(send_all(&options, &mut Scratch::boxed(), &[Vec::new()]), [[0]]);
}

#[test]
fn messages_are_smaller_with_takeover_and_decode_alone_without() {
    let message = data::text(&mut Noise::new(5), 600);
    let other = data::text(&mut Noise::new(6), 600);
    let options = SessionOptions::new(Format::Deflate).window_bits(11);
    let mut scratch = Scratch::boxed();
    let sent = send_all(&options, &mut scratch, &[message.clone(), message.clone()]);
    assert!(sent[1].len() < 20, "{} bytes", sent[1].len());
    let alone = options.takeover(false);
    let after = send_all(&alone, &mut scratch, &[other, message.clone()]);
    assert_eq!(after[1], send_all(&alone, &mut Scratch::boxed(), &[message])[0]);
}

#[test]
fn output_does_not_depend_on_earlier_use_of_the_scratch() {
    let noise = &mut Noise::new(7);
    let messages = messages(noise, 40, 3_000);
    let mut used = Scratch::boxed();
    for level in Level::ALL {
        let options = SessionOptions::new(Format::Deflate).level(level).window_bits(12).keep_index(false);
        let mut session = session(&options);
        let fresh = send_all(&options, &mut Scratch::boxed(), &messages);
        for (message, fresh) in messages.iter().zip(&fresh) {
            let other = data::mixture(noise, 5_000);
            encode(&mut used, Format::Deflate, level, &other, 5_000);
            assert!(send(&mut session, &mut used, message) == *fresh, "{level:?}");
        }
    }
}

#[test]
fn output_too_small_changes_nothing() {
    let messages = messages(&mut Noise::new(8), 25, 400);
    let mut scratch = Scratch::boxed();
    for (format, keep_tail, level) in [
        (Format::Zlib, true, Level::Default),
        (Format::Deflate, false, Level::Default),
        (Format::Gzip, false, Level::Fast),
        (Format::Gzip, true, Level::Best),
    ] {
        let options = SessionOptions::new(format).keep_tail(keep_tail).window_bits(10).level(level);
        let expected = send_all(&options, &mut scratch, &messages);
        let mut session = session(&options);
        for (message, expected) in messages.iter().zip(&expected) {
            for capacity in 0..expected.len() {
                let error =
                    session.message(&mut scratch, message, &mut vec![0; capacity]).expect_err("too small");
                assert_eq!(error.kind, Kind::OutputTooSmall);
            }
            let mut out = vec![0; expected.len()];
            assert_eq!(session.message(&mut scratch, message, &mut out), Ok(expected.len()));
            assert!(out == *expected);
        }
    }
    // If a later piece of a message does not fit, the earlier pieces are forgotten too.
    let long = data::text(&mut Noise::new(9), 50_000);
    let options = SessionOptions::new(Format::Deflate);
    let expected = send_all(&options, &mut scratch, &[messages[5].clone(), long.clone(), long.clone()]);
    let mut session = session(&options);
    send(&mut session, &mut scratch, &messages[5]);
    session.message(&mut scratch, &long, &mut vec![0; expected[1].len() - 1]).expect_err("too small");
    assert!(send(&mut session, &mut scratch, &long) == expected[1]);
    assert!(send(&mut session, &mut scratch, &long) == expected[2]);
}

/// The first level decides whether a session keeps an index or hash chains. Messages at other
/// levels, long ones, and ones that do not fit their buffer must leave it correct.
#[test]
fn levels_may_change_between_messages_of_any_length() {
    let noise = &mut Noise::new(12);
    let scratch = &mut Scratch::boxed();
    for (first, bits) in [(Level::Default, 9), (Level::Best, 9), (Level::Lazy, 12), (Level::Best, 15)] {
        let options = SessionOptions::new(Format::Deflate).level(first).window_bits(bits);
        let (mut session, mut receiver) = (session(&options), receiver(Format::Deflate, bits, b""));
        for i in 0..150 {
            let message = messages(noise, 1, if i % 25 == 24 { 90_000 } else { 2_000 }).remove(0);
            session.set_level(if noise.below(3) == 0 { noise.pick(&Level::ALL) } else { first });
            if i % 7 == 6 {
                session.message(scratch, &message, &mut [0; 4]).expect_err("a flush takes five bytes");
            }
            let sent = send(&mut session, scratch, &message);
            assert_received(&mut receiver, &[sent], &[message], b"");
        }
    }
}

#[test]
fn kept_hash_chains_compress_as_well_as_new_ones() {
    let noise = &mut Noise::new(13);
    let scratch = &mut Scratch::boxed();
    for bits in [8, 11, 15] {
        let messages = messages(noise, 200, 1_000);
        let options = SessionOptions::new(Format::Deflate).level(Level::Best).window_bits(bits);
        let mut len = |options: &SessionOptions| send_all(options, scratch, &messages).concat().len();
        let (kept, anew) = (len(&options), len(&options.clone().keep_index(false)));
        assert!(kept * 100 < anew * 101, "{bits} bits: {kept}, {anew} bytes");
    }
}

/// The index of level 1 holds positions modulo 2^16, and an empty slot means the first byte.
#[test]
fn level_1_decodes_after_leading_zeros_and_wrapped_positions() {
    let noise = &mut Noise::new(14);
    let mut messages = messages(noise, 400, 4_500);
    messages.insert(0, vec![0; 700]);
    assert!(messages.concat().len() > 3 << 16, "{} bytes", messages.concat().len());
    for bits in [8, 11, 13, 15] {
        for format in FORMATS {
            let options = SessionOptions::new(format).level(Level::Fast).window_bits(bits);
            let sent = send_all(&options, &mut Scratch::boxed(), &messages);
            assert_received(&mut receiver(format, bits, &[]), &sent, &messages, &[]);
        }
    }
}

/// Windows wrap within messages and between them. The lengths are around the lengths at which a
/// session changes its search: the longest message for one pass, the size of a piece, and a last
/// piece that is too short for a history.
#[test]
fn messages_of_lengths_around_limits_decode_in_windows_that_wrap() {
    let noise = &mut Noise::new(15);
    let limits = [4, 16, 256, 512, 1 << 12, 1 << 13, 1 << 15, (1 << 15) + 16, 1 << 16];
    let text = data::text(noise, (1 << 16) + 300);
    let messages: Vec<Vec<u8>> = limits
        .into_iter()
        .flat_map(|limit| [limit - 1, limit, limit + 1])
        .map(|len: usize| {
            // Each message repeats itself and its neighbours.
            let period = 1 + noise.below(300);
            let start = noise.below(100);
            (0..len).map(|i| text[start + if noise.below(40) == 0 { i } else { i % period }]).collect()
        })
        .collect();
    for level in [Level::Fast, Level::Default, Level::Lazy, Level::Best] {
        for bits in 8..=15 {
            let options = SessionOptions::new(Format::Deflate).level(level).window_bits(bits);
            let order: Vec<_> = (0..12).map(|_| messages[noise.below(messages.len())].clone()).collect();
            let sent = send_all(&options, &mut Scratch::boxed(), &order);
            assert!(sent.iter().zip(&order).all(|(b, m)| b.len() <= message_bound(m.len())));
            assert_received(&mut receiver(Format::Deflate, bits, &[]), &sent, &order, &[]);
        }
    }
}

/// A match may cross the end of the ring, wherever the previous message ended.
#[test]
fn repeats_are_found_wherever_the_window_wraps() {
    let noise = &mut Noise::new(16);
    let text = noise.bytes(120);
    for level in Level::ALL.into_iter().skip(2) {
        for bits in [8, 11] {
            let options = SessionOptions::new(Format::Deflate).level(level).window_bits(bits);
            let (mut session, mut receiver) = (session(&options), receiver(Format::Deflate, bits, &[]));
            let scratch = &mut Scratch::boxed();
            for i in 0..300 {
                let sent = send(&mut session, scratch, &text);
                assert!(
                    i == 0 || sent.len() < 60,
                    "{level:?} {bits} bits, message {i}: {} bytes",
                    sent.len()
                );
                assert_received(&mut receiver, &[sent], std::slice::from_ref(&text), &[]);
                let len = noise.below(100);
                let other = noise.bytes(len);
                let sent = send(&mut session, scratch, &other);
                assert_received(&mut receiver, &[sent], &[other], &[]);
            }
        }
    }
}

#[test]
fn finish_ends_the_stream() {
    let messages = messages(&mut Noise::new(10), 10, 2_000);
    for format in FORMATS {
        for count in [0, messages.len()] {
            let mut scratch = Scratch::boxed();
            let mut session = session(&SessionOptions::new(format));
            let mut all: Vec<u8> = Vec::new();
            messages[..count]
                .iter()
                .for_each(|message| all.extend(send(&mut session, &mut scratch, message)));
            let mut out = vec![0; finish_bound()];
            let n = session.finish(&mut out).expect("capacity");
            all.extend_from_slice(&out[..n]);
            assert_decodes(format, &all, &messages[..count].concat());
            assert_eq!(session.finish(&mut out), Ok(0));
            let error = session.message(&mut scratch, b"more", &mut [0; 99]).expect_err("after the end");
            assert_eq!(error.kind, Kind::BadArgument);
        }
    }
}

#[test]
fn dictionaries_are_shared_and_named_in_the_header() {
    let noise = &mut Noise::new(11);
    let messages = messages(noise, 30, 2_000);
    for len in [0, 3, 200, 5_000, 40_000] {
        let mut text = data::text(noise, len);
        text.extend(messages[4..8].concat());
        let dictionary = Arc::new(Dictionary::new(&text));
        for bits in [0, 9, 13, 15] {
            for (format, level) in [
                (Format::Deflate, Level::Default),
                (Format::Zlib, Level::Default),
                (Format::Zlib, Level::Best),
            ] {
                if bits == 0 && format == Format::Zlib {
                    continue;
                }
                let plain = SessionOptions::new(format).window_bits(bits).level(level);
                let options = plain.clone().dictionary(Arc::clone(&dictionary));
                let sent = send_all(&options, &mut Scratch::boxed(), &messages);
                if bits == 0 {
                    // Each message refers to the dictionary.
                    for (bytes, message) in sent.iter().zip(&messages) {
                        assert_eq!(receiver(format, bits, &text).take(bytes).as_ref(), Ok(message));
                    }
                } else {
                    assert_received(&mut receiver(format, bits, &text), &sent, &messages, &[]);
                }
                let without = send_all(&plain, &mut Scratch::boxed(), &messages);
                assert!(sent[4].len() < without[4].len(), "{} bytes", sent[4].len());
            }
        }
        // RFC 1950, 2.2: bit 5 of the second byte, then the Adler-32 of the dictionary.
        let options = SessionOptions::new(Format::Zlib).dictionary(Arc::clone(&dictionary));
        let first = &send_all(&options, &mut Scratch::boxed(), &messages[..1])[0];
        assert_eq!((first[1] & 0x20, &first[2..6]), (0x20, &dictionary.id().to_be_bytes()[..]));
    }
}

#[test]
fn wrong_options_are_errors() {
    let kind = |options: SessionOptions| Session::new(options).err().map(|e| e.kind);
    for bits in [1, 7, 16, 255] {
        assert_eq!(kind(SessionOptions::new(Format::Deflate).window_bits(bits)), Some(Kind::BadArgument));
    }
    let dictionary = Arc::new(Dictionary::new(b"words"));
    let of = |format| SessionOptions::new(format).dictionary(Arc::clone(&dictionary));
    assert_eq!(kind(of(Format::Gzip)), Some(Kind::BadArgument));
    assert_eq!(kind(of(Format::Zlib).takeover(false)), Some(Kind::BadArgument));
    assert_eq!(kind(of(Format::Zlib).window_bits(0)), Some(Kind::BadArgument));
    assert_eq!(kind(of(Format::Deflate).takeover(false)), None);
}
