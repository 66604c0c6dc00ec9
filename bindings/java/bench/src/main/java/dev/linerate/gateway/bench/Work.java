package dev.linerate.gateway.bench;

/** How payloads are consumed. */
public enum Work {
    BYTES,
    TREE;

    Taker taker() {
        return this == BYTES ? new Count() : new Tree();
    }

    /** Name in the records. */
    String title() {
        return this == BYTES ? "bytes" : "Jackson tree";
    }
}
