package dev.linerate.gateway;

/**
 * Checks of each payload.
 *
 * <p>Neither stream transport has a checksum. After a lost message or a flipped bit, later
 * messages may decode to wrong bytes without any error. These checks, which cost one pass over the
 * payload, detect most of these cases. They do not detect damage that leaves a valid object with
 * the expected number.
 */
public enum Checks {
    /** No checks. */
    NONE,
    /** Each payload must be exactly one JSON object. */
    JSON,
    /** Each payload must be exactly one map in Erlang's external term format. */
    ETF,
    /** Like {@link #JSON}; also, sequence numbers must increase by one. */
    JSON_SEQUENCE,
    /** Like {@link #ETF}; also, sequence numbers must increase by one. */
    ETF_SEQUENCE
}
