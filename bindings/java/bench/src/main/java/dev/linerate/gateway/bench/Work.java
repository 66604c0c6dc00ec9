package dev.linerate.gateway.bench;

import java.util.function.Supplier;

/** How payloads are consumed. */
public enum Work {
    BYTES("bytes", Count::new),
    TREE("Jackson tree", Tree::new),
    DATA_OBJECT("JDA DataObject", DataObjects::new);

    private final String title;
    private final Supplier<Taker> taker;

    Work(String title, Supplier<Taker> taker) {
        this.title = title;
        this.taker = taker;
    }

    Taker taker() {
        return taker.get();
    }

    /** Name in the records. */
    String title() {
        return title;
    }
}
