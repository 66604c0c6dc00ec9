//! Hazards of permessage-deflate: what a peer can send, and agree on.

use crate::Hazard;

const CODEC: &str = "crates/websocket/src/codec.rs";
const NEGOTIATION: &str = "crates/websocket/src/negotiation.rs";
const PYTHON: &str = "bindings/python/tests/test_websockets.py";
const NETTY: &str = "bindings/java/netty/src/test/java/dev/linerate/netty/HostileTest.java";
const NETTY_HANDSHAKES: &str = "bindings/java/netty/src/test/java/dev/linerate/netty/RoundTripTest.java";

pub(crate) const LIST: &[Hazard] = &[
    (
        "decompression bomb",
        &[
            (CODEC, &["damage_and_limits_are_errors"]),
            (PYTHON, &["test_a_bomb_closes_the_connection_with_1009"]),
            (NETTY, &["bombsEndAtTheLimitsWith1009"]),
        ],
    ),
    (
        "limits, at N and N + 1",
        &[
            (CODEC, &["damage_and_limits_are_errors"]),
            (PYTHON, &["test_limits_at_n_and_n_plus_1"]),
            (NETTY, &["bombsEndAtTheLimitsWith1009", "fragmentsAreLimitedTogether"]),
        ],
    ),
    (
        "a peer that uses a larger window than agreed",
        &[
            (CODEC, &["a_peer_that_uses_a_larger_window_than_agreed_is_refused"]),
            (PYTHON, &["test_a_larger_window_than_agreed_is_a_protocol_error"]),
            (NETTY, &["peerWithALargerWindowThanAgreedIsRefused"]),
        ],
    ),
    (
        "damage: blocks of no type, matches before the beginning, messages that end inside a block, flipped bits",
        &[
            (CODEC, &["damage_and_limits_are_errors"]),
            (
                PYTHON,
                &[
                    "test_damage_is_a_protocol_error_that_stays",
                    "test_flipped_bits_and_truncation_end_in_an_error_or_bytes",
                ],
            ),
            (
                NETTY,
                &[
                    "damageIs1007",
                    "everyTruncationEndsTheConnection",
                    "everyFlippedBitGivesATypedErrorOrAMessage",
                ],
            ),
        ],
    ),
    (
        "RSV1 where it does not belong",
        &[(PYTHON, &["test_rsv1_where_it_does_not_belong"]), (NETTY, &["rsv1WhereItDoesNotBelongIs1002"])],
    ),
    (
        "offers and answers that are damaged or fit nothing",
        &[
            (
                NEGOTIATION,
                &["offers_that_cannot_be_accepted_are_declined", "a_client_refuses_what_it_did_not_offer"],
            ),
            (PYTHON, &["test_handshakes_that_fail"]),
            (NETTY_HANDSHAKES, &["offersThatCannotBeAcceptedAreDeclined", "answersThatFitNoOfferAreRefused"]),
        ],
    ),
    (
        "final blocks, empty messages, fragments, compressed and plain messages in turn",
        &[
            (CODEC, &["the_examples_of_the_rfc", "every_window_both_takeovers_whole_and_in_parts"]),
            (
                PYTHON,
                &[
                    "test_fragments_both_ways_with_their_implementation",
                    "test_plain_frames_between_compressed_ones",
                ],
            ),
            (NETTY, &["finalBlocksAndWhatFollows"]),
        ],
    ),
];
