//! Tests a session with forms that zlib and deflate (RFC 1950, RFC 1951) allow or forbid. The
//! blocks are made by hand, since the encoders of gateways use only a part of the formats.

use linerate_gateway::{Kind, Limits, Message, Scratch, Session, Transport};

use crate::common::{Noise, hex};

const HEADER: [u8; 2] = [0x78, 0x9c];
const MARKER: [u8; 4] = [0, 0, 0xff, 0xff];

/// A bit writer, lowest bit first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn push(&mut self, value: u32, count: u32) -> &mut Self {
        for i in 0..count {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let last = self.bytes.len() - 1;
            self.bytes[last] |= ((value >> i & 1) as u8) << (self.used % 8);
            self.used += 1;
        }
        self
    }

    /// Appends a Huffman code, highest bit first.
    fn code(&mut self, value: u32, count: u32) -> &mut Self {
        (0..count).rev().for_each(|i| {
            self.push(value >> i & 1, 1);
        });
        self
    }

    /// Appends a symbol of the fixed literal/length code.
    fn fixed(&mut self, symbol: u32) -> &mut Self {
        match symbol {
            0..144 => self.code(0x30 + symbol, 8),
            144..256 => self.code(0x190 + symbol - 144, 9),
            256..280 => self.code(symbol - 256, 7),
            _ => self.code(0xc0 + symbol - 280, 8),
        }
    }

    /// Appends an empty stored block, which ends a message.
    fn flush(&mut self) -> Vec<u8> {
        self.push(0, 3);
        [&self.bytes[..], &MARKER].concat()
    }
}

/// A message of one block with fixed codes.
fn fixed(symbols: impl FnOnce(&mut Bits)) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(0b010, 3);
    symbols(&mut bits);
    bits.fixed(256).flush()
}

/// Appends a match of three bytes with a distance of the last distance code.
fn farthest(bits: &mut Bits, distance: u32) {
    assert!((24_577..=32_768).contains(&distance));
    bits.fixed(257).code(29, 5).push(distance - 24_577, 13);
}

fn stored(content: &[u8]) -> Vec<u8> {
    let len = content.len() as u16;
    [&[0][..], &len.to_le_bytes(), &(!len).to_le_bytes(), content].concat()
}

fn session() -> Session {
    Session::new(Transport::Zlib, Limits::new())
}

/// A session that has decoded `messages`.
fn after(messages: &[Vec<u8>]) -> Session {
    let mut session = session();
    let mut scratch = Scratch::new();
    let mut first = HEADER.to_vec();
    for message in messages {
        first.extend(message);
        session.message(&first, &mut scratch).expect("sound").expect("whole");
        first.clear();
    }
    session
}

/// The error of a new connection that begins with these bytes and a flush. Asserts that it
/// persists, and that the session decodes after a reset.
#[track_caller]
fn refused(bytes: &[u8]) -> (Kind, &'static str) {
    let mut scratch = Scratch::new();
    let mut session = session();
    let frame = [bytes, &stored(b"")].concat();
    let error = session.message(&frame, &mut scratch).unwrap_err();
    assert_eq!(error.message_index, 0);
    assert!(error.offset() <= frame.len() as u64);
    assert_eq!(session.message(b"", &mut scratch), Err(error), "it stays");
    session.reset();
    let good = [&HEADER[..], &stored(b"good"), &stored(b"")].concat();
    assert_eq!(session.message(&good, &mut scratch).unwrap().unwrap().payload, b"good");
    (error.kind(), error.error.message)
}

#[test]
fn invalid_stream_headers_are_errors() {
    let mut good = 0;
    for method in 0..=255u8 {
        for flags in 0..=255u8 {
            let mut scratch = Scratch::new();
            let frame = [&[method, flags][..], &stored(b"x"), &stored(b"")].concat();
            let sound = u16::from_be_bytes([method, flags]) % 31 == 0 && method & 15 == 8 && method >> 4 <= 7;
            match session().message(&frame, &mut scratch) {
                Ok(message) => {
                    assert!(sound && flags & 0x20 == 0);
                    assert_eq!(message.unwrap().payload, b"x");
                    good += 1;
                }
                Err(error) if error.kind() == Kind::Unsupported => assert!(sound && flags & 0x20 != 0),
                Err(error) => assert!(error.kind() == Kind::Corrupt && !sound),
            }
        }
    }
    assert_eq!(good, 8 * 4, "four levels for each of eight windows");
}

#[test]
fn header_may_be_a_fragment_and_a_bad_one_is_an_error_at_once() {
    let mut scratch = Scratch::new();
    let mut session = session();
    assert_eq!(session.message(&HEADER[..1], &mut scratch).unwrap(), None);
    assert_eq!(session.message(&HEADER[1..], &mut scratch).unwrap(), None);
    assert_eq!(session.message(&stored(b"a"), &mut scratch).unwrap(), None);
    assert_eq!(session.message(&stored(b""), &mut scratch).unwrap().unwrap().payload, b"a");
    session.reset();
    assert_eq!(session.message(&[0x78], &mut scratch).unwrap(), None);
    assert_eq!(session.message(&[0x9d], &mut scratch).unwrap_err().kind(), Kind::Corrupt);
}

#[test]
fn match_distance_is_at_most_32_kib_across_messages() {
    let before = |len: usize| {
        let content: Vec<u8> = (0..len as u64).map(|i| (i * i / 7) as u8).collect();
        let cut: Vec<Vec<u8>> =
            content.chunks(10_000).map(|piece| [stored(piece), stored(b"")].concat()).collect();
        (content, cut)
    };
    let mut scratch = Scratch::new();
    for len in [24_577, 30_000, 32_767, 32_768, 32_769, 100_000] {
        let (content, cut) = before(len);
        let most = len.min(32_768);
        let message = fixed(|bits| farthest(bits, most as u32));
        let mut session = after(&cut);
        let message = session.message(&message, &mut scratch).unwrap().unwrap();
        assert_eq!(message.payload, &content[len - most..][..3], "{len}");
        if len < 32_768 {
            let mut session = after(&cut);
            let error = session.message(&fixed(|bits| farthest(bits, most as u32 + 1)), &mut scratch);
            let error = error.unwrap_err();
            assert_eq!((error.kind(), error.message_index), (Kind::Corrupt, cut.len() as u64));
        }
    }
    // A match that begins before the message and overlaps its own output.
    let (content, cut) = before(3);
    let mut session = after(&cut);
    let message = fixed(|bits| {
        bits.fixed(285).code(2, 5); // 258 bytes at distance 3
    });
    let expected: Vec<u8> = content.iter().copied().cycle().take(258).collect();
    assert_eq!(session.message(&message, &mut scratch).unwrap().unwrap().payload, expected);
}

#[test]
fn match_before_the_first_byte_is_an_error() {
    for (literals, distance_code) in [(0, 0), (1, 1), (2, 2), (3, 3)] {
        let message = fixed(|bits| {
            (0..literals).for_each(|i| {
                bits.fixed(b'a' as u32 + i);
            });
            bits.fixed(257).code(distance_code, 5);
        });
        assert_eq!(refused(&[&HEADER[..], &message].concat()).0, Kind::Corrupt);
    }
}

#[test]
fn unused_symbols_are_errors() {
    for symbol in [286, 287] {
        let message = fixed(|bits| {
            bits.fixed(b'a'.into()).fixed(symbol);
        });
        assert_eq!(refused(&[&HEADER[..], &message].concat()).0, Kind::Corrupt);
    }
    for code in [30, 31] {
        let message = fixed(|bits| {
            bits.fixed(b'a'.into()).fixed(257).code(code, 5);
        });
        assert_eq!(refused(&[&HEADER[..], &message].concat()).0, Kind::Corrupt);
    }
}

#[test]
fn invalid_block_type_and_stored_length_are_errors() {
    let with = |bytes: &[u8]| refused(&[&HEADER[..], bytes].concat());
    assert_eq!(with(&[0b110]), (Kind::Corrupt, "a deflate block has an invalid type"));
    for bit in 0..16 {
        let mut block = stored(b"abc");
        block[1 + bit / 8] ^= 1 << (bit % 8);
        assert_eq!(with(&block).0, Kind::Corrupt);
    }
}

/// A final block ends the stream, but the stream of a connection never ends.
#[test]
fn final_block_is_an_error_with_its_offset() {
    // A stream that ends as encoders end it: an empty final block with fixed codes, and the
    // Adler-32 of "a".
    let ended = [&HEADER[..], &stored(b"a"), &hex("0300 0062 0062")].concat();
    assert_eq!(refused(&ended), (Kind::Corrupt, "the zlib stream ends"));
    for last in [&[1, 0, 0, 0xff, 0xff][..], &[3, 0], &[5, 0]] {
        assert_eq!(refused(&[&HEADER[..], last].concat()), (Kind::Corrupt, "the zlib stream ends"));
    }
    let mut scratch = Scratch::new();
    let mut session = after(&[[stored(b"one"), stored(b"")].concat()]);
    let consumed = session.consumed();
    let error = session.message(&[&stored(b"two")[..], &[1], &MARKER].concat(), &mut scratch).unwrap_err();
    assert_eq!(error.message_index, 1);
    // The offset is where the final block ends.
    assert_eq!(error.offset(), consumed + 13, "{error}");
}

/// A stream that ends as encoders end it, with an Adler-32 after the final block, has no flush
/// after that, so the error must not wait for one.
#[test]
fn ended_or_broken_stream_is_an_error_without_a_flush() {
    let mut scratch = Scratch::new();
    let mut refused = |before: &[u8], frame: &[u8]| {
        let mut session = session();
        session.message(before, &mut scratch).expect("sound");
        let error = session.message(frame, &mut scratch).expect_err("an error at once");
        assert!(error.offset() <= (before.len() + frame.len()) as u64);
        (error.kind(), error.error.message)
    };
    let ends = (Kind::Corrupt, "the zlib stream ends");
    let whole = [&HEADER[..], &stored(b"a"), &stored(b"")].concat();
    // The stream ends in the first message, in a later one, or in a fragment.
    let adler = hex("00620062");
    assert_eq!(refused(b"", &[&HEADER[..], &hex("4b0400"), &adler].concat()), ends);
    for last in [hex("0300"), hex("010000ffff"), hex("4b0400")] {
        assert_eq!(refused(&whole, &[&last[..], &adler].concat()), ends);
        assert_eq!(refused(&whole, &[&stored(b"b")[..], &stored(b""), &last, &adler].concat()), ends);
        assert_eq!(refused(&whole[..8], &[&last[..], &adler].concat()), ends);
        // The first byte of the final block is enough.
        assert_eq!(refused(&whole, &last[..1]), ends);
    }
    // Random bytes and random text, in large and in small pieces.
    let mut noise = Noise::new(5);
    for round in 0..200 {
        let garbage: Vec<u8> = (0..4096)
            .map(|_| if round % 2 == 0 { noise.next() as u8 } else { b"{}:, "[noise.below(5)] })
            .collect();
        for len in [1, 100, 4096] {
            let mut session = after(&[[stored(b"a"), stored(b"")].concat()]);
            let mut scratch = Scratch::new();
            let found = garbage.chunks(len).find_map(|piece| session.message(piece, &mut scratch).err());
            assert!(found.is_some(), "{round} {len}");
        }
    }
}

/// Empty blocks never reach the limit on payloads.
#[test]
fn endless_empty_blocks_are_an_error_at_the_limit_on_compressed_bytes() {
    let limits = Limits::new().max_message(1000);
    let mut session = Session::new(Transport::Zlib, limits);
    let mut scratch = Scratch::new();
    assert_eq!(session.message(&HEADER, &mut scratch).unwrap(), None);
    // Each fragment ends within the header of the next block.
    let blocks = [&stored(b"").repeat(200)[..], &[0]].concat();
    let rest = [&blocks[1..], &[]].concat();
    let wanted = limits.max_compressed() / 1000;
    let fragments = std::iter::once(&blocks).chain(std::iter::repeat_n(&rest, 2 * wanted));
    let (number, error) = fragments
        .enumerate()
        .find_map(|(number, fragment)| Some(number).zip(session.message(fragment, &mut scratch).err()))
        .expect("an error");
    assert_eq!((error.kind(), error.error.message), (Kind::Limit, "a message is longer than the limit"));
    assert_eq!(number, wanted);
}

/// A dynamic block header with the given code lengths, each sent with a four-bit code.
fn dynamic(symbols: &[u32], distances: &[u32]) -> Bits {
    const ORDER: [u32; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    let mut bits = Bits::default();
    bits.push(0b100, 3).push(symbols.len() as u32 - 257, 5).push(distances.len() as u32 - 1, 5).push(15, 4);
    // The code lengths 0 to 15 get consecutive four-bit codes; the repeat codes 16 to 18 get none.
    ORDER.iter().for_each(|&len| {
        bits.push(if len < 16 { 4 } else { 0 }, 3);
    });
    symbols.iter().chain(distances).for_each(|&len| {
        bits.code(len, 4);
    });
    bits
}

#[test]
fn invalid_huffman_codes_are_errors() {
    let lens = |pairs: &[(usize, u32)]| {
        let mut lens = vec![0; 257];
        pairs.iter().for_each(|&(symbol, len)| lens[symbol] = len);
        lens
    };
    let end = 256;
    let of = |symbols: &[u32], distances: &[u32]| {
        let mut scratch = Scratch::new();
        let bytes = [&HEADER[..], &dynamic(symbols, distances).code(0, 1).code(1, 1).flush()].concat();
        session().message(&bytes, &mut scratch).map(|message| message.map(|m| m.payload.to_vec()))
    };
    // One-bit codes for one literal and the end of the block; none, one or two distance codes.
    let two = lens(&[(usize::from(b'a'), 1), (end, 1)]);
    for distances in [&[0][..], &[1], &[1, 1]] {
        assert_eq!(of(&two, distances), Ok(Some(b"a".to_vec())));
    }
    for (symbols, distances) in [
        (lens(&[(97, 1), (98, 1), (end, 1)]), &[0][..]), // an oversubscribed code
        (lens(&[(97, 2), (end, 2)]), &[0]),              // an incomplete code
        (lens(&[(97, 1), (98, 1)]), &[0]),               // no end-of-block code
        (two.clone(), &[2]),                             // a single distance code of two bits
        (two.clone(), &[1, 2]),
        (two.clone(), &[1, 1, 1]),
        (vec![8; 287], &[1, 1]), // more symbols than the format has
        (two.clone(), &[5; 31]), // more distance codes than the format has
    ] {
        let error = of(&symbols, distances).unwrap_err();
        assert_eq!(error.kind(), Kind::Corrupt, "{} {distances:?}", symbols.len());
    }
}

#[test]
fn codes_of_every_length_decode() {
    // Letters get codes of 1 to 15 bits, and the end of the block another one of 15 bits.
    let mut symbols = vec![0; 257];
    (1..=15).for_each(|len| symbols[96 + len as usize] = len);
    symbols[256] = 15;
    let mut bits = dynamic(&symbols, &[1]);
    for len in 1..=15 {
        bits.code((1 << len) - 2, len);
    }
    let message = [&HEADER[..], &bits.code((1 << 15) - 1, 15).flush()].concat();
    let mut scratch = Scratch::new();
    assert_eq!(session().message(&message, &mut scratch).unwrap().unwrap().payload, b"abcdefghijklmno");
}

#[test]
fn two_messages_in_one_frame_are_one_payload() {
    let mut scratch = Scratch::new();
    let both = [&HEADER[..], &stored(b"one "), &stored(b""), &stored(b"two"), &stored(b"")].concat();
    let mut session = session();
    let Some(Message { payload, index: 0, compressed, .. }) = session.message(&both, &mut scratch).unwrap()
    else {
        panic!("whole");
    };
    assert_eq!((payload, compressed), (&b"one two"[..], both.len()));
}

/// The content of a stored block has the four bytes of the flush marker, and a fragment ends after
/// them.
#[test]
fn flush_marker_in_the_middle_of_a_stored_block_is_no_end() {
    let mut noise = Noise::new(3);
    for round in 0..200 {
        let (before, after) = (noise.below(40), noise.below(40));
        let content = |len: usize, seed: usize| (0..len).map(|i| (i * 7 + seed) as u8).collect::<Vec<_>>();
        let content = [content(before, round), MARKER.to_vec(), content(after, 5)].concat();
        let block = stored(&content);
        let (head, tail) = block.split_at(5 + before + 4);
        let mut scratch = Scratch::new();
        let mut session = session();
        assert_eq!(session.message(&[&HEADER[..], head].concat(), &mut scratch).unwrap(), None);
        // The same block follows once more in the same message.
        let tail = [tail, &block, &stored(b"")].concat();
        let message = session.message(&tail, &mut scratch).unwrap().unwrap();
        assert_eq!(message.payload, [&content[..], &content].concat());
        assert_eq!(message.compressed, 2 + 2 * block.len() + 5);
    }
}

/// An endless block in fragments that each look like the end of the message.
struct Endless {
    first: Vec<u8>,
    /// The bytes with which every fragment ends. Their last bit is the first bit of a match.
    more: [u8; 5],
}

impl Endless {
    /// Payload bytes that a fragment adds.
    const STEP: usize = 3 + 3 + 8 + 5 * 3;

    fn new() -> Endless {
        // Four symbols have codes of two bits: `a` 00, `b` 01, the end 10, a match of three bytes
        // 11. A distance takes one bit. So zero bits are literals, one bits are matches, and the
        // bytes of the flush marker are both.
        let mut symbols = vec![0; 258];
        [97, 98, 256, 257].iter().for_each(|&symbol| symbols[symbol] = 2);
        let mut bits = dynamic(&symbols, &[1, 1]);
        bits.code(0, 2).code(0, 2).code(0b111, 3).code(0, 6);
        // The first bit of a match, whose other two are in the next fragment.
        bits.push(1, 1);
        assert_eq!(bits.used % 8, 0);
        Endless { first: [&HEADER[..], &bits.bytes].concat(), more: [0b11, 0, 0, 0xff, 0xff] }
    }

    /// The fragment with this index.
    fn fragment(&self, number: usize) -> Vec<u8> {
        if number == 0 { [&self.first[..], &self.more].concat() } else { self.more.to_vec() }
    }
}

/// Each fragment is decoded only once, so the work is linear.
#[test]
fn fragments_that_look_like_message_ends_are_an_error_at_the_limit_on_payloads() {
    let limit = 10_000;
    let endless = Endless::new();
    let mut scratch = Scratch::new();
    let mut session = Session::new(Transport::Zlib, Limits::new().max_message(limit));
    let (number, error) = (0..)
        .find_map(|number| Some(number).zip(session.message(&endless.fragment(number), &mut scratch).err()))
        .expect("an error");
    assert_eq!((error.kind(), error.error.message), (Kind::Limit, "a message is longer than the limit"));
    assert_eq!(number, (limit - 8) / Endless::STEP, "fragments");
}

#[test]
fn messages_of_fragments_that_look_like_message_ends_decode() {
    let limit = 10_000;
    let endless = Endless::new();
    let mut scratch = Scratch::new();
    let mut session = Session::new(Transport::Zlib, Limits::new().max_message(limit));
    for message in 0..10 {
        let fragments = 40;
        for number in 0..fragments {
            let mut fragment = endless.fragment(number);
            if number == 0 && message > 0 {
                fragment.drain(..HEADER.len());
            }
            assert_eq!(session.message(&fragment, &mut scratch).unwrap(), None);
        }
        // The rest of the match, and the end.
        let end = Bits::default().code(0b11, 2).code(0b10, 2).flush();
        let payload = session.message(&end, &mut scratch).unwrap().unwrap().payload;
        assert_eq!(payload.len(), 8 + Endless::STEP * fragments + 3);
    }
}
