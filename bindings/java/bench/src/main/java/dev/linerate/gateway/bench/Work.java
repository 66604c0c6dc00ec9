package dev.linerate.gateway.bench;

/** What becomes of the payloads that are measured. */
public enum Work {
    BYTES,
    TREE;

    Taker taker() {
        return this == BYTES ? new Count() : new Tree();
    }

    /** As the records name it. */
    String title() {
        return this == BYTES ? "bytes" : "Jackson tree";
    }
}
