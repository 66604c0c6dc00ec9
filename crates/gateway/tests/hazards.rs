//! What went wrong in other decoders of gateway streams, and what a stream can do to one, each with the
//! tests that show that it does not: [`COVER`] is the list. Below it are those tests that belong nowhere
//! else.

mod common;

use std::fs;
use std::path::Path;

use common::{traffic, wire};
use linerate_gateway::{Checks, Encoding, Kind, Limits, Scratch, ScratchPool, Session, Transport};

/// A hazard, and the tests against it: files of the repository, and functions in them.
type Cover = (&'static str, &'static [(&'static str, &'static [&'static str])]);

const HERE: &str = "crates/gateway/tests/hazards.rs";
const CORPUS: &str = "crates/gateway/tests/corpus.rs";
const DAMAGE: &str = "crates/gateway/tests/damage.rs";
const STREAMS: &str = "crates/gateway/tests/streams.rs";
const ZLIB: &str = "crates/gateway/tests/zlib_forms.rs";
const ZSTD: &str = "crates/gateway/tests/zstd_forms.rs";
const JAVA: &str = "bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile";
const JDA: &str = "bindings/java/jda/src/test/java/dev/linerate/gateway/jda/DecompressorsTest.java";
const PYTHON_DAMAGE: &str = "bindings/python/tests/test_gateway_damage.py";

const COVER: &[Cover] = &[
    // Defects of other decoders.
    (
        "a virtual machine that hangs, since it collects garbage while a decoder holds its arrays",
        &[
            ("{java}/SmallHeapTest.java", &[]),
            ("{java}/CheckedCallsTest.java", &["theVirtualMachineHasNothingToSay"]),
        ],
    ),
    (
        "a bomb: 32 KB that decode to 1 GiB",
        &[
            (STREAMS, &["a_bomb_ends_at_the_limit"]),
            ("{java}/BombTest.java", &["aGibibyteOfZlibIsRefused", "aGibibyteOfZstdIsRefused"]),
            (PYTHON_DAMAGE, &["test_bombs"]),
        ],
    ),
    (
        "a header that asks for a large window",
        &[
            (ZSTD, &["windows_are_as_large_as_the_limit_and_no_larger"]),
            (DAMAGE, &["frames_that_ask_for_too_much_are_refused_before_memory_is_made"]),
            ("{java}/BombTest.java", &["largeWindowsAreRefusedBeforeTheyAreAllocated"]),
        ],
    ),
    (
        "two frames in one message, of which only the first is given",
        &[
            (ZSTD, &["frames_end_within_messages_and_others_begin"]),
            (DAMAGE, &["two_frames_in_one_message_are_both_read"]),
            (ZLIB, &["two_messages_in_one_frame_are_one_payload"]),
            ("{java}/StreamEndTest.java", &["twoFramesInOneMessageAreBothGiven"]),
        ],
    ),
    (
        "a reader that stops early, after which the next message is another one",
        &[
            (HERE, &["who_does_not_look_at_a_payload_loses_nothing"]),
            ("{java}/ReaderTest.java", &["readersMayStopEarly", "parsersMayThrow"]),
        ],
    ),
    (
        "a message that is skipped",
        &[
            (DAMAGE, &["a_lost_message_is_noticed_with_checks"]),
            (ZSTD, &["what_was_never_sent_cannot_be_repeated"]),
            ("{java}/LossTest.java", &["checksNoticeALostMessageAtTheNextEvent"]),
            (PYTHON_DAMAGE, &["test_a_skipped_message"]),
        ],
    ),
    (
        "bits that are flipped",
        &[
            (DAMAGE, &["flipped_bits_are_errors_or_harmless_or_beyond_what_the_format_tells"]),
            (PYTHON_DAMAGE, &["test_sixty_flipped_bits"]),
        ],
    ),
    (
        "a read or write beside what was given",
        &[
            (
                "crates/gateway/tests/guarded.rs",
                &[
                    "nothing_is_read_beside_a_frame",
                    "nothing_is_read_beside_a_frame_that_is_cut_off_or_damaged",
                    "nothing_is_read_beside_a_payload",
                ],
            ),
            ("crates/gateway/src/kernel/inflate.rs", &["nothing_is_touched_beside_input_and_output"]),
        ],
    ),
    (
        "a message that is cut off and gives nothing, without an error",
        &[
            (DAMAGE, &["every_truncation_of_a_zstd_message_is_an_error"]),
            (DAMAGE, &["a_truncated_zlib_message_waits_and_the_next_one_is_no_silent_error"]),
            ("{java}/StreamEndTest.java", &["zstdThatEndsAnywhereInAMessageIsAnError"]),
        ],
    ),
    (
        "use after close, and close while somebody decodes",
        &[(
            "{java}/LifetimeTest.java",
            &["useAfterCloseIsToldByAllMethods", "closeWhileAnotherThreadDecodesAndReads"],
        )],
    ),
    (
        "memory that stays when nobody closes, or for each message",
        &[
            ("{java}/CrowdTest.java", &[]),
            ("crates/gateway/tests/resident.rs", &["thousands_of_connections_take_little"]),
        ],
    ),
    (
        "half a message, then a new connection",
        &[
            (DAMAGE, &["half_a_message_is_forgotten_by_a_reset"]),
            ("{java}/LifetimeTest.java", &["resetBeginsANewConnectionAfterAnything"]),
            (PYTHON_DAMAGE, &["test_half_a_message_is_forgotten_by_a_reset"]),
            (JDA, &["resetInHalfAMessageForgetsTheHalf", "resetBeginsANewStream"]),
        ],
    ),
    // What streams are.
    (
        "whole connections, and zlib messages cut at every byte and anywhere",
        &[
            (
                CORPUS,
                &[
                    "the_sample_is_decoded",
                    "messages_of_the_sample_come_in_two_fragments_cut_anywhere",
                    "many_connections_take_turns",
                    "every_connection_of_the_corpora",
                ],
            ),
            (STREAMS, &["zlib_messages_come_in_any_number_of_fragments"]),
        ],
    ),
    (
        "the first message; a connection that is resumed",
        &[
            (STREAMS, &["the_first_messages_of_two_gateways"]),
            (HERE, &["a_resumed_connection_has_a_new_stream_and_the_old_numbers"]),
        ],
    ),
    (
        "sizes at every border, and none",
        &[
            (STREAMS, &["messages_of_every_size_that_is_close_to_a_border"]),
            (HERE, &["an_empty_message_is_a_payload_of_nothing"]),
        ],
    ),
    (
        "zstd: every kind of block, of literals, of tables, of offsets",
        &[(
            ZSTD,
            &[
                "every_form_of_a_frame_is_a_message",
                "every_bad_frame_is_an_error_or_ends_between_blocks",
                "blocks_raw_rle_and_compressed_in_one_connection",
                "literals_of_one_byte_and_tables_of_one_symbol",
                "trees_tables_and_repeat_offsets_stay_from_message_to_message",
                "a_match_reaches_back_the_whole_window_and_no_byte_more",
            ],
        )],
    ),
    (
        "zstd: frames of every kind",
        &[(
            ZSTD,
            &[
                "skippable_frames_alone_and_between_are_no_payload",
                "checksums_count_over_all_messages_of_a_frame",
                "a_window_of_128_kib_holds_what_its_matches_reach",
                "dictionaries_reserved_bits_and_other_magic_are_refused",
            ],
        )],
    ),
    (
        "zlib: headers, ends that are none, final blocks, codes, distances",
        &[
            (
                ZLIB,
                &[
                    "headers_are_checked",
                    "a_header_may_come_alone_and_a_bad_one_is_refused_at_once",
                    "bytes_that_look_like_an_end_are_none",
                    "a_final_block_is_an_error_with_its_place",
                    "blocks_of_no_type_and_of_a_wrong_length_are_refused",
                    "codes_that_are_none_are_refused",
                    "codes_of_every_length_are_read",
                    "codes_for_nothing_are_refused",
                    "matches_reach_32_kib_back_over_messages_and_no_farther",
                    "matches_before_the_first_byte_are_refused",
                ],
            ),
            (STREAMS, &["the_marker_within_a_message_does_not_end_it"]),
        ],
    ),
    (
        "limits, at N and N + 1",
        &[
            (STREAMS, &["a_payload_may_have_exactly_the_limit"]),
            (HERE, &["limits_hold_to_the_byte_in_the_middle_of_a_connection"]),
            ("{java}/BombTest.java", &["theLimitHoldsToTheByte"]),
        ],
    ),
    (
        "streams of Java that end early, or are read byte by byte",
        &[("{java}/ReaderTest.java", &["aReadGivesSomethingOrTheEnd", "resetWhileAStreamIsOpen"])],
    ),
    (
        "connections that go from thread to thread",
        &[
            (HERE, &["sessions_go_from_thread_to_thread"]),
            ("crates/gateway/tests/pool.rs", &["threads_decode_with_scratch_from_a_pool"]),
            ("{java}/LifetimeTest.java", &["threadsAtOnceAreTold"]),
        ],
    ),
];

#[test]
fn each_hazard_has_its_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (hazard, cover) in COVER {
        for (file, tests) in *cover {
            let file = file.replace("{java}", JAVA);
            let source = fs::read_to_string(root.join(&file)).unwrap_or_else(|e| panic!("{file}: {e}"));
            for test in *tests {
                let named = ["fn", "void", "def"].map(|kind| format!("{kind} {test}("));
                assert!(named.iter().any(|name| source.contains(name)), "{hazard}: no {test} in {file}");
            }
        }
    }
}

/// There is nothing to drain: a message is decoded whole before anybody sees it.
#[test]
fn who_does_not_look_at_a_payload_loses_nothing() {
    let sent = traffic(3, 3, 60);
    for transport in Transport::ALL {
        let mut scratch = Scratch::new();
        let mut session = Session::new(transport, Limits::new());
        for (i, (wire, sent)) in wire(transport, &sent).iter().zip(&sent).enumerate() {
            let message = session.message(wire, &mut scratch).unwrap().unwrap();
            if i % 7 == 6 {
                assert!(message.payload == sent);
            }
            // Nor is anything in a scratch that the next message needs.
            if i % 3 == 0 {
                scratch = Scratch::new();
            } else {
                scratch.trim();
            }
        }
    }
}

#[test]
fn an_empty_message_is_a_payload_of_nothing() {
    let mut scratch = Scratch::new();
    // A zstd message of no bytes is whole; zlib waits for an empty stored block.
    let mut zstd = Session::new(Transport::Zstd, Limits::new());
    assert_eq!(zstd.message(b"", &mut scratch).unwrap().unwrap().payload, b"");
    assert_eq!((zstd.messages(), zstd.consumed()), (1, 0));
    let mut zlib = Session::new(Transport::Zlib, Limits::new());
    assert_eq!(zlib.message(b"", &mut scratch).unwrap(), None);
    let flush = [0x78, 0x9c, 0, 0, 0, 0xff, 0xff];
    assert_eq!(zlib.message(&flush, &mut scratch).unwrap().unwrap().payload, b"");
    assert_eq!(zlib.message(&flush[2..], &mut scratch).unwrap().unwrap().payload, b"");
    // To a check it is no object.
    let mut checked =
        Session::new(Transport::Zstd, Limits::new()).with_checks(Checks::complete(Encoding::Json));
    assert_eq!(checked.message(b"", &mut scratch).unwrap_err().kind(), Kind::Corrupt);
}

#[test]
fn limits_hold_to_the_byte_in_the_middle_of_a_connection() {
    for len in [1, 700, 65_535, 65_536, 65_537, 131_072, 300_000] {
        let noise = traffic(len as u64, 2, 10).concat();
        let large: Vec<u8> = noise.iter().copied().cycle().take(len).collect();
        let sent = [b"before".to_vec(), large, b"after".to_vec()];
        for transport in Transport::ALL {
            let wire = wire(transport, &sent);
            for (limit, fits) in [(len.max(6), true), (len - 1, false)] {
                let mut scratch = Scratch::new();
                let mut session = Session::new(transport, Limits::new().with_max_message(limit.max(6)));
                let fits = fits || len <= 6;
                // zlib's come in two parts, which count together.
                let mut each = |wire: &Vec<u8>| {
                    let half = if transport == Transport::Zlib { wire.len() / 2 } else { 0 };
                    if half > 0 {
                        assert_eq!(session.message(&wire[..half], &mut scratch)?, None);
                    }
                    session.message(&wire[half..], &mut scratch).map(|m| m.unwrap().payload.to_vec())
                };
                assert_eq!(each(&wire[0]).as_ref(), Ok(&sent[0]));
                let got = each(&wire[1]);
                assert_eq!(got.is_ok(), fits, "{transport} {len} {limit}");
                match got {
                    Ok(payload) => {
                        assert!(payload == sent[1]);
                        assert_eq!(each(&wire[2]).as_ref(), Ok(&sent[2]));
                    }
                    Err(fault) => assert_eq!((fault.kind(), fault.message), (Kind::Limit, 1)),
                }
            }
        }
    }
}

#[test]
fn a_resumed_connection_has_a_new_stream_and_the_old_numbers() {
    let sent = traffic(12, 1, 40);
    let number = |message: &Vec<u8>| {
        let envelope = linerate_gateway::Envelope::peek(message, Encoding::Json);
        envelope.unwrap().sequence
    };
    let cut = sent.len() / 2;
    let last = sent[..cut].iter().rev().find_map(number).unwrap();
    for transport in Transport::ALL {
        // The gateway begins a new stream with what was missed.
        let (first, second) = (wire(transport, &sent[..cut]), wire(transport, &sent[cut..]));
        let checks = Checks::complete(Encoding::Json).with_sequence();
        let mut scratch = Scratch::new();
        let mut session = Session::new(transport, Limits::new()).with_checks(checks);
        for wire in &first {
            session.message(wire, &mut scratch).unwrap().unwrap();
        }
        for told in [last, last - 1, last + 1] {
            session.reset();
            session.resume_after(told);
            let done = second.iter().try_for_each(|wire| session.message(wire, &mut scratch).map(drop));
            assert_eq!(done.is_ok(), told == last, "{transport} {told}");
        }
    }
}

#[test]
fn sessions_go_from_thread_to_thread() {
    static POOL: ScratchPool = ScratchPool::new(4);
    let sent = traffic(13, 2, 40);
    for transport in Transport::ALL {
        let mut session = Session::new(transport, Limits::new());
        for (wire, sent) in wire(transport, &sent).into_iter().zip(&sent) {
            session = std::thread::scope(|scope| {
                let decode = move || {
                    POOL.with(|scratch| {
                        assert!(session.message(&wire, scratch).unwrap().unwrap().payload == sent);
                    });
                    session
                };
                scope.spawn(decode).join().unwrap()
            });
        }
    }
}
