//! Hazards of gateway streams: known defects of other decoders, and properties of the formats.

use crate::Hazard;

const HAZARDS: &str = "crates/gateway/tests/hazards.rs";
const CORPUS: &str = "crates/gateway/tests/corpus.rs";
const DAMAGE: &str = "crates/gateway/tests/damage.rs";
const STREAMS: &str = "crates/gateway/tests/streams.rs";
const ZLIB: &str = "crates/gateway/tests/zlib_forms.rs";
const ZSTD: &str = "crates/gateway/tests/zstd_forms.rs";
const BUFFERS: &str = "bindings/java/gateway/src/test/java/dev/linerate/gateway/BuffersTest.java";
const EVENTS: &str = "bindings/java/gateway/src/test/java/dev/linerate/gateway/EventsTest.java";
const JDA: &str = "bindings/java/jda/src/test/java/dev/linerate/gateway/jda/DecompressorsTest.java";
const PYTHON_ZLIB: &str = "bindings/python/tests/test_gateway_zlib_module.py";
const PYTHON_DAMAGE: &str = "bindings/python/tests/test_gateway_damage.py";

pub(crate) const LIST: &[Hazard] = &[
    // Defects of other decoders.
    (
        "a virtual machine that hangs because a decoder holds its arrays during garbage collection",
        &[
            ("bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile/SmallHeapTest.java", &[]),
            (
                "bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile/CheckedCallsTest.java",
                &["checkedJniReportsNothing"],
            ),
        ],
    ),
    (
        "decompression bomb: 32 KB that decode to 1 GiB",
        &[
            (STREAMS, &["decompression_bomb_stops_at_the_limit"]),
            (
                "bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile/BombTest.java",
                &["zlibBombOfOneGibibyteIsAnError", "zstdBombOfOneGibibyteIsAnError"],
            ),
            (PYTHON_DAMAGE, &["test_decompression_bombs_stop_at_the_limit"]),
            (PYTHON_ZLIB, &["test_errors_and_limits"]),
        ],
    ),
    (
        "a header that declares a large window",
        &[
            (ZSTD, &["window_above_the_limit_is_an_error"]),
            (DAMAGE, &["oversized_windows_are_rejected_before_allocation"]),
            (
                "bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile/BombTest.java",
                &["largeWindowsAreErrorsBeforeAllocation"],
            ),
        ],
    ),
    (
        "two frames in one message, of which only the first is decoded",
        &[
            (ZSTD, &["frames_may_end_and_begin_within_messages"]),
            (DAMAGE, &["two_zstd_frames_in_one_message_are_both_decoded"]),
            (ZLIB, &["two_messages_in_one_frame_are_one_payload"]),
            (
                "bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile/StreamEndTest.java",
                &["twoFramesInOneMessageAreBothDecoded"],
            ),
        ],
    ),
    (
        "a reader that stops early, so that the next message decodes wrongly",
        &[
            (HAZARDS, &["ignoring_a_payload_does_not_affect_the_next_message"]),
            (
                "bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile/ReaderTest.java",
                &["readersMayStopEarly", "parsersMayThrow"],
            ),
        ],
    ),
    (
        "a message that is skipped",
        &[
            (DAMAGE, &["checks_detect_a_lost_message"]),
            (ZSTD, &["repeat_mode_without_previous_tables_is_an_error"]),
            (
                "bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile/LossTest.java",
                &["checksDetectALostMessageAtTheNextEvent"],
            ),
            (PYTHON_DAMAGE, &["test_a_lost_message_is_found_by_the_next_event"]),
            (PYTHON_ZLIB, &["test_disnake_receives_each_event_once_from_gateway_serve"]),
        ],
    ),
    (
        "flipped bits",
        &[
            (DAMAGE, &["flipped_bits_are_detected_where_the_format_allows"]),
            (PYTHON_DAMAGE, &["test_checks_find_more_flipped_bits"]),
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
            ("crates/inflate/src/kernel/symbols.rs", &["random_input_stays_within_its_buffers"]),
        ],
    ),
    (
        "a truncated message that gives nothing and no error",
        &[
            (DAMAGE, &["truncated_zstd_message_is_an_error"]),
            (DAMAGE, &["truncated_zlib_message_is_detected_at_a_later_message"]),
            (
                "bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile/StreamEndTest.java",
                &["truncatedZstdMessageIsAnError"],
            ),
        ],
    ),
    (
        "use after close, and close during decoding",
        &[(
            "bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile/LifetimeTest.java",
            &["allMethodsThrowAfterClose", "closeWhileAnotherThreadDecodesAndReads"],
        )],
    ),
    (
        "memory leaks: of connections that are not closed, or per message",
        &[
            ("bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile/CrowdTest.java", &[]),
            ("crates/gateway/tests/resident.rs", &["resident_memory_of_2500_sessions_is_bounded"]),
            (
                "bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile/TrimTest.java",
                &["residentMemoryReturnsAfterTheClose", "residentMemoryReturnsByItself"],
            ),
            ("bindings/python/tests/test_gateway_trim.py", &["test_resident_memory_returns"]),
        ],
    ),
    (
        "half a message, then a new connection",
        &[
            (DAMAGE, &["reset_discards_an_incomplete_message"]),
            (
                "bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile/LifetimeTest.java",
                &["resetStartsANewConnectionInAnyState"],
            ),
            (PYTHON_DAMAGE, &["test_reset_discards_a_fragment"]),
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
            (HAZARDS, &["resumed_connection_has_a_new_stream_and_continues_sequence_numbers"]),
        ],
    ),
    (
        "sizes around every limit, and zero",
        &[
            (STREAMS, &["payload_sizes_around_block_and_buffer_limits_round_trip"]),
            (HAZARDS, &["empty_zstd_message_is_an_error_and_empty_zlib_message_a_fragment"]),
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
            (HAZARDS, &["payload_limit_is_exact_in_the_middle_of_a_connection"]),
            (
                "bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile/BombTest.java",
                &["limitIsExactToTheByte"],
            ),
        ],
    ),
    (
        "streams of Java that end early, or are read byte by byte",
        &[(
            "bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile/ReaderTest.java",
            &["readReturnsBytesOrTheEnd", "resetWhileAStreamIsOpen"],
        )],
    ),
    (
        "buffers of the caller that are too small, and payloads that are not wanted",
        &[
            (
                BUFFERS,
                &[
                    "wholeConnectionsIntoBuffers",
                    "mistakesAndDamageChangeNothing",
                    "aPendingPayloadEndsWithTheNextMessage",
                ],
            ),
            (EVENTS, &["whatIsNoPayload", "droppedEventsAreNotDelivered", "checksSeeDroppedEvents"]),
        ],
    ),
    (
        "connections that move between threads",
        &[
            (HAZARDS, &["sessions_can_move_between_threads"]),
            ("crates/gateway/tests/pool.rs", &["threads_share_a_pool"]),
            (
                "bindings/java/gateway/src/test/java/dev/linerate/gateway/hostile/LifetimeTest.java",
                &["concurrentThreadsGetAnException"],
            ),
        ],
    ),
];
