//! Tests a session with forms that the zstd format (RFC 8878) allows or forbids. The frames are
//! made by hand and split into messages at block boundaries, since the encoders of gateways use
//! only a part of the format.

use linerate_gateway::{Kind, Limits, Scratch, Session, SessionError, Transport};
use linerate_testkit::zstd::frame::{
    BLOCK, Frame, Header, Literals, MAGIC, SINGLE, plain, skippable, windowed,
};
use linerate_testkit::zstd::huffman::{Form, Tree};
use linerate_testkit::zstd::oracle::Oracle;
use linerate_testkit::zstd::sequences::{Mode, again, copy};
use linerate_testkit::zstd::vectors::{bad, good, letters};

/// The frame header with which a gateway's zstd stream begins; the window has 64 KiB.
const GREETING: [u8; 6] = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x30];
const PREDEFINED: [Mode; 3] = [Mode::Predefined, Mode::Predefined, Mode::Predefined];

fn session(window_log: u8) -> Session {
    Session::new(Transport::Zstd, Limits::new().window_log(window_log))
}

/// Makes one message of each block of a frame, none of them marked as the last block. The first
/// message includes the header.
fn messages(frame: &Frame) -> Vec<Vec<u8>> {
    let bytes = frame.bytes();
    assert_eq!(bytes[..6], GREETING);
    let (mut cuts, mut at) = (vec![0], GREETING.len());
    let mut open = bytes.clone();
    while at < bytes.len() {
        let header = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], 0]);
        let (kind, size) = (header >> 1 & 3, header as usize >> 3);
        open[at] &= !1;
        at += 3 + if kind == 1 { 1 } else { size };
        cuts.push(at);
    }
    cuts.windows(2).map(|cut| open[cut[0]..cut[1]].to_vec()).collect()
}

/// Decodes messages in one connection and returns their concatenated payloads.
fn decode(session: &mut Session, messages: &[Vec<u8>]) -> Result<Vec<u8>, SessionError> {
    let mut scratch = Scratch::new();
    // Another connection with other tables uses the same scratch in between.
    let other = Frame::new(windowed(16)).compressed(
        Literals::Coded(0, Tree::flat(b'a', 4, Form::Direct), letters_of(16, 40)),
        &[copy(3, 3, 9), copy(4, 9, 20)],
        [Mode::Fse(5), Mode::Fse(5), Mode::Fse(5)],
    );
    let other = messages_of_one(&other);
    let mut all = Vec::new();
    for message in messages {
        all.extend_from_slice(session.message(message, &mut scratch)?.expect("whole").payload);
        session_of(&other, &mut scratch);
    }
    Ok(all)
}

fn messages_of_one(frame: &Frame) -> (Vec<u8>, Vec<u8>) {
    (messages(frame).concat(), frame.content().expect("sound"))
}

fn session_of((wire, content): &(Vec<u8>, Vec<u8>), scratch: &mut Scratch) {
    assert_eq!(session(16).message(wire, scratch).expect("sound").expect("whole").payload, content);
}

/// `len` bytes of `symbols` different letters.
fn letters_of(symbols: usize, len: usize) -> Vec<u8> {
    (0..len).map(|i| b'a' + (i * i / 5 % symbols) as u8).collect()
}

/// Asserts that the frame decodes as one message per block and as a single message.
fn check(frame: &Frame) {
    let content = frame.content().expect("a sound frame");
    let cut = messages(frame);
    assert!(decode(&mut session(16), &cut).as_ref() == Ok(&content));
    assert!(decode(&mut session(16), &[cut.concat()]).as_ref() == Ok(&content));
}

#[test]
fn all_frame_forms_decode_as_messages() {
    let mut scratch = Scratch::new();
    let mut frames = 0;
    let mut session = session(27);
    for vector in good().into_iter().filter(|vector| vector.dictionary.is_none() && !vector.magicless) {
        let message = session.message(&vector.bytes, &mut scratch);
        let message = message.unwrap_or_else(|error| panic!("{}: {error}", vector.name)).expect("whole");
        assert!(Some(message.payload) == vector.content.as_deref(), "{}", vector.name);
        frames += 1;
    }
    assert!(frames > 300, "{frames}");
}

#[test]
fn windows_above_27_bits_are_refused_whatever_the_limit() {
    let mut limits = Limits::new();
    for log in [27, 28, 64, 255] {
        limits.window_log = log;
        for (window, expected) in [(27, Ok(())), (28, Err(Kind::Limit))] {
            let mut session = Session::new(Transport::Zstd, limits);
            let frame = Frame::new(windowed(window)).raw(b"content").bytes();
            let done = session.message(&frame, &mut Scratch::new()).map(drop);
            assert_eq!(done.map_err(|error| error.kind()), expected, "{log} {window}");
        }
    }
}

#[test]
fn every_invalid_frame_is_an_error_or_ends_between_blocks() {
    let mut scratch = Scratch::new();
    let (mut oracle, mut refused, mut open) = (Oracle::default(), 0, Vec::new());
    for vector in bad() {
        let mut session = session(27);
        match session.message(&vector.bytes, &mut scratch) {
            Err(error) => {
                assert!(error.offset() <= vector.bytes.len() as u64 && error.message_index == 0);
                assert_eq!(session.message(b"", &mut scratch), Err(error), "it stays");
                refused += 1;
            }
            // Only the end of the frame is missing, which the frame of a connection never has.
            Ok(_) => {
                let verdict = oracle.stream(&vector.bytes, &[], 27, 1 << 20);
                assert!(verdict.is_ok() || verdict == Err("Src size is incorrect"), "{}", vector.name);
                open.push(vector.name);
            }
        }
        session.reset();
        let empty = [&GREETING[..], &[0; 3]].concat();
        session.message(&empty, &mut scratch).expect("a new connection");
    }
    println!("not ended: {open:?}");
    assert!(refused > 80 && open.len() < 10, "{refused} {open:?}");
}

#[test]
fn raw_rle_and_compressed_blocks_decode_in_one_connection() {
    let tree = Tree::skewed(b'a', 6, Form::Fse(6));
    check(
        &Frame::new(windowed(16))
            .raw(&letters(700))
            .rle(b'x', 40_000)
            .rle(b'y', 1)
            .raw(b"")
            .rle(b'z', 65_536)
            .compressed(Literals::Coded(0, tree, letters_of(7, 300)), &[copy(20, 65_536, 100)], PREDEFINED)
            .plain(plain(&letters(65_000)), &[]),
    );
}

#[test]
fn rle_literals_and_rle_tables_decode() {
    let sequences = [copy(4, 13, 20), copy(4, 14, 20), copy(4, 15, 20)];
    check(
        &Frame::new(windowed(16))
            .raw(&letters(50))
            .compressed(Literals::Rle(0, b'r', 20), &sequences, [Mode::Rle, Mode::Rle, Mode::Rle])
            .compressed(Literals::Rle(1, b's', 1000), &sequences, [Mode::Repeat, Mode::Rle, Mode::Predefined])
            .compressed(Literals::Rle(3, b't', 60_000), &[], PREDEFINED)
            .compressed(Literals::Rle(0, b'u', 13), &sequences, [Mode::Repeat, Mode::Repeat, Mode::Rle]),
    );
}

#[test]
fn trees_tables_and_repeat_offsets_persist_across_messages() {
    let sequences = [copy(5, 90, 30), copy(2, 91, 7), copy(9, 300, 18), copy(5, 90, 4)];
    let repeats = [again(5, 1, 30), again(0, 1, 7), again(9, 3, 18), again(0, 3, 5), again(0, 2, 5)];
    const ALL: [Mode; 3] = [Mode::Repeat, Mode::Repeat, Mode::Repeat];
    for form in [Form::Direct, Form::Fse(5)] {
        let text = |len| letters_of(16, len);
        check(
            &Frame::new(windowed(16))
                .raw(&letters(400))
                .compressed(
                    Literals::Coded(0, Tree::flat(b'a', 4, form), text(100)),
                    &sequences,
                    [Mode::Fse(6), Mode::Fse(5), Mode::Fse(6)],
                )
                .compressed(Literals::Treeless(0, text(77)), &sequences, ALL)
                // This message uses neither tree nor tables.
                .raw(&letters(10))
                .compressed(Literals::Treeless(1, text(900)), &repeats, PREDEFINED)
                .compressed(Literals::Treeless(2, text(9000)), &sequences, ALL),
        );
    }
}

#[test]
fn repeat_mode_without_previous_tables_is_an_error() {
    let tree = Tree::flat(b'a', 4, Form::Direct);
    let sequences = [copy(5, 3, 30)];
    let coded = || Literals::Coded(0, tree.clone(), letters_of(16, 60));
    let fse = [Mode::Fse(5), Mode::Fse(5), Mode::Fse(5)];
    let frame = Frame::new(windowed(16)).compressed(coded(), &sequences, fse);
    let frame = frame
        .compressed(Literals::Treeless(0, letters_of(16, 40)), &sequences, PREDEFINED)
        .compressed(plain(&letters(20)), &sequences, [Mode::Repeat, Mode::Predefined, Mode::Predefined]);
    let cut = messages(&frame);
    assert!(decode(&mut session(16), &cut).is_ok());
    // The tables are missing without the message that defined them, after the end of their frame,
    // and after a reset.
    let lost = |message: &[u8]| [&GREETING[..], message].concat();
    for message in &cut[1..] {
        let error = decode(&mut session(16), &[lost(message)]).unwrap_err();
        assert_eq!((error.kind(), error.message_index), (Kind::Corrupt, 0));
        let ended = [&cut[0][..], &[1, 0, 0]].concat();
        let error = decode(&mut session(16), &[ended, lost(message)]).unwrap_err();
        assert_eq!((error.kind(), error.message_index), (Kind::Corrupt, 1));
        let mut again = session(16);
        decode(&mut again, &cut).unwrap();
        again.reset();
        assert_eq!(decode(&mut again, &[lost(message)]).unwrap_err().kind(), Kind::Corrupt);
    }
}

/// As in libzstd, the window ends at the beginning of the block.
#[test]
fn match_distance_is_at_most_the_window() {
    let fill = |len: usize| {
        let mut frame = Frame::new(windowed(16));
        for piece in letters(len).chunks(50_000) {
            frame = frame.raw(piece);
        }
        frame
    };
    for before in [65_532, 65_533, 70_000, 200_001] {
        // The match reaches into an earlier message, with and without literals before it.
        for literals in [0, 1, 4] {
            let at =
                |offset| fill(before).plain(plain(&letters(literals)), &[copy(literals as u32, offset, 9)]);
            let most = (before.min(65_536) + literals) as u32;
            check(&at(most));
            let error = decode(&mut session(16), &messages(&at(most + 1))).unwrap_err();
            assert_eq!(error.kind(), Kind::Corrupt, "{before} {literals}");
        }
    }
    // The bound is the same within one message, and for a long match.
    check(&fill(65_536).plain(plain(b""), &[copy(0, 65_536, 65_000)]));
    let far = fill(65_536).plain(plain(b""), &[copy(0, 65_537, 3)]);
    assert_eq!(decode(&mut session(16), &[messages(&far).concat()]).unwrap_err().kind(), Kind::Corrupt);
}

#[test]
fn frames_may_end_and_begin_within_messages() {
    let first = Frame::new(windowed(16)).raw(b"first ").plain(plain(b"and"), &[copy(3, 9, 6)]);
    let second = Frame::new(SINGLE).plain(plain(b"second"), &[copy(6, 6, 7)]);
    let third = Frame::new(Header { checksum: true, ..windowed(10) }).raw(b"third").rle(b'!', 5);
    let open = Frame::new(windowed(16)).raw(b"last ");
    let whole = [first.bytes(), skippable(15, b"not for us"), second.bytes(), third.bytes()].concat();
    let frame = [&whole[..], &messages(&open)[0]].concat();
    let contents = [&first, &second, &third, &open].map(|frame| frame.content().expect("sound")).concat();
    let mut scratch = Scratch::new();
    let mut session = session(16);
    assert_eq!(session.message(&frame, &mut scratch).unwrap().unwrap().payload, contents);
    // The connection continues within the last frame: a raw block that is not the last.
    let block = [&[4 << 3, 0, 0][..], b"more"].concat();
    assert_eq!(session.message(&block, &mut scratch).unwrap().unwrap().payload, b"more");
    // A match does not reach into earlier frames.
    let matching = Frame::new(windowed(16)).raw(b"last ").raw(b"more").plain(plain(b""), &[copy(0, 10, 3)]);
    let error = session.message(&messages(&matching)[2], &mut scratch).unwrap_err();
    assert_eq!((error.kind(), error.message_index), (Kind::Corrupt, 2));
}

#[test]
fn skippable_frames_give_no_payload() {
    let mut scratch = Scratch::new();
    let mut session = session(16);
    for variant in 0..16 {
        let frame = skippable(variant, &[7; 300]);
        assert_eq!(session.message(&frame, &mut scratch).unwrap().unwrap().payload, b"");
    }
    let frame = Frame::new(windowed(16)).raw(b"one").bytes();
    let both = [skippable(3, b""), frame.clone(), skippable(4, b"x")].concat();
    assert_eq!(session.message(&both, &mut scratch).unwrap().unwrap().payload, b"one");
    // A skippable frame that is truncated by its message, or is within a frame, is an error.
    let cut = &skippable(0, &[7; 30])[..20];
    let error = session.message(cut, &mut scratch).unwrap_err();
    assert_eq!((error.kind(), error.message_index), (Kind::Truncated, 17));
    session.reset();
    let open = messages(&Frame::new(windowed(16)).raw(b"one")).concat();
    session.message(&open, &mut scratch).unwrap();
    assert_eq!(session.message(&skippable(0, b""), &mut scratch).unwrap_err().message_index, 1);
}

#[test]
fn checksum_covers_all_messages_of_a_frame() {
    let mut scratch = Scratch::new();
    for (lie, right) in [(0, true), (1, false), (1 << 31, false)] {
        let header = Header { checksum: true, checksum_lie: lie, ..windowed(16) };
        let frame = Frame::new(header).raw(&letters(70)).plain(plain(&letters(9)), &[copy(3, 60, 60)]);
        let bytes = frame.bytes();
        // Split after the first block, whose header says that another follows.
        let (first, second) = bytes.split_at(6 + 3 + 70);
        let mut session = session(16);
        assert_eq!(session.message(first, &mut scratch).unwrap().unwrap().payload, letters(70));
        match session.message(second, &mut scratch) {
            Ok(message) => {
                assert!(right);
                assert_eq!(message.unwrap().payload, &frame.content().unwrap()[70..]);
                assert_eq!(session.message(&bytes, &mut scratch).unwrap().unwrap().payload.len(), 139);
            }
            Err(error) => {
                assert!(!right);
                assert_eq!((error.kind(), error.message_index), (Kind::Corrupt, 1));
                assert_eq!(error.error.message, "the content does not match its checksum");
            }
        }
    }
}

#[test]
fn window_above_the_limit_is_an_error() {
    let header = |window: u8| [&MAGIC[..], &[0, window, 0, 0, 0]].concat();
    for (limit, window, allowed) in [
        (16, 16, true),
        (16, 17, false),
        (16, 20, false),
        (16, 27, false),
        (16, 31, false),
        (17, 17, true),
        (17, 18, false),
        (27, 27, true),
        (27, 28, false),
        (99, 28, false),
    ] {
        let mut session = session(limit);
        let mut scratch = Scratch::new();
        let done = session.message(&header((window - 10) << 3), &mut scratch);
        match done {
            Ok(message) => assert!(allowed && message.unwrap().payload.is_empty()),
            Err(error) => assert!(!allowed && error.kind() == Kind::Limit, "{limit} {window}: {error}"),
        }
        assert!(session.memory() < 4096, "nothing is allocated for what was not sent");
    }
    // A window that is one eighth larger than the limit is refused.
    let error = session(16).message(&header((6 << 3) + 1), &mut Scratch::new()).unwrap_err();
    assert_eq!(error.kind(), Kind::Limit);
    // The window of a single segment frame is its content size.
    for (len, allowed) in [(65_536, true), (65_537, false)] {
        let frame = Frame::new(SINGLE).raw(&letters(len)).bytes();
        assert_eq!(session(16).message(&frame, &mut Scratch::new()).is_ok(), allowed);
    }
}

#[test]
fn window_of_128_kib_serves_matches_up_to_its_size() {
    let mut frame = Frame::new(windowed(17));
    for piece in letters(300_000).chunks(BLOCK) {
        frame = frame.raw(piece);
    }
    let frame = frame.plain(plain(b"x"), &[copy(1, 131_072, 1000)]);
    let mut scratch = Scratch::new();
    let message = session(17).message(&frame.bytes(), &mut scratch).map(|m| m.unwrap().payload.to_vec());
    assert!(message.as_ref() == Ok(&frame.content().unwrap()));
}

#[test]
fn dictionaries_reserved_bits_and_unknown_magic_are_errors() {
    let frame = |header| Frame::new(header).raw(b"text").bytes();
    let first = |bytes: &[u8]| session(16).message(bytes, &mut Scratch::new()).unwrap_err();
    for id_flag in 1..4 {
        let error = first(&frame(Header { id_flag, id: 200, ..windowed(16) }));
        assert_eq!(error.kind(), Kind::Unsupported);
        // Dictionary id 0 means no dictionary.
        let none = frame(Header { id_flag, ..windowed(16) });
        assert!(session(16).message(&none, &mut Scratch::new()).is_ok());
    }
    assert_eq!(first(&frame(Header { spare: 1, ..windowed(16) })).kind(), Kind::Corrupt);
    let good = frame(windowed(16));
    for (at, bit) in (0..4).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << bit;
        let error = first(&bytes);
        assert_eq!((error.kind(), error.offset()), (Kind::Corrupt, 0), "{at} {bit}");
    }
}
