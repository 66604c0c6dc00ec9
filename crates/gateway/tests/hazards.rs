//! Known defects of other decoders of gateway streams, and hazards of the formats: [`COVER`] lists them with the
//! tests against each. The tests that fit no other file are below it.

mod common;

use std::fs;
use std::path::Path;

use common::{traffic, wire};
use linerate_gateway::{Checks, Encoding, Kind, Limits, Scratch, ScratchPool, Session, Transport};

/// A hazard and the tests against it: files of the repository, and functions in them.
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
        "a virtual machine that hangs because a decoder holds its arrays during garbage collection",
        &[
            ("{java}/SmallHeapTest.java", &[]),
            ("{java}/CheckedCallsTest.java", &["checkedJniReportsNothing"]),
        ],
    ),
    (
        "decompression bomb: 32 KB that decode to 1 GiB",
        &[
            (STREAMS, &["decompression_bomb_stops_at_the_limit"]),
            ("{java}/BombTest.java", &["zlibBombOfOneGibibyteIsAnError", "zstdBombOfOneGibibyteIsAnError"]),
            (PYTHON_DAMAGE, &["test_bombs"]),
        ],
    ),
    (
        "a header that declares a large window",
        &[
            (ZSTD, &["window_above_the_limit_is_an_error"]),
            (DAMAGE, &["oversized_windows_are_rejected_before_allocation"]),
            ("{java}/BombTest.java", &["largeWindowsAreErrorsBeforeAllocation"]),
        ],
    ),
    (
        "two frames in one message, of which only the first is decoded",
        &[
            (ZSTD, &["frames_may_end_and_begin_within_messages"]),
            (DAMAGE, &["two_zstd_frames_in_one_message_are_both_decoded"]),
            (ZLIB, &["two_messages_in_one_frame_are_one_payload"]),
            ("{java}/StreamEndTest.java", &["twoFramesInOneMessageAreBothDecoded"]),
        ],
    ),
    (
        "a reader that stops early, so that the next message decodes wrongly",
        &[
            (HERE, &["ignoring_a_payload_does_not_affect_the_next_message"]),
            ("{java}/ReaderTest.java", &["readersMayStopEarly", "parsersMayThrow"]),
        ],
    ),
    (
        "a message that is skipped",
        &[
            (DAMAGE, &["checks_detect_a_lost_message"]),
            (ZSTD, &["repeat_mode_without_previous_tables_is_an_error"]),
            ("{java}/LossTest.java", &["checksDetectALostMessageAtTheNextEvent"]),
            (PYTHON_DAMAGE, &["test_a_skipped_message"]),
        ],
    ),
    (
        "flipped bits",
        &[
            (DAMAGE, &["flipped_bits_are_detected_where_the_format_allows"]),
            (PYTHON_DAMAGE, &["test_sixty_flipped_bits"]),
        ],
    ),
    (
        "out-of-bounds reads and writes",
        &[
            (
                "crates/gateway/tests/guarded.rs",
                &[
                    "frames_are_not_read_out_of_bounds",
                    "truncated_and_damaged_frames_are_not_read_out_of_bounds",
                    "payloads_are_not_read_out_of_bounds",
                ],
            ),
            ("crates/gateway/src/kernel/inflate.rs", &["random_input_stays_within_its_buffers"]),
        ],
    ),
    (
        "a truncated message that gives nothing and no error",
        &[
            (DAMAGE, &["truncated_zstd_message_is_an_error"]),
            (DAMAGE, &["truncated_zlib_message_is_detected_at_a_later_message"]),
            ("{java}/StreamEndTest.java", &["truncatedZstdMessageIsAnError"]),
        ],
    ),
    (
        "use after close, and close during decoding",
        &[(
            "{java}/LifetimeTest.java",
            &["allMethodsThrowAfterClose", "closeWhileAnotherThreadDecodesAndReads"],
        )],
    ),
    (
        "memory leaks: of connections that are not closed, or per message",
        &[
            ("{java}/CrowdTest.java", &[]),
            ("crates/gateway/tests/resident.rs", &["resident_memory_of_2500_sessions_is_bounded"]),
        ],
    ),
    (
        "half a message, then a new connection",
        &[
            (DAMAGE, &["reset_discards_an_incomplete_message"]),
            ("{java}/LifetimeTest.java", &["resetStartsANewConnectionInAnyState"]),
            (PYTHON_DAMAGE, &["test_half_a_message_is_forgotten_by_a_reset"]),
            (JDA, &["resetDiscardsAnIncompleteMessage", "resetStartsANewStream"]),
        ],
    ),
    // Properties of the formats.
    (
        "whole connections, and zlib messages split at every byte",
        &[
            (
                CORPUS,
                &[
                    "sample_decodes_to_its_payloads",
                    "sample_messages_in_two_fragments_split_anywhere_decode",
                    "interleaved_connections_decode",
                    "corpora_decode_to_their_payloads",
                ],
            ),
            (STREAMS, &["zlib_message_in_any_number_of_fragments_decodes"]),
        ],
    ),
    (
        "the first message; a resumed connection",
        &[
            (STREAMS, &["recorded_first_messages_decode"]),
            (HERE, &["resumed_connection_has_a_new_stream_and_continues_sequence_numbers"]),
        ],
    ),
    (
        "sizes around every limit, and zero",
        &[
            (STREAMS, &["payload_sizes_around_block_and_buffer_limits_round_trip"]),
            (HERE, &["empty_message_gives_an_empty_payload"]),
        ],
    ),
    (
        "zstd: every kind of block, of literals, of tables, of offsets",
        &[(
            ZSTD,
            &[
                "all_frame_forms_decode_as_messages",
                "every_invalid_frame_is_an_error_or_ends_between_blocks",
                "raw_rle_and_compressed_blocks_decode_in_one_connection",
                "rle_literals_and_rle_tables_decode",
                "trees_tables_and_repeat_offsets_persist_across_messages",
                "match_distance_is_at_most_the_window",
            ],
        )],
    ),
    (
        "zstd: frames of every kind",
        &[(
            ZSTD,
            &[
                "skippable_frames_give_no_payload",
                "checksum_covers_all_messages_of_a_frame",
                "window_of_128_kib_serves_matches_up_to_its_size",
                "dictionaries_reserved_bits_and_unknown_magic_are_errors",
            ],
        )],
    ),
    (
        "zlib: headers, false message ends, final blocks, codes, distances",
        &[
            (
                ZLIB,
                &[
                    "invalid_stream_headers_are_errors",
                    "header_may_be_a_fragment_and_a_bad_one_is_an_error_at_once",
                    "flush_marker_in_the_middle_of_any_block_is_no_end",
                    "final_block_is_an_error_with_its_offset",
                    "invalid_block_type_and_stored_length_are_errors",
                    "invalid_huffman_codes_are_errors",
                    "codes_of_every_length_decode",
                    "unused_symbols_are_errors",
                    "match_distance_is_at_most_32_kib_across_messages",
                    "match_before_the_first_byte_is_an_error",
                ],
            ),
            (STREAMS, &["flush_marker_within_a_message_does_not_end_it"]),
        ],
    ),
    (
        "limits, at N and N + 1",
        &[
            (STREAMS, &["payload_of_exactly_the_limit_is_accepted"]),
            (HERE, &["payload_limit_is_exact_in_the_middle_of_a_connection"]),
            ("{java}/BombTest.java", &["limitIsExactToTheByte"]),
        ],
    ),
    (
        "streams of Java that end early, or are read byte by byte",
        &[("{java}/ReaderTest.java", &["readReturnsBytesOrTheEnd", "resetWhileAStreamIsOpen"])],
    ),
    (
        "connections that move between threads",
        &[
            (HERE, &["sessions_can_move_between_threads"]),
            ("crates/gateway/tests/pool.rs", &["threads_share_a_pool"]),
            ("{java}/LifetimeTest.java", &["concurrentThreadsGetAnException"]),
        ],
    ),
];

#[test]
fn every_hazard_names_existing_tests() {
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

/// A message is decoded completely before it is returned, so there is nothing to drain.
#[test]
fn ignoring_a_payload_does_not_affect_the_next_message() {
    let sent = traffic(3, 3, 60);
    for transport in Transport::ALL {
        let mut scratch = Scratch::new();
        let mut session = Session::new(transport, Limits::new());
        for (i, (wire, sent)) in wire(transport, &sent).iter().zip(&sent).enumerate() {
            let message = session.message(wire, &mut scratch).unwrap().unwrap();
            if i % 7 == 6 {
                assert!(message.payload == sent);
            }
            // The next message does not depend on the scratch either.
            if i % 3 == 0 {
                scratch = Scratch::new();
            } else {
                scratch.trim();
            }
        }
    }
}

#[test]
fn empty_message_gives_an_empty_payload() {
    let mut scratch = Scratch::new();
    // An empty zstd message is complete; zlib waits for an empty stored block.
    let mut zstd = Session::new(Transport::Zstd, Limits::new());
    assert_eq!(zstd.message(b"", &mut scratch).unwrap().unwrap().payload, b"");
    assert_eq!((zstd.messages(), zstd.consumed()), (1, 0));
    let mut zlib = Session::new(Transport::Zlib, Limits::new());
    assert_eq!(zlib.message(b"", &mut scratch).unwrap(), None);
    let flush = [0x78, 0x9c, 0, 0, 0, 0xff, 0xff];
    assert_eq!(zlib.message(&flush, &mut scratch).unwrap().unwrap().payload, b"");
    assert_eq!(zlib.message(&flush[2..], &mut scratch).unwrap().unwrap().payload, b"");
    // An empty payload fails the JSON check.
    let mut checked = Session::new(Transport::Zstd, Limits::new()).checks(Checks::complete(Encoding::Json));
    assert_eq!(checked.message(b"", &mut scratch).unwrap_err().kind(), Kind::Corrupt);
}

#[test]
fn payload_limit_is_exact_in_the_middle_of_a_connection() {
    for len in [1, 700, 65_535, 65_536, 65_537, 131_072, 300_000] {
        let noise = traffic(len as u64, 2, 10).concat();
        let large: Vec<u8> = noise.iter().copied().cycle().take(len).collect();
        let sent = [b"before".to_vec(), large, b"after".to_vec()];
        for transport in Transport::ALL {
            let wire = wire(transport, &sent);
            for (limit, fits) in [(len.max(6), true), (len - 1, false)] {
                let mut scratch = Scratch::new();
                let mut session = Session::new(transport, Limits::new().max_message(limit.max(6)));
                let fits = fits || len <= 6;
                // zlib: in two fragments, which count together.
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
                    Err(error) => assert_eq!((error.kind(), error.message_index), (Kind::Limit, 1)),
                }
            }
        }
    }
}

#[test]
fn resumed_connection_has_a_new_stream_and_continues_sequence_numbers() {
    let sent = traffic(12, 1, 40);
    let number = |message: &Vec<u8>| {
        let envelope = linerate_gateway::Envelope::peek(message, Encoding::Json);
        envelope.unwrap().sequence
    };
    let cut = sent.len() / 2;
    let last = sent[..cut].iter().rev().find_map(number).unwrap();
    for transport in Transport::ALL {
        // The gateway starts a new stream with the missed events.
        let (first, second) = (wire(transport, &sent[..cut]), wire(transport, &sent[cut..]));
        let checks = Checks::complete(Encoding::Json).sequence(true);
        let mut scratch = Scratch::new();
        let mut session = Session::new(transport, Limits::new()).checks(checks);
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
fn sessions_can_move_between_threads() {
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
