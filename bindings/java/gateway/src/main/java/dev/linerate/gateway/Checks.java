package dev.linerate.gateway;

/**
 * What is looked at in each payload.
 *
 * <p>Neither transport has a checksum. If a message is lost on the way or a bit is changed, the ones after
 * it may decode to something else without any error. These checks, which cost a walk over the payload,
 * catch most of that. What is still a sound object with the right number is not caught.
 */
public enum Checks {
    /** Nothing. */
    NONE,
    /** Each payload is exactly one JSON object. */
    JSON,
    /** Each payload is exactly one map in Erlang's external term format. */
    ETF,
    /** As {@link #JSON}, and sequence numbers count up by one. */
    JSON_SEQUENCE,
    /** As {@link #ETF}, and sequence numbers count up by one. */
    ETF_SEQUENCE
}
