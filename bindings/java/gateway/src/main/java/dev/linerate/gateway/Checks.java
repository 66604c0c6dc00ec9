package dev.linerate.gateway;

/**
 * Checks of each payload.
 *
 * <p>Neither stream transport has a checksum for each message. After a lost message or a flipped
 * bit, later messages may decode to wrong bytes without any error. These checks, which cost one
 * pass over the payload, detect most of these cases. They do not parse values: damage is not
 * detected if it leaves the sequence number and the brackets and quotes of JSON, or the lengths of
 * Erlang's terms, intact.
 *
 * <p>A payload that fails a check is an error of kind {@link DecompressionException.Kind#CORRUPT}.
 */
public enum Checks {
    /** No checks. */
    NONE,
    /** Each payload must be exactly one JSON object. */
    JSON,
    /** Each payload must be exactly one map in Erlang's external term format. */
    ETF,
    /**
     * Like {@link #JSON}; also, each sequence number (member {@code s}) must be the previous one
     * plus one. Payloads without a number are skipped. The first number of a connection may be any,
     * except after {@link GatewayDecompressor#resumeAfter}.
     */
    JSON_SEQUENCE,
    /** Like {@link #ETF}, with the sequence numbers of {@link #JSON_SEQUENCE}. */
    ETF_SEQUENCE
}
